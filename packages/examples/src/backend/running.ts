/**
 * Runs that outlive the requests that started them: a reader leaves and comes back, and only a request of its own stops a run. They live as
 * long as the server. Runs that have ended are found for a while, within limits.
 */
import type { Agent, KintsugiError } from "@kintsugi/core"
import { Context, Deferred, type Duration, Effect, Exit, Layer, Option, Scope, Stream } from "effect"
import { RunFailed } from "./problems.ts"

type Run = Agent.Run<string, KintsugiError.KintsugiError>

export class Running extends Context.Service<
  Running,
  {
    /** Starts a run, does this at its end, and gives its id. A chat is found by its own id too. */
    readonly start: <R, R2>(
      starting: Effect.Effect<Run, never, R | Scope.Scope>,
      atEnd: (run: Run) => Effect.Effect<unknown, unknown, R2>,
      chat?: string
    ) => Effect.Effect<string, RunFailed, Exclude<R, Scope.Scope> | R2>
    readonly find: (runId: string) => Run | undefined
    readonly findChat: (chat: string) => Run | undefined
  }
>()("examples/backend/Running") {}

/** How long a run is found after its end, and how many such runs there are: beyond that, those that ended first are forgotten. */
export interface Limits {
  readonly age: Duration.Input
  readonly count: number
}

export const layerOf = ({ age, count }: Limits): Layer.Layer<Running> =>
  Layer.effect(
    Running,
    Effect.gen(function* () {
      const server = yield* Effect.scope
      const runs = new Map<string, Run>()
      const chats = new Map<string, Run>()
      /** Of each run that has ended, in this order: what makes it be forgotten before its time. */
      const ended = new Set<Deferred.Deferred<void>>()
      const forget = <K>(map: Map<K, Run>, key: K, run: Run) => {
        if (map.get(key) === run) map.delete(key)
      }
      return {
        find: (runId) => runs.get(runId),
        findChat: (chat) => chats.get(chat),
        start: (starting, atEnd, chat) =>
          Effect.gen(function* () {
            const scope = yield* Scope.fork(server)
            const run = yield* Effect.provideService(starting, Scope.Scope, scope)
            const first = yield* Stream.runHead(run.events)
            // a run that did not begin has failed
            if (Option.isNone(first))
              return yield* Effect.andThen(Effect.mapError(run.outcome, RunFailed.from), Effect.never)
            const { runId } = first.value
            runs.set(runId, run)
            if (chat !== undefined) chats.set(chat, run)
            const end = Effect.gen(function* () {
              yield* Effect.exit(atEnd(run))
              const early = yield* Deferred.make<void>()
              ended.add(early)
              const [first] = ended
              if (ended.size > count && first !== undefined) yield* Deferred.succeed(first, undefined)
              yield* Effect.raceFirst(Effect.sleep(age), Deferred.await(early))
              ended.delete(early)
              forget(runs, runId, run)
              if (chat !== undefined) forget(chats, chat, run)
              yield* Scope.close(scope, Exit.void)
            })
            yield* Effect.forkIn(end, server)
            return runId
          })
      }
    })
  )

/** For ten minutes, and a thousand runs: a chat of a few turns takes some 50 KB. */
export const layer: Layer.Layer<Running> = layerOf({ age: "10 minutes", count: 1000 })
