/** Tools that an agent no longer has: they settle the calls of runs that began before. */
import { assert } from "@effect/vitest"
import { Agent, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { done, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

const tool = <const Name extends string>(name: Name) =>
  Tool.make(name, {
    description: `Does ${name}.`,
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed(`${name} is done`)
  })

it.run(
  "requests do not list a retired tool, nor does the text about an unknown one, and no name is read as its [P1715]",
  (run) =>
    Effect.gen(function* () {
      const [search] = Tool.onDemand([tool("search"), tool("other")])
      const tools = [tool("find"), Tool.retired(tool("look")), Tool.retired(search)]
      const model = yield* make(calls(call("Look", {}, "c1"), call("look", {}, "c2"), call("search", {}, "c3")), done)
      yield* run(Agent.make("desk", { tools }), "go").pipe(Effect.provide(model.layer))
      for (const request of model.requests)
        assert.deepStrictEqual(
          request.tools.map(({ name }) => name),
          ["find"]
        )
      assert.deepStrictEqual(read(model), [
        "told: unknown tool: Look; available tools: find",
        "result: look is done",
        "result: search is done"
      ])
    })
)

it.run("a choice of tools for a turn leaves a retired tool callable [P1715]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("desk", { tools: [tool("find"), Tool.retired(tool("look"))] }).pipe(
      Agent.prepareTurn(() => Effect.succeed({ tools: ["find"] }))
    )
    const model = yield* make(calls(call("look", {})), done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["result: look is done"])
  })
)

it.effect("a snapshot with a call of a tool that was removed since goes on, and its request stays [P1715]", () =>
  Effect.gen(function* () {
    const sign = tool("sign").pipe(Tool.requireApproval())
    const model = yield* make(calls(call("sign", {})), done)
    const first = Agent.make("desk", { tools: [sign] })
    const second = Agent.make("desk", { tools: [Tool.retired(sign), tool("find")] })
    const from = yield* snapshotOf(yield* outcomeOf(first, "go", model))
    const outcome = yield* outcomeOf(Agent.resume(second), deciding(from), model)
    assert.strictEqual(outcome._tag, "Completed")
    assert.deepStrictEqual(read(model), ["result: sign is done"])
  })
)

it.effect("only a tool of this module can be retired [P1715]", () =>
  Effect.sync(() => {
    assert.throws(
      // @ts-expect-error what a program without types may give
      () => Tool.retired({ name: "fax" }),
      TypeError,
      /^Tool\.retired: the tool must be made by this module, got object$/
    )
  })
)
