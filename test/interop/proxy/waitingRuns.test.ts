/** Runs that wait: their events over a decision, what settles their calls, and the comments for their readers. */
import { assert, it } from "@effect/vitest"
import { Approval } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Context, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Conversations } from "@kintsugi/durable"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import * as DurableRuns from "@kintsugi/interop/DurableRuns"
import { agent, clientsOf, contract, kinds, listening, ways } from "./_support/served.ts"

const { call, calls, make, text } = ScriptedModel

const paying = calls(call("pay", { cents: 500 }))

it.effect("a reader in memory goes on at its cursor after each decision [P1851]", () =>
  Effect.gen(function* () {
    const { desk, paid } = yield* agent
    const model = yield* make(paying, calls(call("pay", { cents: 7 })), text("Paid."))
    const ann = yield* (yield* ways["HttpApi in memory"](kinds.memory.runsOf({ desk, model: model.layer })))("ann")
    const approve = (ending: Effect.Success<ReturnType<typeof ann.ask>>) => {
      const [one] = ending._tag === "Waiting" ? ending.waiting : []
      const digest = one?.type === "approval" ? one.request.digest : ""
      return ann.decide("one", [{ digest, decision: Approval.approve }])
    }
    const asked = { input: "Pay.", run: "one" }
    const first = yield* Stream.runCollect(ann.stream(asked))
    const second = yield* approve(yield* ann.ask(asked))
    const rest = yield* Stream.runCollect(ann.events("one", first.at(-1)?.cursor))
    assert.deepStrictEqual([rest[0]?.type, rest.at(-1)?.type], ["run-start", "run-suspended"])
    yield* approve(second)
    const all = yield* Stream.runCollect(ann.events("one"))
    assert.deepStrictEqual(
      all.filter(({ type }) => type === "run-suspended" || type === "run-completed").map(({ type }) => type),
      ["run-suspended", "run-suspended", "run-completed"]
    )
    assert.deepStrictEqual(all.slice(0, first.length + rest.length), [...first, ...rest])
    for (const at of [2, first.length + 1]) {
      assert.deepStrictEqual(yield* Stream.runCollect(ann.events("one", all[at]?.cursor)), all.slice(at + 1))
    }
    assert.deepStrictEqual(paid, [500, 7])
  })
)

for (const [name, kind] of Object.entries(kinds)) {
  it.effect(`${name}: the server settles a deferred call once, by its token`, () =>
    Effect.gen(function* () {
      const { desk, order, tokens } = yield* agent
      const model = yield* make(calls(call("order", {})), text("It comes."))
      yield* kind.begin
      const context = yield* Layer.build(kind.runsOf({ desk, model: model.layer }))
      const runs = Context.get(context, contract.runs)
      const of = { subject: "ann", run: "one" }
      yield* runs.start({ ...of, input: "Order." })
      assert.strictEqual((yield* runs.end(of))._tag, "Waiting")
      const settle = (token: string, value: unknown) =>
        runs.settle({ ...of, tool: order, token, exit: Exit.succeed(value) })
      assert.deepStrictEqual(yield* settle("no token", "ordered"), { _tag: "NotCounted", reason: "unknown-token" })
      const [token = ""] = tokens
      assert.deepStrictEqual({ ...(yield* settle(token, "ordered")) }, { _tag: "Counted" })
      assert.deepInclude({ ...(yield* runs.end(of)) }, { _tag: "Answered", output: "It comes." })
      assert.include(JSON.stringify(model.requests[1]?.messages), "ordered")
      assert.deepStrictEqual(yield* settle(token, "twice"), { _tag: "NotCounted", reason: "run-over" })
    })
  )
}

