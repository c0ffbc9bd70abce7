/** Texts as keys of shared limits, and in the requests that they count. */
import { Message, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer } from "effect"
import * as SharedBudget from "../../../packages/durable/src/SharedBudget.ts"
import { texts } from "./data.ts"
import { each, grows, none, reached, type Table } from "./entry.ts"

const answering = ScriptedModel.answering(() => ScriptedModel.text("ok"))

export const limits: Table = {
  "durable/src/SharedBudget.ts": {
    layer: grows(texts, (text) => {
      const model = SharedBudget.layer(answering, { key: text, tokens: 1e12 })
      const asked = Effect.gen(function* () {
        const { generate } = yield* Model.Model
        return yield* generate({ messages: [Message.user(text)], tools: [], toolChoice: "auto" })
      })
      return Effect.runPromise(Effect.provide(asked, Layer.provide(model, SharedBudget.layerMemory)))
    }),
    spending: grows(texts, (text) =>
      Effect.runPromise(Effect.provide(SharedBudget.spending({ key: text, tokens: 1 }), SharedBudget.layerMemory))
    ),
    ...each(none("holds the key and the numbers of a limit"), "SharedBudgetExceededError"),
    ...each(none("names a service that a layer provides"), "SharedBudgets")
  },
  "durable/src/limits/tables.ts": each(none("makes and clears tables, whose names are fixed"), "migrated", "removed"),
  "durable/src/limits/leases.ts": each(none("computes with times, which are numbers"), "leaseAt"),
  "durable/src/limits/memory.ts": each(reached, "memoryStore"),
  "durable/src/limits/terms.ts": {
    ...each(reached, "termsOf", "amountBefore", "amountAfter"),
    ...each(none("computes with times, which are numbers"), "sinceOf")
  }
}
