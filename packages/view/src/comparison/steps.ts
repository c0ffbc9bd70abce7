/** The steps of a recording that are compared: its tool calls and its answers, in the order in which the models made them. */
import { at, itemsAt, numberAt, textAt } from "../recording/Fields.ts"
import { tagOf } from "../recording/ErrorWords.ts"
import { isTerminal, type Recorded } from "../recording/Recorded.ts"
import { clip } from "../text/Words.ts"

/** A tool call, or an answer of a model without calls. */
export interface Step {
  /** The index of its first event in the recording. */
  readonly index: number
  readonly agent: string
  readonly turn: number
  /** How many runs are around the run of the step. */
  readonly depth: number
  /** The tool and its arguments, or the words "answers". */
  readonly what: string
  /** Steps of both recordings with the same key are the same step. */
  readonly key: string
  /** Milliseconds from the beginning of the recording, and how long it took; `undefined` if its end is missing. */
  readonly began: number
  readonly lasted: number | undefined
  /** How the step ended: the kind of its settlement, `answered`, or the tag of a failure that ended the run. */
  readonly end: string
  /** What the model has read of it, or the text of the answer. */
  readonly text: string
  /** How many attempts failed. */
  readonly failures: number
}

type Unended = { -readonly [K in keyof Step]: Step[K] }

/** The steps of these events, in order. */
export const stepsOf = (events: ReadonlyArray<Recorded>): ReadonlyArray<Step> => {
  const steps: Array<Unended> = []
  const atWork = new Map<string, Unended>()
  const asked = new Map<string, Unended>()
  const depths = new Map<string, number>()
  const origin = events[0]?.at ?? 0
  for (const [index, event] of events.entries()) {
    const { agent, parent, runId, turn } = event
    if (!depths.has(runId)) depths.set(runId, parent === undefined ? 0 : (depths.get(parent.runId) ?? -1) + 1)
    const begun = (what: string, key: string): Unended => ({
      index,
      agent,
      turn,
      depth: depths.get(runId) ?? 0,
      what,
      key: `${agent}\n${key}`,
      began: event.at - origin,
      lasted: undefined,
      end: "no end",
      text: "",
      failures: 0
    })
    const call = `${runId}\n${textAt(event, "callId")}`
    const step = atWork.get(call)
    switch (event.type) {
      case "model-start":
        if (numberAt(event, "attempt") === 1 || !asked.has(runId)) asked.set(runId, begun("answers", "answers"))
        break
      case "model-failed": {
        const failed = asked.get(runId)
        if (failed !== undefined) failed.failures++
        break
      }
      case "model-end": {
        const answer = asked.get(runId)
        asked.delete(runId)
        const content = itemsAt(event, "reply", "content")
        if (answer === undefined || content.some((part) => textAt(part, "type") === "tool-call")) break
        const text = content
          .map((part) => (textAt(part, "type") === "text" ? (textAt(part, "text") ?? "") : ""))
          .join("")
        steps.push(Object.assign(answer, { lasted: event.at - origin - answer.began, end: "answered", text }))
        break
      }
      case "tool-start": {
        const args = argumentsText(at(event, "arguments"))
        const tool = textAt(event, "tool") ?? "?"
        const made = begun(clip(`${tool} ${args}`, 100), `${tool}\n${args}`)
        steps.push(made)
        atWork.set(call, made)
        break
      }
      case "tool-failed":
        if (step !== undefined) step.failures++
        if (step !== undefined) step.text = tagOf(at(event, "error"))
        break
      case "tool-end":
      case "tool-denied":
      case "tool-skipped": {
        const settlement = event.type === "tool-end" ? at(event, "use", "settlement") : at(event, "settlement")
        // a call of an unknown tool has no beginning
        const ended = step ?? begun(clip(textAt(event, "tool") ?? "?"), `${textAt(event, "tool")}\n`)
        if (step === undefined) steps.push(ended)
        atWork.delete(call)
        ended.lasted = event.at - origin - ended.began
        ended.end = textAt(settlement, "kind") ?? event.type
        ended.text = textAt(settlement, "text") ?? ""
        break
      }
    }
    if (isTerminal(event)) {
      for (const [key, left] of atWork) {
        if (!key.startsWith(`${runId}\n`)) continue
        atWork.delete(key)
        left.lasted = event.at - origin - left.began
        left.end = left.failures > 0 && event.type === "run-failed" ? "failed" : "cut off"
      }
      const failed = asked.get(runId)
      asked.delete(runId)
      if (failed === undefined) continue
      const end = event.type === "run-failed" ? "failed" : "cut off"
      const text = event.type === "run-failed" ? tagOf(at(event, "error")) : ""
      steps.push(Object.assign(failed, { lasted: event.at - origin - failed.began, end, text }))
    }
  }
  return steps
}

/** Arguments as text, with the keys of objects in order. JSON text and the object that it stands for are the same arguments. */
const argumentsText = (args: unknown): string => {
  if (typeof args !== "string") return asLine(args)
  try {
    return asLine(JSON.parse(args))
  } catch {
    return args
  }
}

const asLine = (value: unknown): string => JSON.stringify(sorted(value)) ?? ""

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)])
  )
}
