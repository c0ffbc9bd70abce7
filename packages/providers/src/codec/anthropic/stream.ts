/** From the events of a streamed message to the parts of a reply. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Model from "@kintsugi/core/Model"
import * as CoreUsage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Source } from "../../transport/Source.ts"
import type { Decoder } from "../../transport/Transport.ts"
import { modelOf } from "../modelName.ts"
import * as MessagesError from "./error.ts"
import * as MessagesReply from "./reply.ts"
import * as Usage from "./usage.ts"
import * as Json from "../../transport/Json.ts"

type Step = Result.Result<ReadonlyArray<Model.Part>, LlmError>

/** A block that has not ended yet: what it began with, and what came since. */
interface OpenBlock {
  readonly start: Schema.JsonObject
  input: string
  signature: string
  readonly citations: Array<Schema.Json>
}

const nothing: Step = Result.succeed([])

export class MessagesDecoder implements Decoder<Model.Part> {
  readonly #source: Source
  readonly #answer: Answer
  readonly #open = new Map<number, OpenBlock>()
  #state: "open" | "done" = "open"
  #seen = false
  #calls = false
  /** The block that the last event was about. */
  #last = 0
  #reason: string | undefined
  #usage: Usage.Counts | undefined
  #isCounted = false
  #model: { readonly model?: string } = {}

  constructor(source: Source, answer: Answer) {
    this.#source = source
    this.#answer = answer
  }

  state() {
    return this.#state
  }

  push(data: string): Step {
    const parsed = Json.parse(data)
    if (Result.isFailure(parsed)) return this.#undecodable(parsed.failure)
    const event = parsed.success
    if (!Predicate.isObject(event)) return this.#undecodable(new Error("an event is no object"))
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

  /** A call that was not closed is one that was cut off, whatever the reason says. */
  end(): Step {
    if (!this.#seen) return this.#undecodable(new Error("the stream holds no reply"))
    const isCut = [...this.#open.values()].some(({ start }) => start["type"] === "tool_use")
    const closed = [...this.#open.keys()].toSorted((one, other) => one - other).flatMap((index) => this.#close(index))
    const finish = isCut ? "length" : MessagesReply.finishOf(this.#reason, this.#calls)
    const usage = Usage.toUsage(this.#usage) ?? CoreUsage.empty
    return Result.succeed([...closed, { type: "finish", finish, usage, ...this.#model }])
  }

  #begin(message: Schema.Json | undefined): Step {
    this.#seen = true
    this.#usage = Usage.read(Json.field(message, "usage"), this.#usage)
    this.#model = modelOf(message)
    return nothing
  }

  /** The counts at the end hold those from the beginning. */
  #readEnd(event: Schema.Json): Step {
    this.#usage = Usage.read(Json.field(event, "usage"), this.#usage)
    this.#reason = Json.text(Json.field(Json.field(event, "delta"), "stop_reason")) ?? this.#reason
    return this.#failed(event) ?? nothing
  }

  #failed(event: Schema.Json): Step | undefined {
    const error = MessagesError.inside(this.#source, this.#answer, event, Usage.toUsage(this.#usage))
    return error === undefined ? undefined : Result.fail(error)
  }

  /** Where it is missing, the event is about the same block as the last one. */
  #indexOf(event: Schema.Json): number {
    this.#last = Json.count(Json.field(event, "index")) ?? this.#last
    return this.#last
  }

  #start(index: number, block: Schema.Json | undefined): Step {
    const before = [...this.#counted(), ...this.#close(index)]
    this.#seen = true
    // an object within JSON holds JSON
    const start = Predicate.isObject(block) ? (block as Schema.JsonObject) : {}
    this.#open.set(index, { start, input: "", signature: "", citations: [] })
    return Result.succeed([...before, ...MessagesReply.opening(start)])
  }

  /**
   * What the prompt has cost, should the stream be cut off. It comes with the first block and not before: a request that fails
   * without any is sent again.
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
        return Result.succeed(MessagesReply.texts("text-delta", Json.field(delta, "text")))
      case "thinking_delta":
        this.#opened(index, "thinking")
        return Result.succeed(MessagesReply.texts("reasoning-delta", Json.field(delta, "thinking")))
      case "signature_delta":
        this.#opened(index, "thinking").signature += Json.text(Json.field(delta, "signature")) ?? ""
        return nothing
      case "citations_delta":
        this.#opened(index, "text").citations.push(Json.field(delta, "citation") ?? null)
        return nothing
      case "input_json_delta": {
        const block = this.#open.get(index)
        if (block === undefined) return this.#undecodable(new Error("arguments of a call that never began"))
        block.input += Json.text(Json.field(delta, "partial_json")) ?? ""
        return nothing
      }
      default:
        return nothing
    }
  }

  /** The block of that place, which some servers begin with its first piece. */
  #opened(index: number, type: "text" | "thinking"): OpenBlock {
    const known = this.#open.get(index)
    if (known !== undefined) return known
    // Mutant `"Stryker was here!"` #1 survives: such a block is a text or a thought, and no code reads `input` of these
    const block = { start: { type }, input: "", signature: "", citations: [] }
    this.#open.set(index, block)
    this.#seen = true
    return block
  }

  #close(index: number): ReadonlyArray<Model.Part> {
    const block = this.#open.get(index)
    if (block === undefined) return []
    this.#open.delete(index)
    const parts = MessagesReply.closing(whole(block), this.#source.provider, index)
    this.#calls ||= parts.some(({ type }) => type === "tool-call")
    return parts
  }

  #undecodable(cause: unknown): Step {
    return Result.fail(Classify.undecodable(this.#source, this.#answer, cause))
  }
}

/** The block as it would have come in one piece. */
const whole = ({ citations, input, signature, start }: OpenBlock): Schema.JsonObject => ({
  ...start,
  ...(input.trim() === "" ? {} : { input: inputOf(input) }),
  ...(signature === "" ? {} : { signature }),
  ...(citations.length === 0 ? {} : { citations: [...Json.items(start["citations"]), ...citations] })
})

/** The object that the pieces make up, or the model's own text where they make up none. */
const inputOf = (input: string): Schema.Json => {
  const parsed = Json.parse(input)
  return Result.isSuccess(parsed) && Predicate.isObject(parsed.success) ? parsed.success : input
}
