/** What laws of whole runs share: both ways to run an agent, a model that says anything, and a log with instants. */
import { type Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import type fc from "fast-check"
import { done } from "../core/dialogue.ts"
import { type Runner, runners } from "../support/run.ts"
import { law } from "./support.ts"

/** Checks a law of runs on many cases, each way, on a clock of its own. */
export const lawOfRuns = <T>(
  title: string,
  arbitrary: fc.Arbitrary<T>,
  check: (value: T, run: Runner) => Effect.Effect<unknown, unknown, Scope.Scope>
): void => {
  for (const [way, run] of Object.entries(runners)) {
    law(`${title} (${way})`, arbitrary, (value) =>
      // laws plant failures in listeners and renderers; the warnings about them are expected
      check(value, run).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.provide(Logger.layer([])))
    )
  }
}

/** A model that makes the calls of these turns, then says "done". Turns that a run does not reach are no mistake. */
export const calling = (
  ...turns: ReadonlyArray<ReadonlyArray<Message.ToolCall>>
): Effect.Effect<ScriptedModel.ScriptedModel> =>
  Effect.flatMap(Scope.make(), (scope) =>
    Scope.provide(ScriptedModel.make(...turns.map((calls) => ScriptedModel.calls(...calls)), done), scope)
  )

/** Lines with their instants, in the order in which they were noted. */
export const timed = () => {
  const lines: Array<string> = []
  const note = (line: string): Effect.Effect<void> =>
    Effect.map(Clock.currentTimeMillis, (at) => {
      lines.push(`${line} at ${at}`)
    })
  return { lines, note }
}
