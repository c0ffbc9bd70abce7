/** Conditions that hold for every run, also for a failed run. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as AgentEvent from "../event/AgentEvent.ts"
import { Operations, type Watcher } from "../telemetry/Operations.ts"
import { endsAs } from "../coercion/Spelling.ts"
import { unwrapped } from "../coercion/Unwrapped.ts"
import type * as Message from "../data/Message.ts"
import * as Usage from "../data/Usage.ts"
import type { Recording } from "./recorder.ts"

/** A condition on the recording of a run. It returns a sentence for each violation, and an empty list if the condition holds. */
export interface Invariant {
  (recording: Recording): ReadonlyArray<string>
}

type Events = ReadonlyArray<AgentEvent.AgentEvent>
const ofType = <const Type extends AgentEvent.AgentEvent["type"]>(
  events: Events,
  type: Type
): ReadonlyArray<AgentEvent.OfType<Type>> =>
  events.filter((event): event is AgentEvent.OfType<Type> => event.type === type)

/** Groups events by their run. The outermost run is the first. */
const runsOf = (events: Events): ReadonlyArray<Events> => {
  const runs = new Map<string, Array<AgentEvent.AgentEvent>>()
  for (const event of events) {
    const run = runs.get(event.runId)
    if (run === undefined) runs.set(event.runId, [event])
    else run.push(event)
  }
  return [...runs.values()]
}

const settlementsOf = ({ content }: Message.Assistant) => content.filter((part) => part.type === "settled-call")

const endOf = (events: Events) => events.findLast((event) => event.parent === undefined && AgentEvent.isTerminal(event))

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

/** An empty list if two values are equal, else a sentence about the difference. */
const unequal = (what: string, is: unknown, shouldBe: unknown): ReadonlyArray<string> =>
  Equal.equals(is, shouldBe) ? [] : [`${what} is ${show(is)}, and should be ${show(shouldBe)}`]

const nameOf = (run: Events) => `'${run[0]?.agent}'`

/**
 * Invariant: the message of a turn has exactly the parts of its reply, with one settlement for each call, and the transcript at the end has
 * exactly these messages.
 */
const oneSettlement: Invariant = ({ events }) =>
  runsOf(events).flatMap((run) => {
    const replies = ofType(run, "model-end")
    const turns = ofType(run, "turn-end")
    const routing = new Set(replies.map(({ turn }) => turn).filter((turn) => !turns.some((end) => end.turn === turn)))
    const asked = new Map(replies.map(({ reply, turn }) => [turn, reply]))
    const unsettled = [...routing].filter((turn) =>
      replies.some((event) => event.turn === turn && event.reply.content.some(({ type }) => type === "tool-call"))
    )
    const start = ofType(run, "run-start")[0]?.transcript ?? []
    const end = run.at(-1)
    const stored =
      // Mutant `end.type` survives: a run has an event
      end?.type === "run-failed" || end?.type === "run-interrupted"
        ? end.transcript.filter(({ role }) => role === "assistant").slice(assistants(start))
        : undefined
    return [
      ...unsettled.map((turn) => `${nameOf(run)} has asked for calls in turn ${turn} that no message has`),
      ...turns.flatMap(({ message, turn }) => {
        const reply = asked.get(turn)
        const parts = message.content.map((part) => (part.type === "settled-call" ? part.call : part))
        return [
          ...(reply === undefined
            ? []
            : unequal(`The message of ${nameOf(run)} in turn ${turn}`, parts, reply.content)),
          ...misreported(run, turn, message)
        ]
      }),
      ...(stored === undefined || turns.length === 0
        ? []
        : unequal(
            `What the end of ${nameOf(run)} has of the assistant`,
            stored,
            turns.map(({ message }) => message)
          ))
    ]
  })

const assistants = (transcript: Message.Transcript) => transcript.filter(({ role }) => role === "assistant").length

/**
 * Compares the settlement of each call in a message with the settlement in the event of its end. Returns a sentence for each difference.
 */
const misreported = (run: Events, turn: number, message: Message.Assistant): ReadonlyArray<string> => {
  const calls = settlementsOf(message)
  return calls.flatMap(({ call, settlement }) => {
    // some models give two calls of a reply the same id, so events cannot be matched with these calls
    if (calls.filter((other) => other.call.id === call.id).length > 1) return []
    const own = run.filter((event) => event.turn === turn)
    const said =
      ofType(own, "tool-end").find(({ callId }) => callId === call.id)?.use.settlement ??
      ofType(own, "tool-denied").find(({ callId }) => callId === call.id)?.settlement
    if (said !== undefined) return unequal(`The settlement of ${call.id}`, settlement, said)
    return settlement.kind === "result" || settlement.kind === "denied"
      ? [`${call.id} is settled as '${settlement.kind}', and no event says so`]
      : []
  })
}

