/**
 * Collects the details of one item of a scene: its time, length, failures, verdicts, cost, and the texts that the model read.
 *
 * @internal
 */
import { amountAt, asText, at, fieldOf, numberAt, textAt } from "../recording/Fields.ts"
import { isTerminal, type Recorded } from "../recording/Recorded.ts"
import type { Scene } from "./Scene.ts"
import { type Mark, type Span, startOf } from "./Shapes.ts"
import { messageOf, tagOf } from "../recording/ErrorWords.ts"
import { duration, moment } from "../text/Words.ts"
import { spentLine, verdictWords } from "./words.ts"

/** The details of an item, to show in a page. */
export interface Details {
  readonly title: string
  /** Short details: a name and a value each. */
  readonly facts: ReadonlyArray<readonly [string, string]>
  /** Long details: a name and a text each, which may have several lines. */
  readonly texts: ReadonlyArray<readonly [string, string]>
  /** The indexes of the item's events, which the page shows as JSON. */
  readonly events: ReadonlyArray<number>
}

const stateWords: Readonly<Record<Span["state"], string>> = {
  ok: "completed",
  failed: "failed",
  tell: "failed, told to the model",
  discarded: "discarded",
  interrupted: "interrupted",
  suspended: "suspended",
  refused: "not run",
  waited: "waited",
  unfinished: "no end recorded"
}

const toneWords: Readonly<Record<Mark["tone"], string>> = {
  mended: "recovered",
  tell: "told to the model",
  lost: "given up",
  asked: "approval",
  note: "note"
}

/** The words for the end of a span, or for the meaning of a mark. */
export const outcomeOf = (item: Span | Mark): string =>
  item.shape === "mark"
    ? toneWords[item.tone]
    : item.part === "approval" && item.state !== "failed"
      ? approvalWords(item.state)
      : stateWords[item.state]

/** A wait for a person does not succeed or fail: it ends with a decision, or has not ended. */
const approvalWords = (state: Span["state"]): string =>
  state === "ok"
    ? "decided"
    : state === "suspended" || state === "unfinished"
      ? "waiting for approval"
      : stateWords[state]

/** Collects all details of an item. */
export const make = (scene: Scene, events: ReadonlyArray<Recorded>, item: Span | Mark): Details => {
  const lane = scene.lanes[item.lane]
  const shown = item.events.length > 0 ? item.events : [item.subject]
  const own = shown.flatMap((index) => events[index] ?? [])
  const subject = events[item.subject]
  const facts: Array<readonly [string, string | undefined]> = [
    ["Outcome", outcomeOf(item)],
    ["Layer", lane?.layer],
    ["Begins", `${moment(startOf(item) - scene.from)} after the start`],
    ["Duration", item.shape === "span" ? duration(item.to - item.from) : undefined],
    ["Agent", subject?.agent],
    ["Run", subject?.runId],
    ["Started in", textAt(subject, "startedIn", "runId")],
    ["Turn", subject === undefined ? undefined : String(subject.turn)],
    ["Tool", textAt(subject, "tool")],
    ...(subject === undefined ? [] : ofVerdict(subject)),
    ["Spent", own.map(spentOf).find((text) => text !== undefined)]
  ]
  return {
    title: item.label,
    facts: facts.flatMap(([name, text]) => (text === undefined || text === "" ? [] : [[name, text] as const])),
    texts: unique([
      ...own.flatMap((event, index) => (index < most ? textsOf(event) : [])),
      ...resultLater(events, subject, item.subject)
    ]),
    events: shown
  }
}

/** The most events of an item that are read for texts. An item may have many more, such as the deltas of a streamed reply. */
const most = 1000

