/**
 * A help desk with three skills. A rule sends what it recognises to the right one at no cost; for the rest one model call
 * chooses. Each skill has its own tools: a conversation about orders cannot pay back money.
 */
import { Agent, Recovery, Router, Skill, Tool } from "@kintsugi/core"
import { Context, type Effect, Schema } from "effect"

export class NoSuchOrder extends Schema.TaggedError<NoSuchOrder>()("NoSuchOrder", { id: Schema.String }) {
  override get message(): string {
    return `there is no order ${this.id}`
  }
}

export class Shop extends Context.Service<
  Shop,
  {
    readonly hours: Effect.Effect<string>
    readonly statusOf: (id: string) => Effect.Effect<string, NoSuchOrder>
    readonly payBack: (id: string) => Effect.Effect<string, NoSuchOrder>
  }
>()("examples/Shop") {}

const ofOrder = { parameters: Schema.Struct({ id: Schema.String }), success: Schema.String }

export const orderStatus = Tool.make("orderStatus", {
  description: "Where an order is.",
  ...ofOrder,
  run: ({ id }) => Shop.use((shop) => shop.statusOf(id))
})

export const payBack = Tool.make("payBack", {
  description: "Pays back what an order has cost.",
  ...ofOrder,
  sideEffects: "unsafe",
  run: ({ id }) => Shop.use((shop) => shop.payBack(id))
})

export const desk = Agent.make("desk", {
  prompt: "You work at the help desk of a shop.",
  skills: [
    Skill.deterministic("hours", {
      description: "Says when the shop is open.",
      run: () => Shop.use(({ hours }) => hours)
    }),
    Skill.make("orders", { description: "Knows where orders are.", tools: [orderStatus] }),
    Skill.make("refunds", {
      description: "Pays back the money for an order.",
      prompt: "Pay back nothing that the customer has not asked for.",
      tools: [orderStatus, payBack]
    })
  ]
}).pipe(
  Agent.toolDefaults({ NoSuchOrder: Recovery.tell(), InvalidArgs: Recovery.tell() }),
  Agent.route(
    Router.byRule((input) => (/\bopen\b/i.test(input) ? "hours" : undefined)).pipe(
      // when no model can choose, the harmless skill does
      Router.onLlmError({ orElse: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.respondWith("orders")) })
    )
  )
)

export const program = desk("I want my money back for order 4711.")
//           ^? Effect<string, LlmError | BudgetExceededError | RoutingError, Model | Shop>
