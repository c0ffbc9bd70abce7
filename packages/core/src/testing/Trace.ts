/**
 * Traces of a policy on a script of failures. A virtual clock runs it: nothing waits, and every instant is exact.
 *
 * ```ts
 * import { Recovery } from "@kintsugi/core"
 * import { FailureScript, Trace } from "@kintsugi/core/testing"
 * import { Effect } from "effect"
 *
 * const policy = Recovery.retry({ retries: 2, initialBackoff: "1 second" })
 * const seen = Trace.trace(policy, FailureScript.always(FailureScript.fails("Down")))
 *
 * Effect.runPromise(Effect.map(seen, ({ attempts }) => attempts.map(({ start }) => start))) // => [0, 1000, 3000]
 * ```
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import * as Explanation from "../recovery/Explanation.ts"
import { recoverEffect } from "../recovery/RecoverEffect.ts"
import * as Recovery from "../recovery/Recovery.ts"
import { type FailureScript, stepOf } from "./FailureScript.ts"
import type { Failure, FailureStep } from "./failures.ts"
import type { AnyRow, ServicesOf } from "../recovery/TableTypes.ts"

/** What happened to a scripted effect under a policy. Instants are milliseconds since the start. */
export interface Trace {
  readonly attempts: ReadonlyArray<Attempt>
  /** The instant of the end; `undefined` if the effect is still running. */
  readonly end: number | undefined
  /** How the effect ended, as text: `success fine`, `failure Down of attempt 3`, `died of …`, `interrupted`, `running`. */
  readonly exit: string
  /** The resources that the attempts opened and closed, in order. Attempt n opens `open n` and closes `close n`. */
  readonly resources: ReadonlyArray<string>
}

interface Attempt {
  readonly start: number
  /** The number of the attempt; the first attempt is 1. */
  readonly attempt: number
  /** What the attempt did, as its step of the script says; `running` before that. */
  readonly outcome: string
}

/** A function that puts a policy around the scripted effect. */
type Guard<E = never, Tag extends string = string, R = never> = (
  scripted: Effect.Effect<string, Failure<Tag>>
) => Effect.Effect<string, Failure<Tag> | E, R>

/**
 * A trace, with its policy and its script.
 *
 * @hidden
 */
export interface Traced extends Trace {
  readonly script: FailureScript
  readonly policy: Policy
}

/** A policy to trace: one row for all failures (a verdict, a schedule or a handler), or a table of rows. */
type Policy = AnyRow | { readonly [row: string]: AnyRow | undefined }

/** The services that the schedules and the handlers of a policy need. */
type PolicyServices<P> = P extends AnyRow ? ServicesOf<P> : ServicesOf<P[keyof P]>

/** The highest number of attempts. A policy that makes more would never end, because every script has an end; its run dies. */
const runaway = 20_000

/** A virtual time by which every run that ends has ended. */
const ages = Duration.days(100_000)

/**
 * Plays a script under a policy. The policy is a verdict, a schedule, a handler, or a table of them. The trace needs the services of the
 * schedules and the handlers. A schedule means `Recovery.retry(schedule)`. Verdicts that need a model (`tell`, `escalate`, `fix`, `raise`)
 * throw a `TypeError`.
 *
 * ```ts
 * import { FailureScript, Trace } from "@kintsugi/core/testing"
 * import { Effect, Schedule } from "effect"
 *
 * const schedule = Schedule.exponential("1 second").pipe(Schedule.upTo({ times: 2 }))
 * const seen = Trace.trace(schedule, FailureScript.always(FailureScript.fails("Down")))
 *
 * Effect.runPromise(Effect.map(seen, ({ attempts }) => attempts.map(({ start }) => start))) // => [0, 1000, 3000]
 * ```
 */
export const trace = <const P extends Policy>(
  policy: P,
  script: FailureScript
): Effect.Effect<Traced, never, PolicyServices<P>> => {
  const rows = Recovery.rowsOf(Recovery.isRow(policy) ? { orElse: policy } : policy, "a plain effect")
  // the trace shows failures of handlers of any type as text, and `PolicyServices` has the services that handlers need
  const guard = (scripted: Effect.Effect<string, Failure>) =>
    recoverEffect(rows, scripted) as Effect.Effect<string, Failure, PolicyServices<P>>
  return Effect.map(play(script, guard), (seen) => ({ ...seen, script, policy }))
}

/**
 * Plays a script under any code around an effect. An example is `Trace.play(script, Effect.retry(schedule))`. `interruptAt` is the instant
 * of an interruption from outside, in milliseconds.
 */
