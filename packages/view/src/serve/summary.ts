/** Sums up a recorded run for the list of runs. */
import * as ErrorWords from "../recording/ErrorWords.ts"
import { flagAt, itemsAt, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import type { RunShown, Status } from "./browser/Wire.ts"

/** The events in lines of JSON. A line that was cut off is left out. */
export const recordedIn = (lines: ReadonlyArray<string>): ReadonlyArray<Recorded> =>
  lines.flatMap((line) => {
    try {
      // cast: this program has written the lines
      return [JSON.parse(line) as Recorded]
    } catch {
      return []
    }
  })

/** Verdicts that let a call or a run go on. */
const healing: ReadonlySet<string> = new Set(["retry", "fix", "tell", "respondWith", "compact", "ask"])

/** The statuses of runs by their last event. */
const statuses: Readonly<Record<string, Status>> = {
  "run-completed": "completed",
  "run-failed": "failed",
  "run-interrupted": "interrupted",
  "run-suspended": "waiting"
}

type Summary = Pick<RunShown, "error" | "healed" | "lasted" | "missing" | "status" | "turns">

/** The tag of an error, and its message if it has one. */
const lineOf = (error: unknown): string =>
  ErrorWords.messageOf(error) === "" ? ErrorWords.tagOf(error) : ErrorWords.errorLine(error)

/** Sums up the events of a run and its descendants. */
export const summaryOf = (events: ReadonlyArray<Recorded>, isAtWork: boolean): Summary => {
  const [first] = events
  const last = events.at(-1)
  const own = events.filter(({ runId }) => runId === first?.runId)
  // a resumed run goes on after its end
  const end = own.findLast(({ type }) => type in statuses || type === "run-start")
  // Mutant `"Stryker was here!"` survives: no status has this name either
  const status = isAtWork ? "running" : (statuses[end?.type ?? ""] ?? "cut off")
  const isHealed = (event: Recorded): boolean =>
    // Mutant `"Stryker was here!"` survives: no verdict has this name either
    event.type === "verdict" && !flagAt(event, "gaveUp") && healing.has(textAt(event, "verdict") ?? "")
  // several steps may repair the arguments of one call
  const repaired = new Set(
    events.flatMap((event) =>
      event.type === "arguments-coerced" ? [`${event.runId} ${event.turn} ${textAt(event, "callId")}`] : []
    )
  )
  return {
    status,
    healed: events.filter(isHealed).length + repaired.size,
    turns: Math.max(0, ...own.map(({ turn }) => turn)),
    missing: missingIn(events),
    lasted: first === undefined || last === undefined ? 0 : last.at - first.at,
    ...(end?.type === "run-failed" ? { error: lineOf(end["error"]) } : {})
  }
}

/** The tags with which tools have failed in these runs, by the names of the tools. */
export const tagsSeen = (events: ReadonlyArray<Recorded>): ReadonlyMap<string, ReadonlySet<string>> => {
  const seen = new Map<string, Set<string>>()
  for (const event of events) {
    const [tool, tag] = [textAt(event, "tool"), ErrorWords.tagOf(event["error"])]
    if (event.type === "tool-failed" && tool !== undefined) seen.set(tool, (seen.get(tool) ?? new Set()).add(tag))
  }
  return seen
}

/** The keys of the services that a run did not find, by the messages of its defects. */
const missingIn = (events: ReadonlyArray<Recorded>): ReadonlyArray<string> => [
  ...new Set(
    events
      .filter(({ type }) => type === "run-failed")
      .flatMap((event) => [event["error"], ...itemsAt(event, "reasons")])
      .flatMap((error) => /Service not found: ([^\n]+)/.exec(ErrorWords.messageOf(error))?.[1]?.trim() ?? [])
  )
]
