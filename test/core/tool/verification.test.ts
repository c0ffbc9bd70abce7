/** Unsafe tools that can be looked up: what that says, how long it may take, and what it permits. */
import { assert } from "@effect/vitest"
import { Agent, type Model, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Duration, Cause, Effect, Exit, Option, Schema } from "effect"
import { it, type Runnable, type Runner } from "../../_support/run.ts"
import {
  agentWith,
  asHard,
  batch,
  busy,
  done,
  eventLog,
  fixer,
  lastTranscript,
  overADay,
  read,
  settlements,
  tagsOf
} from "../../_support/dialogue.ts"

/** What is added to each text about a call whose outcome is unknown. */
const notice =
  "An earlier run of this call was cut off after its start and may have taken effect: look that up before any repetition."

const options = { description: "Pays.", parameters: Schema.Struct({}), success: Schema.String } as const
const unsafe = { ...options, sideEffects: "unsafe", timeout: "1 second" } as const
const nothing = () => Effect.succeed(Option.none<string>())

/** A tool whose n-th run is the n-th step, and what looks it up. */
const paying = <const Steps extends ReadonlyArray<Effect.Effect<string, unknown>>>(
  verify: () => Effect.Effect<Option.Option<string>, unknown>,
  ...steps: Steps
) => {
  let runs = 0
  const tool = Tool.make("pay", {
    ...unsafe,
    verify,
    run: () =>
      Effect.suspend(() => {
        const step: Steps[number] = steps[runs++] ?? Effect.die(new Error(`run ${runs} is not in the script`))
        // failures are those of this very step
        return step as Effect.Effect<string, Effect.Error<Steps[number]>>
      })
  })
  return { tool, runs: () => runs }
}

type Ours = Runnable<string, string, unknown, Model.Model>

/** Runs it while a day goes by; its failure, if it fails. */
const ending = (run: Runner, agent: Ours, model: ScriptedModel.ScriptedModel) =>
  Effect.map(overADay(run(agent, "go").pipe(Effect.provide(model.layer))), (exit) =>
    Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  )

const script = (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) => ScriptedModel.make(batch("pay"), ...steps)
const paid = () => script(done)

it.run("a ToolTimeoutError that the tool itself fails with was not looked up: nothing is repeated [P601 P603]", (run) =>
  Effect.gen(function* () {
    for (const fields of [{}, { tookEffect: false }] as const) {
      const made = ToolError.ToolTimeoutError.make({
        tool: "pay",
        timeout: Duration.fromInputUnsafe("1 second"),
        callId: "c1",
        ...fields
      })
      const { runs, tool } = paying(nothing, Effect.fail(made))
      const guarded = tool.pipe(Tool.onError({ ToolTimeoutError: Recovery.retry({ retries: 3 }) }))
      const error = yield* ending(run, agentWith(guarded), yield* script())
      assert.deepStrictEqual(asHard(error).attempts, [made])
      assert.strictEqual(runs(), 1)
    }
  })
)

it.run("a look-up of a tool that the tool calls is no look-up of the tool itself [P601 P603]", (run) =>
  Effect.gen(function* () {
    const { tool: inner } = paying(nothing, Effect.never)
    let runs = 0
    const outer = Tool.make("order", {
      ...unsafe,
      timeout: "1 minute",
      verify: nothing,
      // a type would refuse its failures, see P1307; JavaScript does not
      run: () => Effect.suspend(() => (runs++, Tool.call(inner, {}) as Effect.Effect<string>))
    })
    const guarded = outer
      .pipe(Tool.onError({ orElse: Recovery.tell() }))
      .pipe(Tool.onError({ ToolTimeoutError: Recovery.ladder(Recovery.retry({ retries: 3 }), Recovery.tell()) }))
    const model = yield* ScriptedModel.make(batch("order"), done)
    yield* ending(run, agentWith(guarded), model)
    assert.strictEqual(runs, 1)
    assert.match(read(model)[0] ?? "", /'pay' did not end .*; it may have taken effect, check before repeating$/)
  })
)

it.run("if `verify` finds nothing after a timeout, a tool runs as often as its row admits [P601 P603]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying(nothing, Effect.never, Effect.never, Effect.succeed("paid"))
    const guarded = tool.pipe(Tool.onError({ ToolTimeoutError: Recovery.retry({ retries: 3 }) }))
    const model = yield* paid()
    yield* ending(run, agentWith(guarded), model)
    assert.strictEqual(runs(), 3)
    assert.deepStrictEqual(read(model), ["result: paid"])
  })
)

it.run("what was looked up holds for what ran before: the next failure is not repeated for it [P601 P603]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying(nothing, Effect.never, Effect.fail(busy()))
    const agent = agentWith(tool).pipe(Agent.toolDefaults({ orElse: Recovery.retry({ retries: 3 }) }))
    const error = asHard(yield* ending(run, agent, yield* script()))
    assert.deepStrictEqual(tagsOf(error.attempts), ["ToolTimeoutError", "Busy"])
    assert.strictEqual(runs(), 2)
  })
)

