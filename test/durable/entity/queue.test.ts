/** The queue of a conversation: in which order its messages are. */
import { assert, it } from "@effect/vitest"
import { Conversations } from "@kintsugi/durable"
import { Effect } from "effect"
import { queueOf } from "../../../packages/durable/src/entity/queue.ts"

it.effect("the message whose run has begun is the first, also before words that come next [P1384]", () =>
  Effect.gen(function* () {
    const store = yield* Conversations.Conversations
    yield* store.append({ conversation: "c-1", subject: "ann", expected: 0, messages: [] })
    const queue = queueOf(store, "c-1")
    const item = (id: string, nth: number) => ({ id, nth, subject: "ann", since: 0, message: id })
    yield* queue.put(item("last", 5))
    yield* queue.put({ ...item("begun", 4), begun: { workflow: "clerk", runId: "r", executionId: "e" } })
    // words that the run has not read: its process died before the message of the run left the queue
    yield* queue.put(item("words", 3))
    assert.deepStrictEqual(
      (yield* queue.all).map(({ id }) => id),
      ["begun", "words", "last"]
    )
  }).pipe(Effect.provide(Conversations.layerMemory()))
)
