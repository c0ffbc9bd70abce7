/** A request that perhaps begins a job goes on when it is interrupted; nothing is sent after it. */
import * as RunContext from "@kintsugi/core/RunContext"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/** Knows whether a request is under way. */
class Hold {
  #isLeft = false
  #isUnderWay = false

  /** One request. It is under way until it fails: the reader of its answer comes at once. */
  sending<A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      this.#isUnderWay = true
      return Effect.tapError(self, () => {
        this.#isUnderWay = false
        return this.#isLeft ? Effect.interrupt : Effect.void
      })
    })
  }

  /** What is left: nothing is sent any more. Gives whether a request is still under way. */
  leave(): boolean {
    this.#isLeft = true
    return this.#isUnderWay
  }
}

const Current = Context.Reference<Hold | undefined>("@kintsugi/providers/Hold", { defaultValue: () => undefined })

/** One request of those that are held, if they are. */
export const sending = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Current, (hold) => (hold === undefined ? self : hold.sending(self)))

/** How much of this time the run of the present fiber has: nothing goes on after its end. */
const within = (time: Duration.Duration): Effect.Effect<Duration.Duration> =>
  Effect.map(Effect.all([RunContext.Current, Clock.currentTimeMillis]), ([run, now]) => {
    const end = run?.meter.deadline?.ownDeadline ?? Infinity
    return Duration.min(time, Duration.millis(Math.max(0, end - now)))
  })

/** A request that outlives the fiber that waited for it. */
interface Outlived {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  /** Until when the end of the layer waits for it. */
  readonly until: number
}

/**
 * Sends a request that is not lost at an interruption. `isLate` says whether its answer comes too late for who has asked for it.
 *
 * @internal
 */
export type Holding = <A, E, R>(self: (isLate: () => boolean) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Holds requests within the present scope. At an interruption the one that is under way has this time to end, but none after the end of
 * its run. Then it goes on alone: as long as the transport waits for it, at most until the scope closes, which gives it the rest of this time.
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
          // not a child: it may outlive this fiber
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
