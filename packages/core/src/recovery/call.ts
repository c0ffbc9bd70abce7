/** The failing path of one call: what its table decides, failure by failure, and the counts that it keeps meanwhile. */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import { hintFrom, hintOf } from "./Backoff.ts"
import { tagOf } from "../data/ErrorCause.ts"
import type { VerdictKind } from "../errors/Trail.ts"
import * as Returned from "../data/Returned.ts"
import { Latest } from "./RetryBudget.ts"
import type { Position } from "./Position.ts"
import {
  type Compactions,
  type Ending,
  type Origin,
  type Progress,
  type Rules,
  type Trace,
  untouchable
} from "./rules.ts"
import { maxAttemptsPerCall, maxCompactions, maxRepairRounds } from "./bounds.ts"
import type { Compact, Decision, FailureContext, Fix, Ladder, Node, RespondWith, Retry } from "./Node.ts"

const attemptCap = `${maxAttemptsPerCall} attempts per call`

export type Step = Ending | { readonly type: "again" }

const again: Step = { type: "again" }
const goingOn = Effect.succeed(again)

/** Goes on once something was told; what is told to nobody takes no step. */
const after = <A, R>(told: Effect.Effect<void>, next: () => Effect.Effect<A, never, R>): Effect.Effect<A, never, R> =>
  // Mutant `false` survives: speed only. Where `told` does nothing, going on takes two steps more
  told === Effect.void ? next() : Effect.flatMap(told, next)

type Kept = Position["slots"][number]

/** A row, and the rungs on the way down from it: never the identity of a verdict. */
type Where = Pick<Kept, "row" | "rungs">

interface Slot extends Omit<Kept, "count" | "steps"> {
  /** Fixer runs, or the rung that was reached. */
  count: number
  /** The schedule, once its first failure has come. */
  stepper: Stepper | undefined
  /** Its steps, where a position is asked for. */
  steps: Kept["steps"]
}

/** A schedule at work: gives the next wait, or nothing when it is done. */
type Stepper = (now: number, seen: unknown) => Pull.Pull<readonly [unknown, Duration.Duration], unknown, unknown>

/** Counts, schedules and errors of one call. */
export class Call<R> implements Progress {
  readonly #rules: Rules<R>
  readonly #clock: Clock.Clock
  readonly #start: number
  readonly #failures: Array<unknown> = []
  readonly #trail: Array<Decision> = []
  readonly #slots = new Map<string, Slot>()
  #attempts = 1
  /** Where the failure that is being decided about stands among all. */
  #present = 0
  #rounds = 0
  readonly #compactions: Compactions

  constructor(rules: Rules<R>, clock: Clock.Clock, start: number, from?: Origin) {
    this.#rules = rules
    this.#compactions = rules.compactions ?? { made: 0 }
    this.#clock = clock
    this.#start = start
    if (from === undefined) return
    const { failures = [], position, trail = [] } = from
    this.#attempts = position.attempts
    this.#rounds = position.rounds
    for (const { count, steps, ...where } of position.slots)
      Object.assign(this.#slot(where.kind, where), { count, steps })
    this.#failures.push(...failures)
    this.#trail.push(...trail)
  }

  #slot(kind: Kept["kind"], { row, rungs }: Where): Slot {
    const key = JSON.stringify([kind, row, rungs])
    const known = this.#slots.get(key)
    if (known !== undefined) return known
    const slot: Slot = { row, rungs, kind, count: 0, stepper: undefined, steps: [] }
    this.#slots.set(key, slot)
    return slot
  }

