/** The store of conversations over a storage of rows: encodes, encrypts, and holds to the limits. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Message } from "@kintsugi/core"
import * as Bounds from "@kintsugi/core/Bounds"
import type { Head, Key, Store } from "./Store.ts"
import { Encryption } from "./encryption.ts"
import { ConflictError, ConversationLimitError, ConversationStoreError, UnknownConversationError } from "./errors.ts"
import { exporting, type Source } from "./exporting.ts"
import type { Rows } from "./rows.ts"

/** The limits of a store of conversations. What exceeds one is not written, and fails with `ConversationLimitError`. */
export interface StoreLimits {
  /** The most messages of a conversation; 10,000 by default. */
  readonly maxMessages?: number
  /** The most bytes of JSON in a message or document; 16 MiB by default. */
  readonly maxBytes?: number
}

/** The deepest nesting of a message or document. */
const deepest = 1100

/** The longest id, in characters. It is the length of a column. */
const longestId = 250

/** The most conversations of one page of the list, and the number by default. */
const mostListed = 1000
const listed = 50

/** An id that any storage takes: not empty, of at most 250 characters, without control characters and half characters. */
const isId = (id: string): boolean => /^[^\p{Cc}\p{Cs}]{1,250}$/u.test(id)

/**
 * Whether an id is that of an owner of documents which this package keeps: revocations, and the runs of a subject that wait. No conversation
 * may have it, because its subject could read and remove them.
 */
const isReserved = (id: string): boolean => /^(?:kintsugi\/|runs\/\[)/.test(id)

/** Throws for what is no number of messages or conversations. */
const whole = (name: string, given: number): number => {
  if (Number.isSafeInteger(given) && given >= 0) return given
  throw new RangeError(`Conversations: ${name} must be a whole number of at least 0, got ${String(given)}`)
}

const encodeMessage = Schema.encodeUnknownEffect(Message.Message)
const decodeMessage = Schema.decodeUnknownEffect(Message.Message)
const utf8 = new TextEncoder()

const parse = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))

/** A conversation, and whose it is. */
type Owned = Pick<Head, "id" | "subject">

const location = ({ kind, name, owner }: Key): string => JSON.stringify([owner, kind, name])

