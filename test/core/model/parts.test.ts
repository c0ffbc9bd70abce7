/** Replies and their parts: what a collector makes of parts, and what a failure of a model gets besides. */
import { assert, it } from "@effect/vitest"
import { LlmError, Message, Model, Usage } from "@kintsugi/core"
import * as Parts from "../../../packages/core/src/model/parts.ts"
import { overloaded, says } from "../../_support/namedModels.ts"

const opaque: Message.Opaque = { provider: "a", data: "x" }
const usage = Usage.make({ inputTokens: 3, outputTokens: 4 })

const collecting = (...parts: ReadonlyArray<Model.Part>): Model.Collector => {
  const collector = new Model.Collector()
  for (const part of parts) collector.push(part)
  return collector
}

it("a collector knows what was spent as soon as the provider has said it, with all that it said of it", () => {
  assert.strictEqual(collecting(says("a")).spent, undefined)
  const counts = [
    { type: "usage", usage },
    { type: "usage", usage, cost: 0.5 },
    { type: "usage", usage, isEstimated: true },
    { type: "usage", usage, resent: Usage.make({ inputTokens: 1 }) }
  ] as const
  for (const part of counts) {
    const { type: _type, ...counted } = part
    assert.deepStrictEqual(collecting(says("a"), part).spent, { ...counted, content: [Message.text("a")] })
  }
})

it("a reader has seen a text, a thought or a call; nothing else counts as seen [P501]", () => {
  const call: Model.Part = { type: "tool-call", id: "c1", name: "look", arguments: {} }
  const shown: ReadonlyArray<readonly [Model.Part, boolean]> = [
    [says("a"), true],
    [says(""), false],
    [{ type: "reasoning-delta", text: "hm" }, true],
    [{ type: "reasoning-delta", text: "", opaque }, false],
    [call, true],
    [{ type: "provider-item", kind: "search", opaque }, false],
    [{ type: "usage", usage }, false],
    [{ type: "finish", finish: "stop", usage }, false]
  ]
  for (const [part, isShown] of shown) assert.strictEqual(collecting(part).isShown, isShown, JSON.stringify(part))
})

it("a failure gets the text so far and a counted usage; its own usage stays, and a wrong one is not taken [P502]", () => {
  const broken = (error: LlmError.LlmError, ...parts: ReadonlyArray<Model.Part>) => {
    const { partial, usage } = collecting(...parts).broken(error)
    return { partial, usage }
  }
  const counted = { type: "usage", usage } as const
  const own = Parts.withUsage(overloaded(), Usage.make({ inputTokens: 9 }))
  assert.deepStrictEqual(broken(overloaded()), { partial: undefined, usage: undefined })
  assert.deepStrictEqual(broken(overloaded(), says("so"), counted), { partial: "so", usage })
  assert.deepStrictEqual(broken(own, counted), { partial: undefined, usage: Usage.make({ inputTokens: 9 }) })
  assert.strictEqual(broken(overloaded(), { ...counted, isEstimated: true }).usage, undefined)
  const unsound = { ...counted, usage: { ...usage, inputTokens: -1 } }
  assert.strictEqual(broken(overloaded(), unsound).usage, undefined)
  // what is no error of a model stays as it is
  const foreign = new Error("foreign") as unknown as LlmError.LlmError
  assert.strictEqual(collecting(says("so"), counted).broken(foreign), foreign)
})

it("the partial text of a failure is set or taken away; without a change the failure stays the same object [P502]", () => {
  const error = overloaded()
  assert.strictEqual(Parts.onlyPartial(error, ""), error)
  const partial = Parts.onlyPartial(error, "so")
  assert.strictEqual(partial.partial, "so")
  assert.strictEqual(Parts.onlyPartial(partial, "so far").partial, "so far")
  assert.notProperty(Parts.onlyPartial(partial, ""), "partial")
  assert.strictEqual(Parts.onlyPartial(partial, "").stack, error.stack)
  const foreign = Object.assign(new Error("foreign"), { partial: "x" }) as unknown as LlmError.LlmError
  assert.strictEqual(Parts.onlyPartial(foreign, ""), foreign)
})

it("failures of earlier models stand before those that a failure has already", () => {
  const [one, two, three] = [overloaded("one"), overloaded("two"), overloaded("three")]
  assert.strictEqual(Parts.withEarlier(three, []), three)
  assert.deepStrictEqual(Parts.withEarlier(two, [one]).earlier, [one])
  assert.deepStrictEqual(Parts.withEarlier(Parts.withEarlier(three, [two]), [one]).earlier, [one, two])
})

it("a reply whose parts stand alone stays the same object; neighbouring texts are joined, and empty ones go", () => {
  const reply = (...content: Message.Reply["content"]): Message.Reply => ({ content, finish: "stop", usage })
  const thought = { type: "reasoning", text: "hm" } as const
  const item = { type: "provider-item", kind: "search", opaque } as const
  const call: Message.ToolCall = { type: "tool-call", id: "c1", name: "look", arguments: {} }
  for (const alone of [
    reply(Message.text("a")),
    reply(thought, item),
    reply(thought, Message.text("a"), call),
    reply({ ...thought, opaque }, thought)
  ])
    assert.strictEqual(Model.collected(alone), alone)
  assert.deepStrictEqual(
    Model.collected(reply(Message.text("a"), Message.text(""), Message.text("b"))),
    reply(Message.text("ab"))
  )
  assert.deepStrictEqual(Model.collected(reply(thought, thought)), reply({ ...thought, text: "hmhm" }))
})
