import { assert } from "@effect/vitest"
import { Agent, Budget, Ledger, LlmError, Recovery, RunError, Skill, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Data, Effect, Exit, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  done,
  eventLog,
  interruptedAt,
  overADay,
  scripted,
  settlements
} from "../../_support/dialogue.ts"

const { make, text } = ScriptedModel

const worker = <const Tools extends ReadonlyArray<Tool.AnyTool>>(budget: Budget.Limits, ...tools: Tools) =>
  Agent.make("worker", { budget, skills: [Skill.make("work", { description: "Works.", tools })] })

const exceeded = (error: unknown): RunError.BudgetExceededError => {
  assert.instanceOf(error, RunError.BudgetExceededError)
  // the line above has failed otherwise
  return error as RunError.BudgetExceededError
}

const failing = <A, E>(exit: Exit.Exit<A, E>): unknown => (Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined)

const refused = () => LlmError.NetworkError.connectionRefused("localhost", 1)

const seen = (times: number) => Array.from({ length: times }, () => Effect.succeed("seen"))

/** A tool whose work is an agent that looks for so many turns, then answers. */
const expertTool = (model: ScriptedModel.ScriptedModel, budget: Budget.Limits, looks: number) => {
  const { runs, tool: look } = scripted("look", ...seen(looks))
  const expert = Agent.make("expert", {
    budget,
    model: model.layer,
    skills: [Skill.make("look", { description: "Looks.", tools: [look] })]
  })
  const tool = Tool.make("ask", {
    description: "Asks the expert.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => expert("why?")
  })
  return { runs, tool }
}

const looking = (times: number) => Array.from({ length: times }, () => batch("look"))

it.run("maxDuration is a deadline: it stops a running tool, and nothing of it happens later [A903]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { tool } = scripted("slow", Effect.as(Effect.sleep("1 hour"), "late"))
    const model = yield* make(batch("slow"))
    const agent = worker({ maxDuration: "10 seconds" }, tool).pipe(log.listen)
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    const error = exceeded(failing(exit))
    assert.deepInclude(error, { reason: "maxDuration", limit: 10_000, spent: 10_000 })
    assert.deepStrictEqual(settlements(error.transcript), ["interrupted: The call was interrupted before it ended."])
    assert.strictEqual(log.end()?.at, 10_000)
    assert.strictEqual(error.usage.inputTokens, 10)
  })
)

it.run("it stops a running model call, a fixer, and a wait; 5 minutes by default [A903]", (run) =>
  Effect.gen(function* () {
    const never = ScriptedModel.answers(() => Effect.never)
    const limit = { budget: { maxDuration: "10 seconds" } } as const
    const asking = yield* make(never)
    const waiting = Agent.make("worker", limit)
    const late = yield* overADay(run(waiting, "go").pipe(Effect.provide(asking.layer)))
    assert.strictEqual(exceeded(failing(late)).reason, "maxDuration")

    const fixer = Agent.deterministic("fixer", (_raw: string): Effect.Effect<string> => Effect.never)
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const fixing = yield* make(batch("fetch"))
    const mending = Agent.make("worker", {
      ...limit,
      skills: [
        Skill.make("work", { description: "Works.", tools: [tool.pipe(Tool.onError({ Busy: Recovery.fix(fixer) }))] })
      ]
    })
    const stuck = yield* overADay(run(mending, "go").pipe(Effect.provide(fixing.layer)))
    assert.strictEqual(exceeded(failing(stuck)).reason, "maxDuration")

    const log = eventLog()
    const patient = yield* make(never)
    const byDefault = Agent.make("worker", {}).pipe(log.listen)
    yield* overADay(run(byDefault, "go").pipe(Effect.provide(patient.layer)))
    assert.strictEqual((log.end()?.at ?? 0) - (log.all[0]?.at ?? 0), 5 * 60_000)
  })
)

it.run(
  "no wait starts that would pass the run's end: the next rung is asked, else the error says which limit [P704]",
  (run) =>
    Effect.gen(function* () {
      const retry = Recovery.retry({ retries: 5, initialBackoff: "4 seconds" })
      for (const [verdict, reason] of [
        [
          Recovery.ladder(
            retry,
            Recovery.tell(() => "no time")
          ),
          undefined
        ],
        [retry, "maxDuration"],
        [
          Recovery.ladder(
            Recovery.fix(() => Effect.fail(busy())),
            retry
          ),
          "maxDuration"
        ]
      ] as const) {
        const log = eventLog()
        const { runs, tool } = scripted("fetch", ...Array.from({ length: 3 }, () => Effect.fail(busy())))
        const model = yield* make(...(reason === undefined ? [batch("fetch"), done] : [batch("fetch")]))
        const agent = Agent.make("worker", {
          budget: { maxDuration: "10 seconds" },
          skills: [Skill.make("work", { description: "Works.", tools: [tool.pipe(Tool.onError({ Busy: verdict }))] })]
        }).pipe(log.listen)
        const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
        const start = log.all[0]?.at ?? 0
        // attempts at 0 s and 4 s; the next would be at 12 s
        assert.deepStrictEqual(
          runs.map(({ at }) => at - start),
          [0, 4000]
        )
        assert.strictEqual((log.end()?.at ?? 0) - start, 4000)
        if (reason === undefined) assert.isTrue(Exit.isSuccess(exit))
        else assert.deepInclude(exceeded(failing(exit)), { reason, limit: 10_000 })
      }
    })
)

