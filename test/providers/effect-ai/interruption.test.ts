/** Interruption goes through `effect/ai` in both directions: to our tools and models, and to its handlers and models. */
import { assert, describe } from "@effect/vitest"
import { Agent, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { OpenAi, Transport } from "@kintsugi/providers"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { Chat, LanguageModel, Tool as AiTool, Toolkit } from "effect/ai"
import { agentWith } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import * as Script from "./_support/scriptedLanguageModel.ts"
import { apiKey, handlers, ways } from "./_support/weatherChat.ts"

/** Interrupts a program as soon as it waits for `part`, which must be interrupted with it. */
const reaches = <E, R>(program: (part: Effect.Effect<never>) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    const stopped = yield* Deferred.make<void>()
    const part = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
      Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
    )
    const fiber = yield* Effect.forkChild(program(part))
    yield* Deferred.await(begun)
    yield* Fiber.interrupt(fiber)
    yield* Deferred.await(stopped)
  })

const go = "go"

describe("interruption reaches", () => {
  // Finds out nothing of its own: Effect interrupts what a fiber waits for
  it.effect("a tool of ours in a toolkit [P1107]", () =>
    Effect.gen(function* () {
      const script = yield* Script.make(Script.calls(Script.call("wait", {})))
      yield* reaches((part) => {
        const tool = Tool.make("wait", {
          description: "Waits.",
          parameters: Schema.Struct({}),
          success: Schema.Void,
          run: () => part
        })
        const { layer, toolkit } = EffectAi.toToolkit([tool])
        return Effect.provide(LanguageModel.generateText({ prompt: go, toolkit }), [script.layer, layer])
      })
    })
  )

  // Finds out nothing of its own: Effect interrupts what a fiber waits for
  it.run("a handler of a toolkit, and a model of effect/ai, from a run of ours [P1107]", (run) =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(AiTool.make("wait"))
      const { wait } = EffectAi.fromToolkit(toolkit)
      const agent = Agent.make("worker", { skills: [Skill.make("work", { description: "Works.", tools: [wait] })] })
      const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("wait", {})))
      yield* reaches((part) => Effect.provide(run(agent, go), [model.layer, toolkit.toLayer({ wait: () => part })]))
      yield* reaches((part) =>
        Effect.flatMap(
          Script.make(() => part),
          ({ layer }) =>
            run(agentWith(), go).pipe(Effect.provide(EffectAi.model({ isScripted: true })), Effect.provide(layer))
        )
      )
    })
  )

  for (const [way, ask] of ways) {
    // Finds out nothing of its own: Effect interrupts the request that a fiber waits for
    it.live(`the server of a model of ours from a Chat (${way}) [P1107]`, () =>
      Effect.gen(function* () {
        const begun = yield* Deferred.make<void>()
        const server = yield* LoopbackServer.make(
          AnyWire.handler(() => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
        )
        const model = OpenAi.layer({ model: "m", apiKey, baseUrl: server.url, transport: { retry: false } })
        const layer = EffectAi.languageModel.pipe(Layer.provide(model), Layer.provide(Transport.layerFetch))
        const modelCall = Effect.flatMap(Chat.empty, (chat) => ask(chat, "hi"))
        const fiber = yield* Effect.forkChild(Effect.provide(modelCall, [layer, handlers]))
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual((yield* server.nextAbort).number, 1)
      })
    )
  }
})
