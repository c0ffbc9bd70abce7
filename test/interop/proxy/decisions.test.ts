/** Decisions that count, beside some that do not. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import { Context, Effect, Layer, Schema } from "effect"

const { call, calls, make } = ScriptedModel

const contract = AgentProxy.make("desk")
const of = { subject: "ann", run: "one" }

/** A run that waits for approvals of calls with these arguments. Arguments that do not fit need others. */
const waitingFor = (...cents: ReadonlyArray<number | string>) =>
  Effect.gen(function* () {
    const paid: Array<number> = []
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Int }),
      success: Schema.String,
      sideEffects: "unsafe",
      run: ({ cents }) => Effect.sync(() => `paid ${paid.push(cents)}`)
    }).pipe(Tool.requireApproval({ reason: "it is money", validFor: "1 day" }))
    const asks = Recovery.ask({ reason: "other arguments", validFor: "1 day" })
    const desk = Agent.make("desk", { tools: [pay] }).pipe(
      Agent.toolDefaults({ InvalidArgs: asks, DeserializationError: asks })
    )
    const model = yield* make(calls(...cents.map((cents) => call("pay", { cents }))))
    const layer = AgentRuns.layerMemory(contract, desk).pipe(
      Layer.provide([model.layer, AgentRuns.layerSuspendedMemory()])
    )
    const runs = Context.get(yield* Layer.build(layer), contract.runs)
    yield* runs.start({ ...of, input: "Pay." })
    const ending = yield* runs.end(of)
    const waiting = ending._tag === "Waiting" ? ending.waiting : []
    const decisions = waiting.flatMap((one) =>
      one.type === "approval" || one.type === "ask" ? [{ digest: one.request.digest, decision: Approval.approve }] : []
    )
    assert.strictEqual(decisions.length, cents.length)
    return { refused: Effect.flip(runs.decide({ ...of, decisions })), paid }
  })

it.effect(
  "a decision that does not fit is 422 alone, and a conflict with receipts beside one that counts [P1533]",
  () =>
    Effect.gen(function* () {
      const alone = yield* waitingFor("many")
      assert.deepInclude({ ...(yield* alone.refused) }, { status: 422 })
      assert.deepStrictEqual(alone.paid, [])
      const both = yield* waitingFor(500, "many")
      const conflict = yield* both.refused
      assert(conflict._tag === "RunConflictError", conflict._tag)
      assert.deepStrictEqual(
        conflict.receipts?.map(({ _tag }) => _tag),
        ["Counted", "NotCounted"]
      )
      assert.strictEqual(conflict.waiting?.length, 1)
      assert.deepStrictEqual(both.paid, [500])
    })
)
