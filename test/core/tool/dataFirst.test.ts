/** The combinators of a tool with the tool as their first argument. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Context, Effect, Layer, Schema } from "effect"
import { batch, busy, done, failureOf, gone, overADay, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

class Desk extends Context.Service<Desk, { readonly name: string }>()("test/Desk") {}

it.run("a tool as an argument has the same rows, approval, compensation and layer as in a pipe [P1320]", (run) =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    const bare = Tool.make("book", {
      description: "Books.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.map(Desk, ({ name }) => `booked at ${name}`)
    })
    const provided = Tool.provide(bare, Layer.succeed(Desk, { name: "desk" }))
    const book = Tool.compensate(
      Tool.requireApproval(provided, { when: () => Effect.sync(() => seen.push("asked") > 0) }),
      ({ result }) => Effect.sync(() => seen.push(`undid ${result}`))
    )
    const failing = scripted("fail", Effect.fail(busy()), Effect.fail(gone()))
    const fail = Tool.onError(failing.tool, { Busy: Recovery.retry({ retries: 1 }), Gone: Recovery.raise })
    const model = yield* ScriptedModel.make(batch("book"), batch("fail"))
    const approver = Approval.layer(() => Effect.succeed(Approval.approve))
    const agent = Agent.make("a", { tools: [book, fail] })
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(Layer.merge(model.layer, approver))))
    assert.strictEqual((yield* failureOf(exit))._tag, "ToolExecutionError")
    assert.strictEqual(failing.runs.length, 2)
    assert.deepStrictEqual(seen, ["asked", "undid booked at desk"])
  })
)

it.run("approval needs no options, in either form [P1320]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("ping", Effect.succeed("pong"), Effect.succeed("pong"))
    for (const asked of [Tool.requireApproval(tool), tool.pipe(Tool.requireApproval())]) {
      const model = yield* ScriptedModel.make(batch("ping"), done)
      const approver = Approval.layer(() => Effect.succeed(Approval.refuse("no")))
      const agent = Agent.make("a", { tools: [asked] })
      yield* run(agent, "go").pipe(Effect.provide(Layer.merge(model.layer, approver)))
      assert.match(read(model)[0] ?? "", /^denied: /)
    }
  })
)

it.run("an effect around the attempts is the same in either form [P1320 P1322]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("ping", Effect.fail(busy()), Effect.succeed("pong"))
    const model = yield* ScriptedModel.make(batch("ping"), done)
    // `around.test-d.ts` is about the types
    const around = Tool.around as unknown as (
      self: typeof tool,
      f: (attempt: Effect.Effect<string, unknown>) => Effect.Effect<string, unknown>
    ) => typeof tool
    const agent = Agent.make("a", { tools: [around(tool, (attempt) => Effect.retry(attempt, { times: 1 }))] })
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["result: pong"])
  })
)
