/** Decodes the events of a streamed message. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Model from "@kintsugi/core/Model"
import * as CoreUsage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Source } from "../../transport/Source.ts"
import type { Decoder } from "../../transport/Decoder.ts"
import type { Facts } from "../replyFacts.ts"
import * as MessagesError from "./error.ts"
import * as MessagesReply from "./reply.ts"
import * as Usage from "./usage.ts"
import * as Json from "../../transport/Json.ts"
import { Unanswered } from "./waiting.ts"
import * as Size from "../../transport/Size.ts"

type Step = Result.Result<ReadonlyArray<Model.Part>, LlmError>

/** An unfinished block: its start, and the pieces since then. */
interface UnfinishedBlock {
  readonly start: Schema.JsonObject
  input: string
  signature: string
  readonly citations: Array<Schema.Json>
  /** The bytes of the block's data that was not emitted yet. */
  size: number
}

const nothing: Step = Result.succeed([])

export class MessagesDecoder implements Decoder<Model.Part> {
  readonly #source: Source
  readonly #answer: Answer
  readonly #unfinished = new Map<number, UnfinishedBlock>()
  #state: "open" | "done" = "open"
  #seen = false
  #calls = false
  /** The bytes of all unfinished blocks. */
  #held = 0
  /** The block index of the last event. */
  #last = 0
  #reason: string | undefined
  #usage: Usage.Counts | undefined
  #isCounted = false
  #facts: Facts = {}
  readonly #unanswered: Unanswered

  constructor(source: Source, answer: Answer, unansweredNames: ReadonlySet<string>) {
    this.#unanswered = new Unanswered(unansweredNames)
    this.#source = source
    this.#answer = answer
  }

  state() {
    return this.#state
  }

  held() {
    return this.#held
  }

  model() {
    return this.#facts.model
  }

