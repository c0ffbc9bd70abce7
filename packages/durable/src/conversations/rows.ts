/** What a storage does for the store of conversations: rows of text, and one atomic step, `append`. */
import type * as Effect from "effect/Effect"
import type { Head, Key, ListPosition } from "./Store.ts"

/**
 * The owner of documents that never grow too old: what a person has revoked. A snapshot may have the grant for as long as it exists.
 */
export const lasting = "kintsugi/revocations"

/** Messages to add to a conversation, as rows. */
export interface Added {
  readonly id: string
  readonly subject: string
  /** The version before. With 0, the conversation is new, or has no messages. */
  readonly expected: number
  readonly at: number
  readonly rows: ReadonlyArray<string>
}

/** A storage of rows. Its failures are those of its client. */
export interface Rows {
  readonly head: (id: string) => Effect.Effect<Head | undefined, unknown>
  /** Adds the rows if the conversation has the expected version, in one atomic step. Returns whether it did. */
  readonly append: (added: Added) => Effect.Effect<boolean, unknown>
  /** The rows from a number on, counted from 0, in their order. */
  readonly messages: (id: string, from: number, limit: number) => Effect.Effect<ReadonlyArray<string>, unknown>
  /** The conversations of a subject, the one changed last first, after a place. */
  readonly list: (
    subject: string,
    after: ListPosition | undefined,
    limit: number
  ) => Effect.Effect<ReadonlyArray<Head>, unknown>
  /** The ids of the conversations of a subject that come after `after`, in their order. */
  readonly ids: (
    subject: string,
    after: string | undefined,
    limit: number
  ) => Effect.Effect<ReadonlyArray<string>, unknown>
  /** Removes a conversation with its messages and documents. */
  readonly remove: (id: string) => Effect.Effect<void, unknown>
  /** Removes all conversations of a subject with their messages and documents. Returns how many there were. */
  readonly removeSubject: (subject: string) => Effect.Effect<number, unknown>
  /**
   * Removes the conversations that were changed last before a time, and documents of that age without a conversation, except for those of
   * `lasting`. Returns how many conversations there were.
   */
  readonly removeOlder: (than: number) => Effect.Effect<number, unknown>
  /** Puts a document, in place of one with the same key. */
  readonly put: (key: Key, text: string, at: number) => Effect.Effect<void, unknown>
  readonly get: (key: Key) => Effect.Effect<string | undefined, unknown>
  /** The names and texts of the documents of one kind, by name. */
  readonly documents: (owner: string, kind: string) => Effect.Effect<ReadonlyArray<readonly [string, string]>, unknown>
  /** The names of an owner's documents that come after `after`, by kind and name. */
  readonly names: (
    owner: string,
    after: Omit<Key, "owner"> | undefined,
    limit: number
  ) => Effect.Effect<ReadonlyArray<Omit<Key, "owner">>, unknown>
  readonly removeDocument: (key: Key) => Effect.Effect<void, unknown>
}
