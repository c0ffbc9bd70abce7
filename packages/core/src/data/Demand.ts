/** Values whose types say what they are. JavaScript and casts do not: what does not fit is a defect that names its option. */
import * as Predicate from "effect/Predicate"

/** Throws a `TypeError` if a value does not fit. `option` says which value that is, `expected` what it has to be. */
export const demand = (option: string, expected: string, given: unknown, fits: boolean): void => {
  if (fits) return
  const shown = Predicate.isString(given) ? `'${given}'` : Array.isArray(given) ? "a list" : given && typeof given
  throw new TypeError(`${option} must be ${expected}, got ${String(shown)}`)
}

/** The same of an option that is a function, or absent. */
export const aFunction = (option: string, given: unknown): void =>
  demand(option, "a function", given, given === undefined || Predicate.isFunction(given))

/** The same of an object of options: an option by another name would do nothing. */
export const options = (whose: string, given: unknown, names: ReadonlyArray<string>): void => {
  demand(whose, "given options", given, Predicate.isObject(given))
  for (const name of Object.keys(given as object)) oneOf(`An option of ${whose}`, name, names)
}

/** The same of an option that is one of a few values, or absent. */
export const oneOf = (option: string, given: unknown, values: ReadonlyArray<string | boolean>): void => {
  const expected = values.map((value) => (Predicate.isString(value) ? `'${value}'` : value)).join(", ")
  demand(option, expected, given, given === undefined || values.some((value) => value === given))
}
