/** The clock and the random numbers of a durable run: each fiber gets those of its line, which is its run or its tool call. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Random from "effect/Random"
import * as RunContext from "@kintsugi/core/RunContext"
import type { Line, Lines } from "./lines.ts"

/** The line (run or tool call) of the fiber that is running now. */
export const present = (lines: Lines): Line => lines.of(Fiber.getCurrent()?.getRef(RunContext.Current))

/**
 * A clock that gives the recorded time of the last result of the fiber's line. It sleeps by that time too. A fiber outside of runs, such as
 * a listener, sleeps by the real clock.
 */
export const clock = (lines: Lines, real: Clock.Clock): Clock.Clock => {
  const millis = () => present(lines).time
  const nanos = () => BigInt(Math.round(millis() * 1_000_000))
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.withFiber((fiber) => {
        const run = fiber.getRef(RunContext.Current)
        return run === undefined || !Duration.isPositive(duration)
          ? real.sleep(duration)
          : lines.of(run).sleep(duration, real)
      })
  }
}

/** Random numbers that depend only on the execution, the line, and the number of earlier draws in the line. So a replay draws the same. */
export const random = (lines: Lines): Random.Random => ({
  nextIntUnsafe: () => present(lines).random.nextIntUnsafe(),
  nextDoubleUnsafe: () => present(lines).random.nextDoubleUnsafe()
})
