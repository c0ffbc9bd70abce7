/**
 * Makes the transcript: the conversation with the steps of recovery, in reading order. Each entry names its event, so that selecting the
 * entry also selects an item of the drawing.
 *
 * @internal
 */
import { asText, at, fieldOf, itemsAt, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import type { Tone } from "./Shapes.ts"
import { reasonsOf } from "./callWeaver.ts"
import { errorLine, messageOf, tagOf } from "../recording/ErrorWords.ts"
import { settlementWord, spentLine, toneOf, verdictLine } from "./words.ts"

/** The speaker of an entry. Steps of recovery have the speaker `recovery`. */
export type Speaker = "system" | "user" | "assistant" | "tool" | "recovery" | "run"

/** One entry of the transcript. */
export interface Entry {
  /** The index of the entry's event. */
  readonly event: number
  readonly speaker: Speaker
  /** The speaker and the occasion in words. */
  readonly heading: string
  readonly text: string
  readonly tone?: Tone
  readonly agent: string
  /** The depth of the run: 0 for runs without a parent. */
  readonly depth: number
}

type Said = Omit<Entry, "event" | "agent" | "depth">

/** Makes the entries of these events. */
export const make = (events: ReadonlyArray<Recorded>): ReadonlyArray<Entry> => {
  const depths = new Map<string, number>()
  /** The last turn of each run whose reply was read. Its `turn-end` event has the same reply, and is skipped. */
  const read = new Map<string, number>()
  const begun = new Set<string>()
  const entries: Array<Entry> = []
  for (const [index, event] of events.entries()) {
    const { agent, parent, runId, turn, type } = event
    let depth = depths.get(runId)
    if (depth === undefined) {
      depth = parent === undefined ? 0 : (depths.get(parent.runId) ?? 0) + 1
      depths.set(runId, depth)
    }
    if (type === "turn-end" && read.get(runId) === turn) continue
    if (type === "model-end") read.set(runId, turn)
    const isResumed = type === "run-start" && begun.has(runId)
    if (type === "run-start") begun.add(runId)
    const speak = Object.hasOwn(speaking, type) ? speaking[type] : undefined
    if (speak === undefined) continue
    for (const { heading, speaker, text, tone } of isResumed ? [resumed] : speak(event)) {
      const entry = { event: index, agent, depth, speaker, heading, text }
      entries.push(tone === undefined ? entry : { ...entry, tone })
    }
  }
  return entries
}

const resumed: Said = { speaker: "run", heading: "The run goes on", text: "" }

const one = (speaker: Speaker, heading: string, text: string, tone?: Tone): ReadonlyArray<Said> => [
  { speaker, heading, text, ...(tone === undefined ? {} : { tone }) }
]

/** The parts of a user's message as text. Images and files are shown by their type. */
const contentOf = (message: unknown): string =>
  itemsAt(message, "content")
    .map((part) => textAt(part, "text") ?? `[${textAt(part, "type") ?? "part"} ${textAt(part, "mediaType") ?? ""}]`)
    .join("\n")

const beginning = (event: Recorded): ReadonlyArray<Said> => {
  const said = itemsAt(event, "transcript").flatMap((message): ReadonlyArray<Said> => {
    const role = textAt(message, "role")
    if (role === "system") return one("system", "System", textAt(message, "text") ?? "")
    if (role === "user") return one("user", "User", contentOf(message))
    return ofAssistant(message)
  })
  return said.length > 0 ? said : one("user", "Input", asText(event["input"]))
}

/** The entries of a reply, or of an assistant message with settled calls. */
const ofAssistant = (message: unknown): ReadonlyArray<Said> =>
  itemsAt(message, "content").flatMap((part): ReadonlyArray<Said> => {
    switch (textAt(part, "type")) {
      case "text":
        return one(
          "assistant",
          fieldOf(message, "incomplete") === true
            ? "Model, stopped"
            : fieldOf(message, "withheld") === true
              ? "Model, withheld"
              : "Model",
          textAt(part, "text") ?? ""
        )
      case "reasoning":
        return one("assistant", "Model, thinking", textAt(part, "text") ?? "")
      case "tool-call":
        return one("assistant", `Model calls ${textAt(part, "name") ?? "?"}`, asText(fieldOf(part, "arguments")))
      case "settled-call":
        return [
          ...one(
            "assistant",
            `Model calls ${textAt(part, "call", "name") ?? "?"}`,
            asText(at(part, "call", "arguments"))
          ),
          ...ofSettlement(textAt(part, "call", "name") ?? "?", fieldOf(part, "settlement"))
        ]
      default:
        return one("assistant", `Model, ${textAt(part, "kind") ?? textAt(part, "type") ?? "part"}`, "")
    }
  })

const ofSettlement = (tool: string, settlement: unknown): ReadonlyArray<Said> => {
  const kind = textAt(settlement, "kind")
  const text = textAt(settlement, "text") ?? ""
  return one("tool", `${tool}: ${settlementWord(kind)}`, text, kind === "result" ? undefined : "tell")
}

const atLimit = (event: Recorded): string => {
  const reason = textAt(event, "endedBy", "reason")
  return reason === undefined ? "" : ` at its limit of ${reason}`
}

const nameOf = (event: Recorded): string => textAt(event, "tool") ?? "?"

const whyNot = (event: Recorded): string => {
  switch (textAt(event, "why")) {
    case "no-window":
      return "The window of the model is not known."
    case "not-shorter":
      return "Its result is no shorter."
    default:
      return event["error"] === undefined ? "" : errorLine(event["error"], 2000)
  }
}

/** Makes the entries of an event, by its type. Events of other types have none. */
const speaking: Readonly<Record<string, (event: Recorded) => ReadonlyArray<Said>>> = {
  "run-start": beginning,
  "skill-chosen": (event) => one("run", `Skill ${textAt(event, "skill") ?? "?"}`, textAt(event, "prompt") ?? ""),
  "turn-start": (event) =>
    event["message"] === undefined
      ? []
      : one("run", "The run asks for its answer", contentOf(event["message"]), "tell"),
  "model-end": (event) => ofAssistant(event["reply"]),
  "model-failed": (event) => one("recovery", "The model failed", errorLine(event["error"], 2000), "lost"),
  "model-interrupted": () => one("recovery", "The model was interrupted", ""),
  "attempt-discarded": (event) => one("recovery", "What was said does not count", textAt(event, "text") ?? "", "lost"),
  "attempt-continued": (event) => one("recovery", "The model goes on from this", textAt(event, "kept") ?? "", "mended"),
  compacted: (event) =>
    one("recovery", `The conversation was shortened by ${textAt(event, "compaction") ?? "?"}`, "", "mended"),
  "not-compacted": (event) =>
    one("recovery", `The conversation was not shortened by ${textAt(event, "compaction") ?? "?"}`, whyNot(event)),
  "result-cut": (event) =>
    one("recovery", `The result of ${nameOf(event)} could not be put aside`, errorLine(event["error"], 2000), "lost"),
  "arguments-coerced": (event) =>
    one("recovery", `Arguments of ${nameOf(event)} read by ${textAt(event, "change", "step") ?? "?"}`, "", "mended"),
  "tool-failed": (event) =>
    one("recovery", `${nameOf(event)} failed: ${tagOf(event["error"])}`, messageOf(event["error"]), "lost"),
  verdict: (event) => {
    const tone = toneOf(event)
    const layer = textAt(event, "layer")
    // without the message for a tool, because `tool-failed` has shown it
    return one(
      "recovery",
      `${layer ?? "?"}: ${verdictLine(event)}`,
      layer === "tool" ? "" : messageOf(event["error"]),
      tone
    )
  },
  "fix-start": (event) =>
    one("recovery", `A fixer is handed the call of ${nameOf(event)}`, textAt(event, "input") ?? "", "mended"),
  "fix-end": (event) => one("recovery", `The fixer answers`, textAt(event, "answer") ?? "", "mended"),
  "fix-failed": (event) => one("recovery", "The fixer failed", errorLine(event["error"], 2000), "lost"),
  "tool-end": (event) => ofSettlement(nameOf(event), at(event, "use", "settlement")),
  "tool-changed": (event) =>
    one(
      "run",
      `${textAt(event, "server") ?? "A server"} has changed ${nameOf(event)}: ${textAt(event, "action") ?? "?"}`,
      "",
      textAt(event, "action") === "refuse" ? "lost" : "note"
    ),
  "tool-denied": (event) => ofSettlement(nameOf(event), event["settlement"]),
  "tool-skipped": (event) => ofSettlement(nameOf(event), event["settlement"]),
  "tool-compensated": (event) =>
    one(
      "recovery",
      event["error"] === undefined ? `${nameOf(event)} is undone` : `${nameOf(event)} is not undone`,
      event["error"] === undefined ? "" : errorLine(event["error"], 2000),
      event["error"] === undefined ? "note" : "lost"
    ),
  "approval-requested": (event) =>
    one(
      "run",
      `${nameOf(event)} waits for approval: ${textAt(event, "request", "reason") ?? ""}`,
      asText(at(event, "request", "arguments")),
      "asked"
    ),
  "approval-decided": (event) =>
    one(
      "run",
      `${nameOf(event)}: ${textAt(event, "decision", "type") ?? "?"}${textAt(event, "by") === undefined ? "" : ", by a grant"}`,
      textAt(event, "decision", "reason") ?? "",
      "asked"
    ),
  "approval-expired": (event) => one("run", `${nameOf(event)}: no decision came in time`, "", "lost"),
  "turn-end": (event) => ofAssistant(event["message"]),
  "events-lost": (event) => one("run", "Earlier events are gone", textAt(event, "text") ?? "", "lost"),
  "tool-result": (event) => one("user", `The result of ${nameOf(event)} has come`, contentOf(event["message"])),
  guardrail: (event) => {
    const verdict = textAt(event, "verdict") ?? "?"
    const said = [textAt(event, "reason") ?? "", event["message"] === undefined ? "" : contentOf(event["message"])]
    return verdict === "pass"
      ? []
      : one(
          "run",
          `Guardrail ${textAt(event, "guard") ?? "?"}: ${verdict}`,
          said.filter((one) => one !== "").join("\n"),
          "lost"
        )
  },
  "message-read": (event) => one("user", "Said meanwhile", contentOf(event["message"])),
  "message-returned": (event) => one("run", "Said, and not read", contentOf(event["message"]), "lost"),
  "output-coerced": (event) =>
    one("recovery", `Output read by ${textAt(event, "change", "step") ?? "?"}`, "", "mended"),
  "output-rejected": (event) =>
    one(
      "recovery",
      "The output does not fit",
      contentOf(event["message"]),
      event["message"] === undefined ? "lost" : "tell"
    ),
  "budget-warning": (event) => one("run", `Budget: ${textAt(event, "reason") ?? "a limit"} is near`, ""),
  "budget-exceeded": (event) => one("run", `Budget: ${textAt(event, "reason") ?? "a limit"} is reached`, "", "lost"),
  "run-completed": (event) =>
    one("run", `${event.agent} answers${atLimit(event)} (${spentLine(event)})`, asText(event["output"])),
  "run-suspended": (event) => one("run", `${event.agent} waits`, "", "asked"),
  "run-failed": (event) => one("run", `${event.agent} fails`, reasonsOf(event), "lost"),
  "run-interrupted": (event) => one("run", `${event.agent} was interrupted`, "", "lost")
}
