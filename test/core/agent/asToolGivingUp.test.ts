/** An agent that is a tool gives up for good, or gives its task back. */
import { assert } from "@effect/vitest"
import { Agent, type Model, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { it, type Runnable } from "../../_support/run.ts"
import { agentWith, asHard, busy, done, eventLog, read, scripted } from "../../_support/dialogue.ts"

const { call, calls, make } = ScriptedModel

const description = "Asks an expert."
const calling = calls(call("ask", { input: "why?" }, "c1"))
const givingUp = calls(call("throwException", { reason: "no such file" }, "i1"))

const expert = (inner: ScriptedModel.ScriptedModel) =>
  Agent.make("expert", { model: inner.layer, tools: [Tool.throwException, Tool.escalate] })

/** The callers of a test differ in their tables, and so in their types. */
type AnyCaller = Runnable<string, string, unknown, Model.Model>

const retrying = Recovery.retry({ retries: 2 })

it.run("throwException in an agent that is a tool is hard for the caller: no wider row takes it [P1352]", (run) =>
  Effect.gen(function* () {
    const wide = { ExecutionError: Recovery.ladder(retrying, Recovery.tell()), orElse: Recovery.tell() }
    for (const level of ["tool", "agent", "defaults", "resilient", "exact default"] as const) {
      const inner = yield* make(givingUp)
      const ask = Agent.asTool(expert(inner), { name: "ask", description })
      const caller = {
        tool: () => agentWith(ask.pipe(Tool.onError(wide))),
        agent: () => agentWith(ask).pipe(Agent.onToolError({ ask: wide })),
        defaults: () => agentWith(ask).pipe(Agent.toolDefaults(wide)),
        resilient: () => agentWith(ask).pipe(Agent.resilient()),
        "exact default": () => agentWith(ask).pipe(Agent.toolDefaults({ ToolExecutionError: Recovery.tell() }))
      }[level]()
      const log = eventLog()
      const model = yield* make(calling)
      // the callers differ in their tables alone
      const agent = log.listen(caller as never) as never as AnyCaller
      const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
      assert.deepInclude(error, { tool: "expert", message: "no such file" })
      assert.strictEqual(inner.requests.length, 1)
      assert.deepStrictEqual(log.of("verdict"), [])
      assert.deepInclude(log.end(), { type: "run-failed", error })
    }
  })
)

it.run("an exact row takes the failure of an agent that gives up; a row that gives up comes last [P1352]", (run) =>
  Effect.gen(function* () {
    for (const isOwn of [true, false]) {
      const rows = {
        ToolExecutionError: Recovery.tell((error: { readonly message: string }) => `lost: ${error.message}`)
      }
      const inner = yield* make(givingUp)
      const ask = Agent.asTool(expert(inner), { name: "ask", description })
      const model = yield* make(calling, done)
      const agent = isOwn
        ? agentWith(ask.pipe(Tool.onError(rows)))
        : agentWith(ask.pipe(Tool.onError({ orElse: Recovery.raise }))).pipe(Agent.onToolError({ ask: rows }))
      assert.strictEqual(yield* run(agent as never as AnyCaller, "go").pipe(Effect.provide(model.layer)), "done")
      assert.deepStrictEqual(read(model), ["told: lost: no such file"])
    }
    // what an exact row gives up is asked of no row behind it
    const inner = yield* make(givingUp, givingUp, givingUp)
    const ask = Agent.asTool(expert(inner), { name: "ask", description })
    const model = yield* make(calling)
    const agent = agentWith(ask.pipe(Tool.onError({ ToolExecutionError: retrying }))).pipe(
      Agent.toolDefaults({ orElse: Recovery.backstop(Recovery.tell()) })
    )
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.strictEqual(error.tool, "ask")
    assert.strictEqual(inner.requests.length, 3)
  })
)

it.run(
  "an agent that gives up is a hard failure for all ancestors and siblings; so is a function that raises [P1352 P1350 A407]",
  (run) =>
    Effect.gen(function* () {
      const wide = { orElse: Recovery.tell() }
      const inner = yield* make(givingUp)
      const middle = yield* make(calls(call("ask", { input: "?" }, "m1")))
      const ask = Agent.asTool(expert(inner), { name: "ask", description })
      const manager = Agent.make("manager", { model: middle.layer, tools: [ask] }).pipe(Agent.toolDefaults(wide))
      const manage = Agent.asTool(manager, { name: "manage", description })
      const other = scripted("other")
      const model = yield* make(calls(call("manage", { input: "?" }, "c1"), call("other", {}, "c2")))
      const boss = Agent.make("boss", {
        budget: { toolConcurrency: 1 },
        skills: [Skill.make("lead", { description: "Leads.", tools: [manage, other.tool] })]
      }).pipe(Agent.toolDefaults(wide))
      const error = asHard(yield* Effect.flip(run(boss, "go").pipe(Effect.provide(model.layer))))
      assert.deepInclude(error, { tool: "expert", message: "no such file" })
      assert.strictEqual(other.runs.length, 0)

      const raising = Agent.deterministic("expert", (_reason: string) =>
        Effect.fail(ToolError.ToolExecutionError.make({ tool: "expert", message: "never" }))
      )
      const second = yield* make(calling)
      const caller = agentWith(Agent.asTool(raising, { name: "ask", description })).pipe(Agent.toolDefaults(wide))
      assert.strictEqual(
        asHard(yield* Effect.flip(run(caller, "go").pipe(Effect.provide(second.layer)))).message,
        "never"
      )
    })
)

it.run(
  "a call of its tools that has failed for good is a failure as any other, and so is a tool of a function [P1352]",
  (run) =>
    Effect.gen(function* () {
      const inner = yield* make(calls(call("look", {}, "i1")))
      const look = scripted("look", Effect.fail(busy()), Effect.fail(busy()))
      const clerk = Agent.make("clerk", {
        model: inner.layer,
        tools: [look.tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1 }) }))]
      })
      const ask = Agent.asTool(clerk, { name: "ask", description })
      const model = yield* make(calling, done)
      const agent = agentWith(ask).pipe(Agent.toolDefaults({ ExecutionError: Recovery.tell(() => "told") }))
      assert.strictEqual(yield* run(agent as never as AnyCaller, "go").pipe(Effect.provide(model.layer)), "done")
      assert.deepStrictEqual(read(model), ["told: told"])
    })
)

it.run("an escalation keeps its severity, unless its row names another [P1352]", (run) =>
  Effect.gen(function* () {
    for (const [row, severity] of [
      [Recovery.escalate(), "CRITICAL"],
      [Recovery.escalate({ severity: "LOW" }), "LOW"]
    ] as const) {
      const inner = yield* make(calls(call("escalate", { reason: "no such file", severity: "critical" }, "i1")))
      const ask = Agent.asTool(expert(inner), { name: "ask", description })
      const model = yield* make(calling, done)
      const agent = agentWith(ask.pipe(Tool.onError({ EscalationError: row })))
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), [
        `told: ERROR: Tool 'ask' failed: no such file (severity: ${severity}). Please retry with corrected arguments.`
      ])
    }
    // any other failure has none of its own
    const { tool } = scripted("ask", Effect.fail(busy("no")))
    const model = yield* make(calls(call("ask", {}, "c1")), done)
    yield* run(agentWith(tool.pipe(Tool.onError({ Busy: Recovery.escalate() }))), "go").pipe(
      Effect.provide(model.layer)
    )
    assert.include(read(model)[0], "(severity: HIGH)")
  })
)
