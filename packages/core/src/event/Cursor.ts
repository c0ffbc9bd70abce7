/**
 * The position of a reader of events, as an opaque text. It also merges events for a store that keeps them: fewer events, with the same
 * meaning.
 */
import * as Predicate from "effect/Predicate"

export { merge } from "./merging.ts"

/** What a cursor names: an outermost run, its epoch, and the number of the last event that was read. */
type Position = {
  readonly runId: string
  /** Another one after each resumption or takeover: numbers are comparable within an epoch only. */
  readonly epoch: string
  /** The first event of an epoch has number 1. */
  readonly number: number
}

/** The text of a cursor. It has only letters, digits, `_`, `-`, `~` and `.`, so it fits into a header, a query and an `id:` line. */
export const of = ({ epoch, number, runId }: Position): string => `${escaped(runId)}.${escaped(epoch)}.${number}`

/** The position that a cursor names. `undefined` for a text that `of` has not made. */
export const read = (text: string): Position | undefined => {
  // some servers give a header as an array
  if (!Predicate.isString(text)) return undefined
  const [runId = "", epoch = "", digits] = text.split(".", 3)
  const number = Number(digits)
  if (!Number.isSafeInteger(number) || number < 0) return undefined
  const position = { runId: unescaped(runId), epoch: unescaped(epoch), number }
  // one position has one text
  return of(position) === text ? position : undefined
}

/** By units of UTF-16: a lone half of a character comes back as it was. */
const escaped = (text: string): string =>
  text.replaceAll(/[^\w-]/g, (unit) => `~${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

const unescaped = (text: string): string =>
  text.replaceAll(/~([\da-f]{4})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
