import { assert } from "@effect/vitest"
import { Agent, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, type Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { vi } from "vitest"
import { calm } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { exceeded, failing } from "../budget/_support/limitedAgents.ts"

/** The clock of the test, which counts who sleeps by it. */
const counting = Effect.map(Clock.Clock, (clock) => {
  const asleep = { count: 0 }
  const sleep: Clock.Clock["sleep"] = (duration) =>
    Effect.acquireUseRelease(
      Effect.sync(() => asleep.count++),
      () => clock.sleep(duration),
      () => Effect.sync(() => asleep.count--)
    )
  return { asleep, clock: { ...clock, sleep } }
})

const answer = ScriptedModel.reply({ content: [Message.text("yes")] })

const ends = (exit: Exit.Exit<unknown, unknown>) => exceeded(failing(exit)).reason

it.run("runs that wait share one sleep, and each ends at its own millisecond [A903]", (run) =>
  Effect.gen(function* () {
    const { asleep, clock } = yield* counting
    const model = yield* ScriptedModel.make(
      ...Array.from({ length: 4 }, () => ScriptedModel.answers(() => Effect.never))
    )
    const instants: Array<number> = []
    const start = (millis: number) =>
      run(Agent.make("patient", { budget: { maxDuration: `${millis} millis` } }), "go").pipe(
        Effect.exit,
        Effect.tap(() => Effect.map(Clock.currentTimeMillis, (now) => void instants.push(now))),
        Effect.provide(model.layer),
        Effect.provideService(Clock.Clock, clock),
        Effect.forkChild({ startImmediately: true })
      )
    const fibers = [yield* start(10_000), yield* start(5001), yield* start(20_000)]
    yield* calm
    assert.strictEqual(asleep.count, 1)
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual(instants, [])
    fibers.push(yield* start(2))
    yield* calm
    assert.strictEqual(asleep.count, 1)
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual(instants, [5001, 5002, 10_000, 20_000])
    for (const exit of yield* Effect.forEach(fibers, Fiber.join)) assert.strictEqual(ends(exit), "maxDuration")
    assert.strictEqual(asleep.count, 0)
  })
)

it.run("nothing sleeps any more once no run waits [A903]", (run) =>
  Effect.gen(function* () {
    const { asleep, clock } = yield* counting
    const slow = ScriptedModel.answers(() => Effect.as(Effect.sleep("1 second"), answer))
    const model = yield* ScriptedModel.make(slow, slow)
    const agent = Agent.make("patient", { budget: { maxDuration: "10 seconds" } })
    const running = run(agent, "go").pipe(
      Effect.provide(model.layer),
      Effect.provideService(Clock.Clock, clock),
      Effect.forkChild({ startImmediately: true })
    )
    const fibers = [yield* running, yield* running]
    yield* calm
    // the two model calls, and the deadline of both runs
    assert.strictEqual(asleep.count, 3)
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), ["yes", "yes"])
    assert.strictEqual(asleep.count, 0)
  })
)

it.run("a run that is interrupted while it waits leaves no deadline [A903]", (run) =>
  Effect.gen(function* () {
    const { asleep, clock } = yield* counting
    const model = yield* ScriptedModel.make(ScriptedModel.answers(() => Effect.never))
    const fiber = yield* run(Agent.make("patient", {}), "go").pipe(
      Effect.provide(model.layer),
      Effect.provideService(Clock.Clock, clock),
      Effect.forkChild({ startImmediately: true })
    )
    yield* calm
    assert.strictEqual(asleep.count, 1)
    yield* Fiber.interrupt(fiber)
    assert.strictEqual(asleep.count, 0)
  })
)

it.run(
  "in a worker of Cloudflare, which ends timers with their request, each run has a sleep of its own [A903]",
  (run) =>
    Effect.gen(function* () {
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" })),
        () => Effect.sync(() => vi.unstubAllGlobals())
      )
      const { asleep, clock } = yield* counting
      const never = ScriptedModel.answers(() => Effect.never)
      const model = yield* ScriptedModel.make(never, never)
      const running = run(Agent.make("patient", { budget: { maxDuration: "10 seconds" } }), "go").pipe(
        Effect.exit,
        Effect.provide(model.layer),
        Effect.provideService(Clock.Clock, clock),
        Effect.forkChild({ startImmediately: true })
      )
      const first = yield* running
      yield* TestClock.adjust("1 second")
      const second = yield* running
      yield* calm
      assert.strictEqual(asleep.count, 2)
      yield* Fiber.interrupt(first)
      assert.strictEqual(asleep.count, 1)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(ends(yield* Fiber.join(second)), "maxDuration")
      assert.strictEqual(asleep.count, 0)
    }).pipe(Effect.scoped)
)
