/** Plain Effect combinators around the attempts of a tool. */
import { assert } from "@effect/vitest"
import { Agent, Explanation, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Context, Effect, Exit, Layer, Option, Schedule, Schema } from "effect"
import {
  asHard,
  batch,
  busy,
  done,
  eventLog,
  failureOf,
  gone,
  instantsOf,
  interruptedAt,
  overADay,
  play,
  read,
  type Run,
  scripted
} from "../../_support/dialogue.ts"
import { it, type Runner } from "../../_support/run.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

class Desk extends Context.Service<Desk, { readonly name: string }>()("test/Desk") {}

const twice = { acknowledge: "may run twice" } as const
const growing = Schedule.max([Schedule.exponential("1 second"), Schedule.recurs(3)])

/** What a run around this tool tells: its end, when the tool ran, what the model read, and what was heard of the call. */
const outcomeWith = (run: Runner, tool: Tool.AnyTool, ...more: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* ScriptedModel.make(batch(tool.name), ...more)
    // nothing is needed beyond the model
    const agent = Agent.seal(Agent.make("a", { tools: [tool] }).pipe(log.listen)) as Agent.Any<
      string,
      string,
      unknown,
      never
    >
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    return { exit, model, log }
  })

/** When a tool ran, since its first run. */
const since = (runs: ReadonlyArray<Run>) => instantsOf(runs).map((at, _, [first = 0]) => at - first)

/** What was heard of the attempts of a call. */
const attemptsOf = ({ log }: { readonly log: ReturnType<typeof eventLog> }) =>
  log.all.flatMap((event) =>
    event.type === "tool-failed"
      ? [`failed ${event.attempt}`]
      : event.type === "tool-end"
        ? [`ended after ${event.use.attempts}`]
        : []
  )

it.run("a schedule around the attempts does as one in a table: the same runs, instants and events [P1322]", (run) =>
  Effect.gen(function* () {
    const steps = [Effect.fail(busy()), Effect.fail(busy()), Effect.succeed("pong")] as const
    const [plain, tabled] = [scripted("ping", ...steps), scripted("ping", ...steps)]
    const around = plain.tool.pipe(Tool.around(Effect.retry(growing)))
    const table = tabled.tool.pipe(Tool.onError({ Busy: growing }))
    const [byCombinator, byTable] = [yield* outcomeWith(run, around, done), yield* outcomeWith(run, table, done)]
    assert.deepStrictEqual(since(plain.runs), [0, 1000, 3000])
    assert.deepStrictEqual(since(tabled.runs), since(plain.runs))
    assert.deepStrictEqual(
      plain.runs.map(({ context: { attempt } }) => attempt),
      [1, 2, 3]
    )
    assert.strictEqual(new Set(plain.runs.map(({ context }) => context.idempotencyKey)).size, 1)
    assert.deepStrictEqual(attemptsOf(byCombinator), ["failed 1", "failed 2", "ended after 3"])
    assert.deepStrictEqual(attemptsOf(byTable), attemptsOf(byCombinator))
    assert.deepStrictEqual(read(byCombinator.model), ["result: pong"])
  })
)

it.run("a table begins where what is around the attempts has given up, in any order of the pipe [P1322]", (run) =>
  Effect.gen(function* () {
    const once = <A, E>(attempt: Effect.Effect<A, E>) => Effect.retry(attempt, { times: 1 })
    const table = { Gone: Recovery.retry({ retries: 1, initialBackoff: "1 second" }) }
    for (const isTableFirst of [false, true]) {
      const steps = [Effect.fail(busy()), Effect.fail(gone()), Effect.fail(busy()), Effect.succeed("pong")] as const
      const { runs, tool } = scripted("ping", ...steps)
      const made = isTableFirst
        ? tool.pipe(Tool.onError(table), Tool.around(once))
        : tool.pipe(Tool.around(once), Tool.onError(table))
      const heard = yield* outcomeWith(run, made, done)
      assert.deepStrictEqual(heard.exit, Exit.succeed("done"))
      assert.deepStrictEqual(read(heard.model), ["result: pong"])
      assert.deepStrictEqual(attemptsOf(heard), ["failed 1", "failed 2", "failed 3", "ended after 4"])
      assert.deepStrictEqual(since(runs), [0, 0, 1000, 1000])
      const decided = heard.log.of("verdict").map(({ attempt, tag }) => `${tag} ${attempt}`)
      assert.deepStrictEqual(decided, ["Gone 2"])
    }
  })
)

