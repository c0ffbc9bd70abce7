/** The agent. It knows nothing of HTTP and nothing of the page. */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"

const findTable = Tool.make("findTable", {
  description: "Finds a restaurant with a free table.",
  parameters: Schema.Struct({ city: Schema.String }),
  success: Schema.Struct({ restaurant: Schema.String, time: Schema.String }),
  sideEffects: "none",
  run: ({ city }) => Effect.succeed({ restaurant: `Café ${city}`, time: "19:30" })
})

const bookTable = Tool.make("bookTable", {
  description: "Books a table.",
  parameters: Schema.Struct({ restaurant: Schema.String, time: Schema.String, people: Schema.Int }),
  success: Schema.String,
  sideEffects: "unsafe",
  run: ({ people, restaurant, time }) => Effect.succeed(`${restaurant}, ${time}, ${people} people`)
}).pipe(Tool.requireApproval({ reason: "The table is booked in your name." }))

export const concierge = Agent.make("concierge", {
  prompt: "You book tables in restaurants. Be brief.",
  tools: [findTable, bookTable],
  budget: { maxTurns: 10, maxDuration: "5 minutes" }
}).pipe(Agent.toolDefaults({ InvalidArgs: Recovery.tell(), DeserializationError: Recovery.tell() }))
