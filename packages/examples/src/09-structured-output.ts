/**
 * Typed in, typed out: a question and a picture go in, a report comes out, or the run says why not. An answer that does not
 * fit is asked for again with what is wrong with it; `Agent.partials` shows it while it is written.
 */
import { Agent, Message } from "@kintsugi/core"
import { Effect, Schema, Stream } from "effect"

export const Report = Schema.Struct({
  plant: Schema.String,
  isEdible: Schema.Boolean,
  seenOn: Schema.DateFromString,
  remarks: Schema.Array(Schema.String)
})

export const botanist = Agent.make("botanist", {
  prompt:
    "Name the plant in the picture. Answer with JSON: plant, isEdible, seenOn (date and time), remarks (a list of texts).",
  input: Message.UserContent,
  output: Report
}).pipe(Agent.outputRetries(2))

const input = [
  Message.text("Can I eat this? Seen on 9 March 2027."),
  Message.image("image/jpeg", { url: "https://example.org/plant.jpg" })
]

export const program = botanist(input).pipe(
  Effect.map(({ isEdible, plant }) => `${plant}: ${isEdible ? "eat it" : "do not eat it"}`),
  Effect.catchTag("InvalidOutputError", ({ issues }) => Effect.succeed(`no report, ${issues.length} issues`))
)
//           ^? Effect<string, LlmError | BudgetExceededError, Model>

/** The remarks as they come in, for a page that shows them at once. */
export const watching = Agent.partials(botanist)(input).pipe(Stream.map(({ remarks = [] }) => remarks))
