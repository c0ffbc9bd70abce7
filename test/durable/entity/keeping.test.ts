import { assert, it } from "@effect/vitest"
import { type AgentEvent, Message } from "@kintsugi/core"
import { Conversations } from "@kintsugi/durable"
import { Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { addedBy, keep } from "../../../packages/durable/src/entity/keeping.ts"
import { linesOf } from "./_support/talking.ts"

const of = { conversation: "c-1", subject: "ann" }
// the tests are at the time 0
const to = { ...of, since: 0 }
const messages = [Message.user("hello"), Message.assistant("good day")]

const stored = <A, E>(test: (store: Conversations.Store) => Effect.Effect<A, E>) =>
  Effect.flatMap(Conversations.Conversations, (store) =>
    Effect.gen(function* () {
      yield* store.append({ ...of, expected: 0, messages: [] })
      yield* test(store)
      return linesOf((yield* store.load(of)).messages)
    })
  ).pipe(Effect.provide(Conversations.layerMemory()))

it.effect("an append whose process died after it is not made twice [P1384]", () =>
  Effect.gen(function* () {
    const said = yield* stored((store) =>
      Effect.gen(function* () {
        yield* keep(store, { ...to, expected: 0, messages })
        // another writer is at work in between, and the same words are said once more
        yield* store.append({ ...of, expected: 2, messages: [Message.user("hello")] })
        assert.strictEqual(yield* keep(store, { ...to, expected: 0, messages }), 3)
      })
    )
    assert.deepStrictEqual(said, ["user: hello", "model: good day", "user: hello"])
  })
)

it.effect("what another writer has added meanwhile stays, and comes first [P1384]", () =>
  Effect.gen(function* () {
    const said = yield* stored((store) =>
      Effect.gen(function* () {
        yield* store.append({ ...of, expected: 0, messages: [Message.user("a note"), Message.user("hello")] })
        assert.strictEqual(yield* keep(store, { ...to, expected: 0, messages }), 4)
        assert.strictEqual(yield* keep(store, { ...to, expected: 0, messages }), 4)
      })
    )
    assert.deepStrictEqual(said, ["user: a note", "user: hello", "user: hello", "model: good day"])
  })
)

it.effect("nothing is kept of a conversation that is gone, or has begun anew [P1384]", () =>
  stored((store) =>
    Effect.gen(function* () {
      yield* store.append({ ...of, expected: 0, messages })
      yield* store.remove(of)
      const gone = yield* Effect.flip(keep(store, { ...to, expected: 2, messages }))
      assert.strictEqual(gone._tag, "UnknownConversationError")
      assert.strictEqual((yield* Effect.flip(keep(store, { ...to, expected: 0, messages })))._tag, gone._tag)
      yield* store.append({ ...of, expected: 0, messages: [Message.user("anew")] })
      assert.strictEqual((yield* Effect.flip(keep(store, { ...to, expected: 2, messages })))._tag, gone._tag)
      yield* store.remove(of)
      yield* TestClock.adjust(1)
      yield* store.append({ ...of, expected: 0, messages: [] })
      assert.strictEqual((yield* Effect.flip(keep(store, { ...to, expected: 0, messages })))._tag, gone._tag)
    })
  )
)

const at = 0
const from = { runId: "r", agent: "a", turn: 0, at } as const
const events = (...said: ReadonlyArray<Message.Message>): ReadonlyArray<AgentEvent.AgentEvent> => [
  { ...from, type: "run-start", input: "", transcript: [Message.system("Help."), ...said] }
]

it("what a run has added: an image with its bytes, unless a guardrail has changed the message; the prompt is not kept", () => {
  const image = [Message.text("see"), Message.image("image/png", { data: "iVBORw0KGgo=" })]
  const shown = Message.user([Message.text("see"), Message.text("[image]")])
  const run = { before: 1, said: image, exit: Exit.succeed("nice") }
  const before = Message.user("before")
  const answer = Message.assistant("nice")
  assert.deepStrictEqual(addedBy({ ...run, events: events(before, shown, answer) }), [Message.user(image), answer])
  const guarded: ReadonlyArray<AgentEvent.AgentEvent> = [
    ...events(before, shown, answer),
    {
      ...from,
      type: "guardrail",
      guard: "g",
      side: "input",
      verdict: "replace",
      index: 2,
      message: Message.user("changed")
    }
  ]
  assert.deepStrictEqual(addedBy({ ...run, events: guarded }), [Message.user("changed"), answer])
  // a guardrail that blocks the message has not changed it
  const blocked: ReadonlyArray<AgentEvent.AgentEvent> = [
    ...events(before, shown, answer),
    { ...from, type: "guardrail", guard: "g", side: "input", verdict: "block" }
  ]
  assert.deepStrictEqual(addedBy({ ...run, events: blocked }), [Message.user(image), answer])
  // a log that is full, or gone, does not lose the answer
  assert.deepStrictEqual(addedBy({ ...run, events: [] }), [Message.user(image), answer])
  assert.deepStrictEqual(addedBy({ ...run, events: [], exit: Exit.interrupt() }), [Message.user(image)])
})
