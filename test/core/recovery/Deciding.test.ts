/** How a person is asked for a decision: with one from before, without an `Approver`, and with one that decides nothing. */
import { assert, it } from "@effect/vitest"
import { Approval } from "@kintsugi/core"
import { Cause, Effect, Exit } from "effect"
import * as Deciding from "../../../packages/core/src/recovery/Deciding.ts"

const request = new Approval.ApprovalRequest({
  runId: "r1",
  agent: "clerk",
  tool: "pay",
  callId: "c1",
  key: "k1",
  arguments: {},
  reason: "",
  schema: "s1",
  digest: "d1",
  requestedAt: 0,
  expiresAt: 1000
})

/** What comes of a request, with its events and what was noted of it. */
const decided = (given: {
  readonly before?: Approval.Decision
  readonly isOver?: boolean
  readonly approver?: unknown
}) =>
  Effect.gen(function* () {
    const { approver, before, isOver = false } = given
    const seen: Array<string> = []
    const site = {
      run: { agent: "clerk" },
      isSuspendable: false,
      decisions: {
        about: () => before,
        note: (digest: string, fate: string) => void seen.push(`${digest} ${fate}`)
      }
    }
    const asks: Deciding.Asks = {
      emit: (event) => Effect.sync(() => void seen.push(event().type)),
      untilWithdrawn: (self) => self,
      step: (_, self) => self(),
      isWithdrawn: () => isOver,
      withdraw: (digest) => void seen.push(`withdrawn ${digest}`)
    }
    const waited = Deciding.decided(request, "ask-again", site, asks)
    const decide = { decide: () => approver as never }
    const exit = yield* Effect.exit(
      approver === undefined ? waited : Effect.provideService(waited, Approval.Approver, decide)
    )
    return [Exit.isSuccess(exit) ? exit.value : String(Cause.squash(exit.cause)), ...seen]
  })

it.effect("a run that takes no more decisions still takes the one that was made before [P1533]", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* decided({ isOver: true }), [undefined])
    const counted = [Approval.approve, "approval-requested", "d1 counted", "approval-decided"]
    assert.deepStrictEqual(yield* decided({ before: Approval.approve }), counted)
    assert.deepStrictEqual(yield* decided({ before: Approval.approve, isOver: true }), counted)
  })
)

it.effect(
  "without an Approver, and with one that decides nothing, a defect says so, and the request is withdrawn [P1533]",
  () =>
    Effect.gen(function* () {
      const died = (says: string) => [`TypeError: ${says}`, "approval-requested", "withdrawn d1"]
      const none = "Agent 'clerk' has a tool that needs an Approver, and there is none"
      assert.deepStrictEqual(yield* decided({}), died(none))
      const wrong = (is: string, wanted: string) => `The decide of the Approver returned ${is}, not ${wanted}`
      assert.deepStrictEqual(yield* decided({ approver: 5 }), died(wrong("a number", "an Effect")))
      const odd = wrong("an object", "a decision or an Effect of that")
      assert.deepStrictEqual(yield* decided({ approver: Effect.succeed({}) }), died(odd))
      const { approve } = Approval
      assert.deepStrictEqual((yield* decided({ approver: Effect.succeed(approve) }))[0], approve)
    })
)
