/** durable/conversations: what a person and a model have said, on its way into a storage and back. */
import { Approval, Message, Model, Tool } from "@kintsugi/core"
import { Effect, Exit, Layer, Redacted, Stream } from "effect"
import { Persistence } from "effect/persistence"
import * as Conversations from "../../../packages/durable/src/Conversations.ts"
import { runIdOf } from "../../../packages/durable/src/entity/answering.ts"
import { addedBy } from "../../../packages/durable/src/entity/keeping.ts"
import * as ReplyCache from "../../../packages/durable/src/ReplyCache.ts"
import { texts, usage } from "./data.ts"
import { each, grows, none, reached, schema, type Table } from "./entry.ts"

const keys = [{ id: "k1", secret: Redacted.make(new Uint8Array(32).fill(1)) }] as const

const beside = Layer.mergeAll(Conversations.layerResults, Conversations.layerApprovals)
const layer = Layer.mergeAll(
  Layer.provideMerge(beside, Conversations.layerMemory()),
  Conversations.layerEncryption(keys)
)

/** Writes a text in each way, and reads it. */
const kept = (text: string) =>
  Effect.gen(function* () {
    const store = yield* Conversations.Conversations
    const of = { conversation: text.slice(0, 9).padEnd(9, "c"), subject: "ann" }
    yield* Effect.exit(store.append({ ...of, conversation: text, expected: 0, messages: [] }))
    yield* Effect.exit(store.append({ ...of, expected: 0, messages: [Message.user(text)] }))
    yield* Effect.exit(store.load(of))
    yield* Effect.exit(Stream.runDrain(store.exportSubject("ann")))
    const results = yield* Tool.ResultStore
    yield* Effect.exit(results?.put({ owner: "run", handle: "h", text }) ?? Effect.void)
    yield* Effect.exit(results?.get({ owner: "run", handle: "h" }) ?? Effect.undefined)
    const approvals = yield* Approval.Approvals
    const grant = { id: "g", agent: "a", tool: "t", definition: "d", admits: { arguments: text }, at: 0 }
    yield* Effect.exit(approvals.add("run", grant))
    return yield* Effect.exit(approvals.grantsOf("run"))
  }).pipe(Effect.provide(layer), Effect.runPromise)

/** A model that says this text. */
const saying = (text: string): Model.Service => {
  const reply: Message.Reply = { content: [{ type: "text", text }], finish: "stop", usage }
  return {
    name: "m",
    provider: "p",
    generate: () => Effect.succeed(reply),
    stream: () => Stream.fromIterable(Model.partsOf(reply))
  }
}

const without = (reason: string, ...names: ReadonlyArray<string>) => each(none(reason), ...names)

export const conversations: Table = {
  "durable/src/Conversations.ts": {
    layerMemory: grows(texts, kept),
    ...each(reached, "layerKeyValueStoreOfProcess"),
    ...each(schema, "Conversations"),
    ...each(none("stores texts as they are"), "layerSql")
  },
  "durable/src/entity/ConversationEntity.ts": without("takes names and schemas of the program", "make", "turn"),
  "durable/src/entity/answering.ts": {
    runIdOf: grows(texts, (text) => runIdOf({ conversation: text, id: text, subject: text, since: 0 })),
    ...without("takes names and schemas of the program", "executionIdOf", "messageOf", "messagesOf", "served"),
    ...without("reads the tag of an error", "patiently")
  },
  "durable/src/entity/beginning.ts": without("stores texts as they are", "atWorkIn", "beginning"),
  "durable/src/entity/client.ts": without(
    "sends texts as they are",
    "answer",
    "edit",
    "interrupt",
    "queued",
    "say",
    "send",
    "state",
    "withdraw"
  ),
  "durable/src/entity/errors.ts": {
    ...without("a message of fields", "ConversationBusyError", "UnansweredError", "UnknownMessageError")
  },
  "durable/src/entity/keeping.ts": {
    addedBy: grows(texts, (text) => addedBy({ events: [], before: 0, said: text, exit: Exit.succeed(text) })),
    ...without("compares texts as wholes", "headOf", "keep")
  },
  "durable/src/entity/protocol.ts": without("takes a name of the program", "entityOf"),
  "durable/src/entity/queue.ts": without("stores texts as they are", "queueOf"),
  "durable/src/entity/serving.ts": without("stores texts as they are", "handlers"),
  "durable/src/RunQueue.ts": without("stores a payload as it is", "layerWorker", "put"),
  "durable/src/ReplyCache.ts": {
    layer: grows(texts, (text) => {
      const model = ReplyCache.layer(Layer.succeed(Model.Model, saying(text)), { tenant: "t" })
      const asked = Effect.gen(function* () {
        const { generate } = yield* Model.Model
        const request: Model.Request = { messages: [Message.user(text)], tools: [], toolChoice: "auto" }
        return [yield* generate(request), yield* generate(request)]
      })
      return Effect.runPromise(Effect.provide(asked, Layer.provide(model, Persistence.layerMemory)))
    })
  },
  "durable/src/conversations/beside.ts": each(reached, "resultsOf", "approvalsOf"),
  "durable/src/conversations/encryption.ts": each(reached, "layerEncryption"),
  "durable/src/conversations/errors.ts": each(
    schema,
    "ConflictError",
    "UnknownConversationError",
    "ConversationLimitError",
    "ConversationStoreError"
  ),
  "durable/src/conversations/exporting.ts": each(reached, "exporting"),
  "durable/src/conversations/making.ts": each(reached, "storeOf")
}
