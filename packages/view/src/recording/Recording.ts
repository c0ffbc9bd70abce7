/**
 * The events of runs, read from JSON lines without a schema. A recording of a broken or cut file has the events that can be read, and the
 * problems.
 */
import { isDeeper } from "./depth.ts"
import { fieldOf, numberAt, textAt } from "./Fields.ts"
import { isTerminal, type Recorded, types } from "./Recorded.ts"

export type { Recorded } from "./Recorded.ts"

// Private types are aliases and not interfaces: TypeScript writes an alias out in the declarations of a program, and cannot name a private
// interface there.

/** A problem of a recording: a broken line, or a missing part. */
type Problem = {
  /** The number of the line, counted from 1; absent if the problem is not about one line. */
  readonly line?: number
  readonly kind:
    | "broken"
    | "cut"
    | "foreign"
    | "unknown"
    | "beginning"
    | "end"
    | "parent"
    | "order"
    | "repeated"
    | "more"
  /** The problem in one sentence. */
  readonly says: string
  /** How many problems this entry stands for; 1 by default. */
  readonly many?: number
}

/** The deepest nesting of an event. An event that is nested deeper is a problem. */
const maxDepth = 256

/** The most problems of lines that are listed one by one. Further ones are only counted. */
const maxListed = 1000

/** Events in their JSON form, and the problems of the recording. The events are in the order in which they were written. */
export interface Recording {
  readonly events: ReadonlyArray<Recorded>
  readonly problems: ReadonlyArray<Problem>
}

/** Collects events one by one, as lines or as values. `recording` may be called at any time. */
type Recorder = {
  /** Takes a line of a file. An empty line has no event, but counts for the line numbers. */
  readonly line: (text: string) => void
  /** Takes an event in its JSON form. */
  readonly event: (value: unknown) => void
  /** The recording so far. Its list of events is the same array at each call, and grows. */
  readonly recording: () => Recording
}

/** What is known about a run so far. */
interface Seen {
  readonly agent: string
  readonly hasBeginning: boolean
  readonly parent: string | undefined
  isUnfinished: boolean
  isCompleted: boolean
  /** Whether the run has begun again after it had completed. */
  isRepeated: boolean
}

/** The events of a type that this version does not know. */
interface Unknown {
  readonly where: { readonly line?: number }
  many: number
}

/** Begins an empty recording. Its functions take events as they arrive. */
export const start = (): Recorder => {
  const events: Array<Recorded> = []
  const problems: Array<Problem | { readonly type: string }> = []
  const unknown = new Map<string, Unknown>()
  const runs = new Map<string, Seen>()
  let lines = 0
  let latest = -Infinity
  let late = 0
  let broken: Problem | undefined
  let more = 0

  const tell = (problem: Problem | { readonly type: string }) => {
    if (problems.length < maxListed) problems.push(problem)
    else more++
  }

  const take = (value: unknown, line: number | undefined) => {
    const where = line === undefined ? {} : { line }
    const fault = faultOf(value)
    if (fault !== undefined) {
      tell({ ...where, kind: "foreign", says: `It is no event: ${fault}.` })
      return
    }
    // cast: `faultOf` has checked the fields of a recorded event
    const event = value as Recorded
    if (!types.has(event.type)) {
      const others = unknown.get(event.type)
      if (others === undefined) {
        unknown.set(event.type, { where, many: 1 })
        tell({ type: event.type })
      } else others.many++
    }
    if (event.at < latest) late++
    latest = Math.max(latest, event.at)
    const seen = runs.get(event.runId)
    if (seen === undefined)
      runs.set(event.runId, {
        agent: event.agent,
        hasBeginning: event.type === "run-start",
        parent: event.parent?.runId,
        isUnfinished: !isTerminal(event),
        isCompleted: event.type === "run-completed",
        isRepeated: false
      })
    // a compensation comes after the end of its run, and does not begin the run again
    else if (isTerminal(event)) {
      seen.isUnfinished = false
      seen.isCompleted ||= event.type === "run-completed"
    } else if (event.type === "run-start") {
      seen.isUnfinished = true
      seen.isRepeated ||= seen.isCompleted
    }
    events.push(event)
  }

  const flush = () => {
    if (broken !== undefined) tell(broken)
    broken = undefined
  }

  return {
    line: (text) => {
      lines++
      const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
      if (json.trim() === "") return
      flush()
      const value = parsed(json)
      if (value !== undefined) return take(value, lines)
      // a last line that is no JSON was cut off, and any other one is broken: the next line shows which
      broken = { line: lines, kind: "broken", says: "It is no JSON." }
    },
    event: (value) => take(value, undefined),
    recording: () => ({
      events,
      problems: [
        ...problems.map((problem) =>
          "type" in problem ? unknownType(problem.type, unknown.get(problem.type)) : problem
        ),
        ...(more === 0 ? [] : [others(more)]),
        ...(broken === undefined ? [] : [cutOff(broken)]),
        ...(late === 0 ? [] : [lateEvents(late)]),
        ...missing(runs)
      ]
    })
  }
}

