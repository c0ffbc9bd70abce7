/** What holds of every run, failed runs included. Each throws when it does not hold. */
import { assert } from "@effect/vitest"
import { type AgentEvent, Message, RunError, ToolError } from "@kintsugi/core"
import { Invariants } from "@kintsugi/core/testing"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import { Cause, Context, Exit } from "effect"
import { type Ending, Operations, type Watcher } from "../../../packages/core/src/telemetry/Operations.ts"
import { isTerminal } from "../../_support/dialogue.ts"
import type { Step } from "./steps.ts"
import { factsOf, input, type Played } from "./story.ts"

const ofType = <const Type extends AgentEvent.AgentEvent["type"]>(
  events: ReadonlyArray<AgentEvent.AgentEvent>,
  type: Type
): ReadonlyArray<AgentEvent.OfType<Type>> =>
  events.filter((event): event is AgentEvent.OfType<Type> => event.type === type)

/** The events of each run, that of the worker first. */
const runsOf = ({ events }: Played): ReadonlyArray<ReadonlyArray<AgentEvent.AgentEvent>> => {
  const runs = new Map<string, Array<AgentEvent.AgentEvent>>()
  for (const event of events) runs.set(event.runId, [...(runs.get(event.runId) ?? []), event])
  return [...runs.values()]
}

const endOf = ({ events }: Played) => events.findLast((event) => event.parent === undefined && isTerminal(event))

const settlementsOf = ({ content }: Message.Assistant) => content.filter((part) => part.type === "settled-call")

/** The assistant's messages of a run, in order. */
const messagesOf = (run: ReadonlyArray<AgentEvent.AgentEvent>) => ofType(run, "turn-end").map(({ message }) => message)

const errorOf = ({ exit }: Played): unknown => (Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined)

/** What was told of a call when it ended. */
const ending = (run: ReadonlyArray<AgentEvent.AgentEvent>, callId: string): Message.Settlement | undefined => {
  const end = ofType(run, "tool-end").find((event) => event.callId === callId)
  return end?.use.settlement ?? ofType(run, "tool-denied").find((event) => event.callId === callId)?.settlement
}

/** Every reply is one message, each of its calls settled once, where it was; in the last event, the error, the requests. */
export const settlements = (played: Played): void => {
  holds(Invariants.all["no call without its settlement"], played)
  for (const run of runsOf(played)) {
    const replies = ofType(run, "model-end").map(({ reply }) => reply)
    const messages = messagesOf(run)
    // what a reader has seen of a call that was stopped is no reply
    const whole = messages.filter(({ incomplete }) => incomplete !== true)
    assert.isAtMost(messages.length - whole.length, 1)
    assert.deepStrictEqual(
      whole.map(({ content }) => content.map((part) => (part.type === "settled-call" ? part.call : part))),
      replies.map(({ content }) => content)
    )
    for (const { call, settlement } of messages.flatMap(settlementsOf)) {
      const said = ending(run, call.id)
      // what ends a run, or was cut off by its end, is told of by that end alone
      if (said === undefined) assert.notInclude(["result", "denied"], settlement.kind)
      else assert.deepStrictEqual(settlement, said)
    }
    const start = ofType(run, "run-start")[0]?.transcript ?? []
    const end = run.at(-1)
    if (end?.type === "run-failed" || end?.type === "run-interrupted") {
      assert.deepStrictEqual(end.transcript, [...start, ...messages])
    }
    if (end?.type === "run-completed" && end.parent === undefined) {
      assert.deepStrictEqual(played.requests.at(-1)?.messages, [...start, ...messages.slice(0, -1)])
    }
  }
}

/** The final errors of ours take along what the last event has. */
export const attached = (played: Played): void => {
  const end = endOf(played)
  const error = errorOf(played)
  if (!(error instanceof ToolError.ToolExecutionError || error instanceof RunError.BudgetExceededError)) return
  assert(end?.type === "run-failed")
  assert.strictEqual(end.error, error)
  assert.deepStrictEqual(error.transcript, end.transcript)
  assert.deepStrictEqual(error.usage, end.usage)
}

