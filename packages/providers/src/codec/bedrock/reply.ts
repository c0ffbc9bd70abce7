/** Decodes the body of Converse. The decoder of streams uses the same functions for its blocks. */
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

/** Decodes the reply of a 2xx answer; total. The parts are collected as those of a stream, so that both give the same reply. */
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
  // Mutant `false` survives: never reached. The collector has just got its finish part, and with one there always is a reply
  return reply === undefined
    ? Result.fail(Classify.undecodable(source, answer, new Error("the message has no end")))
    : Result.succeed(reply)
}

/** The facts that a reply states about itself. Converse names the model only if a router has chosen it. */
export const factsIn = (answer: Answer, body: Schema.Json | undefined, reason: Schema.Json | undefined): Facts =>
  factsOf(answer, {
    model: Json.field(Json.field(Json.field(body, "trace"), "promptRouter"), "invokedModelId"),
    rawFinish: reason,
    serviceTier: Json.field(Json.field(body, "serviceTier"), "type")
  })

/** The finish reason of a reply. A complete reply with calls always ends with `tool-calls`, because its calls must be settled first. */
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

/**
 * The usage in an answer. `inputTokens` is the whole prompt: the wire counts the tokens that were read from the cache, or written to it,
 * separately.
 */
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

/** The kind of the provider item that holds the sources of the text before it. */
export const cited = "citations"

/** The parts of a block that can be emitted before the block ends. */
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

/** A part for a piece of text; none if the text is absent or empty. */
export const texts = (
  type: "text-delta" | "reasoning-delta",
  text: Schema.Json | undefined
): ReadonlyArray<Model.Part> => (Predicate.isString(text) && text !== "" ? [{ type, text }] : [])

/** The parts that are emitted when a block ends. `index` is the position of the block in the message. */
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

/** The kind of the provider item for a redacted thought; `thoughts.ts` recognises it. */
const redacted = "redacted_thinking"

/** Whether the provider itself runs the tool of a call. */
const isServers = (call: Schema.Json): boolean => Json.field(call, "type") === "server_tool_use"

/** The kind and the value of a block, which is an object with one member. */
const memberOf = (block: Schema.Json): readonly [string | undefined, Schema.Json] => {
  const [kind, value = null] = Object.entries(Json.fields(block))[0] ?? []
  return [kind, value]
}

/** Makes a tool call. An absent id or name is replaced, so that the call is distinct and can be settled. */
const callOf = (call: Schema.Json, index: number): Message.ToolCall => ({
  type: "tool-call",
  id: Json.text(Json.field(call, "toolUseId")) ?? `call_${index}`,
  name: Json.text(Json.field(call, "name")) ?? "",
  arguments: Json.field(call, "input") ?? null
})
