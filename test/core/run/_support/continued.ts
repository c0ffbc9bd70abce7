/** Models that go on from a message of their own, and tables that continue a reply that broke off. */
import { Agent, type AgentEvent, Message, Model, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Context, Effect, Layer } from "effect"

const { make } = ScriptedModel

/** A scripted model that declares how it goes on. */
export const scriptedGoingOn = Effect.fnUntraced(function* (
  continuation: Model.Service["continuation"],
  ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>
) {
  const model = yield* make(...steps)
  const built = yield* Layer.build(model.layer)
  const service = { ...Context.get(built, Model.Model), ...(continuation === undefined ? {} : { continuation }) }
  return { ...model, service, layer: Layer.succeed(Model.Model, service) }
})

/** A model whose reply is only the rest. */
export const goingOn = (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) => scriptedGoingOn("rest", ...steps)

export const continuing = (retries = 1, continueBy?: "message") =>
  Agent.onLlmError(
    { orElse: Recovery.retry({ retries }) },
    { onPartial: "continue", ...(continueBy === undefined ? {} : { continueBy }) }
  )

/** A message that was cut off, as the transcript and the next request have it. */
export const cut = (shown: string): Message.Assistant => ({ ...Message.assistant(shown), incomplete: true })

/** The text of each turn for a reader of all events: it forgets what is discarded, and goes on from what is kept. */
export const readAlong = (events: ReadonlyArray<AgentEvent.AgentEvent>): ReadonlyArray<string> => {
  const texts: Array<string> = []
  for (const event of events) {
    if (event.type === "turn-start") texts.push("")
    if (event.type === "text-delta") texts.push(`${texts.pop() ?? ""}${event.text}`)
    if (event.type === "attempt-discarded") texts.push((texts.pop() ?? "").slice(0, -event.text.length || undefined))
    if (event.type === "attempt-continued") texts.splice(-1, 1, event.kept)
  }
  return texts
}
