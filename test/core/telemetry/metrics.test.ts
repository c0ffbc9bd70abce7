import { assert } from "@effect/vitest"
import { Agent, LlmError, Model, Recovery, Skill, Telemetry, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer, Metric, Stream } from "effect"
import { linesOf } from "./_support/metrics.ts"
import { it } from "../../_support/run.ts"
import { batch, busy, gone, interruptedAt, overADay, scripted } from "../../_support/dialogue.ts"

const { answers, fails, make, reply } = ScriptedModel

const usage = Usage.make({ inputTokens: 100, outputTokens: 20 })

it.run("tokens, durations, costs and verdicts are counted, by the conventions [A1203 P1366]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted(
      "fetch",
      Effect.fail(busy()),
      Effect.sleep("30 millis").pipe(Effect.andThen(Effect.fail(gone())))
    )
    const model = yield* make(
      fails(LlmError.ModelOverloadedError.make({ model: "scripted" })),
      answers((request) => Effect.delay(batch("fetch").answer(request), "2 seconds")),
      answers(() => Effect.succeed(reply({ content: [{ type: "text", text: "done" }], usage, model: "scripted-2" })))
    )
    const policy = {
      Busy: Recovery.retry({ retries: 1, initialBackoff: "10 millis" }),
      Gone: Recovery.ladder(Recovery.retry({ retries: 0 }), Recovery.tell())
    }
    const agent = Agent.make("worker", {
      budget: { prices: { "*": { usdPerMillionTokens: { input: 10, output: 100 } } } },
      skills: [Skill.make("work", { description: "Works.", tools: [tool.pipe(Tool.onError(policy))] })]
    }).pipe(Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 1 }) }))
    const counted = Effect.gen(function* () {
      yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(Telemetry.layer)))
      return yield* Metric.snapshot
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
    const asked = "gen_ai.operation.name=chat, gen_ai.provider.name=scripted, gen_ai.request.model=scripted"
    const answered = `${asked}, gen_ai.response.model=scripted-2`
    const fetch = "gen_ai.agent.name=worker, gen_ai.tool.name=fetch, gen_ai.tool.type=function"
    const expected = [
      `gen_ai.client.operation.duration {error.type=KINTSUGI-MODEL-OVERLOADED, ${asked}, unit=s}: 1 0`,
      `gen_ai.client.operation.duration {${answered}, unit=s}: 1 0`,
      `gen_ai.client.operation.duration {${asked}, unit=s}: 1 2`,
      `gen_ai.client.token.usage {${answered}, gen_ai.token.type=input, unit={token}}: 1 100`,
      `gen_ai.client.token.usage {${answered}, gen_ai.token.type=output, unit={token}}: 1 20`,
      `gen_ai.client.token.usage {${asked}, gen_ai.token.type=input, unit={token}}: 1 10`,
      `gen_ai.client.token.usage {${asked}, gen_ai.token.type=output, unit={token}}: 1 5`,
      `gen_ai.execute_tool.duration {error.type=Gone, ${fetch}, unit=s}: 1 0.04`,
      "gen_ai.invoke_agent.duration {gen_ai.agent.name=worker, unit=s}: 1 2.04",
      `kintsugi.cost {${answered}}: 0.003`,
      `kintsugi.cost {${asked}}: 0.0006`,
      "kintsugi.verdicts {code=Busy, gave_up=false, layer=tool, verdict=retry}: 1",
      "kintsugi.verdicts {code=Gone, gave_up=false, layer=tool, verdict=tell}: 1",
      "kintsugi.verdicts {code=Gone, gave_up=true, layer=tool, verdict=retry}: 1",
      "kintsugi.verdicts {code=KINTSUGI-MODEL-OVERLOADED, gave_up=false, layer=model, verdict=retry}: 1"
    ]
    assert.deepStrictEqual(linesOf(yield* counted), expected)
  })
)

it.effect("an interrupted attempt is booked with the usage reported so far [A1203]", () =>
  Effect.gen(function* () {
    const parts = Stream.make<ReadonlyArray<Model.Part>>({ type: "usage", usage }, { type: "text-delta", text: "Well" })
    const model = Layer.succeed(Model.Model, {
      name: "scripted",
      provider: "scripted",
      generate: () => Effect.never,
      stream: () => Stream.concat(parts, Stream.never)
    })
    const agent = Agent.make("worker", {
      budget: { prices: { "*": { usdPerMillionTokens: { input: 10, output: 100 } } } }
    })
    const counted = Effect.gen(function* () {
      const running = Stream.runDrain(agent.stream("go"))
      yield* interruptedAt(1000, running.pipe(Effect.provide(model), Effect.provide(Telemetry.layer)))
      return yield* Metric.snapshot
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
    const asked = "gen_ai.operation.name=chat, gen_ai.provider.name=scripted, gen_ai.request.model=scripted"
    assert.deepStrictEqual(linesOf(yield* counted), [
      `gen_ai.client.operation.duration {${asked}, unit=s}: 1 1`,
      `gen_ai.client.token.usage {${asked}, gen_ai.token.type=input, unit={token}}: 1 100`,
      `gen_ai.client.token.usage {${asked}, gen_ai.token.type=output, unit={token}}: 1 20`,
      "gen_ai.invoke_agent.duration {gen_ai.agent.name=worker, unit=s}: 1 1",
      `kintsugi.cost {${asked}}: 0.003`
    ])
  })
)