export const storeOf = (rows: Rows, limits: StoreLimits): Store => {
  const { maxBytes = 16 * 1024 * 1024, maxMessages = 10_000 } = limits
  const failing =
    (operation: string, conversation: string) =>
    <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, ConversationStoreError> =>
      Effect.mapError(self, (cause) => ConversationStoreError.make({ operation, conversation, cause }))
  const beyond = (conversation: string, option: ConversationLimitError["option"], limit: number) =>
    Effect.fail(ConversationLimitError.make({ conversation, option, limit }))

  const jsonOf = (conversation: string, value: unknown) =>
    Effect.gen(function* () {
      if (Bounds.isDeeper(value, deepest)) return yield* beyond(conversation, "depth", deepest)
      const text = JSON.stringify(value)
      return utf8.encode(text).length > maxBytes ? yield* beyond(conversation, "maxBytes", maxBytes) : text
    })

  /** The row of a value at a location. The location is signed with it, so that a row at another location cannot be decrypted. */
  const rowOf = (conversation: string, at: string, operation: string, value: unknown) =>
    Effect.gen(function* () {
      const text = yield* jsonOf(conversation, value)
      const { encrypt } = yield* Encryption
      return yield* failing(operation, conversation)(encrypt(text, at))
    })

  const readRow = (row: string, at: string) =>
    Effect.flatMap(Encryption, ({ decrypt }) => Effect.flatMap(decrypt(row, at), parse))

  const readJson = (row: string, at: string) =>
    // cast: what was written is JSON
    Effect.map(readRow(row, at), (value) => value as Schema.Json)

  const messageAt = ({ id, subject }: Owned, nth: number): string => JSON.stringify([id, subject, nth])

  /** The head of a conversation of this subject. */
  const headOf = (operation: string, conversation: string, subject: string) =>
    Effect.gen(function* () {
      const head = isId(conversation) ? yield* failing(operation, conversation)(rows.head(conversation)) : undefined
      if (head?.subject === subject) return head
      return yield* Effect.fail(UnknownConversationError.make({ conversation }))
    })

  const read = (operation: string, head: Owned, from: number, limit: number) =>
    Effect.gen(function* () {
      const found = yield* rows.messages(head.id, from, limit)
      return yield* Effect.forEach(found, (row, index) =>
        Effect.flatMap(readRow(row, messageAt(head, from + index)), decodeMessage)
      )
    }).pipe(failing(operation, head.id))

  const append: Store["append"] = ({ conversation, expected, messages, subject }) =>
    Effect.gen(function* () {
      whole("expected", expected)
      if (isReserved(conversation)) return yield* Effect.fail(UnknownConversationError.make({ conversation }))
      for (const id of [conversation, subject]) if (!isId(id)) return yield* beyond(conversation, "id", longestId)
      if (expected + messages.length > maxMessages) return yield* beyond(conversation, "maxMessages", maxMessages)
      const encoded = yield* Effect.forEach(messages, (message, index) =>
        Effect.flatMap(failing("append", conversation)(encodeMessage(message)), (value) =>
          rowOf(conversation, messageAt({ id: conversation, subject }, expected + index), "append", value)
        )
      )
      const at = yield* Clock.currentTimeMillis
      const added = { id: conversation, subject, expected, at, rows: encoded }
      if (yield* failing("append", conversation)(rows.append(added))) return expected + messages.length
      const head: Head | undefined = yield* failing("append", conversation)(rows.head(conversation))
      if (head !== undefined && head.subject !== subject) {
        return yield* Effect.fail(UnknownConversationError.make({ conversation }))
      }
      return yield* Effect.fail(ConflictError.make({ conversation, expected, actual: head?.version ?? 0 }))
    })

  /** What an export reads. */
  const reading = (conversation: string) => failing("exportSubject", conversation)
  const source: Source<ConversationStoreError> = {
    ids: (subject, after, limit) => reading("")(rows.ids(subject, after, limit)),
    head: (id) => reading(id)(rows.head(id)),
    messages: (head, from, limit) =>
      Effect.flatMap(rows.messages(head.id, from, limit), (found) =>
        Effect.forEach(found, (row, index) => readJson(row, messageAt(head, from + index)))
      ).pipe(reading(head.id)),
    names: (owner, after, limit) => reading(owner)(rows.names(owner, after, limit)),
    document: (key) =>
      Effect.flatMap(rows.get(key), (row) =>
        row === undefined ? Effect.undefined : readJson(row, location(key))
      ).pipe(reading(key.owner))
  }

  return {
    append,
    load: ({ conversation, from = 0, limit = Number.MAX_SAFE_INTEGER, subject }) =>
      Effect.gen(function* () {
        const head = yield* headOf("load", conversation, subject)
        const until = Math.min(head.version, whole("from", from) + whole("limit", limit))
        const messages = until <= from ? [] : yield* read("load", head, from, until - from)
        return { ...head, messages, ...(until < head.version ? { next: until } : {}) }
      }),
    list: ({ after, limit = listed, subject }) =>
      Effect.suspend(() => rows.list(subject, after, Math.min(whole("limit", limit), mostListed))).pipe(
        failing("list", "")
      ),
    fork: ({ as, at, conversation, subject }) =>
      Effect.gen(function* () {
        const head = yield* headOf("fork", conversation, subject)
        const messages = yield* read("fork", head, 0, Math.min(whole("at", at ?? head.version), head.version))
        return yield* append({ conversation: as, subject, expected: 0, messages })
      }),
    remove: ({ conversation, subject }) =>
      Effect.andThen(
        headOf("remove", conversation, subject),
        failing("remove", conversation)(rows.remove(conversation))
      ),
    removeSubject: (subject) => failing("removeSubject", "")(rows.removeSubject(subject)),
    exportSubject: (subject) => exporting(source, subject),
    removeOlder: (than) => failing("removeOlder", "")(rows.removeOlder(than)),
    documents: {
      put: ({ value, ...key }) =>
        Effect.gen(function* () {
          const { kind, name, owner } = key
          for (const id of [owner, kind, name]) if (!isId(id)) return yield* beyond(owner, "id", longestId)
          const row = yield* rowOf(owner, location(key), "documents.put", value)
          const at = yield* Clock.currentTimeMillis
          yield* failing("documents.put", owner)(rows.put(key, row, at))
        }),
      check: ({ kind, name, owner, value }) =>
        [owner, kind, name].every(isId) ? Effect.asVoid(jsonOf(owner, value)) : beyond(owner, "id", longestId),
      get: (key) =>
        Effect.gen(function* () {
          const row = yield* rows.get(key)
          return row === undefined ? undefined : yield* readJson(row, location(key))
        }).pipe(failing("documents.get", key.owner)),
      all: ({ kind, owner }) =>
        Effect.gen(function* () {
          const found = yield* rows.documents(owner, kind)
          return yield* Effect.forEach(found, ([name, row]) =>
            Effect.map(readJson(row, location({ owner, kind, name })), (value) => ({ name, value }))
          )
        }).pipe(failing("documents.all", owner)),
      remove: (key) => failing("documents.remove", key.owner)(rows.removeDocument(key))
    }
  }
}
