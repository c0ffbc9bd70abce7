/** Replies that break off in a workflow. */
import { assert, it } from "@effect/vitest"
import { Agent, LlmError, Message, Model } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Layer, Schema, Stream } from "effect"
import { continuing } from "../core/run/_support/continued.ts"
import { watched } from "./_support/engines.ts"

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }

/** A model that says all of its answer to a user, and the rest of it to itself; each of its first replies breaks off. */
const breaking = (times: number) => {
  let asked = 0
  const restOf = ({ messages }: Model.Request): string => {
    const last = messages.at(-1)
    return "all is well".slice(last?.role === "assistant" ? Message.textOf(last).length : 0)
  }
  const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })
  const service: Model.Service = {
    name: "m",
    provider: "here",
    continuation: "rest",
    generate: (request) =>
      Effect.suspend(() =>
        asked++ < times
          ? Effect.fail(overloaded)
          : Effect.succeed({ content: [Message.text(restOf(request))], finish: "stop" as const, usage })
      ),
    stream: (request) =>
      Stream.suspend((): Stream.Stream<Model.Part, LlmError.LlmError> => {
        const says = (text: string): Model.Part => ({ type: "text-delta", text })
        return asked++ < times
          ? Stream.concat(Stream.succeed(says(restOf(request).slice(0, 4))), Stream.fail(overloaded))
          : Stream.make<ReadonlyArray<Model.Part>>(says(restOf(request)), { type: "finish", finish: "stop", usage })
      })
  }
  return { layer: Layer.succeed(Model.Model, service), asked: () => asked }
}

// Finds out nothing of its own: the subject is the reply of core that breaks off, under an engine that replays it
it.effect("a durable run whose reply breaks off has all of its answer once, replayed after each step too [P1563]", () =>
  Effect.gen(function* () {
    for (const isForgetful of [false, true]) {
      const model = breaking(2)
      const agent = Agent.make("clerk", { model: model.layer }).pipe(continuing(2))
      const durable = Durable.workflow(agent, { name: "clerk", input: Schema.String, output: Schema.String })
      const engine = yield* watched(isForgetful)
      const output = yield* durable.workflow
        .execute({ id: "one", input: "go" })
        .pipe(Effect.provide(durable.layer), Effect.provide(engine.layer))
      assert.strictEqual(output, "all is well")
      assert.strictEqual(model.asked(), 3)
      assert.strictEqual(new Set(engine.done).size, engine.done.length)
    }
  })
)
