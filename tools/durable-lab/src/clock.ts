/** The clock of a process whose time is wrong. */
import { type Clock, Effect } from "effect"

/** A clock that is off by so many milliseconds. How long something takes, it measures right. */
export const skewed = (real: Clock.Clock, off: () => number): Clock.Clock => {
  const millis = () => real.currentTimeMillisUnsafe() + off()
  const nanos = () => real.currentTimeNanosUnsafe() + BigInt(off()) * 1_000_000n
  return {
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) => real.sleep(duration)
  }
}
