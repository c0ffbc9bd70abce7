/** Portions of runs, each of which checks what came out of every run. */
import * as Effect from "effect/Effect"
import { assertEqual, type Subject } from "./harness.ts"

/** So many runs of an effect, one after the other, each of which has to give `expected`. */
export const effects = (
  name: string,
  runs: number,
  run: Effect.Effect<unknown, unknown>,
  expected: unknown
): Subject => ({
  name,
  portion: () =>
    Effect.runPromise(
      Effect.gen(function* () {
        let done = 0
        for (let i = 0; i < runs; i++) if ((yield* run) === expected) done++
        assertEqual(name, done, runs)
      })
    )
})

/** The same for promises. */
export const promises = (name: string, runs: number, run: () => Promise<unknown>, expected: unknown): Subject => ({
  name,
  portion: async () => {
    let done = 0
    for (let i = 0; i < runs; i++) if ((await run()) === expected) done++
    assertEqual(name, done, runs)
  }
})
