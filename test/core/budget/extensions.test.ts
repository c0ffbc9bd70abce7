import { assert } from "@effect/vitest"
import { Agent, Budget, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { batch, done, eventLog, overADay, scripted } from "../../_support/dialogue.ts"
import { exceeded, expertTool, failing, looking, seen, worker } from "./_support/limitedAgents.ts"

const { make, text } = ScriptedModel

it.run("only onBudgetExceeded decides: with an extension the run, or its child, goes on [A909]", (run) =>
  Effect.gen(function* () {
    const asked: Array<readonly [agent: string, reason: string, limit: number, spent: number]> = []
    const inner = yield* make(...looking(2), text("because"))
    const { tool } = expertTool(inner, {}, 2)
    const model = yield* make(batch("ask"), done)
    const log = eventLog()
    const agent = worker({ maxTurns: 2 }, tool).pipe(
      Agent.onBudgetExceeded(({ agent, limit, reason, spent }) => {
        asked.push([agent, reason, limit, spent])
        return Budget.extend(limit + 1)
      }),
      log.listen
    )
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(asked, [
      ["worker", "maxTurns", 2, 2],
      ["worker", "maxTurns", 3, 3],
      ["worker", "maxTurns", 4, 4]
    ])
    assert.strictEqual(log.of("budget-exceeded").length, 3)
  })
)

it.run(
  "if the run that calls the handler is stopped, another run calls it, unless the limit was extended [A909]",
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
    const resumed = yield* make(batch("look"))
    const shrinking = yield* Effect.exit(
      run(agent.pipe(Agent.onBudgetExceeded(() => Budget.extend(1))), "go").pipe(Effect.provide(resumed.layer))
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