const ofVerdict = (event: Recorded): ReadonlyArray<readonly [string, string | undefined]> => {
  if (event.type !== "verdict") return []
  // an event counts rungs from 0, and readers count from 1
  const rung = numberAt(event, "rung")
  const hint = numberAt(event, "hint")
  const delay = amountAt(event, "delay") ?? 0
  const left = fieldOf(event, "left")
  const from = textAt(event, "hintFrom")
  return [
    ["Verdict", verdictWords(event)],
    ["Rung", rung === undefined ? undefined : String(rung + 1)],
    ["Attempt", numberAt(event, "attempt")?.toString()],
    ["Waits", delay > 0 ? duration(delay) : undefined],
    ["Hint", hint === undefined ? undefined : `wait ${duration(hint)}${from === undefined ? "" : `, by ${from}`}`],
    [
      "Left",
      left === undefined
        ? undefined
        : `${numberAt(left, "turns") ?? "any"} turns, ${numberAt(left, "toolCalls") ?? "any"} calls`
    ]
  ]
}

const spentOf = (event: Recorded): string | undefined => {
  const spent = fieldOf(event, "entry")
  if (typeof spent === "object") return spentLine(spent)
  return fieldOf(event, "usage") === undefined ? undefined : spentLine(event)
}

const textsOf = (event: Recorded): ReadonlyArray<readonly [string, string]> => {
  const error = fieldOf(event, "error")
  const found: Array<readonly [string, string | undefined]> = [
    [`Error: ${tagOf(error)}`, messageOf(error)],
    ["Arguments", present(fieldOf(event, "arguments"))],
    ["What the fixer was given", event.type === "fix-start" ? textAt(event, "input") : undefined],
    ["What the fixer answered", textAt(event, "answer")],
    [
      readAs(textAt(event, "use", "settlement", "kind") ?? textAt(event, "settlement", "kind")),
      textAt(event, "use", "settlement", "text") ?? textAt(event, "settlement", "text")
    ],
    [
      "What the model was told",
      event.type === "output-rejected" ? textAt(first(at(event, "message", "content")), "text") : undefined
    ],
    ["Why it is asked", textAt(event, "request", "reason")],
    ["Arguments to decide on", present(at(event, "request", "arguments"))],
    ["Reason", textAt(event, "decision", "reason")],
    ["Before", present(at(event, "change", "before"))],
    ["After", present(at(event, "change", "after"))],
    ["Reply", event.type === "model-end" ? replyOf(event) : undefined],
    ["Input", event.type === "run-start" ? present(event["input"]) : undefined],
    ["Output", present(event["output"])]
  ]
  return found.flatMap(([name, text]) => (text === undefined || text === "" ? [] : [[name, text] as const]))
}

/** The name of what the model has read of a call: its result, or a text about its failure. */
const readAs = (kind: string | undefined): string =>
  kind === "result" || kind === "deferred" ? "Result" : "What the model was told"

const present = (value: unknown): string | undefined => (value === undefined ? undefined : asText(value))

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined)

const replyOf = (event: Recorded): string => {
  const content = at(event, "reply", "content")
  if (!Array.isArray(content)) return ""
  return content
    .map(
      (part: unknown) =>
        textAt(part, "text") ??
        `${textAt(part, "name") ?? textAt(part, "type") ?? ""} ${present(fieldOf(part, "arguments")) ?? ""}`
    )
    .join("\n")
}

/** The text that the model read at the end of a call, for an item about an earlier failure of the call. */
const resultLater = (
  events: ReadonlyArray<Recorded>,
  subject: Recorded | undefined,
  start: number
): ReadonlyArray<readonly [string, string]> => {
  const callId = textAt(subject, "callId")
  if (subject === undefined || callId === undefined) return []
  for (let at = start + 1; at < events.length; at++) {
    const event = events[at]
    if (event?.runId !== subject.runId) continue
    // a call of a suspended run ends in a later part of the run
    if (isTerminal(event) && event.type !== "run-suspended") break
    if (event.type !== "tool-end" || event["callId"] !== callId) continue
    const text = textAt(event, "use", "settlement", "text")
    return text === undefined ? [] : [[readAs(textAt(event, "use", "settlement", "kind")), text]]
  }
  return []
}

const unique = (texts: ReadonlyArray<readonly [string, string]>): ReadonlyArray<readonly [string, string]> => {
  const seen = new Set<string>()
  return texts.filter(([name, text]) => {
    const key = `${name}\n${text}`
    const isNew = !seen.has(key)
    seen.add(key)
    return isNew
  })
}
