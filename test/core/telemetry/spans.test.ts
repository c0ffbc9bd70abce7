import { assert } from "@effect/vitest"
import { Agent, Budget, LlmError, Recovery, Skill, Telemetry, Tool, type Usage } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Context, Duration, Effect, Exit, type Layer, Logger, Metric, Schema, Tracer } from "effect"
import { Operations } from "../../../packages/core/src/telemetry/Operations.ts"
import * as Spans from "../../../packages/core/src/telemetry/spans.ts"
import { it } from "../../_support/run.ts"
import { endOf, millisOf, notesOf, recorder, textOf, treeOf } from "./_support/spans.ts"
import { agentWith, batch, busy, callingOnce, done, gone, overADay, scripted } from "../../_support/dialogue.ts"

const { call, calls, fails, make, replies, text } = ScriptedModel

const asToolOptions = { description: "Asks another agent.", parameters: Schema.Struct({}), success: Schema.String }

it.run(
  "a run, its fixer and its sub-agent are one tree of spans, below the span that was current [A1203 A1204 P1366]",
  (run) =>
    Effect.gen(function* () {
      const { tool } = scripted("fetch", Effect.fail(busy()), Effect.fail(gone()), Effect.succeed("fine"))
      const mending = yield* make(text('{"n": 2}'))
      const mender = Agent.make("mender", { model: mending.layer })
      const helping = yield* make(batch("look"), text("found"))
      const look = scripted("look", Effect.succeed("a bridge").pipe(Effect.withSpan("my query")))
      const helper = Agent.make("helper", {
        model: helping.layer,
        skills: [Skill.make("help", { description: "Helps.", tools: [look.tool] })]
      })
      const ask = Tool.make("ask", { ...asToolOptions, run: () => helper("where?") })
      const overloaded = LlmError.ModelOverloadedError.make({ model: "scripted" })
      const model = yield* make(fails(overloaded), calls(call("fetch", {}), call("ask", {})), done)
      const agent = agentWith(
        tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1 }), Gone: Recovery.fix(mender, { retries: 1 }) })),
        ask
      ).pipe(Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 1 }) }))
      const seen = recorder()
      const exit = yield* overADay(
        run(agent, "go").pipe(
          Effect.provide(model.layer),
          Effect.withSpan("request"),
          Effect.provide(Telemetry.layer),
          seen.provide
        )
      )
      assert.deepStrictEqual(exit, Exit.succeed("done"))
      const tree = treeOf(seen.spans)
      assert.deepStrictEqual(tree, [
        "request: ok",
        "  invoke_agent worker: ok",
        "    chat scripted: ModelOverloadedError (Model overloaded)",
        "    chat scripted: ok",
        "    execute_tool fetch: ok",
        "      invoke_agent mender: ok",
        "        chat scripted: ok",
        "    execute_tool ask: ok",
        "      invoke_agent helper: ok",
        "        chat scripted: ok",
        "        execute_tool look: ok",
        "          my query: ok",
        "        chat scripted: ok",
        "    chat scripted: ok"
      ])
      assert.strictEqual(new Set(seen.spans.map(({ traceId }) => traceId)).size, 1)
      assert.deepStrictEqual(
        notesOf(seen.named("execute_tool fetch"), "kintsugi.verdict", "kintsugi.code", "kintsugi.attempt"),
        [
          "kintsugi.tool-failed Busy 1",
          "kintsugi.verdict retry Busy 1",
          "kintsugi.tool-failed Gone 2",
          "kintsugi.verdict fix Gone 2",
          "kintsugi.fix-start",
          "kintsugi.fix-end"
        ]
      )
      assert.deepStrictEqual(
        notesOf(seen.named("invoke_agent worker"), "kintsugi.layer", "kintsugi.verdict", "kintsugi.gave_up"),
        ["kintsugi.verdict model retry false"]
      )
    })
)

