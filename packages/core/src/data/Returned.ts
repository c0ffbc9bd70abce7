/**
 * Checks the return values of user functions, for programs in JavaScript or with casts. A wrong value is a defect that names the function.
 * Without the check, a fiber that meets a value which is no effect ends without its finalizers.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { quietly } from "./Foreign.ts"

/** The effect that a function has returned. `whose` and `name` say which function that is. */
export const effect = <A, E, R>(given: Effect.Effect<A, E, R>, whose: string, name?: string): Effect.Effect<A, E, R> =>
  isEffect(given) ? given : Effect.die(wrong(given, "an Effect", whose, name))

/** A kind of value that a function may return, directly or as an effect. */
export interface Kind {
  /** The name of the kind in a message, with its article. */
  readonly name: string
  readonly is: (value: unknown) => boolean
}

/** The value that a function has returned, or that of its effect; both are of this kind. */
export const valueOf = <A, E, R>(
  given: A | Effect.Effect<A, E, R>,
  kind: Kind,
  whose: string,
  name?: string
): Effect.Effect<A, E, R> =>
  isEffect(given)
    ? Effect.flatMap(given, (value) => fitting(value, kind, whose, name))
    : fitting(given, kind, whose, name)

const fitting = <A>(value: A, kind: Kind, whose: string, name?: string): Effect.Effect<A> =>
  quietly(() => kind.is(value), false)
    ? Effect.succeed(value)
    : Effect.die(wrong(value, `${kind.name} or an Effect of that`, whose, name))

/** The defect of a function that has returned something else than `expected`. */
export const wrong = (given: unknown, expected: string, whose: string, name?: string): TypeError => {
  const which = name === undefined ? whose : `${whose} '${name}'`
  // a rejection that nothing awaits ends the process; any other value has no `then`, which `quietly` catches
  quietly(() => void (given as PromiseLike<unknown>).then(undefined, () => undefined), undefined)
  return new TypeError(`${which} returned ${quietly(() => kindOf(given), "an object")}, not ${expected}`)
}

const isEffect = <A, E, R>(given: A | Effect.Effect<A, E, R>): given is Effect.Effect<A, E, R> => {
  // no `quietly` here: every run of a tool takes this path, and this code allocates nothing
  try {
    return Effect.isEffect(given)
  } catch {
    return false
  }
}

const kindOf = (given: unknown): string => {
  if (given === undefined || given === null) return String(given)
  if (given instanceof Promise) return "a Promise"
  return typeof given === "object" ? "an object" : `a ${typeof given}`
}

/** The kind of boolean values. */
export const aBoolean: Kind = { name: "a boolean", is: Predicate.isBoolean }

/** The kind of texts. */
export const aText: Kind = { name: "a string", is: Predicate.isString }

/** The kind of decisions with one of these types. */
export const decision = (names: ReadonlyArray<string>): Kind => ({
  name: "a decision",
  is: (value) => Predicate.hasProperty(value, "type") && names.some((name) => name === value.type)
})
