/** A request that perhaps begins a job goes on for a moment when it is interrupted; nothing is sent after it. */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
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

/** Gives the request that is under way at an interruption this time to end. */
export const held = <A, E, R>(self: Effect.Effect<A, E, R>, grace: Duration.Duration): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const hold = new Hold()
    return Effect.flatMap(Effect.forkChild(Effect.provideService(self, Current, hold)), (fiber) =>
      Effect.onInterrupt(Fiber.join(fiber), () => {
        const stopped = Fiber.interrupt(fiber)
        if (!hold.leave()) return stopped
        return Effect.ensuring(Effect.ignore(Effect.timeout(Fiber.await(fiber), grace)), stopped)
      })
    )
  })
