/**
 * Short words for events: the labels of spans and marks, and the headings of the transcript.
 *
 * @internal
 */
import { amountAt, at, flagAt, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import { count, decided, duration, money } from "../text/Words.ts"
import type { Tone } from "./Shapes.ts"

/** The tone of a verdict: `mended` if recovery goes on, `tell` if the model is told, `lost` if recovery gives up. */
export const toneOf = (event: Recorded): Tone => {
  if (flagAt(event, "gaveUp")) return "lost"
  switch (textAt(event, "verdict")) {
    case "raise":
    case "rethrow":
    case "escalate":
      return "lost"
    case "tell":
      return "tell"
    default:
      return "mended"
  }
}

/** A verdict in words: `fix`, or `retry gave up`. */
export const verdictWords = (event: Recorded): string =>
  decided(textAt(event, "verdict") ?? "?", flagAt(event, "gaveUp"))

/** A verdict in one line, with its wait: `NoKeys → fix in 2 s`. */
export const verdictLine = (event: Recorded): string => {
  const delay = amountAt(event, "delay") ?? 0
  const wait = delay > 0 ? ` in ${duration(delay)}` : ""
  return `${textAt(event, "tag") ?? "?"} → ${verdictWords(event)}${wait}`
}

/** The word for the settlement of a call, by its kind. */
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

/** The tokens of a usage: the sum of input and output. */
const tokensOf = (usage: unknown): number =>
  (amountAt(usage, "inputTokens") ?? 0) + (amountAt(usage, "outputTokens") ?? 0)

/** The spending of one attempt of a model: `116 tokens`, with the cost if it is known. */
export const spentLine = (spent: unknown): string => {
  const cost = amountAt(spent, "cost")
  const tokens = count(tokensOf(at(spent, "usage")), "token")
  return cost === undefined ? tokens : `${tokens}, ${money(cost)}`
}
