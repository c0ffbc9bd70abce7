/** An effect that fails and succeeds by a script, and the errors it fails with. */
import { Clock, Data, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

export class Busy extends Data.TaggedError("Busy")<{ readonly n: number; readonly retryAfter?: Duration.Duration }> {}
export class Gone extends Data.TaggedError("Gone")<{ readonly n: number }> {}
export class Odd extends Data.TaggedError("Odd")<{ readonly n: number }> {}
export class Broken extends Data.TaggedError("Broken")<{}> {}

export type Failure = Busy | Gone | Odd

/** An effect whose n-th run is the n-th step; a run beyond them is a defect. */
export const scripted = (...steps: ReadonlyArray<Effect.Effect<string, Failure>>) => {
  const starts: Array<number> = []
  const effect = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    starts.push(now)
    return steps[starts.length - 1] ?? Effect.die(`run ${starts.length} is not in the script`)
  })
  return { effect, starts }
}

/** Runs it for a day, and says how and when it ended. */
export const overADay = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeMillis
    let end: number | undefined
    const clock = yield* Clock.clockWith(Effect.succeed)
    const fiber = yield* Effect.forkChild(
      Effect.onExit(effect, () => Effect.sync(() => (end = clock.currentTimeMillisUnsafe() - start)))
    )
    yield* TestClock.adjust("1 day")
    return { exit: yield* Fiber.await(fiber), end }
  })

export const busy = (n: number, hint?: Duration.Input) =>
  new Busy(hint === undefined ? { n } : { n, retryAfter: Duration.fromInputUnsafe(hint) })
export const gone = (n: number) => new Gone({ n })
export const odd = (n: number) => new Odd({ n })

export const fails = (...errors: ReadonlyArray<Failure>) => errors.map((error) => Effect.fail(error))
export const fine = Effect.succeed("fine")
