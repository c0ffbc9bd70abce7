/** Replies and their parts: the one from the other. */
import * as Arguments from "../data/Arguments.ts"
import type * as Message from "../data/Message.ts"
import type { Part } from "./service.ts"

type Counted = Pick<Message.Reply, "usage" | "cost" | "isEstimated">

/** Puts a streamed reply together, part by part. */
export class Collector {
  readonly #content: Array<Message.Reply["content"][number]> = []
  #end: Extract<Part, { readonly type: "finish" }> | undefined
  #counted: Extract<Part, { readonly type: "usage" | "finish" }> | undefined
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
        this.#content.push(readable(part))
        return
      case "usage":
        this.#counted = part
        return
      case "finish":
        this.#counted = part
        this.#end = part
    }
  }

  /** What has come so far, but for a text that may go on. */
  get content(): Message.Reply["content"] {
    return this.#text === "" ? this.#content : [...this.#content, { type: "text", text: this.#text }]
  }

  /** The texts so far: what a reader has seen. */
  get partial(): string {
    let text = ""
    for (const part of this.#content) if (part.type === "text") text += part.text
    return text + this.#text
  }

  /** What the provider is known to have counted so far. */
  get spent(): (Counted & { readonly content: Message.Reply["content"] }) | undefined {
    if (this.#counted === undefined) return undefined
    const { cost, isEstimated, usage } = this.#counted
    return {
      usage,
      content: this.content,
      ...(cost === undefined ? {} : { cost }),
      ...(isEstimated === undefined ? {} : { isEstimated })
    }
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
  const { content } = reply
  if (content.every((part, index) => standsAlone(part, content[index - 1]))) return reply
  const collector = new Collector()
  for (const part of partsOf(reply)) collector.push(part)
  return collector.reply() ?? reply
}

type Content = Message.Reply["content"][number]

/** A call whose arguments can be written down. */
const readable = <P extends Content>(part: P): P => {
  if (part.type !== "tool-call") return part
  const args = Arguments.readable(part.arguments)
  return args === part.arguments ? part : { ...part, arguments: args }
}

const standsAlone = (part: Content, before: Content | undefined): boolean => {
  if (part.type === "tool-call") return readable(part) === part
  if (part.type === "text") return part.text !== "" && before?.type !== "text"
  return part.type !== "reasoning" || before?.type !== "reasoning" || before.opaque !== undefined
}

/** The parts in which a whole reply might have been streamed. */
export const partsOf = ({ content, ...end }: Message.Reply): ReadonlyArray<Part> => [
  ...content.map(toPart),
  { type: "finish", ...end }
]

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
