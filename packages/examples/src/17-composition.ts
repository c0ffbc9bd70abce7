/**
 * A small newsroom. Two researchers look at a topic from two sides, a writer makes a page of what they say, and a critic sends it
 * back until it is short enough. The writer has a spare model, and each researcher is asked twice if the first is slow.
 */
import { Agent } from "@kintsugi/core"
import { Context, type Effect } from "effect"

/** Answers questions about a topic from one side. */
export class Library extends Context.Service<
  Library,
  { readonly look: (side: "facts" | "voices", topic: string) => Effect.Effect<string> }
>()("examples/Library") {}

const researcher = (side: "facts" | "voices") =>
  Agent.deterministic(side, (topic: string) => Library.use(({ look }) => look(side, topic))).pipe(
    Agent.speculative(2, { hedgeAfter: "3 seconds" })
  )

const facts = researcher("facts")
const voices = researcher("voices")

export const writer = Agent.make("writer", { prompt: "Write one short page.", budget: { maxTurns: 2 } })

/** The same writer, but its second choice is another one, with fewer words. */
const reliable = Agent.fallback(writer, Agent.make("intern", { prompt: "Write one sentence." }))

const edited = Agent.loopUntil(reliable, (page) => page.length <= 40, {
  maxIterations: 3,
  feedback: (page) => `Make it shorter: ${page}`
})

export const newsroom = Agent.parallel({ facts, voices }).pipe(
  Agent.map((found) => `Facts: ${found.facts} Voices: ${found.voices}`),
  Agent.andThen(edited),
  Agent.withBudget({ maxTurns: 12, maxDuration: "2 minutes" }),
  Agent.named("newsroom")
)

export const program = newsroom("the bridge")
//           ^? Effect<string, LlmError | BudgetExceededError | LoopExhaustedError, Model | Library>
