/** Decodes the body of Converse, and the parts that whole and streamed bodies share. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Classify from "../../classify/Classify.ts"
import type { Answer } from "../../transport/Answer.ts"
import * as Json from "../../transport/Json.ts"
import type { Source } from "../../transport/Source.ts"
import { type Facts, factsOf } from "../replyFacts.ts"
import { tokenCount } from "../tokenCount.ts"
import * as ConverseError from "./error.ts"

/** The reply of a 2xx answer; total. It is collected like a streamed reply, so that both are the same. */
export const decode = (source: Source, answer: Answer): Result.Result<Message.Reply, LlmError> => {
  const parsed = Json.parse(answer.body)
  if (Result.isFailure(parsed)) return Result.fail(Classify.undecodable(source, answer, parsed.failure))
  const body = parsed.success
  const usage = usageOf(Json.field(body, "usage"))
  const error = ConverseError.inside(source, answer, body, usage)
  if (error !== undefined) return Result.fail(error)
  const blocks = Json.field(Json.field(Json.field(body, "output"), "message"), "content")
  if (!Array.isArray(blocks)) {
    return Result.fail(Classify.undecodable(source, answer, new Error("the body holds no message")))
  }
  const collector = new Model.Collector()
  let calls = false
  for (const [index, block] of Json.items(blocks).entries()) {
    for (const part of [...opening(block), ...closing(block, source.provider, index)]) {
      calls ||= part.type === "tool-call"
      collector.push(part)
    }
  }
  const reason = Json.field(body, "stopReason")
  collector.push({
    type: "finish",
    finish: finishOf(Json.text(reason), calls),
    usage: usage ?? Usage.empty,
    ...factsIn(answer, body, reason)
  })
  const reply = collector.reply()
  return reply === undefined
    ? Result.fail(Classify.undecodable(source, answer, new Error("the message has no end")))
    : Result.succeed(reply)
}

/** The facts of a reply: Converse names the model only where a router has chosen it. */
export const factsIn = (answer: Answer, body: Schema.Json | undefined, reason: Schema.Json | undefined): Facts =>
  factsOf(answer, {
    model: Json.field(Json.field(Json.field(body, "trace"), "promptRouter"), "invokedModelId"),
    rawFinish: reason,
    serviceTier: Json.field(Json.field(body, "serviceTier"), "type")
  })

/** How a reply ended. A reply with calls ends with `tool-calls` despite any other reason: its calls must be settled first. */
export const finishOf = (reason: string | undefined, calls: boolean): Message.FinishReason => {
  switch (reason) {
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length"
    case undefined:
    case "end_turn":
    case "stop_sequence":
    case "tool_use":
      return calls ? "tool-calls" : "stop"
    default:
      return calls ? "tool-calls" : "other"
  }
}

/** Our usage, where the input is the whole prompt: the wire counts what was read from the cache or written to it beside it. */
export const usageOf = (usage: Schema.Json | undefined): Usage.Usage | undefined => {
  if (!Predicate.isObject(usage)) return undefined
  const count = (name: string) => tokenCount(Json.field(usage, name)) ?? 0
  const [cached, written] = [count("cacheReadInputTokens"), count("cacheWriteInputTokens")]
  return Usage.make({
    inputTokens: count("inputTokens") + cached + written,
    outputTokens: count("outputTokens"),
    cachedInputTokens: cached,
    cacheWriteTokens: written
  })
}

/** The kind of item that holds the sources of the text before it. */
export const cited = "citations"

/** The parts of a block that can be emitted before its end. */
const opening = (block: Schema.Json): ReadonlyArray<Model.Part> => {
  const [kind, value] = memberOf(block)
  switch (kind) {
    case "text":
      return texts("text-delta", value)
    case "reasoningContent":
      return texts("reasoning-delta", Json.field(Json.field(value, "reasoningText"), "text"))
    case "citationsContent":
      return Json.items(Json.field(value, "content")).flatMap((part) => texts("text-delta", Json.field(part, "text")))
    default:
      return []
  }
}

/** The text of a delta, if it has one. */
export const texts = (
  type: "text-delta" | "reasoning-delta",
  text: Schema.Json | undefined
): ReadonlyArray<Model.Part> => (Predicate.isString(text) && text !== "" ? [{ type, text }] : [])

/** The parts at the end of a block. `index` is its position in the message. */
export const closing = (block: Schema.Json, provider: string, index: number): ReadonlyArray<Model.Part> => {
  const [kind, value] = memberOf(block)
  const item = (kind: string, data: Schema.Json): ReadonlyArray<Model.Part> => [
    { type: "provider-item", kind, opaque: { provider, data } }
  ]
  switch (kind) {
    case undefined:
    case "text":
      return []
    case "reasoningContent": {
      const thought = Json.field(value, "reasoningText")
      if (thought === undefined) return item(redacted, block)
      const signature = Json.text(Json.field(thought, "signature")) ?? null
      return [{ type: "reasoning-delta", text: "", opaque: { provider, data: signature } }]
    }
    case "citationsContent": {
      const citations = Json.items(Json.field(value, "citations"))
      return citations.length === 0 ? [] : item(cited, citations)
    }
    case "toolUse":
      return isServers(value) ? item("server_tool_use", block) : [callOf(value, index)]
    default:
      return item(kind, block)
  }
}

/** The kind of item of a redacted thought, as `thoughts` knows it. */
const redacted = "redacted_thinking"

/** Whether the provider makes the call itself. */
const isServers = (call: Schema.Json): boolean => Json.field(call, "type") === "server_tool_use"

/** A block is an object with one member, its kind. */
const memberOf = (block: Schema.Json): readonly [string | undefined, Schema.Json] => {
  const [kind, value = null] = Object.entries(Json.fields(block))[0] ?? []
  return [kind, value]
}

/** A call. An absent id or name is replaced, so that the call stays distinct and can be settled. */
const callOf = (call: Schema.Json, index: number): Message.ToolCall => ({
  type: "tool-call",
  id: Json.text(Json.field(call, "toolUseId")) ?? `call_${index}`,
  name: Json.text(Json.field(call, "name")) ?? "",
  arguments: Json.field(call, "input") ?? null
})
