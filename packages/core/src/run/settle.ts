/** The tool calls of a reply: how many of them may run, and what their settlements mean for the run. */
import * as Effect from "effect/Effect"
import { end, Exceeded, type ExtendableExceeded, type SharedExceeded } from "../budget/Meter.ts"
import { withDigest } from "../data/Digest.ts"
import * as Message from "../data/Message.ts"
import type { TurnChoice } from "../data/TurnChoice.ts"
import type { CallCheckpoint } from "../event/Checkpoint.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import { trailOf } from "../recovery/VerdictTrail.ts"
import { leave, type CallSite, type NestingOf, type Slot } from "../tool/CallSite.ts"
import type { Capture } from "../tool/ToolDefinition.ts"
import * as Toolset from "../tool/Toolset.ts"
import * as RunBudget from "./budget.ts"
import { isCheckpoint, suspend } from "./checkpoint.ts"
import { endBy, hearNow, passOver, withdraw } from "./hearing.ts"
import type { Replied } from "./modelCallState.ts"
import type { End, Looping, Running } from "./running.ts"
import type { Admission } from "./state.ts"
import { close } from "./turn.ts"

/** Settles the calls of a reply. The run ends with a failure that no table handles, and with the value of a built-in tool. */
export const settle = (running: Looping, { calls, reply }: Replied): Effect.Effect<End, unknown> => {
  const { run, state, toolset } = running
  const admittedInARow = state.inARow(calls.map((call) => Toolset.nameOf(toolset, Toolset.callOf(toolset, call))))
  const toolsWereOff = state.history.isToolsOff
  return RunBudget.takeCalls(run, calls.length, (taken) => {
    const tooMany = taken < calls.length ? RunBudget.callsExceeded(run) : undefined
    const admission = { admitted: Math.min(taken, admittedInARow), admittedInARow, toolsWereOff }
    return RunBudget.warn(run, () => settleAdmitted(running, reply, admission, tooMany))
  })
}

/** Settles the calls that may run; `tooMany` is the limit that forbids the others. */
export const settleAdmitted = (
  running: Looping,
  reply: Message.Reply,
  admission: Admission,
  tooMany: SharedExceeded | undefined
): Effect.Effect<End, unknown> => {
  running.state.admission = admission
  const next = (batch: Batch): Effect.Effect<End, unknown> => {
    // the reply stays open: waiting calls and calls that have not begun go on after the resumption
    if (goesOn(running, batch)) return Effect.map(suspend(running), (value) => ({ value }))
    return close(running, batch.message, () => endOf(running, batch, admission, tooMany))
  }
  const { run, toolset } = running
  const asked = Message.callsOf(reply).map((call) => Toolset.callOf(toolset, call))
  return Interception.migrated(run, asked, (migrated) =>
    keysOf(running, asked, migrated, (keys) => {
      const calls =
        migrated.length === 0 ? asked : asked.map((call, index) => ({ ...call, ...callIn(migrated[index]) }))
      return settleAll(running, reply, { calls, keys }, admission.admitted, next)
    })
  )
}

const callIn = (migrated: Migrated[number]): Pick<Message.ToolCall, "name" | "arguments"> | undefined =>
  migrated && { name: migrated.name, arguments: migrated.arguments }

type Migrated = Parameters<Parameters<typeof Interception.migrated>[2]>[0]

/** The calls of a reply as its toolset has them, and their idempotency keys. */
interface Asked {
  readonly calls: ReadonlyArray<Message.ToolCall>
  readonly keys: ReadonlyArray<string>
}

/** The end of the run once all calls are settled, if it ends. */
const endOf = (
  running: Looping,
  batch: Batch,
  admission: Admission,
  tooMany: SharedExceeded | undefined
): Effect.Effect<End, unknown> => {
  const { run, state } = running
  const { ended } = run.meter
  const { failure } = batch
  if (ended !== undefined) {
    // a checkpoint does not replace a failure that no table handles
    if (isHard(failure)) state.unhandled = { error: state.attach(failure, run) }
    return Effect.die(ended)
  }
  if (failure !== undefined) return Effect.fail(state.attach(failure, run))
  if (batch.output !== undefined) return Effect.succeed(batch.output)
  const limits = () =>
    tooMany === undefined
      ? unlessInARow(running, batch, admission)
      : RunBudget.tooMany(run, tooMany, () => unlessInARow(running, batch, admission))
  // the run reads late results and messages before it checks its limits
  const heard = state.mayRead(run) ? hearNow(running) : undefined
  if (heard === undefined) return limits()
  state.heardAfter = state.turn
  return Effect.flatMap(heard, limits)
}

