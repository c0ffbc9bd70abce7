/** A model that does not take a request as it was asked. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Message, Model, Recovery, Telemetry } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Layer } from "effect"
import { eventLog } from "../../_support/dialogue.ts"
import { namedModel } from "../../_support/namedModels.ts"
import { it } from "../../_support/run.ts"
import { recorder } from "../telemetry/_support/spans.ts"

const changes = [
  { option: "temperature", asked: 0 },
  { option: "reasoning", asked: "none", sent: "low" }
]

const adaptingModel = Effect.fnUntraced(function* (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) {
  const scripted = yield* namedModel("scripted", ...steps)
  const adapts: Model.Service["adapts"] = ({ messages }) =>
    messages.some((message) => message.role === "user" && Message.textOf(message) === "plain")
      ? undefined
      : { family: "f", changes }
  return Layer.succeed(Model.Model, { ...scripted.service, adapts })
})

const overloaded = LlmError.ModelOverloadedError.make({ model: "scripted" })

it.run("each attempt emits what its model changes of the request, between its start and its end [P1410]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* adaptingModel(ScriptedModel.fails(overloaded), ScriptedModel.text("hi"))
    const agent = Agent.make("clerk", {}).pipe(
      Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 1 }) }),
      log.listen
    )
    const seen = recorder()
    const spent = run(agent, "go").pipe(Effect.provide(model), Effect.provide(Telemetry.layer), seen.provide)
    assert.deepStrictEqual(yield* Effect.exit(spent), Exit.succeed("hi"))
    const steps = log.all.filter(({ type }) => type.startsWith("model-") || type === "request-adapted")
    const once = ["model-start", "request-adapted"]
    assert.deepStrictEqual(
      steps.map(({ type }) => type),
      [...once, "model-failed", ...once, "model-end"]
    )
    assert.deepStrictEqual(
      log.of("request-adapted").map(({ changes, family, model, provider }) => ({ changes, family, model, provider })),
      [1, 2].map(() => ({ changes, family: "f", model: "scripted", provider: "of scripted" }))
    )
    const chats = seen.spans.filter(({ name }) => name.startsWith("chat"))
    assert.deepStrictEqual(
      chats.map(({ attributes }) => attributes.get("kintsugi.adapted")),
      [1, 2].map(() => ["temperature", "reasoning"])
    )
  })
)

it.run("a request that is sent as asked has no such event [P1410]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* adaptingModel(ScriptedModel.text("hi"))
    assert.strictEqual(yield* run(Agent.make("clerk", {}).pipe(log.listen), "plain").pipe(Effect.provide(model)), "hi")
    assert.lengthOf(log.of("request-adapted"), 0)
  })
)

it.run("a prompt that its server may have cut is an event; no other item of the provider is [P1410]", (run) =>
  Effect.gen(function* () {
    const item = (kind: string): Message.ProviderItem => ({
      type: "provider-item",
      kind,
      opaque: { provider: "p", data: 4096 }
    })
    const cutOff = [{ option: "messages", sent: 4096 }]
    for (const { changes, content } of [
      { changes: [cutOff], content: [Message.text("hi"), item("other"), item("truncated_prompt")] },
      { changes: [], content: [item("other"), Message.text("hi")] },
      { changes: [], content: [Message.text("hi")] }
    ]) {
      const log = eventLog()
      const model = yield* namedModel("cutting", ScriptedModel.replies(ScriptedModel.reply({ content })))
      const agent = Agent.make("clerk", {}).pipe(log.listen)
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "hi")
      assert.deepStrictEqual(
        log.of("request-adapted").map(({ changes, family, model, provider }) => ({ changes, family, model, provider })),
        changes.map((changes) => ({ changes, family: "cutting", model: "cutting", provider: "of cutting" }))
      )
    }
  })
)
