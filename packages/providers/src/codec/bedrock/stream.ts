/** Decodes the events of ConverseStream. Each event is an object with one member, whose name is the type of the event. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Classify from "../../classify/Classify.ts"
import type { Answer } from "../../transport/Answer.ts"
import type { Decoder } from "../../transport/Decoder.ts"
import * as Json from "../../transport/Json.ts"
import * as Size from "../../transport/Size.ts"
import type { Source } from "../../transport/Source.ts"
import type { Facts } from "../replyFacts.ts"
import * as ConverseError from "./error.ts"
import * as ConverseReply from "./reply.ts"

type Step = Result.Result<ReadonlyArray<Model.Part>, LlmError>

/** An unfinished block: its start, and the pieces since then that were not emitted. */
interface Unfinished {
  readonly start: Schema.JsonObject
  isThought: boolean
  input: string
  signature: string
  redacted: string
  readonly citations: Array<Schema.Json>
  readonly results: Array<Schema.Json>
}

const nothing: Step = Result.succeed([])

export class ConverseDecoder implements Decoder<Model.Part> {
  readonly #source: Source
  readonly #answer: Answer
  readonly #unfinished = new Map<number, Unfinished>()
  #seen = false
  #calls = false
  #stopped = false
  /** Whether the message ended before one of its calls did. */
  // Mutant `true` survives: a reply ends only behind the end of its message, which sets it
  #isCut = false
  #usage: Usage.Usage | undefined
  #facts: Facts = {}
  /** The bytes of all unfinished blocks. */
  #held = 0
  /** The block index of the last event. */
  #last = 0

  constructor(source: Source, answer: Answer) {
    this.#source = source
    this.#answer = answer
  }