const unlessInARow = (
  running: Looping,
  batch: Batch,
  { admittedInARow, toolsWereOff }: Admission
): Effect.Effect<End> => {
  const { plan, run, state } = running
  if (admittedInARow < batch.calls) {
    const limit = plan.budget.maxConsecutiveSameTool
    return end(run.meter, new Exceeded(run.meter, "maxConsecutiveSameTool", limit, limit + 1))
  }
  // a model that calls tools although they are off is called once more
  return toolsWereOff
    ? RunBudget.whileOff(run, ++state.callsWithToolsOff, () => unlessRepeated(running, batch))
    : unlessRepeated(running, batch)
}

const unlessRepeated = ({ run, state }: Looping, batch: Batch): Effect.Effect<End> => {
  const stop = run.meter.limit("repeatedFailure")
  const repeated = state.history.record(
    batch.outcomes.map(({ record }) => record),
    stop
  )
  return repeated === undefined
    ? Effect.undefined
    : RunBudget.repeated(run, repeatedFailure(stop, repeated, batch, run), () => Effect.undefined)
}

/** The error for a tool that failed too often in the same way, with the decisions about its last failures. */
const repeatedFailure = (
  stop: number,
  { repeats, tool }: { readonly tool: string; readonly repeats: number },
  { outcomes }: Batch,
  run: RunContext.RunContext
): ExtendableExceeded => {
  const last = outcomes.filter(({ record }) => record.tool === tool).flatMap(({ trail }) => trail ?? [])
  return new Exceeded(run.meter, "repeatedFailure", stop, repeats, { trail: trailOf(last) })
}

/** The outcomes of the calls of a reply, in the model's order; some may wait. A `failure` or an `output` ends the run. */
interface Batch extends Found {
  readonly message: Message.Assistant
  /** How many calls there are. */
  readonly calls: number
}

/** What the calls have come to. */
interface Found {
  readonly outcomes: ReadonlyArray<Toolset.Outcome>
  /** Whether some calls wait: the batch is not over. */
  readonly isWaiting: boolean
  readonly failure?: Toolset.Failure | undefined
  readonly output?: Toolset.Output | undefined
}

/**
 * Settles the calls of a reply. When one of them ends the run, the others still end as they would have, or are interrupted, as
 * `siblings` says; a defect interrupts them. Calls beyond those that are `admitted` are not run. Goes on with `next`.
 */
const settleAll = <A, E>(
  running: Looping,
  reply: Message.Reply,
  asked: Asked,
  admitted: number,
  next: (batch: Batch) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const { mode, plan, run, state, toolset } = running
  const sites = Message.callsOf(reply).map((call, index) => siteOf(running, call, asked, index))
  const { inbox } = run.tree
  const over = (ended: Found): Effect.Effect<A, E> => {
    run.meter.endBatch()
    // a call waits in a run that cannot be suspended only if its request was withdrawn
    const isSaid = !mode.isSuspendable || inbox?.ends(run, "request") === true
    const { ended: limit } = run.meter
    const withdraws = () => (limit === undefined ? isSaid || run.meter.withdraws : run.meter.isAnswering)
    if (!ended.isWaiting || !withdraws()) return closing(ended)
    const withdrawn = isHard(ended.failure) ? Effect.succeed(false) : withdraw(running)
    // waiting sub-agents go on without their withdrawn requests
    return Effect.flatMap(withdrawn, (isAny) =>
      isAny ? settleAll(running, reply, asked, admitted, next) : closing({ ...ended, isWaiting: false })
    )
  }
  const closing = ({ failure, isWaiting, outcomes, output }: Found): Effect.Effect<A, E> => {
    const message = Message.settle(reply, state.settlements())
    const batch = { message, calls: sites.length, outcomes, isWaiting, failure, output }
    return goesOn(running, batch) ? next(batch) : skipped(sites, run, () => next(batch))
  }
  if (reply.finish === "length" || reply.finish === "filtered") {
    for (const { slot } of sites) slot.settlement = Message.truncated
    return over({ outcomes: [], isWaiting: false })
  }
  // a built-in tool ends the run: it is settled first, and alone
  const builtIn = sites.find((site) => Toolset.isBuiltIn(toolset, site))
  const started = builtIn === undefined ? sites.slice(0, admitted) : [builtIn]
  const { toolConcurrency: concurrency } = plan.budget
  const isCutShort = plan.siblings === "interrupt"
  // the calls that have ended, for a user message that interrupts the others
  const early: Array<Toolset.Outcome> = []
  // if all run at the same time, waiting calls keep their slot until no call is running
  // Mutant `true` for `mode.isSuspendable` survives: in another run no call is suspended, and none looks at it
  const isBeside = mode.isSuspendable && started.length <= concurrency
  const beside = isBeside ? { atWork: started.length, onIdle: new Set<() => void>() } : undefined
  const settleOne = (site: CallSite, offset: number): Effect.Effect<Toolset.Outcome, Ended> => {
    const own = beside === undefined ? site : { ...site, beside }
    return inTurn(state, toolset, own, offset, concurrency, (outcome) => {
      if (beside !== undefined) leave(beside)
      early[offset] = outcome
      return isCutShort ? endedBy(outcome) : Effect.succeed(outcome)
    })
  }
  const finish = (outcomes: ReadonlyArray<Toolset.Outcome>): Effect.Effect<A, E> => {
    // a limit that was reached is known anyhow
    const failing = outcomes.find(({ failure }) => isHard(failure)) ?? outcomes.find(({ failure }) => failure)
    const failure = failing?.failure
    const isWaiting = outcomes.some((outcome) => outcome.checkpoint !== undefined)
    return over({ outcomes, isWaiting, failure, output: failure === undefined ? outcomes[0]?.output : undefined })
  }
  const [first] = started
  if (inbox === undefined && first !== undefined && started.length === 1) {
    return inTurn(state, toolset, first, 0, concurrency, (outcome) => finish([outcome]))
  }
  if (started.length > 1) run.meter.beginBatch(isCutShort ? cutShort : whole)
  const together = Effect.forEach(started, settleOne, { concurrency })
  const interruptible = inbox === undefined ? together : inbox.during(run, "tools", together)
  return Effect.matchEffect(interruptible, {
    onSuccess: (outcomes) => {
      if (outcomes !== undefined) return finish(outcomes)
      for (const { slot } of started) if (slot.settlement === undefined) endBy(run, slot, "interrupt")
      // calls that were cut off have no outcome: they are gaps
      return finish(Object.values(early))
    },
    onFailure: ({ failure }) => over({ outcomes: [], isWaiting: false, failure })
  })
}

