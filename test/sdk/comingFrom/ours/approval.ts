import { Agent, Approval, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"

export const paid: Array<string> = []

const pay = Tool.make("pay", {
  description: "Pays an invoice.",
  parameters: Schema.Struct({ invoice: Schema.String, cents: Schema.Int }),
  success: Schema.String,
  sideEffects: "unsafe",
  run: ({ cents, invoice }) =>
    Effect.sync(() => {
      paid.push(invoice)
      return `Paid ${cents} for ${invoice}.`
    })
}).pipe(Tool.requireApproval())

const clerk = Agent.make("clerk", { prompt: "Pay invoices.", tools: [pay] }).pipe(Agent.resilient())

// one JSON document for your database
const begin = Effect.gen(function* () {
  const outcome = yield* (yield* clerk.start("Pay invoice A-1")).outcome
  return outcome._tag === "Suspended" ? Snapshot.toJson(outcome.snapshot) : undefined
})

// a day later, in another process
const approve = (document: unknown) =>
  Effect.gen(function* () {
    const from = yield* Snapshot.fromJson(document)
    const decisions = Snapshot.requestsOf(from).map(({ digest }) => ({ digest, decision: Approval.approve }))
    const outcome = yield* (yield* Agent.resume(clerk).start({ from, decisions })).outcome
    return outcome._tag === "Completed" ? outcome.output : outcome._tag
  })

// in your service: .pipe(Effect.provide(OpenAi.responses("gpt-5.6-sol")))
export const answer = Effect.scoped(Effect.flatMap(begin, approve))

const played = Effect.gen(function* () {
  const model = yield* ScriptedModel.make(
    ScriptedModel.calls(ScriptedModel.call("pay", { invoice: "A-1", cents: 80_000 })),
    ScriptedModel.text("It is paid.")
  )
  return yield* Effect.provide(answer, model.layer)
})

await Effect.runPromise(Effect.scoped(played)) // => "It is paid."
