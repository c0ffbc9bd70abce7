/** What a reply of the AI SDK cost, and what the SDK warns of. */
import { assert, describe } from "@effect/vitest"
import * as AiSdkModel from "@kintsugi/interop/AiSdkModel"
import { Effect, Logger } from "effect"
import { costIn } from "../../../packages/interop/src/ai-sdk/reply.ts"
import { textsOf } from "../../../packages/interop/src/ai-sdk/warnings.ts"
import { agentWith } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import * as Script from "./_support/languageModel.ts"

const { replies, says, scripted, versions } = Script

const tied = { transport: { retry: false } } as const

describe("the cost of a reply", () => {
  const rows = [
    [{ gateway: { cost: "0.0025", generationId: "g" }, xai: { costInUsdTicks: 1 } }, 0.0025],
    [{ gateway: { cost: 0.0025 } }, 0.0025],
    [{ gateway: { cost: "2" } }, 2],
    [{ openrouter: { usage: { cost: 0.0125, promptTokens: 1 } } }, 0.0125],
    [{ xai: { costInUsdTicks: 37_500_000 } }, 0.00375],
    [{ gateway: { cost: "free" }, openrouter: { usage: { cost: -1 } }, xai: { costInUsdTicks: 0 } }, undefined],
    [{ gateway: { cost: "1e999" }, openrouter: { usage: null } }, undefined],
    [{ gateway: { cost: null }, openrouter: { usage: { cost: true } } }, undefined],
    [{ gateway: { cost: "0x10" }, openrouter: { usage: { cost: "1e3" } } }, undefined],
    [{ openai: { cost: 5 } }, undefined]
  ] as const

  it.effect("is what the gateway, OpenRouter or xAI say of it, and no other number [P1381 P1382]", () =>
    Effect.sync(() => {
      for (const [metadata, cost] of rows) {
        assert.deepStrictEqual(costIn(metadata as never), cost === undefined ? {} : { cost })
      }
    })
  )

  for (const version of versions) {
    it.effect(
      `is in the reply of a model of version ${version}, whole and streamed, and wins over a price [P1382]`,
      () =>
        Effect.gen(function* () {
          const said = { ...says("hi"), providerMetadata: { gateway: { cost: "0.5" } } }
          const { model } = scripted(version, [said, said])
          const price = { usdPerMillionTokens: { input: 1, output: 1 } }
          const reply = yield* replies(AiSdkModel.layer(model, { ...tied, price }))
          assert.strictEqual(reply.cost, 0.5)
        })
    )
  }
})

it("a price or a context window that cannot be counted is refused by name [P1381 P1382]", () => {
  const layer = (options: object) => () => AiSdkModel.layer(scripted("v3", []).model, options)
  const odd = { usdPerMillionTokens: { input: -1, output: Number.NaN } }
  const negative = { usdPerMillionTokens: { input: 1, output: 1 }, usdPerItem: { search: -5 } }
  for (const price of [odd, negative, "free", 5, {}]) {
    assert.throws(layer({ price }), TypeError, "Budget: the price of 'script-1'")
  }
  for (const contextWindow of [-1, 0, Number.NaN, 1.5, "8k"]) {
    assert.throws(layer({ contextWindow }), RangeError, "AiSdkModel: contextWindow must be an integer of at least 1")
  }
  layer({ price: "reported", contextWindow: 8000 })()
})

describe("what the SDK warns of", () => {
  const forms = [
    [{ type: "unsupported-setting", setting: "seed", details: "not here" }, "unsupported-setting 'seed': not here"],
    [{ type: "unsupported-tool", tool: { name: "look", type: "function" } }, "unsupported-tool 'look'"],
    [{ type: "unsupported", feature: "topK" }, "unsupported 'topK'"],
    [{ type: "compatibility", feature: "tools", details: "as text" }, "compatibility 'tools': as text"],
    [{ type: "deprecated", setting: "topK", message: "use topP" }, "deprecated 'topK': use topP"],
    [{ type: "other", message: "be careful" }, ": be careful"]
  ] as const

  it.effect("is a text, in the form of each version; what has no form is left out [P1381]", () =>
    Effect.sync(() => {
      assert.deepStrictEqual(
        textsOf(forms.map(([warning]) => warning)),
        forms.map(([, text]) => text.replace(/^: /, ""))
      )
      for (const other of [undefined, null, "x", {}, [null, 1, {}, { message: 5 }, { type: "other" }]]) {
        assert.deepStrictEqual(textsOf(other), [])
      }
    })
  )

  for (const version of versions) {
    it.run(`is logged once for each layer, by a model of version ${version} [P1381]`, (run) =>
      Effect.gen(function* () {
        const logged: Array<string> = []
        const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
          if (logLevel === "Warn") logged.push(String(message))
        })
        const said = { ...says("hi"), warnings: [forms[2][0], forms[5][0], forms[2][0]] }
        const { model } = scripted(version, [said, said])
        const asked = Effect.andThen(run(agentWith(), "go"), run(agentWith(), "go"))
        yield* asked.pipe(Effect.provide(AiSdkModel.layer(model, tied)), Effect.provide(Logger.layer([logger])))
        assert.deepStrictEqual(logged, [
          "The AI SDK warns of a request to model 'script-1' of script.chat: unsupported 'topK'",
          "The AI SDK warns of a request to model 'script-1' of script.chat: be careful"
        ])
      })
    )
  }
})
