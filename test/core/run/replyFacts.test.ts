/** What a reply says about itself, through a run: its events, its spans, its snapshot. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, LlmError, Message, Model, Skill, Snapshot, Telemetry, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Fiber, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { calm, eventLog } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { only, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { recorder } from "../telemetry/_support/spans.ts"

const facts = {
  model: "scripted-2026",
  responseId: "resp_1",
  requestId: "req_1",
  rawFinish: "end_turn",
  serviceTier: "flex"
}

const usage = Usage.make({ inputTokens: 3, outputTokens: 2 })

const saying: Message.Reply = { content: [Message.text("so")], finish: "stop", usage, ...facts }

const attributes = {
  "gen_ai.response.model": "scripted-2026",
  "gen_ai.response.id": "resp_1",
  "gen_ai.response.finish_reasons": ["stop"],
  "kintsugi.response.raw_finish": "end_turn",
  "kintsugi.request.id": "req_1"
}

/** The same model under the name of a provider. */
const of = (provider: string, { layer }: ScriptedModel.ScriptedModel) =>
  Layer.effect(
    Model.Model,
    Effect.map(Effect.provide(Effect.service(Model.Model), layer), (model) => ({ ...model, provider }))
  )

it.run(
  "the facts of a reply are in its event, and in the span of its attempt under the names of the conventions [P1407]",
  (run) =>
    Effect.gen(function* () {
      for (const [provider, tier] of [
        ["openai", "openai.response.service_tier"],
        ["anthropic", "kintsugi.response.service_tier"]
      ] as const) {
        const model = yield* ScriptedModel.make(ScriptedModel.replies(saying))
        const log = eventLog()
        const seen = recorder()
        const agent = Agent.make("worker", { model: of(provider, model) }).pipe(log.listen)
        yield* run(agent, "go").pipe(Effect.provide(Telemetry.layer), seen.provide)
        const [end] = log.of("model-end")
        assert.deepInclude(end?.reply, facts)
        const text = Schema.fromJsonString(AgentEvent.AgentEvent)
        assert.deepStrictEqual(Schema.decodeUnknownSync(text)(Schema.encodeSync(text)(end!)), end)
        const span = Object.fromEntries(seen.named("chat scripted").attributes)
        assert.deepInclude(span, { ...attributes, [tier]: "flex" })
      }
    })
)

it.run("a reply that says nothing about itself leaves no name of it in its event and its span [P1407]", (run) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(ScriptedModel.text("so"))
    const log = eventLog()
    const seen = recorder()
    yield* run(Agent.make("worker", { model: model.layer }).pipe(log.listen), "go").pipe(
      Effect.provide(Telemetry.layer),
      seen.provide
    )
    assert.doesNotHaveAnyKeys(log.of("model-end")[0]?.reply ?? {}, Object.keys(facts))
    const names = [...seen.named("chat scripted").attributes.keys()]
    assert.notIncludeMembers(names, ["gen_ai.response.id", "kintsugi.request.id", "kintsugi.response.raw_finish"])
  })
)

it.effect("a run that waits keeps the facts of its unfinished reply in its snapshot [P1407]", () =>
  Effect.gen(function* () {
    const { tool } = paying()
    const call = ScriptedModel.call("pay", { cents: 5 }, "c1")
    const model = yield* ScriptedModel.make(ScriptedModel.replies({ ...saying, content: [call], finish: "tool-calls" }))
    const agent = Agent.make("payer", { skills: [Skill.make("pay", { description: "Pays.", tools: [tool] })] })
    const snapshot = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.deepInclude(snapshot.unfinished?.reply, facts)
    assert.deepStrictEqual(yield* Snapshot.fromJson(JSON.parse(JSON.stringify(Snapshot.toJson(snapshot)))), snapshot)
  })
)

it.run("an attempt that failed leaves the facts to the reply that came after it [P1407]", (run) =>
  Effect.gen(function* () {
    const overloaded = LlmError.ModelOverloadedError.make({ model: "scripted" })
    const first = yield* ScriptedModel.make(ScriptedModel.fails(overloaded))
    const second = yield* ScriptedModel.make(ScriptedModel.replies(saying))
    const log = eventLog()
    const agent = Agent.make("worker", { model: Model.fallback(first.layer, second.layer) }).pipe(log.listen)
    yield* run(agent, "go")
    assert.lengthOf(log.of("model-failed"), 1)
    assert.deepStrictEqual(
      log.of("model-end").map(({ reply: { requestId, responseId } }) => [requestId, responseId]),
      [["req_1", "resp_1"]]
    )
  })
)

it.effect("a stream that is interrupted before its end has no reply, and so no facts [P1407]", () =>
  Effect.gen(function* () {
    const model: Model.Service = {
      name: "held",
      provider: "held",
      generate: () => Effect.never,
      stream: () => Stream.concat(Stream.make({ type: "text-delta", text: "s" } as const), Stream.never)
    }
    const log = eventLog()
    const agent = Agent.make("worker", { model: Layer.succeed(Model.Model, model) }).pipe(log.listen)
    const running = yield* Effect.forkChild(Stream.runDrain(agent.stream("go")))
    yield* calm
    yield* TestClock.adjust("1 second")
    yield* Fiber.interrupt(running)
    assert.lengthOf(only(log.all, "model-interrupted"), 1)
    assert.notInclude(JSON.stringify(log.all), "responseId")
  })
)
