/** One turn: a model is asked, and the calls of its reply are settled. It keeps no state. */
import * as Effect from "effect/Effect"
import type * as FailureHistory from "../budget/FailureHistory.ts"
import * as Interception from "../model/Interception.ts"
import * as Message from "../data/Message.ts"
import type { Resumed } from "../tool/Resumed.ts"
import type { Place } from "../tool/Toolset.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Toolset from "../tool/Toolset.ts"

export { ask, type OnPartial } from "./ask.ts"

/** The calls of a reply, all settled, in the model's order. `failure` ends the run, and so does `output`. */
export interface Batch {
  readonly message: Message.Assistant
  readonly outcomes: ReadonlyArray<Toolset.Outcome>
  /** Whether some of them wait: the batch is not over. */
  readonly isWaiting: boolean
  readonly failure?: Toolset.Failure
  readonly output?: Toolset.Output | undefined
}

/** What happens to the other calls of a batch when one of them ends the run. */
export type Siblings = "settleAll" | "interrupt"

/** What a batch finds around it in its run. */
export interface Settling {
  /** How many run at once. */
  readonly concurrency: number
  /** All are settled, unless it says otherwise. */
  readonly siblings: Siblings | undefined
  /** Where settlements are written down as they come, so that none is lost when the batch is cut short. */
  readonly settlements: Array<Message.Settlement | undefined>
  /** What each call waits for, as it comes. */
  readonly pending: Array<Toolset.Pending | undefined>
  /** Where the sub-agent of a call stands, where it may be suspended. */
  readonly place: (index: number, key: string) => Place | undefined
  readonly history: FailureHistory.FailureHistory
  readonly run: RunContext.RunContext
  readonly isSuspendable: boolean
  /** What the run knows that goes on; absent where none goes on. */
  readonly resumed: Resumed | undefined
  /** What is known of the calls that were settled before the run was suspended. */
  readonly known: ReadonlyArray<FailureHistory.Settled | undefined>
}

/**
 * Settles the calls of a reply: concurrently, recorded in request order. When one ends the run, the others still end as
 * they would have, or are interrupted, as `siblings` says; a defect interrupts them. Calls beyond those that are `admitted` are
 * not run.
 */
export const settle = (
  toolset: Toolset.Toolset,
  reply: Message.Reply,
  admitted: number,
  settling: Settling
): Effect.Effect<Batch> => {
  const {
    concurrency,
    history,
    isSuspendable,
    known: before,
    pending,
    place,
    resumed,
    run,
    settlements,
    siblings
  } = settling
  const calls = Message.callsOf(reply)
  const over = (): Batch => ({ message: Message.settle(reply, settlements), outcomes: [], isWaiting: false })
  // Mutant `false` survives: speed only. Without calls, the code below settles nothing and returns the same message
  if (calls.length === 0) return Effect.succeed(over())
  /** Those whose turn has come. */
  const begun = calls.map(() => false)
  const closed = (batch: Batch): Effect.Effect<Batch> =>
    begun.includes(false) ? Effect.as(skipped(calls, begun, settlements, run), batch) : Effect.succeed(batch)
  if (reply.finish === "length" || reply.finish === "filtered") {
    for (const index of calls.keys()) settlements[index] = Message.truncated
    return closed(over())
  }
  const ending = calls.findIndex((call) => Toolset.isBuiltIn(toolset, call))
  const from = Math.max(ending, 0)
  const started = calls.slice(from, ending < 0 ? admitted : from + 1)
  // call ids repeat over turns, and with some models within one
  const keyOf = (index: number) => `${run.runId}/${run.turn()}/${index}`
  const settleOne = (call: Message.ToolCall, offset: number): Effect.Effect<Toolset.Outcome> => {
    const index = from + offset
    const known = settlements[index]
    begun[index] = true
    // it was settled before the run was suspended
    if (known !== undefined)
      return Effect.succeed({ settlement: known, settled: before[index] ?? Toolset.settledAs(call, known) })
    const mark = (settlement: Message.Settlement | undefined) => {
      settlements[index] = settlement ?? Message.interrupted
    }
    mark(undefined)
    const idempotencyKey = keyOf(index)
    const around: Toolset.Surroundings = {
      idempotencyKey,
      place: place(index, idempotencyKey),
      run,
      history,
      isSuspendable,
      resumed,
      mark
    }
    return Effect.map(Toolset.settle(toolset, call, around), (outcome) => {
      mark(outcome.settlement)
      pending[index] = outcome.pending
      around.place?.over()
      return outcome
    })
  }
  const isHasty = siblings === "interrupt"
  // of a call that waited for its turn `forEach` knows only once that waits for something: an interruption of the run that comes
  // from within it would miss it
  const settleInTurn: typeof settleOne = (call, offset) => {
    if (offset < concurrency) return settleOne(call, offset)
    const settled = Effect.andThen(
      Interception.turn(keyOf(from + offset)),
      Effect.suspend(() => settleOne(call, offset))
    )
    // Mutants `true`, `concurrency >= 1` survive: only a yield more. One at a time, `forEach` runs the calls in the
    // fiber of the run
    return concurrency > 1 ? Effect.andThen(Effect.yieldNow, settled) : settled
  }
  const oneOfMany = (call: Message.ToolCall, offset: number): Effect.Effect<Toolset.Outcome, Ended> =>
    Effect.flatMap(settleInTurn(call, offset), (outcome) =>
      isHasty && outcome.failure !== undefined ? Effect.fail({ failure: outcome.failure }) : Effect.succeed(outcome)
    )
  const ended = (outcomes: ReadonlyArray<Toolset.Outcome>): Effect.Effect<Batch> => {
    const failed = outcomes.find((outcome) => outcome.failure !== undefined)
    const isWaiting = outcomes.some((outcome) => outcome.pending !== undefined)
    const batch = { message: Message.settle(reply, settlements), outcomes, isWaiting }
    if (failed?.failure !== undefined) {
      // nobody will be asked any more
      for (const [offset, { pending }] of outcomes.entries()) if (pending !== undefined) begun[offset] = false
      return closed({ ...batch, failure: failed.failure })
    }
    if (isWaiting) return Effect.succeed(batch)
    // a built-in tool is settled alone
    return closed({ ...batch, output: outcomes[0]?.output })
  }
  const [only] = started
  // a call that is alone is not hasty, and needs nobody to keep it together with others
  // Mutant `{}` survives: speed only. A lone call then takes the way of many to the same settlement, and no code reads
  // the outcomes of a batch that failed
  if (started.length === 1 && only !== undefined) {
    return Effect.flatMap(settleOne(only, 0), (outcome) => ended([outcome]))
  }
  return Effect.matchEffect(Effect.forEach(started, oneOfMany, { concurrency }), {
    onSuccess: ended,
    onFailure: ({ failure }) => closed({ ...over(), failure })
  })
}

/** Tells of the calls that were not run. */
const skipped = (
  calls: ReadonlyArray<Message.ToolCall>,
  begun: ReadonlyArray<boolean>,
  settlements: ReadonlyArray<Message.Settlement | undefined>,
  run: RunContext.RunContext
): Effect.Effect<void> =>
  Effect.forEach(
    calls,
    ({ id: callId, name: tool }, index) =>
      begun[index] === true
        ? Effect.void
        : RunContext.emit(run, () => {
            const settlement = settlements[index] ?? Message.notRun
            return { type: "tool-skipped", callId, tool, settlement }
          }),
    // Mutants `{}`, `false` survive: `Effect.as` drops the value of the loop
    { discard: true }
  )

/** A batch that is over before all of its calls are. */
interface Ended {
  readonly failure: Toolset.Failure
}
