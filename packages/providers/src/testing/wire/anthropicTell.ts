/** Writes answers of Anthropic's Messages API: replies, whole and streamed, and refusals. */
import type * as Message from "@kintsugi/core/Message"
import type { Answer } from "../handling.ts"
import type * as Wire from "./wire.ts"
import * as Parts from "./parts.ts"

export const render = (request: Wire.BrainRequest, reply: Wire.BrainReply): Answer => {
  const { number } = request.received
  const headers = { "request-id": `req_${number}` }
  const stop_reason = reasonOf(reply)
  const blocks = stop_reason === "refusal" ? [] : reply.content.flatMap(blocksOf)
  const message = { id: `msg_${number}`, type: "message", role: "assistant", model: request.model }
  const { input, output } = usageOf(reply)
  const ending = { stop_reason, stop_sequence: null, ...detailsOf(stop_reason) }
  if (!request.isStreamed) {
    const content = blocks.map(({ whole }) => whole)
    return Parts.json({ ...message, content, ...ending, usage: { ...input, output_tokens: output } }, { headers })
  }
  const opening = { ...message, content: [], stop_reason: null, stop_sequence: null }
  const events = [
    { type: "message_start", message: { ...opening, usage: { ...input, output_tokens: 1 } } },
    ...blocks.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block.start },
      // the real service sends one ping after the start of the first block
      ...(index === 0 ? [{ type: "ping" }] : []),
      ...block.deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index }
    ]),
    { type: "message_delta", delta: ending, usage: { output_tokens: output } },
    { type: "message_stop" }
  ]
  return Parts.events(events.map(padded).join(""), headers)
}

/** Writes an event. Blanks follow its JSON, as in the events of the real service. */
const padded = (data: Parts.Named, index: number): string =>
  Parts.namedEvent(data).replace(/\n\n$/, `${" ".repeat(data.type === "ping" ? 0 : (index * 5) % 16)}\n\n`)

interface Block {
  readonly whole: object
  readonly start: object
  readonly deltas: ReadonlyArray<object>
}

const blocksOf = (part: Message.Reply["content"][number]): ReadonlyArray<Block> => {
  switch (part.type) {
    case "text": {
      const deltas = Parts.inPieces(part.text).map((text) => ({ type: "text_delta", text }))
      return [{ whole: part, start: { type: "text", text: "" }, deltas }]
    }
    case "reasoning": {
      const signature = Parts.signatureOf(part.text)
      const thoughts = Parts.inPieces(part.text).map((thinking) => ({ type: "thinking_delta", thinking }))
      return [
        {
          whole: { type: "thinking", thinking: part.text, signature },
          start: { type: "thinking", thinking: "", signature: "" },
          deltas: [...thoughts, { type: "signature_delta", signature }]
        }
      ]
    }
    case "tool-call": {
      const { id, name } = part
      const call = { type: "tool_use", id, name, caller: { type: "direct" } }
      const input = Parts.argumentsText(part)
      const deltas = ["", ...Parts.inPieces(input)].map((partial_json) => ({ type: "input_json_delta", partial_json }))
      return [{ whole: { ...call, input: Parts.argumentsObject(part) }, start: { ...call, input: {} }, deltas }]
    }
    case "provider-item":
      return []
  }
}

const reasonOf = (reply: Wire.BrainReply): string => {
  const finish = Parts.finishOf(reply)
  switch (finish) {
    case "stop":
      return "end_turn"
    case "tool-calls":
      return "tool_use"
    case "length":
      return "max_tokens"
    case "filtered":
      return "refusal"
    case "paused":
      return "pause_turn"
    case "other":
      return finish
  }
}

const detailsOf = (reason: string): object =>
  reason === "refusal" ? { stop_details: { type: "refusal", category: null, explanation: null } } : {}

/** Token counts in Anthropic's form. Its input tokens exclude those that were read from the cache or written to it. */
const usageOf = (reply: Wire.BrainReply) => {
  const { cacheWriteTokens, cachedInputTokens, inputTokens, outputTokens } = Parts.usageOf(reply)
  const input = {
    input_tokens: Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedInputTokens
  }
  return { input, output: outputTokens }
}

export const refuse = (failure: Wire.Failure): Answer => {
  const { error, headers, status } = words(failure)
  return Parts.json(
    { type: "error", error, request_id: "req_refused" },
    { status, headers: { "request-id": "req_refused", ...headers } }
  )
}

/** The last event of a stream that fails: an `error` event, which no `message_stop` follows. */
export const breakOff = (failure: Wire.Failure): string =>
  Parts.namedEvent({ type: "error", error: { details: null, ...words(failure).error } })

interface Words {
  readonly status: number
  readonly error: { readonly type: string; readonly message: string }
  readonly headers?: Readonly<Record<string, string>>
}

const words = (failure: Wire.Failure): Words => {
  const wordsOf = (status: number, type: string, message: string, headers?: Words["headers"]): Words => ({
    status,
    error: { type, message },
    ...(headers === undefined ? {} : { headers })
  })
  switch (failure.type) {
    case "invalid-request":
      return wordsOf(400, "invalid_request_error", failure.message, { "x-should-retry": "false" })
    case "unauthorized": {
      const message = failure.isKeyGiven ? "invalid x-api-key" : "x-api-key header is required"
      return wordsOf(401, "authentication_error", message, { "x-should-retry": "false" })
    }
    case "unknown-model":
      return wordsOf(404, "not_found_error", `model: ${failure.model}`, { "x-should-retry": "false" })
    case "rate-limited": {
      const seconds = Math.ceil(Parts.waitOf(failure) / 1000)
      const limit = "This request would exceed the rate limit for your organization of 50 requests per minute."
      return wordsOf(429, "rate_limit_error", limit, {
        "retry-after": String(seconds),
        "x-should-retry": "true",
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "0"
      })
    }
    case "quota-exhausted": {
      const message = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."
      return wordsOf(400, "invalid_request_error", message, { "x-should-retry": "false" })
    }
    case "overloaded":
      return wordsOf(529, "overloaded_error", "Overloaded", { "x-should-retry": "true" })
    case "server-error":
      return wordsOf(500, "api_error", "Internal server error", { "x-should-retry": "true" })
  }
}
