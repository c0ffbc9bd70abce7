/** A durable run is stopped from any process: it ends where it is at work, and its log has its end. */
import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Cause, type Context, Deferred, Effect, Exit, Fiber, Layer, Option, Schema, type Scope, Stream } from "effect"
import type * as WorkflowEngine from "effect/workflow/WorkflowEngine"
import { describe } from "vitest"
import { deferring } from "../core/tool/_support/deferring.ts"
import { cluster } from "./_support/cluster.ts"
import { held, options, passing, reading, shown, wordsOf, writer } from "./_support/logs.ts"

interface Served {
  readonly layer: Layer.Layer<never, never, WorkflowEngine.WorkflowEngine>
}

/** Where the run is served: by one of two runners, and the second one asks for it, or in memory. */
const engines = {
  "on a cluster": ({ layer }: Served) =>
    Effect.gen(function* () {
      const join = yield* cluster
      yield* join(layer)
      return (yield* join(layer)).context
    }),
  "in memory": ({ layer }: Served) => Layer.build(Layer.provideMerge(layer, Durable.layerMemory))
} as const

const { call, calls } = ScriptedModel

const about = { description: "x", parameters: Schema.Struct({}), success: Schema.String }

/** Starts the run, and has what follows seen by a listener and a reader. */
const started = <E>(
  serve: (served: Served) => Effect.Effect<Context.Context<WorkflowEngine.WorkflowEngine>, unknown, Scope.Scope>,
  durable: Durable.Durable<string, typeof Schema.String, typeof Schema.String, E, never>
) =>
  Effect.gen(function* () {
    const within = Effect.provideContext(yield* serve(durable))
    yield* passing(4)
    const id: string = yield* within(Durable.start(durable, { id: "one", input: "go" }))
    yield* passing(8)
    // a cluster may have to look at its storage again, for which time has to pass
    const timed = <A, E>(self: Effect.Effect<A, E, WorkflowEngine.WorkflowEngine>) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(within(self))
        yield* passing(40)
        return yield* Fiber.join(fiber)
      })
    const all = timed(Stream.runCollect(Durable.events(durable, id)))
    const end = Effect.map(within(Durable.poll(durable, id)), (found) => {
      const one = Option.getOrUndefined(found)
      if (one?._tag !== "Complete") return one?._tag
      return Exit.isFailure(one.exit) && Cause.hasInterruptsOnly(one.exit.cause) ? "interrupted" : "ended"
    })
    return { all, end, id, within, interrupt: timed(Durable.interrupt(durable, id)) }
  })

