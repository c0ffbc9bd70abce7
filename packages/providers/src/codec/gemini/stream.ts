/** Decodes the chunks of `generateContent`. A whole body is read as the only chunk of its stream. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Source } from "../../transport/Source.ts"
import type { Decoder } from "../../transport/Decoder.ts"
import * as ContentError from "./error.ts"
import * as Rejected from "./rejected.ts"
import * as ContentReply from "./reply.ts"
import { Lists } from "../lists.ts"
import { usageOf } from "./usage.ts"
import { factsOf } from "../replyFacts.ts"
import * as Json from "../../transport/Json.ts"

/** The header with the service tier of an answer (ai.google.dev, "Priority inference", looked up on 2026-11-26). */
const tierHeader = "x-gemini-service-tier"

type Step = Result.Result<ReadonlyArray<Model.Part>, LlmError>

/** Decodes the reply of a 2xx answer; total. */
export const decode = (source: Source, answer: Answer): Result.Result<Message.Reply, LlmError> => {
  const decoder = new ContentDecoder(source, answer)
  return Result.flatMap(decoder.push(answer.body), (parts) =>
    Result.flatMap(decoder.end(), (last) => {
      const collector = new Model.Collector()
      for (const part of [...parts, ...last]) collector.push(part)
      const reply = collector.reply()
      // Mutant `""` survives: never reached. `end()` has just given a finish part, and with one the collector always
      // has a reply
      return reply === undefined ? decoder.undecodable("the body holds no reply") : Result.succeed(reply)
    })
  )
}

/**
 * Decodes the chunks of a stream. A stream has no end mark: it is complete when a finish reason arrives. Token counts and sources are those
 * of the last chunk that has them.
 */
export class ContentDecoder implements Decoder<Model.Part> {
  readonly #source: Source
  readonly #answer: Answer
  readonly #reader: ContentReply.PartReader
  readonly #remarks = new Map<string, Schema.Json>()
  readonly #logprobs = new Lists()
  #isEnded = false
  #hasContent = false
  /** Whether a text or a call has arrived. Without either, log probabilities are not emitted. */
  #isSaid = false
  #reason: string | undefined
  #responseId: string | undefined
  #call: Rejected.Rejected | undefined
  #usage: Usage.Usage | undefined
  #model: string | undefined

  constructor(source: Source, answer: Answer) {
    this.#source = source
    this.#answer = answer
    this.#reader = new ContentReply.PartReader(source)
  }

  state() {
    return this.#reason === undefined ? "open" : "complete"
  }

  held() {
    return this.#isEnded ? 0 : this.#logprobs.size
  }

  push(data: string): Step {
    // Some gateways end every stream with `[DONE]`, which is ignored.
    if (data.trim() === "[DONE]") return Result.succeed([])
    const json = Json.parse(data)
    if (Result.isFailure(json)) return this.undecodable(json.failure)
    const parts: Array<Model.Part> = []
    // Without `alt=sse` the stream is one JSON list of all chunks.
    for (const chunk of Array.isArray(json.success) ? Json.items(json.success) : [json.success]) {
      if (!Predicate.isObject(chunk)) return this.undecodable("a chunk is not an object")
      const read = this.#read(chunk)
      if (Result.isFailure(read)) return read
      parts.push(...read.success)
    }
    return Result.succeed(parts)
  }

  end(): Step {
    if (this.#reason === undefined && !this.#hasContent) return this.undecodable("the answer holds no content")
    this.#isEnded = true
    const logprobs = this.#logprobs.all
    return Result.succeed([
      ...this.#reader.close(),
      ...(logprobs === undefined || !this.#isSaid ? [] : [this.#reader.remark(ContentReply.logprobs, logprobs)]),
      ...[...this.#remarks].map(([kind, value]) => this.#reader.remark(kind, value)),
      {
        type: "finish",
        finish: ContentReply.finishOf(this.#reason, this.#reader.calls > 0),
        usage: this.#usage ?? Usage.empty,
        ...factsOf(this.#answer, {
          model: this.#model,
          responseId: this.#responseId,
          rawFinish: this.#reason,
          serviceTier: this.#answer.headers[tierHeader]
        })
      }
    ])
  }

  undecodable(cause: unknown): Result.Result<never, LlmError> {
    const why = Predicate.isString(cause) ? new Error(cause) : cause
    return Result.fail(Classify.undecodable(this.#source, this.#answer, why))
  }

  #read(chunk: Schema.Json): Step {
    const seen = { usage: this.#usage, call: this.#call }
    const error = ContentError.inside(this.#source, this.#answer, chunk, seen)
    if (error !== undefined) return Result.fail(error)
    const reported = usageOf(chunk, this.#usage)
    this.#usage = reported ?? this.#usage
    this.#model = Json.text(Json.field(chunk, "modelVersion")) ?? this.#model
    this.#responseId ??= Json.text(Json.field(chunk, "responseId"))
    const candidate = Json.items(Json.field(chunk, "candidates"))[0]
    const reason = Json.text(Json.field(candidate, "finishReason"))
    if (reason !== undefined && reason !== "FINISH_REASON_UNSPECIFIED") this.#reason = reason
    for (const kind of ContentReply.remarks) {
      const remark = Json.field(candidate, kind)
      if (Predicate.isObject(remark) && Object.keys(remark).length > 0) this.#remarks.set(kind, remark)
    }
    this.#logprobs.push(Json.field(candidate, ContentReply.logprobs))
    const content = Json.field(candidate, "content")
    this.#hasContent ||= Predicate.isObject(content)
    const parts = Json.items(Json.field(content, "parts"))
    this.#call ??= Rejected.made(parts)
    const read = parts.flatMap((part) => this.#reader.read(part, this.#responseId))
    this.#isSaid ||= read.some(({ type }) => type === "text-delta" || type === "tool-call")
    // Emits the usage so far, in case the stream is cut off.
    const isCounted = reported !== undefined && this.#reason === undefined
    return Result.succeed(isCounted ? [...read, { type: "usage", usage: reported }] : read)
  }
}
