/** How the check of a guardrail is asked: within its own limits, by its own name in a durable run, and closed on failure. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ErrorCause from "../data/ErrorCause.ts"
import type * as Message from "../data/Message.ts"
import * as Redaction from "../data/Redaction.ts"
import * as Returned from "../data/Returned.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import { withoutTexts } from "./withoutTexts.ts"

/** The verdict of a check. */
export type GuardVerdict =
  | { readonly type: "pass" }
  | { readonly type: "block"; readonly reason: string }
  | { readonly type: "replace"; readonly text: string }

/** A text for a guardrail to check: the user's or the model's. */
export interface Checked {
  readonly agent: string
  readonly runId: string
  readonly side: "input" | "output"
  readonly text: string
  /** The thoughts of the model about this text; empty for the words of the user. */
  readonly reasoning: string
  /** Whether the text is whole. With `hold: n`, the model may still be writing. */
  readonly isWhole: boolean
  /** The conversation up to this text. A user's text is its last message; a model's text is not in it yet. */
  readonly transcript: Message.Transcript
}

/** A guardrail. */
export interface Guard {
  readonly name: string
  readonly side: "input" | "output"
  readonly check: (checked: Checked) => GuardVerdict | Effect.Effect<GuardVerdict, unknown>
  readonly timeout: Duration.Duration
  readonly onFailure: "block" | "pass"
  /** The agent that its check calls, for `explain`. */
  readonly agent?: unknown
  /** Whether its check may replace the text. */
  readonly mayReplace: boolean
}

/** A guardrail that has blocked a text. */
export interface Block {
  readonly guard: string
  readonly reason: string
}

/** Asks the check of a guardrail, as a step of the run. `key` is its place in the run. */
export const ask = (
  run: RunContext.RunContext,
  guard: Guard,
  key: string,
  checked: () => Checked,
  given?: GuardVerdict
): Effect.Effect<GuardVerdict> => {
  const { name, side } = guard
  const step = Interception.step<GuardVerdict, never, never>(
    () => ({ type: "guardrail", guard: name, side, schema }),
    () => (given === undefined ? decided(guard, checked) : Effect.succeed(given))
  )
  return closed(guard, RunContext.within(contextOf(run, side, key), step), Cause.hasInterrupts)
}

/** Checks a partial text. This is no recorded step of the run, because a replay gets the text in other pieces. */
export const askMeanwhile = (
  run: RunContext.RunContext,
  guard: Guard,
  key: string,
  checked: () => Checked
): Effect.Effect<GuardVerdict> =>
  Effect.flatMap(Interception.Current, (interceptor) => {
    const asked = RunContext.within(contextOf(run, guard.side, key), decided(guard, checked))
    return interceptor?.outside?.(asked) ?? asked
  })

/**
 * Runs a check. Agents that it calls spend the run's tokens, cost and time, but no turns and tool calls. The check has a call key of its
 * own, so a durable run may do other work beside it. Events of these agents have no text of an answer, because no reader may see it yet.
 */
const contextOf = (run: RunContext.RunContext, side: Guard["side"], key: string): RunContext.RunContext => ({
  ...run,
  emit: side === "output" && run.emit !== undefined ? withoutTexts(run.emit) : run.emit,
  meter: run.meter.checking(),
  isChecking: true,
  isApart: true,
  callId: undefined,
  callKey: key,
  within: key
})

const decided = (guard: Guard, checked: () => Checked): Effect.Effect<GuardVerdict> => {
  const { check, name, timeout } = guard
  const asked = Effect.suspend(() => Returned.valueOf(check(checked()), aVerdict, "The check of guardrail", name))
  const inTime = Duration.isFinite(timeout) ? Effect.timeoutOption(asked, timeout) : Effect.map(asked, Option.some)
  const answered = Effect.map(inTime, (found) => {
    if (Option.isNone(found)) return failed(guard, `it has not answered within ${Duration.format(timeout)}`)
    const verdict = found.value
    if (verdict.type !== "replace" || guard.mayReplace) return verdict
    return failed(guard, "it cannot replace this text")
  })
  // an interrupted run never gets here, so this interruption is one of the check
  return closed(guard, answered, () => false)
}

/** Turns a failed check into a block. The end of the run passes, and so do causes that `passes` admits. */
const closed = (
  guard: Guard,
  self: Effect.Effect<GuardVerdict, unknown>,
  passes: (cause: Cause.Cause<unknown>) => boolean
): Effect.Effect<GuardVerdict> =>
  Effect.matchCauseEffect(self, {
    onSuccess: Effect.succeed,
    onFailure: (cause) => {
      const error = Cause.squash(cause)
      if (passes(cause) || RunContext.isLimit(error) || RunContext.isHalt(error))
        // no typed failure is left in a cause that is passed on
        return Effect.failCause(cause as Cause.Cause<never>)
      const why = Cause.hasInterruptsOnly(cause) ? "it was interrupted" : ErrorCause.sayingOf(error)
      return Effect.succeed(failed(guard, why))
    }
  })

/** The verdict of a check that failed, by `onFailure`. */
export const failed = ({ onFailure }: Guard, why: string): GuardVerdict =>
  onFailure === "pass" ? pass : { type: "block", reason: Redaction.foreign(`the check could not decide: ${why}`) }

const pass: GuardVerdict = { type: "pass" }

const schema = Schema.Union([
  Schema.Struct({ type: Schema.tag("pass") }),
  Schema.Struct({ type: Schema.tag("block"), reason: Schema.String }),
  Schema.Struct({ type: Schema.tag("replace"), text: Schema.String })
])

const aVerdict: Returned.Kind = { name: "a verdict of Agent.guard", is: Schema.is(schema) }