/** Holds an invariant of the kit, which users hold against their own agents. */
const holds = (invariant: Invariants.Invariant, played: Played): void => {
  const { events, exit, fibers, injection, later, unfinished, seen, sent } = played
  const isInterruption = injection?.fault === "interrupt" || injection?.fault === "interrupt after"
  const found = invariant({
    events,
    seen,
    exit,
    // a listener is not what is interrupted
    interrupted: isInterruption && injection.step.layer !== "listener" ? played.before : undefined,
    sent,
    // what is unsafe is told apart more closely below
    starts: [],
    left: { fibers, steps: unfinished },
    later
  })
  assert.deepStrictEqual(found, [])
}

/** Every reply that came to its end has what it says about itself, as its model has sent it. */
export const said = (played: Played): void => {
  for (const { reply } of runsOf(played).flatMap((run) => ofType(run, "model-end"))) {
    assert.deepInclude(reply, factsOf(reply.usage))
  }
}

const wire = OpenAiChat.make({ provider: "openai", model: "m", secrets: [] })

/** Every request of the worker has what the user has attached, and it goes out in the form of its wire. */
export const attachedToAll = ({ requests }: Played): void => {
  for (const request of requests) {
    assert.deepStrictEqual(
      request.messages.find(({ role }) => role === "user"),
      Message.user(input)
    )
    assert.isUndefined(wire.refuses?.(request))
    const sent = wire.encode(request, "whole")
    assert.include(sent, '{"type":"image_url","image_url":{"url":"https://a.test/a.png"}}')
    assert.include(sent, '{"type":"file","file":{"file_id":"file-abc123"}}')
  }
}

/** The ledger is the sum of the replies that were sent, and has every attempt that ended once. */
export const booked = (played: Played): void => holds(Invariants.all["the ledger is complete"], played)

/** No second start of an unsafe tool but after a look that it took no effect; what was cut off is settled as unknown. */
export const safe = ({ events, injection, starts }: Played): void => {
  const messages = messagesOf(events)
  const kindOf = (callId: string) =>
    messages.flatMap(settlementsOf).find(({ call }) => call.id === callId)?.settlement.kind ?? "none"
  for (const [index, { callId, end, lookedUp }] of starts.entries()) {
    const isLast = !starts.slice(index + 1).some((start) => start.callId === callId)
    if (!isLast) assert.deepStrictEqual([end, lookedUp], ["cut off", "took none"], `${callId} was started again`)
    // it was looked up, but the run was over before it heard of that
    else if (
      injection?.step.kind === "verify" &&
      injection.fault === "interrupt within" &&
      index === starts.length - 1
    ) {
      assert.strictEqual(kindOf(callId), "unknown")
    } else if (end === "success" || lookedUp === "took effect") assert.include(["result", "unknown"], kindOf(callId))
    else if (end === "cut off" && lookedUp === undefined) assert.strictEqual(kindOf(callId), "unknown", callId)
    else assert.include(["told", "interrupted"], kindOf(callId))
  }
}

/** Each run begins once and ends once, the outermost last; each listener has heard all of it in that order. */
export const ended = (played: Played): void => {
  const { events, exit, heard, seen } = played
  for (const run of runsOf(played)) {
    assert.strictEqual(run.filter(isTerminal).length, 1)
    assert.isTrue(run.at(-1) !== undefined && isTerminal(run.at(-1)!))
    assert.deepStrictEqual(
      run.map(({ type }) => type).filter((type) => type === "run-start"),
      run[0]?.type === "run-start" ? ["run-start"] : []
    )
  }
  assert.strictEqual(events.at(-1), endOf(played))
  assert.deepStrictEqual(heard, events)
  // a reader that is interrupted reads no further
  if (seen !== undefined) {
    const isCut = Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)
    assert.deepStrictEqual(seen, isCut ? events.slice(0, seen.length) : events)
  }
}

/** Nothing is left, and nothing comes later. */
export const over = (played: Played): void => {
  holds(Invariants.all["nothing is left behind"], played)
  assert.strictEqual(played.later.heard, 0)
}

/** No call starts twice: a model call is repeated, but what a tool has done is not. */
export const once = (played: Played): void => {
  for (const run of runsOf(played)) {
    const started = ofType(run, "tool-start").map(({ callId }) => callId)
    assert.strictEqual(new Set(started).size, started.length)
  }
  // an attempt has a number: only another turn of the same call could come to the same place
  assert.isTrue(played.steps.every(({ kind, nth }) => kind !== "attempt" || nth === 1))
}

/** What is still told of a run that was interrupted. */
const closing = new Set<AgentEvent.AgentEvent["type"]>(["model-interrupted", "turn-end", "run-interrupted"])

