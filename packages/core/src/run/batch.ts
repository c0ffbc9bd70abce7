/** The tool calls of one reply: settled concurrently, recorded in the order of the reply. */
import * as Effect from "effect/Effect"
import * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import type { CallSite, Slot } from "../tool/CallSite.ts"
import * as Toolset from "../tool/Toolset.ts"
import { placeOf } from "./checkpoint.ts"
import type { Looping } from "./running.ts"

/** The calls of a reply, all settled, in the model's order, unless some wait. `failure` ends the run, and so does `output`. */
export interface Batch {
  readonly message: Message.Assistant
  /** How many calls there are. */
  readonly calls: number
  readonly outcomes: ReadonlyArray<Toolset.Outcome>
  /** Whether some of them wait: the batch is not over. */
  readonly isWaiting: boolean
  readonly failure?: Toolset.Failure
  readonly output?: Toolset.Output | undefined
}

/**
 * Settles the calls of a reply. When one of them ends the run, the others still end as they would have, or are interrupted, as
 * `siblings` says; a defect interrupts them. Calls beyond those that are `admitted` are not run.
 */
export const settleAll = (running: Looping, reply: Message.Reply, admitted: number): Effect.Effect<Batch> => {
  const { plan, run, state, toolset } = running
  const sites = Message.callsOf(reply).map((call, index) => siteOf(running, call, index))
  const over = (found: Pick<Batch, "outcomes" | "isWaiting"> & Partial<Batch>): Effect.Effect<Batch> => {
    const batch = { message: Message.settle(reply, state.settlements()), calls: sites.length, ...found }
    return batch.isWaiting && batch.failure === undefined ? Effect.succeed(batch) : Effect.as(skip(sites, run), batch)
  }
  if (reply.finish === "length" || reply.finish === "filtered") {
    for (const { slot } of sites) slot.settlement = Message.truncated
    return over({ outcomes: [], isWaiting: false })
  }
  // a built-in tool ends the run: it is settled first, and alone
  const builtIn = sites.find(({ call }) => Toolset.isBuiltIn(toolset, call))
  const started = builtIn === undefined ? sites.slice(0, admitted) : [builtIn]
  const { toolConcurrency: concurrency } = plan.budget
  const settleOne = (site: CallSite, offset: number): Effect.Effect<Toolset.Outcome, Ended> =>
    Effect.flatMap(inTurn(toolset, site, offset, concurrency), (outcome) =>
      plan.siblings === "interrupt" && started.length > 1 && outcome.failure !== undefined
        ? Effect.fail({ failure: outcome.failure })
        : Effect.succeed(outcome)
    )
  return Effect.matchEffect(Effect.forEach(started, settleOne, { concurrency }), {
    onSuccess: (outcomes) => {
      const failures = outcomes.flatMap(({ failure }) => failure ?? [])
      // a limit that was reached is known anyhow
      const failure = failures.find(({ error }) => !RunContext.isLimit(error)) ?? failures[0]
      const isWaiting = outcomes.some((outcome) => outcome.pending !== undefined)
      if (failure === undefined) return over({ outcomes, isWaiting, output: outcomes[0]?.output })
      // no decision is asked for any more
      for (const { slot } of sites) slot.isBegun &&= slot.pending === undefined
      return over({ outcomes, isWaiting, failure })
    },
    onFailure: ({ failure }) => over({ outcomes: [], isWaiting: false, failure })
  })
}

const siteOf = (running: Looping, call: Message.ToolCall, index: number): CallSite => {
  const { mode, resumed, run, state } = running
  // call ids repeat over turns, and with some models within one
  const key = `${run.runId}/${run.turn()}/${index}`
  // there is one for each call
  const slot = state.slots[index] as Slot
  return {
    call,
    key,
    run: { ...run, callId: call.id, callKey: key },
    history: state.history,
    isSuspendable: mode.isSuspendable,
    resumed,
    place: placeOf(running, slot, key),
    slot
  }
}

/** Settles one call when its turn has come; one that was settled before the run was suspended is over. */
const inTurn = (
  toolset: Toolset.Toolset,
  site: CallSite,
  offset: number,
  concurrency: number
): Effect.Effect<Toolset.Outcome> => {
  const settling = Effect.suspend(() => {
    const { call, run, slot } = site
    const { ended } = run.meter
    // the run is over: no further call begins
    if (ended !== undefined) return Effect.succeed(notBegun(call, ended))
    slot.isBegun = true
    if (slot.settlement !== undefined) {
      const { settled = Toolset.settledAs(call, slot.settlement), settlement } = slot
      return Effect.succeed({ settlement, settled })
    }
    slot.mark(undefined)
    return Effect.map(Toolset.settle(toolset, site), (outcome) => {
      slot.settlement = outcome.settlement
      slot.settled = outcome.settled
      slot.pending = outcome.pending
      slot.capture = undefined
      return outcome
    })
  })
  if (offset < concurrency) return settling
  const waited = Effect.andThen(Interception.turn(site.key), settling)
  // `forEach` knows of a call that waited for its turn only once that waits for something: an interruption of the run that comes
  // from within the call would miss it
  // Mutants `true`, `concurrency >= 1` survive: only a yield more. One at a time, `forEach` runs the calls in the
  // fiber of the run
  return concurrency > 1 ? Effect.andThen(Effect.yieldNow, waited) : waited
}

const notBegun = ({ name: tool }: Message.ToolCall, error: unknown): Toolset.Outcome => ({
  settlement: Message.notRun,
  failure: { error, isOurs: true },
  settled: { tool, isError: false }
})

/** Emits the calls that were not run. */
const skip = (sites: ReadonlyArray<CallSite>, run: RunContext.RunContext): Effect.Effect<void> =>
  Effect.forEach(
    sites.filter(({ slot }) => !slot.isBegun),
    ({ call: { id: callId, name: tool }, slot: { settlement = Message.notRun } }) =>
      RunContext.emit(run, () => ({ type: "tool-skipped", callId, tool, settlement })),
    // Mutants `{}`, `false` survive: `Effect.as` drops the value of the loop
    { discard: true }
  )

/** A batch that is over before all of its calls are. */
interface Ended {
  readonly failure: Toolset.Failure
}
