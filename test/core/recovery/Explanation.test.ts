import * as Factories from "@kintsugi/core/Factories"
import { assert } from "@effect/vitest"
import { Agent, Backoff, Explanation, Recovery, RetryBudget, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Transport } from "@kintsugi/providers"
import { Cause, Duration, Effect, Exit, Option, Schedule, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, busy, scripted } from "../../_support/dialogue.ts"

const cleanup = Agent.deterministic("cleanup", (raw: string) => Effect.succeed(raw))

const fixingAgent = Agent.make("asking", {
  budget: { maxTurns: 3 },
  skills: [Skill.make("give-back", { description: "Gives back.", tools: [Tool.escalate] })]
})

const lines = (explanation: Explanation.Explanation): ReadonlyArray<string> =>
  Explanation.format(explanation).split("\n")

const millis = (duration: Duration.Duration): number => Duration.toMillis(duration)

it("explains a table rung by rung, with waits, fixer runs and model calls, and runs nothing [P1102]", () => {
  const explained = Recovery.explain({
    Broken: Recovery.ladder(
      Recovery.retry({ maxAttempts: 3, initialBackoff: "500 millis", jitter: "full" }),
      Recovery.fix(fixingAgent, { retries: 2 }),
      Recovery.tell(),
      Recovery.retry({ retries: 5 })
    ),
    InvalidArgs: Recovery.fix(cleanup),
    NetworkError: Recovery.retry(Backoff.suggested({ maxHint: "30 seconds" })),
    orElse: Recovery.raise
  })
  assert.deepStrictEqual(lines(explained), [
    "row           rung           times  waits               fixer runs  model calls",
    "Broken        1 retry        2      0s–500ms, 0s–1s",
    "              2 fix asking   2                          2           6",
    "              3 tell",
    "InvalidArgs   1 fix cleanup  1                          1",
    "NetworkError  1 retry        5      2s, 2s, 2s, 2s, 2s",
    "orElse        1 raise",
    "",
    "at worst: 11 attempts, 3 fixer runs, 6 model calls, 11s 500ms of waits, 4m 30s in all if servers ask for it"
  ])
})

it("shows six waits of a rung, and none of zero [P1102]", () => {
  const waitsOf = (retries: number, initialBackoff: Duration.Input) =>
    lines(Recovery.explain(Recovery.retry({ retries, initialBackoff, factor: 1 })))[1]?.replace(
      /^orElse +1 retry +/,
      ""
    )
  assert.strictEqual(waitsOf(6, "1 second"), "6      1s, 1s, 1s, 1s, 1s, 1s")
  assert.strictEqual(waitsOf(7, "1 second"), "7      1s, 1s, 1s, 1s, 1s, 1s, …")
  assert.strictEqual(waitsOf(2, 0), "2")
})

it("a table of many fixers is bounded by the eight repairs of a call, of which it counts the dearest [P1102]", () => {
  const { worst } = Recovery.explain({
    Broken: Recovery.fix(cleanup, { retries: 20 }),
    orElse: Recovery.fix(fixingAgent, { retries: 3 })
  })
  assert.deepStrictEqual(
    { attempts: worst.attempts, fixerRuns: worst.fixerRuns, modelCalls: worst.modelCalls },
    { attempts: 9, fixerRuns: 8, modelCalls: 9 }
  )
})

