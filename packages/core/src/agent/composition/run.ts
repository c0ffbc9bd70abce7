/** The run of a composition: a run of its own, of which the runs of its parts are children. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Budget from "../../budget/Budget.ts"
import type * as Message from "../../data/Message.ts"
import type * as Model from "../../model/Model.ts"
import * as RunContext from "../../event/RunContext.ts"
import { end, Exceeded } from "../../budget/Meter.ts"
import { Shown } from "./shown.ts"
import type { Output } from "../../run/Output.ts"
import * as Limits from "../../run/Limits.ts"
import * as Frame from "../../run/Frame.ts"
import { type Estimated, free } from "../../recovery/Cost.ts"
import { FixerInput, type Reads } from "../../recovery/FixerInput.ts"

/** Runs an agent. Its events go to the sink, if there is one, and to the parent run. */
export type Runner = (
  input: unknown,
  sink: Frame.Sink | undefined,
  mode: Frame.Mode
) => Effect.Effect<unknown, unknown, Model.Model>

/** An agent within a composition. */
export interface Part {
  readonly name: string
  readonly run: Runner
  readonly cost: Estimated
  readonly mayBeUnsafe: () => boolean
  /** What the agent reads as a fixer: the arguments, or a report. */
  readonly reads: Reads
}

/** A part's output, and the finish reason if the output is a model's reply. */
export interface Answer {
  readonly value: unknown
  readonly finish?: Message.FinishReason | undefined
  /** The limit at which the part gave its last answer (`Budget.answer`). */
  readonly endedBy?: Frame.State["endedBy"]
}

/** The run of a composition, as its parts need it. */
export interface Parent {
  readonly run: RunContext.RunContext
  /** Runs a part as a child of the composition. */
  readonly ask: (part: Part, input: unknown) => Effect.Effect<Answer, unknown, Model.Model>
  /** The failures of a part: one, or those of each agent that it tried in turn. */
  readonly reasonsOf: (part: Part, error: unknown) => ReadonlyArray<unknown>
  /** Discards the text that the parts have shown so far, except that of the part with this answer. */
  readonly discard: (winner?: Answer) => Effect.Effect<void>
  /** Stores the failures of the parts, in order, for the event that ends the run. */
  readonly failed: (reasons: ReadonlyArray<unknown>) => void
}

/** What a composition is made of. */
export interface Composing {
  readonly parts: ReadonlyArray<Part>
  readonly body: (input: unknown, parent: Parent) => Effect.Effect<Answer, unknown, Model.Model>
  readonly cost?: Estimated
  readonly reads?: Reads
  /** Whether the answer comes from one part alone. The shown text of the other parts is then discarded. */
  readonly isOneOf?: boolean
  /** The parts whose output is the output of the composition, in the order of their runs. Partial outputs come from them. */
  readonly passes?: ReadonlyArray<Passing>
  /** The limits of all parts together; absent if only the parents set limits. */
  readonly budget?: Budget.Budget | undefined
  /** The steps of a plain sequence. A longer sequence takes these steps over instead of nesting. */
  readonly steps?: ReadonlyArray<Step> | undefined
}

/** A composition has its own runner, so bundles without compositions do not contain it. */
export interface Composed extends Composing {
  readonly cost: Estimated
  readonly reads: Reads
  readonly runner: typeof runner
}

/** An agent whose output is read while it is written. */
export interface Passing {
  readonly output: Output | undefined
  readonly composed?: Composed
}

/** A step of a sequence: a part, or a function of the previous value. */
export type Step = Part | ((value: never) => unknown)

/** The state of a composition's run. It has no messages: only its parts have some. */
interface State extends Frame.State {
  finish: Message.FinishReason | undefined
  endedBy: Frame.State["endedBy"]
  reasons: ReadonlyArray<unknown> | undefined
}

const initial: State = {
  turn: 0,
  transcript: () => [],
  said: () => [],
  unfinished: () => undefined,
  finish: undefined,
  endedBy: undefined,
  reasons: undefined
}

