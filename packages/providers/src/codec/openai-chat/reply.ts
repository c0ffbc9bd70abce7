/** Decodes the body of `POST /chat/completions`. The decoder of streams uses the same functions for its parts. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Source } from "../../transport/Source.ts"
import * as Json from "../../transport/Json.ts"
import * as FilterResults from "../filterResults.ts"
import { type Facts, factsOf } from "../replyFacts.ts"
import * as Calls from "./calls.ts"
import type { Full } from "./dialect.ts"
import * as ChatError from "./error.ts"
import * as ReasoningDetails from "./reasoningDetails.ts"
import { Remarks } from "./remarks.ts"
import { type Piece, ThinkTags } from "./thinkTags.ts"
import { costOf, usageOf } from "./usage.ts"

/** Decodes the reply of a 2xx answer; total. */
export const decode = (source: Source, answer: Answer, dialect: Full): Result.Result<Message.Reply, LlmError> => {
  const parsed = Json.parse(answer.body)
  if (Result.isFailure(parsed)) return Result.fail(Classify.undecodable(source, answer, parsed.failure))
  const body = parsed.success
  const reported = usageOf(body)
  const error = ChatError.reported(source, answer, body, reported)
  if (error !== undefined) return Result.fail(error)
  const choice = ChatError.firstChoice(body)
  const message = Json.field(choice, "message")
  if (!Predicate.isObject(message)) {
    return Result.fail(Classify.undecodable(source, answer, new Error("the body holds no message")))
  }
  const kind = Calls.foreignIn(Calls.piecesOf(message))
  if (kind !== undefined) return Result.fail(Classify.unanswerable(source, answer, kind, reported))
  const said = [...textOf(message, dialect), ...Calls.ofMessage(message)]
  const items = [...detailsOf(source, ReasoningDetails.of(message)), ...sourcesOf(source, body, dialect)]
  const content = [...reasoningOf(message, source), ...said, ...items, ...remarksOf(source, choice, said)]
  const calls = said.some((part) => part.type === "tool-call")
  const usage = reported ?? Usage.empty
  const reason = Json.text(Json.field(choice, "finish_reason"))
  const filters = FilterResults.ofReply(body, choice)
  const ended = endOf(source, answer, { reason, refusal: ChatError.refusalOf(message), filters, usage }, calls)
  return Result.map(ended, (finish) => ({ content, finish, usage, ...costOf(body), ...factsIn(answer, body) }))
}

/** The items for annotations and log probabilities. A reply without text and calls has none, so that it counts as empty. */
const remarksOf = (
  source: Source,
  choice: Schema.Json | undefined,
  said: Message.Reply["content"]
): ReadonlyArray<Message.ProviderItem> => {
  const remarks = new Remarks()
  remarks.ofChoice(choice)
  remarks.ofMessage(Json.field(choice, "message"))
  return said.some(({ type }) => type !== "reasoning") ? remarks.items(source) : []
}

/** The facts that a reply states about itself. OpenRouter states its provider's finish reason beside its own; the provider's counts. */
export const factsIn = (answer: Answer, body: Schema.Json): Facts => {
  const choice = ChatError.firstChoice(body)
  return factsOf(answer, {
    model: Json.field(body, "model"),
    responseId: Json.field(body, "id"),
    rawFinish: Json.field(choice, "native_finish_reason") ?? Json.field(choice, "finish_reason"),
    serviceTier: Json.field(body, "service_tier")
  })
}

/** The finish reason of a reply, or the error of a reply that was refused or broken off. */
export const endOf = (
  source: Source,
  answer: Answer,
  ending: ChatError.Ending,
  calls: boolean
): Result.Result<Message.FinishReason, LlmError> => {
  const error = ChatError.ended(source, answer, ending)
  if (error !== undefined) return Result.fail(error)
  switch (ending.reason) {
    case undefined:
    case "stop":
    case "tool_calls":
    case "function_call":
      return Result.succeed(calls ? "tool-calls" : "stop")
    case "length":
      return Result.succeed("length")
    default:
      return Result.succeed("other")
  }
}