it.run("a failure that no attempt has made is a failure of the call [P1322]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("ping")
    const closed = tool.pipe(
      Tool.around(() => Effect.fail(gone("closed"))),
      Tool.onError({ Gone: Recovery.tell() })
    )
    const heard = yield* outcomeWith(run, closed, done)
    assert.deepStrictEqual(attemptsOf(heard), ["failed 1", "ended after 1"])
    assert.strictEqual(runs.length, 0)
    assert.include(read(heard.model)[0], "closed")
  })
)

it.run("tables see what `around` makes of a failure, and it is no second event of the attempt [P1322]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("ping", Effect.fail(busy()))
    const mapped = tool.pipe(
      Tool.around(Effect.mapError(() => gone())),
      Tool.onError({ Gone: () => Effect.succeed("instead") })
    )
    const { log, model } = yield* outcomeWith(run, mapped, done)
    assert.deepStrictEqual(read(model), ["result: instead"])
    assert.deepStrictEqual(
      log.of("tool-failed").map(({ error }) => error),
      [busy()]
    )
  })
)

const isCertain = (error: unknown) => !(error instanceof ToolError.OutcomeUnknownError)

it.run("an unsafe tool does not run twice, unless that is acknowledged [P1322]", (run) =>
  Effect.gen(function* () {
    const steps = [Effect.fail(busy()), Effect.succeed("pong")] as const
    const refused = play("pay", { sideEffects: "unsafe" }, steps)
    const once = refused.tool.pipe(
      Tool.around((attempt) => Effect.retry(attempt, { times: 3, while: isCertain })),
      Tool.onError({ orElse: Recovery.tell() })
    )
    const heard = yield* outcomeWith(run, once, done)
    assert.strictEqual(refused.runs.length, 1)
    assert.deepStrictEqual(attemptsOf(heard), ["failed 1", "ended after 1"])
    assert.match(read(heard.model)[0] ?? "", /^unknown: /)
    const admitted = play("pay", { sideEffects: "unsafe" }, steps)
    const acknowledged = yield* outcomeWith(
      run,
      admitted.tool.pipe(Tool.around(Effect.retry({ times: 1 }), twice)),
      done
    )
    assert.deepStrictEqual(read(acknowledged.model), ["result: pong"])
    assert.strictEqual(admitted.runs.length, 2)
    const alone = play("pay", { sideEffects: "unsafe" }, steps)
    const called = Tool.call(alone.tool.pipe(Tool.around((attempt) => Effect.retry(attempt, { times: 1 }))), {})
    assert.strictEqual((yield* Effect.flip(called))._tag, "OutcomeUnknownError")
    assert.strictEqual(alone.runs.length, 1)
  })
)

it.run("an unsafe tool reruns inside of `around` if its look-up finds that it did nothing [P1322]", (run) =>
  Effect.gen(function* () {
    for (const found of [Option.none(), Option.some("found")]) {
      let runs = 0
      const pay = Tool.make("pay", {
        description: "Pays.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        sideEffects: "unsafe",
        timeout: "1 minute",
        verify: () => Effect.succeed(found),
        run: () => (++runs === 1 ? Effect.never : Effect.succeed("paid"))
      }).pipe(Tool.around((attempt) => Effect.retry(attempt, { times: 1 })))
      const { model } = yield* outcomeWith(run, pay, done)
      assert.deepStrictEqual(read(model), [Option.isNone(found) ? "result: paid" : "result: found"])
      assert.strictEqual(runs, Option.isNone(found) ? 2 : 1)
      runs = 0
      const alone = yield* overADay(Tool.call(pay, {}))
      assert.deepStrictEqual(alone, Exit.succeed(Option.isNone(found) ? "paid" : "found"))
    }
  })
)

