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

/** Runs an agent; its events go to the sink, if there is one, and to the run around it. */
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
  /** What it reads as a fixer. */
  readonly reads: Reads
}

/** A part's output, and the finish reason if the output is a model's reply. */
export interface Answer {
  readonly value: unknown
  readonly finish?: Message.FinishReason | undefined
  /** The limit at which the part has answered. */
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
  /** Whether its answer is that of one of its parts, and the text of the others is discarded. */
  readonly isOneOf?: boolean
  /** The parts, in the order in which they run, whose output is its own: partial outputs are read from them. */
  readonly passes?: ReadonlyArray<Passing>
  /** The limits of all parts together; absent if only the parents set limits. */
  readonly budget?: Budget.Budget | undefined
  /** The steps of a mere sequence, which longer sequences inline. */
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

/** A part, or a function of the value before it. */
export type Step = Part | ((value: never) => unknown)

/** A composition has no messages of its own: its parts have them. */
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

/** Everything of a run is made when it begins; nothing is shared between two. */
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
        const working = Effect.flatMap(body(input, parent), (answer) => {
          state.finish = answer.finish
          state.endedBy = answer.endedBy
          return Effect.as(composed.isOneOf === true ? parent.discard(answer) : Effect.void, answer.value)
        })
        const inTime = budget === undefined ? working : Limits.inTime(run)(working)
        const isTooDeep = run.depth > run.deepest
        return (isTooDeep ? end(run.meter, new Exceeded(run.meter, "maxDepth", run.deepest, run.depth)) : inTime).pipe(
          Limits.ending(run, state, (exceeded, isOwn) =>
            isOwn ? Effect.fail(Limits.errorOf(exceeded, run, state)) : undefined
          ),
          Limits.undoing(run)
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
        // a part that has to wait for a decision waits: nothing could resume the composition around it
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
        { discard: true }
      ),
    failed: (reasons) => {
      state.reasons = reasons
    }
  }
}

/** A part at work: what was seen of it, and what it has answered. */
interface Asked {
  readonly shown: Shown | undefined
  answer: Answer | undefined
}

type Combine = (one: number, other: number) => number

const sum: Combine = (one, other) => one + other

/** The turn that costs most counts: it is one of a single part. */
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

/** One after the other. */
export const costInTurn = combined(sum, sum)

/** All at once. */
export const costAtOnce = combined(sum, Math.max)

/** One of them. */
export const costOfOne = combined(Math.max, Math.max)

/** Throws a `RangeError` on what is no count. */
export const checkedCount = (what: string, count: number): number => {
  if (Number.isSafeInteger(count) && count >= 1) return count
  throw new RangeError(`${what} must be a whole number of at least 1, got ${String(count)}`)
}

/** Throws a `RangeError` on what is no finite duration. */
export const checkedMillis = (what: string, input: Duration.Input): number => {
  const duration = Duration.fromInput(input)
  const millis = duration._tag === "Some" ? Duration.toMillis(duration.value) : Number.NaN
  if (Number.isFinite(millis) && millis >= 0) return millis
  throw new RangeError(`${what} must be a finite duration of at least 0, got ${String(input)}`)
}
