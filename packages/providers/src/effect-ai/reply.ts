/** Converts the parts of a response of `effect/ai`, whole or streamed, to parts of this library's replies. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import type * as Response from "effect/ai/Response"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"
import * as Source from "../transport/Source.ts"
import { ours } from "./original.ts"
import { jsonOf, marked, theirs } from "./prompt.ts"

type Part = Response.AnyPart

/** A text or reasoning part whose end has not arrived yet. */
interface Begun {
  length: number
  metadata: Response.ProviderMetadata
}

/** Converts the parts of one response in their order. Metadata stays with the part that it belongs to. */
export class PartReader {
  readonly #unfinished = new Map<string, Begun>()
  #metadata: Pick<Message.Reply, "model" | "responseId"> = {}

  read(part: Part): ReadonlyArray<Model.Part> {
    switch (part.type) {
      case "text":
        return [...said(part.text), ...mark(part.text.length, part.metadata)]
      case "reasoning":
        return [{ type: "reasoning-delta", text: part.text, ...signed(part.metadata) }]
      case "text-start":
      case "reasoning-start":
        this.#unfinished.set(`${kindOf(part.type)} ${part.id}`, { length: 0, metadata: part.metadata })
        return []
      case "text-delta":
        this.#goOn(part)
        return said(part.delta)
      case "reasoning-delta":
        this.#goOn(part)
        return part.delta === "" ? [] : [{ type: "reasoning-delta", text: part.delta }]
      case "text-end": {
        const { length, metadata } = this.#end(part)
        return mark(length, metadata)
      }
      case "reasoning-end": {
        const end = signed(this.#end(part).metadata)
        return end.opaque === undefined ? [] : [{ type: "reasoning-delta", text: "", ...end }]
      }
      case "tool-call":
        return [part.providerExecuted ? item(part.name, part, { params: jsonOf(part.params) }) : callOf(part)]
      case "tool-result":
        // Results of tools that the provider did not run are not part of the model's reply.
        return part.providerExecuted
          ? [item(`${part.name} result`, part, { isFailure: part.isFailure, result: jsonOf(part.encodedResult) })]
          : []
      case "file":
        return [item(part.type, part, { mediaType: part.mediaType, data: base64(part.data) })]
      case "source":
        return [item(part.type, part, sourceOf(part))]
      case "response-metadata":
        this.#metadata = {
          ...this.#metadata,
          ...(part.modelId === undefined ? {} : { model: part.modelId }),
          ...(part.id === undefined ? {} : { responseId: part.id })
        }
        return []
      case "finish":
        return [{ ...this.#finish(finishes[part.reason], usageOf(part.usage)), ...factsOf(part) }]
      // Ignored: the pieces of a call (the whole call follows), requests for approval (this library makes its own), and errors (the caller
      // handles them).
      case "tool-params-start":
      case "tool-params-delta":
      case "tool-params-end":
      case "tool-approval-request":
      case "error":
        return []
    }
  }

  /** Makes the finish part of a response that has none. */
  unsaid(): Model.Part {
    return this.#finish("other", Usage.empty)
  }

  #finish(finish: Message.FinishReason, usage: Usage.Usage): Model.Part {
    return { type: "finish", finish, usage, ...this.#metadata }
  }

  #goOn({ delta, id, metadata, type }: Response.TextDeltaPart | Response.ReasoningDeltaPart): void {
    const begun = this.#unfinished.get(`${kindOf(type)} ${id}`)
    if (begun === undefined) return
    begun.length += delta.length
    begun.metadata = merged(begun.metadata, metadata)
  }

  #end({ id, metadata, type }: Response.TextEndPart | Response.ReasoningEndPart): Begun {
    const key = `${kindOf(type)} ${id}`
    const begun = this.#unfinished.get(key) ?? { length: 0, metadata: {} }
    this.#unfinished.delete(key)
    return { length: begun.length, metadata: merged(begun.metadata, metadata) }
  }
}

const kindOf = (type: string): string => type.slice(0, type.indexOf("-"))

const said = (text: string): ReadonlyArray<Model.Part> => (text === "" ? [] : [{ type: "text-delta", text }])

const mark = (length: number, metadata: Response.ProviderMetadata): ReadonlyArray<Model.Part> =>
  isEmpty(metadata)
    ? []
    : [{ type: "provider-item", kind: marked, opaque: { provider: theirs, data: { metadata, length } } }]