it.run("looking up may take as long as the tool; then it has failed, and a person has to look it up [P603]", (run) =>
  Effect.gen(function* () {
    const { tool } = paying(() => Effect.never, Effect.never)
    const heard = eventLog()
    const model = yield* paid()
    yield* ending(run, agentWith(tool).pipe(heard.listen), model)
    assert.deepStrictEqual(read(model), [
      "unknown: ERROR: Tool 'pay' failed: it was cut off after its start and may have taken effect; looking it up failed: it took longer than 1s (severity: HIGH). Do not repeat the call: a person has to look it up."
    ])
    assert.strictEqual(heard.of("tool-end")[0]?.at, 2000)
  })
)

it.run(
  "a call that runs out of time while it is looked up is looked up once more, within that time [P603 A906]",
  (run) =>
    Effect.gen(function* () {
      const heard = eventLog()
      const limits = { timeout: "10 seconds", callTimeout: "12 seconds" } as const
      const tool = Tool.make("pay", { ...unsafe, ...limits, verify: () => Effect.never, run: () => Effect.never })
      const error = asHard(yield* ending(run, agentWith(tool).pipe(heard.listen), yield* script()))
      assert.instanceOf(error.cause, ToolError.OutcomeUnknownError)
      assert.match(error.message, /after 12s for the whole call/)
      assert.strictEqual(heard.end()?.at, 24_000)
    })
)

it.run("a look-up that fails ends with what a model is to do; a look-up that dies ends the run [P603]", (run) =>
  Effect.gen(function* () {
    const failing = paying(() => Effect.fail(busy("ledger is down")), Effect.never)
    const model = yield* paid()
    yield* ending(run, agentWith(failing.tool), model)
    assert.match(read(model)[0] ?? "", /ledger is down .*Do not repeat the call: a person has to look it up\.$/)

    const heard = eventLog()
    const crashing = paying(() => Effect.die(new Error("crash")), Effect.never)
    const error = yield* ending(run, agentWith(crashing.tool).pipe(heard.listen), yield* script())
    assert.deepInclude(error as object, { message: "crash" })
    assert.match(settlements(lastTranscript(heard.end()))[0] ?? "", /^unknown: /)
  })
)

it.run("the model reads that a call without effect, by its look-up, is safe to retry [P603 C6]", (run) =>
  Effect.gen(function* () {
    const { tool } = paying(nothing, Effect.never)
    const model = yield* paid()
    yield* ending(run, agentWith(tool.pipe(Tool.onError({ ToolTimeoutError: Recovery.tell() }))), model)
    assert.match(
      read(model)[0] ?? "",
      /^told: transient: Tool 'pay' did not end within 1s, and took no effect.*; safe to retry$/
    )
  })
)

it.run("a look-up, found or not, settles what an earlier run of the tool has left unknown [P602 P603]", (run) =>
  Effect.gen(function* () {
    const { tool } = paying(nothing, Effect.never, Effect.fail(busy()))
    const guarded = tool.pipe(
      Tool.onError({ orElse: Recovery.tell(), ToolTimeoutError: Recovery.retry({ retries: 1 }) })
    )
    const model = yield* paid()
    yield* ending(run, agentWith(guarded), model)
    const [text = ""] = read(model)
    assert.match(text, /^told: permanent: tool 'pay' failed 2 times/)
    assert.notInclude(text, notice)
  })
)

it.run("an empty look-up settles what a run before the looked-up run has left unknown [P602 P603]", (run) =>
  Effect.gen(function* () {
    const uncertain = ToolError.OutcomeUnknownError.make({ tool: "pay", callId: "c1", idempotencyKey: "k" })
    const { runs, tool } = paying(nothing, Effect.fail(uncertain), Effect.never, Effect.fail(busy()))
    const guarded = tool.pipe(
      Tool.onError({
        OutcomeUnknownError: Recovery.retry({ retries: 1, acknowledge: "may run twice" }),
        ToolTimeoutError: Recovery.retry({ retries: 1 }),
        Busy: Recovery.tell()
      })
    )
    const model = yield* paid()
    yield* ending(run, agentWith(guarded), model)
    assert.strictEqual(runs(), 3)
    const [text = ""] = read(model)
    assert.match(text, /^told: permanent: tool 'pay' failed 3 times/)
    assert.notInclude(text, notice)
  })
)

it.run(
  "a fixer of a run that took no effect goes on to its next repair after an answer that does not decode [A307 P603]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = paying(nothing, Effect.never, Effect.succeed("paid"))
      const mender = fixer(Effect.succeed("garbage"), Effect.succeed("{}"))
      const guarded = tool.pipe(Tool.onError({ ToolTimeoutError: Recovery.fix(mender.agent, { retries: 3 }) }))
      const model = yield* paid()
      yield* ending(run, agentWith(guarded), model)
      assert.deepStrictEqual(mender.inputs, ["{}", "garbage"])
      assert.strictEqual(runs(), 2)
      assert.deepStrictEqual(read(model), ["result: paid"])
    })
)

it.run("a result that `verify` found is recovered by `verify`, for the listener too [A602 P603]", (run) =>
  Effect.gen(function* () {
    const { tool } = paying(() => Effect.succeed(Option.some("paid")), Effect.never)
    const heard: Array<unknown> = []
    const agent = agentWith(tool).pipe(
      Agent.onToolUse((_name, _args, { isError, recoveredBy, text }) =>
        Effect.sync(() => heard.push([isError, recoveredBy, text]))
      )
    )
    const model = yield* paid()
    yield* ending(run, agent, model)
    assert.deepStrictEqual(heard, [[false, "verify", "paid"]])
  })
)
