/** Decodes the events of a streamed chat completion. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Source } from "../../transport/Source.ts"
import type { Decoder } from "../../transport/Decoder.ts"
import * as Json from "../../transport/Json.ts"
import * as FilterResults from "../filterResults.ts"
import type { Facts } from "../replyFacts.ts"
import * as Calls from "./calls.ts"
import type { Full } from "./dialect.ts"
import * as ChatError from "./error.ts"
import * as ChatReply from "./reply.ts"
import * as ReasoningDetails from "./reasoningDetails.ts"
import { Remarks } from "./remarks.ts"
import { ThinkTags } from "./thinkTags.ts"
import * as ChatUsage from "./usage.ts"

type Step = Result.Result<ReadonlyArray<Model.Part>, LlmError>

export class ChatDecoder implements Decoder<Model.Part> {
  readonly #source: Source
  readonly #answer: Answer
  readonly #dialect: Full
  readonly #calls = new Calls.Calls()
  readonly #details = new ReasoningDetails.Details()
  readonly #tags: ThinkTags | undefined
  #state: "open" | "complete" | "done" = "open"
  /** Whether the last parts of the reply were returned. */
  #isEnded = false
  /** Whether a piece of the reply has arrived. */
  #hasSpoken = false
  /** The message so far. Some servers repeat it with every piece, others send it instead of pieces. */
  #message: Schema.Json | undefined
  #reason: string | undefined
  #refusal = ""
  /** The kind of the first call that does not call a function. */
  #foreign: string | undefined
  #reasoningField: string | undefined
  /** Whether reasoning has arrived in a field of its own, and not only in `reasoning_details`. */
  #cameNamed = false
  #sources: ReadonlyArray<Message.ProviderItem> = []
  readonly #remarks = new Remarks()
  /** Whether a text has arrived. */
  #hasText = false
  #usage: Usage.Usage | undefined
  readonly #filters = new FilterResults.FilterResults()
  /** The facts that the reply states about itself, and its cost. */
  #facts: Facts & { readonly cost?: number } = {}

  constructor(source: Source, answer: Answer, dialect: Full) {
    this.#source = source
    this.#answer = answer
    this.#dialect = dialect
    this.#tags = dialect.thinkTags ? new ThinkTags() : undefined
  }

  state() {
    return this.#state
  }

  held() {
    if (this.#isEnded) return 0
    const { length } = this.#refusal
    return this.#calls.size + this.#details.size + this.#remarks.size + length + (this.#tags?.size ?? 0)
  }

  model() {
    return this.#facts.model
  }

  push(data: string, event?: string): Step {
    if (data.trim() === "[DONE]") return this.#finish()
    const parsed = Json.parse(data)
    if (Result.isFailure(parsed)) return this.#undecodable(parsed.failure)
    const chunk = parsed.success
    if (!Predicate.isObject(chunk)) return this.#undecodable(new Error("an event is not an object"))
    // Mutant `false` survives: speed only. No chunk takes the short way, and the careful reading below gives the same
    // part
    const plain = this.#reasoningField === undefined ? plainText(chunk) : undefined
    if (plain !== undefined && this.#facts.model === chunk["model"]) return Result.succeed(this.#said(plain))
    const reported = ChatUsage.usageOf(chunk, this.#usage)
    this.#usage = reported ?? this.#usage
    const error = ChatError.reported(this.#source, this.#answer, chunk, this.#usage, event)
    if (error !== undefined) return Result.fail(error)
    const read = this.#read(chunk)
    // Some servers send the usage so far with every piece, also with pieces of calls.
    const isCounted = reported !== undefined && this.#reason === undefined
    const parts = isCounted ? [...read, { type: "usage" as const, usage: reported }] : read
    const { lastEvent } = this.#dialect
    const isLast = lastEvent !== undefined && this.#reason !== undefined && Json.field(chunk, "object") === lastEvent
    return isLast ? Result.map(this.#finish(), (last) => [...parts, ...last]) : Result.succeed(parts)
  }

  end(): Step {
    this.#isEnded = true
    const unsaid = this.#hasSpoken ? [] : this.#readDelta(this.#message)
    if (this.#reason === undefined && !this.#hasSpoken) {
      return this.#undecodable(new Error("the stream holds no reply"))
    }
    if (this.#foreign !== undefined) {
      return Result.fail(Classify.unanswerable(this.#source, this.#answer, this.#foreign, this.#usage))
    }
    const refusal = this.#refusal === "" ? undefined : this.#refusal
    const usage = this.#usage ?? Usage.empty
    const ending = { reason: this.#reason, refusal, filters: this.#filters.all, usage }
    const finish = ChatReply.endOf(this.#source, this.#answer, ending, this.#calls.count > 0)
    return Result.map(finish, (finish) => [
      ...unsaid,
      ...this.#closeReasoning(),
      ...this.#spoken(this.#tags?.end() ?? []),
      ...this.#calls.all,
      ...ChatReply.detailsOf(this.#source, this.#details.all),
      ...this.#sources,
      ...(this.#hasText || this.#calls.count > 0 ? this.#remarks.items(this.#source) : []),
      { type: "finish" as const, finish, usage, ...this.#facts }
    ])
  }

  #finish(): Step {
    this.#state = "done"
    return this.end()
  }

  #read(chunk: Schema.Json): ReadonlyArray<Model.Part> {
    this.#facts = { ...this.#facts, ...ChatReply.factsIn(this.#answer, chunk), ...ChatUsage.costOf(chunk) }
    const sources = ChatReply.sourcesOf(this.#source, chunk, this.#dialect)
    if (sources.length > 0) this.#sources = sources
    const choice = ChatError.firstChoice(chunk)
    this.#filters.add(FilterResults.ofReply(chunk, choice))
    this.#remarks.ofChoice(choice)
    const reason = Json.text(Json.field(choice, "finish_reason"))
    if (reason !== undefined) {
      this.#reason = reason
      this.#state = "complete"
    }
    this.#message = Json.object(Json.field(choice, "message")) ?? this.#message
    return this.#readDelta(Json.field(choice, "delta"))
  }

  #readDelta(delta: Schema.Json | undefined): ReadonlyArray<Model.Part> {
    this.#refusal += ChatError.refusalOf(delta) ?? ""
    this.#remarks.ofMessage(delta)
    const pieces = Calls.piecesOf(delta)
    this.#foreign ??= Calls.foreignIn(pieces)
    for (const piece of pieces) this.#calls.add(piece)
    for (const piece of ReasoningDetails.of(delta)) this.#details.push(piece)
    const parts: Array<Model.Part> = []
    const thought = ChatReply.reasoning(delta, this.#cameNamed)
    if (thought !== undefined) {
      this.#reasoningField = thought.field
      this.#cameNamed ||= thought.field !== undefined
      parts.push({ type: "reasoning-delta", text: thought.text })
    }
    const text = ChatReply.contentText(Json.field(delta, "content"))
    if (text !== "") parts.push(...this.#closeReasoning(), ...this.#said(text))
    this.#hasSpoken ||= parts.length > 0 || this.#calls.count > 0 || this.#refusal !== ""
    return parts
  }

  #said(text: string): ReadonlyArray<Model.Part> {
    this.#hasSpoken = true
    return this.#spoken(this.#tags === undefined ? [{ type: "text-delta", text }] : this.#tags.push(text))
  }

  #spoken(parts: ReadonlyArray<Model.Part>): ReadonlyArray<Model.Part> {
    this.#hasText ||= parts.some(({ type }) => type === "text-delta")
    return parts
  }

  /** Ends the reasoning with a part that names its provider and field, so that it can be sent back. */
  #closeReasoning(): ReadonlyArray<Model.Part> {
    const field = this.#reasoningField
    if (field === undefined) return []
    this.#reasoningField = undefined
    return [{ type: "reasoning-delta", text: "", opaque: { provider: this.#source.provider, data: field } }]
  }

  #undecodable(cause: unknown): Step {
    return Result.fail(Classify.undecodable(this.#source, this.#answer, cause))
  }
}

/** An unchecked chunk, as `plainText` reads it. */
type Chunk = Readonly<Record<string, unknown>>

/**
 * The text of a chunk that is only the next piece of text; `undefined` for any other chunk, which `push` reads in full. Most chunks of a
 * long stream are plain, so reading a few fields recognises them.
 */
const plainText = (chunk: Chunk): string | undefined => {
  // Mutant `true` survives: speed only. Every chunk counts as one with counts or an error, and the careful reading
  // gives the same part
  if (chunk["usage"] || chunk["error"] || chunk["object"] === "error" || chunk["citations"] || chunk["search_results"])
    return undefined
  // Mutant `""` survives: speed only. No chunk is plain then, and the careful reading below gives the same part
  const choices = chunk["choices"]
  // The type assertion is checked by the lines below.
  const choice = (Array.isArray(choices) ? choices[0] : undefined) as Chunk | null | undefined
  if (!choice || choice["index"] || choice["finish_reason"] || choice["error"] || choice["usage"] || choice["logprobs"])
    return undefined
  const delta = choice["delta"] as Chunk | null | undefined
  if (!delta || delta["tool_calls"] || delta["function_call"] || delta["refusal"] || delta["annotations"])
    return undefined
  // Mutant `true` survives: speed only. Every delta counts as one with thoughts, and the careful reading gives the same
  // part
  if (delta["reasoning_content"] || delta["reasoning"] || delta["reasoning_details"]) return undefined
  // Mutant `""` survives: speed only. The plain reading finds no text, and the careful reading gives the same part
  const text = delta["content"]
  return typeof text === "string" && text !== "" ? text : undefined
}
