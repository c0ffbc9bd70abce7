/** Decodes the lines of Ollama's `/api/chat`. A whole body is read as the only line of its stream. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import type * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Source } from "../../transport/Source.ts"
import type { Decoder } from "../../transport/Decoder.ts"
import * as Json from "../../transport/Json.ts"
import { type Asked, contextCut } from "./contextCut.ts"
import * as OllamaError from "./error.ts"
import { Lists } from "../lists.ts"
import * as ChatReply from "./reply.ts"
import { factsOf } from "../replyFacts.ts"

type Step = Result.Result<ReadonlyArray<Model.Part>, LlmError>

/** Decodes the reply of a 2xx answer; total. */
export const decode = (source: Source, answer: Answer, asked: Asked): Result.Result<Message.Reply, LlmError> => {
  const decoder = new ChatDecoder(source, answer, asked)
  return Result.flatMap(decoder.push(answer.body), (parts) => {
    const collector = new Model.Collector()
    for (const part of parts) collector.push(part)
    const reply = collector.reply()
    return reply === undefined ? decoder.undecodable("the body is not a finished reply") : Result.succeed(reply)
  })
}

/** Decodes the lines of a stream. The line with `done` is the last. Calls are emitted with it, so that they follow all text. */
export class ChatDecoder implements Decoder<Model.Part> {
  readonly framing = "ndjson"
  readonly #source: Source
  readonly #answer: Answer
  readonly #asked: Asked
  readonly #calls: ChatReply.Calls
  readonly #logprobs = new Lists()
  #isDone = false
  #hasText = false
  #isThinking = false
  #model: string | undefined

  constructor(source: Source, answer: Answer, asked: Asked) {
    this.#source = source
    this.#answer = answer
    this.#asked = asked
    this.#calls = new ChatReply.Calls()
  }

  state() {
    return this.#isDone ? "done" : "open"
  }

  held() {
    return this.#isDone ? 0 : this.#calls.size + this.#logprobs.size
  }

  push(data: string): Step {
    const line = Json.parse(data)
    if (Result.isFailure(line)) return this.undecodable(line.failure)
    if (!Predicate.isObject(line.success)) return this.undecodable("a line is not an object")
    const error = OllamaError.inside(this.#source, this.#answer, line.success)
    return error === undefined ? this.#read(line.success) : Result.fail(error)
  }

  /** Returns no parts: the last line has completed the reply. */
  end(): Step {
    return Result.succeed([])
  }

  undecodable(cause: unknown): Result.Result<never, LlmError> {
    const why = Predicate.isString(cause) ? new Error(cause) : cause
    return Result.fail(Classify.undecodable(this.#source, this.#answer, why))
  }

  #read(line: Schema.Json): Step {
    this.#model = Json.text(Json.field(line, "model")) ?? this.#model
    const message = Json.field(line, "message")
    for (const call of Json.items(Json.field(message, "tool_calls"))) this.#calls.add(call, line)
    const parts: Array<Model.Part> = []
    const thought = Json.text(Json.field(message, "thinking"))
    if (thought !== undefined) {
      this.#isThinking = true
      parts.push({ type: "reasoning-delta", text: thought })
    }
    const text = Json.text(Json.field(message, "content"))
    this.#hasText ||= text !== undefined
    this.#logprobs.push({ logprobs: Json.field(line, "logprobs") ?? null })
    if (text !== undefined) parts.push(...this.#closeReasoning(), { type: "text-delta", text })
    if (Json.field(line, "done") !== true) return Result.succeed(parts)
    const usage = ChatReply.usageOf(line)
    return Result.map(contextCut(this.#source, this.#asked, usage), (cut) => [
      ...parts,
      ...this.#finish(line, usage, cut)
    ])
  }

  #finish(line: Schema.Json, usage: Usage.Usage, cut: ReadonlyArray<Message.ProviderItem>): ReadonlyArray<Model.Part> {
    this.#isDone = true
    return [
      ...this.#closeReasoning(),
      ...this.#calls.all,
      ...(this.#hasText || this.#calls.all.length > 0 ? this.#remarks : []),
      ...cut,
      {
        type: "finish",
        finish: ChatReply.finishOf(Json.text(Json.field(line, "done_reason")), this.#calls.all.length > 0),
        usage,
        ...factsOf(this.#answer, { model: this.#model, rawFinish: Json.field(line, "done_reason") })
      }
    ]
  }

  /**
   * The log probabilities of all tokens, which each line has for its own tokens (ollama-python, pull request 601, looked up on 2026-11-26).
   */
  get #remarks(): ReadonlyArray<Model.Part> {
    const data = this.#logprobs.all
    return data === undefined
      ? []
      : [{ type: "provider-item", kind: "logprobs", opaque: { provider: this.#source.provider, data } }]
  }

  /** Ends the reasoning with a part that names its provider, so that it can be sent back. */
  #closeReasoning(): ReadonlyArray<Model.Part> {
    if (!this.#isThinking) return []
    this.#isThinking = false
    return [{ type: "reasoning-delta", text: "", opaque: { provider: this.#source.provider, data: "thinking" } }]
  }
}
