/** Decodes the body of `POST /v1/messages`. The decoder of streams uses the same functions for its blocks. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as CoreUsage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Source } from "../../transport/Source.ts"
import { type Facts, factsOf } from "../replyFacts.ts"
import * as MessagesError from "./error.ts"
import * as Usage from "./usage.ts"
import * as Json from "../../transport/Json.ts"
import { Unanswered } from "./waiting.ts"

/** Decodes the reply of a 2xx answer; total. The parts are collected as those of a stream, so that both give the same reply. */
export const decode = (
  source: Source,
  answer: Answer,
  unansweredNames: ReadonlySet<string>
): Result.Result<Message.Reply, LlmError> => {
  const body = Json.parse(answer.body)
  if (Result.isFailure(body)) return Result.fail(Classify.undecodable(source, answer, body.failure))
  const message = body.success
  const error = MessagesError.inside(source, answer, message)
  if (error !== undefined) return Result.fail(error)
  const blocks = Json.field(message, "content")
  if (!Array.isArray(blocks)) {
    return Result.fail(Classify.undecodable(source, answer, new Error("the body holds no message")))
  }
  const collector = new Model.Collector()
  const unanswered = new Unanswered(unansweredNames)
  let calls = false
  for (const [index, block] of Json.items(blocks).entries()) {
    unanswered.note(block)
    for (const part of [...opening(block), ...closing(block, source.provider, index)]) {
      calls ||= part.type === "tool-call"
      collector.push(part)
    }
  }
  const reason = Json.text(Json.field(message, "stop_reason"))
  const usage = Usage.toUsage(Usage.read(Json.field(message, "usage")))
  const kind = unanswered.kind(reason, calls)
  if (kind !== undefined) return Result.fail(Classify.unanswerable(source, answer, kind, usage))
  collector.push({
    type: "finish",
    finish: finishOf(reason, calls),
    usage: usage ?? CoreUsage.empty,
    ...factsIn(answer, message, Json.field(message, "stop_reason"))
  })
  const reply = collector.reply()
  // Mutants `false`, `""` survive: never reached. The collector has just got its finish part, and with one there always
  // is a reply
  if (reply === undefined) return Result.fail(Classify.undecodable(source, answer, new Error("the message has no end")))
  return Result.succeed(reply)
}

/**
 * The facts that a message states about itself. The tier is in its usage; the fast mode has another field there (platform.claude.com, "Fast
 * mode", looked up on 2026-11-26).
 */
export const factsIn = (answer: Answer, message: Schema.Json | undefined, reason: Schema.Json | undefined): Facts =>
  factsOf(answer, {
    model: Json.field(message, "model"),
    responseId: Json.field(message, "id"),
    rawFinish: reason,
    serviceTier: Json.field(Json.field(message, "usage"), isFast(message) ? "speed" : "service_tier")
  })

const isFast = (message: Schema.Json | undefined): boolean =>
  Json.field(Json.field(message, "usage"), "speed") === "fast"

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
    case "pause_turn":
    // after a compaction the provider continues behind its summary: `BetaStopReason` in npm's `@anthropic-ai/sdk` 1.12.0, looked up on
    // 2026-11-26
    case "compaction":
      return calls ? "tool-calls" : "paused"
    default:
      return calls ? "tool-calls" : "other"
  }
}

/** The parts of a block that can be emitted before the block ends. */
export const opening = (block: Schema.Json): ReadonlyArray<Model.Part> => {
  const type = Json.field(block, "type")
  if (type === "text") return texts("text-delta", Json.field(block, "text"))
  return type === "thinking" ? texts("reasoning-delta", Json.field(block, "thinking")) : []
}

/** A part for a piece of text; none if the text is absent or empty. */
export const texts = (
  type: "text-delta" | "reasoning-delta",
  text: Schema.Json | undefined
): ReadonlyArray<Model.Part> => (Predicate.isString(text) && text !== "" ? [{ type, text }] : [])

/**
 * The parts that are emitted when a block ends: the signature of thoughts, the citations of a text, a call, or an item of the provider.
 * `index` is the position of the block in the message.
 */
export const closing = (block: Schema.Json, provider: string, index: number): ReadonlyArray<Model.Part> => {
  const kind = Json.text(Json.field(block, "type"))
  switch (kind) {
    case undefined:
      return []
    case "text": {
      const citations = Json.items(Json.field(block, "citations"))
      return citations.length === 0
        ? []
        : [{ type: "provider-item", kind: cited, opaque: { provider, data: citations } }]
    }
    case "thinking": {
      const signature = Json.text(Json.field(block, "signature")) ?? null
      return [{ type: "reasoning-delta", text: "", opaque: { provider, data: signature } }]
    }
    case "tool_use":
      return [callOf(block, provider, index)]
    default:
      return [{ type: "provider-item", kind, opaque: { provider, data: block } }]
  }
}

/** The kind of the provider item that holds the sources of the text before it. */
export const cited = "citations"

/** Makes a tool call. An absent id or name is replaced, so that the call is distinct and can be settled. */
const callOf = (block: Schema.Json, provider: string, index: number): Message.ToolCall => {
  const more = Object.entries(Json.fields(block)).filter(([key, value]) => !isUsual(key, value))
  return {
    type: "tool-call",
    id: Json.text(Json.field(block, "id")) ?? `call_${index}`,
    name: Json.text(Json.field(block, "name")) ?? "",
    arguments: Json.field(block, "input") ?? null,
    ...(more.length === 0 ? {} : { opaque: { provider, data: Object.fromEntries(more) } })
  }
}

/** Whether a field of a call need not be kept, because every call has it. `caller` is kept only if a program of the model made the call. */
const isUsual = (key: string, value: unknown): boolean =>
  ["type", "id", "name", "input"].includes(key) ||
  (key === "caller" && Predicate.isObject(value) && value["type"] === "direct")
