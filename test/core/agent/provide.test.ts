import { assert } from "@effect/vitest"
import { Agent, Approval, LlmError, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { bare, logged } from "./_support/sharing.ts"
import { it } from "../../_support/run.ts"
import { agentWith, done, eventLog, read } from "../../_support/dialogue.ts"

const { call, calls, fails, make, text } = ScriptedModel

class Desk extends Context.Service<Desk, { readonly number: number }>()("test/Desk") {}
class Down extends Schema.TaggedError<Down>()("Down", {}) {}

/** A layer that counts how often it is built, and released. */
const counting = () => {
  const count = { built: 0, released: 0 }
  const desk = Effect.acquireRelease(
    Effect.sync(() => ({ number: ++count.built })),
    () => Effect.sync(() => void count.released++)
  )
  return { count, layer: Layer.effect(Desk, desk) }
}

/** Gives the number of its desk, as often as it is not broken. */
const look = (...outcomes: ReadonlyArray<Effect.Effect<void, Down>>) => {
  let n = 0
  return Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.Number,
    run: () =>
      Effect.andThen(
        outcomes[n++] ?? Effect.void,
        Effect.map(Desk, ({ number }) => number)
      )
  })
}

it.run("a provided agent keeps its tables, and takes more of them after it [P1306]", (run) =>
  Effect.gen(function* () {
    const { count, layer } = counting()
    const log = eventLog()
    const model = yield* make(
      fails(LlmError.ModelOverloadedError.make({ model: "m" })),
      calls(call("look", {}, "c1")),
      calls(call("look", {}, "c2")),
      done
    )
    const agent = agentWith(look(Effect.fail(new Down()), Effect.fail(new Down()))).pipe(
      Agent.onToolError({ look: { Down: Recovery.respondWith(() => Effect.map(Desk, (desk) => -desk.number)) } }),
      Agent.provide(Layer.merge(layer, model.layer)),
      Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 1 }) }),
      log.listen
    )
    yield* run(agent, "go")
    assert.deepStrictEqual(read(model), ["result: -1", "result: -1"])
    assert.deepStrictEqual(count, { built: 1, released: 0 })
    // it is the run that it was: there is none around it
    assert.strictEqual(log.all.filter(({ type }) => type === "run-start").length, 1)
    assert.deepStrictEqual(
      model.requests.map(({ isStreamed }) => isStreamed),
      [1, 2, 3, 4].map(() => run.isStreamed)
    )
  })
)

it.run("the layer is built once, for listeners too; a later layer provides an earlier one [P1306 P1504]", (run) =>
  Effect.gen(function* () {
    const { count, layer } = counting()
    const seen: Array<number> = []
    const shown = Layer.effect(
      Desk,
      Effect.map(Desk, ({ number }) => ({ number: number * 10 }))
    )
    const agent = Agent.deterministic("clerk", (_input: string) => Effect.map(Desk, ({ number }) => number)).pipe(
      Agent.provide(shown),
      Agent.provide(layer),
      Agent.onEvent(() =>
        Effect.map(Effect.serviceOption(Desk), (desk) => void (desk._tag === "Some" && seen.push(desk.value.number)))
      )
    )
    assert.strictEqual(yield* run(agent, "a"), 10)
    assert.strictEqual(yield* run(agent, "b"), 10)
    assert.deepStrictEqual([...new Set(seen)], [10])
    // as a part, too
    assert.strictEqual(
      yield* run(
        Agent.map(agent, (n) => n + 1),
        "c"
      ),
      11
    )
    assert.deepStrictEqual(count, { built: 1, released: 0 })
  })
)

it.run(
  "a layer that fails fails the run with its failure, and a run that is interrupted leaves it built [P1306 P1504]",
  (run) =>
    Effect.gen(function* () {
      const broken = agentWith(look()).pipe(Agent.provide(Layer.effect(Desk, Effect.fail(new Down()))))
      const model = yield* make()
      const error = yield* Effect.flip(Effect.provide(run(broken, "go"), model.layer))
      assert(error instanceof Down)
      assert.strictEqual(model.requests.length, 0)
      const { count, layer } = counting()
      const stuck = Agent.deterministic("stuck", (_input: string) => Effect.andThen(Desk, Effect.never)).pipe(
        Agent.provide(layer)
      )
      const fiber = yield* Effect.forkChild(run(stuck, "go"), { startImmediately: true })
      assert.deepStrictEqual(count, { built: 1, released: 0 })
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(count, { built: 1, released: 0 })
    })
)

it.effect(
  "a provided agent is suspended as before, and goes on with the layer of the runtime that resumes it [P1306 P1504]",
  () =>
    Effect.gen(function* () {
      const { count, layer } = counting()
      const model = yield* make(calls(call("look", {}, "c1")), done)
      const agent = agentWith(look().pipe(Tool.requireApproval())).pipe(Agent.provide(Layer.merge(layer, model.layer)))
      const runtime = Layer.effectDiscard(Effect.void)
      const outcome = yield* Effect.provide(
        Effect.flatMap(agent.start("go"), (run) => run.outcome),
        runtime
      )
      assert(outcome._tag === "Suspended")
      assert.deepStrictEqual(count, { built: 1, released: 1 })
      const [request] = Snapshot.requestsOf(outcome.snapshot)
      assert(request !== undefined)
      const resumed = yield* Agent.resume(agent).start({
        from: outcome.snapshot,
        decisions: [{ digest: request.digest, decision: Approval.approve }]
      })
      const end = yield* resumed.outcome
      assert(end._tag === "Completed")
      assert.deepStrictEqual(count, { built: 2, released: 1 })
      assert.deepStrictEqual(read(model), ["result: 2"])
    })
)

it.run("without a runtime it is closed after the idle time, and what runs within it before it [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const desk = Effect.acquireRelease(
      Effect.sync(() => (log.push("desk opens"), { number: 1 })),
      () => Effect.sync(() => void log.push("desk closes"))
    )
    const inner = Agent.make("inner", { model: logged(log, "model", () => Desk) })
    const agent = Agent.map(inner, (said) => said).pipe(Agent.provide(Layer.effect(Desk, desk)))
    for (const _ of [1, 2]) yield* bare(run(agent, "go"))
    assert.deepStrictEqual(log.splice(0), ["desk opens", "model 1 opens", "model 1 asked", "model 1 asked"])
    yield* TestClock.adjust("5 minutes")
    assert.deepStrictEqual(log.splice(0), ["model 1 closes", "desk closes"])
  })
)

it.run("a sealed agent is the same agent: it runs, streams and is a part [P1306]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(text("a"), text("b"))
    const clerk = Agent.make("clerk", { model: model.layer })
    const sealed = Agent.seal(clerk)
    assert.strictEqual(yield* run(sealed, "go"), "a")
    assert.strictEqual(yield* run(sealed.pipe(Agent.map((said) => `${said}!`)), "go"), "b!")
    assert.deepStrictEqual(
      model.requests.map(({ isStreamed }) => isStreamed),
      [run.isStreamed, run.isStreamed]
    )
  })
)
