import { assert, describe, it } from "@effect/vitest"
import { Message, type Model } from "@kintsugi/core"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import type * as Provider from "@kintsugi/providers/Provider"
import { fitting } from "../../../packages/providers/src/codec/Fitting.ts"
import type { Facts } from "../../../packages/providers/src/codec/Capabilities.ts"
import * as ModelFamilies from "../../../packages/providers/src/codec/ModelFamilies.ts"

type Options = Parameters<typeof fitting>[1]

const make = (model: string, options: Options, wire: Facts = {}, more: Partial<Provider.Codec> = {}) => {
  const source = { provider: "p", model, secrets: [] }
  const codec = { ...OpenAiChat.make(source), ...more }
  return fitting(source, options, ModelFamilies.openAi, () => codec, wire)
}

const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

describe("a refusal", () => {
  const refuse = { unsupported: "refuse" } as const
  const refusalOf = (model: string, options: Options, wire?: Facts) => make(model, options, wire).refuses?.(request)

  it("names pages only for what they state [P1410]", () => {
    const asked = { parallelToolCalls: true, temperature: 0 }
    const ask = "; ask without it, or override it with the option capabilities"
    assert.strictEqual(
      refusalOf("o3", { ...asked, capabilities: refuse })?.detail,
      `o-series takes no temperature 0, by pages of 2026-11-26${ask}`
    )
    assert.strictEqual(
      refusalOf("gpt-5.4", {
        parallelToolCalls: true,
        capabilities: { ...refuse, parallelToolCalls: false }
      })?.detail,
      `gpt-5.4 takes no parallelToolCalls true${ask}`
    )
    // of a model of no family there are no pages, though the wire refuses it
    assert.strictEqual(
      refusalOf("my-model", { ...asked, capabilities: refuse }, { parallelToolCalls: false })?.detail,
      `the layer takes no parallelToolCalls true${ask}`
    )
  })
})

describe("a model that continues no message of its own", () => {
  it("has no continuation, though its codec has one [P1410]", () => {
    const able = { continuation: "rest" } as const
    assert.strictEqual(make("my-model", {}, {}, able).continuation, "rest")
    assert.isUndefined(make("my-model", {}, { continuation: "none" }, able).continuation)
    assert.isUndefined(make("my-model", { capabilities: { continuation: "none" } }, {}, able).continuation)
    assert.strictEqual(make("my-model", { capabilities: able }, { continuation: "none" }, able).continuation, "rest")
  })
})