const sumOf = (usages: ReadonlyArray<Usage.Usage>) => usages.reduce(Usage.add, Usage.empty)

/** Invariant: the ledger has every attempt of every model call once, and its sum equals the usage that the models sent. */
const booked: Invariant = ({ events, sent }) => {
  const parents = new Map(events.map(({ parent, runId }) => [runId, parent?.runId]))
  const isWithin = (runId: string | undefined, ancestor: string): boolean =>
    runId !== undefined && (runId === ancestor || isWithin(parents.get(runId), ancestor))
  const found = runsOf(events).flatMap((run) => {
    const end = run.at(-1)
    if (end === undefined || !("ledger" in end)) return []
    const entries = events.flatMap((event) =>
      isWithin(event.runId, end.runId) &&
      (event.type === "model-end" || event.type === "model-failed" || event.type === "model-interrupted")
        ? [event.entry]
        : []
    )
    const begun = ofType(run, "model-start").map(({ attempt, model, turn }) => [turn, attempt, model])
    const closed = entries
      .filter(({ runId }) => runId === end.runId)
      .map(({ attempt, model, turn }) => [turn, attempt, model])
    return [
      ...unequal(`What is booked for ${nameOf(run)}`, end.ledger, entries),
      ...unequal(`The usage of ${nameOf(run)}`, end.usage, sumOf(end.ledger.map(({ usage }) => usage))),
      ...unequal(`The attempts of ${nameOf(run)} that have ended`, closed, begun)
    ]
  })
  // only the last terminal event of a run counts, because a resumed run keeps its id, and its usage includes the part before
  const ends = runsOf(events).flatMap((run) => {
    const end = run.findLast(AgentEvent.isTerminal)
    return end !== undefined && end.parent === undefined && "usage" in end ? [end.usage] : []
  })
  return [...found, ...(ends.length === 0 ? [] : unequal("The usage of the whole", sumOf(ends), sumOf(sent)))]
}

/**
 * Invariant: an unsafe tool runs once per call, unless it was cut off and a lookup found no effect. A call that may have taken effect is
 * never settled as if it had not.
 */
const safe: Invariant = ({ events, starts }) =>
  starts.flatMap((start, index) => {
    const { callId, end, key, lookedUp, runId, tool, turn } = start
    // equal calls in two attempts of a sub-agent have the same key, but belong to different runs
    const isLast = !starts.slice(index + 1).some((other) => other.key === key && other.runId === runId)
    if (!isLast) {
      return end === "cut off" && lookedUp === "took none"
        ? []
        : [`'${tool}' is unsafe and runs again in call ${callId} (${key}), after a run that ended: ${end}`]
    }
    // some models give several calls of a reply the same id, so several settlements may match
    const calls = ofType(events, "turn-end")
      .filter((event) => event.runId === runId && event.turn === turn)
      .flatMap(({ message }) => settlementsOf(message))
      .filter(({ call }) => call.id === callId && endsAs(unwrapped(call).name, tool))
    const isSaidUndone = calls.length > 0 && calls.every(({ settlement }) => settlement.kind === "interrupted")
    const mayHave = end === "success" || lookedUp === "took effect" || (end === "cut off" && lookedUp === undefined)
    return mayHave && isSaidUndone
      ? [`'${tool}' is unsafe and may have taken effect, but call ${callId} is settled as interrupted`]
      : []
  })

/** Invariant: each run begins and ends once, the outermost run last, and a reader sees all events in order. */
const ended: Invariant = ({ events, exit, seen }) => {
  const found = runsOf(events).flatMap((run) => {
    const ends = run.filter(AgentEvent.isTerminal).length
    const last = run.at(-1)
    return [
      ...(ends === 1 ? [] : [`${nameOf(run)} ends ${ends} times`]),
      ...(ends > 0 && last !== undefined && !AgentEvent.isTerminal(last)
        ? [`${nameOf(run)} goes on after its end, with ${last.type}`]
        : []),
      ...(ofType(run, "run-start").length === 1
        ? []
        : [`${nameOf(run)} begins ${ofType(run, "run-start").length} times`])
    ]
  })
  const last = events.at(-1)
  const late =
    last === undefined || last === endOf(events) ? [] : [`${last.type} comes after the end of the outermost run`]
  if (seen === undefined || exit === undefined) return [...found, ...late]
  // an interrupted reader has seen only the first events
  const isCut = Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)
  const shown = isCut ? events.slice(0, seen.length) : events
  const isAll = seen.length === shown.length && seen.every((event, index) => Equal.equals(event, shown[index]))
  return [...found, ...late, ...(isAll ? [] : [`a reader saw ${seen.length} events that are not those of the run`])]
}