/** An interruption ends the run at once: no row, no fixer, no model hears of it, and nothing comes at a later instant. */
export const passing = (played: Played): void => {
  holds(Invariants.all["interruption passes"], played)
  const { before, events, exit, injection, steps } = played
  assert(before !== undefined && injection !== undefined)
  const { fault, step } = injection
  // a listener that interrupts itself has done nothing to the run
  if (step.layer === "listener" && fault === "quit") return assert.isTrue(Exit.isSuccess(exit))
  const isLate = events.slice(0, before.events).some((event) => event.parent === undefined && isTerminal(event))
  if (isLate) return assert.strictEqual(endOf(played)?.type, "run-completed")
  assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
  assert.strictEqual(endOf(played)?.type, "run-interrupted")
  assert.isTrue(steps.every(({ at, layer }) => layer === "listener" || at <= before.at))
  assert.isTrue(events.every(({ at }) => at <= before.at))
  // what is at work when it interrupts itself goes on until it waits; siblings may be about to start
  if (fault === "interrupt within" || fault === "quit") return
  assert.deepStrictEqual(
    events.slice(before.events).filter(({ type }) => !closing.has(type)),
    []
  )
  assert.deepStrictEqual(
    steps.slice(before.steps).filter(({ layer }) => layer !== "listener"),
    []
  )
}

/** A defect is no row's: it ends the run. In a listener it changes nothing. */
export const dying = (played: Played): void => {
  const { exit, injection } = played
  const end = endOf(played)
  if (injection?.step.layer === "listener") return assert.isTrue(Exit.isSuccess(exit))
  assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
  assert(end?.type === "run-failed" && end.isDefect)
}

/** A limit that was reached ends the run with its own error, and the step beyond it is not taken. */
export const limited = (played: Played): void => {
  const error = errorOf(played)
  assert.instanceOf(error, RunError.BudgetExceededError)
  // a fixer that meets a limit of its parent run ends the parent: no row is asked about its call, and no other fixer
  const { events } = played
  const childEnd = events.findIndex(({ parent, type }) => type === "run-failed" && parent !== undefined)
  const callId = events[childEnd]?.parent?.callId
  const later = events.slice(childEnd).filter((event) => "callId" in event && event.callId === callId)
  for (const { type } of later) assert.strictEqual(type, "fix-failed")
  const { fault, step } = played.injection ?? {}
  assert.strictEqual((error as RunError.BudgetExceededError).reason, fault)
  if (fault === "maxTurns" || fault === "maxToolCalls") {
    const isIt = ({ kind, layer, label }: Step) => layer === step?.layer && kind === step.kind && label === step.label
    assert.isFalse(played.steps.some(isIt))
  }
}

/** A failure, or an effect that never ends, is neither a defect nor an interruption. */
export const typed = (played: Played): void => {
  const end = endOf(played)
  // a result that its own schema refuses is a defect of the tool
  if (played.injection?.step.kind === "encode") return dying(played)
  assert(end?.type === "run-completed" || (end?.type === "run-failed" && !end.isDefect))
  assert.strictEqual(Exit.isSuccess(played.exit), end.type === "run-completed")
}

/** Every operation that begins, by the events, ends once, in its run; a span that failed says with what. */
export const traced = (played: Played): void => {
  holds(Invariants.all["each start has an end"], played)
  const { events } = played
  // what a watcher throws stays with it
  const noted: Array<Array<Ending | "noted">> = []
  const watcher: Watcher<number> = {
    begin: () => noted.push([]) - 1,
    within: (operation) => noted[operation]?.push("noted"),
    end: (operation, ending) => noted[operation]?.push(ending)
  }
  const operations = new Operations(watcher, Context.empty())
  for (const event of events) operations.hear(event)
  const isBeginning = ({ type }: AgentEvent.AgentEvent) =>
    type === "run-start" || type === "model-start" || type === "tool-start"
  assert.strictEqual(operations.size, 0)
  assert.strictEqual(noted.length, events.filter(isBeginning).length)
  for (const all of noted) {
    const ending = all.at(-1)
    assert(ending !== undefined && ending !== "noted")
    assert.strictEqual(all.filter((one) => one !== "noted").length, 1)
    if (ending.how === "failed") assert.isDefined(ending.error, JSON.stringify(ending.event?.type))
  }
}
