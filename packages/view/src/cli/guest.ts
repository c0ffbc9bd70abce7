/** Protects the process from a module of the user, which may print, block the thread, wait for ever, or end the process. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { Console } from "node:console"
import { syncBuiltinESMExports } from "node:module"
import process from "node:process"

/** The signals that end a command. */
export const signals = ["SIGINT", "SIGTERM"] as const

/**
 * Prepares the process for a module of the user. Its output goes to standard error, as standard output is for results alone. Signals end
 * the process at once, because a module that blocks the thread would keep listeners from running.
 */
export const prepare = Effect.sync(() => {
  // replaces the methods and not the object, because modules may have a reference to the object
  Object.assign(console, new Console({ stdout: process.stderr, stderr: process.stderr }))
  syncBuiltinESMExports()
  for (const signal of signals) process.removeAllListeners(signal)
})

/** A clock whose sleeps do not keep the process alive. So a process that has nothing else to do ends at once. */
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
