/** What a durable run waits for, as `Durable.poll` lists it in any process. */
import { assert, it } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Deferred, Effect, Exit, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { paying } from "../_support/suspension.ts"
import { watched } from "./_support/engines.ts"
import { lines, quiet, three, waiting } from "./_support/waits.ts"

const { call, calls, make } = ScriptedModel

for (const isForgetful of [false, true])
  for (const kind of ["plain", "sub-agent"] as const) {
    const how = isForgetful ? "replayed after each step" : "in one process"
    // Finds out nothing of its own: its subject is what core waits for, in sub-agents and in another process too
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

// Finds out nothing of its own: its subject is how core waits beside a tool at work
it.effect("an approval is listed while another call of its reply is at work", () =>
  Effect.gen(function* () {
    const pay = paying({ validFor: "3 days" })
    const begun = yield* Deferred.make<void>()
    const goOn = yield* Deferred.make<void>()
    const look = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.as(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn)), "seen")
    })
    const model = yield* make(calls(call("look", {}, "c1"), call("pay", { cents: 1 }, "c2")))
    const agent = Agent.make("worker", { tools: [look, pay.tool], budget: { maxDuration: "9 days" } })
    const durable = Durable.workflow(agent, { name: "beside", input: Schema.String, output: Schema.String })
    const engine = yield* watched(false)
    const context = yield* Layer.build(Layer.provideMerge(durable.layer.pipe(Layer.provide(model.layer)), engine.layer))
    const within = Effect.provideContext(context)
    const id = yield* within(Durable.start(durable, { id: "one", input: "go" }))
    yield* Deferred.await(begun)
    yield* quiet
    const state = Effect.map(within(Durable.poll(durable, id)), (found) =>
      Option.isSome(found) && found.value._tag !== "Complete" ? [found.value._tag, lines(found.value.waiting)] : []
    )
    assert.deepStrictEqual(yield* state, ["Running", ["approval of worker: pay c2 until 72 h"]])
    yield* Deferred.succeed(goOn, undefined)
    yield* quiet
    assert.deepStrictEqual(yield* state, ["Suspended", ["approval of worker: pay c2 until 72 h"]])
  })
)
