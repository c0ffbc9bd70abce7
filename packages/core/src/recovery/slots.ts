/** The counts and schedules at each position of a table. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import type { Retry } from "./Node.ts"
import type { Position } from "./Position.ts"
import { Latest } from "./RetryBudget.ts"

/** A failure that a schedule or a handler has seen, and when. */
export interface Seen {
  readonly at: number
  readonly seen: unknown
}

export type StoredSlot = Position["slots"][number]

export type SlotPath = Omit<StoredSlot, "count" | "steps">

/** The counts at a position of the table. */
export interface Slot extends SlotPath {
  /** Fixer runs, or the rung that was reached. */
  count: number
  /** The schedule, once its first failure has come. */
  stepper: Stepper | undefined
  /** Its steps, if a position is wanted. */
  steps: StoredSlot["steps"]
  /** What its schedule knew at its last step. */
  last: Schedule.InputMetadata<unknown> | undefined
  /** The failures for which the handler was called. */
  readonly asked: Array<Seen>
  /** How many of these a schedule that it has chosen has read. */
  read: number
}

/** A schedule at work: gives the next wait, or nothing when it is done. */
export type Stepper = (
  now: number,
  seen: unknown
) => Pull.Pull<readonly [output: unknown, wait: Duration.Duration], unknown, unknown>

/** The schedule of a slot starts with the first failure that reaches it, and serves the slot from then on. */
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

/** Steps that were made before: what ended the schedule then would have ended the call, and what was withdrawn is withdrawn. */
export const replayed = (stepper: Stepper, steps: ReadonlyArray<Seen>): Effect.Effect<void> =>
  steps.length === 0
    ? Effect.void
    : Effect.provideService(
        // Mutants `{}`, `false` survive: all callers drop the value of the loop
        Effect.forEach(steps, ({ at, seen }) => Effect.exit(stepper(at, seen)), { discard: true }),
        Latest,
        -Infinity
      )
