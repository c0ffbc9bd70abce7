/** Language models of the AI SDK by their real types, which declare all three versions, and one of the SDK's own doubles as ours. */
import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider"
import { assert, describe, it } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import * as AiSdkModel from "@kintsugi/interop/AiSdkModel"
import { MockLanguageModelV4 } from "ai/test"
import { Effect } from "effect"

/** What each version takes. */
interface Theirs {
  readonly v2: Parameters<LanguageModelV2["doGenerate"]>[0]
  readonly v3: Parameters<LanguageModelV3["doGenerate"]>[0]
  readonly v4: Parameters<LanguageModelV4["doGenerate"]>[0]
}

/** Compiles if what this library sends is what each version takes. */
export const taken: { readonly [V in keyof Theirs]: (ours: AiSdkModel.CallOptions<V>) => Theirs[V] } = {
  v2: (ours) => ours,
  v3: (ours) => ours,
  v4: (ours) => ours
}

/** Compiles if the models of each version are admitted. */
export const admitted = (model: LanguageModelV2 | LanguageModelV3 | LanguageModelV4) => AiSdkModel.layer(model)

describe("ai", () => {
  it.effect("a model of the SDK answers an agent, called once [P1381]", () =>
    Effect.gen(function* () {
      const model = new MockLanguageModelV4({
        doGenerate: async () => ({
          content: [{ type: "text", text: "hello" }],
          finishReason: { unified: "stop", raw: "stop" },
          usage: {
            inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
            outputTokens: { total: 1, text: 1, reasoning: undefined }
          },
          warnings: []
        })
      })
      const agent = Agent.make("clerk", { model: AiSdkModel.layer(model) })
      assert.strictEqual(yield* agent("hi"), "hello")
      assert.strictEqual(model.doGenerateCalls.length, 1)
    })
  )
})
