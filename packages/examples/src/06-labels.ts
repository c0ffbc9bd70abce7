/**
 * The labels of the C.W.K. lesson: every failure is told as transient or permanent, so that the model knows whether to retry
 * or to ask the user. Each error has its own label. A transient one is retried before the model reads of it.
 */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Context, type Effect, Schema } from "effect"

export class Overloaded extends Schema.TaggedError<Overloaded>()("Overloaded", { message: Schema.String }) {
  readonly isRetryable = true
}

export class NoSuchOrder extends Schema.TaggedError<NoSuchOrder>()("NoSuchOrder", { id: Schema.String }) {
  override get message(): string {
    return `there is no order ${this.id}`
  }
}

/** The orders of a shop. */
export class Orders extends Context.Service<
  Orders,
  { readonly statusOf: (id: string) => Effect.Effect<string, Overloaded | NoSuchOrder> }
>()("examples/Orders") {}

export const orderStatus = Tool.make("orderStatus", {
  description: "Where an order is.",
  parameters: Schema.Struct({ id: Schema.String }),
  success: Schema.String,
  // only such a tool, or an idempotent one, is ever called safe to retry
  sideEffects: "none",
  run: ({ id }) => Orders.use((orders) => orders.statusOf(id))
}).pipe(
  Tool.onError({
    Overloaded: Recovery.ladder(Recovery.retry({ maxAttempts: 3, initialBackoff: "1 second" }), Recovery.tell())
  })
)

export const clerk = Agent.make("clerk", {
  prompt: "Answer questions about orders. Repeat what is transient, ask the user about what is permanent.",
  tools: [orderStatus]
}).pipe(Agent.toolDefaults(Recovery.presets.tellAll()))

export const program = clerk("Where is my order 4711?")
//           ^? Effect<string, LlmError | BudgetExceededError, Model | Orders>
