/** The time, the counts and the waits of a line of work, and the calm of an execution. */
import { assert, it } from "@effect/vitest"
import type * as RunContext from "@kintsugi/core/RunContext"
import { Clock, Duration, Effect, Fiber, Scheduler } from "effect"
import { TestClock } from "effect/testing"
import { Line, Lines } from "../../packages/durable/src/lines.ts"
import { calm } from "../_support/dialogue.ts"

const quiet = Effect.forEach([1, 2, 3, 4], () => calm, { discard: true })

/** A run with only what a line is found by. */
const run = (fields: {
  readonly runId: string
  readonly callKey?: string
  readonly parentCallKey?: string
  readonly parent?: { readonly runId: string }
}) => fields as unknown as RunContext.RunContext

it("the time of a line is that of its last result, and of those within it when no step is under way [P1118]", () => {
  const outer = new Line("r", "run", undefined, 10)
  const inner = new Line("c", "run", outer)
  assert.deepStrictEqual([outer.time, inner.time], [10, 10])
  outer.begin()
  inner.advance(15)
  inner.advance(12)
  assert.deepStrictEqual([outer.time, inner.time], [10, 15])
  outer.end()
  assert.deepStrictEqual([outer.time, inner.time], [15, 15])
  outer.advance(20)
  outer.advance(5)
  assert.deepStrictEqual([outer.time, inner.time], [20, 15])
  // a step within a line is under way in the line too
  inner.begin()
  new Line("d", "run", outer).advance(27)
  assert.strictEqual(outer.time, 20)
  inner.end()
  assert.strictEqual(outer.time, 27)
})

it("a name is counted from 1 in its line, and the numbers of a line follow from its key and its run [P1118]", () => {
  const [one, same, other] = [
    new Line("r", "run", undefined),
    new Line("r", "run", undefined),
    new Line("r", "other", undefined)
  ]
  assert.deepStrictEqual([one.next("a"), one.next("a"), one.next("b"), same.next("a")], [1, 2, 1, 1])
  const number = one.random.nextDoubleUnsafe()
  assert.strictEqual(same.random.nextDoubleUnsafe(), number)
  assert.notStrictEqual(other.random.nextDoubleUnsafe(), number)
})

it.effect("a wait ends when its line reaches the instant, also by a step within the line [P1118]", () =>
  Effect.gen(function* () {
    const real = yield* Clock.Clock
    const outer = new Line("r", "run", undefined, 100)
    const inner = new Line("c", "run", outer)
    assert.strictEqual(inner.until, Infinity)
    const short = yield* Effect.forkChild(outer.sleep(Duration.millis(50), real))
    const long = yield* Effect.forkChild(outer.sleep(Duration.millis(90), real))
    yield* quiet
    assert.deepStrictEqual([outer.until, inner.until], [150, 150])
    // within a step the time is that of the wait that is over, and not that of the step
    outer.begin()
    inner.reach(149)
    assert.strictEqual(inner.until, 150)
    inner.reach(160)
    assert.deepStrictEqual([outer.until, inner.until, outer.time], [190, 190, 150])
    yield* quiet
    assert.isDefined(short.pollUnsafe())
    assert.isUndefined(long.pollUnsafe())
    yield* Fiber.interrupt(long)
    assert.strictEqual(outer.until, Infinity)
  })
)

it.effect("a wait that is over counts no more, although the sleep of the clock cannot be cut off [P1118]", () =>
  Effect.gen(function* () {
    const real = yield* Clock.Clock
    // nothing else of the clock is used
    const stubborn = {
      currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe(),
      sleep: (duration: Duration.Duration) => Effect.uninterruptible(real.sleep(duration))
    } as unknown as Clock.Clock
    const line = new Line("r", "run", undefined)
    const waiting = yield* Effect.forkChild(line.sleep(Duration.seconds(1), stubborn))
    yield* quiet
    assert.strictEqual(line.until, 1000)
    line.reach(1000)
    yield* quiet
    assert.strictEqual(line.until, Infinity)
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(waiting)
  })
)