describe.each(Object.entries(engines))("%s", (_, serve) => {
  // Finds out nothing of its own: its subject is how core and the runners of Effect end a run at work
  it.effect("a stop reaches the words of a model while they are written [P1544]", () =>
    Effect.gen(function* () {
      const model = held(["fir"], "st")
      const heard: Array<AgentEvent.AgentEvent> = []
      const agent = writer(model.layer).pipe(Agent.onEvent((event) => Effect.sync(() => void heard.push(event))))
      const durable = Durable.workflow(agent, { name: "writer", ...options })
      const { all, end, id, interrupt, within } = yield* started(serve, durable)
      const { events, exit } = yield* within(reading(Durable.events(durable, id)))
      yield* passing(4)
      yield* interrupt
      yield* passing(20)
      const expected = [
        "run-start",
        "turn-start",
        "model-start",
        "text-delta fir",
        "model-interrupted",
        "turn-end",
        "run-interrupted"
      ]
      assert.deepStrictEqual(shown(events), expected)
      assert.deepStrictEqual(shown(heard), expected)
      assert.isTrue(Exit.isSuccess(yield* exit))
      assert.strictEqual(yield* end, "interrupted")
      yield* model.end
      // once more, and after the end
      yield* interrupt
      yield* passing(20)
      assert.deepStrictEqual(yield* all, events)
      assert.strictEqual(model.asked(), 1)
    })
  )

  // Finds out nothing of its own: its subject is how core and the runners of Effect end a run at work
  it.effect("a stop interrupts a tool and its sub-agent, and no step comes after [P1544]", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const look = Tool.make("look", {
        ...about,
        run: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void log.push("interrupted")))
      })
      const inner = yield* ScriptedModel.make(calls(call("look", {})))
      const outer = yield* ScriptedModel.make(calls(call("ask", { input: "why?" })))
      const expert = Agent.make("expert", { model: inner.layer, tools: [look] })
      const agent = Agent.make("outer", {
        model: outer.layer,
        tools: [Agent.asTool(expert, { name: "ask", description: "Asks." })]
      })
      const durable = Durable.workflow(agent, { name: "outer", ...options })
      const { all, end, interrupt } = yield* started(serve, durable)
      yield* interrupt
      yield* passing(20)
      assert.deepStrictEqual(log, ["interrupted"])
      assert.strictEqual(yield* end, "interrupted")
      const events = yield* all
      const ends = events.filter(({ type }) => type === "run-interrupted")
      assert.deepStrictEqual(
        ends.map(({ agent }) => agent),
        ["expert", "outer"]
      )
      assert.strictEqual(events.at(-1), ends[1])
      assert.strictEqual(inner.requests.length + outer.requests.length, 2)
    })
  )

  // Finds out nothing of its own: its subject is how core and the runners of Effect end a run at work
  it.effect(
    "a run without a log is stopped too: its listener hears it once, and its tool does not run again [P1544]",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const model = yield* ScriptedModel.make(calls(call("look", {})))
        const look = Tool.make("look", {
          ...about,
          run: () =>
            Effect.andThen(
              Effect.sync(() => void log.push("run")),
              Effect.never
            )
        })
        const heard: Array<AgentEvent.AgentEvent> = []
        const agent = Agent.make("a", { model: model.layer, tools: [look] }).pipe(
          Agent.onEvent((event) => Effect.sync(() => void heard.push(event)))
        )
        const durable = Durable.workflow(agent, { name: "a", ...options, events: false })
        const { end, interrupt } = yield* started(serve, durable)
        yield* interrupt
        yield* passing(20)
        assert.strictEqual(yield* end, "interrupted")
        assert.deepStrictEqual(log, ["run"])
        assert.lengthOf(
          heard.filter(({ type }) => type === "run-interrupted"),
          1
        )
        assert.strictEqual(model.requests.length, 1)
      })
  )

  // Finds out nothing of its own: its subject is how the runners of Effect end a run that is suspended
  it.effect("a run that waits for a person ends, and a decision after that does not count [P1544]", () =>
    Effect.gen(function* () {
      const asked: Array<Durable.DurableRequest> = []
      const model = yield* ScriptedModel.make(calls(call("sign", {})))
      const sign = Tool.make("sign", { ...about, run: () => Effect.succeed("signed") }).pipe(Tool.requireApproval())
      const agent = Agent.make("a", { model: model.layer, tools: [sign], budget: { maxDuration: "9 days" } })
      const durable = Durable.workflow(agent, {
        name: "a",
        ...options,
        onApproval: (one) => Effect.sync(() => void asked.push(one))
      })
      const { all, end, interrupt, within } = yield* started(serve, durable)
      assert.strictEqual(yield* end, "Suspended")
      yield* interrupt
      yield* passing(20)
      assert.strictEqual(yield* end, "interrupted")
      assert.strictEqual(shown(yield* all).at(-1), "run-interrupted")
      const [request] = asked
      assert(request !== undefined)
      const receipt = yield* within(Durable.decide(durable, request, { type: "approve" }))
      assert.strictEqual(receipt._tag, "NotCounted")
    })
  )

  it.effect("the work of a deferred tool is cancelled once, and no settlement counts after that [P1526 P1544]", () =>
    Effect.gen(function* () {
      const { begun, cancelled, tokenOf, tool } = deferring({ deadline: "10 days" })
      const model = yield* ScriptedModel.make(calls(call(tool.name, {})))
      const agent = Agent.make("a", { model: model.layer, tools: [tool], budget: { maxDuration: "20 days" } }).pipe(
        Agent.toolDefaults({ orElse: Recovery.tell() })
      )
      const durable = Durable.workflow(agent, { name: "a", ...options })
      const { all, end, interrupt, within } = yield* started(serve, durable)
      assert.strictEqual(begun.length, 1)
      yield* interrupt
      yield* passing(20)
      assert.strictEqual(yield* end, "interrupted")
      assert.deepStrictEqual(cancelled, [1])
      assert.strictEqual(shown(yield* all).at(-1), "run-interrupted")
      const receipt = yield* within(Durable.settle(durable, tool, tokenOf(), Exit.succeed({ at: 1 })))
      assert.deepStrictEqual(receipt, { _tag: "NotCounted", reason: "run-over" })
    })
  )

  it.effect("messages that no safe point has read are returned, and none is accepted after a stop [P1544]", () =>
    Effect.gen(function* () {
      const model = held(["fir"], "st")
      const durable = Durable.workflow(writer(model.layer), { name: "writer", ...options, inbox: true })
      const { all, end, id, interrupt, within } = yield* started(serve, durable)
      const say = (name: string) =>
        within(Durable.say(durable, { executionId: id, id: name, message: `say ${name}` })).pipe(Effect.exit)
      assert.isTrue(Exit.isSuccess(yield* say("m1")))
      yield* interrupt
      assert.include(JSON.stringify(yield* say("m2")), "RunOverError")
      yield* passing(20)
      assert.strictEqual(yield* end, "interrupted")
      const events = yield* all
      assert.deepStrictEqual(shown(events).slice(-2), ["message-returned", "run-interrupted"])
      const last = events.at(-1)
      assert.deepStrictEqual(last?.type === "run-interrupted" && last.unread?.map(({ id }) => id), ["m1"])
      const unread = yield* within(Durable.unread(durable, id))
      assert.deepStrictEqual(
        unread.map(({ id }) => id),
        ["m1"]
      )
    })
  )

  // Finds out nothing of its own: its subject is how the runners of Effect interrupt a workflow
  it.effect.each(["at work", "asleep"])(
    "a run that is %s when the workflow is interrupted has its end in the log [P1136 P1544]",
    (how) =>
      Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        const model = yield* ScriptedModel.make(calls(call("look", {})))
        const plain = Tool.make("look", { ...about, run: () => Effect.as(Deferred.await(gate), "seen") })
        const look = how === "asleep" ? plain.pipe(Tool.requireApproval()) : plain
        const agent = Agent.make("a", { model: model.layer, tools: [look], budget: { maxDuration: "9 days" } })
        const durable = Durable.workflow(agent, { name: "a", ...options })
        const { all, end, id, within } = yield* started(serve, durable)
        yield* Effect.forkChild(within(durable.workflow.interrupt(id)))
        yield* passing(4)
        yield* Deferred.succeed(gate, undefined)
        yield* passing(20)
        assert.strictEqual(yield* end, "interrupted")
        assert.strictEqual(shown(yield* all).at(-1), "run-interrupted")
        assert.strictEqual(model.requests.length, 1)
      })
  )
})