  trace(): Trace {
    return { attempts: this.#attempts, failures: this.#failures, trail: this.#trail }
  }

  next(): number {
    return ++this.#attempts
  }

  decide(error: unknown): Effect.Effect<Step, never, R> {
    this.#present = this.#failures.push(error) - 1
    const row = this.#rules.row(error)
    if (row === undefined) return Effect.succeed({ type: "rethrown", error })
    return this.#follow(row.verdict, { row: row.key, rungs: [] }, 0, { error, seen: row.seen })
  }

  #follow(node: Node, where: Where, rung: number, failure: Failure): Effect.Effect<Step, never, R> {
    switch (node.kind) {
      case "ladder":
        return this.#climb(node, where, failure)
      case "when":
        return Effect.suspend(() => {
          const chosen = node.choose(failure.seen, this.#context())
          return node.among?.includes(chosen) === false
            ? Effect.die(new TypeError("Recovery.when: it chose a verdict that is not among those that it named"))
            : this.#follow(chosen, where, rung, failure)
        })
      case "retry":
        return this.#retry(node, where, rung, failure)
      case "fix":
        return this.#fix(node, where, rung, failure)
      case "compact":
        return this.#compact(node, rung, failure)
      case "tell":
        return this.#ended(node.kind, rung, failure, {
          type: "told",
          render: node.render,
          afterwards: node.afterwards,
          error: failure.error,
          seen: failure.seen,
          context: this.#context()
        })
      case "escalate":
        return this.#ended(node.kind, rung, failure, {
          type: "escalated",
          reason: failure.error,
          severity: node.severity,
          by: "escalate",
          error: failure.error
        })
      case "raise":
        return this.#ended(node.kind, rung, failure, { type: "raised", error: failure.error })
      case "rethrow":
        return this.#ended(node.kind, rung, failure, { type: "rethrown", error: failure.error })
      case "respondWith":
        return after(this.#report(node.kind, rung, failure, Duration.zero), () =>
          this.#handle(answerOf(node, failure), (value) => ({ type: "answered", value, by: "respondWith" }))
        )
    }
  }

  /** Goes on with the rung that was reached; one that gave up is never asked again. */
  #climb(ladder: Ladder, where: Where, failure: Failure): Effect.Effect<Step, never, R> {
    const place = this.#slot("ladder", where)
    const reached = place.count
    const rung = ladder.rungs[reached]
    if (rung === undefined) return Effect.succeed({ type: "exhausted", error: failure.error })
    const below = { ...where, rungs: [...where.rungs, reached] }
    return Effect.flatMap(this.#follow(rung, below, reached, failure), (step) => {
      if (step.type !== "exhausted" || reached === ladder.rungs.length - 1) return Effect.succeed(step)
      place.count = reached + 1
      return this.#climb(ladder, where, failure)
    })
  }

  #retry(node: Retry, where: Where, rung: number, failure: Failure): Effect.Effect<Step, never, R> {
    if (!this.#rules.admits(node, failure.error)) return this.#exhausted(node.kind, rung, failure)
    if (this.#attempts >= maxAttemptsPerCall) return this.#exhausted(node.kind, rung, failure, attemptCap)
    const place = this.#slot("retry", where)
    const step = (stepper: Stepper) => this.#step(stepper, place, node, rung, failure)
    return place.stepper === undefined ? Effect.flatMap(begun(node, place), step) : step(place.stepper)
  }

  #step(stepper: Stepper, place: Slot, node: Retry, rung: number, failure: Failure): Effect.Effect<Step, never, R> {
    const at = this.#clock.currentTimeMillisUnsafe()
    const deadline = this.#rules.deadline()
    const kept = this.#rules.keep?.(failure.seen)
    if (kept !== undefined) place.steps = [...place.steps, { at, seen: kept }]
    // what the run has no time for is not made
    return Pull.matchEffect(Effect.provideService(stepper(at, failure.seen), Latest, deadline), {
      onSuccess: ([, delay]) => {
        if (this.#clock.currentTimeMillisUnsafe() + Duration.toMillis(delay) > deadline) {
          return this.#exhausted(node.kind, rung, failure, undefined, true)
        }
        return after(this.#report(node.kind, rung, failure, delay), () =>
          after(this.#tellPosition(delay), () =>
            Duration.isZero(delay) ? goingOn : Effect.as(this.#rules.wait?.(delay) ?? Effect.sleep(delay), again)
          )
        )
      },
      onDone: () => this.#exhausted(node.kind, rung, failure),
      onFailure: broken
    })
  }

  #tellPosition(delay: Duration.Duration): Effect.Effect<void> {
    return this.#rules.onWait?.(this.position(delay)) ?? Effect.void
  }

  /** Where it stands now, with so long to wait. */
  position(delay = Duration.zero): Position {
    return {
      version: 1,
      attempts: this.#attempts,
      rounds: this.#rounds,
      startedAt: this.#start,
      wakeAt: this.#clock.currentTimeMillisUnsafe() + Duration.toMillis(delay),
      slots: Array.from(this.#slots.values()).flatMap(({ count, kind, row, rungs, steps }) =>
        count === 0 && steps.length === 0 ? [] : [{ row, rungs, kind, count, steps }]
      )
    }
  }

  #compact(node: Compact, rung: number, failure: Failure): Effect.Effect<Step, never, R> {
    const rules = this.#rules
    if (rules.compact === undefined) {
      return Effect.die(new TypeError("Recovery.compact: only a model call has a conversation"))
    }
    if (this.#compactions.made >= maxCompactions || this.#attempts >= maxAttemptsPerCall) {
      return this.#exhausted(node.kind, rung, failure)
    }
    return Effect.flatMap(rules.compact(node, failure.error), (compacted): Effect.Effect<Step> => {
      switch (compacted.type) {
        case "shorter":
          this.#compactions.made++
          return after(this.#report(node.kind, rung, failure, Duration.zero), () => goingOn)
        case "fatal":
          return Effect.succeed({ type: "failed", error: compacted.error })
        case "gave up":
          if ("error" in compacted) this.#failures.push(compacted.error)
          return this.#exhausted(node.kind, rung, failure)
      }
    })
  }

  #fix(node: Fix, where: Where, rung: number, failure: Failure): Effect.Effect<Step, never, R> {
    return this.#rules.admits(node, failure.error)
      ? this.#fixNext(node, where, rung, failure)
      : this.#exhausted(node.kind, rung, failure)
  }

  #fixNext(node: Fix, where: Where, rung: number, failure: Failure): Effect.Effect<Step, never, R> {
    const place = this.#slot("fix", where)
    const run = place.count + 1
    if (run > node.maxRuns) return this.#exhausted(node.kind, rung, failure)
    if (this.#attempts >= maxAttemptsPerCall) return this.#exhausted(node.kind, rung, failure, attemptCap)
    if (this.#rounds >= maxRepairRounds) {
      return this.#exhausted(node.kind, rung, failure, `${maxRepairRounds} repair rounds per call`)
    }
    place.count = run
    this.#rounds++
    const round = { run, maxRuns: node.maxRuns, context: this.#context() }
    return after(this.#report(node.kind, rung, failure, Duration.zero), () =>
      Effect.flatMap(this.#rules.fix(node, failure.seen, round), (fixed): Effect.Effect<Step, never, R> => {
        switch (fixed.type) {
          case "repaired":
            return goingOn
          case "answered":
            return Effect.succeed({ type: "answered", value: fixed.value, by: "fix" })
          case "escalated":
            return Effect.succeed({
              type: "escalated",
              reason: fixed.reason,
              severity: fixed.severity,
              by: "fix",
              error: failure.error
            })
          case "fatal":
            return Effect.succeed({ type: "failed", error: fixed.error })
          case "skipped":
            return this.#exhausted(node.kind, rung, failure)
          case "failed":
            this.#failures.push(fixed.error)
            return this.#fixNext(node, where, rung, "next" in fixed ? { error: fixed.next, seen: fixed.next } : failure)
        }
      })
    )
  }

  /** Runs what a user hung into the table. */
  #handle<A>(effect: Effect.Effect<A, unknown>, then: (value: A) => Step): Effect.Effect<Step> {
    return Effect.matchCauseEffect(effect, {
      onSuccess: (value) => Effect.succeed(then(value)),
      onFailure: broken
    })
  }

  #ended(verdict: VerdictKind, rung: number, failure: Failure, ending: Ending): Effect.Effect<Step> {
    const told = this.#report(verdict, rung, failure, Duration.zero, ending.type === "exhausted")
    return after(told, () => Effect.succeed(ending))
  }

  #exhausted(
    verdict: VerdictKind,
    rung: number,
    failure: Failure,
    cap?: string,
    isLate?: boolean
  ): Effect.Effect<Step> {
    return this.#ended(verdict, rung, failure, { type: "exhausted", error: failure.error, cap, isLate })
  }

  #report(
    verdict: VerdictKind,
    rung: number,
    failure: Failure,
    delay: Duration.Duration,
    gaveUp = false
  ): Effect.Effect<void> {
    const hint = hintOf(failure.error)
    const left = this.#rules.left()
    const decision: Decision = {
      tag: tagOf(failure.error),
      verdict,
      gaveUp,
      rung,
      attempt: this.#attempts,
      delay,
      error: failure.error,
      ...(left === undefined ? {} : { left }),
      ...(hint === undefined ? {} : { hint: Duration.millis(hint), hintFrom: tagOf(hintFrom(failure.error)) })
    }
    this.#trail.push(decision)
    return this.#rules.observe(decision)
  }

  #context(): FailureContext {
    return {
      ...this.#rules.about(),
      attempt: this.#attempts,
      previous: this.#failures.filter((_, index) => index !== this.#present),
      elapsed: Duration.millis(this.#clock.currentTimeMillisUnsafe() - this.#start)
    }
  }
}

