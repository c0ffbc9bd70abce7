/**
 * Reads fields of JSON of any form, because a broken file must still be drawn.
 *
 * @internal
 */

import { isDeeper } from "./depth.ts"

/** The field of an object; `undefined` for any other value. */
export const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? // cast: any object may be read by key, and the result is `unknown`
      (value as Readonly<Record<string, unknown>>)[key]
    : undefined

/** The field at the end of a path of keys. */
export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown => {
  let found = value
  // a loop without closures, because each event calls this function several times
  for (const key of path) found = fieldOf(found, key)
  return found
}

/** The field at the end of a path, if it is a text. */
export const textAt = (value: unknown, ...path: ReadonlyArray<string>): string | undefined => {
  const found = at(value, ...path)
  return typeof found === "string" ? found : undefined
}

/** Whether the field at the end of a path is `true`. */
export const flagAt = (value: unknown, ...path: ReadonlyArray<string>): boolean => at(value, ...path) === true

/** The field at the end of a path, if it is a finite number. */
export const numberAt = (value: unknown, ...path: ReadonlyArray<string>): number | undefined => {
  const found = at(value, ...path)
  return typeof found === "number" && Number.isFinite(found) ? found : undefined
}

/**
 * The field at the end of a path as an amount, if it is a number: at least 0, and at most the largest integer that can be added exactly.
 */
export const amountAt = (value: unknown, ...path: ReadonlyArray<string>): number | undefined => {
  const found = numberAt(value, ...path)
  return found === undefined ? undefined : Math.min(Math.max(0, found), Number.MAX_SAFE_INTEGER)
}

/** The items of the list at the end of a path; empty for any other value. */
export const itemsAt = (value: unknown, ...path: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/**
 * A value as text: a text stays as it is, and other values are written as JSON. Short or deeply nested JSON is in one line, as indentation
 * would be mostly blanks.
 */
export const asText = (value: unknown): string => {
  if (typeof value === "string") return value
  const line = JSON.stringify(value) ?? ""
  return line.length <= 60 || isDeeper(value, 10) ? line : JSON.stringify(value, undefined, 2)
}