/** Invariant: the run ends, leaves no fiber and no step, and emits nothing later. */
const over: Invariant = ({ exit, later, left }) => [
  ...(exit === undefined ? ["it does not end within a day"] : []),
  ...(left.fibers > 0 ? [`${left.fibers} fibers are left at its end`] : []),
  ...(left.steps > 0 ? [`${left.steps} steps have not ended at its end`] : []),
  ...(later.events > 0 ? [`${later.events} events come after its end`] : []),
  ...(later.steps > 0 ? [`${later.steps} steps are taken after its end`] : [])
]

/** Invariant: every run, model call and tool call that begins also ends, exactly once and within its run, as its events say. */
const closed: Invariant = ({ events }) => {
  const noted: Array<{ readonly event: AgentEvent.AgentEvent; ends: number }> = []
  const watcher: Watcher<number> = {
    begin: (event) => noted.push({ event, ends: 0 }) - 1,
    within: () => {},
    end: (operation: number) => {
      const one = noted[operation]
      if (one !== undefined) one.ends++
    }
  }
  const operations = new Operations(watcher, Context.empty())
  for (const event of events) operations.hear(event)
  const begun = new Set(noted.map(({ event }) => event))
  const isBeginning = ({ type }: AgentEvent.AgentEvent) =>
    // Mutants `""` for `"run-start"`, `false` for `type === "run-start"` survive: each run begins an operation
    type === "run-start" || type === "model-start" || type === "tool-start"
  // `Operations` forgets an operation that has ended, so second ends are counted here; several calls count together, because some models
  // give them the same id
  const calls = new Map<string, { readonly start: AgentEvent.AgentEvent; begun: number; ended: number }>()
  for (const event of events) {
    if (event.type !== "tool-start" && event.type !== "tool-end") continue
    const key = JSON.stringify([event.runId, event.turn, event.callId])
    const call = calls.get(key)
    if (event.type === "tool-end") {
      if (call !== undefined) call.ended++
    } else if (call === undefined) calls.set(key, { start: event, begun: 1, ended: 0 })
    else call.begun++
  }
  return [
    ...[...calls.values()]
      .filter(({ begun, ended }) => ended > begun)
      .map(({ ended, start }) => `${start.type} of '${start.agent}', turn ${start.turn}, ends ${ended} times`),
    ...noted
      .filter(({ ends }) => ends !== 1)
      .map(({ ends, event }) => `${event.type} of '${event.agent}', turn ${event.turn}, ends ${ends} times`),
    ...events
      .filter((event) => isBeginning(event) && !begun.has(event))
      .map((event) => `${event.type} of '${event.agent}' belongs to no run`)
  ]
}

/** Invariant: an interruption ends the run at once. No handler catches it, and no event has a later time. */
const passing: Invariant = ({ events, exit, interrupted, seen }) => {
  if (interrupted === undefined || exit === undefined) return []
  const isLate = events.slice(0, interrupted.events).some((event) => event === endOf(events))
  if (isLate) return []
  const end = endOf(events)
  const after = events.find(({ at }) => at > interrupted.at)
  // the interruption stops the reader; the run may end by itself at the same instant
  const isFirst = seen !== undefined && end?.at === interrupted.at
  return [
    ...(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)
      ? []
      : ["an interruption was handled: the run goes on"]),
    ...(end === undefined || end.type === "run-interrupted" || isFirst
      ? []
      : [`a run that is interrupted ends as ${end.type}`]),
    ...(after === undefined
      ? []
      : [`${after.type} comes ${after.at - interrupted.at} ms after the interruption of the run`])
  ]
}

type InvariantName =
  | "no call without its settlement"
  | "the ledger is complete"
  | "no unsafe tool runs twice"
  | "every run ends with one last event"
  | "nothing is left behind"
  | "each start has an end"
  | "interruption passes"

/** All invariants of this library, by their names in reports. `FaultSweep.run` checks them by default. */
export const all: Readonly<Record<InvariantName, Invariant>> = {
  "no call without its settlement": oneSettlement,
  "the ledger is complete": booked,
  "no unsafe tool runs twice": safe,
  "every run ends with one last event": ended,
  "nothing is left behind": over,
  "each start has an end": closed,
  "interruption passes": passing
}
