import { assert } from "@effect/vitest"
import { Agent, Recovery, RunError, Skill, Tool, ToolError, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Duration, Effect, Exit, Option, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  done,
  eventLog,
  interruptedAt,
  lastTranscript,
  overADay,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"

const { call, calls, make, text } = ScriptedModel

/** One call of the tool `ask`. */
const calling = calls(call("ask", { input: "why?" }, "outer-call"))

const description = "Asks an expert."

/** An agent with these tools and a model of its own. */
const expertWith = <const Tools extends ReadonlyArray<Tool.AnyTool>>(
  model: ScriptedModel.ScriptedModel,
  ...tools: Tools
) => Agent.make("expert", { model: model.layer, skills: [Skill.make("know", { description: "Knows.", tools })] })

it.run("interruption of the caller interrupts it; the calls of both are settled [A1110 A111]", (run) =>
  Effect.gen(function* () {
    const inner = yield* make(batch("look"))
    const { tool } = scripted("look", Effect.never)
    const log = eventLog()
    const expert = expertWith(inner, tool)
    const ask = Agent.asTool(expert, { name: "ask", description }).pipe(Tool.onError({ orElse: Recovery.tell() }))
    const model = yield* make(calling)
    const running = run(agentWith(ask).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    const exit = yield* interruptedAt(1000, running)
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
    const ends = log.of("run-interrupted")
    assert.deepStrictEqual(
      ends.map(({ agent }) => agent),
      ["expert", "worker"]
    )
    for (const end of ends) {
      assert.deepStrictEqual(settlements(lastTranscript(end)), [
        "interrupted: The call was interrupted before it ended."
      ])
    }
  })
)

it.run("an agent within a tool is one deeper [A908 A1110]", (run) =>
  Effect.gen(function* () {
    const inner = yield* make()
    const middle = yield* make(batch("deeper"))
    const lowest = Agent.make("lowest", { model: inner.layer })
    const parameters = Schema.Struct({})
    const deeper = Agent.asTool(lowest, { name: "deeper", description, parameters, toInput: () => "go" })
    const ask = Agent.asTool(expertWith(middle, deeper), { name: "ask", description })
    const model = yield* make(calling)
    const agent = Agent.make("worker", {
      budget: { maxDepth: 1 },
      skills: [Skill.make("work", { description: "Works.", tools: [ask] })]
    })
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.instanceOf(error, RunError.BudgetExceededError)
    assert.deepInclude(error, { reason: "maxDepth", limit: 1, spent: 2 })
  })
)

it.run(
  "the caller's limit passes every row; a limit of the agent itself is a failure of the tool [A113 A1110]",
  (run) =>
    Effect.gen(function* () {
      for (const [outer, inner, isCallers] of [
        [2, 8, true],
        [8, 1, false]
      ] as const) {
        const { tool } = scripted("look", Effect.succeed("seen"))
        const expertModel = yield* make(batch("look"))
        const expert = Agent.make("expert", {
          model: expertModel.layer,
          budget: { maxTurns: inner },
          skills: [Skill.make("know", { description: "Knows.", tools: [tool] })]
        })
        const rows = { BudgetExceededError: Recovery.tell(() => "too long") }
        const ask = Agent.asTool(expert, { name: "ask", description }).pipe(Tool.onError(rows))
        const model = yield* make(calling, ...(isCallers ? [] : [done]))
        const agent = Agent.make("worker", {
          budget: { maxTurns: outer },
          skills: [Skill.make("work", { description: "Works.", tools: [ask] })]
        })
        const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
        if (isCallers) {
          const error = Cause.squash(Exit.isFailure(exit) ? exit.cause : Cause.empty)
          assert.instanceOf(error, RunError.BudgetExceededError)
          assert.deepInclude(error, { agent: "worker", reason: "maxTurns", limit: 2 })
        } else {
          assert.deepStrictEqual(exit, Exit.succeed("done"))
          assert.deepStrictEqual(read(model), ["told: too long"])
        }
      }
    })
)

it.run("a timeout stops one run of the agent, with all that it has spent; rows see it [A906 A1110]", (run) =>
  Effect.gen(function* () {
    const slow = scripted("look", Effect.never)
    const inner = yield* make(batch("look"), text("seen"))
    const log = eventLog()
    const limits = { timeout: "1 second", kind: "llm" } as const
    const ask = Agent.asTool(expertWith(inner, slow.tool), { name: "ask", description, ...limits }).pipe(
      Tool.onError({ ToolTimeoutError: Recovery.retry({ retries: 1 }) })
    )
    assert.deepInclude(ask.definition, { kind: "llm", timeout: Duration.seconds(1) })
    const model = yield* make(calling, done)
    const exit = yield* overADay(run(agentWith(ask).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(exit, Exit.succeed("done"))
    assert.deepStrictEqual(read(model), ["result: seen"])
    const [first] = log.of("run-interrupted")
    assert.deepInclude(first, { agent: "expert", at: 1000, usage: Usage.make({ inputTokens: 10, outputTokens: 5 }) })
    assert.strictEqual(log.of("tool-failed").length, 1)
    assert.deepInclude(log.end(), { usage: Usage.make({ inputTokens: 40, outputTokens: 20 }) })
  })
)

it.run("a limit of the call ends it for good, with any rows [A906 A1110]", (run) =>
  Effect.gen(function* () {
    const patient = Agent.deterministic("patient", (_input: string) => Effect.as(Effect.sleep("1 minute"), "late"))
    const limits = { timeout: "2 seconds", callTimeout: "3 seconds" } as const
    const ask = Agent.asTool(patient, { name: "ask", description, ...limits }).pipe(
      Tool.onError({ ToolTimeoutError: Recovery.retry({ retries: 5 }) })
    )
    const model = yield* make(calling)
    const exit = yield* overADay(run(agentWith(ask), "go").pipe(Effect.provide(model.layer)))
    const error = Cause.squash(Exit.isFailure(exit) ? exit.cause : Cause.empty)
    assert.instanceOf(error, ToolError.ToolExecutionError)
    assert.instanceOf(error.cause, ToolError.ToolTimeoutError)
  })
)

it.run("an unsafe agent that is cut off is looked up by its key [P602 P603 A1110]", (run) =>
  Effect.gen(function* () {
    for (const found of [Option.some("paid before"), undefined]) {
      const keys: Array<string> = []
      const verify =
        found === undefined
          ? {}
          : { verify: (key: string) => Effect.sync(() => (keys.push(key), found as Option.Option<string>)) }
      const paying = Agent.deterministic("paying", (_input: string) => Effect.as(Effect.never, "paid"))
      const unsafe = { sideEffects: "unsafe", timeout: "1 second" } as const
      const ask = Agent.asTool(paying, { name: "ask", description, ...unsafe, ...verify })
      const model = yield* make(calling, ...(found === undefined ? [] : [done]))
      const exit = yield* overADay(run(agentWith(ask), "go").pipe(Effect.provide(model.layer)))
      if (found === undefined) {
        const error = Cause.squash(Exit.isFailure(exit) ? exit.cause : Cause.empty)
        assert.instanceOf(error, ToolError.OutcomeUnknownError)
      } else {
        assert.deepStrictEqual(read(model), ["result: paid before"])
        assert.strictEqual(keys.length, 1)
      }
    }
  })
)