export const play = <E, Tag extends string, R = never>(
  script: FailureScript<Tag>,
  guard: Guard<E, Tag, R>,
  interruptAt?: number
): Effect.Effect<Trace, never, R> =>
  Effect.gen(function* () {
    const attempts: Array<{ start: number; attempt: number; outcome: string }> = []
    const resources: Array<string> = []
    const errors: Array<unknown> = []
    const clock = yield* Clock.clockWith(Effect.succeed)
    const scripted = Effect.suspend(() => {
      const attempt = attempts.length + 1
      if (attempt > runaway) return Effect.die("runaway")
      const entry = { start: clock.currentTimeMillisUnsafe(), attempt, outcome: "running" }
      attempts.push(entry)
      const step = stepOf(script, attempt)
      const act = Effect.suspend(() => {
        entry.outcome = step.does
        return perform(step, attempt, errors)
      })
      return Effect.acquireUseRelease(
        Effect.sync(() => resources.push(`open ${attempt}`)),
        () => (step.takes === 0 ? act : Effect.delay(act, step.takes)),
        () => Effect.sync(() => resources.push(`close ${attempt}`))
      )
    })
    let ended: { readonly end: number; readonly exit: string } | undefined
    const fiber = yield* Effect.forkChild(
      Effect.onExit(guard(scripted), (exit) =>
        Effect.sync(() => {
          ended = { end: clock.currentTimeMillisUnsafe(), exit: describe(exit, errors) }
        })
      )
    )
    // the interruption is not awaited: an attempt may resist it until the clock goes on
    const interrupt = Effect.forkChild(Fiber.interrupt(fiber))
    if (interruptAt !== undefined) {
      yield* TestClock.adjust(interruptAt)
      yield* interrupt
    }
    yield* TestClock.adjust(ages)
    const seen = ended ?? { end: undefined, exit: "running" }
    const made = attempts.map((entry) => ({ ...entry }))
    if (ended === undefined) {
      yield* interrupt
      yield* TestClock.adjust(ages)
    }
    return { attempts: made, ...seen, resources }
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))

const perform = <Tag extends string>(
  step: FailureStep<Tag>,
  attempt: number,
  errors: Array<unknown>
): Effect.Effect<string, Failure<Tag>> => {
  const fail = (tag: Tag, hint?: number): Cause.Cause<Failure<Tag>> => {
    const error = { _tag: tag, attempt, ...(hint === undefined ? {} : { retryAfter: Duration.millis(hint) }) }
    errors[attempt] = error
    return Cause.fail(error)
  }
  switch (step.does) {
    case "succeed":
      return Effect.succeed(step.value)
    case "fail":
      return Effect.failCause(fail(step.tag, step.hint))
    case "fail and die":
      return Effect.failCause(Cause.combine(fail(step.tag), Cause.die(`defect of attempt ${attempt}`)))
    case "fail and interrupt":
      return Effect.failCause(Cause.combine(fail(step.tag), Cause.interrupt()))
    case "die":
      return Effect.die(`defect of attempt ${attempt}`)
    case "interrupt":
      return Effect.interrupt
    case "never":
      return Effect.never
  }
}

const describe = (exit: Exit.Exit<string, unknown>, errors: ReadonlyArray<unknown>): string => {
  if (Exit.isSuccess(exit)) return `success ${exit.value}`
  const parts = exit.cause.reasons.map((reason) => {
    if (Cause.isInterruptReason(reason)) return "interrupted"
    if (Cause.isDieReason(reason)) {
      return `died of ${typeof reason.defect === "string" ? reason.defect : nameOf(reason.defect, errors)}`
    }
    return nameOf(reason.error, errors)
  })
  return [...new Set(parts)].join(" and ")
}

const nameOf = (error: unknown, errors: ReadonlyArray<unknown>): string => {
  const attempt = errors.indexOf(error)
  const tag = typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : String(error)
  return attempt === -1 ? `failure ${tag} of its own` : `failure ${tag} of attempt ${attempt}`
}

/** The waits before the second attempt and each later one. They are in milliseconds, exact to the nanosecond. */
export const waitsOf = (script: FailureScript, { attempts }: Trace): ReadonlyArray<number> =>
  attempts
    .slice(1)
    .map(({ start }, index) => toNanosecond(start - (attempts[index]!.start + stepOf(script, index + 1).takes)))

const toNanosecond = (millis: number): number => (Number.isInteger(millis) ? millis : Math.round(millis * 1e6) / 1e6)

