import { assert } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Anthropic, Gemini, Ollama, OpenAi } from "@kintsugi/providers"
import { Cause, ConfigProvider, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"

const keys = ConfigProvider.fromUnknown({
  OPENAI_API_KEY: "k",
  ANTHROPIC_API_KEY: "k",
  GEMINI_API_KEY: "k",
  GOOGLE_API_KEY: "k"
})

const models = {
  openai: OpenAi.model("gpt-5"),
  responses: OpenAi.responses("gpt-5"),
  anthropic: Anthropic.model("claude-sonnet-4-5"),
  gemini: Gemini.model("gemini-2.5-pro"),
  ollama: Ollama.model("llama3")
}

for (const [name, model] of Object.entries(models)) {
  it.run(`under the test layer ${name} sends nothing, and the run dies [P1106]`, (run) =>
    Effect.gen(function* () {
      const fetched: Array<unknown> = []
      const original = globalThis.fetch
      yield* Effect.addFinalizer(() => Effect.sync(() => void (globalThis.fetch = original)))
      globalThis.fetch = (input) => {
        fetched.push(input)
        return Promise.reject(new Error("no network in tests"))
      }
      const agent = Agent.make("worker", { prompt: "Work.", model })
      const exit = yield* run(agent, "go").pipe(
        Effect.provide(ScriptedModel.noRealModels),
        Effect.provideService(ConfigProvider.ConfigProvider, keys),
        Effect.exit
      )
      assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.include(String(Cause.squash(exit.cause)), "A test calls the real model")
      assert.deepStrictEqual(fetched, [])
    })
  )
}