it.run(
  "a wait that ends with the run is begun; the decision about it tells what is left besides time [P704 L306]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const { tool } = scripted("fetch", Effect.fail(busy()), Effect.never)
      const retry = Recovery.retry({ retries: 1, initialBackoff: "10 seconds" })
      const agent = Agent.make("worker", {
        budget: { maxDuration: "10 seconds", maxTurns: 7, maxToolCalls: 5 },
        skills: [Skill.make("work", { description: "Works.", tools: [tool.pipe(Tool.onError({ Busy: retry }))] })]
      }).pipe(log.listen)
      const model = yield* make(batch("fetch"))
      const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepInclude(exceeded(failing(exit)), { reason: "maxDuration" })
      assert.strictEqual((log.end()?.at ?? 0) - (log.all[0]?.at ?? 0), 10_000)
      assert.deepStrictEqual(
        log.of("verdict").map(({ left, verdict }) => [verdict, left]),
        [["retry", { turns: 6, toolCalls: 4 }]]
      )
    })
)

it.run("nor does one in front of a model call [P704]", (run) =>
  Effect.gen(function* () {
    const overloaded = ScriptedModel.fails(refused())
    const log = eventLog()
    const model = yield* make(overloaded, overloaded)
    const agent = Agent.make("worker", { budget: { maxDuration: "10 seconds" } }).pipe(
      Agent.onLlmError({ orElse: Recovery.retry({ retries: 5, initialBackoff: "4 seconds" }) }),
      log.listen
    )
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepInclude(exceeded(failing(exit)), { reason: "maxDuration" })
    assert.strictEqual(log.end()?.at, 4000)
  })
)

