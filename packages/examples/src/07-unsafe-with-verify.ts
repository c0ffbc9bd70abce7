/**
 * A payment must not happen twice. When an attempt is cut off, `verify` looks up by the key of the call whether it took effect;
 * only an attempt without an effect may be repeated.
 */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Context, type Effect, type Option, Schema } from "effect"

export class Declined extends Schema.TaggedError<Declined>()("Declined", { message: Schema.String }) {}
export class LedgerDown extends Schema.TaggedError<LedgerDown>()("LedgerDown", { message: Schema.String }) {}

export interface Transfer {
  readonly to: string
  readonly cents: number
  /** Equal for all runs of one call, different between calls. */
  readonly key: string
}

export class Bank extends Context.Service<
  Bank,
  {
    /** Gives the number of the receipt. */
    readonly transfer: (transfer: Transfer) => Effect.Effect<string, Declined>
    /** The receipt of the transfer with this key, if there was one. */
    readonly find: (key: string) => Effect.Effect<Option.Option<string>, LedgerDown>
  }
>()("examples/Bank") {}

export const pay = Tool.make("pay", {
  description: "Pays an invoice.",
  parameters: Schema.Struct({ to: Schema.String, cents: Schema.Int }),
  success: Schema.String,
  sideEffects: "unsafe",
  timeout: "5 seconds",
  verify: (key) => Bank.use((bank) => bank.find(key)),
  run: (params, { idempotencyKey }) => Bank.use((bank) => bank.transfer({ ...params, key: idempotencyKey }))
}).pipe(
  Tool.onError({
    // the only failure of an unsafe tool that may be retried: `verify` found that nothing happened
    ToolTimeoutError: Recovery.retry({ retries: 1 }),
    // a retry does not compile here, without `acknowledge: "may run twice"`
    Declined: Recovery.tell()
  })
)

export const bookkeeper = Agent.make("bookkeeper", {
  prompt: "Pay the invoices that you are given.",
  tools: [pay]
})

/** When the lookup fails too, the model reads that the outcome is unknown: this is no error of the program. */
export const program = bookkeeper("Pay 19.90 EUR to ACME.")
//           ^? Effect<string, LlmError | BudgetExceededError | InvalidArgs | DeserializationError | ToolExecutionError,
//                Model | Bank>
