/** The events of a streamed run, and tables that repeat its attempts. */
import { Agent, type AgentEvent, LlmError, type Model, Recovery } from "@kintsugi/core"
import { Effect, Stream } from "effect"

export const overloaded = () => LlmError.ModelOverloadedError.make({ model: "scripted" })
export const says = (text: string): Model.Part => ({ type: "text-delta", text })

export const retrying = Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) })
export const restarting = Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }, { onPartial: "restart" })

/** The texts and marks that a reader of the stream sees, in order. */
export const shown = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.flatMap((event) => {
    if (event.type === "text-delta" || event.type === "reasoning-delta") return [event.text]
    return event.type === "attempt-discarded" ? [`discarded: ${event.text}`] : []
  })

export const collect = Effect.fnUntraced(function* <E, R>(stream: Stream.Stream<AgentEvent.AgentEvent, E, R>) {
  const events: Array<AgentEvent.AgentEvent> = []
  const exit = yield* Effect.exit(Stream.runForEach(stream, (event) => Effect.sync(() => events.push(event))))
  return { events, exit }
})