it.run("spans have, by the conventions, the request, the usage and the verdicts [A1203]", (run) =>
  Effect.gen(function* () {
    const usage: Usage.Usage = {
      inputTokens: 100,
      outputTokens: 20,
      cachedInputTokens: 60,
      cacheWriteTokens: 30,
      reasoningTokens: 5
    }
    const { tool } = scripted("fetch", Effect.sleep("30 millis").pipe(Effect.as("fine")))
    const model = yield* make(
      replies({ content: [call("fetch", {}, "c1")], finish: "tool-calls", usage, model: "scripted-2" }),
      done
    )
    const prices = { "*": { usdPerMillionTokens: { input: 10, output: 100 } } }
    const agent = Agent.make("worker", {
      budget: { prices },
      skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
    })
    const seen = recorder()
    yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(Telemetry.layer), seen.provide))
    const [whole, first, fetch] = seen.spans
    assert.deepInclude(Object.fromEntries(first?.attributes ?? []), {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "scripted",
      "gen_ai.request.model": "scripted",
      "gen_ai.response.model": "scripted-2",
      "gen_ai.response.finish_reasons": ["tool_call"],
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 20,
      "gen_ai.usage.cache_read.input_tokens": 60,
      "gen_ai.usage.cache_creation.input_tokens": 30,
      "gen_ai.usage.reasoning.output_tokens": 5,
      "kintsugi.turn": 1,
      "kintsugi.attempt": 1,
      "kintsugi.purpose": "agent",
      "kintsugi.ledger.outcome": "used"
    })
    assert.strictEqual(first?.kind, "client")
    assert.isAbove(Number(first?.attributes.get("kintsugi.cost")), 0)
    assert.deepStrictEqual(Object.fromEntries(fetch?.attributes ?? []), {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.agent.name": "worker",
      "gen_ai.tool.name": "fetch",
      "gen_ai.tool.call.id": "c1",
      "gen_ai.tool.type": "function",
      "kintsugi.turn": 1,
      "kintsugi.attempts": 1,
      "kintsugi.settlement": "result",
      "kintsugi.outcome": "completed"
    })
    assert.deepInclude(Object.fromEntries(whole?.attributes ?? []), {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "worker",
      "gen_ai.usage.input_tokens": 110,
      "gen_ai.usage.output_tokens": 25,
      "kintsugi.turns": 2,
      "kintsugi.outcome": "completed"
    })
    assert.strictEqual(whole?.kind, "internal")
    assert.deepStrictEqual(seen.spans.map(millisOf), [30, 0, 30, 0])
  })
)

it.run("a wait, a hint and a limit are notes of a span [A1203]", (run) =>
  Effect.gen(function* () {
    const limited = LlmError.RateLimitError.make({ service: "scripted", retryAfter: Duration.seconds(2) })
    const model = yield* make(fails(limited), done)
    const agent = Agent.make("worker", { budget: { maxTurns: 1, warnAt: 0.5 } }).pipe(
      Agent.onLlmError({
        RateLimitError: Recovery.retry({ maxAttempts: 2, initialBackoff: "1 second", jitter: "none" })
      })
    )
    const seen = recorder()
    yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(Telemetry.layer), seen.provide))
    const keys = ["kintsugi.verdict", "kintsugi.delay_ms", "kintsugi.hint_ms", "kintsugi.limit", "kintsugi.limit.spent"]
    assert.deepStrictEqual(notesOf(seen.named("invoke_agent worker"), ...keys), [
      "kintsugi.verdict retry 2000 2000",
      "kintsugi.budget-warning maxTurns 1"
    ])
  })
)

it.run("the span of a run that has answered at its limit names the limit [P1594]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(batch("look"), done)
    const agent = Agent.make("worker", {
      budget: { maxTurns: 1 },
      skills: [Skill.make("look", { description: "Looks.", tools: [scripted("look", Effect.succeed("seen")).tool] })]
    }).pipe(Agent.onBudgetExceeded(() => Budget.answer))
    const seen = recorder()
    yield* run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(Telemetry.layer), seen.provide)
    const attributes = Object.fromEntries(seen.named("invoke_agent worker")?.attributes ?? [])
    assert.deepInclude(attributes, {
      "kintsugi.ended_by": "maxTurns",
      "kintsugi.ended_by.limit": 1,
      "kintsugi.outcome": "completed"
    })
  })
)

it.run(
  "what is current within a tool and a model call is its span, so that logs tell where they belong [A1203]",
  (run) =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ fiber, message }) => {
        const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
        lines.push(`${String(message)}: ${span?._tag === "Span" ? span.name : "none"}`)
      })
      const asked = (answer: ScriptedModel.ScriptedStep) =>
        ScriptedModel.answers((request) => Effect.andThen(Effect.log("in the model"), answer.answer(request)))
      const heard = Effect.gen(function* () {
        lines.length = 0
        const { tool } = scripted("fetch", Effect.as(Effect.log("in the tool"), "fine"))
        const model = yield* make(asked(batch("fetch")), asked(done))
        yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer), Effect.withSpan("request"))
        yield* Effect.log("afterwards")
        return [...lines]
      }).pipe(Effect.provide(Logger.layer([logger])))
      assert.deepStrictEqual(yield* Effect.provide(heard, Telemetry.layer), [
        "in the model: chat scripted",
        "in the tool: execute_tool fetch",
        "in the model: chat scripted",
        "afterwards: none"
      ])
      assert.deepStrictEqual(yield* heard, [
        "in the model: request",
        "in the tool: request",
        "in the model: request",
        "afterwards: none"
      ])
    })
)

const key = "sk_live_0123456789abcdef"

