import { assert } from "@effect/vitest"
import { Agent, type Model, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Exit, Fiber, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it, type Runnable, type Runner } from "../../_support/run.ts"
import {
  agentWith,
  asHard,
  batch,
  busy,
  done,
  eventLog,
  lastTranscript,
  overADay,
  read,
  settlements,
  tagsOf
} from "../../_support/dialogue.ts"

/** What a tool did, run by run: it takes so long, and is cleaned up when it is stopped. */
const working = (seconds: ReadonlyArray<number>) => {
  const log: Array<string> = []
  const run = Effect.suspend(() => {
    const n = log.filter((line) => line.startsWith("start")).length
    log.push(`start ${n + 1}`)
    return Effect.sleep(`${seconds[n] ?? 0} seconds`).pipe(
      Effect.andThen(Effect.sync(() => log.push(`end ${n + 1}`))),
      Effect.as("done"),
      Effect.onInterrupt(() => Effect.sync(() => log.push(`stopped ${n + 1}`)))
    )
  })
  return { log, run }
}

const options = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String }

/** Runs it while a day goes by; its failure, if it fails. */
const ending = <O, E>(run: Runner, agent: Runnable<string, O, E, Model.Model>, model: ScriptedModel.ScriptedModel) =>
  Effect.map(overADay(run(agent, "go").pipe(Effect.provide(model.layer))), (exit) => {
    const reason = Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined
    return reason?._tag === "Fail" ? reason.error : undefined
  })

it.run(
  "a run that takes too long is stopped, fails with ToolTimeoutError, and nothing of it runs later [A906]",
  (run) =>
    Effect.gen(function* () {
      const { log, run: work } = working([10])
      const tool = Tool.make("work", { ...options, timeout: "5 seconds", run: () => work })
      const model = yield* ScriptedModel.make(batch("work"))
      const error = yield* ending(run, agentWith(tool), model)
      assert(error instanceof ToolError.ToolTimeoutError)
      assert.deepInclude(error, { tool: "work", callId: "c1", sideEffects: "undeclared" })
      assert.deepStrictEqual(log, ["start 1", "stopped 1"])
    })
)

it.run("the limit is for one run of the tool: a row may retry [A906]", (run) =>
  Effect.gen(function* () {
    const { log, run: work } = working([10, 1])
    const tool = Tool.make("work", { ...options, timeout: "5 seconds", run: () => work }).pipe(
      Tool.onError({ ToolTimeoutError: Recovery.retry({ retries: 1 }) })
    )
    const model = yield* ScriptedModel.make(batch("work"), done)
    yield* ending(run, agentWith(tool), model)
    assert.deepStrictEqual(log, ["start 1", "stopped 1", "start 2", "end 2"])
    assert.deepStrictEqual(read(model), ["result: done"])
  })
)

it.run("callTimeout spans all attempts and waits of a call, and ends it hard [A906]", (run) =>
  Effect.gen(function* () {
    const { log, run: work } = working([4, 4, 4, 4])
    const tool = Tool.make("work", {
      ...options,
      callTimeout: "10 seconds",
      run: () => Effect.andThen(work, Effect.fail(busy()))
    }).pipe(Tool.onError({ Busy: Recovery.retry({ retries: 5, initialBackoff: "1 second", factor: 1 }) }))
    const model = yield* ScriptedModel.make(batch("work"))
    const heard = eventLog()
    const error = asHard(yield* ending(run, agentWith(tool).pipe(heard.listen), model))
    assert(error.cause instanceof ToolError.ToolTimeoutError)
    assert.deepInclude(error.cause, { tool: "work", callId: "c1", sideEffects: "undeclared" })
    assert.match(error.cause.message, /did not end within 10s/)
    assert.deepStrictEqual(tagsOf(error.attempts), ["Busy", "Busy", "ToolTimeoutError"])
    assert.match(error.message, /after 10s for the whole call/)
    assert.strictEqual(error.trail?.length, 2)
    assert.strictEqual(heard.end()?.at, 10_000)
    assert.deepStrictEqual(log, ["start 1", "end 1", "start 2", "end 2"])
  })
)

