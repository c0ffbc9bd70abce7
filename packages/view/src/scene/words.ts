/**
 * Short words for what happens: labels of spans and marks, and the headings of the transcript.
 *
 * @internal
 */
import { amountAt, at, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recording.ts"
import { count, duration, money } from "../text/Words.ts"
import type { Tone } from "./shapes.ts"

/** What a verdict means: whether recovery goes on, the model is told, or it gives up. */
export const toneOf = (verdict: string): Tone => {
  if (/exhausted|^raise|^rethrow|^escalate|^stop/.test(verdict)) return "lost"
  if (verdict.startsWith("tell")) return "told"
  return "mended"
}

/** A verdict: `NoKeys → fix`, with its attempt and wait. */
export const verdictLine = (event: Recorded): string => {
  const delay = amountAt(event, "delay") ?? 0
  const wait = delay > 0 ? ` in ${duration(delay)}` : ""
  return `${textAt(event, "tag") ?? "?"} → ${textAt(event, "verdict") ?? "?"}${wait}`
}

/** How a settled call reads, by the kind of its settlement. */
export const settlementWord = (kind: string | undefined): string => {
  switch (kind) {
    case "result":
      return "result"
    case "told":
      return "told an error"
    case undefined:
      return "settled"
    default:
      return kind
  }
}

/** The tokens of a usage, input and output together. */
const tokensOf = (usage: unknown): number =>
  (amountAt(usage, "inputTokens") ?? 0) + (amountAt(usage, "outputTokens") ?? 0)

/** What one attempt of a model took: `116 tokens`, with its cost if that is known. */
export const spentLine = (spent: unknown): string => {
  const cost = amountAt(spent, "cost")
  const tokens = count(tokensOf(at(spent, "usage")), "token")
  return cost === undefined ? tokens : `${tokens}, ${money(cost)}`
}
