/** Writes answers of chat completions: replies, whole and streamed, and refusals. */
import type * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"
import type { Answer } from "../handling.ts"
import type * as Wire from "./wire.ts"
import * as OpenAiError from "./openAiError.ts"
import * as Parts from "./parts.ts"

export const render = (request: Wire.BrainRequest, reply: Wire.BrainReply): Answer => {
  const head = { id: `chatcmpl-${request.received.number}`, created: 0, model: request.model }
  if (request.isStreamed) return Parts.events(streamed(head, reply, wantsUsage(request)))
  return Parts.json(whole(head, reply))
}

type Head = { readonly id: string; readonly created: number; readonly model: string }

const wantsUsage = ({ received: { body } }: Wire.BrainRequest): boolean => {
  const options = Predicate.hasProperty(body, "stream_options") ? body.stream_options : undefined
  return Predicate.hasProperty(options, "include_usage") && options.include_usage === true
}

const textIn = (reply: Wire.BrainReply, type: "text" | "reasoning"): string =>
  reply.content.map((part) => (part.type === type ? part.text : "")).join("")

const whole = (head: Head, reply: Wire.BrainReply) => {
  const calls = Parts.callsOf(reply)
  const text = textIn(reply, "text")
  const thoughts = textIn(reply, "reasoning")
  const message = {
    role: "assistant",
    content: text === "" ? null : text,
    refusal: null,
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(wireCall) })
  }
  return {
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message, logprobs: null, finish_reason: reasonOf(reply) }],
    usage: wireUsage(reply)
  }
}

const streamed = (head: Head, reply: Wire.BrainReply, usage: boolean): string => {
  const chunk = (fields: object) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...fields })}\n\n`
  const delta = (delta: object, finish: string | null = null) =>
    chunk({ choices: [{ index: 0, delta, finish_reason: finish }] })
  return [
    delta({ role: "assistant", content: "" }),
    ...Parts.inPieces(textIn(reply, "reasoning")).map((reasoning_content) => delta({ reasoning_content })),
    ...Parts.inPieces(textIn(reply, "text")).map((content) => delta({ content })),
    ...Parts.callsOf(reply).flatMap((call, index) => {
      const { function: fn, ...named } = wireCall(call)
      const first = { index, ...named, function: { name: fn.name, arguments: "" } }
      const more = Parts.inPieces(fn.arguments).map((piece) => ({ index, function: { arguments: piece } }))
      return [first, ...more].map((tool_call) => delta({ tool_calls: [tool_call] }))
    }),
    delta({}, reasonOf(reply)),
    ...(usage ? [chunk({ choices: [], usage: wireUsage(reply) })] : []),
    "data: [DONE]\n\n"
  ].join("")
}

const wireCall = (call: Message.ToolCall) => ({
  id: call.id,
  type: "function",
  function: { name: call.name, arguments: Parts.argumentsText(call) }
})

const reasonOf = (reply: Wire.BrainReply): string => {
  const finish = Parts.finishOf(reply)
  switch (finish) {
    case "filtered":
      return "content_filter"
    case "tool-calls":
      return "tool_calls"
    case "paused":
      return "stop"
    default:
      return finish
  }
}

const wireUsage = (reply: Wire.BrainReply) => {
  const usage = Parts.usageOf(reply)
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens }
  }
}

export const refuse = (failure: Wire.Failure): Answer => {
  const { error, headers = {}, status } = words(failure)
  return Parts.json({ error }, { status, headers: { "x-request-id": "req_refused", ...headers } })
}

/** The last event of a stream that fails: an error, which no `[DONE]` follows. */
export const breakOff = (failure: Wire.Failure): string =>
  `data: ${JSON.stringify({ error: words(failure).error })}\n\n`

const words = (failure: Wire.Failure): OpenAiError.Words => {
  const model = failure.type === "unknown-model" ? failure.model : ""
  const message = `The model \`${model}\` does not exist or you do not have access to it.`
  const error = { message, type: "invalid_request_error", param: null, code: "model_not_found" }
  return OpenAiError.words(failure, { status: 404, error })
}
