/** An agent's own model in a runtime: one build for all runs, closed with the runtime. */
import { assert } from "@effect/vitest"
import { Agent, Model, Recovery, Tool } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Context, Deferred, Effect, Exit, Fiber, Layer, ManagedRuntime, Schema, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { eventLog, gone, scripted } from "../../_support/dialogue.ts"
import { service } from "../../_support/guard.ts"
import { it } from "../../_support/run.ts"
import { bare, count, logged } from "./_support/sharing.ts"

class Desk extends Context.Service<Desk, { readonly name: string }>()("test/Desk") {}

/** The scope of the last layer of a runtime, with which the runtime closes what it owns. */
class Last extends Context.Service<Last, Scope.Scope>()("test/Last") {}

const desk = (log: Array<string>, name: string) =>
  Layer.effect(
    Desk,
    Effect.acquireRelease(
      Effect.sync(() => (log.push(`${name} opens`), { name })),
      () => Effect.sync(() => void log.push(`${name} closes`))
    )
  )

const { call, calls, text } = ScriptedModel

it.run("concurrent and later runs share one build, which is closed with the runtime around them [P1353 P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const agent = Agent.make("clerk", { model: logged(log) })
    yield* Effect.provide(
      Effect.gen(function* () {
        yield* Effect.forEach([1, 2, 3], () => run(agent, "go"), { concurrency: 3 })
        // no idle time ends it before
        yield* TestClock.adjust("1 hour")
        yield* run(agent, "go")
        assert.deepStrictEqual(log, ["desk opens", "model 1 opens", ...Array(4).fill("model 1 asked")])
      }),
      desk(log, "desk")
    )
    // the services of the runtime are there until the model is closed
    assert.deepStrictEqual(log.slice(-2), ["model 1 closes", "desk closes"])
    yield* Effect.provide(run(agent, "go"), desk(log, "desk"))
    assert.strictEqual(count(log, /model \d opens/), 2)
  })
)

it.run("the runs of a managed runtime share a build, and its end closes it [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const model = logged(log, "model", () => Desk)
    const agent = Agent.make("clerk", { model })
    const runtime = ManagedRuntime.make(
      Layer.mergeAll(Layer.empty, desk(log, "desk"), Layer.effectDiscard(Effect.void))
    )
    for (const _ of [1, 2]) yield* Effect.promise(() => runtime.runPromise(run(agent, "go")))
    yield* Effect.promise(() =>
      runtime.runPromise(Effect.all([run(agent, "go"), run(agent, "go")], { concurrency: 2 }))
    )
    assert.strictEqual(count(log, /closes/), 0)
    yield* runtime.disposeEffect
    assert.deepStrictEqual(log, [
      "desk opens",
      "model 1 opens",
      ...Array(4).fill("model 1 asked"),
      "model 1 closes",
      "desk closes"
    ])
  })
)

it.run("if the runtime has the model itself, agents with its layer get that very model [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const model = logged(log)
    const ask = run(Agent.make("clerk", { model }), "go")
    yield* Effect.provide(Effect.andThen(ask, run(Agent.make("guest", {}), "go")), model)
    assert.deepStrictEqual(log, ["model 1 opens", "model 1 asked", "model 1 asked", "model 1 closes"])
  })
)

it.run("if the runtime has parts of the model, the model uses them, and they are closed after it [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const shared = desk(log, "desk")
    const model = logged(log, "model", () => Desk).pipe(Layer.provide(shared))
    const other = logged(log, "other", () => Desk).pipe(Layer.provide(shared))
    const asks = Effect.andThen(run(Agent.make("a", { model }), "go"), run(Agent.make("b", { model: other }), "go"))
    yield* Effect.provide(asks, shared)
    assert.deepStrictEqual(log, [
      "desk opens",
      "model 1 opens",
      "model 1 asked",
      "other 1 opens",
      "other 1 asked",
      "other 1 closes",
      "model 1 closes",
      "desk closes"
    ])
    // a runtime without the part: one part for both models
    log.splice(0)
    yield* Effect.provide(asks, Layer.effectDiscard(Effect.void))
    assert.strictEqual(count(log, /desk opens/), 1)
    assert.strictEqual(log.at(-1), "desk closes")
  })
)

