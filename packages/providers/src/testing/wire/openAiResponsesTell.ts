/** Writes answers of OpenAI's Responses API: replies, whole and streamed, and refusals. */
import type * as Message from "@kintsugi/core/Message"
import type * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import type { Answer, Received } from "../handling.ts"
import type * as Wire from "./wire.ts"
import * as OpenAiError from "./openAiError.ts"
import * as Parts from "./parts.ts"

export const render = (request: Wire.BrainRequest, reply: Wire.BrainReply): Answer =>
  request.isStreamed ? streamed(request, eventsOf(request, reply)) : whole(request, endOf(request, reply))

export const whole = ({ received }: Wire.BrainRequest, response: object): Answer =>
  Parts.json(response, { headers: headersOf(received) }, 2)

export const streamed = ({ received }: Wire.BrainRequest, events: ReadonlyArray<string>): Answer =>
  Parts.events(events.join(""), headersOf(received))

const headersOf = ({ number }: Received) => ({ "x-request-id": `req_${number}` })

/** The complete response, with the output and usage of its reply. */
export const endOf = (request: Wire.BrainRequest, reply: Wire.BrainReply): object => ended(request, reply).response

/** The numbered events of a streamed response. `first` are further events between `response.created` and `response.in_progress`. */
export const eventsOf = (
  request: Wire.BrainRequest,
  reply: Wire.BrainReply,
  first: ReadonlyArray<Parts.Named> = []
): ReadonlyArray<string> => {
  const response = responseOf(request.received, request.model)
  const { items, outputs, response: end } = ended(request, reply)
  const events = [
    { type: "response.created", response },
    ...first,
    { type: "response.in_progress", response },
    ...items.flatMap(({ added, events }, output_index) => [
      { type: "response.output_item.added", output_index, item: added },
      ...events.map((event) => ({ ...event, output_index })),
      { type: "response.output_item.done", output_index, item: outputs[output_index] }
    ]),
    { type: end.status === "incomplete" ? "response.incomplete" : "response.completed", response: end }
  ]
  return events.map(numbered)
}

const ended = ({ model, received }: Wire.BrainRequest, reply: Wire.BrainReply) => {
  const finish = Parts.finishOf(reply)
  const isCut = finish === "length" || finish === "filtered"
  const items = reply.content.flatMap((part, index) => itemsOf(part, `${received.number}_${index}`))
  const outputs = items.map(({ done }, index) =>
    isCut && index === items.length - 1 ? { ...done, status: "incomplete" } : done
  )
  const response = {
    ...responseOf(received, model),
    status: isCut ? "incomplete" : "completed",
    incomplete_details: isCut ? { reason: finish === "length" ? "max_output_tokens" : "content_filter" } : null,
    output: outputs,
    usage: wireUsage(Parts.usageOf(reply))
  }
  return { items, outputs, response }
}

const numbered = (event: Parts.Named, sequence_number: number): string =>
  Parts.namedEvent({ ...event, sequence_number })

/** A response without output, in progress, as at the beginning of a reply. */
export const responseOf = ({ body, number }: Received, model: string) => {
  const asked = (name: string, otherwise: unknown): unknown =>
    (Predicate.hasProperty(body, name) ? body[name] : undefined) ?? otherwise
  return {
    id: `resp_${number}`,
    object: "response",
    background: asked("background", false),
    created_at: 0,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    instructions: asked("instructions", null),
    max_output_tokens: asked("max_output_tokens", null),
    model,
    output: [],
    parallel_tool_calls: asked("parallel_tool_calls", true),
    previous_response_id: asked("previous_response_id", null),
    reasoning: asked("reasoning", { effort: null, summary: null }),
    store: asked("store", true),
    temperature: asked("temperature", 1),
    text: asked("text", { format: { type: "text" } }),
    tool_choice: asked("tool_choice", "auto"),
    tools: asked("tools", []),
    top_p: asked("top_p", 1),
    truncation: "disabled",
    usage: null,
    user: null,
    metadata: {}
  }
}

