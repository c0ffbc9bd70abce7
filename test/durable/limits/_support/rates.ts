/** What two stores of rate limits say to the same calls. */
import { Duration, Effect } from "effect"
import type { RateLimiter } from "effect/persistence"
import { TestClock } from "effect/testing"
import fc from "fast-check"

export type Store = RateLimiter.RateLimiterStore["Service"]

/** One call of a store, and how much time passes after it. */
export interface Call {
  readonly of: "window" | "overflow" | "bucket" | "debt" | "take" | "refusal"
  readonly key: string
  readonly tokens: number
  readonly millis: number
}

/** Rates whose refill is a whole number of milliseconds, or none. */
const limit = 3
const refillRate = Duration.millis(1000 / limit)

/** The answer of a store. A refusal of the server names the epoch that the store has named before. */
export const answer = (
  store: Store,
  { key, of, tokens }: Call,
  epochs: Map<string, number>
): Effect.Effect<unknown> => {
  switch (of) {
    case "window":
      return Effect.orDie(store.fixedWindow({ key, tokens, refillRate, limit }))
    case "overflow":
      return Effect.orDie(store.fixedWindow({ key, tokens, refillRate, limit: undefined }))
    case "bucket":
      return Effect.orDie(store.tokenBucket({ key, tokens, limit, refillRate, allowOverflow: false }))
    case "debt":
      return Effect.orDie(store.tokenBucket({ key, tokens, limit, refillRate, allowOverflow: true }))
    case "take":
      return store.adaptiveConsume({ key, tokens, fallbackLimit: 1, fallbackWindow: Duration.seconds(5) }).pipe(
        Effect.tap(({ epoch }) => Effect.sync(() => epochs.set(key, epoch))),
        Effect.orDie
      )
    case "refusal": {
      const retryAfter = Duration.millis(tokens * 400)
      const epoch = epochs.get(key) ?? 0
      return Effect.orDie(store.adaptiveFeedback({ key, epoch, tokens: 1, status: 429, retryAfter }))
    }
  }
}

/** Plays calls on a store, at the instants of the test's clock. */
export const played = (store: Store, calls: ReadonlyArray<Call>): Effect.Effect<ReadonlyArray<unknown>> =>
  Effect.suspend(() => {
    const epochs = new Map<string, number>()
    return Effect.forEach(calls, (call) =>
      Effect.tap(answer(store, call, epochs), () => TestClock.adjust(Duration.millis(call.millis)))
    )
  })

export const calls: fc.Arbitrary<ReadonlyArray<Call>> = fc.array(
  fc.record({
    of: fc.constantFrom<Call["of"]>("window", "overflow", "bucket", "debt", "take", "refusal"),
    key: fc.constantFrom("a", "b"),
    tokens: fc.integer({ min: 1, max: 4 }),
    millis: fc.constantFrom(0, 1, 100, 333, 334, 1000, 1500, 5000, 30_000, 55_000, 70_000)
  }),
  { maxLength: 40 }
)

/** A rate that a server teaches: a wait, calls that try it, the refusal that ends the lesson, calls at that rate, and another wait. */
export const lesson: ReadonlyArray<Call> = [
  ["take", 1, 0],
  ["refusal", 3, 333],
  ["refusal", 4, 1],
  ["refusal", 1, 1000],
  ["take", 1, 1000],
  ["take", 1, 5000],
  ["take", 2, 100],
  ["take", 1, 334],
  ["take", 1, 0],
  ["refusal", 4, 1],
  ...Array.from({ length: 8 }, () => ["take", 2, 100] as const),
  ["take", 1, 40_000],
  ["take", 1, 1],
  ["take", 3, 1],
  ["refusal", 2, 55_000],
  ["refusal", 2, 1],
  ["take", 1, 70_000],
  ["take", 1, 0]
].map(([of, tokens, millis]) => ({ of, key: "a", tokens, millis }) as Call)
