/** Schedules put together: policies of ours as leaves, Effect's combinators between them. */
import { Backoff, Recovery } from "@kintsugi/core"
import { Duration, Effect, Schedule, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import fc from "fast-check"
import { draw, drawing, guardedBy, jittered, options, type Options } from "./policies.ts"
import { allFailing, type Play, type Script, stepOf, type Trace } from "../../_support/laws.ts"
import * as Waits from "../../_support/waits.ts"

export type Timing = Schedule.Schedule<unknown, unknown>

/** How schedules are combined. The laws hold for Effect's own, and have to tell these from any that are a little wrong. */
export interface Operations {
  readonly both: (one: Timing, other: Timing) => Timing
  readonly either: (one: Timing, other: Timing) => Timing
  readonly concat: (one: Timing, other: Timing) => Timing
  /** Each wait, in milliseconds, becomes another one. */
  readonly map: (self: Timing, change: (millis: number) => number) => Timing
  /** Ends at the first failure. */
  readonly stop: Timing
  /** Never waits, never ends. */
  readonly forever: Timing
}

export const effects: Operations = {
  both: (one, other) => Schedule.max([one, other]),
  either: (one, other) => Schedule.min([one, other]),
  concat: (one, other) => Schedule.concat(one, other),
  map: (self, change) =>
    Schedule.modifyDelay(self, ({ duration }) => Effect.succeed(change(Duration.toMillis(duration)))),
  stop: Schedule.recurs(0),
  forever: Schedule.forever
}

export const cap = ({ map }: Operations, self: Timing, most: number): Timing =>
  map(self, (millis) => Math.min(millis, most))

/** A policy of ours; hints may end it, and then it may go on at the next failure that has none. */
const anyOptions: fc.Arbitrary<Options> = fc.oneof(options, jittered)

export interface Case {
  readonly a: Options
  readonly b: Options
  readonly c: Options
  readonly x: number
  readonly y: number
  readonly script: Script
  readonly draw: number
}

const most = fc.integer({ min: 0, max: 20_000 })

/** The hint of a server, in one of four failures: at most the wait that a policy made of others grants by default. */
const hint = Arbitrary.schema(
  Schema.Union([
    Schema.Undefined,
    Schema.Undefined,
    Schema.Undefined,
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60_000 }))
  ])
)

export const algebraic: fc.Arbitrary<Case> = fc.record({
  a: anyOptions,
  b: anyOptions,
  c: anyOptions,
  x: most,
  y: most,
  script: allFailing(undefined, hint),
  draw
})

/** The waits that a schedule decides on for the failures of a script, nothing being run; more than three policies have together. */
export const decided = ({ draw, script }: Case, schedule: Timing): Effect.Effect<ReadonlyArray<number>> => {
  const errors = Array.from({ length: 24 }, (_, index) => {
    const step = stepOf(script, index + 1)
    return Waits.hinting(step.does === "fail" ? step.hint : undefined)
  })
  return Waits.drawing(draw)(Waits.waits(schedule, errors))
}

/** What a run makes of a script under a retry by that schedule. */
export const ran = (play: Play, { draw, script }: Case, schedule: Timing): Effect.Effect<Trace> =>
  play(script, drawing(draw, guardedBy({ orElse: Recovery.retry(schedule) })))

export const ours = (options: Options): Timing => Backoff.make(options)
