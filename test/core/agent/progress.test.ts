/** When a reader of partial outputs gets a value, and which. */
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Progress } from "../../../packages/core/src/agent/progress.ts"

/** A reader of a text that is as it is, and how often it was copied. */
const reader = () => {
  let text = ""
  let copies = 0
  return {
    push: (piece: string) => ((text += piece), true),
    seen: () => (copies++, text),
    copies: () => copies
  }
}

/** A progress with a first text that was read. */
const begun = Effect.gen(function* () {
  const progress = new Progress(100)
  const one = reader()
  progress.begin(one)
  progress.add("x".repeat(1000), 0)
  assert.deepStrictEqual(yield* progress.next, ["x".repeat(1000)])
  return { progress, copies: one.copies }
})

const lengthOf = ([value]: ReadonlyArray<unknown>) => String(value).length

it.effect("behind a value that a timer brought, a slow reader gets the newest one, which alone is copied [P1392]", () =>
  Effect.gen(function* () {
    const { copies, progress } = yield* begun
    progress.add("y", 10)
    const timed = yield* Effect.forkChild(progress.next)
    yield* TestClock.adjust(99)
    assert.isUndefined(timed.pollUnsafe())
    yield* TestClock.adjust(1)
    assert.strictEqual(lengthOf(yield* Fiber.join(timed)), 1001)
    assert.strictEqual(copies(), 2)
    // the reader is elsewhere
    progress.add("z".repeat(100), 110)
    progress.add("z".repeat(100), 120)
    assert.strictEqual(copies(), 2)
    assert.strictEqual(lengthOf(yield* progress.next), 1201)
    assert.strictEqual(copies(), 3)
  })
)

it.effect("a reader that waits gets what was due first, then the newest [P1392]", () =>
  Effect.gen(function* () {
    const { copies, progress } = yield* begun
    const waiting = yield* Effect.forkChild(progress.next)
    yield* TestClock.adjust(0)
    progress.add("y".repeat(100), 10)
    progress.add("z".repeat(100), 10)
    assert.strictEqual(copies(), 2)
    assert.strictEqual(lengthOf(yield* Fiber.join(waiting)), 1100)
    assert.strictEqual(lengthOf(yield* progress.next), 1200)
  })
)

it.effect("a text that begins anew is not shown before it is due, and the output is shown once [P1392]", () =>
  Effect.gen(function* () {
    const { progress } = yield* begun
    progress.add("y", 10)
    progress.begin(reader())
    const waiting = yield* Effect.forkChild(progress.next)
    yield* TestClock.adjust("1 hour")
    assert.isUndefined(waiting.pollUnsafe())
    progress.add("new", 3_600_000)
    assert.deepStrictEqual(yield* Fiber.join(waiting), ["new"])
    progress.complete("new")
    progress.end(Exit.succeed("new"))
    assert.isTrue(Cause.isDone(yield* Effect.flip(progress.next)))
  })
)