// Finds out nothing of its own: its subject is a stop while the runners of Effect take a run from each other
it.effect.each([0, 1])("a stop holds although its run moves to another runner meanwhile, %s [P1543 P1544]", (steps) =>
  Effect.gen(function* () {
    const model = held(["fir"], "st")
    const durable = Durable.workflow(writer(model.layer), { name: "writer", ...options })
    const join = yield* cluster
    const first = yield* join(durable.layer)
    yield* passing(4)
    const id = yield* Effect.provideContext(Durable.start(durable, { id: "one", input: "go" }), first.context)
    yield* passing(4)
    const second = yield* join(durable.layer)
    yield* Effect.forkChild(first.stop)
    yield* passing(steps)
    yield* Effect.forkChild(Effect.provideContext(Durable.interrupt(durable, id), second.context))
    yield* passing(80)
    const { events } = yield* Effect.provideContext(reading(Durable.events(durable, id)), second.context)
    yield* passing(40)
    assert.strictEqual(wordsOf(events), model.asked() === 1 ? "fir" : "")
    assert.deepStrictEqual(
      shown(events).filter((type) => type.startsWith("run-")),
      ["run-start", "run-interrupted"]
    )
    assert.strictEqual(events.at(-1)?.type, "run-interrupted")
    const end = yield* Effect.provideContext(Durable.poll(durable, id), second.context)
    assert.strictEqual(Option.getOrUndefined(end)?._tag, "Complete")
  })
)
