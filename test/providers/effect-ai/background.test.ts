/** Replies in the background, for `effect/ai`: it asks once, and gets the reply. */
import { assert, it } from "@effect/vitest"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Effect, Fiber, Layer, Stream } from "effect"
import * as LanguageModel from "effect/ai/LanguageModel"
import { calm, failureOf, finished, pass, respond, silence } from "../../_support/network.ts"
import { begins, ends, having, playing, whole } from "../service/_support/background.ts"

const ask = {
  whole: Effect.map(LanguageModel.generateText({ prompt: "go" }), ({ text }) => text),
  streamed: Effect.map(Stream.runCollect(LanguageModel.streamText({ prompt: "go" })), (parts) =>
    parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("")
  )
}

for (const way of ["whole", "streamed"] as const) {
  const isStreamed = way === "streamed"

  it.effect(`a reply in the background is waited for (${way}) [P1406 P1107]`, () =>
    Effect.gen(function* () {
      const { asked, model } = playing([begins(isStreamed), ...ends(isStreamed)])
      const said = Effect.provide(ask[way], Layer.provide(EffectAi.languageModel, model))
      assert.strictEqual(yield* yield* finished(said), "Four.")
      assert.strictEqual(asked().filter((one) => one.startsWith("POST")).length, 1)
    })
  )

  it.effect(`an interruption cancels it, its own failure does not (${way}) [P1406 P1107]`, () =>
    Effect.gen(function* () {
      const { asked, model } = playing([begins(isStreamed), silence, respond(200, { ...whole, status: "cancelled" })])
      const fiber = yield* Effect.forkChild(Effect.provide(ask[way], Layer.provide(EffectAi.languageModel, model)))
      yield* calm
      yield* pass(1000)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(asked().at(-1), "POST /responses/resp_1/cancel")
      const error = { code: "server_error", message: "out of order" }
      const other = playing([begins(isStreamed), respond(200, having("failed", { error }))])
      const failing = Effect.provide(ask[way], Layer.provide(EffectAi.languageModel, other.model))
      assert.include(String(failureOf(yield* finished(failing))), "out of order")
      assert.strictEqual(other.asked().length, 2)
    })
  )
}