it("a schedule of its own is tried out with the extremes of chance, and bounded by the cap of a call [P1102]", () => {
  const growing = Schedule.exponential("100 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 2 }))
  const { rows, worst } = Recovery.explain(Recovery.retry(growing))
  assert.deepStrictEqual(
    rows[0]?.rungs[0]?.waits.map(({ least, most }) => [millis(least), millis(most)]),
    [
      [80, 120],
      [160, 240]
    ]
  )
  assert.strictEqual(worst.attempts, 3)
  assert.strictEqual(Recovery.explain(Recovery.retry(Schedule.forever)).worst.attempts, 10_000)
})

it("a schedule that reads its errors is tried on those that are given, else on the advice of their tag [P1102]", () => {
  class Later extends Schema.TaggedError<Later>()("Later", { after: Schema.Finite }) {
    readonly isRetryable = true
    readonly suggestedDelay = Duration.seconds(this.after)
    readonly maxAttempts = 9
  }
  const table = { Later: Recovery.retry(Backoff.suggested()), ModelNotFoundError: Recovery.retry(Backoff.suggested()) }
  const attempts = (errors: ReadonlyArray<unknown>) => Recovery.explain(table, { errors }).worst.attempts
  assert.strictEqual(attempts([]), 6)
  assert.strictEqual(attempts([new Later({ after: 1 })]), 9)
  const picky = Recovery.retry(
    Schedule.recurs(3).pipe(
      Schedule.setInputType<Later>(),
      Schedule.while(({ input }) => Effect.succeed(input.after.toFixed(0) === "1"))
    )
  )
  const blind = Recovery.explain({ Later: picky })
  assert.include(Explanation.format(blind), "its schedule cannot be tried out")
  assert.strictEqual(blind.worst.attempts, 10_000)
  assert.strictEqual(Recovery.explain({ Later: picky }, { errors: [new Later({ after: 1 })] }).worst.attempts, 4)
})

it("knows a when by what it names; of any other, the caps of a call alone [P1102]", () => {
  const retry = Recovery.retry({ retries: 2 })
  const named = Recovery.when((error: { readonly code: number }) => (error.code === 1 ? retry : Recovery.raise), {
    among: [retry, Recovery.raise]
  })
  assert.deepStrictEqual(
    Recovery.explain(named).rows[0]?.rungs.map(({ verdict }) => verdict),
    ["when → retry", "when → raise"]
  )
  assert.strictEqual(Recovery.explain(named).worst.attempts, 3)
  const unnamed = Recovery.explain(Recovery.when(() => retry))
  assert.strictEqual(unnamed.worst.attempts, 10_000)
  assert.include(Explanation.format(unnamed), "chosen at each failure")
  assert.include(Explanation.format(unnamed), "waits unknown")
})

it.effect("a when that chooses what it has not named is a defect [P1102]", () =>
  Effect.gen(function* () {
    const policy = Recovery.when(() => Recovery.retry({ retries: 1 }), { among: [] })
    const exit = yield* Effect.exit(Effect.fail(busy()).pipe(Recovery.onError({ Busy: policy })))
    assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    assert.match(String(Cause.squash(exit.cause)), /Recovery\.when: it chose a verdict .* not among those/)
  })
)

it("a single verdict is explained as a table with an orElse row [P1102]", () => {
  const policy = Recovery.retry({ retries: 2, initialBackoff: "1 second" })
  assert.deepStrictEqual(Recovery.explain(policy), Recovery.explain({ orElse: policy }))
})

it("a schedule that shares a retry budget heeds the hints that it heeds alone [P1102]", () => {
  const alone = Backoff.make({ retries: 2, maxHint: "7 seconds" })
  const budget = RetryBudget.makeUnsafe({ ratio: 0, reserve: 9, window: "1 day" })
  const [row] = Recovery.explain({ Busy: Recovery.retry(RetryBudget.sharing(alone, budget)) }).rows
  assert.deepStrictEqual(
    row?.rungs.map(({ maxHint }) => Duration.toMillis(maxHint)),
    [7000]
  )
})

it("every preset can be explained [P1102]", () => {
  for (const preset of [
    Recovery.presets.raiseAll(),
    Recovery.presets.tellAll(),
    Recovery.presets.tellThenToolsOff({ retryAttempts: 3 }),
    Recovery.presets.tellWithTries({ retries: 3 })
  ]) {
    assert.strictEqual(Recovery.explain(preset).worst.attempts, 1)
  }
})

it("stacks layers: 3 sends by the transport under 3 model calls are 9 requests [P1102 A815]", () => {
  const transport = Transport.explain()
  const table = { NetworkError: Recovery.retry({ maxAttempts: 3 }) }
  assert.strictEqual(transport.worst.attempts, 3)
  assert.strictEqual(Recovery.explain(table, { inner: transport }).worst.requests, 9)
  const single = Transport.explain({ retry: false, requestTimeout: "10 seconds" })
  assert.strictEqual(Recovery.explain(table, { inner: single }).worst.requests, 3)
  assert.strictEqual(millis(Recovery.explain(table, { inner: single }).worst.time), 2 * 60_000 + 3 * 10_000)
})

it("explains a run: its turns and calls, times what each of them is at worst [P1102]", () => {
  const { tool } = scripted("fetch", Effect.fail(busy()))
  const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.fix(fixingAgent, { retries: 2 }) }))).pipe(
    Agent.onToolError({ fetch: { Busy: Recovery.retry({ retries: 100 }), InvalidArgs: Recovery.fix(cleanup) } }),
    Agent.toolDefaults({ orElse: Recovery.retry({ retries: 3 }) }),
    Agent.onLlmError({ NetworkError: Recovery.retry({ maxAttempts: 3 }) })
  )
  const { tools, worst } = Agent.explain(agent, { transport: Transport.explain() })
  assert.deepStrictEqual(
    tools.get("fetch")?.rows.map(({ key }) => key),
    ["Busy", "InvalidArgs", "orElse"]
  )
  assert.deepStrictEqual(
    { turns: worst.turns, toolCalls: worst.toolCalls, modelCalls: worst.modelCalls, requests: worst.requests },
    // its fixers spend its own turns
    { turns: 8, toolCalls: 32, modelCalls: 8 * 3, requests: 3 * 8 * 3 }
  )
  const text = Explanation.formatRun(Agent.explain(agent))
  assert.match(text, /^model\nrow /)
  assert.include(text, "\n\ntool fetch\nrow ")
  assert.match(
    text,
    /\n\na run, at worst: 8 turns, 32 tool calls, 24 model calls, 96 fixer runs, .* of waits and timeouts$/
  )
})

