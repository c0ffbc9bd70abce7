/** A request that perhaps begins a job goes on for a moment when it is interrupted; nothing is sent after it. */
import * as RunContext from "@kintsugi/core/RunContext"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

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

/**
 * Gives the request that is under way at an interruption this time to end, but none after the end of its run.
 *
 * @internal
 */
export const held = <A, E, R>(self: Effect.Effect<A, E, R>, grace: Duration.Duration): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const hold = new Hold()
    return Effect.flatMap(Effect.forkChild(Effect.provideService(self, Current, hold)), (fiber) =>
      Effect.onInterrupt(Fiber.join(fiber), () => {
        const stopped = Fiber.interrupt(fiber)
        if (!hold.leave()) return stopped
        const ended = Effect.flatMap(within(grace), (time) => Effect.timeout(Fiber.await(fiber), time))
        return Effect.ensuring(Effect.ignore(ended), stopped)
      })
    )
  })