  push(data: string): Step {
    const parsed = Json.parse(data)
    if (Result.isFailure(parsed)) return this.#undecodable(parsed.failure)
    const event = parsed.success
    if (!Predicate.isObject(event)) return this.#undecodable(new Error("an event is not an object"))
    switch (Json.field(event, "type")) {
      case "content_block_delta":
        return this.#readDelta(this.#indexOf(event), Json.field(event, "delta"))
      case "content_block_start":
        return this.#start(this.#indexOf(event), Json.field(event, "content_block"))
      case "content_block_stop":
        return Result.succeed(this.#close(this.#indexOf(event)))
      case "message_start":
        return this.#begin(Json.field(event, "message"))
      case "message_delta":
        return this.#readEnd(event)
      case "message_stop":
        this.#state = "done"
        return this.end()
      default:
        return this.#failed(event) ?? nothing
    }
  }

  /** Ends the reply. A call without an end was cut off, even if the stop reason says otherwise. */
  end(): Step {
    if (!this.#seen) return this.#undecodable(new Error("the stream holds no reply"))
    const isCut = [...this.#unfinished.values()].some(({ start }) => start["type"] === "tool_use")
    const closed = [...this.#unfinished.keys()]
      .toSorted((one, other) => one - other)
      .flatMap((index) => this.#close(index))
    const finish = isCut ? "length" : MessagesReply.finishOf(this.#reason, this.#calls)
    const usage = Usage.toUsage(this.#usage)
    const kind = isCut ? undefined : this.#unanswered.kind(this.#reason, this.#calls)
    if (kind !== undefined) return Result.fail(Classify.unanswerable(this.#source, this.#answer, kind, usage))
    return Result.succeed([...closed, { type: "finish", finish, usage: usage ?? CoreUsage.empty, ...this.#facts }])
  }

  #begin(message: Schema.Json | undefined): Step {
    this.#seen = true
    this.#usage = Usage.read(Json.field(message, "usage"), this.#usage)
    this.#facts = MessagesReply.factsIn(this.#answer, message, undefined)
    return nothing
  }

  /** Reads the event at the end of a message. Its token counts include those at the beginning. */
  #readEnd(event: Schema.Json): Step {
    this.#usage = Usage.read(Json.field(event, "usage"), this.#usage)
    const reason = Json.field(Json.field(event, "delta"), "stop_reason")
    this.#reason = Json.text(reason) ?? this.#reason
    this.#facts = { ...this.#facts, ...MessagesReply.factsIn(this.#answer, event, reason) }
    return this.#failed(event) ?? nothing
  }

  #failed(event: Schema.Json): Step | undefined {
    const error = MessagesError.inside(this.#source, this.#answer, event, Usage.toUsage(this.#usage))
    return error === undefined ? undefined : Result.fail(error)
  }

  /** The block index of an event. An event without one has the index of the event before it. */
  #indexOf(event: Schema.Json): number {
    this.#last = Json.count(Json.field(event, "index")) ?? this.#last
    return this.#last
  }

  #start(index: number, block: Schema.Json | undefined): Step {
    const before = [...this.#counted(), ...this.#close(index)]
    this.#seen = true
    // the type assertion holds because the fields of an object within JSON are JSON
    const start = Predicate.isObject(block) ? (block as Schema.JsonObject) : {}
    // after this block another model writes the reply, see `Provenance`
    const model = start["type"] === "fallback" ? Json.text(Json.field(start["to"], "model")) : undefined
    if (model !== undefined) this.#facts = { ...this.#facts, model }
    const size = Size.ofParts(MessagesReply.closing(start, this.#source.provider, index))
    this.#held += size
    this.#unfinished.set(index, { start, input: "", signature: "", citations: [], size })
    return Result.succeed([...before, ...MessagesReply.opening(start)])
  }

  /**
   * The usage of the prompt, in case the stream is cut off. It is emitted with the first block and not earlier, because a request that
   * fails before its first block is resent.
   */
  #counted(): ReadonlyArray<Model.Part> {
    const usage = this.#isCounted ? undefined : Usage.toUsage(this.#usage)
    this.#isCounted = true
    return usage === undefined ? [] : [{ type: "usage", usage }]
  }

  #readDelta(index: number, delta: Schema.Json | undefined): Step {
    switch (Json.field(delta, "type")) {
      case "text_delta":
        this.#opened(index, "text")
        this.#unanswered.answered()
        return Result.succeed(MessagesReply.texts("text-delta", Json.field(delta, "text")))
      case "thinking_delta":
        this.#opened(index, "thinking")
        return Result.succeed(MessagesReply.texts("reasoning-delta", Json.field(delta, "thinking")))
      case "signature_delta":
        this.#hold(this.#opened(index, "thinking"), Json.field(delta, "signature")).signature +=
          Json.text(Json.field(delta, "signature")) ?? ""
        return nothing
      case "citations_delta":
        this.#hold(this.#opened(index, "text"), Json.field(delta, "citation")).citations.push(
          Json.field(delta, "citation") ?? null
        )
        return nothing
      case "input_json_delta": {
        const block = this.#unfinished.get(index)
        if (block === undefined) return this.#undecodable(new Error("arguments of a call that never began"))
        this.#hold(block, Json.field(delta, "partial_json")).input += Json.text(Json.field(delta, "partial_json")) ?? ""
        return nothing
      }
      default:
        return nothing
    }
  }

  /** Counts the bytes of a piece that is held back in a block. */
  #hold(block: UnfinishedBlock, piece: Schema.Json | undefined): UnfinishedBlock {
    const bytes = Size.ofJson(piece)
    block.size += bytes
    this.#held += bytes
    return block
  }

  /** The block with an index. If it has no start event, its first delta begins it, because some servers send none. */
  #opened(index: number, type: "text" | "thinking"): UnfinishedBlock {
    const existing = this.#unfinished.get(index)
    if (existing !== undefined) return existing
    // Mutant `"Stryker was here!"` #1 survives: such a block is a text or a thought, and no code reads `input` of these
    const block = { start: { type }, input: "", signature: "", citations: [], size: 0 }
    this.#unfinished.set(index, block)
    this.#seen = true
    return block
  }

  #close(index: number): ReadonlyArray<Model.Part> {
    const block = this.#unfinished.get(index)
    if (block === undefined) return []
    this.#unfinished.delete(index)
    const closed = whole(block)
    this.#unanswered.note(closed)
    this.#held -= block.size
    const parts = MessagesReply.closing(closed, this.#source.provider, index)
    this.#calls ||= parts.some(({ type }) => type === "tool-call")
    return parts
  }

  #undecodable(cause: unknown): Step {
    return Result.fail(Classify.undecodable(this.#source, this.#answer, cause))
  }
}

/** The block as a whole message would have it, with all of its pieces. */
const whole = ({ citations, input, signature, start }: UnfinishedBlock): Schema.JsonObject => ({
  ...start,
  ...(input.trim() === "" ? {} : { input: inputOf(input) }),
  ...(signature === "" ? {} : { signature }),
  ...(citations.length === 0 ? {} : { citations: [...Json.items(start["citations"]), ...citations] })
})

/** The arguments of a call as an object. If the pieces form no object, it is the text that the model wrote. */
const inputOf = (input: string): Schema.Json => {
  const parsed = Json.parse(input)
  return Result.isSuccess(parsed) && Predicate.isObject(parsed.success) ? parsed.success : input
}