it.run("an unsafe attempt that it has cut off is of unknown outcome, with any fallback [P1322]", (run) =>
  Effect.gen(function* () {
    const { tool } = play("pay", { sideEffects: "unsafe" }, [Effect.never])
    const hasty = tool.pipe(Tool.around(Effect.timeout("1 minute")), Tool.onError({ TimeoutError: Recovery.tell() }))
    const { model } = yield* outcomeWith(run, hasty, done)
    assert.match(read(model)[0] ?? "", /^unknown: /)
  })
)

it.run("attempts beside each other each have a number [P1322]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("ping", Effect.never, Effect.succeed("pong"))
    const hedged = tool.pipe(Tool.around((attempt) => Effect.raceFirst(attempt, Effect.delay(attempt, "1 second"))))
    const heard = yield* outcomeWith(run, hedged, done)
    assert.deepStrictEqual(read(heard.model), ["result: pong"])
    assert.deepStrictEqual(
      runs.map(({ context }) => context.attempt),
      [1, 2]
    )
    assert.deepStrictEqual(since(runs), [0, 1000])
    assert.deepStrictEqual(attemptsOf(heard), ["ended after 2"])
  })
)

it.run("the cap of a call counts its attempts, and it cannot hold back the end [P1322]", (run) =>
  Effect.gen(function* () {
    let runs = 0
    const tool = Tool.make("ping", {
      description: "Pings.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.suspend(() => Effect.fail(busy(`busy ${++runs}`)))
    })
    const stubborn = tool.pipe(
      Tool.around((attempt) => Effect.catchCause(Effect.eventually(attempt), () => Effect.succeed("held back")))
    )
    for (const one of [stubborn.pipe(Tool.onError({ orElse: Recovery.retry({ retries: 5 }) })), stubborn]) {
      runs = 0
      const model = yield* ScriptedModel.make(batch("ping"))
      const running = run(Agent.make("a", { tools: [one] }), "go").pipe(Effect.provide(model.layer))
      const error = asHard(yield* Effect.flip(running))
      assert.strictEqual(runs, 10_000)
      assert.include(error.message, "10000 attempts per call")
      assert.deepStrictEqual(error.attempts, [busy("busy 10000")])
    }
  })
)

it.run("callTimeout spans the attempts and the waits of the function, and counts them [A906 P1322]", (run) =>
  Effect.gen(function* () {
    let runs = 0
    const tool = Tool.make("ping", {
      description: "Pings.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      callTimeout: "10 seconds",
      run: () => Effect.suspend(() => Effect.fail(busy(`busy ${++runs}`)))
    })
    // attempts at 0, 4 and 8 seconds
    const { exit, log } = yield* outcomeWith(run, tool.pipe(Tool.around(Effect.retry(Schedule.spaced("4 seconds")))))
    const error = asHard(yield* failureOf(exit))
    assert(error.cause instanceof ToolError.ToolTimeoutError)
    assert.match(error.message, /after 10s for the whole call/)
    assert.match(error.message, /3 attempts/)
    assert.deepStrictEqual(attemptsOf({ log }), ["failed 1", "failed 2", "failed 3"])
    assert.deepStrictEqual([runs, log.end()?.at], [3, 10_000])
  })
)

it.run("the end of a budget ends it at its next attempt [P1308 P1322]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("ping", Effect.fail(busy()), Effect.fail(busy()), Effect.succeed("pong"))
    const patient = tool.pipe(
      Tool.around((attempt) =>
        Effect.catchCause(attempt, () => Effect.andThen(Effect.sleep("1 minute"), Effect.exit(attempt))).pipe(
          Effect.as("held back")
        )
      )
    )
    const model = yield* ScriptedModel.make(batch("ping"))
    const agent = Agent.make("a", { tools: [patient], budget: { maxDuration: "30 seconds" } })
    const error = yield* failureOf(yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.strictEqual(error._tag, "BudgetExceededError")
    assert.strictEqual(runs.length, 1)
  })
)

