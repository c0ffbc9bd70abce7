/** What laws of whole runs share: both ways to run an agent, a model that says anything, and a log with instants. */
import type { Message } from "@kintsugi/core"
import { RecordedEvents, ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Clock, Effect, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { done } from "../../_support/dialogue.ts"
import { type Runner, runners } from "../../_support/run.ts"
import { law } from "../../_support/laws.ts"

/** What a law says of a case, and of one of both ways to run an agent. */
export type CheckOfRuns<T> = (value: T, run: Runner) => Effect.Effect<unknown, unknown, Scope.Scope>

/** A law of runs, each case on a clock of its own; one that fails is played again, and says all events of its runs. */
export const ofRuns =
  <T>(check: CheckOfRuns<T>, run: Runner) =>
  (value: T): Effect.Effect<unknown, unknown> => {
    // laws plant failures in listeners and renderers; the warnings about them are expected
    const alone = <E>(effect: Effect.Effect<unknown, E, Scope.Scope>) =>
      effect.pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.provide(Logger.layer([])))
    return Effect.catchCause(alone(check(value, run)), (cause) => {
      const error = Cause.squash(cause)
      if (fc.PreconditionFailure.isFailure(error)) return Effect.failCause(cause)
      const recorded = RecordedEvents.makeUnsafe()
      return Effect.flatMap(Effect.exit(alone(Effect.provide(check(value, run), recorded.layer))), () => {
        const said = error instanceof Error ? error.message : String(error)
        return Effect.fail(
          new Error([said, "events", ...recorded.all.map(RecordedEvents.format)].join("\n"), { cause })
        )
      })
    })
  }

/** Checks a law of runs on many cases, each way. */
export const lawOfRuns = <T>(title: string, arbitrary: fc.Arbitrary<T>, check: CheckOfRuns<T>): void => {
  for (const [way, run] of Object.entries(runners)) law(`${title} (${way})`, arbitrary, ofRuns(check, run))
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