it.run("each value of a layer is built once, for all agents that have it [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const [model, other] = [logged(log), logged(log, "other")]
    const clerk = Agent.make("clerk", { model })
    const same = [
      clerk,
      clerk.pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) })),
      clerk.pipe(Agent.resilient()),
      clerk.pipe(Agent.withBudget({ maxTurns: 3 })),
      clerk.pipe(Agent.map((said) => said)),
      Agent.named("other name")(Agent.map(clerk, (said) => said)),
      Agent.make("second", {}).pipe(Agent.withModel(model)),
      Agent.seal(clerk)
    ]
    for (const agent of same) yield* run(agent, "go")
    yield* run(clerk.pipe(Agent.withModel(other)), "go")
    // another value is another layer, though it was made in the same way
    yield* run(Agent.make("third", { model: Layer.fresh(model) }), "go")
    assert.deepStrictEqual(
      log.filter((line) => / opens/.test(line)),
      ["model 1 opens", "other 1 opens", "model 2 opens"]
    )
    assert.strictEqual(count(log, /model 1 asked/), same.length)
  })
)

it.run("parts, sub-agents and fixers share the build with the agent itself [P1353]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const clerk = Agent.make("clerk", { model: logged(log) })
    const { tool: failing } = scripted("look", Effect.fail(gone()))
    const parent = yield* ScriptedModel.make(calls(call("clerk", { input: "a" })), calls(call("look", {})))
    const agent = Agent.make("parent", {
      tools: [failing, Agent.asTool(clerk, { description: "d" })],
      model: parent.layer
    }).pipe(Agent.onToolError({ look: { Gone: Recovery.fix(clerk) } }))
    // the answer of the fixer does not fit
    yield* Effect.flip(run(agent, "go"))
    yield* run(Agent.fallback(clerk, clerk.pipe(Agent.mapInput((input: string) => input))), "go")
    assert.strictEqual(count(log, /opens/), 1)
    assert.strictEqual(count(log, /asked/), 3)
  })
)

it.run("a layer that fails fails the runs that wait for it, and the next run rebuilds it [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const gate = yield* Deferred.make<void>()
    const opening = (n: number) =>
      n === 1 ? Effect.andThen(Deferred.await(gate), Effect.fail(gone())) : n === 2 ? Effect.die("bug") : Effect.void
    const agent = Agent.make("clerk", { model: logged(log, "model", opening) })
    yield* Effect.provide(
      Effect.gen(function* () {
        const waiting = yield* Effect.forkChild(
          Effect.all([Effect.flip(run(agent, "go")), Effect.flip(run(agent, "go"))], { concurrency: 2 })
        )
        yield* Effect.yieldNow
        yield* Deferred.succeed(gate, undefined)
        assert.deepStrictEqual(
          (yield* Fiber.join(waiting)).map((error) => (error as { readonly _tag: string })._tag),
          ["Gone", "Gone"]
        )
        assert.deepStrictEqual(log.splice(1), ["model 1 opens", "model 1 closes"])
        assert.isTrue(Exit.hasDies(yield* Effect.exit(run(agent, "go"))))
        yield* run(agent, "go")
        assert.deepStrictEqual(log.splice(1), ["model 2 opens", "model 2 closes", "model 3 opens", "model 3 asked"])
      }),
      desk(log, "desk")
    )
  })
)

it.run("the end of an interrupted build leaves the build after it alone [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const gate = yield* Deferred.make<void>()
    const opening = (n: number) =>
      n === 1 ? Effect.onInterrupt(Effect.never, () => Deferred.await(gate)) : Effect.void
    const agent = Agent.make("clerk", { model: logged(log, "model", opening), modelIdle: "1 hour" })
    const first = yield* Effect.forkChild(bare(run(agent, "go")), { startImmediately: true })
    yield* Effect.forkChild(Fiber.interrupt(first), { startImmediately: true })
    yield* bare(run(agent, "go"))
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.await(first)
    yield* bare(run(agent, "go"))
    assert.deepStrictEqual(log, ["model 1 opens", "model 2 opens", "model 2 asked", "model 1 closes", "model 2 asked"])
  })
)

it.run("builds that fail leave nothing to be closed with the runtime [P1504]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("clerk", { model: logged([], "model", () => Effect.fail("no")) })
    const toClose = (scope: Scope.Scope) => (scope.state._tag === "Open" ? scope.state.finalizers?.size : 0)
    yield* Effect.gen(function* () {
      const scope = yield* Last
      const before = toClose(scope)
      for (let nth = 0; nth < 3; nth++) assert.strictEqual(yield* Effect.flip(run(agent, "go")), "no")
      assert.strictEqual(toClose(scope), before)
    }).pipe(Effect.provide(Layer.effect(Last, Effect.scope)))
  })
)

