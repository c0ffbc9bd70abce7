/** A tool that pays, and a till that pays nothing twice under one key. */
import { Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"

const Payment = Schema.Struct({ to: Schema.String, cents: Schema.Finite })

export const till = <const Name extends string = "pay">(name?: Name) => {
  const keys: Array<string> = []
  /** The cents that were paid, by key. */
  const paid = new Map<string, number>()
  const pay = Tool.make((name ?? "pay") as Name, {
    description: "Pays.",
    parameters: Payment,
    success: Schema.String,
    sideEffects: "idempotent",
    run: ({ cents }, { idempotencyKey }) =>
      Effect.sync(() => {
        keys.push(idempotencyKey)
        if (!paid.has(idempotencyKey)) paid.set(idempotencyKey, cents)
        return "paid"
      })
  })
  return { keys, paid, pay }
}
