/** Shared limits: what a layer needs, and which limits do not compile. */
import type { Model } from "@kintsugi/core"
import { Agent } from "@kintsugi/core"
import { RateLimits, SharedBudget } from "@kintsugi/durable"
import type { Effect, Layer } from "effect"
import type { RateLimiter } from "effect/persistence"
import type { SqlClient } from "effect/sql"
import { test } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"

declare const model: Layer.Layer<Model.Model, "no key", "client">
declare const tenant: Effect.Effect<string>

test("a shared budget leaves the errors of the layer, and needs the storage besides [P1720]", () => {
  const shared = SharedBudget.layer(model, { key: tenant, tokens: 1000, per: "1 day" })
  type _ = Expect<Equal<typeof shared, Layer.Layer<Model.Model, "no key", "client" | SharedBudget.SharedBudgets>>>

  const clerk = Agent.make("clerk", { model: shared })
  type R = ReturnType<typeof clerk> extends Effect.Effect<unknown, unknown, infer R> ? R : never
  type _R = Expect<Equal<R, "client" | SharedBudget.SharedBudgets>>
})

test("a generic function keeps what is open [P1720]", () => {
  const limited = <E, R>(layer: Layer.Layer<Model.Model, E, R>) =>
    SharedBudget.layer(layer, { key: "k", cost: 1, prices: { "*": { usdPerMillionTokens: { input: 1, output: 2 } } } })
  const other: Layer.Layer<Model.Model, "e", "r"> = model as never
  sameType<Layer.Layer<Model.Model, "e", "r" | SharedBudget.SharedBudgets>>()(limited(other))
})

test("limits that are none do not compile [P1720]", () => {
  // @ts-expect-error tokens or cost
  SharedBudget.layer(model, { key: "k" })
  // @ts-expect-error not both
  SharedBudget.layer(model, { key: "k", tokens: 1, cost: 1 })
  // @ts-expect-error tokens have no price
  SharedBudget.layer(model, { key: "k", tokens: 1, prices: {} })
  // @ts-expect-error whose budget it is
  SharedBudget.layer(model, { tokens: 1 })
  const both = { key: "k", tokens: 1, cost: 1 }
  // @ts-expect-error nor from a variable
  SharedBudget.layer(model, both)
  const failing = { key: {} as Effect.Effect<string, "no tenant">, tokens: 1 }
  // @ts-expect-error the effect of the key cannot fail
  SharedBudget.layer(model, failing)
  const generic = <K extends number>(key: K) =>
    // @ts-expect-error a key is a text
    SharedBudget.layer(model, { key, tokens: 1 })
  void generic
})

test("the stores in tables need a client alone [P1720 P1721]", () => {
  sameType<Layer.Layer<RateLimiter.RateLimiterStore, never, SqlClient.SqlClient>>()(RateLimits.layerSql)
  sameType<Layer.Layer<SharedBudget.SharedBudgets, never, SqlClient.SqlClient>>()(SharedBudget.layerSql)
})
