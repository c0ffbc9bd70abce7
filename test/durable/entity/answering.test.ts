/** The workflow of a message: the names under which it is stored, what it reads, and what it asks of the engine. */
import { assert, it } from "@effect/vitest"
import { Approval } from "@kintsugi/core"
import { Conversations, Durable } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Effect, Layer, Schema } from "effect"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { messageOf, messagesOf, runIdOf, type Runs } from "../../../packages/durable/src/entity/answering.ts"
import { changed, passing, played, talking, talkTo } from "./_support/talking.ts"

// runs with only what names their messages
const runs = {
  workflow: { _tag: "clerk@2", successSchema: Schema.String, errorSchema: Schema.Never }
} as unknown as Runs

it.effect(
  "a message is stored under the names of its conversations, of the agent's version and of its run [P1384]",
  () =>
    Effect.gen(function* () {
      // with when the conversation began
      const sent = { conversation: "c/1", id: "m 1", subject: "ann", since: 5 }
      assert.strictEqual(runIdOf(sent), "c%2F1/m%201/ann/5")
      assert.strictEqual(runIdOf({ ...sent, subject: "\uD800" }), "c%2F1/m%201/%EF%BF%BD/5")
      const messages = messagesOf("desk", runs)
      assert.strictEqual(messages._tag, "Conversation/desk/clerk@2")
      const [first, same, other] = yield* Effect.all([
        messageOf(messages, "run-1"),
        messageOf(messagesOf("desk", runs), "run-1"),
        messageOf(messages, "run-2")
      ])
      assert.strictEqual(first, same)
      assert.notStrictEqual(first, other)
    })
)

it.effect("a message is answered although what was said before is gone when its run begins [P1384]", () => {
  const talk = talking()
  const forgetful = changed((store) => ({
    ...store,
    // as if the conversation was deleted between two looks
    load: (page) =>
      page.limit === undefined || page.limit === 0
        ? store.load(page)
        : Effect.fail(Conversations.UnknownConversationError.make({ conversation: page.conversation }))
  }))
  return Effect.gen(function* () {
    const { answer, send } = talkTo(talk)
    yield* send("1", "hello")
    yield* answer("1")
    yield* send("2", "more")
    assert.strictEqual(yield* answer("2"), "answer to more")
    assert.deepStrictEqual(talk.requests, [["user: hello"], ["user: more"]])
  }).pipe(played(talk, forgetful))
})

it.effect("a run that waits for a person is not looked after, nor for a message that is over [P1384]", () => {
  const talk = talking()
  const polled: Array<string> = []
  const counting = Layer.effect(
    WorkflowEngine,
    Effect.map(WorkflowEngine, (engine): WorkflowEngine["Service"] => ({
      ...engine,
      // each workflow is polled as it is
      poll: ((workflow: { readonly _tag: string }, executionId: string) => {
        polled.push(workflow._tag)
        return engine.poll(workflow as never, executionId)
      }) as never
    }))
  )
  const engine = Layer.provideMerge(counting, ConversationEntity.layerMemory)
  const live = talk.clerks.layer.pipe(Layer.provideMerge(engine), Layer.provideMerge(Conversations.layerMemory()))
  return Effect.gen(function* () {
    const { answer, send } = talkTo(talk)
    yield* send("1", "hello")
    yield* answer("1")
    yield* send("2", "sign lease")
    assert.include(polled.splice(0).join(), "clerk")
    yield* passing(5)
    assert.strictEqual((yield* send("1", "hello"))._tag, "Ended")
    assert.deepStrictEqual(polled, [])
    const [request] = talk.asked
    assert.isDefined(request)
    yield* Durable.decide(talk.durable, request, Approval.approve)
    yield* passing(1)
    talk.release("sign lease")
    assert.strictEqual(yield* answer("2"), "answer to sign lease")
  }).pipe(Effect.ensuring(Effect.andThen(talk.releaseAll, passing(1))), Effect.provide(live))
})