const whole = { isCutShort: false }
const cutShort = { isCutShort: true }

/** Whether a failure is one that no table handles. A limit is not: the meter records it. */
const isHard = (failure: Toolset.Failure | undefined): failure is Toolset.Failure =>
  failure !== undefined && !RunContext.isLimit(failure.error)

/** Whether the run is suspended now: the unfinished calls go on with it. */
const goesOn = (running: Looping, { failure, isWaiting }: Batch): boolean =>
  running.run.meter.ended === undefined ? isWaiting && failure === undefined : isCheckpoint(running) && !isHard(failure)

/**
 * Goes on with the idempotency keys of the calls of a reply. A key is derived from the run id, the calls around the run, the tool, the
 * arguments as the model wrote them, and how many equal calls came before it: a second run with the same id derives the same keys for the
 * same calls. It is a digest, because arguments may hold secrets. The calls of a reply that was suspended have their keys.
 */
const keysOf = <A, E>(
  { run, state, toolset }: Looping,
  calls: ReadonlyArray<Message.ToolCall>,
  migrated: Migrated,
  next: (keys: ReadonlyArray<string>) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  if (state.keys.length > 0) return next(state.keys)
  const digests: Array<string> = []
  const more = (): Effect.Effect<A, E> => {
    const call = calls[digests.length]
    if (call === undefined) return next(state.count(digests))
    const written = Toolset.writtenOf(toolset, call, migrated[digests.length]?.numbers)
    return withDigest([run.seed, ...written], (digest) => {
      digests.push(digest.slice(0, length))
      return more()
    })
  }
  return more()
}

/** The length of a key in hexadecimal digits: 128 bits, because many servers accept no longer keys. */
const length = 32

const siteOf = (running: Looping, wrote: Message.ToolCall, { calls, keys }: Asked, index: number): CallSite => {
  const { mode, run, start, state } = running
  // each call has a key, and a migration keeps their number
  const [call, key] = [calls[index], keys[index]] as [Message.ToolCall, string]
  const changes = running.toolset.unwrap === undefined ? undefined : Toolset.madeBy(running.toolset, wrote).changes
  // call ids repeat over turns, and with some models within one
  const callKey = `${run.runId}/${run.turn()}/${index}`
  // each call has a slot
  const slot = state.slots[index] as Slot
  const { from } = slot
  if (from !== undefined) slot.goOn(from, Toolset.sideEffectsOf(running.toolset, call))
  return {
    call,
    ...(call.name === wrote.name ? {} : { calledAs: wrote.name }),
    ...(changes === undefined || changes.length === 0 ? {} : { mended: changes }),
    key,
    run: { ...run, callId: call.id, callKey, within: key, repairing: undefined },
    repairing: run.repairing,
    history: state.history,
    before: state.messages.at(-1),
    isSuspendable: mode.isSuspendable,
    from,
    decisions: start.decisions,
    nesting: nestingOf(running, slot, from),
    slot,
    pins: running.toolset.pinned && state.pins,
    offered: state.prepared && offeredIn(state.prepared.choice)
  }
}