it.run("an interruption of a run ends the build only where no other run waits for it [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const gate = yield* Deferred.make<void>()
    const agent = Agent.make("clerk", { model: logged(log, "model", () => Deferred.await(gate)) })
    const started = Effect.forkChild(run(agent, "go"), { startImmediately: true })
    const [first, second] = [yield* started, yield* started]
    yield* Fiber.interrupt(first)
    assert.deepStrictEqual(log, ["model 1 opens"])
    yield* Fiber.interrupt(second)
    assert.deepStrictEqual(log, ["model 1 opens", "model 1 closes"])
    const [third, fourth] = [yield* started, yield* started]
    yield* Fiber.interrupt(third)
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(fourth)
    yield* run(agent, "go")
    assert.deepStrictEqual(log.slice(2), ["model 2 opens", "model 2 asked", "model 2 asked"])
  })
)

it.run("a run that outlives its runtime keeps the model until its end [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const [gate, asked] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const wait = Tool.make("wait", {
      description: "Waits.",
      parameters: Schema.Struct({}),
      success: Schema.Void,
      run: () => Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(gate))
    })
    const script = yield* ScriptedModel.make(calls(call("wait", {})), text("done"))
    const model = Layer.effect(
      Model.Model,
      Effect.acquireRelease(Effect.map(Layer.build(script.layer), Context.get(Model.Model)), () =>
        Effect.sync(() => void log.push("model closes"))
      )
    )
    const agent = Agent.make("clerk", { model, tools: [wait] })
    const scope = yield* Effect.scope
    const fiber = yield* Effect.provide(
      Effect.tap(Effect.forkIn(run(agent, "go"), scope), () => Deferred.await(asked)),
      desk(log, "desk")
    )
    assert.deepStrictEqual(log, ["desk opens", "desk closes"])
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.deepStrictEqual(log.slice(2), ["model closes"])
  })
)

it.run("what a model captures when it is built is not the run in which that happens [P1504]", (run) =>
  Effect.gen(function* () {
    const seen: Array<string | undefined> = []
    const capturing = Effect.map(Effect.context<never>(), (captured) =>
      service(() =>
        Effect.provideContext(
          Effect.map(RunContext.Current, (current) => void seen.push(current?.runId)),
          captured
        )
      )
    )
    const log = eventLog()
    const agent = Agent.make("clerk", { model: Layer.effect(Model.Model, capturing) }).pipe(log.listen)
    yield* run(agent, "go")
    yield* run(agent, "go")
    const runs = log.all.flatMap((event) => (event.type === "run-start" ? [event.runId] : []))
    assert.strictEqual(runs.length, 2)
    assert.deepStrictEqual(seen, runs)
  })
)

it.run(
  "runs with different layers around them have different builds; a single service changes nothing [P1504]",
  (run) =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const names: Array<string> = []
      const model = logged(log, "model", () => Effect.map(Desk, ({ name }) => void names.push(name)))
      const ask = run(Agent.make("clerk", { model }), "go")
      yield* Effect.provide(ask, desk(log, "a"))
      yield* Effect.provide(ask, desk(log, "b"))
      assert.deepStrictEqual(names, ["a", "b"])
      assert.deepStrictEqual(log.slice(0, 5), [
        "a opens",
        "model 1 opens",
        "model 1 asked",
        "model 1 closes",
        "a closes"
      ])
      // as for any layer in one memo map, the first build counts
      yield* Effect.provideService(ask, Desk, { name: "c" })
      yield* Effect.provideService(ask, Desk, { name: "d" })
      assert.deepStrictEqual(names, ["a", "b", "c"])
    })
)

it.run("a build that cannot be interrupted is closed when it is done, if no run is left [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const gate = yield* Deferred.make<void>()
    const model = logged(log, "model", () => Deferred.await(gate))
    const agent = Agent.make("clerk", { model: Layer.effectContext(Effect.uninterruptible(Layer.build(model))) })
    const fiber = yield* Effect.forkChild(run(agent, "go"), { startImmediately: true })
    const interrupting = yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
    assert.deepStrictEqual(log, ["model 1 opens"])
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(interrupting)
    assert.deepStrictEqual(log, ["model 1 opens", "model 1 closes"])
  })
)
