/** The application: Effect 3. Its interruption aborts the run, and the failures of the run are its own, by their tags. */
import { Effect } from "effect-3"
import type { Outcome } from "./agents.ts"

export const fromRun = <A, E>(run: (signal: AbortSignal) => Promise<Outcome<A, E>>): Effect.Effect<A, E> =>
  Effect.async<A, E>((resume) => {
    const controller = new AbortController()
    const running = run(controller.signal)
    running.then(
      (outcome) => {
        switch (outcome.type) {
          case "success":
            return resume(Effect.succeed(outcome.value))
          case "failure":
            return resume(Effect.fail(outcome.error))
          case "defect":
            return resume(Effect.die(outcome.defect))
          case "interrupted":
            return resume(Effect.interrupt)
        }
      },
      (defect) => resume(Effect.die(defect))
    )
    // an interruption waits until the run has settled its calls
    return Effect.promise(async () => {
      controller.abort()
      await running
    })
  })
