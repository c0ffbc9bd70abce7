import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Context, Effect, Layer, Option, Schedule, Schema } from "effect"
import { isAgent } from "../../../packages/core/src/tool/run.ts"
import { it } from "../../_support/run.ts"
import { agentWith, batch, done, gone, overADay, read, settlements } from "../../_support/dialogue.ts"

class Desk extends Context.Service<Desk, { readonly number: number }>()("test/Desk") {}
class Down extends Schema.TaggedError<Down>()("Down", {}) {}

const number = Effect.map(Desk, (desk) => desk.number)

/** A layer that counts how often it is built, and released. */
const counting = () => {
  const count = { built: 0, released: 0 }
  const desk = Effect.acquireRelease(
    Effect.sync(() => ({ number: ++count.built })),
    () => Effect.sync(() => void count.released++)
  )
  return { count, layer: Layer.effect(Desk, desk) }
}

const approving = Approval.layer(() => Effect.succeed(Approval.approve))

const options = { description: "Looks.", parameters: Schema.Struct({}), success: Schema.Number }

it.run("a provided tool keeps its rows; its layer is built for each attempt, and released after it [P1306]", (run) =>
  Effect.gen(function* () {
    const { count, layer } = counting()
    const tool = Tool.make("look", {
      ...options,
      run: () => Effect.flatMap(number, (n) => (n < 3 ? Effect.fail(new Down()) : Effect.succeed(n)))
    }).pipe(Tool.onError({ Down: Recovery.retry({ retries: 2 }) }), Tool.provide(layer))
    const model = yield* ScriptedModel.make(batch("look"), done)
    yield* Effect.provide(run(agentWith(tool), "go"), model.layer)
    assert.deepStrictEqual(read(model), ["result: 3"])
    assert.deepStrictEqual(count, { built: 3, released: 3 })
    assert.strictEqual(yield* Tool.call(tool, {}), 4)
  })
)

it.run("verify, a compensation and the predicate of an approval have the layer as well [P1306]", (run) =>
  Effect.gen(function* () {
    const { layer } = counting()
    const seen: Array<string> = []
    const saw = (what: string) => Effect.map(number, (n) => void seen.push(`${what} ${n}`))
    const tool = Tool.make("look", {
      ...options,
      sideEffects: "unsafe",
      timeout: "1 second",
      verify: () => Effect.as(saw("verify"), Option.some(7)),
      run: () => Effect.andThen(saw("run"), Effect.never)
    }).pipe(
      Tool.requireApproval({ when: () => Effect.as(saw("when"), true) }),
      Tool.compensate(() => saw("undo")),
      Tool.provide(layer)
    )
    const failing = Tool.make("fail", { ...options, run: () => Effect.fail(gone()) })
    const model = yield* ScriptedModel.make(batch("look"), batch("fail"))
    const agent = agentWith(tool, failing.pipe(Tool.onError({ Gone: Recovery.raise })))
    const running = Effect.provide(run(agent, "go"), Layer.merge(model.layer, approving))
    yield* overADay(running)
    assert.deepStrictEqual(seen, ["when 1", "run 2", "verify 3", "undo 4"])
  })
)

it.run("a layer that fails is a failure of the tool, for its rows [P1306]", (run) =>
  Effect.gen(function* () {
    const tool = Tool.make("look", { ...options, run: () => number }).pipe(
      Tool.provide(Layer.effect(Desk, Effect.fail(new Down()))),
      Tool.onError({ Down: Recovery.respondWith(0) })
    )
    const model = yield* ScriptedModel.make(batch("look"), done)
    yield* Effect.provide(run(agentWith(tool), "go"), model.layer)
    assert.deepStrictEqual(read(model), ["result: 0"])
  })
)

it.effect("an agent that is a tool keeps what it costs, and is suspended with its caller [P1306]", () =>
  Effect.gen(function* () {
    const { layer } = counting()
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("ask", { input: "go" }, "c1")),
      batch("look")
    )
    const waiting = Tool.make("look", { ...options, run: () => number }).pipe(Tool.requireApproval())
    const bare = Agent.asTool(agentWith(waiting), { name: "ask", description: "Asks." })
    const asked = bare.pipe(Tool.provide(layer))
    const starting = agentWith(asked).start("go")
    const run = yield* Effect.provide(starting, Layer.merge(model.layer, approving))
    assert.strictEqual((yield* run.outcome)._tag, "Suspended")
    assert.deepStrictEqual(Agent.bounds(agentWith(asked)), Agent.bounds(agentWith(bare)))
  })
)

it.effect("an agent that is a tool runs within the layer [P1306]", () =>
  Effect.gen(function* () {
    const { count, layer } = counting()
    const look = Tool.make("look", { ...options, run: () => number })
    const asked = Agent.asTool(agentWith(look), { name: "ask", description: "Asks." }).pipe(Tool.provide(layer))
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("ask", { input: "go" }, "c1")),
      batch("look"),
      ScriptedModel.text("seen"),
      done
    )
    const run = yield* Effect.provide(agentWith(asked).start("go"), model.layer)
    assert.strictEqual((yield* run.outcome)._tag, "Completed")
    assert.deepStrictEqual(read(model), ["result: seen"])
    assert.deepStrictEqual(settlements(model.requests[2]?.messages ?? []), ["result: 1"])
    assert.deepStrictEqual(count, { built: 1, released: 1 })
  })
)

it.run("the start, the poll and the cancel of a deferred tool have the layer as well [P1306]", (run) =>
  Effect.gen(function* () {
    for (const isFound of [true, false]) {
      const { count, layer } = counting()
      const seen: Array<string> = []
      const saw = (what: string) => Effect.tap(number, (n) => Effect.sync(() => void seen.push(`${what} ${n}`)))
      const order = Tool.deferred("order", {
        ...options,
        start: () => saw("start"),
        wait: "suspend",
        deadline: "90 seconds",
        poll: {
          every: Schedule.spaced("1 minute"),
          check: () => Effect.map(saw("poll"), (n) => (isFound ? Option.some(n) : Option.none()))
        },
        cancel: () => Effect.asVoid(saw("cancel"))
      }).pipe(Tool.provide(layer), Tool.onError({ ToolTimeoutError: Recovery.tell() }))
      const model = yield* ScriptedModel.make(batch("order"), done)
      yield* overADay(Effect.provide(run(agentWith(order), "go"), model.layer))
      if (isFound) assert.deepStrictEqual(read(model), ["result: 2"])
      assert.deepStrictEqual(seen, isFound ? ["start 1", "poll 2"] : ["start 1", "poll 2", "cancel 3"])
      assert.strictEqual(count.released, count.built)
    }
  })
)

it.effect("a tool with a layer is an agent only if it was one [P1306]", () =>
  Effect.sync(() => {
    const { layer } = counting()
    const look = Tool.make("look", { ...options, run: () => number })
    const ask = Agent.asTool(agentWith(look), { name: "ask", description: "Asks." })
    assert.deepStrictEqual(
      [look, look.pipe(Tool.provide(layer)), ask, ask.pipe(Tool.provide(layer))].map(({ definition }) =>
        isAgent(definition)
      ),
      [false, false, true, true]
    )
  })
)
