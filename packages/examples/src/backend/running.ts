/**
 * Runs of chats that outlive the requests that started them: a reader leaves and comes back. They live as long as the server. Runs that have
 * ended are found for a while, within limits.
 */
import type { Agent, KintsugiError } from "@kintsugi/core"
import { Context, Deferred, type Duration, Effect, Exit, Layer, Scope } from "effect"

type Run = Agent.Run<string, KintsugiError.KintsugiError>

/** Which chat, and whose. */
export interface ChatOf {
  readonly subject: string
  readonly chat: string
}

export class Running extends Context.Service<
  Running,
  {
    /** Starts the run of a chat, and does this at its end. `undefined` if too many are at work. */
    readonly start: <R, R2>(
      of: ChatOf,
      starting: Effect.Effect<Run, never, R | Scope.Scope>,
      atEnd: (run: Run) => Effect.Effect<unknown, unknown, R2>
    ) => Effect.Effect<Run | undefined, never, Exclude<R, Scope.Scope> | R2>
    readonly find: (of: ChatOf) => Run | undefined
  }
>()("examples/backend/Running") {}

/**
 * How long a run is found after its end, and how many such runs there are. Beyond that, the first one of the customer who has the most is
 * forgotten, so that no customer loses a run to another one who has more.
 */
export interface Limits {
  readonly age: Duration.Input
  readonly count: number
  /** How many runs are at work at a time. */
  readonly atWork: number
}

/** The first one of the customer who has the most. */
const firstOfMost = <A>(subjects: ReadonlyMap<A, string>): A | undefined => {
  const bySubject = Map.groupBy(subjects.keys(), (one) => subjects.get(one) ?? "")
  const [most = []] = [...bySubject.values()].toSorted((one, other) => other.length - one.length)
  return most[0]
}

export const layerOf = ({ age, atWork, count }: Limits): Layer.Layer<Running> =>
  Layer.effect(
    Running,
    Effect.gen(function* () {
      const server = yield* Effect.scope
      const runs = new Map<string, Run>()
      let working = 0
      /** Of each run that has ended, in this order: what makes it be forgotten before its time, and whose it is. */
      const ended = new Map<Deferred.Deferred<void>, string>()
      const at = ({ chat, subject }: ChatOf) => JSON.stringify([subject, chat])
      return {
        find: (of) => runs.get(at(of)),
        start: (of, starting, atEnd) =>
          Effect.gen(function* () {
            if (working >= atWork) return undefined
            working++
            const scope = yield* Scope.fork(server)
            const free = Effect.sync(() => working--)
            const run = yield* Effect.onError(Effect.provideService(starting, Scope.Scope, scope), () => free)
            runs.set(at(of), run)
            const end = Effect.gen(function* () {
              yield* Effect.ensuring(Effect.exit(atEnd(run)), free)
              const early = yield* Deferred.make<void>()
              ended.set(early, of.subject)
              const first = ended.size > count ? firstOfMost(ended) : undefined
              if (first !== undefined) {
                ended.delete(first)
                yield* Deferred.succeed(first, undefined)
              }
              yield* Effect.raceFirst(Effect.sleep(age), Deferred.await(early))
              ended.delete(early)
              if (runs.get(at(of)) === run) runs.delete(at(of))
              yield* Scope.close(scope, Exit.void)
            })
            yield* Effect.forkIn(end, server)
            return run
          })
      }
    })
  )

/** For ten minutes, and a thousand runs: a chat of a few turns takes some 50 KB. */
export const layer = (atWork: number): Layer.Layer<Running> => layerOf({ age: "10 minutes", count: 1000, atWork })
