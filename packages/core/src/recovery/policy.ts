/** The state of one call under a table: decides about each failure, and keeps counts, schedules and errors. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import { tagOf } from "../data/ErrorCause.ts"
import { hintFrom, hintOf } from "./Backoff.ts"
import { attemptCap, maxAttemptsPerCall } from "./bounds.ts"
import { type Bounds, type Leaves, type Origin, type Progress, type Repairs, type Row, type Trace } from "./Layer.ts"
import { firstRepeat, isRepeating } from "./repeating.ts"
import { isOptions, Names } from "./names.ts"
import type { Ask, Compact, VerdictRecord, FailureContext, Fix, Ladder, Node, Retry, When } from "./Node.ts"
import { answerOf, broken, type Ending, repeat, type Step } from "./repairing.ts"
import type { Position } from "./Position.ts"
import { Latest } from "./RetryBudget.ts"
import { begun, type StoredSlot, type SlotPath, replayed, type Seen, type Slot, type Stepper } from "./slots.ts"

export type { Ending } from "./repairing.ts"

/** The parts of a layer that a policy uses. */
export interface Guarded<R> {
  readonly repairs: Repairs<R>
  readonly bounds: Bounds
  readonly observe: (decision: VerdictRecord) => Effect.Effect<void>
}

/** Decides about a failure in the way of one kind of verdict. */
export type Follow<N> = <R>(policy: Policy<R>, node: N, failure: Failure) => Effect.Effect<Step, never, R>

/** A failure at a position in the table: its row, and the indices of the rungs on the way. */
export interface Failure {
  readonly error: unknown
  readonly row: Row
  readonly rungs: ReadonlyArray<number>
  /** The names of the verdicts that handlers chose on the way. */
  readonly chosen?: ReadonlyArray<string> | undefined
  /** Whether a person was asked about this failure before the run was suspended. That request is counted already. */
  readonly wasAsked?: boolean
  /** All failures for which a handler was called; set only if it chose a retry made from options. */
  readonly asked?: ReadonlyArray<Seen> | undefined
}

/** The policy of one call: its counts, schedules and errors. */
export class Policy<R> implements Progress {
  readonly layer: Guarded<R>
  readonly #clock: Clock.Clock
  readonly #start: number
  readonly failures: Array<unknown>
  readonly #trail: Array<VerdictRecord>
  readonly #slots = new Map<string, Slot>()
  readonly #names = new Names()
  readonly #maxAttempts: number
  readonly #remembered: number
  #attempts: number
  /** Repairs so far. */
  repairs: number
  #metadata = Schedule.CurrentMetadata.defaultValue()
  /** The index of the present failure in `failures`. */
  #present = 0
  /** Whether the next failure is the one about which a person was asked before the run was suspended. */
  #wasAsked: boolean

