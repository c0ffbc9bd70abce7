/** Identifiers of runs, as they come of the numbers that `Random` draws. */
import { assert, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { makeId } from "../../../packages/core/src/event/ids.ts"

/** A random service that draws these numbers in turn. */
const drawing = (...draws: ReadonlyArray<number>) => {
  const left = [...draws]
  return {
    nextIntUnsafe: () => left.shift() ?? assert.fail("nothing is left to draw"),
    nextDoubleUnsafe: () => assert.fail("no fraction")
  }
}

it.effect("an identifier has all bits of two numbers that are drawn", () =>
  Effect.gen(function* () {
    const drawn = (...draws: ReadonlyArray<number>) => Effect.provideService(makeId, Random.Random, drawing(...draws))
    const half = 2 ** 27
    assert.strictEqual(yield* drawn(35 * half + 10, -(3 * half + 5)), "za35")
    assert.strictEqual(yield* drawn(0, 36), "00010")
    assert.strictEqual(yield* drawn(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER), "13ydj327wr27".repeat(2))
  })
)
