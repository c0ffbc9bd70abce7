/** A connection that is made anew after a loss. */
import * as McpClientError from "effect/ai/McpClientError"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { type Connection, isLost, type Way } from "./connection.ts"
import * as Session from "./session.ts"

type Failure = McpClientError.McpClientError

/** A connection that reconnects after a loss, and closes the lost one. */
export interface Renewed {
  readonly current: Effect.Effect<Connection, Failure>
  /**
   * Uses the connection, and drops it if it is lost. If the server has forgotten the session and its answers prove that the use has not
   * begun, the use is repeated once in a new session, within what is left of its time limit.
   */
  readonly use: <A>(
    f: (connection: Connection) => Effect.Effect<A, Failure>,
    limit?: Duration.Duration
  ) => Effect.Effect<A, Failure>
  /**
   * Receives notifications until their stream ends or the connection is lost. `isOver` if the stream cannot be opened again, `isNew` if
   * the connection is another one from here on.
   */
  readonly listen: Effect.Effect<{ readonly isOver: boolean; readonly isNew: boolean }, Failure>
}

/** An open connection, and how many uses of it have not ended. */
interface Live {
  readonly connection: Connection
  readonly scope: Scope.Closeable
  readonly lost: Deferred.Deferred<void>
  uses: number
}

export const renewed = (
  way: Way,
  connecting: Effect.Effect<Connection, Failure, Scope.Scope>
): Effect.Effect<Renewed, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const one = Semaphore.makeUnsafe(1)
    let live: Live | undefined
    const acquire = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const own = yield* Scope.fork(scope)
        const connection = yield* restore(Scope.provide(connecting, own)).pipe(
          // A failed connection closes in the background: a process may take its time.
          Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : close(own)))
        )
        live = { connection, scope: own, lost: yield* Deferred.make<void>(), uses: 0 }
        return live
      })
    )
    const close = (old: Scope.Closeable) => Effect.asVoid(Effect.forkIn(Scope.close(old, Exit.void), scope))
    const current = one.withPermits(1)(Effect.suspend(() => (live === undefined ? acquire : Effect.succeed(live))))
    // Calls that are at work in a forgotten session may still get their answers. The other pipe of a process has none.
    const isClosable = (old: Live) => way.kind === "stdio" || old.uses === 0
    const lose = (old: Live) =>
      Effect.suspend(() => {
        if (live !== old) return Effect.void
        live = undefined
        return Effect.andThen(Deferred.succeed(old.lost, undefined), isClosable(old) ? close(old.scope) : Effect.void)
      })
    const release = (old: Live) =>
      Effect.suspend(() => {
        old.uses--
        return live !== old && way.kind === "http" && old.uses === 0 ? close(old.scope) : Effect.void
      })
    const dropping = (old: Live) => (error: Failure) => (isLost(way, error) ? lose(old) : Effect.void)
    const held = <A>(live: Live, use: Effect.Effect<A, Failure>): Effect.Effect<A, Failure> =>
      Effect.acquireUseRelease(
        Effect.sync(() => live.uses++),
        () => Effect.tapError(use, dropping(live)),
        () => release(live)
      )
    return {
      current: Effect.map(current, ({ connection }) => connection),
      use: (f, limit) =>
        Effect.gen(function* () {
          const first = yield* current
          const began = yield* Clock.currentTimeMillis
          const begun = new Session.Begun()
          const using = (live: Live) => Effect.provideService(held(live, f(live.connection)), Session.Current, begun)
          const resent = Effect.flatMap(Clock.currentTimeMillis, (now) => {
            const renewing = Effect.flatMap(current, using)
            if (limit === undefined) return renewing
            const duration = Duration.subtract(limit, Duration.millis(now - began))
            return Effect.timeoutOrElse(renewing, { duration, orElse: () => Effect.fail(late) })
          })
          return yield* Effect.catchIf(
            using(first),
            (error) => Session.isForgotten(error) && begun.count === 0,
            () => resent
          )
        }),
      listen: Effect.flatMap(current, (listened) => {
        const { connection, lost } = listened
        const heard = Effect.map(connection.listen, (more) => ({ isOver: !more, isNew: false }))
        const elsewhere = { isOver: false, isNew: true }
        return Effect.raceFirst(
          Effect.tapError(heard, dropping(listened)),
          Effect.as(Deferred.await(lost), elsewhere)
        ).pipe(Effect.catchIf(Session.isForgotten, () => Effect.succeed(elsewhere)))
      })
    }
  })

const late = new McpClientError.McpClientError({ reason: new McpClientError.TimeoutError({ operation: "tools/call" }) })
