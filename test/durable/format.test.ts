/** The row with which a run begins. */
import { assert, it } from "@effect/vitest"
import * as DoorError from "@kintsugi/core/DoorError"
import { Cause, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { begin, newest } from "../../packages/durable/src/format.ts"
import { exitOf, processOfReplays } from "./_support/replays.ts"

it.effect(
  "a run begins once, with the newest format; a replay takes what was recorded, and without it is lost [P1398 P1712]",
  () =>
    Effect.gen(function* () {
      const { replay, steps, stored, written } = yield* processOfReplays
      yield* TestClock.setTime(500)
      let marked = 0
      const mark = Effect.sync(() => void marked++)
      const first = replay({ format: { number: 0 } })
      assert.isFalse(yield* begin(first, mark))
      assert.deepStrictEqual(stored(), { begin: { _tag: "Done", at: 500, value: { at: 500, format: newest } } })
      assert.deepStrictEqual([written, marked, first.format.number], [["begin/noted"], 1, newest])
      const next = replay({ format: { number: 0 } })
      assert.isTrue(yield* begin(next, mark))
      assert.deepStrictEqual([written, marked, next.format.number], [["begin/noted"], 1, newest])
      steps.delete("begin")
      const exit = yield* Effect.exit(begin(replay(), mark))
      assert.instanceOf(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, DoorError.RunLostError)
    })
)

it.effect("an instant alone is the first format, and a later format is left to a newer release [P1712]", () =>
  Effect.gen(function* () {
    const { replay, steps } = yield* processOfReplays
    steps.set("begin", Exit.succeed({ _tag: "Done", at: 5, value: 5 }))
    const one = replay({ format: { number: 0 } })
    yield* begin(one, Effect.void)
    assert.strictEqual(one.format.number, 1)
    steps.set("begin", Exit.succeed({ _tag: "Done", at: 5, value: { at: 5, format: newest + 1 } }))
    const newer = replay({ format: { number: 0 } })
    const exit = yield* exitOf(begin(newer, Effect.void))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
    assert.deepStrictEqual([newer.instance.suspended, newer.format.number], [true, 0])
  })
)
