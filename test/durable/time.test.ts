/** The clock and the random numbers of a durable run, in each of its fibers. */
import { assert, it } from "@effect/vitest"
import * as RunContext from "@kintsugi/core/RunContext"
import { Clock, Duration, Effect, Random } from "effect"
import { TestClock } from "effect/testing"
import { Lines } from "../../packages/durable/src/lines.ts"
import { clock, present, random } from "../../packages/durable/src/time.ts"
import { calm } from "../_support/dialogue.ts"

const quiet = Effect.forEach([1, 2, 3, 4], () => calm, { discard: true })

/** A run with only what a line is found by. */
const run = { runId: "r" } as unknown as RunContext.RunContext

const within = Effect.provideService(RunContext.Current, run)

it.effect("a fiber reads the recorded time of its line by each reading of the clock [P1118]", () =>
  Effect.gen(function* () {
    const lines = new Lines("run")
    // while a step outside of runs is under way, the results of runs do not count there
    lines.root.begin()
    lines.of(run).advance(1234)
    const made = clock(lines, yield* Clock.Clock)
    const read = Effect.gen(function* () {
      const here = yield* Clock.Clock
      return {
        time: present(lines).time,
        millis: [yield* here.currentTimeMillis, here.currentTimeMillisUnsafe()],
        nanos: [yield* here.currentTimeNanos, here.currentTimeNanosUnsafe()],
        monotonic: [yield* here.monotonicTimeNanos, here.monotonicTimeNanosUnsafe()]
      }
    }).pipe(Effect.provideService(Clock.Clock, made))
    const nanos = 1_234_000_000n
    assert.deepStrictEqual(yield* within(read), {
      time: 1234,
      millis: [1234, 1234],
      nanos: [nanos, nanos],
      monotonic: [nanos, nanos]
    })
    // the line of everything outside of runs
    assert.deepStrictEqual(yield* read, { time: 0, millis: [0, 0], nanos: [0n, 0n], monotonic: [0n, 0n] })
    lines.of(run).advance(1234.5)
    assert.strictEqual(made.currentTimeNanosUnsafe(), 0n)
    assert.strictEqual((yield* within(read)).nanos[0], 1_234_500_000n)
  })
)

it("code outside of fibers is outside of runs [P1118]", () => {
  const lines = new Lines("run")
  lines.of(run).advance(7)
  assert.strictEqual(present(lines), lines.root)
})

it.effect("a run sleeps by the time of its line, and what is outside of runs by the real clock [P1118]", () =>
  Effect.gen(function* () {
    const lines = new Lines("run")
    const line = lines.of(run)
    const here = clock(lines, yield* Clock.Clock)
    // a sleep of no length does not wait for the line
    const brief = yield* Effect.forkChild(within(here.sleep(Duration.zero)))
    yield* quiet
    assert.deepStrictEqual([brief.pollUnsafe() === undefined, line.until], [false, Infinity])
    const inRun = yield* Effect.forkChild(within(here.sleep(Duration.seconds(1))))
    const outside = yield* Effect.forkChild(here.sleep(Duration.seconds(1)))
    yield* quiet
    assert.strictEqual(line.until, 1000)
    assert.strictEqual(lines.root.until, Infinity)
    yield* TestClock.adjust("1 second")
    yield* quiet
    assert.deepStrictEqual([inRun.pollUnsafe() === undefined, outside.pollUnsafe() === undefined], [true, false])
    line.reach(1000)
    yield* quiet
    assert.isDefined(inRun.pollUnsafe())
  })
)

it.effect("a fiber draws the numbers of its line [P1118]", () =>
  Effect.gen(function* () {
    const [lines, same] = [new Lines("run"), new Lines("run")]
    const draw = Effect.map(Random.Random, (numbers) => [numbers.nextIntUnsafe(), numbers.nextDoubleUnsafe()]).pipe(
      Effect.provideService(Random.Random, random(lines))
    )
    const ofLine = ({ random }: ReturnType<Lines["of"]>) => [random.nextIntUnsafe(), random.nextDoubleUnsafe()]
    assert.deepStrictEqual(yield* within(draw), ofLine(same.of(run)))
    assert.deepStrictEqual(yield* draw, ofLine(same.root))
    assert.deepStrictEqual(yield* within(draw), ofLine(same.of(run)))
  })
)
