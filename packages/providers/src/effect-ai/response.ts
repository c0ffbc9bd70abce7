/** Converts the parts of this library's replies, whole or streamed, to parts of a response of `effect/ai`. */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import type * as Usage from "@kintsugi/core/Usage"
import type * as Response from "effect/ai/Response"
import type * as Schema from "effect/Schema"
import { ours } from "./original.ts"

/** Returns the arguments of a call, mended by the schema of its tool. */
export type ParamsOf = (call: Message.ToolCall) => Schema.Json

type Encoded = Response.StreamPartEncoded

export const partsOf = ({ content, ...end }: Message.Reply, paramsOf: ParamsOf): Array<Response.PartEncoded> => [
  ...content.map((part): Response.PartEncoded => {
    switch (part.type) {
      case "text":
        return { type: "text", text: part.text }
      case "reasoning":
        return { type: "reasoning", text: part.text, metadata: opaqueOf(part.opaque) }
      case "provider-item":
        return { type: "text", text: "", metadata: itemOf(part) }
      case "tool-call":
        return callOf(part, paramsOf)
    }
  }),
  ...(end.finish === "paused" ? [pause] : []),
  ...ended(end)
]

/** An empty text that marks a reply as paused. A history of `effect/ai` does not store finish reasons, but it stores this part. */
const pause: Response.TextPartEncoded = { type: "text", text: "", metadata: { [ours]: { paused: true } } }

/** Converts the parts of one streamed reply. `effect/ai` needs a start part and an end part around each text and each reasoning. */
export class PartWriter {
  readonly #paramsOf: ParamsOf
  #current: { readonly kind: "text" | "reasoning"; readonly id: string } | undefined
  #count = 0
  #isDone = false

  constructor(paramsOf: ParamsOf) {
    this.#paramsOf = paramsOf
  }

  /** Whether the finish part was written. */
  get isDone(): boolean {
    return this.#isDone
  }

  write(part: Model.Part): ReadonlyArray<Encoded> {
    switch (part.type) {
      case "text-delta":
        return [...this.#into("text"), { type: "text-delta", id: this.#id, delta: part.text }]
      case "reasoning-delta": {
        const begun = this.#into("reasoning")
        const delta: ReadonlyArray<Encoded> =
          part.text === "" ? [] : [{ type: "reasoning-delta", id: this.#id, delta: part.text }]
        // a signature is the last part of a thought, so it closes the reasoning
        return [...begun, ...delta, ...(part.opaque === undefined ? [] : this.#close(opaqueOf(part.opaque)))]
      }
      case "provider-item":
        return [...this.#close(), ...this.#empty(itemOf(part))]
      case "tool-call":
        return [...this.#close(), callOf(part, this.#paramsOf)]
      case "usage":
        return []
      case "finish": {
        const { type: _type, ...end } = part
        this.#isDone = true
        return [...this.#close(), ...(end.finish === "paused" ? this.#empty(pause.metadata) : []), ...ended(end)]
      }
    }
  }

  #empty(metadata: Response.ProviderMetadata | undefined): ReadonlyArray<Encoded> {
    return [...this.#into("text", metadata), ...this.#close()]
  }

  get #id(): string {
    return this.#current?.id ?? ""
  }

  #into(kind: "text" | "reasoning", metadata: Response.ProviderMetadata = {}): ReadonlyArray<Encoded> {
    if (this.#current?.kind === kind) return []
    const closed = this.#close()
    this.#current = { kind, id: `${kind}-${this.#count++}` }
    return [...closed, { type: `${kind}-start`, id: this.#id, metadata }]
  }

  #close(metadata: Response.ProviderMetadata = {}): ReadonlyArray<Encoded> {
    if (this.#current === undefined) return []
    const { id, kind } = this.#current
    this.#current = undefined
    return [{ type: `${kind}-end`, id, metadata }]
  }
}

const callOf = (call: Message.ToolCall, paramsOf: ParamsOf): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id: call.id,
  name: call.name,
  params: paramsOf(call),
  metadata: opaqueOf(call.opaque)
})

const opaqueOf = (opaque: Message.Opaque | undefined): Response.ProviderMetadata =>
  opaque === undefined ? {} : { [ours]: { opaque: { ...opaque } } }

/**
 * Metadata that stores a provider item in an empty text part, because such a part keeps its position in a history and no reader shows it.
 */
const itemOf = (item: Message.ProviderItem): Response.ProviderMetadata => ({
  [ours]: { item: { ...item, opaque: { ...item.opaque } } }
})

type End = Omit<Message.Reply, "content">

/** Makes the final parts of a response. Facts for which `effect/ai` has no field go into the metadata of the finish part. */
const ended = ({
  cost,
  finish,
  model,
  responseId,
  usage,
  ...facts
}: End): ReadonlyArray<Response.ResponseMetadataPartEncoded | Response.FinishPartEncoded> => {
  const named = {
    ...(responseId === undefined ? {} : { id: responseId }),
    ...(model === undefined ? {} : { modelId: model })
  }
  const more = { ...(cost === undefined ? {} : { cost }), ...facts }
  return [
    ...(Object.keys(named).length === 0 ? [] : [{ type: "response-metadata" as const, ...named }]),
    {
      type: "finish",
      reason: finishes[finish],
      usage: usageOf(usage),
      metadata: Object.keys(more).length === 0 ? {} : { [ours]: more }
    }
  ]
}

const finishes: Readonly<Record<Message.FinishReason, Response.FinishReason>> = {
  stop: "stop",
  "tool-calls": "tool-calls",
  length: "length",
  filtered: "content-filter",
  paused: "pause",
  other: "other"
}

/** Converts token counts, rounded, because `effect/ai` accepts only integers. */
const usageOf = (usage: Usage.Usage): Response.FinishPartEncoded["usage"] => {
  const [input, output] = [Math.round(usage.inputTokens), Math.round(usage.outputTokens)]
  const [cacheRead, cacheWrite] = [Math.round(usage.cachedInputTokens), Math.round(usage.cacheWriteTokens)]
  const reasoning = Math.round(usage.reasoningTokens)
  return {
    inputTokens: { total: input, uncached: Math.max(0, input - cacheRead - cacheWrite), cacheRead, cacheWrite },
    outputTokens: { total: output, text: Math.max(0, output - reasoning), reasoning }
  }
}
