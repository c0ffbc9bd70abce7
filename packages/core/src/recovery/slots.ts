/** The counts and schedules of a policy, one slot for each position in its table. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import type { Retry } from "./Node.ts"
import type { Position } from "./Position.ts"
import { Latest } from "./RetryBudget.ts"

/** A failure that a schedule or a handler has read, and the instant of the reading. */
export interface Seen {
  readonly at: number
  readonly seen: unknown
}

export type StoredSlot = Position["slots"][number]

export type SlotPath = Omit<StoredSlot, "count" | "steps">

/** The counts and the schedule at one position of the table. */
export interface Slot extends SlotPath {
  /** The runs of a fixer, the index of the reached rung, the requests to a person, or the repetitions of a handler. */
  count: number
  /** The started schedule; `undefined` until its first failure. */
  stepper: Stepper | undefined
  /** The steps of the schedule, if the layer stores positions. */
  steps: StoredSlot["steps"]
  /** The metadata of the last step of the schedule. */
  last: Schedule.InputMetadata<unknown> | undefined
  /** The failures for which the handler of this slot was called. */
  readonly asked: Array<Seen>
  /** How many failures of the handler (`Failure.asked`) the schedule of this slot has read. */
  read: number
}

/** A started schedule. It returns the next wait, or ends. */
export type Stepper = (
  now: number,
  seen: unknown
) => Pull.Pull<readonly [output: unknown, wait: Duration.Duration], unknown, unknown>

/** Starts the schedule of a slot at its first failure, and stores it in the slot. */
export const begun = (node: Retry, slot: Slot): Effect.Effect<Stepper> =>
  Effect.flatMap(Schedule.toStep(node.schedule), (step) => {
    const stepper: Stepper = (now, input) => {
      const { attempt = 0, now: previous = now, start = now } = slot.last ?? {}
      const since = { elapsed: now - start, elapsedSincePrevious: now - previous }
      slot.last = { input, attempt: attempt + 1, start, now, ...since }
      return step(now, input)
    }
    slot.stepper = stepper
    return Effect.as(replayed(stepper, slot.steps), stepper)
  })

/**
 * Passes earlier failures to a schedule, which makes the same steps again. Their waits and ends are ignored, and they take nothing from a
 * retry budget.
 */
export const replayed = (stepper: Stepper, steps: ReadonlyArray<Seen>): Effect.Effect<void> =>
  // Mutant `false` survives: speed only. A loop over no steps does nothing
  steps.length === 0
    ? Effect.void
    : Effect.provideService(
        // Mutants `{}`, `false` survive: all callers drop the value of the loop
        Effect.forEach(steps, ({ at, seen }) => Effect.exit(stepper(at, seen)), { discard: true }),
        Latest,
        -Infinity
      )
