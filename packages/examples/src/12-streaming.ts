/**
 * The text of an answer on a screen while it is written. When the connection breaks in the middle, the model call is retried
 * and the shown text is wiped away. The stream fails as the run fails.
 */
import { Agent, type AgentEvent, Recovery } from "@kintsugi/core"
import { Context, Effect, Option, Stream } from "effect"

/** The screen of the text. */
export class Screen extends Context.Service<
  Screen,
  {
    readonly write: (text: string) => Effect.Effect<void>
    /** Removes the text since the beginning of the answer. */
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

/** The terminal event of the run. */
const answerOf = (event: AgentEvent.AgentEvent) => (event.type === "run-completed" ? String(event.output) : "")

export const program = poet
  .stream("The sea")
  .pipe(Stream.tap(show), Stream.runLast, Effect.map(Option.match({ onNone: () => "", onSome: answerOf })))
//           ^? Effect<string, LlmError | BudgetExceededError, Model | Screen>
