/** What a durable run waits for, as `Durable.poll` lists it in any process. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Message, Recovery, type Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { calm, done } from "../_support/dialogue.ts"
import { paying } from "../_support/suspension.ts"
import { deferring } from "../core/tool/_support/deferring.ts"
import { process, watched } from "./_support/engines.ts"

const { call, calls, make, text } = ScriptedModel

const quiet = Effect.forEach(Array.from({ length: 60 }), () => calm, { discard: true })

const hour = 3_600_000

class Locked extends Schema.TaggedError<Locked>()("Locked", {}) {}

const lines = (waiting: ReadonlyArray<Snapshot.Waiting>): ReadonlyArray<string> =>
  waiting
    .map((one) =>
      one.type === "message"
        ? `message: ${Message.textOf(one.message)}`
        : `${one.type} of ${one.agent}: ${one.tool} ${one.callId} until ${one.expiresAt / hour} h`
    )
    .toSorted()

const three = [
  "approval of worker: pay c1 until 1 h",
  "ask of worker: open c2 until 2 h",
  "deferred of worker: order c3 until 5 h"
]

/** A run that waits for three things, by itself or in a sub-agent. */
const waiting = (isForgetful: boolean, kind: "plain" | "sub-agent", isUndecided = false) =>
  Effect.gen(function* () {
    const { tokenOf, tool: order } = deferring({ deadline: "5 hours" })
    const pay = paying({ validFor: "1 hour" })
    let runs = 0
    const unlock = Tool.make("open", {
      description: "Opens.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      failure: Locked,
      run: () => Effect.suspend(() => (++runs === 1 ? Effect.fail(new Locked()) : Effect.succeed("open")))
    }).pipe(Tool.onError({ Locked: Recovery.ladder(Recovery.ask({ validFor: "2 hours" }), Recovery.tell()) }))
    const late = order.pipe(Tool.onError({ ToolTimeoutError: Recovery.tell(), Declined: Recovery.tell() }))
    const worker = Agent.make("worker", { tools: [pay.tool, unlock, late], budget: { maxDuration: "9 days" } }).pipe(
      Agent.toolDefaults({ InvalidArgs: Recovery.tell() })
    )
    const boss = Agent.make("boss", {
      tools: [Agent.asTool(worker, { description: "Works.", sideEffects: "none" })],
      budget: { maxDuration: "9 days" }
    }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
    const reply = calls(call("pay", { cents: 5 }, "c1"), call("open", {}, "c2"), call("order", {}, "c3"))
    const model = yield* kind === "plain"
      ? make(reply, ...(isUndecided ? [] : [done]))
      : make(calls(call("worker", { input: "go" }, "p1")), reply, text("worker done"), done)
    const asked: Array<Durable.DurableRequest> = []
    const durable = Durable.workflow(
      (kind === "plain" ? worker : boss) as never,
      {
        name: "waits",
        input: Schema.String,
        output: Schema.String,
        error: Schema.Unknown,
        inbox: true,
        onApproval: (one: Durable.DurableRequest) => Effect.sync(() => void asked.push(one))
      } as never
    ) as unknown as Durable.Durable<string, typeof Schema.String, typeof Schema.String, unknown, never>
    const engine = yield* watched(isForgetful)
    const on = Effect.provideContext(yield* Layer.build(engine.layer))
    const serve = process(durable.layer.pipe(Layer.provide(model.layer), Layer.provide(engine.layer)))
    const stop = yield* serve
    const id = yield* Durable.start(durable, { id: "one", input: "go" }).pipe(on)
    yield* quiet
    const listed = Effect.map(Durable.poll(durable, id).pipe(on), (found) =>
      Option.isSome(found) && found.value._tag === "Suspended" ? found.value.waiting : undefined
    )
    const decide = (tool: string) =>
      Effect.gen(function* () {
        const one = asked.find(({ request }) => request.tool === tool) ?? assert.fail("no request came")
        yield* Durable.decide(durable, one, Approval.approve).pipe(on)
        yield* quiet
      })
    const inAnotherProcess = Effect.gen(function* () {
      yield* stop
      yield* engine.kill
      yield* serve
      yield* Durable.resume(durable, id).pipe(on)
      yield* quiet
    })
    const settle = Effect.andThen(Durable.settle(durable, late, tokenOf(), Exit.succeed({ at: 1 })).pipe(on), quiet)
    const said = Durable.say(durable, { executionId: id, id: "m1", message: "be quick" }).pipe(on)
    const say = Effect.andThen(said, quiet)
    const end = Durable.poll(durable, id).pipe(on)
    return { decide, end, inAnotherProcess, listed, say, settle, tokenOf }
  })

for (const isForgetful of [false, true])
  for (const kind of ["plain", "sub-agent"] as const) {
    const how = isForgetful ? "replayed after each step" : "in one process"
    it.effect(`a durable run lists what it waits for until that is over, ${kind}, ${how}`, () =>
      Effect.gen(function* () {
        const { decide, end, inAnotherProcess, listed, say, settle, tokenOf } = yield* waiting(isForgetful, kind)
        const before = (yield* listed) ?? []
        assert.deepStrictEqual(lines(before), three)
        assert.notInclude(JSON.stringify(before), tokenOf())
        yield* inAnotherProcess
        yield* say
        assert.deepStrictEqual(lines((yield* listed) ?? []), [...three, "message: be quick"].toSorted())
        yield* decide("pay")
        assert.deepStrictEqual(lines((yield* listed) ?? []), [...three.slice(1), "message: be quick"].toSorted())
        yield* settle
        assert.deepStrictEqual(lines((yield* listed) ?? []), [three[1] ?? "", "message: be quick"].toSorted())
        yield* decide("open")
        const over = Option.getOrUndefined(yield* end)
        assert.deepStrictEqual(over?._tag === "Complete" ? over.exit : over, Exit.succeed("done"))
      })
    )
  }

it.effect("a call whose deadline has passed is listed no longer", () =>
  Effect.gen(function* () {
    const { decide, listed } = yield* waiting(false, "plain", true)
    yield* TestClock.adjust("5 hours")
    yield* quiet
    // those are asked again when their decision comes
    assert.deepStrictEqual(lines((yield* listed) ?? []), three.slice(0, 2))
    yield* decide("pay")
    const renewed = "approval of worker: pay c1 until 6 h"
    assert.deepStrictEqual(lines((yield* listed) ?? []), [renewed, ...three.slice(1, 2)])
  })
)

it.effect("an approval that ends with the time of its call is listed no longer, and one of another call is", () =>
  Effect.gen(function* () {
    const pay = paying({ validFor: "3 days" })
    const model = yield* make(
      calls(call("inner", { input: "go" }, "p1")),
      calls(call("pay", { cents: 1 }, "c1")),
      calls(call("pay", { cents: 2 }, "c2"))
    )
    const inner = Agent.make("inner", { tools: [pay.tool], budget: { maxDuration: "1 hour" } })
    const agent = Agent.make("worker", {
      tools: [Agent.asTool(inner, { description: "Pays.", sideEffects: "none" }), pay.tool],
      budget: { maxDuration: "9 days" }
    }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
    const durable = Durable.workflow(agent, { name: "limits", input: Schema.String, output: Schema.String })
    const engine = yield* watched(false)
    const context = yield* Layer.build(Layer.provideMerge(durable.layer.pipe(Layer.provide(model.layer)), engine.layer))
    const within = Effect.provideContext(context)
    const id = yield* within(Durable.start(durable, { id: "one", input: "go" }))
    const listed = Effect.map(within(Durable.poll(durable, id)), (found) =>
      Option.isSome(found) && found.value._tag === "Suspended" ? lines(found.value.waiting) : []
    )
    yield* quiet
    assert.deepStrictEqual(yield* listed, ["approval of inner: pay c1 until 72 h"])
    yield* TestClock.adjust("1 hour")
    yield* quiet
    assert.deepStrictEqual(yield* listed, ["approval of worker: pay c2 until 73 h"])
  })
)
