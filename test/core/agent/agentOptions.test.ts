/** Tools and tables as options of an agent. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Recovery, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { batch, busy, callingOnce, gone, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { fails, make, text } = ScriptedModel

const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })

it.run("tools are what an agent can call, and its tables hold from the start [P1320]", (run) =>
  Effect.gen(function* () {
    const failing = scripted("ping", Effect.fail(busy())).tool
    const agent = Agent.make("a", {
      tools: [failing],
      toolDefaults: { Busy: Recovery.tell(() => "by the option") },
      onLlmError: { ModelOverloadedError: Recovery.respondWith("answered") }
    })
    const model = yield* make(batch("ping"), fails(overloaded))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "answered")
    assert.deepStrictEqual(read(model), ["told: by the option"])
    assert.deepStrictEqual(
      model.requests.map(({ tools }) => tools.map(({ name }) => name)),
      [["ping"], ["ping"]]
    )
  })
)

it.run("a later combinator wins for its tags, and leaves the others as they are [P1320]", (run) =>
  Effect.gen(function* () {
    const tools = [scripted("ping", Effect.fail(busy())).tool, scripted("drop", Effect.fail(gone())).tool] as const
    const toolDefaults = { Busy: Recovery.tell(() => "first"), Gone: Recovery.tell(() => "first") }
    const agent = Agent.make("a", { tools, toolDefaults, onLlmError: () => Recovery.respondWith("first") }).pipe(
      Agent.toolDefaults({ Gone: Recovery.tell(() => "later") }),
      Agent.onLlmError({ ModelOverloadedError: Recovery.respondWith("later") })
    )
    const model = yield* callingOnce("ping", "drop")
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(read(model), ["told: first", "told: later"])
    const failing = yield* make(fails(overloaded))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(failing.layer)), "later")
  })
)

it.run("an agent without tools and without skills only talks [P1320]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(text("hello"))
    assert.strictEqual(yield* run(Agent.make("a", { tools: [] }), "go").pipe(Effect.provide(model.layer)), "hello")
    assert.deepStrictEqual(model.requests[0]?.tools, [])
  })
)

it.run("tools beside skills are refused, by the name of the agent [P1320]", () =>
  Effect.sync(() => {
    const options = {
      tools: [scripted("ping", Effect.succeed("seen")).tool],
      skills: [Skill.make("work", { description: "Works.", tools: [] })]
    }
    assert.throws(
      () => Agent.make("clerk", options as never),
      /Agent 'clerk': an agent takes tools, or skills that have them/
    )
  })
)

it.run("tools and skills that are no list are refused, by the name of the agent and the option [P1320]", () =>
  Effect.sync(() => {
    const { tool } = scripted("ping", Effect.succeed("seen"))
    for (const [option, value] of [
      ["tools", { ping: tool }],
      ["tools", tool],
      ["skills", Skill.make("work", { description: "Works.", tools: [] })]
    ] as const) {
      assert.throws(
        () => Agent.make("clerk", { [option]: value } as never),
        new RegExp(`^Agent 'clerk': ${option} must be a list, as in ${option}: \\[one, two\\]$`)
      )
    }
  })
)
