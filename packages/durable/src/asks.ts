/**
 * What is stored of a request beside the reply: a digest, by which a replay notices a changed agent, and the texts that come from code and
 * not from records. A later release, or a new deployment, may word these otherwise. A run keeps those with which it began.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Message } from "@kintsugi/core"
import type * as Interception from "@kintsugi/core/Interception"
import type { RunContext } from "@kintsugi/core/RunContext"
import { fingerprint } from "./random.ts"

export type ModelCall = Extract<Interception.InterceptedStep, { readonly type: "model call" }>

/** What is stored of a request beside its result. */
export interface Stamp {
  /** Tells the request from others. */
  readonly requestDigest?: string
  /** Tells the conversation of the request from others, with any tools. A replay compares it after a migration. */
  readonly conversationDigest?: string
  /** The texts of the request that come from code. Absent if there are none. */
  readonly words?: ReadonlyArray<string>
  /** How many migrations the workflow had when the step was recorded; absent for none. */
  readonly revision?: number
}

export const requestFields = {
  requestDigest: Schema.optionalKey(Schema.String),
  conversationDigest: Schema.optionalKey(Schema.String),
  revision: Schema.optionalKey(Schema.Finite),
  words: Schema.optionalKey(Schema.Array(Schema.String))
}

/** The request of a step. */
export interface Asks extends Omit<Stamp, "revision"> {
  /** Gives a replay the stored texts. */
  readonly restore?: (words: ReadonlyArray<string>) => void
  /** Learns which step has the result, and how many migrations the workflow had when it was recorded. */
  readonly recorded?: (step: string, revision: number) => void
}

export const stampOf = (revision: number, { conversationDigest, requestDigest, words }: Asks = {}): Stamp => ({
  ...(requestDigest === undefined ? {} : { requestDigest }),
  ...(conversationDigest === undefined ? {} : { conversationDigest }),
  ...(words === undefined ? {} : { words }),
  ...(revision === 0 ? {} : { revision })
})

/** How many migrations the workflow had when a step was recorded. */
export const revisionOf = (stored: unknown): number =>
  Predicate.hasProperty(stored, "revision") && Predicate.isNumber(stored.revision) ? stored.revision : 0

/**
 * Whether a result was recorded for another request. A migration has changed the agent and its tools, so of a request before a migration only
 * the conversation counts. Rows of earlier releases have no digest of it; then the number of its texts counts.
 */
export const isOther = (stored: Stamp, asks: Asks = {}, isMigrated: boolean): boolean => {
  if (!isMigrated) return stored.requestDigest !== asks.requestDigest
  return stored.conversationDigest === undefined
    ? (stored.words ?? []).length !== (asks.words ?? []).length
    : stored.conversationDigest !== asks.conversationDigest
}

/** What is stored of a request of a run in this format. */
export const asksOf = (
  format: number,
  run: RunContext | undefined,
  { request, shortened }: Pick<ModelCall, "request" | "shortened">
): Asks => {
  const { messages, toolChoice, tools } = request
  const said = messages.filter(({ role }) => role !== "system")
  const last = said.findLastIndex(({ role }) => role === "assistant")
  const latest = said.slice(Math.max(0, last))
  const digestsOf = (latest: Message.Transcript) => {
    const agent = [run?.agent ?? "", tools.map(({ name }) => name), toolChoice]
    return {
      requestDigest: fingerprint(JSON.stringify([...agent, said.length, latest])),
      conversationDigest: fingerprint(JSON.stringify([said.length, latest]))
    }
  }
  // before the first reply there is only the input, which is a record
  if (format === 1 || last === -1 || run === undefined || run.turn() < 2) return digestsOf(latest)
  const words: Array<string> = []
  const change = worded(format >= 3 ? shortened : undefined)
  const unworded = latest.map(change((text) => (words.push(text), "")))
  return {
    ...digestsOf(unworded),
    ...(words.length === 0 ? {} : { words }),
    restore: (stored) => {
      let next = 0
      const restored = change((text) => stored[next++] ?? text)
      for (const message of latest) {
        const before = next
        const after = restored(message)
        const isChanged = stored.slice(before, next).some((text, at) => text !== words[before + at])
        if (isChanged) run.conversation.replace?.(message, after)
      }
    }
  }
}

type Change = (text: string) => string

/**
 * Changes the texts of a message that come from code: words to the model, the texts of calls without a result, and from format 3 on those of
 * results that were cut or put aside.
 */
const worded =
  (shortened: ModelCall["shortened"] | undefined) =>
  (change: Change) =>
  (message: Message.Message): Message.Message => {
    switch (message.role) {
      // Mutant `""` survives: a digest is without instructions, which the types do not know
      case "system":
        return message
      case "user":
        return { ...message, content: message.content.map(textOf(change)) }
      case "assistant":
        return { ...message, content: message.content.map(settlementOf(shortened, change)) }
    }
  }

/** Any part of a message with several parts, of which only the texts change. */
const textOf =
  (change: Change) =>
  <Part extends { readonly type: string }>(part: Part | Message.Text): Part | Message.Text =>
    isText(part) ? { ...part, text: change(part.text) } : part

const isText = (part: { readonly type: string }): part is Message.Text => part.type === "text"

const settlementOf =
  (shortened: ModelCall["shortened"] | undefined, change: Change) =>
  (part: Message.Assistant["content"][number]): Message.Assistant["content"][number] => {
    if (part.type !== "settled-call") return part
    const { settlement } = part
    if (settlement.kind !== "result") return { ...part, settlement: { ...settlement, text: change(settlement.text) } }
    if (shortened?.has(settlement) !== true) return part
    const { parts } = settlement
    const after = {
      ...settlement,
      text: change(settlement.text),
      ...(parts === undefined ? {} : { parts: parts.map(textOf(change)) })
    }
    // a later attempt of the model call finds the copy
    shortened.add(after)
    return { ...part, settlement: after }
  }
