/**
 * Checks of values that TypeScript already checks, for programs in JavaScript or with casts. A misfit is a defect that names the option.
 */
import * as Predicate from "effect/Predicate"

/** Throws a `TypeError` if a value does not fit. `option` says which value that is, `expected` what it has to be. */
export const demand = (option: string, expected: string, given: unknown, fits: boolean): void => {
  if (fits) return
  const shown = Predicate.isString(given) ? `'${given}'` : Array.isArray(given) ? "a list" : given && typeof given
  throw new TypeError(`${option} must be ${expected}, got ${String(shown)}`)
}

/** Throws a `TypeError` if an option is neither a function nor absent. */
export const aFunction = (option: string, given: unknown): void =>
  demand(option, "a function", given, given === undefined || Predicate.isFunction(given))

/** Throws a `TypeError` for an unknown option, because such an option would have no effect. */
export const options = (whose: string, given: unknown, names: ReadonlyArray<string>): void => {
  demand(whose, "given options", given, Predicate.isObject(given))
  for (const name of Object.keys(given as object)) oneOf(`An option of ${whose}`, name, names)
}

/** Throws a `TypeError` if an option is neither absent nor one of these values. */
export const oneOf = (option: string, given: unknown, values: ReadonlyArray<string | boolean>): void => {
  const expected = values.map((value) => (Predicate.isString(value) ? `'${value}'` : value)).join(", ")
  demand(option, expected, given, given === undefined || values.some((value) => value === given))
}
