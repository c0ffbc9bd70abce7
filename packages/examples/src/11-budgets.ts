/**
 * A budget limits a run. The run may exceed its turns once, and its cost never. At any end, its ledger has the cost of each
 * model.
 */
import { Agent, Budget, Ledger, Recovery, Tool } from "@kintsugi/core"
import { Context, Effect, Schema } from "effect"

export class Library extends Context.Service<Library, { readonly look: (topic: string) => Effect.Effect<string> }>()(
  "examples/Library"
) {}

export const look = Tool.make("look", {
  description: "Looks a topic up.",
  parameters: Schema.Struct({ topic: Schema.String }),
  success: Schema.String,
  sideEffects: "none",
  run: ({ topic }) => Library.use((library) => library.look(topic))
}).pipe(Tool.onError({ InvalidArgs: Recovery.escalate() }))

const maxTurns = 2

export const reader = Agent.make("reader", {
  prompt: "Look up what you need, then answer.",
  budget: {
    maxTurns,
    maxDuration: "2 minutes",
    maxCost: 0.5,
    // the layers of most models know their price; `*` is every model without one
    prices: { "*": { usdPerMillionTokens: { input: 5, output: 25 } } }
  },
  tools: [look]
}).pipe(
  // for a limit that was extended, the next call has the new one
  Agent.onBudgetExceeded(({ limit, reason }) =>
    reason === "maxTurns" && limit === maxTurns ? Budget.extend(limit + 1) : Budget.stop
  )
)

/** The answer, or the limit that was reached, with the cost of each model. */
export const program = Effect.scoped(
  Effect.gen(function* () {
    const run = yield* reader.start("Who built the bridge?")
    const answer = yield* run.outcome.pipe(
      Effect.map((outcome) => (outcome._tag === "Completed" ? outcome.output : "It waits.")),
      Effect.catchTag("BudgetExceededError", ({ limit, reason }) => Effect.succeed(`stopped by ${reason}, ${limit}`))
    )
    const byModel = Ledger.sumBy(yield* run.ledger, ({ model }) => model)
    const costs = new Map(Array.from(byModel, ([model, { cost }]) => [model, cost] as const))
    return { answer, costs }
  })
)
//           ^? Effect<{ answer: string; costs: Map<string, number> }, LlmError | UnknownPriceError, Model | Library>
