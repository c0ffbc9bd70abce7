/** Responses as OpenAI sends them, whole and event by event, and how they are read. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import type * as Provider from "@kintsugi/providers/Provider"
import { Result, type Schema } from "effect"
import { answer } from "../../../../_support/wireFixtures.ts"
import { take } from "../../../../_support/codec.ts"

export const source: Provider.Source = { provider: "openai", model: "gpt-x", secrets: [] }

export const codec = OpenAiResponses.make(source)

export type Item = Schema.JsonObject

export const message = (text: string, more: Item = {}, annotations: ReadonlyArray<Schema.Json> = []): Item => ({
  id: "msg_1",
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", annotations, text }],
  ...more
})

export const reasoning = (id: string, ...summary: ReadonlyArray<string>): Item => ({
  id,
  type: "reasoning",
  summary: summary.map((text) => ({ type: "summary_text", text })),
  encrypted_content: `secret of ${id}`
})

export const call = (id: string, args: string, more: Item = {}): Item => ({
  id: `fc_${id}`,
  type: "function_call",
  status: "completed",
  arguments: args,
  call_id: `call_${id}`,
  name: "search",
  ...more
})

export const response = (output: ReadonlyArray<Item>, more: Item = {}): Item => ({
  id: "resp_1",
  object: "response",
  status: "completed",
  error: null,
  incomplete_details: null,
  model: "gpt-x-2026",
  output,
  usage: {
    input_tokens: 30,
    input_tokens_details: { cached_tokens: 20 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 39
  },
  ...more
})

const cut = (text: string, size: number) => text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []

// only called with the items above
const partsOf = (item: Item, key: string) => (item[key] ?? []) as ReadonlyArray<{ type: string; text?: string }>

/** The events of one item, its texts in pieces of `size`. */
export const itemEvents = (item: Item, output_index: number, size = 3): ReadonlyArray<Item> => {
  const at = { item_id: item["id"] ?? null, output_index }
  const deltas = (type: string, text: string, more: Item) =>
    cut(text, size).map((delta): Item => ({ type, ...at, ...more, delta }))
  const begun: Item = {
    ...item,
    status: "in_progress",
    ...(item["type"] === "message" ? { content: [] } : {}),
    ...(item["type"] === "function_call" ? { arguments: "" } : {})
  }
  return [
    { type: "response.output_item.added", output_index, item: begun },
    ...partsOf(item, "summary").flatMap(({ text = "" }, summary_index) =>
      deltas("response.reasoning_summary_text.delta", text, { summary_index })
    ),
    ...partsOf(item, "content").flatMap(({ text = "", type }, content_index) =>
      deltas(type === "reasoning_text" ? "response.reasoning_text.delta" : "response.output_text.delta", text, {
        content_index
      })
    ),
    ...(typeof item["arguments"] === "string"
      ? deltas("response.function_call_arguments.delta", item["arguments"], {})
      : []),
    { type: "response.output_item.done", output_index, item }
  ]
}

/** All events of a response, in the order of the wire. */
export const events = (whole: Item, size = 3): ReadonlyArray<Item> => {
  const begun = { ...whole, status: "in_progress", output: [], usage: null, error: null, incomplete_details: null }
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    // as `response` made it
    ...(whole["output"] as ReadonlyArray<Item>).flatMap((item, index) => itemEvents(item, index, size)),
    { type: `response.${String(whole["status"])}`, response: whole }
  ]
}

export const decode = (body: unknown) => codec.decode(answer(200, body))

/** The reply that the events of a stream fold to, and whether they came to their end. */
export const decodeStream = (
  events: ReadonlyArray<unknown>
): Result.Result<Message.Reply | undefined, LlmError.LlmError> => {
  const decoder = codec.decoder(answer(200, ""))
  const collector = new Model.Collector()
  for (const event of events) {
    if (decoder.state() === "done") break
    const parts = decoder.push(typeof event === "string" ? event : JSON.stringify(event))
    if (Result.isFailure(parts)) return Result.fail(parts.failure)
    take(collector, parts.success)
  }
  if (decoder.state() === "open") return Result.succeed(undefined)
  return Result.succeed(collector.reply())
}
