/** What a store of conversations does, for those who use it. */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { Message } from "@kintsugi/core"
import type * as Errors from "./errors.ts"

/** A conversation without its messages. */
export interface Head {
  readonly id: string
  /** The person or tenant that the conversation belongs to. */
  readonly subject: string
  /** The number of its messages. */
  readonly version: number
  /** In milliseconds since the epoch. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** The place of a conversation in the list, whose newest is first. */
export interface ListPosition {
  readonly id: string
  readonly updatedAt: number
}

/** The key of a document. `owner` is a conversation or a run. */
export interface Key {
  readonly owner: string
  readonly kind: string
  readonly name: string
}

/** Which conversation, and whose. A conversation of another subject is unknown. */
interface Of {
  readonly conversation: string
  /** The person or tenant that the conversation belongs to. */
  readonly subject: string
}

/** A page of a conversation. */
export interface Conversation extends Head {
  /** The messages of the page, in their order. */
  readonly messages: Message.Transcript
  /** The number of the first message of the next page; absent if this page is the last. */
  readonly next?: number
}

type Written = Errors.ConflictError | Errors.UnknownConversationError | Errors.ConversationLimitError
type Failed = Errors.ConversationStoreError

/** The store of conversations. */
export interface Store {
  /**
   * Adds messages to a conversation, and returns its new version. `expected` is the version that the writer has read: the number of
   * messages. With 0, the conversation is made, also one without messages. It fails with `ConflictError` if another writer was first.
   */
  readonly append: (
    messages: Of & { readonly expected: number; readonly messages: Message.Transcript }
  ) => Effect.Effect<number, Written | Failed>
  /**
   * Reads a conversation, or a page of it: at most `limit` messages from number `from` on, counted from 0. By default it reads all messages.
   */
  readonly load: (
    page: Of & { readonly from?: number; readonly limit?: number }
  ) => Effect.Effect<Conversation, Errors.UnknownConversationError | Failed>
  /** The conversations of a subject, the one changed last first: at most `limit` of them, 50 by default, after `after`. */
  readonly list: (page: {
    readonly subject: string
    readonly after?: ListPosition
    readonly limit?: number
  }) => Effect.Effect<ReadonlyArray<Head>, Failed>
  /**
   * Makes a new conversation `as` of the same subject with the first `at` messages of this one, and returns its version. By default it takes
   * all messages. It fails with `ConflictError` if there is a conversation `as`.
   */
  readonly fork: (fork: Of & { readonly as: string; readonly at?: number }) => Effect.Effect<number, Written | Failed>
  /** Deletes a conversation with its messages and documents. */
  readonly remove: (of: Of) => Effect.Effect<void, Errors.UnknownConversationError | Failed>
  /** Deletes all conversations of a subject, with their messages and documents. Returns how many conversations there were. */
  readonly removeSubject: (subject: string) => Effect.Effect<number, Failed>
  /**
   * All that the store has of a subject, as lines of JSON, each with its line break: an `ExportLine`. It has the conversations with their
   * messages and their documents, such as results that were put aside, grants and snapshots, in plain text also if the rows are encrypted. It
   * is read in small pages. What is written meanwhile may be missing.
   */
  readonly exportSubject: (subject: string) => Stream.Stream<string, Failed>
  /**
   * Deletes the conversations that were changed last before `than`, in milliseconds since the epoch, and documents of that age that belong
   * to no conversation. Returns how many conversations there were.
   */
  readonly removeOlder: (than: number) => Effect.Effect<number, Failed>
  /**
   * Documents that belong to a conversation or to a run, such as snapshots and events. A document is deleted with its conversation. Those
   * who write and read them are programs of the server: no subject is checked.
   */
  readonly documents: {
    /** Puts a document, in place of one with the same key. */
    readonly put: (
      document: Key & { readonly value: Schema.Json }
    ) => Effect.Effect<void, Errors.ConversationLimitError | Failed>
    /** Fails as `put` does if the document exceeds a limit, and writes nothing. */
    readonly check: (
      document: Key & { readonly value: Schema.Json }
    ) => Effect.Effect<void, Errors.ConversationLimitError>
    readonly get: (key: Key) => Effect.Effect<Schema.Json | undefined, Failed>
    /** The documents of one kind, by name. */
    readonly all: (of: {
      readonly owner: string
      readonly kind: string
    }) => Effect.Effect<ReadonlyArray<{ readonly name: string; readonly value: Schema.Json }>, Failed>
    readonly remove: (key: Key) => Effect.Effect<void, Failed>
  }
}
