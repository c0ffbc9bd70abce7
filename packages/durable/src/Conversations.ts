/**
 * A store of conversations: their messages, and the documents that belong to them. A writer says which version it has read, so no message
 * is lost under two writers.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type KeyValueStore, layerMemory as memory } from "effect/persistence/KeyValueStore"
import type { SqlClient } from "effect/sql/SqlClient"
import { Approval, Tool } from "@kintsugi/core"
import { approvalsOf, resultsOf } from "./conversations/beside.ts"
import { keyValueRows } from "./conversations/keyValue.ts"
import { sqlRows } from "./conversations/sql.ts"
import { type StoreLimits, storeOf } from "./conversations/making.ts"
import type { Store } from "./conversations/Store.ts"

export {
  ConflictError,
  ConversationLimitError,
  ConversationStoreError,
  UnknownConversationError
} from "./conversations/errors.ts"
export { type EncryptionKey, layerEncryption } from "./conversations/encryption.ts"

export { ExportLine } from "./conversations/exporting.ts"
export type { StoreLimits } from "./conversations/making.ts"
export type { Conversation, Head, Key, ListPosition, Store } from "./conversations/Store.ts"

/**
 * The store of conversations of a program.
 *
 * @example
 * ```ts
 * import { Message } from "@kintsugi/core"
 * import { Conversations } from "@kintsugi/durable"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const conversations = yield* Conversations.Conversations
 *   const of = { conversation: "c-1", subject: "ann" }
 *   yield* conversations.append({ ...of, expected: 0, messages: [Message.user("Hello")] })
 *   return yield* conversations.load(of)
 * })
 * const { version } = await Effect.runPromise(Effect.provide(program, Conversations.layerMemory()))
 * console.log(version) // 1
 * ```
 */
export class Conversations extends Context.Service<Conversations, Store>()("@kintsugi/durable/Conversations") {}

/** Conversations in the memory of this process, for tests. */
export const layerMemory = (limits: StoreLimits = {}): Layer.Layer<Conversations> =>
  Layer.provide(layerKeyValueStoreOfProcess(limits), memory)

/**
 * Conversations in a `KeyValueStore`. Such a store can only read and write, so one process alone may use it: two processes that append to
 * one conversation may lose a message. For several processes take `layerSql`.
 */
export const layerKeyValueStoreOfProcess = (
  limits: StoreLimits = {}
): Layer.Layer<Conversations, never, KeyValueStore> =>
  Layer.effect(
    Conversations,
    Effect.map(keyValueRows, (rows) => storeOf(rows, limits))
  )

/**
 * Conversations in tables of PostgreSQL, PGlite or SQLite. The layer makes its tables, and brings those of an older release up to date; it
 * dies if it cannot. An append is one transaction, and takes part in the transaction around it.
 */
export const layerSql = (limits: StoreLimits = {}): Layer.Layer<Conversations, never, SqlClient> =>
  Layer.effect(
    Conversations,
    Effect.map(Effect.orDie(sqlRows), (rows) => storeOf(rows, limits))
  )

/**
 * Keeps long results that were put aside (`Tool.putAside`) as documents, so that they are encrypted and deleted with their conversation:
 * that of `Approval.Conversation`.
 */
export const layerResults: Layer.Layer<never, never, Conversations> = Layer.effect(
  Tool.ResultStore,
  Effect.map(Conversations, resultsOf)
)

/** Keeps the grants of conversations (`Approval.approveFor`) as documents, so that they are encrypted and deleted with them. */
export const layerApprovals: Layer.Layer<never, never, Conversations> = Layer.effect(
  Approval.Approvals,
  Effect.map(Conversations, approvalsOf)
)