const parsed = (json: string): unknown => {
  try {
    const value: unknown = JSON.parse(json)
    return value ?? null
  } catch {
    return undefined
  }
}

const faultOf = (value: unknown): string | undefined => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "it has no fields"
  for (const field of ["type", "runId", "agent"])
    if (textAt(value, field) === undefined) return `its field '${field}' is missing or is no text`
  for (const field of ["at", "turn"])
    if (numberAt(value, field) === undefined) return `its field '${field}' is missing or is no number`
  const parent = fieldOf(value, "parent")
  if (parent !== undefined && textAt(parent, "runId") === undefined) return "its field 'parent' names no run"
  if (isDeeper(value, maxDepth)) return `it is nested more than ${maxDepth} levels deep`
  return undefined
}

/**
 * The problem of an unknown type of event, which a later version may have. There is one entry for each type, however many events it has.
 */
const unknownType = (type: string, { many, where }: Unknown = { many: 1, where: {} }): Problem => ({
  ...where,
  kind: "unknown",
  says: `Events of the type '${type.slice(0, 60)}' are not known here${many === 1 ? "" : `: there are ${many}, and this is the first`}.`
})

/** The entry for all problems beyond the most that are listed. A file of another format has a problem in each line. */
const others = (many: number): Problem => ({
  kind: "more",
  many,
  says: `As much is wrong with ${many === 1 ? "one more line" : `${many} more lines`}.`
})

const cutOff = ({ line = 0 }: Problem): Problem => ({
  line,
  kind: "cut",
  says: "The last line is no JSON: the file was cut off there, or is broken."
})

const lateEvents = (late: number): Problem => ({
  kind: "order",
  says: `${late === 1 ? "One event is" : `${late} events are`} earlier than what stands before: the clock was set back, or lines have been moved.`
})

const missing = (runs: ReadonlyMap<string, Seen>): ReadonlyArray<Problem> => {
  const problems: Array<Problem> = []
  for (const [runId, { agent, hasBeginning, isRepeated, isUnfinished, parent }] of runs) {
    const run = `run ${runId} of '${agent}'`
    if (!hasBeginning) problems.push({ kind: "beginning", says: `The beginning of ${run} is missing.` })
    if (isUnfinished)
      problems.push({ kind: "end", says: `The end of ${run} is missing: it is at work, or was cut off.` })
    // its children begin again with it, so only the run without a parent is reported
    if (isRepeated && (parent === undefined || runs.get(parent)?.isRepeated !== true))
      problems.push({
        kind: "repeated",
        says: `The ${run} begins again although it had completed: what is there twice is counted twice.`
      })
    if (parent !== undefined && !runs.has(parent))
      problems.push({ kind: "parent", says: `Run ${parent}, which has started ${run}, is missing.` })
  }
  return problems
}

/** Reads lines, each the JSON of one event. Never throws: a line that cannot be read becomes a problem of the recording. */
export const fromLines = (lines: Iterable<string>): Recording => {
  const taking = start()
  for (const line of lines) taking.line(line)
  return taking.recording()
}

/** Reads the text of a file with one event in each line. Never throws. */
export const parse = (text: string): Recording => fromLines(text.split("\n"))

/** Reads events that are JSON values already. They have the form to which the codec `AgentEvent.AgentEvent` encodes. Never throws. */
export const fromEvents = (events: Iterable<unknown>): Recording => {
  const taking = start()
  for (const event of events) taking.event(event)
  return taking.recording()
}
