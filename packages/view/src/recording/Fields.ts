/**
 * Reads fields of JSON that may be anything: a file that was broken still has to be drawn.
 *
 * @internal
 */

import { isDeeper } from "./depth.ts"

/** A field, where the value has fields. */
export const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? // any object may be read by key; the answer is unknown
      (value as Readonly<Record<string, unknown>>)[key]
    : undefined

/** The field below fields. */
export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown => {
  let found = value
  // called for every event, several times
  for (const key of path) found = fieldOf(found, key)
  return found
}

/** A text, or nothing. */
export const textAt = (value: unknown, ...path: ReadonlyArray<string>): string | undefined => {
  const found = at(value, ...path)
  return typeof found === "string" ? found : undefined
}

/** Whether a field is `true`. */
export const flagAt = (value: unknown, ...path: ReadonlyArray<string>): boolean => at(value, ...path) === true

/** A finite number, or nothing. */
export const numberAt = (value: unknown, ...path: ReadonlyArray<string>): number | undefined => {
  const found = at(value, ...path)
  return typeof found === "number" && Number.isFinite(found) ? found : undefined
}

/** An amount of something, or nothing: never below 0, and no larger than sums of it can tell. */
export const amountAt = (value: unknown, ...path: ReadonlyArray<string>): number | undefined => {
  const found = numberAt(value, ...path)
  return found === undefined ? undefined : Math.min(Math.max(0, found), Number.MAX_SAFE_INTEGER)
}

/** The items of a list; empty for any other value. */
export const itemsAt = (value: unknown, ...path: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/** A value as text: itself, or its JSON, short in one line. What is deep stays in one line too: it would be mostly blanks. */
export const asText = (value: unknown): string => {
  if (typeof value === "string") return value
  const line = JSON.stringify(value) ?? ""
  return line.length <= 60 || isDeeper(value, 10) ? line : JSON.stringify(value, undefined, 2)
}