  /** The stream is done only when the usage has come, which follows the end of the message. */
  state() {
    if (!this.#stopped) return "open"
    return this.#usage === undefined ? "complete" : "done"
  }

  held() {
    return this.#held
  }

  push(data: string): Step {
    const parsed = Json.parse(data)
    if (Result.isFailure(parsed)) return this.#undecodable(parsed.failure)
    const event = parsed.success
    if (!Predicate.isObject(event)) return this.#undecodable(new Error("an event is not an object"))
    const error = ConverseError.inside(this.#source, this.#answer, event, this.#usage)
    if (error !== undefined) return Result.fail(error)
    const { contentBlockDelta, contentBlockStart, contentBlockStop, messageStart, messageStop, metadata } =
      Json.fields(event)
    if (contentBlockDelta !== undefined) {
      return Result.succeed(this.#add(this.#indexOf(contentBlockDelta), Json.field(contentBlockDelta, "delta")))
    }
    if (contentBlockStart !== undefined) return Result.succeed(this.#start(contentBlockStart))
    if (contentBlockStop !== undefined) return Result.succeed(this.#close(this.#indexOf(contentBlockStop)))
    if (messageStart !== undefined) this.#seen = true
    else if (messageStop !== undefined) return this.#stop(messageStop)
    else if (metadata !== undefined) return this.#account(metadata)
    return nothing
  }

  /** Ends the reply. A call without an end was cut off, even if the stop reason says otherwise. */
  end(): Step {
    if (!this.#seen) return this.#undecodable(new Error("the stream holds no reply"))
    const finish = this.#isCut ? "length" : ConverseReply.finishOf(this.#facts.rawFinish, this.#calls)
    return Result.succeed([{ type: "finish", finish, usage: this.#usage ?? Usage.empty, ...this.#facts }])
  }

  #stop(event: Schema.Json): Step {
    this.#seen = true
    this.#stopped = true
    const reason = Json.field(event, "stopReason")
    this.#facts = { ...this.#facts, ...ConverseReply.factsIn(this.#answer, event, reason) }
    this.#isCut = [...this.#unfinished.values()].some(({ start }) => "toolUse" in start)
    const closed = [...this.#unfinished.keys()]
      .toSorted((one, other) => one - other)
      .flatMap((index) => this.#close(index))
    return Result.map(this.#usage === undefined ? nothing : this.end(), (end) => [...closed, ...end])
  }

  #account(event: Schema.Json): Step {
    this.#usage = ConverseReply.usageOf(Json.field(event, "usage")) ?? this.#usage
    this.#facts = { ...ConverseReply.factsIn(this.#answer, event, undefined), ...this.#facts }
    if (this.#stopped && this.#usage !== undefined) return this.end()
    return this.#usage === undefined ? nothing : Result.succeed([{ type: "usage", usage: this.#usage }])
  }

  /** The block index of an event. An event without one has the index of the event before it. */
  #indexOf(event: Schema.Json): number {
    this.#last = Json.count(Json.field(event, "contentBlockIndex")) ?? this.#last
    return this.#last
  }

  #start(event: Schema.Json): ReadonlyArray<Model.Part> {
    const index = this.#indexOf(event)
    const before = this.#close(index)
    this.#begin(index, Json.object(Json.field(event, "start")) ?? {})
    return before
  }

  #begin(index: number, start: Schema.JsonObject): Unfinished {
    const block = { start, isThought: false, input: "", signature: "", redacted: "", citations: [], results: [] }
    this.#seen = true
    this.#held += Size.ofJson(start)
    this.#unfinished.set(index, block)
    return block
  }

  /** Adds a delta to its block. A block of text or thoughts has no start event, so its first delta begins it. */
  #add(index: number, delta: Schema.Json | undefined): ReadonlyArray<Model.Part> {
    const block = this.#unfinished.get(index) ?? this.#begin(index, {})
    const { citation, reasoningContent, text, toolResult, toolUse } = Json.fields(delta)
    if (text !== undefined) return ConverseReply.texts("text-delta", text)
    if (reasoningContent !== undefined) {
      const { redactedContent, signature, text: thought } = Json.fields(reasoningContent)
      block.signature += this.#hold(Json.text(signature))
      block.redacted += this.#hold(Json.text(redactedContent))
      block.isThought ||= Predicate.isString(thought) || signature !== undefined
      return ConverseReply.texts("reasoning-delta", thought)
    }
    block.input += this.#hold(Json.text(Json.field(toolUse, "input")))
    if (citation !== undefined) block.citations.push(citation)
    if (toolResult !== undefined) block.results.push(...Json.items(toolResult))
    this.#held += Size.ofJson(citation) + Size.ofJson(toolResult)
    return []
  }

  /** Counts the bytes of a piece that is held back, and returns the piece. */
  #hold(piece = ""): string {
    this.#held += Size.ofText(piece)
    return piece
  }

  #close(index: number): ReadonlyArray<Model.Part> {
    const block = this.#unfinished.get(index)
    if (block === undefined) return []
    this.#unfinished.delete(index)
    if (this.#unfinished.size === 0) this.#held = 0
    const parts = wholes(block).flatMap((whole) => ConverseReply.closing(whole, this.#source.provider, index))
    this.#calls ||= parts.some(({ type }) => type === "tool-call")
    return parts
  }

  #undecodable(cause: unknown): Step {
    return Result.fail(Classify.undecodable(this.#source, this.#answer, cause))
  }
}

/** The blocks that a whole message would have for a finished block, without the text that was emitted. */
const wholes = (block: Unfinished): ReadonlyArray<Schema.Json> => {
  const { citations, input, isThought, redacted, results, signature, start } = block
  if (start["toolUse"] !== undefined) {
    return [{ toolUse: { ...Json.fields(start["toolUse"]), input: inputOf(input) } }]
  }
  if (start["toolResult"] !== undefined) {
    return [{ toolResult: { ...Json.fields(start["toolResult"]), content: results } }]
  }
  return [
    // Mutant `["Stryker was here"]` survives: a text is no block
    ...(isThought ? [{ reasoningContent: { reasoningText: { signature } } }] : []),
    ...(redacted === "" ? [] : [{ reasoningContent: { redactedContent: redacted } }]),
    ...(citations.length === 0 ? [] : [{ citationsContent: { citations } }]),
    ...(Object.keys(start).length === 0 ? [] : [start])
  ]
}

/** The arguments of a call as an object. If the pieces form no object, it is the text that the model wrote. */
const inputOf = (input: string): Schema.Json => {
  if (input.trim() === "") return {}
  const parsed = Json.parse(input)
  return Result.isSuccess(parsed) && Predicate.isObject(parsed.success) ? parsed.success : input
}