  constructor(layer: Guarded<R>, clock: Clock.Clock, start: number, from?: Origin) {
    this.layer = layer
    this.#clock = clock
    this.#start = start
    this.#maxAttempts = layer.bounds.maxAttempts ?? maxAttemptsPerCall
    this.#remembered = layer.bounds.remembered ?? Infinity
    const { failed, failures = [], position, trail = [] } = from ?? {}
    this.#wasAsked = failed !== undefined
    this.failures = [...failures]
    this.#trail = [...trail]
    // a policy is made at the first failure, so one attempt has been made
    this.#attempts = position?.attempts ?? 1
    this.repairs = position?.repairs ?? 0
    if (position !== undefined) this.#names.resume(position.slots.flatMap(({ chosen = [] }) => chosen))
    for (const { count, steps, ...path } of position?.slots ?? []) {
      const asked: ReadonlyArray<Seen> = path.kind === "when" ? steps : []
      Object.assign(this.#slot(path), { count, steps, asked: [...asked] })
    }
  }

  trace(): Trace {
    return { attempts: this.made, failures: this.failures, trail: this.#trail }
  }

  /** The metadata of the schedule step that led to the next attempt. */
  metadata(): Schedule.Metadata {
    return this.#metadata
  }

  next(): number {
    this.#attempts++
    return this.made
  }

  /** The number of attempts of the call so far. */
  get made(): number {
    return this.#attempts + (this.layer.bounds.extra?.made ?? 0)
  }

  /** The position of the policy before a wait of `delay`. */
  position(delay = Duration.zero): Position {
    return {
      version: 2,
      attempts: this.made,
      repairs: this.repairs,
      startedAt: this.#start,
      wakeAt: this.#clock.currentTimeMillisUnsafe() + Duration.toMillis(delay),
      slots: Array.from(this.#slots.values()).flatMap(({ chosen, count, kind, row, rungs, steps }) => {
        const path = { row, rungs, ...(chosen === undefined ? {} : { chosen }), kind }
        return count === 0 && steps.length === 0 ? [] : [{ ...path, count, steps }]
      })
    }
  }

  decide(error: unknown, row: Row | undefined): Effect.Effect<Step, never, R> {
    const wasAsked = this.#wasAsked
    this.#wasAsked = false
    if (wasAsked) this.failures.pop()
    this.#present = this.remember(this.failures, error)
    return row === undefined
      ? Effect.succeed({ type: "left", why: "rethrown", error })
      : this.#follow(row.verdict, { error, row, rungs: [], wasAsked })
  }

  #follow(node: Node, failure: Failure): Effect.Effect<Step, never, R> {
    const { error, row } = failure
    switch (node.kind) {
      case "ladder":
        return this.#climb(node, failure)
      case "when":
        return Effect.suspend(() => this.#ask(node, failure))
      case "retry":
        return this.#retry(node, failure)
      case "fix":
      case "ask":
      case "compact":
        // the cast is safe: `following.ts` alone makes this field
        return (node.follow as Follow<typeof node>)(this, node, failure)
      case "tell": {
        const { afterwards, byDefault, render } = node
        const context = this.context(failure)
        const ending = { type: "to-model", render, byDefault, afterwards, error, seen: row.seen, context } as const
        return this.#ended(node.kind, failure, ending)
      }
      case "escalate": {
        const { kind: by, severity } = node
        return this.#ended(by, failure, { type: "escalated", reason: error, severity, by, error })
      }
      case "raise":
        return this.#ended(node.kind, failure, { type: "raised", error })
      case "rethrow":
        return this.#ended(node.kind, failure, { type: "left", why: "rethrown", error })
      case "respondWith":
        return this.record(
          node.kind,
          failure,
          Effect.matchCauseEffect(answerOf(node, failure), {
            onSuccess: (value) => Effect.succeed<Step>({ type: "answered", value, by: "respondWith" }),
            onFailure: broken
          })
        )
    }
  }

  #ask(node: When, failure: Failure): Effect.Effect<Step, never, R> {
    const chosen = node.choose(failure.row.seen, this.context(failure))
    if (node.among?.includes(chosen) === false) {
      return Effect.die(new TypeError("Recovery.when: it chose a verdict that is not among those that it named"))
    }
    const slot = this.slotOf("when", failure)
    if (slot.count >= (node.atMost ?? Infinity) && isRepeating(chosen)) {
      const path = [...(failure.chosen ?? []), this.#names.of(chosen)]
      return this.gaveUp(firstRepeat(chosen) ?? { kind: "retry" }, { ...failure, chosen: path })
    }
    return Effect.map(this.#follow(chosen, this.#chosen(chosen, failure, slot)), (step) => {
      if (step.type === "repeat") slot.count++
      return step
    })
  }

