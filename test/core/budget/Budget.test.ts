import { assert } from "@effect/vitest"
import { Agent, Budget, type Model, Recovery, RunError, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Duration, Effect, Schema } from "effect"
import { it, type Runnable } from "../../_support/run.ts"
import { batch, busy, done, eventLog, fixer, read, scripted, settlements } from "../../_support/dialogue.ts"

const { call, calls, make } = ScriptedModel

const working = <const Tools extends ReadonlyArray<Tool.AnyTool>>(budget: Budget.Limits, ...tools: Tools) =>
  Agent.make("worker", { prompt: "Work.", budget, skills: [Skill.make("work", { description: "Works.", tools })] })

const asExceeded = (error: unknown): RunError.BudgetExceededError => {
  assert.instanceOf(error, RunError.BudgetExceededError)
  // the line above has failed otherwise
  return error as RunError.BudgetExceededError
}

const seen = (times: number) => Array.from({ length: times }, () => Effect.succeed("seen"))

it.run("maxTurns: exactly N turns, then BudgetExceededError with transcript, usage and the last text [A901]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("look", ...seen(3))
    const thinking = (text: string) =>
      ScriptedModel.replies(ScriptedModel.reply({ content: [{ type: "text", text }, call("look", {}, "c1")] }))
    const log = eventLog()
    const model = yield* make(thinking("one"), thinking("two"), thinking("three"))
    const agent = working({ maxTurns: 3 }, tool).pipe(log.listen)
    const error = asExceeded(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepInclude(error, { reason: "maxTurns", limit: 3, spent: 3, partial: "three", agent: "worker" })
    assert.deepInclude(error.usage, { inputTokens: 30, outputTokens: 15 })
    assert.deepStrictEqual(
      error.transcript.map(({ role }) => role),
      ["system", "user", "assistant", "assistant", "assistant"]
    )
    assert.deepStrictEqual(settlements(error.transcript), ["result: seen", "result: seen", "result: seen"])
    assert.deepInclude(log.end(), { type: "run-failed", error, transcript: error.transcript, usage: error.usage })
    assert.strictEqual(runs.length, 3)
  })
)

it.run("the limit is 8 by default; an answer in the last turn is in time [A901]", (run) =>
  Effect.gen(function* () {
    const late = scripted("look", ...seen(8))
    const model = yield* make(...Array.from({ length: 8 }, () => batch("look")))
    const error = yield* Effect.flip(run(working({}, late.tool), "go").pipe(Effect.provide(model.layer)))
    assert.deepInclude(asExceeded(error), { reason: "maxTurns", limit: 8, spent: 8, partial: "" })

    const inTime = scripted("look", ...seen(7))
    const wideModel = yield* make(...Array.from({ length: 7 }, () => batch("look")), done)
    assert.strictEqual(yield* run(working({}, inTime.tool), "go").pipe(Effect.provide(wideModel.layer)), "done")
  })
)

it.run("maxToolCalls is checked before each call: the calls beyond it do not run, and are settled [A902]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("look", ...seen(3))
    const model = yield* make(batch("look"), batch("look", "look", "look"))
    const agent = working({ maxToolCalls: 3 }, tool)
    const error = asExceeded(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepInclude(error, { reason: "maxToolCalls", limit: 3 })
    assert.strictEqual(runs.length, 3)
    assert.deepStrictEqual(settlements(error.transcript), [
      "result: seen",
      "result: seen",
      "result: seen",
      "interrupted: The call was not run: the run stopped before it."
    ])
  })
)

it.run("calls up to the limit are fine, also when the model goes on in words [A902]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", ...seen(3))
    const model = yield* make(batch("look", "look", "look"), done)
    const agent = working({ maxToolCalls: 3 }, tool)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
  })
)

it.run("unknown calls count, and so do calls that are not run because the reply was cut off [A902]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("look")
    const cut = ScriptedModel.replies(ScriptedModel.reply({ content: [call("look", {}, "c1")], finish: "length" }))
    const model = yield* make(batch("nope"), cut, batch("look"))
    const agent = working({ maxToolCalls: 2 }, tool)
    const error = asExceeded(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepInclude(error, { reason: "maxToolCalls", limit: 2 })
    assert.deepStrictEqual(runs, [])
  })
)