it.run("tokens and cost are checked after each reply, against everything in the ledger [A904]", (run) =>
  Effect.gen(function* () {
    for (const [budget, reason, spent] of [
      [{ maxTokens: 29 }, "maxTokens", 30],
      [{ maxCost: 0.000_04, prices: { scripted: { input: 1, output: 2 } } }, "maxCost", 0.000_04]
    ] as const) {
      const { runs, tool } = scripted("look", ...seen(3))
      const model = yield* make(batch("look"), batch("look"), ...(reason === "maxCost" ? [batch("look")] : []))
      const agent = worker(budget, tool)
      const error = exceeded(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
      assert.strictEqual(error.reason, reason)
      assert.isAtLeast(error.spent, spent)
      // the calls of the reply that went beyond it do not run
      assert.strictEqual(runs.length, model.requests.length - 1)
    }
  })
)

it.effect("a limit of cost without the price of the model is a mistake, and dies as one [A904]", () =>
  Effect.gen(function* () {
    const model = yield* make(text("hi"))
    const agent = Agent.make("worker", { budget: { maxCost: 1, prices: { other: { input: 1, output: 1 } } } })
    const exit = yield* Effect.exit(agent("go").pipe(Effect.provide(model.layer)))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    assert.match(String(failing(exit)), /price of model 'scripted'/)
    const any = Agent.make("worker", { budget: { maxCost: 1, prices: { "*": { input: 1, output: 1 } } } })
    assert.strictEqual(yield* any("go").pipe(Effect.provide(model.layer)), "hi")
  })
)

it.run("one call too many of one tool in a row trips it; another tool in between resets [A905]", (run) =>
  Effect.gen(function* () {
    const look = scripted("look", ...seen(6))
    const other = scripted("other", ...seen(2))
    const model = yield* make(batch("look", "look"), batch("other"), batch("look", "look"), batch("look"))
    const agent = worker({ maxConsecutiveSameTool: 2 }, look.tool, other.tool)
    const error = exceeded(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepInclude(error, { reason: "maxConsecutiveSameTool", limit: 2, spent: 3 })
    assert.strictEqual(look.runs.length, 4)
  })
)

it.run("what a sub-agent spends its caller has spent: turns, calls and tokens are shared [A316 L306]", (run) =>
  Effect.gen(function* () {
    const inner = yield* make(...looking(2))
    const { runs, tool } = expertTool(inner, { maxTurns: 8 }, 2)
    const model = yield* make(batch("ask"))
    const log = eventLog()
    const agent = worker({ maxTurns: 3 }, tool).pipe(log.listen)
    const error = exceeded(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    // one turn of its own, two of the expert; the third is forbidden by the caller's limit
    assert.deepInclude(error, { agent: "worker", reason: "maxTurns", limit: 3, spent: 3 })
    assert.strictEqual(runs.length, 2)
    assert.deepStrictEqual(error.usage, Usage.make({ inputTokens: 30, outputTokens: 15 }))
    assert.strictEqual(settlements(error.transcript).length, 1)
  })
)

it.run(
  "the end of the caller's budget passes every row; that of the sub-agent's own is a failure of the tool [A113 L705]",
  (run) =>
    Effect.gen(function* () {
      for (const [outer, inner, expected] of [
        [2, 8, "maxTurns"],
        [8, 1, undefined]
      ] as const) {
        const expertModel = yield* make(...looking(1))
        const { tool } = expertTool(expertModel, { maxTurns: inner }, 1)
        const model = yield* make(batch("ask"), ...(expected === undefined ? [done] : []))
        const agent = Agent.make("worker", {
          budget: { maxTurns: outer },
          skills: [
            Skill.make("work", { description: "Works.", tools: [tool.pipe(Tool.onError({ orElse: Recovery.tell() }))] })
          ]
        })
        const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
        if (expected === undefined) assert.deepStrictEqual(exit, Exit.succeed("done"))
        else assert.deepInclude(exceeded(failing(exit)), { reason: expected, agent: "worker", limit: outer })
      }
    })
)

it.run("nobody but onBudgetExceeded decides: an extension lets the run, or the one below it, go on [A909]", (run) =>
  Effect.gen(function* () {
    const asked: Array<Agent.BudgetExceeded> = []
    const inner = yield* make(...looking(2), text("because"))
    const { tool } = expertTool(inner, {}, 2)
    const model = yield* make(batch("ask"), done)
    const log = eventLog()
    const agent = worker({ maxTurns: 2 }, tool).pipe(
      Agent.onBudgetExceeded((exceeded) => {
        asked.push(exceeded)
        return Budget.extend(exceeded.limit + 1)
      }),
      log.listen
    )
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(
      asked.map(({ agent, limit, reason, spent }) => [agent, reason, limit, spent]),
      [
        ["worker", "maxTurns", 2, 2],
        ["worker", "maxTurns", 3, 3],
        ["worker", "maxTurns", 4, 4]
      ]
    )
    assert.strictEqual(log.of("budget-exceeded").length, 3)
  })
)

it.run(
  "when the one that was asking is stopped, another asks, and about no limit that was extended since [A909]",
  (run) =>
    Effect.gen(function* () {
      const asked: Array<number> = []
      const expert = (name: string, model: ScriptedModel.ScriptedModel) =>
        Tool.make(name, {
          description: "Asks an expert.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          timeout: "1 second",
          run: () =>
            Agent.make(name, {
              model: model.layer,
              skills: [Skill.make("look", { description: "Looks.", tools: [scripted("look", ...seen(2)).tool] })]
            })("why?")
        }).pipe(Tool.onError({ ToolTimeoutError: Recovery.tell(() => "too late") }))
      const tools = [
        expert("first", yield* make()),
        expert("second", yield* make(...looking(2), done)),
        expert("third", yield* make(...looking(2), done))
      ] as const
      const model = yield* make(batch("first", "second", "third"), done)
      const log = eventLog()
      const agent = worker({ maxTurns: 1 }, ...tools).pipe(
        Agent.onBudgetExceeded(({ limit }) => {
          asked.push(limit)
          return asked.length === 1 ? Effect.never : Budget.extend(limit + 1)
        }),
        log.listen
      )
      const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(exit, Exit.succeed("done"))
      // six turns of the experts, and the last of their caller
      assert.deepStrictEqual(asked, [1, 1, 2, 3, 4, 5, 6, 7])
      assert.strictEqual(log.of("budget-exceeded").length, 7)
    })
)

it.run("tool calls, tokens and time can be extended as well; stop stops; less than before is a defect [A909]", (run) =>
  Effect.gen(function* () {
    for (const budget of [
      { maxToolCalls: 1, maxTurns: 3 },
      { maxTokens: 20, maxTurns: 3 },
      { maxDuration: "3 seconds", maxTurns: 3, toolConcurrency: 1 }
    ] as const) {
      const wait = Effect.as(Effect.sleep("2 seconds"), "seen")
      const { tool } = scripted("look", wait, wait)
      const model = yield* make(batch("look", "look"), done)
      const agent = worker(budget, tool)
      const extending = agent.pipe(Agent.onBudgetExceeded(({ limit }) => Effect.succeed(Budget.extend(limit * 2))))
      const extended = yield* overADay(run(extending, "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(extended, Exit.succeed("done"))
    }
    const { tool } = scripted("look", ...seen(2))
    const model = yield* make(batch("look"))
    const agent = worker({ maxTurns: 1 }, tool)
    const stopped = yield* Effect.exit(
      run(agent.pipe(Agent.onBudgetExceeded(() => Budget.stop)), "go").pipe(Effect.provide(model.layer))
    )
    assert.strictEqual(exceeded(failing(stopped)).reason, "maxTurns")
    const again = yield* make(batch("look"))
    const shrinking = yield* Effect.exit(
      run(agent.pipe(Agent.onBudgetExceeded(() => Budget.extend(1))), "go").pipe(Effect.provide(again.layer))
    )
    assert.isTrue(Exit.isFailure(shrinking) && Cause.hasDies(shrinking.cause))
  })
)

it.run(
  "an extension that is not enough admits what it admits, and the end tells of the limit as it is [A909 A902]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = scripted("look", ...seen(2))
      const model = yield* make(batch("look", "look", "look"))
      const agent = worker({ maxToolCalls: 1 }, tool).pipe(
        Agent.onBudgetExceeded(({ limit }) => (limit === 1 ? Budget.extend(2) : Budget.stop))
      )
      const error = exceeded(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
      assert.deepInclude(error, { reason: "maxToolCalls", limit: 2, spent: 3 })
      assert.strictEqual(runs.length, 2)
    })
)

it.run("each limit warns once per run, by default at 80 % [A910]", (run) =>
  Effect.gen(function* () {
    for (const [warnAt, turns] of [
      [undefined, 4],
      [0.5, 3],
      [1, undefined]
    ] as const) {
      const log = eventLog()
      const model = yield* make(...looking(5))
      const budget = { maxTurns: 5, ...(warnAt === undefined ? {} : { warnAt }) }
      const { tool } = scripted("look", ...seen(5))
      const agent = worker(budget, tool).pipe(log.listen)
      yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
      const warnings = log.of("budget-warning").filter(({ reason }) => reason === "maxTurns")
      assert.deepStrictEqual(
        warnings.map(({ limit, spent, turn }) => [limit, spent, turn]),
        turns === undefined ? [] : [[5, turns, turns]]
      )
    }
  })
)

class Torn extends Data.TaggedError("Torn")<{}> {}

it.run("every attempt is in the ledger once, by agent, model, layer and outcome, however the run ends [P703]", (run) =>
  Effect.gen(function* () {
    const inner = yield* make(text('{"n":1}'))
    const fixer = Agent.make("mender", { model: inner.layer })
    const { tool } = scripted("fetch", Effect.fail(new Torn()), Effect.succeed("fine"))
    const entries: Array<Ledger.Entry> = []
    const model = yield* make(ScriptedModel.fails(refused()), batch("fetch"), done)
    const agent = agentWith(tool.pipe(Tool.onError({ Torn: Recovery.fix(fixer) }))).pipe(
      Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }),
      Agent.onEvent((event) =>
        Effect.sync(() => {
          if (event.type === "run-completed" && event.parent === undefined) entries.push(...event.ledger)
        })
      )
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      entries.map(({ agent, attempt, layer, outcome, turn }) => [agent, layer, outcome, turn, attempt]),
      [
        ["worker", "agent", "failed", 1, 1],
        ["worker", "agent", "used", 1, 2],
        ["mender", "fixer", "used", 1, 1],
        ["worker", "agent", "used", 2, 1]
      ]
    )
    const byAgent = Ledger.sumBy(entries, ({ agent }) => agent)
    assert.deepStrictEqual(byAgent.get("worker")?.usage, Usage.make({ inputTokens: 20, outputTokens: 10 }))
    assert.strictEqual(byAgent.get("worker")?.attempts, 3)
    assert.deepStrictEqual(byAgent.get("mender")?.usage, Usage.make({ inputTokens: 10, outputTokens: 5 }))
  })
)

it.run("an interrupted run keeps what it has spent [P703]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { tool } = scripted("slow", Effect.as(Effect.sleep("1 hour"), "late"))
    const model = yield* make(batch("slow"))
    yield* interruptedAt(1000, run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    const end = log.end()
    assert(end?.type === "run-interrupted")
    assert.deepStrictEqual(end.usage, Usage.make({ inputTokens: 10, outputTokens: 5 }))
    assert.strictEqual(end.ledger.length, 1)
  })
)
