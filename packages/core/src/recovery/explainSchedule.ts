/** Tries schedules out: steps them by hand, with a clock that jumps from wait to wait and with the extremes of chance. */
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

/** The rows that more than one tag can reach. */
const wide: ReadonlySet<string> = new Set(["orElse", "ExecutionError", "InvalidArgs"])

/** Those of a user that may reach the row, else the most generous advice that goes with its tag. */
export const samplesFor = (key: string, errors: ReadonlyArray<unknown> = []): ReadonlyArray<unknown> => {
  const own = wide.has(key) ? errors : errors.filter((error) => tagOf(error) === key)
  return own.length > 0 ? own : [{ _tag: key, ...mostFor(key) }]
}

/** The shortest and the longest waits of these schedules, over all samples and all jitter. */
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

/** The least and the greatest that chance can give, and the middle. */
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
        // its own failure ends a schedule; a defect says that the sample is not what it expects
        onFailure: (cause) => (Cause.hasDies(cause) ? Effect.failCause(cause) : Effect.succeed(undefined))
      })
      if (wait === undefined) break
      waits.push(wait)
      now += wait
    }
    return waits
  })
  // what the schedule needs is not here: then it cannot be tried out
  const exit = Effect.runSyncExit(
    (stepping as Effect.Effect<ReadonlyArray<number>, unknown>).pipe(
      Effect.provideService(Random.Random, chance),
      // none of these retries is made
      Effect.provideService(Latest, -Infinity)
    )
  )
  return Exit.isSuccess(exit) ? exit.value : undefined
}
