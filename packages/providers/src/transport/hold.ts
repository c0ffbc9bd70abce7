/** Keeps a request that may have begun a background job from being lost at an interruption. After the interruption nothing more is sent. */
import * as RunContext from "@kintsugi/core/RunContext"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/** Knows whether a request is under way, and whether its caller has left. */
class Hold {
  #isLeft = false
  #isUnderWay = false

  /**
   * Sends one request. The request counts as under way until it fails; a success needs no mark, because it ends the call. If it fails after
   * the caller has left, it is interrupted, so that it is not resent.
   */
  sending<A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      this.#isUnderWay = true
      return Effect.tapError(self, () => {
        this.#isUnderWay = false
        return this.#isLeft ? Effect.interrupt : Effect.void
      })
    })
  }

  /** Marks that the caller has left, so that nothing more is sent. Returns whether a request is still under way. */
  leave(): boolean {
    this.#isLeft = true
    return this.#isUnderWay
  }
}

const Current = Context.Reference<Hold | undefined>("@kintsugi/providers/Hold", { defaultValue: () => undefined })

/** Sends one request, and registers it with the `Hold` of the present fiber, if there is one. */
export const sending = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => fiber.getRef(Current)?.sending(self) ?? self)

/** Cuts a time at the deadline of the present fiber's run, because nothing may go on after the run's end. */
const within = (time: Duration.Duration): Effect.Effect<Duration.Duration> =>
  Effect.map(Effect.all([RunContext.Current, Clock.currentTimeMillis]), ([run, now]) => {
    const end = run?.meter.deadline?.ownDeadline ?? Infinity
    return Duration.min(time, Duration.millis(Math.max(0, end - now)))
  })

/** A request that goes on after the fiber that waited for it was interrupted. */
interface Outlived {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  /** Until when the request may go on after the scope closes, in milliseconds since the epoch. */
  readonly until: number
}

/**
 * Runs the sends of a call so that an interruption does not lose a request under way. `isLate` says whether the answer comes too late for
 * the caller.
 *
 * @internal
 */
export type Holding = <A, E, R>(self: (isLate: () => boolean) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Makes a `Holding` for the present scope. At an interruption, the request under way has `grace` to end, but not beyond the deadline of its
 * run. Then it goes on detached, as long as the transport waits for it. When the scope closes, it has the rest of `grace`, and is then
 * interrupted.
 *
 * @internal
 */
export const holding = (grace: Duration.Duration): Effect.Effect<Holding, never, Scope.Scope> =>
  Effect.suspend(() => {
    const outlived = new Set<Outlived>()
    let isClosed = false
    const hold: Holding = (self) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          const hold = new Hold()
          let isLate = false
          const sent = Effect.provideService(
            Effect.suspend(() => self(() => isLate)),
            Current,
            hold
          )
          // forked detached, because the request may outlive this fiber
          return Effect.flatMap(Effect.forkDetach(sent), (fiber) =>
            Effect.onInterrupt(restore(Fiber.join(fiber)), () => {
              const stopped = Fiber.interrupt(fiber)
              if (!hold.leave()) return stopped
              return Effect.flatMap(Effect.all([within(grace), Clock.currentTimeMillis]), ([time, now]) => {
                const left = Effect.suspend(() => {
                  if (isClosed) return stopped
                  if (fiber.pollUnsafe() !== undefined) return Effect.void
                  isLate = true
                  const one = { fiber, until: now + Duration.toMillis(grace) }
                  outlived.add(one)
                  fiber.addObserver(() => outlived.delete(one))
                  return Effect.void
                })
                return Effect.andThen(Effect.timeoutOption(Fiber.await(fiber), time), left)
              })
            })
          )
        })
      )
    const ended = ({ fiber, until }: Outlived) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.andThen(
          Effect.timeoutOption(Fiber.await(fiber), Duration.millis(Math.max(0, until - now))),
          Fiber.interrupt(fiber)
        )
      )
    const close = Effect.suspend(() => {
      isClosed = true
      return Effect.forEach([...outlived], ended, { concurrency: "unbounded", discard: true })
    })
    return Effect.as(
      Effect.addFinalizer(() => close),
      hold
    )
  })
