/** A language model: one request in, one reply out, whole or in parts. It knows the specs of tools, never tools. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type * as LlmError from "./LlmError.ts"
import type * as Message from "./Message.ts"
import type * as Usage from "./Usage.ts"

/**
 * What a model is asked. `messages` is lent for the duration of the call: it belongs to the run and grows afterwards,
 * so whoever wants to keep it copies it.
 */
export interface Request {
  readonly messages: Message.Transcript
  readonly tools: ReadonlyArray<Message.ToolSpec>
  readonly toolChoice: ToolChoice
  /** What the final text has to be, where that is JSON; providers that know no such thing leave it out. */
  readonly output?: OutputSpec
}

/** The JSON that is wanted for an answer. `schema` is a JSON Schema. */
export interface OutputSpec {
  readonly name: string
  readonly schema: Message.ToolSpec["parameters"]
}

/** Whether the model may call tools: as it likes, not at all, at least one, or just this one. */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string }

/**
 * A piece of a streamed reply. A tool call comes whole, when its arguments are complete. `finish` is the last part of
 * every stream that was not cut off: nothing is read beyond it.
 */
export type Part =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string; readonly opaque?: Message.Opaque }
  | Message.ToolCall
  | Message.ProviderItem
  | {
      readonly type: "finish"
      readonly finish: Message.FinishReason
      readonly usage: Usage.Usage
      readonly cost?: number
      readonly model?: string
    }

export interface Service {
  /** The model's name, as its provider knows it. */
  readonly name: string
  /** Who serves it: `openai`, `anthropic` … */
  readonly provider: string
  readonly generate: (request: Request) => Effect.Effect<Message.Reply, LlmError.LlmError>
  readonly stream: (request: Request) => Stream.Stream<Part, LlmError.LlmError>
}

/**
 * Whether models that are reached over a wire may be: `"forbidden"` under `noRealModels` of `@kintsugi/core/testing`. Whoever
 * implements such a model puts its calls behind `leaving`.
 */
export const RealCalls = Context.Reference<"allowed" | "forbidden">("@kintsugi/core/Model/RealCalls", {
  defaultValue: () => "allowed"
})

/** What calls a model over a wire; dies where that is forbidden. */
export const leaving = <A, E, R>(name: string, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(RealCalls, (calls) =>
    calls === "allowed"
      ? self
      : Effect.die(new Error(`A test calls the real model '${name}'; give its agent a scripted one`))
  )

/** The service that agents ask for in `R`. */
export class Model extends Context.Service<Model, Service>()("@kintsugi/core/Model") {}

/** Puts a streamed reply together, part by part. */
export class Collector {
  readonly #content: Array<Message.Reply["content"][number]> = []
  #end: Extract<Part, { readonly type: "finish" }> | undefined
  #text = ""

  push(part: Part): void {
    switch (part.type) {
      case "text-delta":
        this.#text += part.text
        return
      case "reasoning-delta":
        return this.#reason(part)
      case "tool-call":
      case "provider-item":
        this.#closeText()
        this.#content.push(part)
        return
      case "finish":
        this.#end = part
    }
  }

  /** The texts so far: what a reader has seen. */
  get partial(): string {
    let text = ""
    for (const part of this.#content) if (part.type === "text") text += part.text
    return text + this.#text
  }

  /** What the provider is known to have counted so far. */
  get spent(): (Pick<Message.Reply, "usage" | "cost"> & { readonly content: Message.Reply["content"] }) | undefined {
    return this.#end === undefined ? undefined : { ...this.#end, content: this.#content }
  }

  /** The whole reply, or `undefined` while the end has not come. */
  reply(): Message.Reply | undefined {
    if (this.#end === undefined) return undefined
    this.#closeText()
    const { type: _type, ...end } = this.#end
    return { content: this.#content, ...end }
  }

  #closeText(): void {
    if (this.#text !== "") this.#content.push({ type: "text", text: this.#text })
    this.#text = ""
  }

  #reason(part: Extract<Part, { readonly type: "reasoning-delta" }>): void {
    this.#closeText()
    const last = this.#content.at(-1)
    const opaque = part.opaque === undefined ? {} : { opaque: part.opaque }
    if (last?.type === "reasoning" && last.opaque === undefined) {
      this.#content[this.#content.length - 1] = { type: "reasoning", text: last.text + part.text, ...opaque }
    } else this.#content.push({ type: "reasoning", text: part.text, ...opaque })
  }
}

/**
 * A whole reply as its parts would have been put together: neighbouring texts are one, empty ones are left out. So a
 * reply leaves the same transcript whether it was streamed or not.
 */
export const collected = (reply: Message.Reply): Message.Reply => {
  const { content, ...end } = reply
  if (content.every((part, index) => standsAlone(part, content[index - 1]))) return reply
  const collector = new Collector()
  for (const part of content) collector.push(toPart(part))
  collector.push({ type: "finish", ...end })
  return collector.reply() ?? reply
}

type Content = Message.Reply["content"][number]

const standsAlone = (part: Content, before: Content | undefined): boolean => {
  if (part.type === "text") return part.text !== "" && before?.type !== "text"
  return part.type !== "reasoning" || before?.type !== "reasoning" || before.opaque !== undefined
}

const toPart = (part: Content): Part => {
  switch (part.type) {
    case "text":
      return { type: "text-delta", text: part.text }
    case "reasoning":
      return { ...part, type: "reasoning-delta" }
    case "tool-call":
    case "provider-item":
      return part
  }
}
