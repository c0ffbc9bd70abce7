/**
 * The recovery of Kani as a table: a failure is told, and the model may retry once; then tools are switched off and it answers
 * in words. The message is that of Kani's own example.
 */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"

export class Offline extends Schema.TaggedError<Offline>()("Offline", { message: Schema.String }) {}

export const getTime = Tool.make("get_time", {
  description: "Get the current time in the user's time zone.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: (): Effect.Effect<string, Offline> =>
    Effect.fail(new Offline({ message: "The time API is currently offline (error 0xDEADBEEF)." }))
})

export const kani = Agent.make("kani", {
  tools: [getTime]
}).pipe(
  Agent.toolDefaults(
    Recovery.presets.kani({
      // it changes the text, not the verdict
      message: (_call, _error, _attempt, byDefault) =>
        `The call encountered an error. Relay this error message to the user in a sarcastic manner: ${byDefault}`
    })
  )
)

export const program = kani("What time is it?")
//           ^? Effect<string, LlmError | BudgetExceededError, Model>