  /**
   * Counts a choice of a handler under its name. A retry made from options reads all failures of the handler; a schedule reads only the
   * failures for which it was chosen.
   */
  #chosen(node: Node, failure: Failure, slot: Slot): Failure {
    const { seen } = failure.row
    const { asked } = failure.wasAsked === true ? slot : this.#noted(slot, seen)
    if (failure.wasAsked !== true) asked.push({ at: this.#clock.currentTimeMillisUnsafe(), seen })
    const chosen = [...(failure.chosen ?? []), this.#names.of(node)]
    return { ...failure, chosen, asked: node.kind === "retry" && isOptions(node) ? asked : undefined }
  }

  /** Stores a failure in the slot, if the layer stores positions. */
  #noted(slot: Slot, error: unknown): Slot {
    const seen = this.layer.bounds.keep?.(error)
    if (seen !== undefined) slot.steps = [...slot.steps, { at: this.#clock.currentTimeMillisUnsafe(), seen }]
    return slot
  }

  /** Follows the reached rung of a ladder. A rung that gave up never decides again. */
  #climb(ladder: Ladder, failure: Failure): Effect.Effect<Step, never, R> {
    const slot = this.slotOf("ladder", failure)
    const reached = slot.count
    const rung = ladder.rungs[reached]
    if (rung === undefined) return Effect.succeed({ type: "left", why: "exhausted", error: failure.error })
    const descended = { ...failure, rungs: [...failure.rungs, reached] }
    return Effect.flatMap(this.#follow(rung, descended), (step) => {
      const isUsedUp = step.type === "left" && step.why === "exhausted"
      if (!isUsedUp || reached === ladder.rungs.length - 1) return Effect.succeed(step)
      slot.count = reached + 1
      return this.#climb(ladder, { ...failure, wasAsked: false })
    })
  }

  #retry(node: Retry, failure: Failure): Effect.Effect<Step, never, R> {
    if (this.isHalted) return this.gaveUp(node, failure)
    if (!failure.row.admits(node)) return this.gaveUp(node, failure, undefined, false, failure.row.why)
    if (this.made >= this.#maxAttempts) return this.gaveUp(node, failure, attemptCap)
    const slot = this.slotOf("retry", failure)
    const stepper = slot.stepper === undefined ? begun(node, slot) : Effect.succeed(slot.stepper)
    return Effect.flatMap(stepper, (stepper) => {
      const missed = failure.asked?.slice(slot.read, -1) ?? []
      if (failure.asked === undefined) this.#noted(slot, failure.row.seen)
      else slot.read = failure.asked.length
      return Effect.flatMap(replayed(stepper, missed), () => this.#step(stepper, slot, node, failure))
    })
  }

  #step(stepper: Stepper, slot: Slot, node: Retry, failure: Failure): Effect.Effect<Step, never, R> {
    const { bounds } = this.layer
    const { seen } = failure.row
    const at = this.#clock.currentTimeMillisUnsafe()
    const deadline = bounds.deadline()
    // a retry that would start after the deadline takes nothing from a retry budget
    return Pull.matchEffect(Effect.provideService(stepper(at, seen), Latest, deadline), {
      onSuccess: ([output, delay]) => {
        if (this.#clock.currentTimeMillisUnsafe() + Duration.toMillis(delay) > deadline) {
          return this.gaveUp(node, failure, undefined, true)
        }
        if (slot.last !== undefined) this.#metadata = { ...slot.last, output, duration: delay }
        const position = Effect.suspend(() => bounds.onWait?.(this.position(delay)) ?? Effect.void)
        const waited = Effect.suspend(() => (Duration.isZero(delay) ? Effect.void : bounds.wait(delay)))
        const ready = Effect.flatMap(Effect.andThen(position, waited), () =>
          this.isHalted ? this.gaveUp(node, failure) : Effect.succeed(repeat)
        )
        return this.record(node.kind, failure, ready, { delay })
      },
      onDone: () => this.gaveUp(node, failure),
      onFailure: broken
    })
  }

  get isHalted(): boolean {
    return this.#clock.currentTimeMillisUnsafe() >= (this.layer.bounds.haltedAt?.() ?? Infinity)
  }

  #ended(verdict: VerdictRecord["verdict"], failure: Failure, ending: Ending): Effect.Effect<Step> {
    return this.record(verdict, failure, Effect.succeed(ending))
  }

  gaveUp(
    { kind }: Pick<Retry | Fix | Ask | Compact, "kind">,
    { error, ...failure }: Failure,
    cap?: string,
    isLate?: boolean,
    why?: VerdictRecord["why"]
  ) {
    const ending: Leaves = { type: "left", why: "exhausted", error, cap, isLate, isHalted: this.isHalted }
    return this.record(kind, { error, ...failure }, Effect.succeed<Step>(ending), {
      gaveUp: true,
      ...(why === undefined ? {} : { why })
    })
  }

  /** Records a decision of the policy, then continues with `next`. */
  record<A, E, R2>(
    verdict: VerdictRecord["verdict"],
    { error, rungs }: Failure,
    next: Effect.Effect<A, E, R2>,
    { delay = Duration.zero, gaveUp = false, why }: Partial<Pick<VerdictRecord, "delay" | "gaveUp" | "why">> = {}
  ): Effect.Effect<A, E, R2> {
    const hint = hintOf(error)
    const left = this.layer.bounds.left()
    const decision: VerdictRecord = {
      tag: tagOf(error),
      verdict,
      gaveUp,
      ...(why === undefined ? {} : { why }),
      rung: rungs.at(-1) ?? 0,
      attempt: this.made,
      delay,
      error,
      ...(left === undefined ? {} : { left }),
      ...(hint === undefined ? {} : { hint: Duration.millis(hint), hintFrom: tagOf(hintFrom(error)?.carrier) })
    }
    this.remember(this.#trail, decision)
    return Effect.andThen(this.layer.observe(decision), next)
  }

  remember<A>(list: Array<A>, item: A): number {
    if (list.push(item) > this.#remembered) list.shift()
    return list.length - 1
  }

  context({ row }: Failure): FailureContext {
    return {
      ...row.about,
      attempt: this.made,
      previous: this.failures.filter((_, index) => index !== this.#present),
      elapsed: Duration.millis(this.#clock.currentTimeMillisUnsafe() - this.#start)
    }
  }

  slotOf(kind: StoredSlot["kind"], { chosen, row, rungs }: Failure): Slot {
    return this.#slot({ kind, row: row.key, rungs, ...(chosen === undefined ? {} : { chosen }) })
  }

  #slot(path: SlotPath): Slot {
    const key = JSON.stringify([path.kind, path.row, path.rungs, path.chosen])
    const existing = this.#slots.get(key)
    if (existing !== undefined) return existing
    const slot: Slot = { ...path, count: 0, stepper: undefined, steps: [], last: undefined, asked: [], read: 0 }
    this.#slots.set(key, slot)
    return slot
  }
}
