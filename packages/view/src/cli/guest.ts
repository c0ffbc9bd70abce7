/** A module that is named on the command line is a guest in our process: it may print, hold the thread, wait for ever, and exit. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { Console } from "node:console"
import { syncBuiltinESMExports } from "node:module"
import process from "node:process"

/** The signals that end a command. */
export const signals = ["SIGINT", "SIGTERM"] as const

/**
 * From here on, standard output is for results alone, and signals end the process at once: their listeners would never be called where
 * a module holds the thread.
 */
export const prepare = Effect.sync(() => {
  // the methods of one: modules may have taken the object before
  Object.assign(console, new Console({ stdout: process.stderr, stderr: process.stderr }))
  syncBuiltinESMExports()
  for (const signal of signals) process.removeAllListeners(signal)
})

/** Sleeps that keep no process alive: one in which nothing else is left to do ends at once. */
export const clock = Clock.clockWith((clock) =>
  Effect.succeed<Clock.Clock>({
    currentTimeMillis: clock.currentTimeMillis,
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
    currentTimeNanos: clock.currentTimeNanos,
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    sleep: (duration) =>
      Effect.callback((resume) => {
        // oxlint-disable-next-line no-restricted-globals -- this is the clock, and Effect's own keeps the process
        const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration)).unref()
        return Effect.sync(() => clearTimeout(timer))
      })
  })
)
