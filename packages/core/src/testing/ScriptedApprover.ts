/**
 * An approver that decides by a script: each request for approval takes the next decision. A request beyond the script is a defect.
 * Decisions left over fail the test when its scope closes.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Approval from "../data/Approval.ts"

/** A decision that is made at once, or an effect that decides later or never. */
type Step = Approval.Decision | Effect.Effect<Approval.Decision>

/** An approver that decides by a script, and remembers the requests. */
interface ScriptedApprover {
  readonly layer: Layer.Layer<Approval.Approver>
  /** Every request so far. */
  readonly requests: ReadonlyArray<Approval.ApprovalRequest>
}

/** Decides after a delay on Effect's `Clock`. `"never"` leaves the request open. */
export const after = (delay: Duration.Input | "never", decision: Approval.Decision): Effect.Effect<Approval.Decision> =>
  delay === "never" ? Effect.never : Effect.as(Effect.sleep(delay), decision)

/**
 * Makes an approver that plays these decisions in order. Each request takes one decision, and the approver remembers the requests. A
 * request beyond the script is a defect that names the tool. When the scope closes after a success, a decision that no request took is a
 * defect too.
 *
 * @example
 * ```ts
 * import { Agent, Approval, Tool } from "@kintsugi/core"
 * import { ScriptedApprover, ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect, Fiber, Schema } from "effect"
 * import { TestClock } from "effect/testing"
 *
 * const pay = Tool.make("pay", {
 *   description: "Pays.",
 *   parameters: Schema.Struct({ cents: Schema.Int }),
 *   success: Schema.String,
 *   run: ({ cents }) => Effect.succeed(`paid ${cents}`)
 * }).pipe(Tool.requireApproval())
 *
 * const program = Effect.gen(function* () {
 *   const { call, calls, make, text } = ScriptedModel
 *   const model = yield* make(calls(call("pay", { cents: 5 })), text("Paid."))
 *   const approver = yield* ScriptedApprover.make(ScriptedApprover.after("2 hours", Approval.approve))
 *   const clerk = Agent.make("clerk", { tools: [pay], budget: { maxDuration: "1 day" } })
 *   const paying = clerk("Pay.").pipe(Effect.provide([model.layer, approver.layer]))
 *   const run = yield* Effect.forkChild(paying)
 *   yield* TestClock.adjust("2 hours")
 *   return yield* Fiber.join(run)
 * })
 * Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(TestClock.layer()))) // => "Paid."
 * ```
 */
export const make = (...steps: ReadonlyArray<Step>): Effect.Effect<ScriptedApprover, never, Scope.Scope> =>
  Effect.gen(function* () {
    const requests: Array<Approval.ApprovalRequest> = []
    yield* Effect.addFinalizer((exit) =>
      Exit.isSuccess(exit) && requests.length < steps.length
        ? Effect.die(new Error(`ScriptedApprover: only ${requests.length} of ${steps.length} decisions were asked for`))
        : Effect.void
    )
    const layer = Approval.layer((request) =>
      Effect.suspend(() => {
        const step = steps[requests.push(request) - 1]
        if (step === undefined) {
          const asked = `request ${requests.length}, about tool '${request.tool}',`
          return Effect.die(new Error(`ScriptedApprover: ${asked} is not in the script of ${steps.length} decisions`))
        }
        return Effect.isEffect(step) ? step : Effect.succeed(step)
      })
    )
    return { layer, requests }
  })
