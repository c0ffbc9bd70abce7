/** Messages of Anthropic, whole and as the events of a stream. */
import { assert } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import type * as Provider from "@kintsugi/providers/Provider"
import { Result, type Schema } from "effect"
import { answer } from "../../_support/wireFixtures.ts"
import { take } from "../../_support/codec.ts"

const source: Provider.Source = { provider: "anthropic", model: "claude-x", secrets: [] }

export const codec = AnthropicMessages.make(source)

export type Read = Result.Result<Message.Reply | undefined, LlmError.LlmError>

export const decode = (body: unknown): Read => codec.decode(answer(200, body))

/** The reply that events fold to, as far as a transport reads them; none if their end does not come. */
export const decodeEvents = (events: ReadonlyArray<unknown>): Read => {
  const decoder = codec.decoder(answer(200, ""))
  const collector = new Model.Collector()
  for (const event of events) {
    if (decoder.state() === "done") break
    const parts = decoder.push(typeof event === "string" ? event : JSON.stringify(event))
    if (Result.isFailure(parts)) return Result.fail(parts.failure)
    take(collector, parts.success)
  }
  return Result.succeed(decoder.state() === "open" ? undefined : collector.reply())
}

export const ok = (read: Read): Message.Reply => {
  assert(Result.isSuccess(read), Result.isFailure(read) ? read.failure.message : "")
  assert(read.success !== undefined, "the end is missing")
  return read.success
}

export const failed = <E extends LlmError.LlmError>(read: Read, type: new (...args: Array<never>) => E): E => {
  assert(Result.isFailure(read))
  assert(read.failure instanceof type, `${read.failure._tag}: ${read.failure.message}`)
  return read.failure
}

export type Block = Schema.JsonObject

const usage = { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 7 }

export const message = (content: ReadonlyArray<Block>, stop_reason: string | null, more: object = {}) => ({
  type: "message",
  role: "assistant",
  model: "claude-x-1",
  content,
  stop_reason,
  usage,
  ...more
})

export const start = {
  type: "message_start",
  message: { ...message([], null), usage: { ...usage, output_tokens: 1 } }
}

export const stop = { type: "message_stop" }

export const ended = (stop_reason: string | null, more: object = {}) => ({
  type: "message_delta",
  delta: { stop_reason, ...more },
  usage: { output_tokens: 7 }
})

/** The events of one block, its texts in pieces of at most this length. */
export const eventsOf = (block: Block, index: number, size: number): ReadonlyArray<Schema.Json> => {
  const { citations, input, signature, text, thinking, ...rest } = block
  const deltas = (type: string, key: string, value: Schema.Json | undefined) =>
    piecesOf(typeof value === "string" ? value : "", size).map((piece) => ({ type, [key]: piece }))
  const begun = {
    ...rest,
    ...(text === undefined ? {} : { text: "" }),
    ...(thinking === undefined ? {} : { thinking: "", signature: "" }),
    ...(input === undefined ? {} : { input: {} })
  }
  const json = input === undefined ? undefined : JSON.stringify(input)
  return [
    { type: "content_block_start", index, content_block: begun },
    { type: "ping" },
    ...[
      ...deltas("text_delta", "text", text),
      ...deltas("thinking_delta", "thinking", thinking),
      ...deltas("signature_delta", "signature", signature),
      ...(Array.isArray(citations) ? citations : []).map((citation) => ({ type: "citations_delta", citation })),
      ...(json === undefined ? [] : [{ type: "input_json_delta", partial_json: "" }]),
      ...deltas("input_json_delta", "partial_json", json === "{}" ? "" : json)
    ].map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index }
  ]
}

const piecesOf = (text: string, size: number): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size))
  return pieces
}

/** A whole message as a stream. */
export const streamed = (content: ReadonlyArray<Block>, stop_reason: string, size = 5): ReadonlyArray<Schema.Json> => [
  start,
  ...content.flatMap((block, index) => eventsOf(block, index, size)),
  ended(stop_reason),
  stop
]
