/** What is known of a model call: its window, its estimate, and whether a reply is an answer. */
import { assert, it } from "@effect/vitest"
import { Message, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Stream } from "effect"
import { empty, estimateOf, refused, truncatedPrompt, windowOf } from "../../../packages/core/src/model/ModelCall.ts"

const model = (name: string, more: Partial<Model.Service> = {}): Model.Service => ({
  name,
  provider: `by ${name}`,
  generate: () => Effect.die("not asked for here"),
  stream: () => Stream.die("not asked for here"),
  ...more
})

const item = (kind: string) => ({ type: "provider-item", kind, opaque: { provider: "p", data: 1 } }) as const

it("the window is that of the named model, otherwise the smallest that is one", () => {
  const small = model("small", { contextWindow: 100 })
  const large = model("large", { contextWindow: 900 })
  const odd = [undefined, 0, -1, Number.NaN, Infinity].map((contextWindow, index) =>
    model(`odd${index}`, contextWindow === undefined ? {} : { contextWindow })
  )
  const all = Model.fallback(large, ...odd, small)
  assert.strictEqual(windowOf(all), 100)
  for (const [name, window] of [
    ["large", 900],
    ["small", 100],
    ["odd1", 100],
    ["none", 100]
  ] as const)
    assert.strictEqual(windowOf(all, name), window)
  for (const one of odd) assert.isUndefined(windowOf(one, one.name))
  assert.strictEqual(windowOf(large), 900)
  assert.deepInclude(Model.fallback(small, model("small", { provider: "by small" }), large), {
    name: "small or large",
    provider: "by small or by large"
  })
})

it("a picture is estimated at about a thousand tokens, of any size", () => {
  for (const data of ["AA==", "A".repeat(100_000)]) {
    const message: Message.User = { role: "user", content: [Message.image("image/png", { data })] }
    assert.strictEqual(estimateOf([message]), 1001)
  }
  assert.strictEqual(estimateOf([Message.user("12345678"), "1234"]), 5)
})

it("a reply without words, calls and items of the provider is empty, and a filtered one without calls is refused", () => {
  const call = ScriptedModel.call("look", {}, "c1")
  const thought = { type: "reasoning", text: "hm" } as const
  const reply = (...content: Message.Reply["content"]) => ScriptedModel.reply({ content })
  for (const one of [reply(Message.text("a")), reply(call), reply(item("search")), reply(thought, item("search"))])
    assert.isUndefined(empty(model("m"), one))
  for (const one of [reply(), reply(Message.text("")), reply(thought), reply(item(truncatedPrompt))]) {
    assert.deepInclude(empty(model("m"), one), { _tag: "EmptyReplyError", model: "m", provider: "by m" })
    assert.isUndefined(empty(model("m"), { ...one, finish: "paused" }))
  }
  const filtered = (...content: Message.Reply["content"]) =>
    refused(model("m"), { ...reply(...content), finish: "filtered" })
  assert.isUndefined(filtered(call))
  assert.isUndefined(refused(model("m"), reply(Message.text("a"))))
  assert.deepInclude(filtered(Message.text("so f")), {
    _tag: "ContentFilteredError",
    model: "m",
    provider: "by m",
    partial: "so f",
    detail: "the reply was cut off by a content filter"
  })
})