interface Item {
  readonly added: object
  /** The events of an output item between `output_item.added` and `output_item.done`. */
  readonly events: ReadonlyArray<Parts.Named>
  readonly done: object
}

const itemsOf = (part: Message.Reply["content"][number], number: string): ReadonlyArray<Item> => {
  switch (part.type) {
    case "text":
      return [messageOf(part.text, `msg_${number}`)]
    case "reasoning":
      return [reasoningOf(part.text, `rs_${number}`)]
    case "tool-call":
      return [callOf(part, `fc_${number}`)]
    case "provider-item": {
      const { data, provider } = part.opaque
      return provider === "openai" && Predicate.isObject(data) ? [{ added: data, events: [], done: data }] : []
    }
  }
}

const messageOf = (text: string, id: string): Item => {
  const head = { type: "message", id, role: "assistant" }
  const at = { item_id: id, content_index: 0 }
  const partOf = (text: string) => ({ type: "output_text", text, annotations: [] })
  return {
    added: { ...head, status: "in_progress", content: [] },
    events: [
      { type: "response.content_part.added", ...at, part: partOf("") },
      ...Parts.inPieces(text).map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
      { type: "response.output_text.done", ...at, text, logprobs: [] },
      { type: "response.content_part.done", ...at, part: partOf(text) }
    ],
    done: { ...head, status: "completed", content: [partOf(text)] }
  }
}

const reasoningOf = (text: string, id: string): Item => {
  const head = { type: "reasoning", id, encrypted_content: Parts.signatureOf(id) }
  const at = { item_id: id, summary_index: 0 }
  const partOf = (text: string) => ({ type: "summary_text", text })
  return {
    added: { ...head, summary: [] },
    events: [
      { type: "response.reasoning_summary_part.added", ...at, part: partOf("") },
      ...Parts.inPieces(text).map((delta) => ({ type: "response.reasoning_summary_text.delta", ...at, delta })),
      { type: "response.reasoning_summary_text.done", ...at, text },
      { type: "response.reasoning_summary_part.done", ...at, part: partOf(text) }
    ],
    done: { ...head, summary: [partOf(text)] }
  }
}

const callOf = (call: Message.ToolCall, id: string): Item => {
  const head = { type: "function_call", id, call_id: call.id, name: call.name }
  const at = { item_id: id }
  const text = Parts.argumentsText(call)
  return {
    added: { ...head, arguments: "", status: "in_progress" },
    events: [
      ...Parts.inPieces(text).map((delta) => ({ type: "response.function_call_arguments.delta", ...at, delta })),
      { type: "response.function_call_arguments.done", ...at, arguments: text }
    ],
    done: { ...head, arguments: text, status: "completed" }
  }
}

export const wireUsage = (usage: Usage.Usage) => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: { cached_tokens: usage.cachedInputTokens },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: usage.inputTokens + usage.outputTokens
})

export const refuse = (failure: Wire.Failure): Answer => {
  const { error, headers = {}, status } = words(failure)
  return Parts.json({ error }, { status, headers: { "x-request-id": "req_refused", ...headers } }, 2)
}

/** The last events of a stream that fails: an `error` event, and the failed response. */
export const breakOff = (failure: Wire.Failure, received: Received, events: number): string => {
  const model = Predicate.hasProperty(received.body, "model") ? String(received.body.model) : ""
  return [
    { type: "error", error: words(failure).error },
    { type: "response.failed", response: failedOf(failure, received, model) }
  ]
    .map((event, index) => numbered(event, events + index))
    .join("")
}

export const failedOf = (failure: Wire.Failure, received: Received, model: string): object => {
  const { code, message, type } = words(failure).error
  return { ...responseOf(received, model), status: "failed", error: { code: code ?? type, message } }
}

/** The status and the error of a failure. For an unknown model Responses has the status 400, unlike chat completions. */
const words = (failure: Wire.Failure): OpenAiError.Words => {
  const model = failure.type === "unknown-model" ? failure.model : ""
  const message = `The requested model '${model}' does not exist.`
  const error = { message, type: "invalid_request_error", param: "model", code: "model_not_found" }
  return OpenAiError.words(failure, { status: 400, error })
}
