/** Replies in parts: what is collected of them, and what a failure says about them. */
import { assert, it } from "@effect/vitest"
import { LlmError, Message, type Model, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import {
  collected,
  Collector,
  marked,
  onlyPartial,
  partsOf,
  withEarlier
} from "../../../packages/core/src/model/parts.ts"
import { overloaded } from "../../_support/namedModels.ts"

const usage = Usage.make({ inputTokens: 3, outputTokens: 4 })
const call = ScriptedModel.call("look", { n: 1 }, "c1")
const item = { type: "provider-item", kind: "k", opaque: { provider: "p", data: { a: 1 } } } as const
const thought = (text: string, opaque?: Message.Opaque) =>
  ({ type: "reasoning", text, ...(opaque === undefined ? {} : { opaque }) }) as const
const opaque: Message.Opaque = { provider: "p", data: "signed" }

const collect = (...parts: ReadonlyArray<Model.Part>) => {
  const collector = new Collector()
  for (const part of parts) collector.push(part)
  return collector
}

const text = (said: string): Model.Part => ({ type: "text-delta", text: said })

it("a text, a thought and a call are shown; nothing else is [P501]", () => {
  for (const [part, isShown] of [
    [text("a"), true],
    [{ type: "reasoning-delta", text: "a" }, true],
    [call, true],
    [text(""), false],
    [{ type: "reasoning-delta", text: "", opaque }, false],
    [item, false],
    [{ type: "usage", usage }, false],
    [{ type: "finish", finish: "stop", usage }, false]
  ] as const satisfies ReadonlyArray<readonly [Model.Part, boolean]>) {
    assert.strictEqual(collect(part).isShown, isShown, part.type)
    assert.isTrue(collect(text("x"), part).isShown)
  }
})

it("what was spent is what was counted last, with the content so far [A701]", () => {
  assert.isUndefined(collect(text("a")).spent)
  const counted = { usage, cost: 0.5, isEstimated: true, resent: Usage.make({ inputTokens: 1 }) } as const
  const collector = collect(text("a"), { type: "usage", usage: Usage.empty }, { type: "usage", ...counted })
  assert.deepStrictEqual({ ...collector.spent }, { ...counted, content: [Message.text("a")] })
  assert.deepStrictEqual({ ...collect({ type: "usage", usage }).spent }, { usage, content: [] })
  assert.isUndefined(collector.reply())
})

it("a failure gets the text so far, and the usage unless it has its own or the usage is no fact [P501 A701]", () => {
  const error = overloaded()
  const own = Usage.make({ inputTokens: 9 })
  const unsound = { ...usage, inputTokens: Number.NaN }
  const broken = (failure: LlmError.LlmError, ...parts: ReadonlyArray<Model.Part>) => {
    const made = collect(...parts).broken(failure)
    return { partial: made.partial, usage: made.usage }
  }
  const says = text("so f")
  assert.deepStrictEqual(broken(error, says), { partial: "so f", usage: undefined })
  assert.deepStrictEqual(broken(error, says, { type: "usage", usage }), { partial: "so f", usage })
  assert.deepStrictEqual(broken(error, { type: "usage", usage }), { partial: undefined, usage })
  for (const part of [
    { type: "usage", usage: unsound },
    { type: "usage", usage, isEstimated: true }
  ] as const)
    assert.deepStrictEqual(broken(error, says, part), { partial: "so f", usage: undefined })
  const counted = LlmError.ModelOverloadedError.make({ model: "m", usage: own })
  assert.deepStrictEqual(broken(counted, says, { type: "usage", usage }), { partial: "so f", usage: own })
  assert.strictEqual(collect().broken(error), error)
})

it("a failure has one partial text, or none, and the failures before it [P501 A815]", () => {
  const [first, second, third] = [overloaded(), overloaded(), overloaded()]
  const said = LlmError.ModelOverloadedError.make({ model: "m", partial: "half" })
  assert.strictEqual(onlyPartial(said, "all").partial, "all")
  assert.isFalse("partial" in onlyPartial(said, ""))
  assert.strictEqual(onlyPartial(first, ""), first)
  assert.strictEqual(onlyPartial(first, "all").partial, "all")
  assert.strictEqual(withEarlier(first, []), first)
  const both = withEarlier(second, [first])
  assert.deepStrictEqual(both.earlier, [first])
  assert.deepStrictEqual(withEarlier(both, [third]).earlier, [third, first])
  assert.deepStrictEqual([both.message, both.stack], [second.message, second.stack])
})

it("a reply whose parts stand alone stays itself; any other is joined as a streamed one is [A701]", () => {
  const alone = [
    [],
    [Message.text("a"), thought("b"), Message.text("c"), call],
    [thought("a", opaque), thought("b")],
    [thought("a"), item, thought("b")],
    [call, call]
  ]
  for (const content of alone) {
    const reply = ScriptedModel.reply({ content })
    assert.strictEqual(collected(reply), reply)
    assert.deepStrictEqual(collect(...partsOf(reply)).reply(), reply)
  }
  for (const [content, expected] of [
    [[Message.text("a"), Message.text("b")], [Message.text("ab")]],
    [[Message.text(""), call, Message.text("")], [call]],
    [[thought("a"), thought("b", opaque)], [thought("ab", opaque)]]
  ] as const) {
    assert.deepStrictEqual(collected(ScriptedModel.reply({ content: [...content] })).content, expected)
  }
})

it("a composed model has its parts under a registered name, which a changed copy lacks", () => {
  const model = { name: "m", provider: "p" } as Model.Service
  const composed = marked(model, { members: [], strategy: () => assert.fail("no call") })
  assert.deepStrictEqual(
    Object.getOwnPropertySymbols(composed).map((symbol) => Symbol.keyFor(symbol)),
    ["~@kintsugi/core/Model/Composed"]
  )
  assert.deepStrictEqual(Object.getOwnPropertySymbols({ ...composed }), [])
})
