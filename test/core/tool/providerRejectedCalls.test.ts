import { assert } from "@effect/vitest"
import { Agent, LlmError, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, done, fixer, play, read, scripted } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const { fails, make } = ScriptedModel

const rejection = (tool: string, rawArgs?: string) =>
  LlmError.MalformedToolCallError.make({
    model: "m",
    tool,
    detail: "no",
    ...(rawArgs === undefined ? {} : { rawArgs })
  })

it.run("a call that the provider rejected goes the way of InvalidArgs: to the rows of its tool [P404]", (run) =>
  Effect.gen(function* () {
    const { agent: repair, inputs } = fixer(Effect.succeed('{"n":1}'))
    const { runs, tool } = play("look", { coercion: [] }, [Effect.succeed("seen")])
    const model = yield* make(fails(rejection("look", '{"n": 1,')), done)
    const agent = agentWith(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(repair) })), scripted("other").tool)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(inputs, ['{"n": 1,'])
    assert.deepStrictEqual(
      runs.map(({ params }) => params),
      [{ n: 1 }]
    )
    assert.deepStrictEqual(read(model), ["result: seen"])
  })
)

it.run(
  "without a row it leaves as InvalidArgs, with the model's own text; what coercion can mend just runs [P404]",
  (run) =>
    Effect.gen(function* () {
      const bare = play("look", { coercion: [] }, [])
      const model = yield* make(fails(rejection("look", "{n: ")))
      const error = yield* Effect.flip(run(agentWith(bare.tool), "go").pipe(Effect.provide(model.layer)))
      assert(error instanceof ToolError.InvalidArgs)
      assert.deepInclude(error, { tool: "look", rawArgs: "{n: " })
      const mended = scripted("look", Effect.succeed("seen"))
      const second = yield* make(fails(rejection("look", '{"n": 1,}')), done)
      yield* run(agentWith(mended.tool), "go").pipe(Effect.provide(second.layer))
      assert.deepStrictEqual(read(second), ["result: seen"])
    })
)

it.effect("a rejected call can wait for a decision, as any other call of the model [P404 P902]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const agent = agentWith(tool)
    const model = yield* make(fails(rejection("pay", '{"cents": 5,}')), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.deepStrictEqual(runs, [])
    const end = yield* outcomeOf(Agent.resume(agent), deciding(from), model)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(runs, [5])
    assert.deepStrictEqual(read(model), ["result: paid 1"])
  })
)

it.run(
  "an unknown tool, or a call that is not shown, is the model's failure still; and a row for it comes first [P404]",
  (run) =>
    Effect.gen(function* () {
      const { tool } = scripted("look")
      for (const error of [rejection("other", "{}"), rejection("look"), rejection("", "{}")]) {
        const model = yield* make(fails(error))
        assert.strictEqual(yield* Effect.flip(run(agentWith(tool), "go").pipe(Effect.provide(model.layer))), error)
      }
      for (const verdict of [Recovery.retry({ retries: 1 }), Recovery.respondWith("instead")] as const) {
        const error = rejection("look", "{}")
        const model = yield* make(fails(error), ...(verdict.kind === "retry" ? [done] : []))
        const agent = agentWith(tool).pipe(Agent.onLlmError({ MalformedToolCallError: verdict }))
        const answer = yield* run(agent, "go").pipe(Effect.provide(model.layer))
        assert.strictEqual(answer, verdict.kind === "retry" ? "done" : "instead")
      }
      const final = rejection("look", "{}")
      const model = yield* make(fails(final))
      const agent = agentWith(tool).pipe(Agent.onLlmError({ orElse: Recovery.rethrow }))
      assert.strictEqual(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))), final)
    })
)
