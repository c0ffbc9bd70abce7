/** How the message of an error is put together: what happened, where, in whose words, and what helps. */
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import { type FactsTable, wording } from "./facts.ts"

export interface Happened {
  /** A clause without its full stop. */
  readonly what: string
  /** Ids and names by which it can be found again; those that are absent are left out. */
  readonly where?: ReadonlyArray<string | undefined>
  /** What somebody else said about it; empty when nobody did. */
  readonly words?: string | undefined
}

/** `What (where): words. What helps`; it ends without a full stop, for it may be quoted. */
export const sentence = (tag: keyof FactsTable, { what, where, words }: Happened): string => {
  const places = (where ?? []).filter((place) => place !== undefined && place !== "")
  const located = places.length === 0 ? what : `${what} (${places.join(", ")})`
  const said = ErrorCause.trimmed(words ?? "")
  return `${Redaction.foreign(said === "" ? located : `${located}: ${said}`, longest)}. ${wording[tag][1]}`
}

/** UTF-16 units, without what helps. */
const longest = 3000
