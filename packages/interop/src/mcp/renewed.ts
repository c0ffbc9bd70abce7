/** A connection that is replaced by a new one after a loss. */
import * as McpClientError from "effect/ai/McpClientError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { type Connection, isLost, type Way } from "./connection.ts"
import * as Session from "./session.ts"

type Failure = McpClientError.McpClientError

/** A connection that reconnects after a loss, and closes the lost one. */
export interface Renewed {
  readonly current: Effect.Effect<Connection, Failure>
  /**
   * Uses the connection, and drops it if it is lost. If the server has forgotten the session, the use is repeated once in a new session,
   * within the rest of its time limit. That happens only if the answers of the server prove that the use has not begun.
   */
  readonly use: <A>(
    f: (connection: Connection) => Effect.Effect<A, Failure>,
    limit?: Duration.Duration
  ) => Effect.Effect<A, Failure>
  /** Starts to receive notifications, in this connection and in later ones. */
  readonly listen: Effect.Effect<void, Failure>
}

/** An open connection, and the number of its uses that have not ended. */
interface Live {
  readonly connection: Connection
  readonly scope: Scope.Closeable
  uses: number
  isListenedTo: boolean
}

/** Makes the connection. The effect `changed` runs when the tools of the server may have changed. */
export const renewed = (
  way: Way,
  connecting: Effect.Effect<Connection, Failure, Scope.Scope>,
  changed: Effect.Effect<void>
): Effect.Effect<Renewed, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const one = Semaphore.makeUnsafe(1)
    let live: Live | undefined
    /** Whether notifications are wanted even from a server that does not declare any. */
    let isWanted = false
    // Opens the stream of notifications again if the server ends it. It ends with the connection: only a use makes a new connection.
    const listenTo = (live: Live): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (live.isListenedTo) return Effect.void
        live.isListenedTo = true
        const listening = Effect.repeat(live.connection.listen, {
          while: (more) => more,
          schedule: Schedule.spaced("1 second")
        })
        const listened = listening.pipe(Effect.catch((error) => Effect.uninterruptible(dropping(live)(error))))
        return Effect.asVoid(Effect.forkIn(listened, live.scope))
      })
    const acquire = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const own = yield* Scope.fork(scope)
        const connection = yield* restore(Scope.provide(connecting, own)).pipe(
          // A failed connection closes in the background, because a process may take time to end.
          Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : close(own)))
        )
        const made = { connection, scope: own, uses: 0, isListenedTo: false }
        live = made
        if (isWanted || connection.reportsChanges) yield* listenTo(made)
        return made
      })
    )
    const close = (old: Scope.Closeable) => Effect.asVoid(Effect.forkIn(Scope.close(old, Exit.void), scope))
    const current = one.withPermits(1)(Effect.suspend(() => (live === undefined ? acquire : Effect.succeed(live))))
    // Over HTTP, calls at work in a forgotten session may still get their answers. A lost process gives none.
    const isClosable = (old: Live) => way.kind === "stdio" || old.uses === 0
    const lose = (old: Live) =>
      Effect.suspend(() => {
        if (live !== old) return Effect.void
        live = undefined
        const closing = isClosable(old) ? close(old.scope) : Effect.void
        // A server that has forgotten the session may have other tools now.
        return way.kind === "http" ? Effect.andThen(closing, changed) : closing
      })
    const release = (old: Live) =>
      Effect.suspend(() => {
        old.uses--
        // Mutant `true` for `way.kind === "http"` survives: a process was closed when it was lost
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
      listen: Effect.flatMap(current, (live) => {
        isWanted = true
        return listenTo(live)
      })
    }
  })

const late = new McpClientError.McpClientError({ reason: new McpClientError.TimeoutError({ operation: "tools/call" }) })