/** The schedule of a slot starts with the first failure that reaches it, and serves the slot from then on. */
const begun = (node: Retry, place: Slot): Effect.Effect<Stepper> =>
  Effect.flatMap(Schedule.toStep(node.schedule), (stepper) => {
    place.stepper = stepper
    const { steps } = place
    // Mutant `false` survives: speed only. Without steps, the loop makes none
    if (steps.length === 0) return Effect.succeed(stepper)
    // whatever ended it before the restart would have ended the call, and whatever was withdrawn is withdrawn
    // Mutants `{}`, `false` survive: `Effect.as` drops the value of the loop
    const again = Effect.forEach(steps, ({ at, seen }) => Effect.exit(stepper(at, seen)), { discard: true })
    return Effect.as(Effect.provideService(again, Latest, -Infinity), stepper)
  })

const answerOf = ({ answer }: RespondWith, { error, seen }: Failure): Effect.Effect<unknown, unknown> =>
  Returned.effect(answer(seen), "The function of Recovery.respondWith for", tagOf(error))

/** Something failed that a user hung into the table: its failure leaves unwrapped, its defects and interruptions pass. */
const broken = (cause: Cause.Cause<unknown>): Effect.Effect<Step> => {
  const passing = untouchable(cause)
  if (passing !== undefined) return Effect.failCause(passing)
  return Effect.succeed({ type: "failed", error: Cause.squash(cause) })
}

interface Failure {
  readonly error: unknown
  /** The error as the row's callbacks see it. */
  readonly seen: unknown
}