/** Makes the state of one run. Two runs share nothing. */
export const runner =
  (name: string, composed: Composed, listeners: ReadonlyArray<Frame.Listener>): Runner =>
  (input, sink, mode) =>
    Effect.suspend(() => {
      const { body, budget } = composed
      const state = { ...initial }
      const shown = FixerInput.for(input, "arguments")
      const around = {
        agent: name,
        input: shown,
        state,
        sink,
        mode,
        listeners,
        ...(budget === undefined ? {} : { budget })
      }
      return Frame.within(around, (run) => {
        mode.started?.({ state, run })
        const parent = parentOf(run, state, mode)
        const work = () =>
          run.depth > run.deepest
            ? end(run.meter, new Exceeded(run.meter, "maxDepth", run.deepest, run.depth))
            : Effect.flatMap(body(input, parent), (answer) => {
                state.finish = answer.finish
                state.endedBy = answer.endedBy
                return Effect.as(composed.isOneOf === true ? parent.discard(answer) : Effect.void, answer.value)
              })
        return Limits.within(run, state, work, (exceeded, isOwn) =>
          isOwn ? Effect.fail(Limits.errorOf(exceeded, run, state)) : undefined
        )
      })
    })

const parentOf = (run: RunContext.RunContext, state: State, { isStreamed }: Frame.Mode): Parent => {
  const children = new Map<Part, Frame.State>()
  const asked: Array<Asked> = []
  return {
    run,
    ask: (part, input) =>
      Effect.suspend(() => {
        let ofPart: Frame.State | undefined
        const shown = run.isStreamed === true ? new Shown() : undefined
        const one: Asked = { shown, answer: undefined }
        asked.push(one)
        const sink: Frame.Sink | undefined = shown && ((event) => shown.hear(event))
        const started: Frame.Mode["started"] = (it) => {
          ofPart = it.state
          children.set(part, it.state)
        }
        // a part that needs a decision waits for it in this process: a composition cannot be resumed from a snapshot
        const mode = { isStreamed, isSuspendable: false, started, branch: `part ${asked.length}` }
        const running = part.run(FixerInput.for(input, part.reads), sink, mode)
        const watched = Effect.onExit(running, (exit) =>
          Effect.sync(() => {
            if (exit._tag === "Failure" && ofPart?.reasons !== undefined) state.reasons = ofPart.reasons
          })
        )
        return Effect.map(
          watched,
          (value) => (one.answer = { value, finish: ofPart?.finish, endedBy: ofPart?.endedBy })
        )
      }),
    reasonsOf: (part, error) => children.get(part)?.reasons ?? [error],
    discard: (winner) =>
      Effect.forEach(
        asked.entries(),
        ([index, { answer, shown }]) => {
          const text = winner !== undefined && answer === winner ? undefined : shown?.take()
          if (text === undefined) return Effect.void
          const discarded = {
            attempt: index + 1,
            text,
            ...(shown?.runId === undefined ? {} : { discardedRunId: shown.runId })
          }
          return RunContext.emit(run, () => ({ type: "attempt-discarded", ...discarded }))
        },
        // Mutants `{}`, `false` survive: all callers drop the value of the loop
        { discard: true }
      ),
    failed: (reasons) => {
      state.reasons = reasons
    }
  }
}

/** A running part: the text that readers saw of it, and its answer. */
interface Asked {
  readonly shown: Shown | undefined
  answer: Answer | undefined
}

type Combine = (one: number, other: number) => number

const sum: Combine = (one, other) => one + other

/** Combines the worst cases of parts. Of the model calls in one turn the largest number counts, because a turn belongs to one part. */
const combined =
  (modelCalls: Combine, millis: Combine) =>
  (costs: ReadonlyArray<Estimated>): Estimated =>
  (estimate) =>
    costs
      .map((cost) => cost(estimate))
      .reduce(
        (before, cost) => ({
          modelCalls: modelCalls(before.modelCalls, cost.modelCalls),
          perTurn: Math.max(before.perTurn, cost.perTurn),
          millis: millis(before.millis, cost.millis)
        }),
        free
      )

/** The worst case of parts that run one after the other: the sums. */
export const costInTurn = combined(sum, sum)

/** The worst case of parts that run at the same time: the longest time, and the sum of the calls. */
export const costAtOnce = combined(sum, Math.max)

/** The worst case of one part out of several: the maximum of each figure. */
export const costOfOne = combined(Math.max, Math.max)

/** Throws a `RangeError` if the value is no whole number of at least 1. */
export const checkedCount = (what: string, count: number): number => {
  if (Number.isSafeInteger(count) && count >= 1) return count
  throw new RangeError(`${what} must be a whole number of at least 1, got ${String(count)}`)
}

/** Throws a `RangeError` if the value is no finite duration. */
export const checkedMillis = (what: string, input: Duration.Input): number => {
  const duration = Duration.fromInput(input)
  const millis = duration._tag === "Some" ? Duration.toMillis(duration.value) : Number.NaN
  if (Number.isFinite(millis) && millis >= 0) return millis
  throw new RangeError(`${what} must be a finite duration of at least 0, got ${String(input)}`)
}
