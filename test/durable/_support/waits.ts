/** A durable run that waits for a decision, for a person who is asked about a failed call, and for a deferred call. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Message, Recovery, type Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Layer, Option, Schema } from "effect"
import { calm, done } from "../../_support/dialogue.ts"
import { paying } from "../../_support/suspension.ts"
import { deferring } from "../../core/tool/_support/deferring.ts"
import { process, watched } from "./engines.ts"

const { call, calls, make, text } = ScriptedModel

export const quiet = Effect.forEach(Array.from({ length: 60 }), () => calm, { discard: true })

const hour = 3_600_000

class Locked extends Schema.TaggedError<Locked>()("Locked", {}) {}

export const lines = (waiting: ReadonlyArray<Snapshot.Waiting>): ReadonlyArray<string> =>
  waiting
    .map((one) =>
      one.type === "message"
        ? `message: ${Message.textOf(one.message)}`
        : `${one.type} of ${one.agent}: ${one.tool} ${one.callId} until ${one.expiresAt / hour} h`
    )
    .toSorted()

export const three = [
  "approval of worker: pay c1 until 1 h",
  "ask of worker: open c2 until 2 h",
  "deferred of worker: order c3 until 5 h"
]

/** A run that waits for three things, by itself or in a sub-agent. */
export const waiting = (isForgetful: boolean, kind: "plain" | "sub-agent", isUndecided = false) =>
  Effect.gen(function* () {
    const { cancelled, tokenOf, tool: order } = deferring({ deadline: "5 hours" })
    const pay = paying({ validFor: "1 hour" })
    let runs = 0
    const unlock = Tool.make("open", {
      description: "Opens.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      failure: Locked,
      sideEffects: "unsafe",
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
    const endsDeferred = Effect.suspend(() =>
      Durable.settle(durable, late, tokenOf(), Exit.succeed({ at: 1 })).pipe(on)
    )
    const settle = Effect.andThen(endsDeferred, quiet)
    const saying = (message: string, options: { readonly to?: string; readonly supersede?: boolean } = {}) =>
      Durable.say(durable, { executionId: id, id: message, message, ...options }).pipe(on)
    const say = Effect.andThen(saying("be quick"), quiet)
    const receiptOf = (tool: string) => {
      const one = asked.find(({ request }) => request.tool === tool) ?? assert.fail("no request came")
      return Durable.decide(durable, one, Approval.approve).pipe(on)
    }
    const end = Durable.poll(durable, id).pipe(on)
    const counts = { runs: () => runs, paid: pay.runs, cancelled }
    return {
      asked,
      counts,
      decide,
      end,
      inAnotherProcess,
      listed,
      model,
      receiptOf,
      say,
      saying,
      settle,
      endsDeferred,
      tokenOf
    }
  })
