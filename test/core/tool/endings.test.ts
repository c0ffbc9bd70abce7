/** How calls end: before their tool has begun, by an escalation, and with a text that was cut. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { shortened } from "../../../packages/core/src/data/Shortened.ts"
import {
  agentWith,
  asHard,
  batch,
  busy,
  callingOnce,
  done,
  eventLog,
  failureOf,
  fixer,
  interruptedAt,
  lastTranscript,
  overADay,
  read,
  settlements
} from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

const options = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String } as const

it.run("a call whose time ends while a policy decides did not begin, and asked no person [A906]", (run) =>
  Effect.gen(function* () {
    let runs = 0
    const tool = Tool.make("work", {
      ...options,
      callTimeout: "1 second",
      run: () => Effect.sync(() => `run ${++runs}`)
    })
    const agent = agentWith(tool).pipe(Agent.toolPolicy(() => Effect.never))
    const model = yield* make(batch("work"))
    const error = asHard(yield* failureOf(yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))))
    assert(error.cause instanceof ToolError.ToolTimeoutError)
    assert.include(error.cause.message, "Tool 'work' did not begin within 1s")
    assert.notInclude(error.cause.message, "approval")
    assert.deepInclude(error.cause, { tool: "work", callId: "c1", tookEffect: false })
    assert.strictEqual(runs, 0)
  })
)

const lookUp =
  "An earlier run of this call was cut off after its start and may have taken effect: look that up before any repetition."

it.run("an escalation says that an earlier attempt may have taken effect [P602]", (run) =>
  Effect.gen(function* () {
    for (const isLastCertain of [true, false]) {
      let runs = 0
      const pay = Tool.make("pay", {
        ...options,
        sideEffects: "unsafe",
        timeout: "1 second",
        run: (): Effect.Effect<string, ReturnType<typeof busy>> =>
          Effect.suspend(() => (++runs === 2 && isLastCertain ? Effect.fail(busy()) : Effect.never))
      })
      const escalating = fixer(
        Effect.fail(
          new ToolError.EscalationError({ message: "m", source: "s", reason: "it is out of order", severity: "LOW" })
        )
      )
      const fix = Recovery.fix(escalating.agent, { as: "result" })
      const twice = { retries: 1, acknowledge: "may run twice" } as const
      const guarded = pay.pipe(
        Tool.onError({ OutcomeUnknownError: Recovery.ladder(Recovery.retry(twice), fix), Busy: fix })
      )
      const model = yield* callingOnce("pay")
      yield* overADay(run(agentWith(guarded), "go").pipe(Effect.provide(model.layer)))
      assert.strictEqual(runs, 2)
      assert.deepStrictEqual(read(model), [
        `unknown: ERROR: Tool 'pay' failed: it is out of order (severity: LOW). ${lookUp}`
      ])
    }
  })
)

it.run("a result that was cut is noted as such, and another one is not [P1535]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const texts = ["x".repeat(50), "x".repeat(51)]
    const tool = Tool.make("work", {
      ...options,
      maxResultChars: 50,
      run: () => Effect.sync(() => texts.shift() ?? "")
    })
    const model = yield* make(calls(call("work", {}, "c1")), calls(call("work", {}, "c2")), done)
    yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    const ended = log.of("tool-end").map(({ use: { settlement } }) => settlement)
    assert.deepStrictEqual(
      ended.map((settlement) => [settlement.text.length, shortened.has(settlement)]),
      [
        [50, false],
        [50, true]
      ]
    )
  })
)

it.run("tools that come with others decide by their own rows, and calls that need no reading are not mended", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const find = Tool.make("find", { ...options, run: () => Effect.succeed("found") })
    const model = yield* make(calls(call("find", {}, "c1"), call("search_tools", "no JSON", "c2")), done)
    const agent = Agent.make("desk", {
      tools: [find, ...Tool.onDemand([Tool.make("seldom", { ...options, run: () => Effect.succeed("") })])]
    }).pipe(Agent.toolDefaults({ orElse: Recovery.rethrow }), log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(log.of("arguments-coerced"), [])
    assert.deepStrictEqual(
      log.of("verdict").map((event) => ["tool" in event ? event.tool : "none", event.layer, event.verdict]),
      [["search_tools", "tool", "tell"]]
    )
  })
)

it.run("a call that its time has stopped leaves open what it did only if it is unsafe [A906 P602]", (run) =>
  Effect.gen(function* () {
    for (const sideEffects of ["none", "idempotent", "undeclared", "unsafe"] as const) {
      const tool = Tool.make("work", { ...options, sideEffects, callTimeout: "1 second", run: () => Effect.never })
      const log = eventLog()
      const model = yield* make(batch("work"))
      const agent = agentWith(tool).pipe(log.listen)
      const error = asHard(yield* failureOf(yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))))
      assert.include(error.message, "after 1s for the whole call")
      const [settlement = ""] = settlements(lastTranscript(log.end()))
      assert.strictEqual(settlement.split(":")[0], sideEffects === "unsafe" ? "unknown" : "told", settlement)
    }
  })
)

it.effect("failures of one kind have one signature: of misfits by what was expected, of others by their words", () =>
  Effect.gen(function* () {
    const ask = Tool.make("ask", { ...options, run: () => Effect.succeed("yes") }).pipe(Tool.requireApproval())
    const fields = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`f${n}`, Schema.Finite] as const))
    const cases: ReadonlyArray<readonly [tool: Tool.AnyTool, args: Schema.Json, signature: string]> = [
      [Tool.make("work", { ...options, run: () => Effect.succeed("") }), "no JSON", "InvalidArgs: \n"],
      [
        Tool.make("work", { ...options, parameters: Schema.Struct(fields), run: () => Effect.succeed("") }),
        {},
        `DeserializationError: ${Array.from({ length: 20 }, () => "# missing key").join("; ")}\n`
      ],
      [
        Tool.make("work", {
          ...options,
          success: Schema.Json,
          run: () => Effect.succeed(JSON.parse("[".repeat(1001) + "]".repeat(1001)))
        }),
        {},
        "ExecutionError: the result of tool … is beyond the bound of # levels (depth). make it smaller, or raise the bound where you trust it"
      ]
    ]
    for (const [tool, args, signature] of cases) {
      const model = yield* make(calls(call("work", args, "c1")), calls(call("ask", {}, "c2")))
      const agent = agentWith(tool, ask).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const [streak, ...others] = from.failures.streaks
      assert.deepStrictEqual(others, [])
      assert.strictEqual(streak?.signature, signature)
    }
  })
)

it.run("a call that its time stops between two attempts was cut off in neither [A906 P602]", (run) =>
  Effect.gen(function* () {
    const tool = Tool.make("work", {
      ...options,
      sideEffects: "unsafe",
      callTimeout: "5 seconds",
      run: (): Effect.Effect<string, ReturnType<typeof busy>> => Effect.fail(busy())
    }).pipe(
      Tool.onError({
        Busy: Recovery.retry({ maxAttempts: 3, initialBackoff: "10 seconds", acknowledge: "may run twice" })
      })
    )
    const log = eventLog()
    const model = yield* make(batch("work"))
    const agent = agentWith(tool).pipe(log.listen)
    const error = asHard(yield* failureOf(yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))))
    assert(error.cause instanceof ToolError.ToolTimeoutError)
    assert.isUndefined(error.cause.tookEffect)
    assert.deepStrictEqual(error.attempts.length, 2)
    assert.strictEqual(log.end()?.at, 5000)
  })
)

it.run("a call with the arguments of a person waits for that person no more [P602 P907]", (run) =>
  Effect.gen(function* () {
    const work = Tool.make("work", {
      ...options,
      parameters: Schema.Struct({ code: Schema.Int }),
      coercion: [],
      run: () => Effect.succeed("worked")
    }).pipe(Tool.onError({ InvalidArgs: Recovery.ladder(Recovery.ask(), Recovery.tell()) }))
    const approver = Approval.layer(() => Effect.succeed(Approval.approveWith({ code: 5 })))
    const log = eventLog()
    const model = yield* make(calls(call("work", { code: "x" }, "c1")))
    // the policy gets arguments that fit
    const agent = agentWith(work).pipe(
      Agent.toolPolicy(() => Effect.never),
      log.listen
    )
    yield* interruptedAt(5, run(agent, "go").pipe(Effect.provide([model.layer, approver])))
    assert.lengthOf(log.of("approval-decided"), 1)
    const [end] = log.of("run-interrupted")
    assert.deepStrictEqual(settlements(end?.transcript ?? []), [
      "interrupted: The call was interrupted before it ended."
    ])
  })
)