const signed = (metadata: Response.ProviderMetadata): { readonly opaque?: Message.Opaque } =>
  isEmpty(metadata) ? {} : { opaque: { provider: theirs, data: metadata } }

const isEmpty = (metadata: Response.ProviderMetadata): boolean => Object.keys(metadata).length === 0

/** Merges the metadata of two pieces of one part, separately for each provider, as `effect/ai` does. */
const merged = (before: Response.ProviderMetadata, after: Response.ProviderMetadata): Response.ProviderMetadata => {
  if (isEmpty(after)) return before
  const all: Record<string, Schema.Json | null> = { ...before }
  for (const [provider, data] of Object.entries(after)) {
    const existing = all[provider]
    // metadata that is a JSON object in both pieces is merged field by field
    all[provider] = isRecord(existing) && isRecord(data) ? { ...existing, ...data } : data
  }
  return all
}

const isRecord = (json: Schema.Json | undefined): json is Schema.JsonObject =>
  Predicate.isObject(json) && !Array.isArray(json)

const callOf = ({ id, metadata, name, params }: Response.ToolCallPart<string, unknown>): Message.ToolCall => ({
  type: "tool-call",
  id,
  name,
  arguments: jsonOf(params),
  ...signed(metadata)
})

/** Makes a provider item, for a part that this library's replies do not have: a file, a source, a call that the provider runs. */
const item = (
  kind: string,
  part: { readonly type: string; readonly metadata: Response.ProviderMetadata },
  fields: Readonly<Record<string, Schema.Json>>
): Message.ProviderItem => {
  const { metadata, type } = part
  const own = {
    ...("id" in part ? { id: jsonOf(part.id) } : {}),
    ...("name" in part ? { name: jsonOf(part.name) } : {})
  }
  return {
    type: "provider-item",
    kind,
    opaque: { provider: theirs, data: { part: { type, metadata, ...own, ...fields } } }
  }
}

const sourceOf = (part: Response.DocumentSourcePart | Response.UrlSourcePart): Readonly<Record<string, Schema.Json>> =>
  part.sourceType === "url"
    ? { sourceType: "url", url: part.url.href, title: part.title }
    : { sourceType: "document", mediaType: part.mediaType, title: part.title }

const encodeBytes = Schema.encodeResult(Schema.Uint8ArrayFromBase64)

export const base64 = (bytes: Uint8Array): string => Result.getOrElse(encodeBytes(bytes), () => "")

const finishes: Readonly<Record<Response.FinishReason, Message.FinishReason>> = {
  stop: "stop",
  length: "length",
  "content-filter": "filtered",
  "tool-calls": "tool-calls",
  pause: "paused",
  error: "other",
  other: "other",
  unknown: "other"
}

const { cost, isEstimated, rawFinish, requestId, serviceTier } = Message.Reply.fields

const Facts = Schema.Struct({ cost, isEstimated, rawFinish, requestId, serviceTier })

/**
 * Further facts about a reply (cost, request id, service tier). A model of this library has written them into the metadata (see
 * `response.ts`). For other models they are the request id in the headers and OpenAI's service tier.
 */
const factsOf = ({ metadata, response }: Response.FinishPart): typeof Facts.Type => {
  const written = metadata[ours]
  if (written !== undefined) return Option.getOrElse(Schema.decodeUnknownOption(Facts)(written), () => ({}))
  const tier = Json.text(Json.field(metadata["openai"], "serviceTier"))
  const id = response?.headers["x-request-id"] ?? response?.headers["request-id"]
  return {
    ...(Predicate.isString(id) && id !== "" ? { requestId: Source.quote(id) } : {}),
    ...(tier === undefined ? {} : { serviceTier: tier })
  }
}

/** Converts token counts. If a total is absent, it is the sum of its parts. */
export const usageOf = ({ inputTokens, outputTokens }: Response.Usage): Usage.Usage => {
  const { cacheRead = 0, cacheWrite = 0, uncached = 0 } = inputTokens
  const { reasoning = 0, text = 0 } = outputTokens
  return Usage.make({
    inputTokens: inputTokens.total ?? uncached + cacheRead + cacheWrite,
    outputTokens: outputTokens.total ?? text + reasoning,
    cachedInputTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    reasoningTokens: reasoning
  })
}