it.run("attempts and fixer runs within one call count once [A902]", (run) =>
  Effect.gen(function* () {
    const steps = [busy("1"), busy("2"), busy("3")].map((error) => Effect.fail(error))
    const { runs, tool } = scripted("look", ...steps, Effect.succeed("seen"))
    const mender = fixer(Effect.succeed("{}"))
    const model = yield* make(batch("look"), done)
    const verdict = Recovery.ladder(Recovery.retry({ retries: 2 }), Recovery.fix(mender.agent))
    const agent = working({ maxToolCalls: 1 }, tool.pipe(Tool.onError({ Busy: verdict })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(runs.length, 4)
    assert.deepStrictEqual(read(model), ["result: seen"])
  })
)

it.run("a hard failure within the limit wins over the calls beyond it [A902]", (run) =>
  Effect.gen(function* () {
    const failure = busy()
    const { tool } = scripted("look", Effect.fail(failure))
    const model = yield* make(batch("look", "look"))
    const agent = working({ maxToolCalls: 1 }, tool)
    assert.strictEqual<unknown>(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))), failure)
  })
)

it.run(
  "a sub-agent's exhausted budget is an ordinary failure of the tool around it, with what was its own [A901]",
  (run) =>
    Effect.gen(function* () {
      const { tool } = scripted("look", ...seen(2))
      const inner = yield* make(batch("look"), batch("look"))
      const expert = working({ maxTurns: 2 }, tool)
      const ask = scripted("ask", expert("why?").pipe(Effect.provide(inner.layer)))
      const caught: Array<unknown> = []
      const guarded = ask.tool.pipe(
        Tool.onError({
          BudgetExceededError: Recovery.tell((error) => {
            caught.push(error)
            return error.reason
          })
        })
      )
      const model = yield* make(batch("ask"), done)
      yield* run(working({}, guarded), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), ["told: maxTurns"])
      const error = asExceeded(caught[0])
      assert.deepInclude(error.usage, { inputTokens: 20, outputTokens: 10 })
      assert.deepStrictEqual(settlements(error.transcript), ["result: seen", "result: seen"])
    })
)

/** An agent whose only tool runs `below`, or the agent itself. */
const nesting = (maxDepth: number, child?: () => Nested) => {
  const deeper = Tool.make("deeper", {
    description: "Goes deeper.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: (): Effect.Effect<string, unknown, Model.Model> => Effect.suspend(() => (child?.() ?? agent)("deeper"))
  })
  const agent: Nested = working({ maxDepth }, deeper)
  return agent
}

type Nested = Runnable<string, string, unknown, Model.Model>

const goDeeper = calls(call("deeper", {}, "c1"))

it.run(
  "maxDepth bounds agents within tools: so many levels below the first run, then BudgetExceededError [A908]",
  (run) =>
    Effect.gen(function* () {
      const model = yield* make(goDeeper, goDeeper, goDeeper)
      const error = asExceeded(yield* Effect.flip(run(nesting(2), "go").pipe(Effect.provide(model.layer))))
      assert.deepInclude(error, { reason: "maxDepth", limit: 2, spent: 3 })

      const shallow = yield* make(goDeeper, goDeeper, done, done, done)
      assert.strictEqual(yield* run(nesting(2), "go").pipe(Effect.provide(shallow.layer)), "done")
    })
)

it.run("the nearest limit of all ancestors holds, even if a descendant would allow more [A908]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(goDeeper, goDeeper)
    const agent = nesting(1, () => nesting(16))
    const error = asExceeded(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepInclude(error, { reason: "maxDepth", limit: 1, spent: 2 })

    // and a small limit of its own does not keep an agent from working below others
    const deepModel = yield* make(goDeeper, goDeeper, goDeeper, done, done, done, done)
    const last = nesting(1, () => nesting(1))
    const tall = nesting(16, () => nesting(16, () => last))
    assert.strictEqual(yield* run(tall, "go").pipe(Effect.provide(deepModel.layer)), "done")
  })
)

it.run("maxDepth bounds agents within fixers [A908]", (run) =>
  Effect.gen(function* () {
    const failing = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.fail(busy())
    })
    const fixerModel = yield* make()
    const innermost = Agent.make("innermost", { model: fixerModel.layer })
    const outerFixer = Agent.deterministic("outer", (raw: string) => innermost(raw))
    const model = yield* make(batch("look"), done)
    const agent = working(
      { maxDepth: 1 },
      failing.pipe(Tool.onError({ Busy: Recovery.ladder(Recovery.fix(outerFixer), Recovery.tell()) }))
    )
    const log = eventLog()
    assert.strictEqual(yield* run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepInclude(log.of("fix-failed")[0]?.error, { reason: "maxDepth", limit: 1, spent: 2 })
  })
)

