/**
 * A tool that fails for a while. Its row retries it, and the model does not learn of it. When all attempts fail, the run ends
 * with `ToolExecutionError`, which holds every failure.
 */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Context, type Effect, Schema } from "effect"

export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", { message: Schema.String }) {}

/** The source of prices. */
export class Exchange extends Context.Service<
  Exchange,
  { readonly latest: (symbol: string) => Effect.Effect<number, Unavailable> }
>()("examples/Exchange") {}

export const quote = Tool.make("quote", {
  description: "The latest price of a share, in euros.",
  parameters: Schema.Struct({ symbol: Schema.String }),
  success: Schema.Finite,
  sideEffects: "none",
  run: ({ symbol }) => Exchange.use((exchange) => exchange.latest(symbol))
}).pipe(
  // three attempts in all, 500 ms and 1 s apart
  Tool.onError({ Unavailable: Recovery.retry({ maxAttempts: 3, initialBackoff: "500 millis" }) })
)

export const broker = Agent.make("broker", {
  prompt: "Answer questions about shares. Use the quote tool for prices.",
  tools: [quote]
})

/** `Unavailable` is gone: its row handles it. Bad arguments have no row, so they are still there. */
export const program = broker("What is ACME worth?")
//           ^? Effect<string, LlmError | BudgetExceededError | InvalidArgs | DeserializationError | ToolExecutionError,
//                Model | Exchange>
