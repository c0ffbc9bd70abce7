/** Measures schedules without waiting: steps them by hand, with a simulated clock and the extremes of `Random`. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pull from "effect/Pull"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import { maxHintOf } from "./Backoff.ts"
import { tagOf } from "../data/ErrorCause.ts"
import type { Explanation } from "./Explanation.ts"
import { mostFor } from "../errors/RecoveryAdvice.ts"
import { Latest } from "./RetryBudget.ts"
import type { Retry } from "./Node.ts"
import { maxAttemptsPerCall } from "./bounds.ts"

type Rung = Explanation["rows"][number]["rungs"][number]
type Wait = Rung["waits"][number]

/** The rows that failures with several tags can reach. */
const wide: ReadonlySet<string> = new Set(["orElse", "ExecutionError", "InvalidArgs"])

/** The given failures that may reach the row; without any, one failure with the longest advice for the tag of the row. */
export const samplesFor = (key: string, errors: ReadonlyArray<unknown> = []): ReadonlyArray<unknown> => {
  const own = wide.has(key) ? errors : errors.filter((error) => tagOf(error) === key)
  return own.length > 0 ? own : [{ _tag: key, ...mostFor(key) }]
}

/** The shortest and the longest waits of these schedules, over all sample failures and random draws. */
export const steps = (
  schedules: ReadonlyArray<Retry["schedule"]>,
  samples: ReadonlyArray<unknown>
): Pick<Rung, "waits" | "maxHint" | "unknown"> => {
  const runs = schedules.flatMap((schedule) =>
    samples.flatMap((sample) => draws.map((draw) => waitsOf(schedule, sample, draw)))
  )
  const maxHint = Duration.millis(Math.max(...schedules.map((schedule) => maxHintOf(schedule) ?? 0)))
  const measured = runs.filter((run) => run !== undefined)
  if (measured.length < runs.length) {
    return { waits: [], maxHint, unknown: "its schedule cannot be tried out: name the errors that it may meet" }
  }
  const length = Math.max(...measured.map((run) => run.length))
  const waits = Array.from({ length }, (_, index): Wait => {
    const met = measured.flatMap((run) => run[index] ?? [])
    return { least: Duration.millis(Math.min(...met)), most: Duration.millis(Math.max(...met)) }
  })
  return { waits, maxHint }
}

/** The least, the middle and the greatest random number. */
const draws: ReadonlyArray<number> = [0, 0.5, 1]

const waitsOf = (schedule: Retry["schedule"], sample: unknown, draw: number): ReadonlyArray<number> | undefined => {
  const chance: Random.Random = {
    nextDoubleUnsafe: () => draw,
    nextIntUnsafe: () => Math.round((draw - 0.5) * 2 * Number.MAX_SAFE_INTEGER)
  }
  const stepping = Effect.gen(function* () {
    const step = yield* Schedule.toStep(schedule)
    const waits: Array<number> = []
    let now = 0
    while (waits.length < maxAttemptsPerCall - 1) {
      const wait = yield* Pull.matchEffect(step(now, sample), {
        onSuccess: ([, delay]) => Effect.succeed(Duration.toMillis(delay)),
        onDone: () => Effect.succeed(undefined),
        // a failure ends a schedule; a defect means that the schedule does not accept the sample
        onFailure: (cause) => (Cause.hasDies(cause) ? Effect.failCause(cause) : Effect.succeed(undefined))
      })
      if (wait === undefined) break
      waits.push(wait)
      now += wait
    }
    return waits
  })
  // the services of the schedule are missing here, so one that needs a service cannot be measured
  const exit = Effect.runSyncExit(
    (stepping as Effect.Effect<ReadonlyArray<number>, unknown>).pipe(
      Effect.provideService(Random.Random, chance),
      // measuring makes no retry, so it takes nothing from a retry budget
      Effect.provideService(Latest, -Infinity)
    )
  )
  return Exit.isSuccess(exit) ? exit.value : undefined
}
