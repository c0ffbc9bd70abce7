/** The application: Effect 3. Its interruption aborts the run, and the failures of the run are its own, by their tags. */
import { Effect } from "effect-3"
import type { Outcome } from "./agents.ts"

export const fromRun = <A, E>(run: (signal: AbortSignal) => Promise<Outcome<A, E>>): Effect.Effect<A, E> =>
  Effect.async<A, E>((resume) => {
    const controller = new AbortController()
    const ended = run(controller.signal).then(
      (outcome) => resume(effectOf(outcome)),
      (defect) => resume(Effect.die(defect))
    )
    // an interruption waits until the run has settled its calls
    return Effect.promise(() => {
      controller.abort()
      return ended
    })
  })

const effectOf = <A, E>(outcome: Outcome<A, E>): Effect.Effect<A, E> => {
  switch (outcome.type) {
    case "success":
      return Effect.succeed(outcome.value)
    case "failure":
      return Effect.fail(outcome.error)
    case "defect":
      return Effect.die(outcome.defect)
    case "interrupted":
      return Effect.interrupt
  }
}