it.effect("a sub-agent that waits for a decision is suspended, with any effect around its call [P1322]", () =>
  Effect.gen(function* () {
    const waiting = scripted("pay", Effect.succeed("paid"))
    const inner = Agent.make("inner", { tools: [waiting.tool.pipe(Tool.requireApproval())] })
    const ask = Agent.asTool(inner, { name: "ask", description: "Asks." }).pipe(
      Tool.around((attempt) => Effect.catchCause(attempt, () => Effect.succeed("held back")))
    )
    const agent = Agent.make("outer", { tools: [ask] })
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("ask", { input: "go" }, "c1")),
      batch("pay"),
      done,
      ScriptedModel.text("all done")
    )
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const end = yield* outcomeOf(Agent.resume(agent), deciding(from), model)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(read(model).at(-1), "result: done")
    assert.strictEqual(waiting.runs.length, 1)
  })
)

it.effect("an attempt that is interrupted interrupts the effect around it, and nothing is repeated [P1322]", () =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("ping", Effect.never, Effect.succeed("pong"))
    const ends: Array<string> = []
    const around = tool.pipe(
      Tool.around((attempt) =>
        Effect.onInterrupt(Effect.retry(attempt, growing), () => Effect.sync(() => ends.push("around")))
      )
    )
    const model = yield* ScriptedModel.make(batch("ping"))
    const exit = yield* interruptedAt(
      60_000,
      Agent.make("a", { tools: [around] })("go").pipe(Effect.provide(model.layer))
    )
    assert.isTrue(Exit.hasInterrupts(exit))
    assert.deepStrictEqual(ends, ["around"])
    assert.strictEqual(runs.length, 1)
  })
)

it.run(
  "two stand around each other, the first nearer to the tool, and both have a layer that is given later [P1322]",
  (run) =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const saying =
        (what: string) =>
        <A, E, R>(attempt: Effect.Effect<A, E, R>) =>
          Effect.andThen(
            Effect.flatMap(Desk, ({ name }) => Effect.sync(() => seen.push(`${what} at ${name}`))),
            attempt
          )
      const { tool } = scripted("ping", Effect.fail(busy()), Effect.succeed("pong"))
      const made = tool.pipe(
        Tool.around(saying("nearer")),
        Tool.around(Effect.retry({ times: 1 })),
        Tool.around(saying("farther")),
        Tool.provide(Layer.succeed(Desk, { name: "desk" }))
      )
      const { model } = yield* outcomeWith(run, made, done)
      assert.deepStrictEqual(read(model), ["result: pong"])
      assert.deepStrictEqual(seen, ["farther at desk", "nearer at desk", "nearer at desk"])
    })
)

it.run("a function that gives no effect is a defect that names the tool [P1322 P1395]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("ping", Effect.succeed("pong"))
    // an untyped program
    const wrong = tool.pipe(Tool.around((() => "pong") as unknown as () => Effect.Effect<string>))
    const { exit } = yield* outcomeWith(run, wrong)
    assert.include(String(Exit.isFailure(exit) && exit.cause), "The function of Tool.around for 'ping'")
  })
)

it("explain counts up to the cap of a call, since nothing is known of the function [P1322]", () => {
  const { tool } = scripted("ping", Effect.succeed("pong"))
  const explained = Agent.explain(Agent.make("a", { tools: [tool.pipe(Tool.around(Effect.retry({ times: 1 })))] }))
  assert.deepStrictEqual(explained.tools.get("ping")?.worst.attempts, 10_000)
  assert.include(Explanation.formatRun(explained), "10000 attempts (the cap of a call")
})

it.run("a looked-up result passes through `around` like any other, and the event names `verify` [P1322]", (run) =>
  Effect.gen(function* () {
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({}),
      success: Schema.Number,
      sideEffects: "unsafe",
      timeout: "1 second",
      verify: () => Effect.succeed(Option.some(41)),
      run: (): Effect.Effect<number> => Effect.never
    })
    const seen: Array<unknown> = []
    const plus = pay.pipe(Tool.around((attempt) => Effect.map(attempt, (n) => (seen.push(n), n + 1))))
    const { exit, log, model } = yield* outcomeWith(run, plus, done)
    assert.deepStrictEqual(exit, Exit.succeed("done"))
    assert.deepStrictEqual(read(model), ["result: 42"])
    assert.deepStrictEqual(seen, [41])
    assert.strictEqual(log.of("tool-end")[0]?.use.recoveredBy, "verify")
    assert.strictEqual(yield* overADay(Tool.call(plus, {})).pipe(Effect.flatten), 42)
  })
)
