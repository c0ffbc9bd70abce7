/**
 * The queue of a conversation, as documents of the store of conversations. They are encrypted and deleted with their conversation. The
 * entity alone writes them, and keeps nothing of them in memory: it may sleep, or move to another process, between any two questions.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ConversationLimitError, Store } from "../Conversations.ts"
import { ConversationStoreError } from "../Conversations.ts"
import { Content } from "./protocol.ts"

/** The run with which a message began. It keeps that run, also if the next process serves another version of the agent. */
const Begun = Schema.Struct({
  /** The name of the run's workflow. */
  workflow: Schema.String,
  /** The id of the run in the payload of its workflow. */
  runId: Schema.String,
  executionId: Schema.String
})

export type Begun = typeof Begun.Type

const Stored = Schema.Struct({
  nth: Schema.Int,
  subject: Schema.String,
  /** When the conversation began in which the message was sent. A conversation that was deleted and made again began later. */
  since: Schema.Finite,
  message: Content,
  /** Absent while the message waits. */
  begun: Schema.optionalKey(Begun),
  /** Set if a stop has dropped the queue while the run of this message was at work: words that the run has not read are dropped too. */
  dropsUnread: Schema.optionalKey(Schema.Literal(true))
})

/** A message that has no end yet. One at most has begun; of the others, the one with the least `nth` begins next. */
export interface Item extends Schema.Schema.Type<typeof Stored> {
  readonly id: string
}

/** What has become of a message that is no longer in the queue. */
const Mark = Schema.Union([
  Schema.TaggedStruct("Ended", { executionId: Schema.String, workflow: Schema.String }),
  Schema.TaggedStruct("Withdrawn", {}),
  Schema.TaggedStruct("Steered", { by: Schema.String }),
  Schema.TaggedStruct("Refused", {})
])

type Mark = typeof Mark.Type

const encode = Schema.encodeEffect(Schema.toCodecJson(Stored))
const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(Stored))
const decodeMark = Schema.decodeUnknownEffect(Mark)

type Failed = ConversationStoreError
type Written = Failed | ConversationLimitError

/** The queue of one conversation. */
export interface Queue {
  /** The message that has begun, and then those that wait in their order. */
  readonly all: Effect.Effect<ReadonlyArray<Item>, Failed>
  /** Fails as `put` does, and puts nothing. */
  readonly check: (item: Item) => Effect.Effect<void, Written>
  readonly put: (item: Item) => Effect.Effect<void, Written>
  /** Takes a message out of the queue for good. */
  readonly end: (id: string, mark: Mark) => Effect.Effect<void, Written>
  readonly remove: (id: string) => Effect.Effect<void, Failed>
  readonly mark: (id: string, mark: Mark) => Effect.Effect<void, Written>
  readonly markOf: (id: string) => Effect.Effect<Mark | undefined, Failed>
  readonly unmark: (id: string) => Effect.Effect<void, Failed>
}

const rank = ({ begun }: Item): number => (begun === undefined ? 1 : 0)

export const queueOf = ({ documents }: Store, conversation: string): Queue => {
  const waiting = { owner: conversation, kind: "queued" }
  const over = { owner: conversation, kind: "message" }
  const read = <A>(self: Effect.Effect<A, Schema.SchemaError>) =>
    Effect.mapError(self, (cause) => ConversationStoreError.make({ operation: "queue", conversation, cause }))
  const mark: Queue["mark"] = (id, value) => documents.put({ ...over, name: id, value })
  const remove: Queue["remove"] = (id) => documents.remove({ ...waiting, name: id })
  const documentOf = ({ id, ...stored }: Item) =>
    Effect.map(read(encode(stored)), (value) => ({ ...waiting, name: id, value }))
  return {
    all: Effect.gen(function* () {
      const found = yield* documents.all(waiting)
      const items = yield* Effect.forEach(found, ({ name: id, value }) =>
        Effect.map(read(decode(value)), (stored): Item => ({ ...stored, id }))
      )
      return items.toSorted((one, other) => rank(one) - rank(other) || one.nth - other.nth)
    }),
    check: (item) => Effect.flatMap(documentOf(item), documents.check),
    put: (item) => Effect.flatMap(documentOf(item), documents.put),
    // the mark comes first: after a crash in between, the message is in the queue still, and is taken out again
    end: (id, value) => Effect.andThen(mark(id, value), remove(id)),
    remove,
    mark,
    markOf: (id) =>
      Effect.flatMap(documents.get({ ...over, name: id }), (value) =>
        value === undefined ? Effect.undefined : read(decodeMark(value))
      ),
    unmark: (id) => documents.remove({ ...over, name: id })
  }
}
