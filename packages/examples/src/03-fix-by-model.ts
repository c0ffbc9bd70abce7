/**
 * The JSON key counter. A second agent reads the call that failed and escalates with corrected JSON; the agent that made the
 * call reads that, and calls again.
 */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"

export class NoKeys extends Schema.TaggedError<NoKeys>()("NoKeys", {
  json: Schema.String,
  message: Schema.String
}) {}

export const countKeys = Tool.make("calculateNumberOfKeys", {
  description: "Count the top-level keys of a JSON object.",
  parameters: Schema.Struct({ json: Schema.String }),
  success: Schema.Int,
  run: ({ json }) =>
    Effect.try({
      try: () => Object.keys(JSON.parse(json)).length,
      catch: () => new NoKeys({ json, message: "No valid keys: unquoted keys?" })
    })
})

/** An agent like any other. It has no model of its own here, so it asks the one of the program. */
export const fixer = Agent.make("json-fixer", {
  prompt: "You receive a tool call that failed. Call escalate with a reason that contains the corrected JSON.",
  budget: { maxTurns: 3 },
  tools: [Tool.escalate]
})

const counted = countKeys.pipe(Tool.onError({ NoKeys: Recovery.fix(fixer, { retries: 2 }) }))

export const analyst = Agent.make("json-analyst", {
  prompt: "Use the tool to count keys. If it returns an ERROR, read it: it contains corrected JSON. Retry with that.",
  budget: { maxTurns: 10 },
  tools: [counted]
})

/** `ToolExecutionError` is what is left of `NoKeys`, for a fixer that finds no way. */
export const program = analyst("How many keys? {name: world, age: 30, active: true}")
//           ^? Effect<string, LlmError | BudgetExceededError | InvalidArgs | DeserializationError | ToolExecutionError, Model>
