/** The waits of a run before another attempt: short ones stay in the process, long ones are alarms of the engine. */
import { assert, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { wait } from "../../packages/durable/src/wait.ts"
import { exitOf, processOfReplays, quiet } from "./_support/replays.ts"

it.effect("a wait of a minute stays in its process, and its end is recorded [P1113]", () =>
  Effect.gen(function* () {
    const { alarms, replay, stored } = yield* processOfReplays
    const one = replay()
    const { root } = one.lines
    const waiting = yield* Effect.forkChild(wait(one, root, "w", Duration.minutes(1)))
    yield* quiet
    assert.isTrue(root.isLive)
    yield* TestClock.adjust(59_999)
    yield* quiet
    assert.isUndefined(waiting.pollUnsafe())
    yield* TestClock.adjust(1)
    yield* Fiber.join(waiting)
    assert.deepStrictEqual([Object.keys(stored()), alarms, root.time], [["w"], [], 60_000])
    // a replay does not wait
    const next = replay()
    yield* wait(next, next.lines.root, "w", Duration.minutes(1))
    assert.deepStrictEqual([next.lines.root.time, next.lines.root.isLive], [60_000, false])
  })
)

it.effect("a longer wait needs no process: it suspends its run until the alarm of the engine [P1113]", () =>
  Effect.gen(function* () {
    const { alarms, replay, rows, stored } = yield* processOfReplays
    const one = replay()
    const exit = yield* exitOf(wait(one, one.lines.root, "w", Duration.millis(60_001)))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
    assert.deepStrictEqual([one.instance.suspended, one.lines.root.isLive, stored()], [true, false, {}])
    assert.lengthOf(alarms, 1)
    const [[name, millis] = ["", 0]] = alarms
    assert.strictEqual(millis, 60_001)
    // each replay sets it, also one that comes too late
    yield* TestClock.setTime(70_000)
    const late = replay()
    yield* exitOf(wait(late, late.lines.root, "w", Duration.millis(60_001)))
    assert.deepStrictEqual(alarms, [
      [name, 60_001],
      [name, 1]
    ])
    // the alarm has rung
    rows.set(`DurableClock/${name}`, Exit.void)
    const next = replay()
    yield* wait(next, next.lines.root, "w", Duration.millis(60_001))
    assert.deepStrictEqual(
      [Object.keys(stored()), next.lines.root.isLive, next.lines.root.time],
      [["w/over"], true, 60_001]
    )
    // a later replay does not do anything for the first time
    const last = replay()
    yield* wait(last, last.lines.root, "w", Duration.millis(60_001))
    assert.isFalse(last.lines.root.isLive)
  })
)

it.effect("a wait goes on after another wait of its run has ended, as another step [P1132]", () =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    const play = Effect.gen(function* () {
      const one = replay()
      const { root } = one.lines
      const earlier = yield* Effect.forkChild(root.sleep(Duration.millis(500), one.clock))
      yield* quiet
      const waiting = yield* Effect.forkChild(wait(one, root, "w", Duration.seconds(1)))
      yield* quiet
      return { earlier, root, waiting }
    })
    const { earlier, root, waiting } = yield* play
    yield* TestClock.adjust(500)
    yield* quiet
    assert.isDefined(earlier.pollUnsafe())
    assert.deepStrictEqual([waiting.pollUnsafe(), root.time], [undefined, 500])
    yield* TestClock.adjust(499)
    yield* quiet
    assert.isUndefined(waiting.pollUnsafe())
    yield* TestClock.adjust(1)
    yield* Fiber.join(waiting)
    assert.deepStrictEqual([Object.keys(stored()), root.time], [["w", "w~2"], 1000])
    const next = yield* play
    yield* Fiber.join(next.waiting)
    assert.isDefined(next.earlier.pollUnsafe())
    assert.deepStrictEqual([next.root.time, next.root.isLive], [1000, false])
  })
)
