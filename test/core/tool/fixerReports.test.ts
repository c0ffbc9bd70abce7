/** What a fixer reads that has several skills. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Router, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, done, read } from "../../_support/dialogue.ts"

const { call, calls, make, text } = ScriptedModel

it.run("a fixer that may ask a model reads the report, also where another of its skills is a function [A303]", (run) =>
  Effect.gen(function* () {
    const mender = Agent.make("mender", {
      skills: [
        Skill.deterministic("quick", { description: "Mends.", run: () => Effect.succeed('{"n":1}') }),
        Skill.make("slow", { description: "Mends by model." })
      ]
    }).pipe(Agent.route(Router.byRule(() => "slow")))
    const fetch = Tool.make("fetch", {
      description: "Fetches.",
      parameters: Schema.Struct({ n: Schema.Finite }),
      success: Schema.String,
      run: () => Effect.succeed("page")
    }).pipe(Tool.onError({ orElse: Recovery.fix(mender) }))
    const model = yield* make(calls(call("fetch", '{"n":', "c1")), text('{"n":2}'), done)
    yield* run(agentWith(fetch), "go").pipe(Effect.provide(model.layer))
    const words = JSON.stringify(model.requests[1]?.messages)
    assert.include(words, "A call of tool 'fetch' failed.")
    assert.deepStrictEqual(read(model), ["result: page"])
  })
)
