import { assert } from "@effect/vitest"
import { Agent, Ledger, Recovery, Skill, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, batch, done, eventLog, interruptedAt, scripted, settlements } from "../../_support/dialogue.ts"
import { exceeded, expertTool, failing, looking, refused, seen, worker } from "./_support/limitedAgents.ts"

const { make, text } = ScriptedModel

it.run("tokens and cost are checked after each reply, against the whole ledger [A904]", (run) =>
  Effect.gen(function* () {
    for (const [budget, reason, spent] of [
      [{ maxTokens: 29 }, "maxTokens", 30],
      [
        { maxCost: 0.000_04, prices: { scripted: { usdPerMillionTokens: { input: 1, output: 2 } } } },
        "maxCost",
        0.000_04
      ]
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

it.run("one call too many of one tool in a row ends the run; another tool in between resets the count [A905]", (run) =>
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

it.run("the caller's limit passes every row; a limit of the sub-agent is a failure of the tool [A113 L705]", (run) =>
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
      entries.map(({ agent, attempt, outcome, purpose, turn }) => [agent, purpose, outcome, turn, attempt]),
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
