/**
 * The queue of a conversation, as documents of the store of conversations. They are encrypted and deleted with their conversation. The
 * entity alone writes them, and keeps nothing of them in memory: it may sleep, or move to another process, between any two questions.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ConversationLimitError, Store } from "../Conversations.ts"
import { ConversationStoreError } from "../Conversations.ts"
import { Content } from "./protocol.ts"

const Stored = Schema.Struct({
  nth: Schema.Int,
  subject: Schema.String,
  message: Content,
  isAtWork: Schema.Boolean,
  /** Set if a stop has dropped the queue while the run of this message was at work: words that the run has not read are dropped too. */
  dropsUnread: Schema.optionalKey(Schema.Literal(true))
})

/** A message that has no end yet. Of all messages in the queue, the one with the least `nth` is at work, or begins next. */
export interface Item extends Schema.Schema.Type<typeof Stored> {
  readonly id: string
}

/** What has become of a message that is no longer in the queue. */
const Mark = Schema.Literals(["ended", "withdrawn", "steered"])

const encode = Schema.encodeEffect(Schema.toCodecJson(Stored))
const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(Stored))
const decodeMark = Schema.decodeUnknownEffect(Mark)

type Failed = ConversationStoreError
type Written = Failed | ConversationLimitError

/** The queue of one conversation. */
export interface Queue {
  /** The messages in their order. */
  readonly all: Effect.Effect<ReadonlyArray<Item>, Failed>
  readonly put: (item: Item) => Effect.Effect<void, Written>
  /** Takes a message out of the queue for good. */
  readonly end: (id: string, mark: typeof Mark.Type) => Effect.Effect<void, Written>
  readonly mark: (id: string, mark: typeof Mark.Type) => Effect.Effect<void, Written>
  readonly markOf: (id: string) => Effect.Effect<typeof Mark.Type | undefined, Failed>
  readonly unmark: (id: string) => Effect.Effect<void, Failed>
}

export const queueOf = ({ documents }: Store, conversation: string): Queue => {
  const waiting = { owner: conversation, kind: "queued" }
  const over = { owner: conversation, kind: "message" }
  const read = <A>(self: Effect.Effect<A, Schema.SchemaError>) =>
    Effect.mapError(self, (cause) => ConversationStoreError.make({ operation: "queue", conversation, cause }))
  const mark: Queue["mark"] = (id, value) => documents.put({ ...over, name: id, value })
  return {
    all: Effect.gen(function* () {
      const found = yield* documents.all(waiting)
      const items = yield* Effect.forEach(found, ({ name: id, value }) =>
        Effect.map(read(decode(value)), (stored): Item => ({ ...stored, id }))
      )
      return items.toSorted((one, other) => one.nth - other.nth)
    }),
    put: ({ id, ...stored }) =>
      Effect.flatMap(read(encode(stored)), (value) => documents.put({ ...waiting, name: id, value })),
    // the mark comes first: after a crash in between, the message is in the queue still, and is taken out again
    end: (id, value) => Effect.andThen(mark(id, value), documents.remove({ ...waiting, name: id })),
    mark,
    markOf: (id) =>
      Effect.flatMap(documents.get({ ...over, name: id }), (value) =>
        value === undefined ? Effect.undefined : read(decodeMark(value))
      ),
    unmark: (id) => documents.remove({ ...over, name: id })
  }
}
