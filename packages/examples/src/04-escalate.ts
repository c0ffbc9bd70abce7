/**
 * A failure that only the model can correct, because it chose the arguments. `escalate` makes the failure the result of the
 * call, with the request to try again; the tag leaves the type.
 */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"

/** A message that names the right value is half of the correction. */
export class NoSuchStation extends Schema.TaggedError<NoSuchStation>()("NoSuchStation", { station: Schema.String }) {
  override get message(): string {
    return `there is no station '${this.station}'; there are ${[...departures.keys()].join(", ")}`
  }
}

const departures: ReadonlyMap<string, string> = new Map([
  ["Wien Hbf", "08:30"],
  ["Praha hl.n.", "09:15"]
])

export const nextTrain = Tool.make("nextTrain", {
  description: "The next departure from a station.",
  parameters: Schema.Struct({ station: Schema.String }),
  success: Schema.String,
  sideEffects: "none",
  run: ({ station }) => {
    const time = departures.get(station)
    return time === undefined ? Effect.fail(new NoSuchStation({ station })) : Effect.succeed(time)
  }
}).pipe(
  Tool.onError({
    NoSuchStation: Recovery.escalate({ severity: "LOW" }),
    InvalidArgs: Recovery.escalate()
  })
)

export const conductor = Agent.make("conductor", {
  prompt: "Answer questions about trains.",
  tools: [nextTrain]
})

/** No failure of the tool is left: the model corrects them, within the budget of the run. */
export const program = conductor("When does the next train leave Vienna?")
//           ^? Effect<string, LlmError | BudgetExceededError, Model>