/** The sum of all waits in milliseconds. The time of the attempts does not count. */
export const waited = (seen: Traced): number => waitsOf(seen.script, seen).reduce((sum, wait) => sum + wait, 0)

/** A trace as text. Each attempt has a line, and so has the end. */
export const format = ({ attempts, end, exit }: Trace): string =>
  [
    ...attempts.map(({ attempt, outcome, start }) => `attempt ${attempt} at ${start} ms: ${outcome}`),
    end === undefined ? exit : `${exit}, at ${end} ms`
  ].join("\n")

/**
 * A script as reports show it.
 *
 * @internal
 */
export const formatScript = (script: FailureScript): string => JSON.stringify(script)

/**
 * The explanation of a policy, or why it has none.
 *
 * @internal
 */
export const explained = (policy: Policy): string =>
  Result.match(
    Result.try(() => Explanation.format(Recovery.explain(Recovery.isRow(policy) ? { orElse: policy } : policy))),
    { onFailure: (error) => `it cannot be explained: ${String(error)}`, onSuccess: (text) => text }
  )

/** A trace that does not fulfil an assertion of `assertThat`. */
class UnexpectedTraceError extends Data.TaggedError("UnexpectedTraceError")<{
  /** The sentence of the assertion, the explanation of the policy, the script, and the trace. */
  readonly message: string
  readonly trace: Traced
}> {}

/**
 * Checks a trace with an assertion of your own. A trace that does not fulfil it is an `UnexpectedTraceError`, whose message shows the
 * policy, the script and the trace in every test runner.
 *
 * ```ts
 * import { Recovery } from "@kintsugi/core"
 * import { FailureScript, Trace } from "@kintsugi/core/testing"
 * import { Effect } from "effect"
 *
 * const policy = Recovery.retry({ retries: 2, initialBackoff: "1 second" })
 *
 * const seen = Trace.trace(policy, FailureScript.always(FailureScript.fails("Down"))).pipe(
 *   Effect.flatMap(Trace.assertThat("it waits at most 5 seconds", (seen) => Trace.waited(seen) <= 5_000)),
 *   Effect.map(({ end }) => end)
 * )
 *
 * Effect.runPromise(seen) // => 3000
 * ```
 */
export const assertThat =
  (sentence: string, holds: (seen: Traced) => boolean) =>
  (seen: Traced): Effect.Effect<Traced, UnexpectedTraceError> => {
    if (holds(seen)) return Effect.succeed(seen)
    const message = [
      `it does not hold that ${sentence}`,
      `policy\n${explained(seen.policy)}\n`,
      `script ${formatScript(seen.script)}`,
      `trace\n${format(seen)}`
    ].join("\n")
    return Effect.fail(new UnexpectedTraceError({ message, trace: seen }))
  }

/** A trace that exceeds the bounds that `Recovery.explain` states. */
class ExceededError extends Data.TaggedError("ExceededError")<{
  readonly message: string
  readonly trace: Traced
  readonly explanation: Explanation.Explanation
}> {}

/**
 * Whether an error says all about a trace in its message.
 *
 * @internal
 */
export const isTraceError = (error: unknown): boolean =>
  error instanceof ExceededError || error instanceof UnexpectedTraceError

/** The rounding error, in milliseconds, that a sum of waits may have. */
const slack = 1e-3

/**
 * Compares a trace with the bounds of `Recovery.explain`. They are those of the policy itself, or of another policy whose waits you accept.
 * The bounds are the attempts and the sum of the waits; if the script has hints, the sum includes the waits that the policy grants to
 * servers. A trace beyond them is an `ExceededError`, with the trace and the explanation.
 */
export const assertWithin =
  (explanation: Explanation.Explanation) =>
  (seen: Traced): Effect.Effect<Traced, ExceededError> => {
    const { attempts, time, waits } = explanation.worst
    const inAll = waited(seen)
    const isHinted = seen.attempts.some(({ attempt }) => "hint" in stepOf(seen.script, attempt))
    const most = Duration.toMillis(isHinted ? time : waits)
    const found = [
      ...(seen.attempts.length > attempts ? [`${seen.attempts.length} attempts, more than ${attempts}`] : []),
      ...(inAll > most + slack ? [`${inAll} ms of waits, more than ${most}`] : [])
    ]
    if (found.length === 0) return Effect.succeed(seen)
    const message = [found.join("; "), Explanation.format(explanation), format(seen)].join("\n\n")
    return Effect.fail(new ExceededError({ message, trace: seen, explanation }))
  }
