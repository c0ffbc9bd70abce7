/**
 * Converts the parts of a reply of the AI SDK, whole or streamed, to parts of a reply of this library. The parts come as JSON, as
 * `client.ts` writes it.
 */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import type { Json, JsonObject } from "effect/Schema"
import * as Metadata from "./metadata.ts"
import type { ByProvider } from "./specification.ts"

/** A text or a thought that is streaming: its length so far, and the metadata of its pieces so far. */
interface Begun {
  readonly length: number
  readonly metadata: ByProvider
}

/** The type of a part with which the model asks the client for an approval. A run cannot give the answer. */
export const approvalRequest = "tool-approval-request"

/** Converts the parts of one reply, in their order. The provider's metadata of a part stays with that part. */
export class PartReader {
  readonly #provider: string
  readonly #begun = new Map<string, Begun>()

  constructor(provider: string) {
    this.#provider = provider
  }

  read(part: JsonObject): ReadonlyArray<Model.Part> {
    const metadata = Metadata.byProvider(part["providerMetadata"])
    const { delta, text, toolName, type } = texts(part)
    switch (type) {
      case "text":
        return [...said(text), ...this.#mark(text.length, metadata), ...this.#cited(part)]
      case "reasoning":
        return [{ type: "reasoning-delta", text, ...Metadata.opaqueOf(this.#provider, metadata) }]
      case "text-start":
      case "reasoning-start":
        this.#goOn(part, 0, metadata)
        return []
      case "text-delta":
        this.#goOn(part, delta.length, metadata)
        return said(delta)
      case "reasoning-delta":
        this.#goOn(part, 0, metadata)
        return delta === "" ? [] : [{ type: "reasoning-delta", text: delta }]
      case "text-end": {
        const ended = this.#end(part, metadata)
        return [...this.#mark(ended.length, ended.metadata), ...this.#cited(part)]
      }
      case "reasoning-end": {
        const opaque = Metadata.opaqueOf(this.#provider, this.#end(part, metadata).metadata)
        return opaque.opaque === undefined ? [] : [{ type: "reasoning-delta", text: "", ...opaque }]
      }
      case "tool-call":
        return [part["providerExecuted"] === true ? this.#item(toolName, part, metadata) : this.#call(part, metadata)]
      case "tool-result":
        // a preliminary result is replaced by a later one, so only the final one is kept
        return part["preliminary"] === true ? [] : [this.#item(`${toolName} result`, part, metadata)]
      case "custom":
        return [this.#item(Metadata.textOf(part["kind"]) ?? type, part, metadata)]
      // A call comes as a whole after its pieces, so these are skipped. `codec.ts` reads the parts about the reply as a whole.
      case "tool-input-start":
      case "tool-input-delta":
      case "tool-input-end":
      case "stream-start":
      case "response-metadata":
      case "ping":
      case "raw":
      case "finish":
      case "error":
        return []
      default:
        // sources, files, and kinds of parts that later versions of the SDK may add
        return [this.#item(type, part, metadata)]
    }
  }

  #goOn(part: JsonObject, length: number, metadata: ByProvider): void {
    const before = this.#begun.get(keyOf(part)) ?? none
    this.#begun.set(keyOf(part), {
      length: before.length + length,
      metadata: Metadata.merged(before.metadata, metadata)
    })
  }

  #end(part: JsonObject, metadata: ByProvider): Begun {
    const before = this.#begun.get(keyOf(part)) ?? none
    this.#begun.delete(keyOf(part))
    return { length: before.length, metadata: Metadata.merged(before.metadata, metadata) }
  }

  #mark(length: number, metadata: ByProvider): ReadonlyArray<Message.ProviderItem> {
    const { opaque } = Metadata.opaqueOf(this.#provider, metadata)
    if (opaque === undefined) return []
    const data = { ...Metadata.objectOf(opaque.data), length }
    return [{ type: "provider-item", kind: "text", opaque: { ...opaque, data } }]
  }

  /** An item with the sources that a text cites, if there are any. */
  #cited({ citations }: JsonObject): ReadonlyArray<Message.ProviderItem> {
    return Array.isArray(citations) && citations.length > 0
      ? [{ type: "provider-item", kind: "citations", opaque: { provider: this.#provider, data: { citations } } }]
      : []
  }

  #call(part: JsonObject, metadata: ByProvider): Message.ToolCall {
    const { toolCallId, toolName } = texts(part)
    return {
      type: "tool-call",
      id: toolCallId,
      name: toolName,
      arguments: part["input"] ?? null,
      ...Metadata.opaqueOf(this.#provider, metadata)
    }
  }

  #item(
    kind: string,
    { providerMetadata: _metadata, ...part }: JsonObject,
    metadata: ByProvider
  ): Message.ProviderItem {
    const data = { ...Metadata.dataOf(metadata), part }
    return { type: "provider-item", kind, opaque: { provider: this.#provider, data } }
  }
}

const none: Begun = { length: 0, metadata: {} }

/** The key of a text or a thought: `text-start`, `text-delta` and `text-end` with the same id share it. */
const keyOf = (part: JsonObject): string => {
  const { id, type } = texts(part)
  return `${type.slice(0, type.indexOf("-"))} ${id}`
}

const said = (text: string): ReadonlyArray<Model.Part> => (text === "" ? [] : [{ type: "text-delta", text }])

const texts = (part: JsonObject) => {
  const of = (key: string): string => Metadata.textOf(part[key]) ?? ""
  return {
    type: of("type"),
    id: of("id"),
    text: of("text"),
    delta: of("delta"),
    toolCallId: of("toolCallId"),
    toolName: of("toolName")
  }
}

/** The finish reason of the SDK (`unified`), and the provider's own word for it (`raw`), which version 2 does not have. */
export const finishOf = (reason: Json | undefined): { readonly unified: string; readonly raw: string | undefined } => ({
  unified: Metadata.textOf(reason) ?? Metadata.textOf(Metadata.fieldOf(reason, "unified")) ?? "other",
  raw: Metadata.textOf(Metadata.fieldOf(reason, "raw"))
})

/** The finish reasons of replies, by the words of the SDK and of providers. Other words mean a failure, or `other`. */
export const finishes: ReadonlyMap<string, Message.FinishReason> = new Map<string, Message.FinishReason>([
  ["stop", "stop"],
  ["length", "length"],
  ["tool-calls", "tool-calls"],
  // words of providers, for which their packages say "stop" or "other"; so the provider's word is looked up first
  ["pause_turn", "paused"],
  ["model_context_window_exceeded", "length"]
])

/**
 * The usage of a reply. From version 3 on, the input total includes the tokens that were read from and written to the cache. In version 2,
 * packages for Anthropic leave them out of `inputTokens`, and have the cache writes in the metadata beside the usage (`@ai-sdk/anthropic`
 * 2, looked up on 2026-11-26).
 */
export const usageOf = (usage: Json | undefined, metadata: ByProvider): Message.Reply["usage"] => {
  const [input, output] = [Metadata.fieldOf(usage, "inputTokens"), Metadata.fieldOf(usage, "outputTokens")]
  const count = (json: Json | undefined, key: string): number => Metadata.countOf(Metadata.fieldOf(json, key)) ?? 0
  if (Metadata.objectOf(input) !== undefined || Metadata.objectOf(output) !== undefined) {
    const [cachedInputTokens, cacheWriteTokens] = [count(input, "cacheRead"), count(input, "cacheWrite")]
    const [inputTotal, outputTotal] = [input, output].map((counts) => Metadata.fieldOf(counts, "total"))
    return {
      inputTokens: Metadata.countOf(inputTotal) ?? count(input, "noCache") + cachedInputTokens + cacheWriteTokens,
      outputTokens: Metadata.countOf(outputTotal) ?? count(output, "text") + count(output, "reasoning"),
      cachedInputTokens,
      cacheWriteTokens,
      reasoningTokens: count(output, "reasoning")
    }
  }
  const cachedInputTokens = count(usage, "cachedInputTokens")
  const cacheWriteTokens = count(metadata["anthropic"], "cacheCreationInputTokens")
  const uncached = count(usage, "inputTokens")
  const isWithout = metadata["anthropic"] !== undefined || cachedInputTokens > uncached
  return {
    inputTokens: isWithout ? uncached + cachedInputTokens + cacheWriteTokens : uncached,
    outputTokens: count(usage, "outputTokens"),
    cachedInputTokens,
    cacheWriteTokens,
    reasoningTokens: count(usage, "reasoningTokens")
  }
}

/**
 * The cost of a reply in US dollars, if the provider reports it in the metadata. Vercel's AI Gateway and OpenRouter report dollars; xAI
 * reports ticks of 10^-10 dollars (`@ai-sdk/gateway`, `@openrouter/ai-sdk-provider`, `@ai-sdk/xai`, looked up on 2026-11-26).
 */
export const costIn = (metadata: ByProvider): { readonly cost?: number } => {
  const { gateway, openrouter, xai } = metadata
  const ticks = dollarsIn(Metadata.fieldOf(xai, "costInUsdTicks"))
  const cost =
    dollarsIn(Metadata.fieldOf(gateway, "cost")) ??
    dollarsIn(Metadata.fieldOf(Metadata.fieldOf(openrouter, "usage"), "cost")) ??
    (ticks === undefined || ticks === 0 ? undefined : ticks / 1e10)
  return cost === undefined ? {} : { cost }
}

/** An amount of dollars: a number, or the text of a number. `undefined` if it is neither, or negative. */
const dollarsIn = (json: Json | undefined): number | undefined => {
  const dollars = typeof json === "string" && /^\d{1,9}(?:\.\d{1,20})?$/.test(json) ? Number(json) : json
  // Mutant `true` for `typeof dollars === "number"` survives: what is no number is not finite
  return typeof dollars === "number" && Number.isFinite(dollars) && dollars >= 0 ? dollars : undefined
}
