/** How the message of an error is put together: what happened, where, in whose words, and what helps. */
import type * as Schema from "effect/Schema"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import { type FactsTable, helps } from "./facts.ts"

export interface Happened {
  /** A clause without its full stop. */
  readonly what: string
  /** The ids and names that identify the failure; absent ones are left out. */
  readonly where?: ReadonlyArray<string | undefined>
  /** The words of another party, such as the provider; empty without one. */
  readonly words?: string | undefined
}

/** The texts that the maker of an error may set. */
export interface Said {
  /** The whole message; by default it is composed of the fields. */
  readonly message?: string
  /** What happened, as a clause that replaces the clause of the class. It is no field of the error. */
  readonly what?: string
}

/** What `make` of an error class takes: the fields of the class. Its message is composed of them unless it is given. */
export type Made<F extends Schema.Struct.Fields> = Omit<Schema.Struct.Type<F>, "message" | "cause"> &
  Said & { readonly cause?: unknown }

/** Fields of which some have defaults. */
export type Defaulted<Fields, Key extends keyof Fields> = Omit<Fields, Key> & Partial<Pick<Fields, Key>>

/** `What (where): words. What helps`; it ends without a full stop, for it may be quoted. */
export const sentence = (tag: keyof FactsTable, { what, where, words }: Happened): string => {
  const locations = (where ?? []).filter((location) => location !== undefined && location !== "")
  const located = locations.length === 0 ? what : `${what} (${locations.join(", ")})`
  const said = ErrorCause.trimmed(words ?? "")
  return `${Redaction.foreign(said === "" ? located : `${located}: ${said}`, longest)}. ${helps[tag]}`
}

/** UTF-16 units, without what helps. */
const longest = 3000
