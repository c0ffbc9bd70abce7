import { assert } from "@effect/vitest"
import { Agent, LlmError, Recovery, Telemetry, Tool, ToolError } from "@kintsugi/core"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Fiber, Logger, Metric, References, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { agentWith, batch, busy, callingOnce, fixer, gone, scripted } from "../../_support/dialogue.ts"

const asToolOptions = {
  description: "Asks another agent.",
  parameters: Schema.Struct({}),
  success: Schema.String
}

/** How often each code was counted, as `code retryable`, by the runs of `body`. */
const counted = <E>(body: Effect.Effect<unknown, E>) =>
  Effect.gen(function* () {
    yield* Effect.exit(body.pipe(Effect.provide(Telemetry.layer)))
    const counts: Record<string, number> = {}
    for (const metric of yield* Metric.snapshot) {
      if (metric.id !== "kintsugi.errors" || metric.type !== "Counter") continue
      const { code, retryable } = { ...metric.attributes }
      counts[`${code} ${retryable}`] = Number(metric.state.count)
    }
    return counts
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))

it.run("an error that leaves a run is counted once, by code and by whether it is retryable [T32 T37]", (run) =>
  Effect.gen(function* () {
    for (const [error, expected] of [
      [busy(), "Busy false"],
      [Object.assign(busy(), { code: "E42", isRetryable: true }), "E42 true"],
      [LlmError.ModelOverloadedError.make({ model: "m" }), "KINTSUGI-MODEL-OVERLOADED true"],
      ["a bare text", "UNKNOWN false"],
      [new Error("no tag"), "UNKNOWN false"],
      [{ code: "", _tag: "" }, "UNKNOWN false"]
    ] as const) {
      const { tool } = scripted("fetch", Effect.fail(error as unknown))
      const model = yield* ScriptedModel.make(batch("fetch"))
      const counts = yield* counted(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(counts, { [expected]: 1 })
    }
  })
)

it.run("failures that stay inside of a run are not counted: told, retried, answered; nor is a success [T32]", (run) =>
  Effect.gen(function* () {
    const telling = scripted("told", Effect.fail(busy()))
    const retried = scripted("retried", Effect.fail(busy()), Effect.succeed("fine"))
    const model = yield* callingOnce("told", "retried")
    const agent = agentWith(
      telling.tool.pipe(Tool.onError({ Busy: Recovery.tell() })),
      retried.tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1 }) }))
    )
    assert.deepStrictEqual(yield* counted(run(agent, "go").pipe(Effect.provide(model.layer))), {})
  })
)

it.run("an interruption is not counted [T32]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("slow", Effect.never)
    const model = yield* ScriptedModel.make(batch("slow"))
    const interrupted = Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(fiber)
    })
    assert.deepStrictEqual(yield* counted(interrupted), {})
  })
)

it.run(
  "an error that passes from a child run to its parent is one error; one that is wrapped is another [T32]",
  (run) =>
    Effect.gen(function* () {
      const error = gone()
      const inner = Agent.deterministic("inner", () => Effect.fail(error))
      const passing = Tool.make("ask", { ...asToolOptions, run: () => inner("x") })
      const model = yield* ScriptedModel.make(batch("ask"))
      const counts = yield* counted(run(agentWith(passing), "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(counts, { "Gone false": 1 })

      const raising = yield* ScriptedModel.make(batch("ask"))
      const wrapped = agentWith(passing.pipe(Tool.onError({ Gone: Recovery.raise })))
      assert.deepStrictEqual(yield* counted(run(wrapped, "go").pipe(Effect.provide(raising.layer))), {
        "Gone false": 1,
        "KINTSUGI-TOOL-EXECUTION false": 1
      })
    })
)

it.run(
  "the same error out of two runs is counted twice, and a child run without a call counts as a child [T32]",
  (run) =>
    Effect.gen(function* () {
      const error = gone()
      const inner = Agent.deterministic("inner", () => Effect.fail(error))
      const twice = Agent.deterministic("outer", () =>
        Effect.andThen(Effect.exit(inner("a")), Effect.andThen(Effect.exit(inner("b")), Effect.succeed("x")))
      )
      assert.deepStrictEqual(yield* counted(run(twice, "go")), { "Gone false": 2 })
      const passing = Agent.deterministic("outer", () => inner("a"))
      assert.deepStrictEqual(yield* counted(run(passing, "go")), { "Gone false": 1 })
    })
)

it.run("a failing fixer is counted: its error left its run [T32]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const failing = fixer(Effect.fail(gone()))
    const model = yield* callingOnce("fetch")
    const agent = agentWith(
      tool.pipe(Tool.onError({ Busy: Recovery.ladder(Recovery.fix(failing.agent), Recovery.tell()) }))
    )
    const counts = yield* counted(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(counts, { "Gone false": 1 })
  })
)

it.run("without the layer nothing is counted [T32]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const registry = new Map()
    yield* Effect.exit(run(agentWith(tool), "go").pipe(Effect.provide(model.layer))).pipe(
      Effect.provideService(Metric.MetricRegistry, registry)
    )
    assert.strictEqual(registry.size, 0)
  })
)

it.effect("labels are the error's own code, else its tag, else UNKNOWN [T37]", () =>
  Effect.sync(() => {
    const { labelsOf } = RecoveryAdvice
    assert.deepStrictEqual(labelsOf(ToolError.ToolDeniedError.make({ tool: "t", callId: "c", reason: "no" })), {
      code: "KINTSUGI-TOOL-DENIED",
      retryable: false
    })
    assert.deepStrictEqual(labelsOf(busy()), { code: "Busy", retryable: false })
    for (const nothing of [undefined, null, 5, "text", new Error("x"), { code: 7, _tag: 8 }]) {
      assert.deepStrictEqual(labelsOf(nothing), { code: "UNKNOWN", retryable: false })
    }
  })
)

it.run("a log line of ours about a failure carries code, retryable, run id, agent and call id [T38]", (run) =>
  Effect.gen(function* () {
    const lines: Array<Readonly<Record<string, unknown>>> = []
    const logger = Logger.make(({ fiber }) => {
      lines.push({ ...fiber.getRef(References.CurrentLogAnnotations) })
    })
    const { tool } = scripted("fetch", Effect.succeed("fine"))
    const model = yield* callingOnce("fetch")
    const ids: Array<string> = []
    const agent = agentWith(tool).pipe(
      Agent.onEvent((event) => {
        if (event.type === "run-start") ids.push(event.runId)
        if (event.type === "turn-start" && event.turn === 1)
          return Effect.die(Object.assign(new Error("x"), { code: "E1" }))
        return event.type === "tool-start" ? Effect.die(Object.assign(busy(), { isRetryable: true })) : Effect.void
      })
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(Logger.layer([logger])))
    const of = { runId: ids[0], agent: "worker" }
    assert.deepStrictEqual(lines, [
      { code: "E1", retryable: false, ...of },
      { code: "Busy", retryable: true, callId: "c1", ...of }
    ])
  })
)
