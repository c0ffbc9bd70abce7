/** The option `capabilities` of a layer. */
import type * as Model from "@kintsugi/core/Model"
import { Anthropic, DeepSeek, Gemini, Kimi, Ollama, OpenAi, OpenRouter, Perplexity } from "@kintsugi/providers"
import type { Config, Layer } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"

type ByName = Layer.Layer<Model.Model, Config.ConfigError>

describe("capabilities of a layer", () => {
  it("each provider takes them, and each entry is optional [P1410]", () => {
    const capabilities = { unsupported: "refuse", sampling: "never", contextWindow: 8192 } as const
    sameType<ByName>()(Anthropic.model("m", { capabilities }))
    sameType<ByName>()(DeepSeek.model("m", { capabilities }))
    sameType<ByName>()(Gemini.model("m", { capabilities }))
    sameType<ByName>()(Kimi.model("m", { capabilities }))
    sameType<ByName>()(Ollama.model("m", { capabilities }))
    sameType<ByName>()(OpenAi.model("m", { capabilities }))
    sameType<ByName>()(OpenAi.responses("m", { capabilities: {} }))
    sameType<ByName>()(
      OpenRouter.model("m", { capabilities: { efforts: ["low", "a word of its own"], budgets: true } })
    )
    sameType<ByName>()(Perplexity.model("m", { capabilities: { toolChoice: ["none"], continuation: "none" } }))
  })

  it("what is no entry, and no value of one, does not compile [P1410]", () => {
    // @ts-expect-error it adapts or refuses
    OpenAi.model("m", { capabilities: { unsupported: "ignore" } })
    // @ts-expect-error no such entry
    OpenAi.model("m", { capabilities: { smart: true } })
    // @ts-expect-error sampling is not just on or off
    OpenAi.model("m", { capabilities: { sampling: true } })
    // @ts-expect-error the choices besides `auto`
    OpenAi.model("m", { capabilities: { toolChoice: ["auto"] } })
    // @ts-expect-error a list, from the least to the greatest
    OpenAi.model("m", { capabilities: { efforts: "low" } })
    // @ts-expect-error it goes on, or not
    OpenAi.model("m", { capabilities: { continuation: true } })
  })

  it("a model of one's own says what it changes [P1410]", () => {
    const adaptation: Model.Adaptation = { family: "f", changes: [{ option: "temperature", asked: 0 }] }
    const adapts: NonNullable<Model.Service["adapts"]> = () => adaptation
    type _ = Expect<Equal<ReturnType<typeof adapts>, Model.Adaptation | undefined>>
    // @ts-expect-error a change names its option
    const nameless: Model.Adaptation = { family: "f", changes: [{ asked: 0 }] }
    void nameless
  })
})
