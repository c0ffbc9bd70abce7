/** What is read of single models and their replies: windows, counters, empty and filtered replies, and estimates. */
import { assert, it } from "@effect/vitest"
import { LlmError, Message, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Stream } from "effect"
import * as ModelCall from "../../../packages/core/src/model/ModelCall.ts"
import { hello } from "../../_support/namedModels.ts"

const member = (name: string, contextWindow?: number): Model.Service => ({
  name,
  provider: `of ${name}`,
  generate: () => Effect.die("is not asked"),
  stream: () => Stream.die("is not asked"),
  ...(contextWindow === undefined ? {} : { contextWindow })
})

const composed = (...members: readonly [Model.Service, Model.Service, ...Array<Model.Service>]) =>
  Model.compose(members, (ask) => ask(members[0]))

it("the window is that of the named member, else the smallest that a member declares", () => {
  const model = composed(member("a", 8000), member("b", 2000), member("c", 4000))
  assert.strictEqual(ModelCall.windowOf(model, "a"), 8000)
  assert.strictEqual(ModelCall.windowOf(model, "c"), 4000)
  assert.strictEqual(ModelCall.windowOf(model, "nobody"), 2000)
  assert.strictEqual(ModelCall.windowOf(model), 2000)
  assert.strictEqual(ModelCall.windowOf(member("a", 8000)), 8000)
})

it("a window that is no number above 0 counts as none", () => {
  assert.strictEqual(ModelCall.windowOf(member("a")), undefined)
  for (const none of [0, -1, Number.NaN, Infinity])
    assert.strictEqual(ModelCall.windowOf(composed(member("a", none), member("b", 3000)), "a"), 3000, String(none))
})

it("a filtered reply without calls is a failure with its text, its model and its reason", () => {
  const filtered = ScriptedModel.reply({ content: [Message.text("so far")], finish: "filtered" })
  const refusal = ModelCall.refused(member("a"), filtered)
  assert.instanceOf(refusal, LlmError.ContentFilteredError)
  assert.deepInclude(refusal, {
    model: "a",
    provider: "of a",
    detail: "the reply was cut off by a content filter",
    partial: "so far"
  })
  const call: Message.ToolCall = { type: "tool-call", id: "c1", name: "look", arguments: {} }
  assert.strictEqual(ModelCall.refused(member("a"), { ...filtered, content: [call] }), undefined)
  assert.strictEqual(ModelCall.refused(member("a"), { ...filtered, finish: "stop" }), undefined)
})

it("a reply is empty without a text, a call or an answer of the provider; a paused one is not [P1340]", () => {
  const opaque: Message.Opaque = { provider: "of a", data: {} }
  const emptied = (content: Message.Reply["content"], finish: Message.FinishReason = "stop") =>
    ModelCall.empty(member("a"), ScriptedModel.reply({ content, finish }))
  const nothing: ReadonlyArray<Message.Reply["content"]> = [
    [],
    [Message.text("")],
    [{ type: "reasoning", text: "hm" }],
    [{ type: "provider-item", kind: ModelCall.truncatedPrompt, opaque }]
  ]
  for (const content of nothing) {
    const error = emptied(content, "length")
    assert.instanceOf(error, LlmError.EmptyReplyError)
    assert.deepInclude(error, { model: "a", provider: "of a", finishReason: "length" })
    assert.strictEqual(emptied(content, "paused"), undefined)
  }
  const something: ReadonlyArray<Message.Reply["content"]> = [
    [Message.text("a")],
    [{ type: "tool-call", id: "c1", name: "look", arguments: {} }],
    [{ type: "provider-item", kind: "search", opaque }]
  ]
  for (const content of something) assert.strictEqual(emptied(content), undefined)
})

it("an attachment is estimated as a thousand tokens, whatever its size; a text by its length", () => {
  const picture = (data: string): Message.User => ({
    role: "user",
    content: [{ type: "image", mediaType: "image/png", data }]
  })
  const small = ModelCall.estimateOf([picture("AAAA")])
  assert.strictEqual(ModelCall.estimateOf([picture("A".repeat(100_000))]), small)
  assert.isAtLeast(small, 1000)
  assert.isAtMost(small, 1010)
  assert.strictEqual(ModelCall.estimateOf(["ab", "cd"]), 2)
  const counted = { usage: { inputTokens: -1, outputTokens: 0 }, cost: -1 }
  // a wrong usage is replaced, and a wrong cost is left out
  assert.deepInclude(ModelCall.sound(counted as never, hello, [Message.text("a")]), { isEstimated: true })
  assert.notProperty(ModelCall.sound(counted as never, hello, [Message.text("a")]), "cost")
})
