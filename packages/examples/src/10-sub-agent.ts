/**
 * An editor with a researcher, an agent of its own, as a tool. The researcher's failures are the tool's: one is told, and
 * leaves the type. The researcher ends with a completion, so the editor reads its findings, or why there are none.
 */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Context, type Effect, Schema } from "effect"

export class ArchiveClosed extends Schema.TaggedError<ArchiveClosed>()("ArchiveClosed", { message: Schema.String }) {}

export class Archive extends Context.Service<
  Archive,
  { readonly find: (topic: string) => Effect.Effect<string, ArchiveClosed> }
>()("examples/Archive") {}

export const search = Tool.make("search", {
  description: "Searches the archive.",
  parameters: Schema.Struct({ topic: Schema.String }),
  success: Schema.String,
  sideEffects: "none",
  run: ({ topic }) => Archive.use((archive) => archive.find(topic))
}).pipe(Tool.onError({ InvalidArgs: Recovery.escalate() }))

export const researcher = Agent.make("researcher", {
  prompt: "Find out what you are asked. Then call complete: with success false if the archive has nothing.",
  budget: { maxTurns: 4 },
  tools: [search, Tool.complete]
})

/** The output of the researcher itself: an answer in words, or a completion. */
export const found = researcher("When was the bridge built?")
//           ^? Effect<string | Completion, LlmError | BudgetExceededError | ArchiveClosed, Model | Archive>

export const research = Agent.asTool(researcher, {
  name: "research",
  description: "Asks a researcher, who searches the archive.",
  sideEffects: "none"
}).pipe(
  Tool.onError({
    // the researcher was at work for too long, or the archive is closed: the editor goes on without
    BudgetExceededError: Recovery.tell(() => "The researcher needs longer than there is time."),
    ArchiveClosed: Recovery.tell(),
    InvalidArgs: Recovery.escalate()
  })
)

export const editor = Agent.make("editor", {
  prompt: "Write one sentence about what you are asked. Have facts researched.",
  tools: [research]
})

/** What is left are the failures of models, the researcher's among them. */
export const program = editor("The bridge, please.")
//           ^? Effect<string, LlmError | BudgetExceededError, Model | Archive>
