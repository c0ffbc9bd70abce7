import { assert } from "@effect/vitest"
import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"

class NoKeys extends Schema.TaggedError<NoKeys>()("NoKeys", { json: Schema.String, message: Schema.String }) {}

const countKeys = Tool.make("calculateNumberOfKeys", {
  description: "Count the top-level keys of a JSON object.",
  parameters: Schema.Struct({ json: Schema.String }),
  success: Schema.Number,
  run: ({ json }) =>
    Effect.try({
      try: () => Object.keys(JSON.parse(json)).length,
      catch: () => new NoKeys({ json, message: "No valid keys — unquoted keys?" })
    })
})

it.run("the JSON key counter reads the escalation, calls with the corrected JSON and answers 3 [A412]", (run) =>
  Effect.gen(function* () {
    const fixerModel = yield* ScriptedModel.make(
      ScriptedModel.calls(
        ScriptedModel.call("escalate", {
          reason: 'Unquoted keys. Corrected: {"name":"world","age":30,"active":true}'
        })
      )
    )
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(
        ScriptedModel.call("calculateNumberOfKeys", '{"json":"{name: world, age: 30, active: true}"}', "c1")
      ),
      ScriptedModel.calls(
        ScriptedModel.call(
          "calculateNumberOfKeys",
          JSON.stringify({ json: '{"name":"world","age":30,"active":true}' }),
          "c2"
        )
      ),
      ScriptedModel.text("3")
    )
    const fixer = Agent.make("json-fixer", {
      prompt: "Call escalate.",
      model: fixerModel.layer,
      budget: { maxTurns: 3 },
      skills: [Skill.make("fix", { description: "Analyse and escalate JSON errors", tools: [Tool.escalate] })]
    })
    const uses: Array<readonly [string, unknown, string]> = []
    const analyst = Agent.make("json-analyst", {
      prompt: "Use the tool.",
      budget: { maxTurns: 10 },
      skills: [
        Skill.make("solve", {
          description: "Analyse JSON with tools",
          tools: [countKeys.pipe(Tool.onError({ NoKeys: Recovery.fix(fixer, { retries: 2 }) }))]
        })
      ]
    }).pipe(Agent.onToolUse((name, args, result) => Effect.sync(() => uses.push([name, args, result.text]))))
    const answer = yield* run(analyst, "How many keys? {name: world, age: 30, active: true}").pipe(
      Effect.provide(model.layer)
    )
    assert.strictEqual(answer, "3")
    assert.deepStrictEqual(
      uses.map((use) => use[2]),
      [
        `ERROR: Tool 'calculateNumberOfKeys' failed: Unquoted keys. Corrected: {"name":"world","age":30,"active":true} (severity: HIGH). Please retry with corrected arguments.`,
        "3"
      ]
    )
    assert.strictEqual(
      model.requests.every((request) => request.isStreamed === run.isStreamed),
      true
    )
  })
)
