/** Turns the parts of Gemini's content into parts of a reply. Whole and streamed bodies use the same reader. */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Source } from "../../transport/Source.ts"
import * as Json from "../../transport/Json.ts"

/** The kind of the provider item that holds the signature of the text before it. */
export const signature = "thoughtSignature"

/** The fields with metadata beside the content of a candidate. Each is emitted once, at the end of the reply, and never sent back. */
export const remarks: ReadonlyArray<string> = ["groundingMetadata", "urlContextMetadata", "citationMetadata"]

/**
 * The field of a candidate with the log probabilities of its tokens, and the kind of the provider item for them (ai.google.dev,
 * "GenerateContentResponse", looked up on 2026-11-26). Each chunk of a stream has those of its own tokens. They are never sent back.
 */
export const logprobs = "logprobsResult"

/** Reads the parts of one reply in order, and keeps each signature with its part. */
export class PartReader {
  readonly #provider: string
  readonly #ids = new Set<string>()
  /** The first number that may be free for an id. All smaller numbers are used. */
  #next = 0
  /** Whether the last part was a thought without a signature, which the next part may continue. */
  #isThinking = false

  constructor({ provider }: Source) {
    this.#provider = provider
  }

  /** How many calls the reply has so far. */
  get calls(): number {
    return this.#ids.size
  }

  /**
   * Reads one part. `responseId` goes into the ids that are made for calls without one, so that they differ from those of other replies.
   */
  read(part: Schema.Json, responseId: string | undefined): ReadonlyArray<Model.Part> {
    const signed = Json.text(Json.field(part, signature))
    const text = Json.field(part, "text")
    if (Predicate.isString(text) && Json.field(part, "thought") === true) return this.#think(text, signed)
    const call = Json.field(part, "functionCall")
    if (Predicate.isObject(call)) return [...this.close(), this.#call(call, signed, responseId)]
    const kind = Predicate.isString(text) ? undefined : kindOf(part)
    if (kind !== undefined) return [...this.close(), this.#item(kind, part)]
    return this.#say(Predicate.isString(text) ? text : "", signed)
  }

  /** Ends the thoughts with a part that names their provider, so that they can be sent back. */
  close(): ReadonlyArray<Model.Part> {
    if (!this.#isThinking) return []
    this.#isThinking = false
    return [{ type: "reasoning-delta", text: "", opaque: this.#opaque({}) }]
  }

  /** Makes the provider item for metadata beside the content. */
  remark(kind: string, value: Schema.Json): Message.ProviderItem {
    return this.#item(kind, value)
  }

  #think(text: string, signed: string | undefined): ReadonlyArray<Model.Part> {
    if (signed !== undefined) {
      return [...this.close(), { type: "reasoning-delta", text, opaque: this.#opaque({ [signature]: signed }) }]
    }
    if (text === "") return []
    this.#isThinking = true
    return [{ type: "reasoning-delta", text }]
  }

  #say(text: string, signed: string | undefined): ReadonlyArray<Model.Part> {
    if (text === "" && signed === undefined) return []
    return [
      ...this.close(),
      ...(text === "" ? [] : [{ type: "text-delta" as const, text }]),
      ...(signed === undefined ? [] : [this.#item(signature, { [signature]: signed, length: text.length })])
    ]
  }

  #call(call: Schema.Json, signed: string | undefined, responseId: string | undefined): Message.ToolCall {
    const givenId = Json.text(Json.field(call, "id"))
    const own = {
      ...(givenId === undefined ? {} : { id: givenId }),
      ...(signed === undefined ? {} : { [signature]: signed })
    }
    return {
      type: "tool-call",
      id: this.#idOf(givenId, responseId),
      name: Json.text(Json.field(call, "name")) ?? "",
      arguments: Json.field(call, "args") ?? null,
      ...(givenId === undefined && signed === undefined ? {} : { opaque: this.#opaque(own) })
    }
  }

  /** The given id, or a new one if it is absent or another call of this reply has it. */
  #idOf(givenId: string | undefined, responseId: string | undefined): string {
    const prefix = responseId?.replaceAll(/[^\w-]/g, "").slice(0, maxPrefix) ?? ""
    const base = prefix === "" ? "call" : `call_${prefix}`
    let id = givenId ?? `${base}_${this.#ids.size}`
    this.#next = Math.max(this.#next, this.#ids.size)
    while (this.#ids.has(id)) id = `${base}_${this.#next++}`
    this.#ids.add(id)
    return id
  }

  #item(kind: string, data: Schema.Json): Message.ProviderItem {
    return { type: "provider-item", kind, opaque: this.#opaque(data) }
  }

  #opaque(data: Schema.Json): Message.Opaque {
    return { provider: this.#provider, data }
  }
}

/** How many characters of a response id are used in a call id, so that the id is short enough for other providers. */
const maxPrefix = 24

/** The kind of a part that is neither text nor a call, such as executed code, its result or an image. */
const kindOf = (part: Schema.Json): string | undefined =>
  Predicate.isObject(part) ? Object.keys(part).find((key) => !besides.has(key)) : undefined

/** The fields that a part of any kind may have. */
const besides: ReadonlySet<string> = new Set([
  "text",
  "thought",
  signature,
  "partMetadata",
  "videoMetadata",
  "mediaResolution"
])

/** The finish reason of a reply that did not end with an error. */
export const finishOf = (reason: string | undefined, calls: boolean): Message.FinishReason => {
  switch (reason) {
    case undefined:
    case "STOP":
      return calls ? "tool-calls" : "stop"
    case "MAX_TOKENS":
      return "length"
    default:
      return "other"
  }
}