it.effect("a line that has caught up waits by the real clock, and never longer than the wait [P1132]", () =>
  Effect.gen(function* () {
    const real = yield* Clock.Clock
    // its time comes from a process whose clock was ten seconds ahead
    const ahead = new Line("r", "run", undefined, 10_000)
    ahead.live()
    const waiting = yield* Effect.forkChild(ahead.sleep(Duration.seconds(1), real))
    yield* TestClock.adjust(999)
    yield* quiet
    assert.isUndefined(waiting.pollUnsafe())
    yield* TestClock.adjust(1)
    yield* quiet
    assert.isDefined(waiting.pollUnsafe())
    assert.deepStrictEqual([ahead.time, ahead.until], [11_000, Infinity])
    // the real clock is past the end of this wait
    const behind = new Line("s", "run", undefined, -5000)
    behind.live()
    yield* behind.sleep(Duration.seconds(1), real)
    assert.strictEqual(behind.time, -4000)
  })
)

it.effect("a line that replays, or has a step under way, does not end its wait by the real clock [P1118]", () =>
  Effect.gen(function* () {
    const real = yield* Clock.Clock
    const replaying = new Line("r", "run", undefined)
    const busy = new Line("s", "run", undefined)
    busy.live()
    busy.begin()
    for (const line of [replaying, busy]) {
      const waiting = yield* Effect.forkChild(line.sleep(Duration.seconds(1), real))
      yield* TestClock.adjust("5 seconds")
      yield* quiet
      assert.isUndefined(waiting.pollUnsafe())
      line.reach(1000 + line.time)
      yield* quiet
      assert.isDefined(waiting.pollUnsafe())
    }
  })
)

it("a run has a line, each of its calls too, and a child run is within the call that began it, and catches up with it [P1118]", () => {
  const lines = new Lines("run")
  assert.strictEqual(lines.of(undefined), lines.root)
  const outer = lines.of(run({ runId: "r" }))
  assert.strictEqual(lines.of(run({ runId: "r" })), outer)
  const call = lines.of(run({ runId: "r", callKey: "r/1/0" }))
  assert.strictEqual(lines.call("r/1/0", run({ runId: "r" }), 99), call)
  assert.strictEqual(call.time, 0)
  const within = { parent: { runId: "r" }, parentCallKey: "r/1/0" }
  const child = lines.of(run({ runId: "child", ...within }))
  const beside = lines.of(run({ runId: "beside", parent: { runId: "r" } }))
  child.begin()
  beside.advance(5)
  assert.deepStrictEqual([call.time, outer.time, beside.time], [0, 0, 5])
  child.live()
  assert.deepStrictEqual([call.isLive, outer.isLive, lines.root.isLive, beside.isLive], [true, true, true, false])
  // what begins within a line that has caught up has caught up
  assert.isTrue(lines.of(run({ runId: "later", ...within })).isLive)
  assert.strictEqual(lines.call("r/2/0", run({ runId: "r" }), 99).time, 99)
})

it.effect("an execution is calm when nothing is at work, and not before [P1118]", () =>
  Effect.gen(function* () {
    const lines = new Lines("run")
    yield* lines.calm
    const first = yield* Effect.forkChild(lines.busy(Effect.sleep("1 second")))
    const second = yield* Effect.forkChild(lines.busy(Effect.sleep("2 seconds")))
    yield* quiet
    const waiting = yield* Effect.forkChild(lines.calm)
    for (const [fiber, isCalm] of [
      [first, false],
      [second, true]
    ] as const) {
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      for (let turn = 0; turn < 8; turn++) yield* quiet
      assert.strictEqual(waiting.pollUnsafe() !== undefined, isCalm)
    }
  })
)

it.effect("what waits for the calm does nothing while a step is at work [P1118]", () =>
  Effect.gen(function* () {
    const scheduler = yield* Scheduler.Scheduler
    let tasks = 0
    const counting: Scheduler.Scheduler = {
      executionMode: scheduler.executionMode,
      shouldYield: (fiber) => scheduler.shouldYield(fiber),
      makeDispatcher: () => {
        const dispatcher = scheduler.makeDispatcher()
        return {
          scheduleTask: (task, priority) => {
            tasks++
            dispatcher.scheduleTask(task, priority)
          },
          flush: () => dispatcher.flush()
        }
      }
    }
    const lines = new Lines("run")
    const step = yield* Effect.forkChild(lines.busy(Effect.sleep("1 second")))
    yield* quiet
    const waiting = yield* Effect.forkChild(Effect.provideService(lines.calm, Scheduler.Scheduler, counting))
    yield* quiet
    const before = tasks
    yield* quiet
    assert.strictEqual(tasks, before)
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(step)
    yield* Fiber.join(waiting)
    assert.isAbove(tasks, before)
  })
)