/** The fields of a message that may hold reasoning: DeepSeek and Kimi use the first, OpenRouter, Groq and Cerebras the second. */
const reasoningFields = ["reasoning_content", "reasoning"]

/**
 * The reasoning among the parts of a content, as in Mistral's replies (docs.mistral.ai, "Reasoning", looked up on 2026-11-26). The text of
 * each such part is itself a list of texts.
 */
const thinkingOf = (message: Schema.Json | undefined): string =>
  Json.items(Json.field(message, "content"))
    .map((part) => contentText(Json.field(part, "thinking")))
    .join("")

/**
 * A text of reasoning, and the name of its field. A text from `reasoning_details` has no name, because it is sent back within the details.
 */
export interface Thought {
  readonly text: string
  readonly field: string | undefined
}

/**
 * The reasoning text of a message or a delta. If a field of its own has the reasoning (`cameNamed`: in an earlier delta), the text of
 * `reasoning_details` repeats it and is ignored.
 */
export const reasoning = (message: Schema.Json | undefined, cameNamed: boolean): Thought | undefined => {
  for (const field of reasoningFields) {
    const text = Json.text(Json.field(message, field))
    if (text !== undefined) return { field, text }
  }
  const thinking = thinkingOf(message)
  if (thinking !== "") return { field: "content", text: thinking }
  const text = cameNamed ? "" : ReasoningDetails.textOf(ReasoningDetails.of(message))
  return text === "" ? undefined : { field: undefined, text }
}

const reasoningOf = (message: Schema.Json, { provider }: Source): ReadonlyArray<Message.Reasoning> => {
  const found = reasoning(message, false)
  if (found === undefined) return []
  const opaque = found.field === undefined ? {} : { opaque: { provider, data: found.field } }
  return [{ type: "reasoning", text: found.text, ...opaque }]
}

const textOf = (message: Schema.Json, { thinkTags }: Full): ReadonlyArray<Message.Text | Message.Reasoning> => {
  const text = contentText(Json.field(message, "content"))
  if (text === "") return []
  if (!thinkTags) return [{ type: "text", text }]
  const tags = new ThinkTags()
  const pieces = [...tags.push(text), ...tags.end()]
  const joined = (type: Piece["type"]) => pieces.map((piece) => (piece.type === type ? piece.text : "")).join("")
  const [thought, said] = [joined("reasoning-delta"), joined("text-delta")]
  return [
    ...(thought === "" ? [] : [{ type: "reasoning" as const, text: thought }]),
    ...(said === "" ? [] : [{ type: "text" as const, text: said }])
  ]
}

/** The reasoning details as a provider item, which is sent back to its provider unchanged. */
export const detailsOf = (
  { provider }: Source,
  details: ReadonlyArray<Schema.Json>
): ReadonlyArray<Message.ProviderItem> =>
  details.length === 0
    ? []
    : [{ type: "provider-item", kind: "reasoning_details", opaque: { provider, data: details } }]

/** The source fields of a body as a provider item. */
export const sourcesOf = (
  { provider }: Source,
  body: Schema.Json,
  { sources }: Full
): ReadonlyArray<Message.ProviderItem> => {
  const found = sources.flatMap((name) => {
    const items = Json.items(Json.field(body, name))
    return items.length > 0 ? [[name, items] as const] : []
  })
  if (found.length === 0) return []
  return [{ type: "provider-item", kind: "sources", opaque: { provider, data: Object.fromEntries(found) } }]
}

/** The text of a content, which is a string or a list of parts with texts. */
export const contentText = (content: Schema.Json | undefined): string =>
  Predicate.isString(content)
    ? content
    : Json.items(content)
        .map((part) => Json.text(Json.field(part, "text")) ?? "")
        .join("")
