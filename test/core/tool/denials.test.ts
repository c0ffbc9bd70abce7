/** Calls that are denied: why, what that costs, and what it does not. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, RunError, Skill, Tool, ToolPolicy } from "@kintsugi/core"

import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  asHard,
  batch,
  busy,
  callingOnce,
  done,
  fixer,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"

const { call, calls, make } = ScriptedModel

const nested = (levels: number): Schema.Json => {
  let value: Schema.Json = {}
  for (let i = 0; i < levels; i++) value = { a: value }
  return value
}

it.run("arguments that arrive as an object that is nested too deeply are denied, and the run goes on [A907]", (run) =>
  Effect.gen(function* () {
    const ran: Array<unknown> = []
    const tool = Tool.make("take", {
      description: "Takes anything.",
      parameters: Schema.Record(Schema.String, Schema.Json),
      success: Schema.String,
      run: (params) => Effect.sync(() => (ran.push(params), "taken"))
    })
    for (const budget of [{}, { maxArgsBytes: Infinity }]) {
      const skills = [Skill.make("work", { description: "Works.", tools: [tool] })] as const
      const model = yield* make(calls(call("take", nested(6000), "c1"), call("take", nested(900), "c2")), done)
      const agent = Agent.make("worker", { budget, skills })
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
      assert.deepStrictEqual(read(model), [
        "denied: The call of tool 'take' was denied and not run: the arguments are nested too deeply",
        "result: taken"
      ])
    }
    assert.strictEqual(ran.length, 2)
  })
)

it.run("repaired arguments that are too long are denied as what they are [A907]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("take", Effect.fail(busy()))
    const { agent: long } = fixer(Effect.succeed(`{"n":1${" ".repeat(50)}}`))
    const guarded = tool.pipe(Tool.onError({ Busy: Recovery.fix(long) }))
    const skills = [Skill.make("work", { description: "Works.", tools: [guarded] })] as const
    const model = yield* callingOnce("take")
    yield* run(Agent.make("worker", { budget: { maxArgsBytes: 20 }, skills }), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), [
      "denied: The call of tool 'take' was denied and not run: the repaired arguments are longer than 20 bytes"
    ])
    assert.strictEqual(runs.length, 1)
  })
)

it.run("a policy that throws denies with its reason: nothing has allowed the call [A515]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("look")
    const model = yield* callingOnce("look")
    const agent = agentWith(tool).pipe(
      Agent.toolPolicy(() => {
        throw new TypeError("no rights are loaded")
      })
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.match(read(model)[0] ?? "", /^denied: .* the policy could not decide: no rights are loaded$/)
    assert.deepStrictEqual(runs, [])
  })
)

/** Denies the calls of these ids. */
const denying = (...ids: ReadonlyArray<string>) =>
  Agent.toolPolicy(({ callId }) => (ids.includes(callId) ? ToolPolicy.deny("not now") : ToolPolicy.allow))

it.run("a denied call spends no try: the tool has not failed [P204]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.fail(busy("first")), Effect.fail(busy("second")))
    const at = (id: string) => calls(call("look", {}, id))
    const model = yield* make(at("d1"), at("d2"), at("r1"), at("r2"))
    const agent = agentWith(tool).pipe(denying("d1", "d2"), Agent.toolDefaults(Recovery.presets.tellWithTries()))
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.strictEqual(error.message, "second")
    assert.deepStrictEqual(
      settlements(error.transcript ?? []).map((line) => line.split(":")[0]),
      ["denied", "denied", "told", "told"]
    )
    assert.match(settlements(error.transcript ?? [])[2] ?? "", /1 try is left\.$/)
  })
)

it.run(
  "equal denials in a row are going round in circles: the fourth withholds, the fifth ends the run [P701]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = scripted("look")
      const model = yield* make(...Array.from({ length: 6 }, () => batch("look")))
      const agent = agentWith(tool).pipe(denying("c1"))
      const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert(error instanceof RunError.BudgetExceededError)
      assert.deepInclude(error, { reason: "repeatedFailure", spent: 5 })
      assert.deepStrictEqual(
        model.requests.map(({ tools }) => tools.length),
        [1, 1, 1, 1, 0, 1]
      )
      for (const line of settlements(error.transcript)) assert.match(line, /^denied: /)
      assert.deepStrictEqual(runs, [])
    })
)

it.run("denials and failures of one tool are counted apart, and a success clears both [P701 P702]", (run) =>
  Effect.gen(function* () {
    const down = Effect.fail(busy("down"))
    const { tool } = scripted("look", down, Effect.succeed("up"), down, down)
    const ids = ["d1", "r1", "d2", "r2", "d3", "r3", "d4", "r4"]
    const model = yield* make(...ids.map((id) => calls(call("look", {}, id))), done)
    const skills = [
      Skill.make("work", { description: "Works.", tools: [tool.pipe(Tool.onError({ Busy: Recovery.tell() }))] })
    ] as const
    const agent = Agent.make("worker", { budget: { maxTurns: 16, repeatedFailures: { stop: 3 } }, skills })
    const output = run(agent.pipe(denying("d1", "d2", "d3", "d4")), "go")
    assert.strictEqual(yield* output.pipe(Effect.provide(model.layer)), "done")
  })
)
