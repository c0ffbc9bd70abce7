/**
 * What is stored of a request beside the reply: a digest, by which a replay notices a changed agent, and the texts that come from code and
 * not from records. A later release, or a new deployment, may word these otherwise. A run keeps those with which it began.
 */
import * as Schema from "effect/Schema"
import type { Message, Model } from "@kintsugi/core"
import type { RunContext } from "@kintsugi/core/RunContext"
import { fingerprint } from "./random.ts"

/** What is stored of a request beside its result. */
export interface Stamp {
  /** Tells the request from others. */
  readonly requestDigest?: string
  /** The texts of the request that come from code. Absent if there are none. */
  readonly words?: ReadonlyArray<string>
}

export const requestFields = {
  requestDigest: Schema.optionalKey(Schema.String),
  words: Schema.optionalKey(Schema.Array(Schema.String))
}

/** The request of a step. */
export interface Asks extends Stamp {
  /** Gives a replay the stored texts. */
  readonly restore?: (words: ReadonlyArray<string>) => void
}

export const stampOf = ({ requestDigest, words }: Asks = {}): Stamp => ({
  ...(requestDigest === undefined ? {} : { requestDigest }),
  ...(words === undefined ? {} : { words })
})

/** What is stored of a request of a run in this format. */
export const asksOf = (format: number, run: RunContext | undefined, request: Model.Request): Asks => {
  const { messages, toolChoice, tools } = request
  const said = messages.filter(({ role }) => role !== "system")
  const last = said.findLastIndex(({ role }) => role === "assistant")
  const latest = said.slice(Math.max(0, last))
  const digest = (latest: Message.Transcript): string =>
    fingerprint(JSON.stringify([run?.agent ?? "", tools.map(({ name }) => name), toolChoice, said.length, latest]))
  // before the first reply there is only the input, which is a record
  if (format === 1 || last === -1 || run === undefined || run.turn() < 2) return { requestDigest: digest(latest) }
  const words: Array<string> = []
  const unworded = latest.map(worded((text) => (words.push(text), "")))
  return {
    requestDigest: digest(unworded),
    ...(words.length === 0 ? {} : { words }),
    restore: (stored) => {
      let next = 0
      const restored = worded((text) => stored[next++] ?? text)
      for (const message of latest) {
        const before = next
        const after = restored(message)
        const isChanged = stored.slice(before, next).some((text, at) => text !== words[before + at])
        if (isChanged) run.conversation.replace?.(message, after)
      }
    }
  }
}

/** Changes the texts of a message that come from code: words to the model, and the texts of calls without a result. */
const worded =
  (change: (text: string) => string) =>
  (message: Message.Message): Message.Message => {
    switch (message.role) {
      case "system":
        return message
      case "user":
        return { ...message, content: message.content.map(textOf(change)) }
      case "assistant":
        return { ...message, content: message.content.map(settlementOf(change)) }
    }
  }

const textOf =
  (change: (text: string) => string) =>
  (part: Message.UserContent[number]): Message.UserContent[number] =>
    part.type === "text" ? { ...part, text: change(part.text) } : part

const settlementOf =
  (change: (text: string) => string) =>
  (part: Message.Assistant["content"][number]): Message.Assistant["content"][number] =>
    part.type === "settled-call" && part.settlement.kind !== "result"
      ? { ...part, settlement: { ...part.settlement, text: change(part.settlement.text) } }
      : part
