/** Makes arbitraries of fast-check from arbitraries of Effect. */
import * as EffectArbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import fc from "fast-check"

/**
 * Identifies a value of an Effect arbitrary: the seed and the size of the generated value, and the steps of shrinking from there, each as
 * the index of a smaller value.
 */
interface Position {
  readonly seed: number
  readonly size: number
  readonly path: ReadonlyArray<number>
}

/**
 * Finds the value at a position, and the next smaller values. Effect does not expose its tree of smaller values, so a property guides
 * Effect's shrinking along the path: the property fails on the path and holds beside it.
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
    // Mutant `smaller.push(value) >= 0` survives: a list with a value has a length above zero
    if (seen.length > path.length) return smaller.push(value) > 0
    if (seen.length > 0 && beside++ < path[seen.length - 1]!) return true
    beside = 0
    seen.push(value)
    return false
  }
  const result = Effect.runSync(EffectArbitrary.checkEffect(arbitrary, lead, { runs: 1, seed, size, maxShrinks }))
  const value = seen.at(-1)
  if (value === undefined && seen.length === 0) throw new Error(EffectArbitrary.formatCheckFailure(result))
  // `seen` is not empty here, so `value` is an `A`
  return { value: value as A, smaller }
}

/** More than the number of smaller values that any value has. */
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
    // fast-check returns the context that `generate` or `shrink` made
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
