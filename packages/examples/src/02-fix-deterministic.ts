/**
 * Arguments that do not fit, repaired by a plain function. No model is asked, and the tool does not run before they fit.
 * Coercion does not guess about dates: that is knowledge of this program.
 */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Context, Effect, Schema } from "effect"

/** The rooms of a hotel. */
export class Rooms extends Context.Service<Rooms, { readonly freeOn: (day: string) => Effect.Effect<number> }>()(
  "examples/Rooms"
) {}

/** Reads the arguments as the model sent them; its answer is decoded like the model's own. */
export const isoDates = Agent.deterministic("iso-dates", (raw: string) =>
  Effect.succeed(
    raw.replaceAll(
      /(\d{1,2})\.(\d{1,2})\.(\d{4})/g,
      (_, day: string, month: string, year: string) => `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`
    )
  )
)

export const freeRooms = Tool.make("freeRooms", {
  description: "How many rooms are free on a day.",
  parameters: Schema.Struct({ day: Schema.String.check(Schema.isPattern(/^\d{4}-\d{2}-\d{2}$/)) }),
  success: Schema.Int,
  sideEffects: "none",
  run: ({ day }) => Rooms.use((rooms) => rooms.freeOn(day))
}).pipe(
  // the row of `InvalidArgs` is also that of `DeserializationError`
  Tool.onError({ InvalidArgs: Recovery.fix(isoDates) })
)

export const receptionist = Agent.make("receptionist", {
  prompt: "Answer questions about free rooms.",
  tools: [freeRooms]
})

export const program = receptionist("Is there a room on the 9th of March 2027?")
//           ^? Effect<string, LlmError | BudgetExceededError | ToolExecutionError, Model | Rooms>