it.run("a limit of the run that a fixer reaches ends the run: no rung after the fixer decides [A312 A901]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.fail(busy()))
    const mender = Agent.make("mender", { model: (yield* make()).layer })
    const verdict = Recovery.ladder(Recovery.fix(mender), Recovery.tell())
    const log = eventLog()
    const agent = working({ maxTurns: 1 }, tool.pipe(Tool.onError({ Busy: verdict }))).pipe(log.listen)
    const model = yield* make(batch("look"))
    const error = asExceeded(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepInclude(error, { reason: "maxTurns", limit: 1, agent: "worker" })
    assert.deepStrictEqual(
      log.of("verdict").map(({ verdict }) => verdict),
      ["fix"]
    )
    assert.deepInclude(log.of("run-failed")[0]?.error, { reason: "maxTurns", agent: "worker" })
  })
)

it("limits are whole numbers of at least 1, by default 8, 32 and 16 [A901 A902 A908]", () => {
  assert.deepInclude(Budget.make(), { maxTurns: 8, maxToolCalls: 32, maxDepth: 16 })
  assert.deepInclude(Budget.make({ maxTurns: 3 }), { maxTurns: 3, maxToolCalls: 32, maxDepth: 16 })
  for (const limit of [0, -1, 1.5, NaN, Infinity, Number.MAX_SAFE_INTEGER + 1]) {
    for (const name of ["maxTurns", "maxToolCalls", "maxDepth"]) {
      assert.throws(() => Agent.make("a", { budget: { [name]: limit } }), RangeError)
    }
  }
})

it("an invalid limit is refused by name, with the values that it admits [A903 A904 A910]", () => {
  const made = (limits: Budget.Limits) => () => Budget.make(limits)
  assert.throws(made({ maxTurns: 0 }), /^Budget: maxTurns must be a whole number of at least 1, got 0$/)
  for (const cost of [0, -1, Number.NaN]) {
    assert.throws(made({ maxCost: cost }), `Budget: maxCost must be above 0, got ${cost}`)
  }
  for (const duration of [0, -1, Number.NaN, "soon", "0 seconds"] as const) {
    // what a caller without types may give
    const limits = { maxDuration: duration } as Budget.Limits
    assert.throws(made(limits), `Budget: maxDuration must be a duration above 0, got ${duration}`)
  }
  for (const share of [0, -0.1, 1.1, Number.NaN]) {
    assert.throws(made({ warnAt: share }), `Budget: warnAt must be above 0 and at most 1, got ${share}`)
  }
  assert.deepInclude(Budget.make({ maxCost: 0.001, maxDuration: 1, warnAt: 1 }), {
    maxCost: 0.001,
    maxDuration: 1,
    warnAt: 1
  })
  assert.strictEqual(Budget.make({ maxDuration: "Infinity" }).maxDuration, Infinity)
})

it("what no run goes on for ever without may be unlimited, by name; time may be parts of milliseconds [A903 A904 A905 A907]", () => {
  for (const name of [
    "maxDuration",
    "maxTokens",
    "maxCost",
    "maxConsecutiveSameTool",
    "toolConcurrency",
    "maxArgsBytes"
  ] as const) {
    assert.strictEqual(Budget.make({ maxArgsBytes: 1, maxDuration: 1, [name]: Infinity })[name], Infinity)
  }
  for (const name of ["hint", "withhold", "stop"] as const) {
    assert.strictEqual(Budget.make({ repeatedFailures: { [name]: Infinity } }).repeatedFailures[name], Infinity)
    const refused = new RegExp(`^Budget: ${name} must be a whole number of at least 1, got 1.5$`)
    assert.throws(() => Budget.make({ repeatedFailures: { [name]: 1.5 } }), refused)
  }
  assert.strictEqual(Budget.make({ maxDuration: Duration.micros(500n) }).maxDuration, 0.5)
})

it("a limit cannot be extended to a number that is valid for no limit [A909]", () => {
  for (const limit of [0, -1, Number.NaN]) {
    assert.throws(() => Budget.extend(limit), `Budget.extend: the new limit must be above 0, got ${limit}`)
  }
  assert.deepStrictEqual(Budget.extend(0.5), { type: "extend", limit: 0.5 })
  assert.deepStrictEqual([Budget.stop, Budget.checkpoint], [{ type: "stop" }, { type: "checkpoint" }])
})
