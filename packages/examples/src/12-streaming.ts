/**
 * The text of an answer on a screen while it is written. When the connection breaks in the middle, the model is asked again
 * and what was shown is wiped away. The stream fails as the run fails.
 */
import { Agent, type AgentEvent, Recovery } from "@kintsugi/core"
import { Context, Effect, Option, Stream } from "effect"

/** Where the text is shown. */
export class Screen extends Context.Service<
  Screen,
  {
    readonly write: (text: string) => Effect.Effect<void>
    /** Takes away what was written since the answer began. */
    readonly wipe: Effect.Effect<void>
  }
>()("examples/Screen") {}

export const poet = Agent.make("poet", { prompt: "Write four lines about what you are told." }).pipe(
  Agent.onLlmError(
    { orElse: Recovery.retry({ maxAttempts: 3, initialBackoff: "1 second" }) },
    // without it, an attempt that has shown text ends the run with its error
    { onPartial: "restart" }
  )
)

const show = (event: AgentEvent.AgentEvent) =>
  Screen.use((screen) => {
    if (event.type === "text-delta") return screen.write(event.text)
    return event.type === "attempt-discarded" ? screen.wipe : Effect.void
  })

/** What the run has ended with. */
const answerOf = (event: AgentEvent.AgentEvent) => (event.type === "run-completed" ? String(event.output) : "")

export const program = poet
  .stream("The sea")
  .pipe(Stream.tap(show), Stream.runLast, Effect.map(Option.match({ onNone: () => "", onSome: answerOf })))
//           ^? Effect<string, LlmError | BudgetExceededError, Model | Screen>