it.effect("the token of another run settles nothing of a durable run, and nothing of its own", () =>
  Effect.gen(function* () {
    const { desk, order, tokens } = yield* agent
    const model = yield* make(calls(call("order", {})), calls(call("order", {})), text("It comes."))
    yield* kinds.durable.begin
    const context = yield* Layer.build(kinds.durable.runsOf({ desk, model: model.layer }))
    const runs = Context.get(context, contract.runs)
    const ann = { subject: "ann", run: "one" }
    const bob = { subject: "bob", run: "one" }
    for (const of of [ann, bob]) {
      yield* runs.start({ ...of, input: "Order." })
      assert.strictEqual((yield* runs.end(of))._tag, "Waiting")
    }
    const [ofAnn = ""] = tokens
    const settle = (of: typeof ann) => runs.settle({ ...of, tool: order, token: ofAnn, exit: Exit.succeed("ordered") })
    const unknown = { _tag: "NotCounted", reason: "unknown-token" } as const
    for (const of of [bob, { ...ann, run: "two" }]) assert.deepStrictEqual({ ...(yield* settle(of)) }, unknown)
    assert.strictEqual((yield* runs.end(ann))._tag, "Waiting")
    assert.deepStrictEqual({ ...(yield* settle(ann)) }, { _tag: "Counted" })
    assert.strictEqual((yield* runs.end(ann))._tag, "Answered")
    assert.strictEqual((yield* runs.end(bob))._tag, "Waiting")
  })
)

it.effect("a subject of any length and any characters has runs that wait in Conversations", () =>
  Effect.gen(function* () {
    const context = yield* Layer.build(Layer.provide(DurableRuns.layerSuspended, Conversations.layerMemory()))
    const store = Context.get(context, AgentRuns.SuspendedRuns)
    const long = "a".repeat(1000)
    for (const subject of ["ann", "eu/ann", long, `${long}b`, "\u0085", "\ud800", "ä".repeat(250)]) {
      const key = { agent: "desk", subject, run: "one" }
      const run = { asked: subject, snapshot: {}, repeat: false }
      yield* store.put(key, { ...run, repeat: true })
      yield* store.put(key, run)
      assert.deepStrictEqual(yield* store.get(key), run)
      assert.isUndefined(yield* store.get({ ...key, agent: "other" }))
      assert.deepStrictEqual(yield* store.list(key), [{ ...run, run: "one" }])
      yield* store.put({ ...key, run: "two" }, run)
      yield* store.remove(key)
      assert.isUndefined(yield* store.get(key))
    }
    assert.deepStrictEqual(
      (yield* store.list({ agent: "desk", subject: long })).map(({ run }) => run),
      ["two"]
    )
    // a subject with a slash is no other agent
    assert.isUndefined(yield* store.get({ agent: "desk/eu", subject: "ann", run: "two" }))
  })
)

it.effect("a stream has a comment every 15 seconds, and its client none", () =>
  Effect.gen(function* () {
    const { desk, release } = yield* agent
    const model = yield* make(calls(call("wait", {})), text("Done."))
    const url = yield* listening(kinds.memory.runsOf({ desk, model: model.layer }))
    const ann = yield* clientsOf(url).http("ann")
    const started = Stream.takeUntil(ann.stream({ input: "Wait.", run: "one" }), ({ type }) => type === "tool-start")
    const before = yield* Stream.runCollect(started)
    const comments = yield* Effect.forkChild(
      Effect.promise(async (signal) => {
        const headers = { authorization: "Bearer ann" }
        const { body } = await fetch(`${url}/desk/one/events?after=${before.at(-1)?.cursor}`, { headers, signal })
        for await (const bytes of body ?? []) return new TextDecoder().decode(bytes)
        return ""
      })
    )
    while (comments.pollUnsafe() === undefined) yield* TestClock.adjust("15 seconds")
    assert.match(yield* Fiber.join(comments), /^(: at work\n\n)+$/)
    yield* release
    const events = yield* Stream.runCollect(ann.events("one"))
    assert.strictEqual(events.at(-1)?.type, "run-completed")
  })
)
