/** Writes answers of Gemini's Interactions API: replies, whole and streamed, and refusals. */
import type * as Message from "@kintsugi/core/Message"
import type * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import type { Answer, Received } from "../handling.ts"
import type * as Wire from "./wire.ts"
import * as GeminiTell from "./geminiTell.ts"
import * as Parts from "./parts.ts"

export const idOf = ({ number }: Received): string => `v1_${number}`

export const render = (request: Wire.BrainRequest, reply: Wire.BrainReply): Answer =>
  request.isStreamed ? Parts.events(eventsOf(request, reply).join("")) : Parts.json(ended(request, reply), {}, 2)

/** The answer to a request for the state of a job. Interactions have no state `queued`, so it is `in_progress`. */
export const state = (job: Wire.Job): Answer => {
  const { reply, request, status, usage } = job
  if (status === "ended") return Parts.json(ended(request, reply), {}, 2)
  const more = usage === undefined ? {} : { usage: usageOf(usage) }
  const now = status === "queued" ? "in_progress" : status
  return Parts.json({ ...headOf(request, now), steps: [], ...more }, {}, 2)
}

/** The answer with the events of a job that follow the event with this number. */
export const events = ({ failure, reply, request, status }: Wire.Job, after: number): Answer => {
  const all = eventsOf(request, reply)
  const begun = all.slice(0, 2)
  const ended = failure === undefined ? all : [...begun, breakOff(failure, request.received, 2)]
  const sent = status === "cancelled" ? begun : ended
  return Parts.events(sent.slice(after + 1).join(""))
}

/** The number in the id of an event; -1 for an id without a number. */
export const numberOf = (eventId: string): number => Number(/^event_(\d+)$/.exec(eventId)?.[1] ?? -1)

const headOf = ({ model, received }: Wire.BrainRequest, status: string) => {
  const at = new Date(received.at).toISOString().replace(/\.\d+/, "")
  const { body } = received
  const previous = Predicate.hasProperty(body, "previous_interaction_id") ? body.previous_interaction_id : undefined
  return {
    id: idOf(received),
    object: "interaction",
    status,
    ...(Predicate.hasProperty(body, "agent") ? { agent: model } : { model }),
    created: at,
    updated: at,
    ...(previous === undefined ? {} : { previous_interaction_id: previous })
  }
}

/** A complete interaction with the steps and the usage of its reply. */
const ended = (request: Wire.BrainRequest, reply: Wire.BrainReply) => ({
  ...headOf(request, statusOf(reply)),
  steps: stepsOf(reply).map(({ whole }) => whole),
  usage: usageOf(Parts.usageOf(reply))
})

const statusOf = (reply: Wire.BrainReply): string => {
  switch (Parts.finishOf(reply)) {
    case "tool-calls":
      return "requires_action"
    case "length":
      return "incomplete"
    case "filtered":
      return "failed"
    default:
      return "completed"
  }
}

/**
 * The events of a streamed interaction, numbered. The interaction in the last event has no steps, because earlier events have sent them.
 */
const eventsOf = (request: Wire.BrainRequest, reply: Wire.BrainReply): ReadonlyArray<string> => {
  const { id, model, object } = { model: undefined, ...headOf(request, "in_progress") }
  const { steps: _, ...end } = ended(request, reply)
  const data = [
    { event_type: "interaction.created", interaction: { id, status: "in_progress", object, model } },
    { event_type: "interaction.status_update", interaction_id: id, status: "in_progress" },
    ...stepsOf(reply).flatMap(({ deltas, start }, index) => [
      { event_type: "step.start", index, step: start },
      ...deltas.map((delta) => ({ event_type: "step.delta", index, delta })),
      { event_type: "step.stop", index }
    ]),
    { event_type: "interaction.completed", interaction: end }
  ]
  return [...data.map(eventOf), "event: done\ndata: [DONE]\n\n"]
}

const eventOf = (data: { readonly event_type: string }, number: number): string =>
  `event: ${data.event_type}\ndata: ${JSON.stringify({ ...data, event_id: `event_${number}` })}\n\n`

interface Step {
  readonly whole: object
  readonly start: object
  readonly deltas: ReadonlyArray<object>
}

const stepsOf = ({ content }: Wire.BrainReply): ReadonlyArray<Step> =>
  content.flatMap((part): ReadonlyArray<Step> => {
    switch (part.type) {
      case "text":
        return [
          {
            whole: { type: "model_output", content: [textOf(part.text)] },
            start: { type: "model_output" },
            deltas: Parts.inPieces(part.text).map(textOf)
          }
        ]
      case "reasoning":
        return [thoughtOf(part.text)]
      case "tool-call":
        return [callOf(part)]
      case "provider-item": {
        const { data, provider } = part.opaque
        return provider === "gemini" && Predicate.hasProperty(data, "type")
          ? [{ whole: data, start: data, deltas: [] }]
          : []
      }
    }
  })

const textOf = (text: string) => ({ text, type: "text" })

const thoughtOf = (text: string): Step => {
  const signature = Parts.signatureOf(text)
  return {
    whole: { type: "thought", signature, summary: [textOf(text)] },
    start: { type: "thought" },
    deltas: [
      ...Parts.inPieces(text).map((piece) => ({ content: textOf(piece), type: "thought_summary" })),
      { signature, type: "thought_signature" }
    ]
  }
}

const callOf = (call: Message.ToolCall): Step => {
  const head = { type: "function_call", id: call.id, name: call.name }
  const text = Parts.argumentsText(call)
  return {
    whole: { ...head, arguments: Parts.argumentsObject(call) },
    start: { ...head, arguments: {} },
    deltas: Parts.inPieces(text === "" ? "{}" : text).map((piece) => ({ arguments: piece, type: "arguments_delta" }))
  }
}

/** Token counts in the form of Interactions. Its output tokens exclude those of thoughts. */
const usageOf = ({ cachedInputTokens, inputTokens, outputTokens, reasoningTokens }: Usage.Usage) => ({
  total_tokens: inputTokens + outputTokens,
  total_input_tokens: inputTokens,
  total_output_tokens: Math.max(0, outputTokens - reasoningTokens),
  total_thought_tokens: reasoningTokens,
  total_cached_tokens: cachedInputTokens
})

export const refused = (status: number, code: string, message: string): Answer =>
  Parts.json({ error: { message, code } }, { status }, 2)

/** The error of a failure: the message of `generateContent`, and a code that is a word instead of a status. */
const words = (failure: Wire.Failure) => {
  const { code: status, message, status: name } = GeminiTell.words(failure)
  return { status, message, code: name === "INVALID_ARGUMENT" ? "invalid_request" : name.toLowerCase() }
}

export const refuse = (failure: Wire.Failure): Answer => {
  const { code, message, status } = words(failure)
  return refused(status, code, message)
}

/** The last event of a stream that fails: an `error` event. */
export const breakOff = (failure: Wire.Failure, _received: Received, number: number): string => {
  const { code, message } = words(failure)
  const data = { event_type: "error", error: { message, code } }
  return eventOf(data, number)
}
