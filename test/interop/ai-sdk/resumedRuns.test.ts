/** UI messages of runs that wait for a person: each part of the run is a stream of its own, and all are one message. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { Effect, Schema, Stream } from "effect"

const { call, calls, make, text } = ScriptedModel

const find = Tool.make("find", {
  description: "Finds a lamp.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("a lamp")
})

const pay = Tool.make("pay", {
  description: "Pays.",
  parameters: Schema.Struct({ cents: Schema.Int }),
  success: Schema.String,
  run: ({ cents }) => Effect.succeed(`paid ${cents}`)
}).pipe(Tool.requireApproval())

const clerk = Agent.make("clerk", { tools: [find, pay] })

/** The chunks before and after the decision about a call, whose id an earlier turn had too. */
const chunksOf = (decision: Approval.Decision, ...rest: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
  Effect.gen(function* () {
    const paying = calls(call("pay", { cents: 500 }, "c1"))
    const { layer } = yield* make(calls(call("find", {}, "c1")), paying, ...rest)
    const run = yield* Effect.provide(clerk.start("go"), layer)
    const outcome = yield* run.outcome
    assert(outcome._tag === "Suspended")
    const from = outcome.snapshot
    const decisions = Snapshot.requestsOf(from).map(({ digest }) => ({ digest, decision }))
    const resumed = yield* Effect.provide(Agent.resume(clerk).start({ from, decisions }), layer)
    yield* resumed.outcome
    const [before, after] = [yield* Stream.runCollect(run.events), yield* Stream.runCollect(resumed.events)]
    return [UiMessageStream.fromEvents(before), UiMessageStream.fromEvents(after)] as const
  })

const ofCalls = (chunks: ReadonlyArray<UiMessageStream.Chunk>) =>
  chunks.flatMap((chunk) => ("toolCallId" in chunk ? [[chunk.type, chunk.toolCallId]] : []))

it.effect(
  "an approved call keeps the id under which it was shown, and shows the arguments with which it runs [P902]",
  () =>
    Effect.gen(function* () {
      const finding = calls(call("find", {}, "c1"))
      const [before, after] = yield* chunksOf(Approval.approveWith({ cents: 300 }), finding, text("done"))
      assert.deepStrictEqual(ofCalls(before), [
        ["tool-input-available", "c1"],
        ["tool-output-available", "c1"],
        ["tool-input-available", "c1#2"],
        ["tool-approval-request", "c1#2"]
      ])
      assert.deepStrictEqual(ofCalls(after).slice(-2), [
        ["tool-input-available", "c1#3"],
        ["tool-output-available", "c1#3"]
      ])
      const shown = after.slice(after.findIndex(({ type }) => type === "tool-approval-request") + 1)
      const { approvalId } = shown[1] as { readonly approvalId: string }
      const toolCallId = "c1#2"
      assert.deepStrictEqual<unknown>(shown.slice(0, 3), [
        { type: "tool-input-available", toolCallId, toolName: "pay", input: { cents: 300 }, dynamic: true },
        { type: "tool-approval-response", approvalId, approved: true },
        { type: "tool-output-available", toolCallId, output: "paid 300", dynamic: true }
      ])
    })
)