it.run("a real run makes as many model calls as were explained, and no more [P1102]", (run) =>
  Effect.gen(function* () {
    const failure = Factories.connectionRefused("localhost", 1)
    const { tool } = scripted("fetch", Effect.succeed("fine"))
    const agent = Agent.make("worker", {
      budget: { maxTurns: 1 },
      skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
    }).pipe(Agent.onLlmError({ NetworkError: Recovery.retry({ maxAttempts: 3 }) }))
    const failing = ScriptedModel.fails(failure)
    const model = yield* ScriptedModel.make(failing, failing, ScriptedModel.calls(ScriptedModel.call("fetch", {})))
    const error = yield* Effect.flip(run(agent, "go")).pipe(Effect.provide(model.layer))
    assert.strictEqual(error._tag, "BudgetExceededError")
    assert.strictEqual(model.requests.length, Agent.explain(agent).worst.modelCalls)
  })
)

it("failures that are given reach every row that more than one tag can reach [P1102]", () => {
  class Later extends Schema.TaggedError<Later>()("Later", {}) {
    readonly isRetryable = true
    readonly suggestedDelay = Duration.seconds(1)
    readonly maxAttempts = 9
  }
  for (const row of ["ExecutionError", "InvalidArgs", "orElse"]) {
    const table = { [row]: Recovery.retry(Backoff.suggested()) }
    assert.strictEqual(Recovery.explain(table, { errors: [new Later()] }).worst.attempts, 9, row)
  }
  const other = { Other: Recovery.retry(Backoff.suggested()) }
  assert.notStrictEqual(Recovery.explain(other, { errors: [new Later()] }).worst.attempts, 9)
})

it("the waits of a fixer's own model calls count in the time of the call [P1102]", () => {
  const one = { maxTurns: 1 }
  const patient = Agent.make("patient", { budget: one }).pipe(
    Agent.onLlmError({
      NetworkError: Recovery.retry({ retries: 2, initialBackoff: "10 seconds", factor: 1, maxHint: "5 seconds" })
    })
  )
  const hasty = Agent.make("hasty", { budget: one })
  const time = (fixer: typeof hasty | typeof patient) =>
    millis(Recovery.explain(Recovery.fix(fixer, { retries: 3 })).worst.time)
  assert.strictEqual(time(hasty), 0)
  assert.strictEqual(time(patient), 3 * 2 * 10_000)
})

it("a fixer that answers with the result does not rerun the tool [P1102]", () => {
  const { worst } = Recovery.explain(Recovery.fix(cleanup, { as: "result", retries: 3 }))
  assert.deepInclude(worst, { attempts: 1, fixerRuns: 3 })
})

it("an unsafe tool runs once, however its rows came about, unless a row consents to a second run [P1102 P601]", () => {
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects: "unsafe",
    run: () => Effect.fail(busy())
  })
  const retry = Recovery.retry({ retries: 3 })
  const table = { ToolTimeoutError: retry, orElse: Recovery.ladder(retry, Recovery.tell()) }
  const defaults = agentWith(pay).pipe(Agent.toolDefaults({ orElse: table.orElse }))
  assert.strictEqual(Agent.explain(defaults).tools.get("pay")?.worst.attempts, 1)
  const acknowledged = pay.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 3, acknowledge: "may run twice" }) }))
  assert.strictEqual(Agent.explain(agentWith(acknowledged)).tools.get("pay")?.worst.attempts, 4)
  // what was looked up may run again
  assert.strictEqual(Recovery.explain(table, { isUnsafe: true }).worst.attempts, 4)
})

it("an unsafe tool with `verify` may run once more after the look-up, which takes as long as a run [P1102 P603]", () => {
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects: "unsafe",
    timeout: "1 second",
    verify: () => Effect.succeed(Option.none<string>()),
    run: () => Effect.never
  })
  const retry = Recovery.retry({ retries: 3, maxHint: 0 })
  for (const { tools } of [
    Agent.explain(agentWith(pay).pipe(Agent.toolDefaults({ ToolTimeoutError: retry }))),
    Agent.explain(agentWith(pay).pipe(Agent.toolDefaults({ ExecutionError: retry }))),
    Agent.explain(agentWith(pay).pipe(Agent.toolDefaults({ orElse: retry })))
  ]) {
    const { attempts = 0, time = Duration.zero } = tools.get("pay")?.worst ?? {}
    assert.deepStrictEqual([attempts, millis(time)], [4, 8000])
  }
})

it("an orElse row repairs bad arguments of an unsafe tool, because the tool has not run [P1102 P601]", () => {
  const explained = Recovery.explain({ orElse: Recovery.fix(cleanup, { retries: 2 }) }, { isUnsafe: true })
  assert.deepInclude(explained.worst, { attempts: 3, fixerRuns: 2 })
  const own = Recovery.explain({ Busy: Recovery.fix(cleanup, { retries: 2 }) }, { isUnsafe: true })
  assert.deepInclude(own.worst, { attempts: 1, fixerRuns: 0 })
})
