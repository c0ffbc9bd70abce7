/** The combinators of agents and routers with the agent, or the router, as their first argument. */
import { assert } from "@effect/vitest"
import { Agent, Budget, LlmError, Recovery, Router, Skill, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import { agentWith, batch, busy, done, gone, overADay, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "scripted" })

it.run("an agent as an argument has the same tables as in a pipe [P1320]", (run) =>
  Effect.gen(function* () {
    const first = scripted("first", Effect.fail(busy()), Effect.succeed("at last"))
    const second = scripted("second", Effect.fail(gone()))
    const model = yield* ScriptedModel.make(ScriptedModel.fails(overloaded()), batch("first", "second"), done)
    const bare = agentWith(first.tool, second.tool)
    const named = Agent.onToolError(bare, { first: { Busy: Recovery.retry({ retries: 1 }) } })
    const withDefaults = Agent.toolDefaults(named, { orElse: Recovery.respondWith("none") })
    const once = Recovery.retry({ retries: 1 })
    const agent = Agent.onLlmError(withDefaults, { ModelOverloadedError: once })
    const later = Agent.onLlmError(agent, (_error, { attempt }) => Effect.succeed(`given up after ${attempt}`))
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(exit, Exit.succeed("done"))
    assert.deepStrictEqual(read(model), ["result: at last", "result: none"])
    assert.strictEqual(first.runs.length, 2)
    const failing = yield* ScriptedModel.make(ScriptedModel.fails(overloaded()))
    const said = yield* run(later, "go").pipe(Effect.provide(failing.layer))
    assert.strictEqual(said, "given up after 1")
  })
)

it.run("an agent as an argument has the same functions, limits and layers as in a pipe [P1320]", (run) =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    const note = (line: string) => Effect.sync(() => void seen.push(line))
    const { runs, tool } = scripted("ping", Effect.succeed("pong"))
    const unused = yield* ScriptedModel.make()
    const model = yield* ScriptedModel.make(batch("ping"), batch("ping"))
    const heard = Agent.onEvent(Agent.make("a", { tools: [tool], model: unused.layer }), ({ type }) =>
      type === "run-start" ? note(type) : Effect.void
    )
    const used = Agent.onToolUse(heard, (name, _args, { text }) => note(`${name}: ${text}`))
    const failing = Agent.onFailure(used, ({ code }) => note(code))
    const guarded = Agent.toolPolicy(failing, () => (runs.length === 0 ? ToolPolicy.allow : ToolPolicy.deny("once")))
    const bound = Agent.withBudget(guarded, { maxTurns: 1 })
    const decided = Agent.onBudgetExceeded(bound, ({ limit, reason }) => {
      seen.push(`limit ${limit} of ${reason}`)
      return limit === 1 ? Budget.extend(2) : Budget.stop
    })
    const agent = Agent.secrets(Agent.withModel(decided, model.layer), [])
    const failure = yield* Effect.flip(run(agent, "go"))
    assert.strictEqual(failure._tag, "BudgetExceededError")
    assert.strictEqual(runs.length, 1)
    assert.sameMembers(seen, [
      "run-start",
      "ping: pong",
      "limit 1 of maxTurns",
      "limit 2 of maxTurns",
      "KINTSUGI-BUDGET-EXCEEDED"
    ])
    assert.strictEqual(unused.requests.length, 0)
  })
)

it.run("onEvent takes an agent, a listener and a scope as arguments [P1503]", (run) =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    const scope = yield* Effect.scope
    const plain = Agent.deterministic("plain", (text: string) => Effect.succeed(text))
    const agent = Agent.onEvent(plain, ({ type }) => Effect.sync(() => void seen.push(type)), { scope })
    assert.strictEqual(yield* run(agent, "go"), "go")
    yield* Effect.yieldNow
    assert.deepStrictEqual(seen, ["run-start", "run-completed"])
  }).pipe(Effect.scoped)
)

it.run("retries of an output, a router and its table, and a name are the same in both forms [P1320]", (run) =>
  Effect.gen(function* () {
    const counting = Agent.outputRetries(Agent.make("counting", { output: Schema.Number }), 0)
    const wrong = yield* ScriptedModel.make(ScriptedModel.text("many"))
    const failure = yield* Effect.flip(run(counting, "go").pipe(Effect.provide(wrong.layer)))
    assert.strictEqual(failure._tag, "InvalidOutputError")
    assert.strictEqual(wrong.requests.length, 1)
    assert.throws(() => Agent.outputRetries(counting, -1), RangeError, "outputRetries")
    const skills = ["a", "b"].map((name) =>
      Skill.deterministic(name, { description: name, run: () => Effect.succeed(name) })
    )
    const router = Router.onLlmError(Router.byModel(), { ModelOverloadedError: () => Effect.succeed("b") })
    const model = yield* ScriptedModel.make(ScriptedModel.fails(overloaded()))
    const desk = Agent.route(Agent.make("desk", { skills }), router)
    assert.strictEqual(yield* run(desk, "go").pipe(Effect.provide(model.layer)), "b")
    const both = Agent.named(Agent.andThen(desk, counting), "both")
    assert.strictEqual(both.name, "both")
  })
)