it.run("a call that ends in time knows nothing of its limits [A906]", (run) =>
  Effect.gen(function* () {
    const { log, run: work } = working([1])
    const limits = { timeout: "5 seconds", callTimeout: "10 seconds" } as const
    const tool = Tool.make("work", { ...options, ...limits, run: () => work })
    const model = yield* ScriptedModel.make(batch("work"), done)
    yield* ending(run, agentWith(tool), model)
    assert.deepStrictEqual(log, ["start 1", "end 1"])
    assert.deepStrictEqual(read(model), ["result: done"])
  })
)

it.effect("senseless limits are refused when the tool is made [A906]", () =>
  Effect.sync(() => {
    for (const limit of [0, -1, Infinity, NaN, "soon"]) {
      for (const name of ["timeout", "callTimeout"]) {
        assert.throws(
          () => Tool.make("work", { ...options, [name]: limit as 1, run: () => Effect.succeed("x") }),
          RangeError
        )
      }
    }
  })
)

class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly message: string }> {}

const paying = (
  verify: (key: string) => Effect.Effect<Option.Option<string>, NoAnswer>,
  seconds: ReadonlyArray<number>
) => {
  const { log, run } = working(seconds)
  const unsafe = { ...options, sideEffects: "unsafe", timeout: "5 seconds" } as const
  return { log, tool: Tool.make("pay", { ...unsafe, verify, run: () => run }) }
}

it.run("an unsafe tool that was cut off is OutcomeUnknownError, settled as unknown, and never reruns [P602]", (run) =>
  Effect.gen(function* () {
    const { log, run: work } = working([10, 10])
    const tool = Tool.make("pay", { ...options, sideEffects: "unsafe", timeout: "5 seconds", run: () => work })
    const heard = eventLog()
    const model = yield* ScriptedModel.make(batch("pay"))
    const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.rethrow }))).pipe(heard.listen)
    const error = yield* ending(run, agent, model)
    assert(error instanceof ToolError.OutcomeUnknownError)
    assert.strictEqual(error.tool, "pay")
    assert.match(settlements(lastTranscript(heard.end()))[0] ?? "", /^unknown: /)
    assert.deepStrictEqual(log, ["start 1", "stopped 1"])
  })
)

it.run("a row may tell the model of an unknown outcome; its retries are skipped [P602]", (run) =>
  Effect.gen(function* () {
    const { log, run: work } = working([10, 10])
    const tool = Tool.make("pay", { ...options, sideEffects: "unsafe", timeout: "5 seconds", run: () => work })
    const model = yield* ScriptedModel.make(batch("pay"), done)
    const agent = agentWith(tool).pipe(
      Agent.toolDefaults({ orElse: Recovery.ladder(Recovery.retry({ retries: 3 }), Recovery.tell()) })
    )
    yield* ending(run, agent, model)
    assert.match(
      read(model)[0] ?? "",
      /^unknown: transient: Tool 'pay' was cut off after its start.*; it may have taken effect, check before repeating$/
    )
    assert.deepStrictEqual(log, ["start 1", "stopped 1"])
  })
)

it.run(
  "an interrupt while it runs leaves it settled as unknown; before its start it is just interrupted [P602]",
  (run) =>
    Effect.gen(function* () {
      for (const [at, kind] of [
        ["2 seconds", "unknown"],
        ["500 millis", "interrupted"]
      ] as const) {
        const heard = eventLog()
        const tool = Tool.make("pay", { ...options, sideEffects: "unsafe", run: () => Effect.as(Effect.never, "x") })
        const agent = agentWith(tool).pipe(
          Agent.toolPolicy(() => Effect.as(Effect.sleep("1 second"), { type: "allow" as const })),
          heard.listen
        )
        const model = yield* ScriptedModel.make(batch("pay"))
        const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
        yield* TestClock.adjust(at)
        yield* Fiber.interrupt(fiber)
        assert.match(settlements(lastTranscript(heard.end()))[0] ?? "", new RegExp(`^${kind}: `))
      }
    })
)