/** The tools that may be called in a turn; `undefined` for all. A model may call tools although the choice is `none`. */
const offeredIn = ({ toolChoice, tools }: TurnChoice): TurnChoice["tools"] => (toolChoice === "none" ? [] : tools)

/** How the sub-agent of a call is suspended with the run, and goes on with it. */
const nestingOf = (
  { mode, run, start }: Running,
  slot: Slot,
  from: CallCheckpoint | undefined
): NestingOf | undefined => {
  const { isSuspendable } = mode
  // Mutant `false` survives: speed only. What a sub-agent would wait with is not read in a run that cannot be suspended
  if (!isSuspendable && from?.type !== "agent") return undefined
  const parents = [run.meter, ...(mode.nesting?.parents ?? [])]
  return (from, checkpointOf) => {
    const started = (capture: Capture) => {
      const checkpoint: Slot["checkpoint"] = (now) => {
        const snapshot = capture(now)
        return snapshot && checkpointOf(snapshot)
      }
      slot.checkpoint = checkpoint
    }
    const resumption = from === undefined ? undefined : { from, decisions: start.decisions }
    return { isSuspendable, parents, resumption, started }
  }
}

/** Settles one call when its turn comes, and goes on with `next`. A call that was settled before the suspension is done. */
const inTurn = <A, E>(
  state: Running["state"],
  toolset: Toolset.Toolset,
  site: CallSite,
  offset: number,
  concurrency: number,
  next: (outcome: Toolset.Outcome) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const begin = (): Effect.Effect<A, E> => {
    const { call, slot } = site
    slot.isBegun = true
    if (slot.settlement !== undefined) {
      const { record = Toolset.recordOf(call, slot.settlement), settlement } = slot
      return next({ settlement, record })
    }
    if (site.run.tree.inbox?.ends(site.run, "model") === true && !isAtWork(site))
      return Effect.flatMap(passOver(site), next)
    return Effect.flatMap(Toolset.settle(toolset, site), (outcome) => {
      slot.settlement = outcome.settlement
      slot.record = outcome.record
      const { late } = outcome
      if (late !== undefined) state.late = late.call.join(state.late, late.checkpoint)
      const { checkpoint } = outcome
      slot.checkpoint = checkpoint && (() => checkpoint)
      return next(outcome)
    })
  }
  // the run is over: no further call begins
  const unlessOver = () => RunContext.begins(site.run, begin, (barrier) => next(notBegun(site.call, barrier)))
  if (offset < concurrency) return unlessOver()
  const waited = Effect.flatMap(Interception.beforeCall(site.run.callKey ?? ""), unlessOver)
  // `forEach` knows of a call that waited for its turn only once that waits for something: an interruption of the run that comes
  // from within the call would miss it
  // Mutants `true`, `concurrency >= 1` survive: only a yield more. One at a time, `forEach` runs the calls in the
  // fiber of the run
  return concurrency > 1 ? Effect.andThen(Effect.yieldNow, waited) : waited
}

/** Whether a resumed call waits only for the end of its own work. */
const isAtWork = ({ from }: CallSite): boolean => from !== undefined && from.type !== "decision"

const notBegun = ({ name: tool }: Message.ToolCall, barrier: unknown): Toolset.Outcome => ({
  settlement: Message.notRun,
  // the failure of the call that ended the run is already known
  ...(RunContext.isHalt(barrier) ? {} : { failure: { error: barrier, isOurs: true } }),
  // Mutant `true` survives: the run is over, and its history is not read any more
  record: { tool, isError: false }
})

/** Emits the calls that were not run, those too that still wait, and goes on with `next`. */
const skipped = <A, E>(
  sites: ReadonlyArray<CallSite>,
  run: RunContext.RunContext,
  next: () => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  if (run.emit === undefined) return next()
  return sites.reduceRight((next, { call: { id: callId, name: tool }, slot }) => {
    // of a call that waits, it is known what becomes of it: one that was at work was interrupted
    const isWaiting = slot.checkpoint !== undefined && slot.record !== undefined
    if (slot.isBegun && !isWaiting) return next
    const settlement = slot.settlement ?? slot.settlementNow ?? Message.notRun
    return () => RunContext.emitThen(run, () => ({ type: "tool-skipped", callId, tool, settlement }), next)
  }, next)()
}

/** A batch that ends before all of its calls do. */
interface Ended {
  readonly failure: Toolset.Failure
}

const endedBy = (outcome: Toolset.Outcome): Effect.Effect<Toolset.Outcome, Ended> =>
  outcome.failure === undefined ? Effect.succeed(outcome) : Effect.fail({ failure: outcome.failure })
