/** The agent. It knows nothing of HTTP. */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Schema } from "effect"
import { NoSuchOrder, Order, Shop, ShopBusy } from "./shop.ts"

const findOrder = Tool.make("findOrder", {
  description: "Looks up an order: what was bought, for how many cents.",
  parameters: Schema.Struct({ orderId: Schema.String }),
  success: Order,
  failure: Schema.Union([NoSuchOrder, ShopBusy]),
  sideEffects: "none",
  timeout: "5 seconds",
  run: ({ orderId }) => Shop.use((shop) => shop.find(orderId))
}).pipe(
  Tool.onError({
    ShopBusy: Recovery.ladder(Recovery.retry({ retries: 2 }), Recovery.tell()),
    NoSuchOrder: Recovery.tell(),
    ToolTimeoutError: Recovery.tell()
  })
)

const refund = Tool.make("refund", {
  description: "Pays back some cents of an order.",
  parameters: Schema.Struct({ orderId: Schema.String, cents: Schema.Int.check(Schema.isGreaterThan(0)) }),
  success: Schema.String,
  failure: NoSuchOrder,
  sideEffects: "unsafe",
  // each resumption of the run has the same key, so that no customer is paid twice
  run: (params, { idempotencyKey }) => Shop.use((shop) => shop.refund({ ...params, key: idempotencyKey })),
  // after a crash: whether it was paid
  verify: (key) => Shop.use((shop) => shop.receipt(key))
}).pipe(
  Tool.requireApproval({ when: ({ cents }) => cents > 5000, reason: "more than 50 euros", validFor: "1 day" }),
  Tool.onError({ NoSuchOrder: Recovery.tell() })
)

export const desk = Agent.make("desk", {
  prompt: "You help customers of a shop. Look an order up before you pay anything back.",
  tools: [findOrder, refund],
  budget: { maxTurns: 6, maxToolCalls: 10, maxTokens: 30_000, maxDuration: "1 minute" }
}).pipe(Agent.toolDefaults({ InvalidArgs: Recovery.tell(), DeserializationError: Recovery.tell() }))
