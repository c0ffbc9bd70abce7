/** What may begin in a run that has come to an end in the meantime. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as RunContext from "../../../packages/core/src/event/RunContext.ts"

it.effect("what began before a hard failure begins once more in a replay, and nothing begins after it [P1112]", () =>
  Effect.gen(function* () {
    // as far as it is read
    const run = { meter: { barrier: { at: 100 } } } as RunContext.RunContext
    const begun = () =>
      RunContext.begins(
        run,
        () => Effect.succeed("begun"),
        () => Effect.succeed("over")
      )
    const none = { meter: {} } as RunContext.RunContext
    assert.strictEqual(yield* RunContext.begins(none, () => Effect.succeed("begun")), "begun")
    for (const [at, expected] of [
      [0, "begun"],
      [99, "begun"],
      [100, "over"],
      [101, "over"]
    ] as const) {
      yield* TestClock.setTime(at)
      assert.strictEqual(yield* begun(), expected, `${at}`)
    }
  })
)
