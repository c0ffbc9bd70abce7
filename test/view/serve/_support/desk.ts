/** A desk with tools that fail in their own ways, and a person who approves. */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Context, Effect, Layer, Schema } from "effect"

export class StaleIndex extends Schema.TaggedError<StaleIndex>()("StaleIndex", { age: Schema.Finite }) {}

export class Locked extends Schema.TaggedError<Locked>()("Locked", { by: Schema.String }) {}

/** A service without which `audit` does not run. */
export class Bank extends Context.Service<Bank, { readonly pay: (cents: number) => Effect.Effect<string> }>()(
  "desk/Bank"
) {}

/** What the refunds of a desk were. */
export const refunds = (): { readonly made: Array<unknown>; readonly tool: ReturnType<typeof refund> } => {
  const made: Array<unknown> = []
  return { made, tool: refund(made) }
}

const refund = (made: Array<unknown>) =>
  Tool.make("refund", {
    description: "Refunds an order.",
    parameters: Schema.Struct({ orderId: Schema.String, cents: Schema.Int }),
    success: Schema.String,
    sideEffects: "unsafe",
    run: (order) =>
      Effect.sync(() => {
        made.push(order)
        return `refunded ${order.cents} cents`
      })
  }).pipe(Tool.requireApproval({ reason: "money" }))

export const lookUp = Tool.make("lookUp", {
  description: "Looks an order up.",
  parameters: Schema.Struct({ orderId: Schema.String }),
  success: Schema.Struct({ orderId: Schema.String, cents: Schema.Int }),
  failure: Schema.Union([StaleIndex, Locked]),
  sideEffects: "none",
  run: ({ orderId }): Effect.Effect<{ readonly orderId: string; readonly cents: number }, StaleIndex | Locked> =>
    Effect.succeed({ orderId, cents: 4900 })
})

const withRows = Tool.onError(lookUp, { StaleIndex: Recovery.retry({ retries: 2 }) })

/** A desk that retries a stale index, and has no row for a lock. */
export const desk = Agent.make("desk", { prompt: "You are the desk of a shop.", tools: [withRows] })

const withAllRows = Tool.onError(withRows, { Locked: Recovery.tell() })

/** The same desk with a row for a lock. */
export const mended = Agent.make("desk", { prompt: "You are the desk of a shop.", tools: [withAllRows] })

/** A desk that needs a bank. */
export const auditor = Agent.make("auditor", {
  tools: [
    Tool.make("audit", {
      description: "Audits.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.flatMap(Bank, ({ pay }) => pay(1))
    })
  ]
})

export const bank = Layer.succeed(Bank, { pay: (cents) => Effect.succeed(`${cents} paid`) })

/** A layer that needs that no layer provides. */
export class Ledger extends Context.Service<Ledger, { readonly book: Effect.Effect<void> }>()("desk/Ledger") {}

export const bankOnLedger = Layer.effect(
  Bank,
  Effect.map(Ledger, () => ({ pay: (cents: number) => Effect.succeed(`${cents} paid`) }))
)

/** An agent whose input is a struct. */
export const buyer = Agent.make("buyer", {
  input: Schema.Struct({
    item: Schema.String,
    many: Schema.Int,
    isGift: Schema.Boolean,
    size: Schema.Literals(["s", "m"])
  }),
  tools: []
})