it.run("a crash after its start leaves it settled as unknown too [P602]", (run) =>
  Effect.gen(function* () {
    const heard = eventLog()
    const tool = Tool.make("pay", { ...options, sideEffects: "unsafe", run: () => Effect.die(new Error("crash")) })
    const model = yield* ScriptedModel.make(batch("pay"))
    yield* Effect.exit(run(agentWith(tool).pipe(heard.listen), "go").pipe(Effect.provide(model.layer)))
    assert.match(settlements(lastTranscript(heard.end()))[0] ?? "", /^unknown: /)
  })
)

it.run("verify decides: what it finds is the result [P603]", (run) =>
  Effect.gen(function* () {
    const keys: Array<string> = []
    const { log, tool } = paying((key) => Effect.sync(() => (keys.push(key), Option.some("paid"))), [10])
    const model = yield* ScriptedModel.make(batch("pay"), done)
    yield* ending(run, agentWith(tool), model)
    assert.deepStrictEqual(read(model), ["result: paid"])
    assert.deepStrictEqual(log, ["start 1", "stopped 1"])
    assert.match(keys[0] ?? "", /^[\da-f]{32}-0$/)
  })
)

it.run("if `verify` finds nothing, the call had no effect: the tool may rerun [P603]", (run) =>
  Effect.gen(function* () {
    const { log, tool } = paying(() => Effect.succeed(Option.none()), [10, 1])
    const retried = tool.pipe(Tool.onError({ ToolTimeoutError: Recovery.retry({ retries: 1 }) }))
    const model = yield* ScriptedModel.make(batch("pay"), done)
    yield* ending(run, agentWith(retried), model)
    assert.deepStrictEqual(log, ["start 1", "stopped 1", "start 2", "end 2"])
    assert.deepStrictEqual(read(model), ["result: done"])
  })
)

it.run("when it fails, the call is escalated, and settled as unknown [P603]", (run) =>
  Effect.gen(function* () {
    const { log, tool } = paying(() => Effect.fail(new NoAnswer({ message: "ledger is down" })), [10])
    const model = yield* ScriptedModel.make(batch("pay"), done)
    yield* ending(run, agentWith(tool), model)
    assert.match(read(model)[0] ?? "", /^unknown: ERROR: Tool 'pay' failed: .*ledger is down \(severity: HIGH\)/)
    assert.deepStrictEqual(log, ["start 1", "stopped 1"])
  })
)

it.run("a call that runs out of time while the tool is at work is looked up as well [P603 A906]", (run) =>
  Effect.gen(function* () {
    for (const [verify, text, tag] of [
      [() => Effect.succeed(Option.some("paid")), "result: paid", undefined],
      [() => Effect.succeed(Option.none<string>()), undefined, "ToolTimeoutError"],
      [() => Effect.fail(new NoAnswer({ message: "down" })), undefined, "OutcomeUnknownError"]
    ] as const) {
      const { run: work } = working([10])
      const unsafe = { ...options, sideEffects: "unsafe", callTimeout: "5 seconds" } as const
      const tool = Tool.make("pay", { ...unsafe, verify, run: () => work })
      const model = yield* ScriptedModel.make(batch("pay"), ...(text === undefined ? [] : [done]))
      const error = yield* ending(run, agentWith(tool), model)
      if (text !== undefined) assert.deepStrictEqual(read(model), [text])
      else assert.deepStrictEqual(tagsOf([asHard(error).cause]), [tag])
    }
  })
)

it.run("a result that is found when the call runs out of time counts the attempts that led to it [P603 A906]", (run) =>
  Effect.gen(function* () {
    let runs = 0
    const tool = Tool.make("pay", {
      ...options,
      sideEffects: "unsafe",
      callTimeout: "5 seconds",
      verify: () => Effect.succeed(Option.some("paid")),
      run: () => Effect.suspend(() => (++runs === 1 ? Effect.fail(busy()) : Effect.never))
    }).pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1, acknowledge: "may run twice" }) }))
    const heard = eventLog()
    const model = yield* ScriptedModel.make(batch("pay"), done)
    yield* ending(run, agentWith(tool).pipe(heard.listen), model)
    assert.deepStrictEqual(read(model), ["result: paid"])
    assert.deepStrictEqual(
      heard.of("tool-end").map(({ use }) => [use.attempts, use.recoveredBy]),
      [[2, "verify"]]
    )
  })
)
