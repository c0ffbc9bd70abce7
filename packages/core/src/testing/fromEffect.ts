/** Arbitraries of Effect as arbitraries of fast-check. */
import * as EffectArbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import fc from "fast-check"

/**
 * The position of a value in the tree of an Effect arbitrary: its seed and size, and the index of the smaller value at each
 * step down.
 */
interface Position {
  readonly seed: number
  readonly size: number
  readonly path: ReadonlyArray<number>
}

/**
 * The value at this position, and the next smaller ones. Effect's runner does not expose its tree of smaller values, so a
 * property leads the runner along the path: it is false on the path, and true beside it.
 */
const lookUp = <A>(
  arbitrary: EffectArbitrary.Arbitrary<A>,
  { path, seed, size }: Position,
  maxShrinks: number
): { readonly value: A; readonly smaller: ReadonlyArray<A> } => {
  const seen: Array<A> = []
  const smaller: Array<A> = []
  let beside = 0
  const lead = (value: A): boolean => {
    if (seen.length > path.length) return smaller.push(value) > 0
    if (seen.length > 0 && beside++ < path[seen.length - 1]!) return true
    beside = 0
    seen.push(value)
    return false
  }
  const result = Effect.runSync(EffectArbitrary.checkEffect(arbitrary, lead, { runs: 1, seed, size, maxShrinks }))
  const value = seen.at(-1)
  if (value === undefined && seen.length === 0) throw new Error(EffectArbitrary.formatCheckFailure(result))
  // it was seen
  return { value: value as A, smaller }
}

/** No value has that many smaller ones on the way to the smallest. */
const allShrinks = 1_000_000

class FromEffect<A> extends fc.Arbitrary<A> {
  readonly arbitrary: EffectArbitrary.Arbitrary<A>
  constructor(arbitrary: EffectArbitrary.Arbitrary<A>) {
    super()
    this.arbitrary = arbitrary
  }
  generate(random: fc.Random): fc.Value<A> {
    const position: Position = { size: random.nextInt(0, 30), seed: random.nextInt(), path: [] }
    return new fc.Value(lookUp(this.arbitrary, position, 0).value, position)
  }
  canShrinkWithoutContext(_value: unknown): _value is A {
    return false
  }
  shrink(_: A, context: unknown): fc.Stream<fc.Value<A>> {
    // made by `generate` or by `shrink`
    const position = context as Position
    const { smaller } = lookUp(this.arbitrary, position, allShrinks)
    const values = smaller.map((value, index) => new fc.Value(value, { ...position, path: [...position.path, index] }))
    return fc.stream(values.values())
  }
}

/**
 * Makes a fast-check arbitrary of an arbitrary of Effect. It combines with others: `fc.record({ n: fc.nat(), script: fromEffect(script)
 * })`. A case shrinks as Effect shrinks it.
 */
export const fromEffect = <A>(arbitrary: EffectArbitrary.Arbitrary<A>): fc.Arbitrary<A> => new FromEffect(arbitrary)
