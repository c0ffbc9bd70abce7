/**
 * Large payments need the approval of a person. A clerk at a desk decides while the run waits; without a clerk, the run is
 * stored as JSON and goes on after a decision, perhaps in another process.
 */
import { Agent, Approval, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { Context, Effect, Schema } from "effect"

export class Bank extends Context.Service<
  Bank,
  { readonly transfer: (to: string, cents: number) => Effect.Effect<string> }
>()("examples/TransferBank") {}

export const transfer = Tool.make("transfer", {
  description: "Transfers money.",
  parameters: Schema.Struct({ to: Schema.String, cents: Schema.Int }),
  success: Schema.String,
  sideEffects: "unsafe",
  run: ({ cents, to }) => Bank.use((bank) => bank.transfer(to, cents))
}).pipe(
  Tool.requireApproval({ when: ({ cents }) => cents > 10_000, reason: "more than 100 euros", validFor: "1 day" }),
  Tool.onError({ InvalidArgs: Recovery.escalate() })
)

export const clerk = Agent.make("clerk", {
  prompt: "Pay the bills that you are given.",
  tools: [transfer]
})

/** An agent whose tools need approval does not run without an `Approver`. */
export const program = clerk("Pay the rent, 800 euros.")
//           ^? Effect<string, LlmError | BudgetExceededError, Model | Bank | Approver>

/** The clerk at the desk answers: on a console, in a chat, on a web page. */
export const desk = (ask: (prompt: string) => Effect.Effect<boolean>) =>
  Approval.layer(({ arguments: args, reason, tool }) =>
    Effect.map(ask(`${tool} ${JSON.stringify(args)}: ${reason}?`), (isAllowed) =>
      isAllowed ? Approval.approve : Approval.refuse("The owner says no.")
    )
  )

/** The answer of a run, or a document that waits for a decision. */
const ending = <E, R>(starting: Effect.Effect<Agent.Run<string, E>, never, R>) =>
  Effect.gen(function* () {
    const run = yield* starting
    const outcome = yield* run.outcome
    return outcome._tag === "Suspended" ? { waiting: Snapshot.toJson(outcome.snapshot) } : { answer: outcome.output }
  }).pipe(Effect.scoped)

/** Without a clerk at the desk: the run does not wait. */
export const begin = (input: string) => ending(clerk.start(input))

/** Resumes it later. Without a decision, or with one that is too late, the run requests approval once more. */
export const goOn = (waiting: unknown, decision: Approval.Decision) =>
  Effect.gen(function* () {
    const from = yield* Snapshot.fromJson(waiting)
    const decisions = Snapshot.requestsOf(from).map(({ digest }) => ({ digest, decision }))
    return yield* ending(Agent.resume(clerk).start({ from, decisions }))
  })