/** A run with something private, and a credential, in every text that can have them. */
const talkative = Effect.gen(function* () {
  const said = (where: string) => `private ${where}, the key is ${key}`
  const failing = Tool.make("fetch", {
    description: "Fetches.",
    parameters: Schema.Struct({ about: Schema.String }),
    success: Schema.String,
    run: () => Effect.fail(busy(said("error")))
  }).pipe(Tool.onError({ Busy: Recovery.tell() }))
  const model = yield* make(
    fails(LlmError.ServerError.make({ model: "scripted", detail: said("cause") })),
    calls(call("fetch", { about: said("argument") }, "c1")),
    text(said("answer"))
  )
  const agent = Agent.make("worker", {
    prompt: said("prompt"),
    skills: [Skill.make("work", { description: "Works.", tools: [failing] })]
  }).pipe(Agent.onLlmError({ ServerError: Recovery.retry({ retries: 1 }) }))
  return { agent, input: said("input"), layer: model.layer }
})

it.run("spans hold no text of messages unless the options admit it, and never credentials [T8 A1203]", (run) =>
  Effect.gen(function* () {
    for (const content of [false, true]) {
      const { agent, input, layer } = yield* talkative
      const seen = recorder()
      const telemetry = Telemetry.layerWith({ content })
      const exit = yield* overADay(
        run(agent, input).pipe(Effect.provide(layer), Effect.provide(telemetry), seen.provide)
      )
      assert.strictEqual(exit._tag, "Success")
      const all = textOf(seen.spans)
      assert.include(all, "execute_tool fetch")
      assert.notInclude(all, key)
      for (const where of ["prompt", "input", "argument", "answer", "error", "cause"]) {
        assert.strictEqual(all.includes(`private ${where}`), content, where)
      }
    }
  })
)

it.run("a tracer that throws neither fails a run nor stops it [A1205]", (run) =>
  Effect.gen(function* () {
    const broken = Tracer.make({
      span() {
        throw new Error("no spans today")
      }
    })
    const { tool } = scripted("fetch", Effect.succeed("fine"))
    const model = yield* callingOnce("fetch")
    const said = yield* run(agentWith(tool), "go").pipe(
      Effect.provide(model.layer),
      Effect.provide(Telemetry.layer),
      Effect.provideService(Tracer.Tracer, broken)
    )
    assert.strictEqual(said, "done")
  })
)

it.run(
  "of two layers the inner one counts; each may be spans or metrics alone, beside observers of others [A1203]",
  (run) =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const program = (layers: ReadonlyArray<Layer.Layer<never>>) =>
        Effect.gen(function* () {
          const { tool } = scripted("fetch", Effect.succeed("fine"))
          const model = yield* callingOnce("fetch")
          const seen = recorder()
          const registry = new Map()
          let running: Effect.Effect<string, unknown> = run(agentWith(tool), "go").pipe(Effect.provide(model.layer))
          for (const layer of layers) running = Effect.provide(running, layer)
          yield* running.pipe(
            Effect.provideService(RunContext.Observers, [
              () =>
                ({ type }) =>
                  void events.push(type)
            ]),
            seen.provide,
            Effect.provideService(Metric.MetricRegistry, registry)
          )
          return [seen.spans.length, registry.size > 0]
        })
      const { layer, layerWith } = Telemetry
      assert.deepStrictEqual(yield* program([layer]), [4, true])
      assert.deepStrictEqual(yield* program([layer, layerWith({ content: true })]), [4, true])
      assert.deepStrictEqual(yield* program([layerWith({ spans: false })]), [0, true])
      assert.deepStrictEqual(yield* program([layerWith({ metrics: false }), layer]), [4, false])
      assert.deepStrictEqual(yield* program([]), [0, false])
      assert.strictEqual(events.filter((type) => type === "run-completed").length, 5)
    })
)

it.run("nothing is kept of runs that are over, also where their tree goes on [A1203]", (run) =>
  Effect.gen(function* () {
    const inner = Agent.deterministic("inner", (input: string) =>
      input === "fails" ? Effect.fail(gone()) : Effect.succeed(input)
    )
    const outer = Agent.deterministic("outer", () =>
      Effect.forEach(Array.from({ length: 100 }), (_, index) =>
        Effect.exit(inner(index % 2 === 0 ? "fails" : "x"))
      ).pipe(Effect.as("done"))
    )
    const sizes: Array<number> = []
    const watching: (typeof RunContext.Observers.Service)[number] = (context) => {
      const operations = new Operations(Spans.watcher(false), context)
      return (event, at) => {
        const span = operations.hear(event, at)?.span
        sizes.push(operations.size)
        return span
      }
    }
    const seen = recorder()
    yield* run(outer, "go").pipe(Effect.provideService(RunContext.Observers, [watching]), seen.provide)
    assert.strictEqual(seen.spans.length, 101)
    assert.strictEqual(Math.max(...sizes), 2)
    assert.strictEqual(sizes.at(-1), 0)
    assert.isEmpty(seen.spans.filter((span) => endOf(span) === "open"))
  })
)
