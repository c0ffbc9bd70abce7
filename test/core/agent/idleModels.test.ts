/** An agent's own model without a runtime around the run, as under `Effect.runPromise`: it is closed after its idle time. */
import { assert } from "@effect/vitest"
import { Agent, Model } from "@kintsugi/core"
import { Clock, Context, Deferred, Duration, Effect, Fiber, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import { vi } from "vitest"
import { service } from "../../_support/guard.ts"
import { it } from "../../_support/run.ts"
import { bare, count, logged } from "./_support/sharing.ts"

class Desk extends Context.Service<Desk, string>()("test/Desk") {}

/** A layer without a build of its own, which stands in no memo map. */
const given = (name: string) => Layer.succeed(Desk, name)

it.run("a model is shared, closed 5 minutes after the last run, and rebuilt by the next run [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const agent = Agent.make("clerk", { model: logged(log) })
    const ask = bare(run(agent, "go"))
    yield* Effect.all([ask, ask], { concurrency: 2 })
    yield* TestClock.adjust("4 minutes")
    yield* ask
    yield* TestClock.adjust(Duration.millis(5 * 60_000 - 1))
    assert.deepStrictEqual(log, ["model 1 opens", ...Array(3).fill("model 1 asked")])
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(log.at(-1), "model 1 closes")
    yield* ask
    assert.deepStrictEqual(log.slice(-2), ["model 2 opens", "model 2 asked"])
    yield* TestClock.adjust("1 hour")
    assert.strictEqual(log.at(-1), "model 2 closes")
  })
)

/** Counts the fibers of runs that have not ended. */
const countFibers = () => {
  const fibers = { now: 0 }
  const counting: Metric.FiberRuntimeMetricsService = {
    recordFiberStart: () => void fibers.now++,
    recordFiberEnd: () => void fibers.now--
  }
  return { fibers, counted: Effect.provideService(Metric.FiberRuntimeMetrics, counting) }
}

it.run(
  "one fiber waits for the end of the idle time, however many runs come in between, and none for an end that never comes [P1504]",
  (run) =>
    Effect.gen(function* () {
      for (const [modelIdle, waiting] of [
        ["5 minutes", 1],
        ["Infinity", 0]
      ] as const) {
        const { counted, fibers } = countFibers()
        const log: Array<string> = []
        const ask = bare(run(Agent.make("clerk", { model: logged(log), modelIdle }), "go")).pipe(counted)
        for (let nth = 0; nth < 20; nth++) {
          yield* ask
          yield* TestClock.adjust("1 minute")
        }
        assert.strictEqual(fibers.now, waiting)
        yield* TestClock.adjust("5 minutes")
        assert.strictEqual(fibers.now, 0)
        assert.strictEqual(count(log, /closes/), waiting)
      }
    })
)

it.run(
  "a model that a later run has replaced is closed, and no fiber waits for the end of its idle time [P1504]",
  (run) =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const { counted, fibers } = countFibers()
      const agent = Agent.make("clerk", { model: logged(log) })
      // each run has a memo map of its own, in which this layer does not stand
      const ask = run(agent, "go").pipe(Effect.provide(given("one")), counted)
      for (let nth = 0; nth < 20; nth++) yield* ask
      assert.lengthOf(
        log.filter((line) => line.endsWith("closes")),
        19
      )
      assert.strictEqual(fibers.now, 1)
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(fibers.now, 0)
      assert.strictEqual(log.at(-1), "model 20 closes")
    })
)

it.run("the time of a run is not idle [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const gate = yield* Deferred.make<void>()
    let asked = 0
    const opened = Effect.acquireRelease(
      Effect.sync(() => service(() => (++asked === 2 ? Deferred.await(gate) : Effect.void))),
      () => Effect.sync(() => void log.push("closes"))
    )
    const agent = Agent.make("clerk", { model: Layer.effect(Model.Model, opened), budget: { maxDuration: "1 day" } })
    yield* bare(run(agent, "go"))
    const fiber = yield* Effect.forkChild(bare(run(agent, "go")), { startImmediately: true })
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(log, [])
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(fiber)
    yield* TestClock.adjust("299 seconds")
    assert.deepStrictEqual(log, [])
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(log, ["closes"])
  })
)

for (const isFirst of [true, false]) {
  it.run(
    `a run that begins at the instant of the end is before it or after it; ${isFirst ? "it wakes first" : "it wakes last"} [P1504]`,
    (run) =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const ask = bare(run(Agent.make("clerk", { model: logged(log) }), "go"))
        const later = Effect.forkChild(Effect.delay(ask, "6 minutes"), { startImmediately: true })
        const first = isFirst ? yield* later : undefined
        yield* TestClock.adjust("1 minute")
        yield* ask
        const fiber = first ?? (yield* Effect.forkChild(Effect.delay(ask, "5 minutes"), { startImmediately: true }))
        yield* TestClock.adjust("5 minutes")
        yield* Fiber.join(fiber)
        const opened = ["model 1 opens", "model 1 asked"]
        const shared = [...opened, "model 1 asked"]
        const anew = [...opened, "model 1 closes", "model 2 opens", "model 2 asked"]
        assert.deepStrictEqual(log, isFirst ? shared : anew)
        yield* TestClock.adjust("5 minutes")
        assert.strictEqual(count(log, /opens/), count(log, /closes/))
      })
  )
}

it.run("the idle time is an option: zero is the end of the last run, and infinity is never [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const model = logged(log, "model", () => Effect.yieldNow)
    const [short, soon, never] = (["1 second", 0, "Infinity"] as const).map((modelIdle) =>
      bare(run(Agent.make("clerk", { model, modelIdle }), "go"))
    )
    assert(short && soon && never)
    yield* Effect.all([soon, soon], { concurrency: 2 })
    assert.deepStrictEqual(log.splice(0), ["model 1 opens", "model 1 asked", "model 1 asked", "model 1 closes"])
    yield* short
    yield* TestClock.adjust("999 millis")
    assert.strictEqual(count(log, /closes/), 0)
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(log.at(-1), "model 2 closes")
    yield* never
    yield* short
    yield* TestClock.adjust("1000 days")
    assert.strictEqual(count(log, /closes/), 1)
    for (const modelIdle of [-1, Number.NaN, "-1 second"] as const) {
      assert.throws(() => Agent.make("clerk", { model, modelIdle }), /Agent 'clerk': modelIdle must be a duration/)
    }
  })
)

it.run(
  "the idle time by the clock of the system keeps no process alive, and is bounded by what timers can do [P1504]",
  (run) =>
    Effect.gen(function* () {
      const timers = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => new AbortController().signal)
      yield* Effect.addFinalizer(() => Effect.sync(() => timers.mockRestore()))
      const system = Context.get(Context.empty(), Clock.Clock)
      for (const [modelIdle, least, most] of [
        ["1 hour", 3_590_000, 3_600_000],
        ["60 days", 2 ** 31 - 1, 2 ** 31 - 1]
      ] as const) {
        yield* bare(run(Agent.make("clerk", { model: logged([]), modelIdle }), "go")).pipe(
          Effect.provideService(Clock.Clock, system)
        )
        const [millis = 0] = timers.mock.lastCall ?? []
        assert.isTrue(millis >= least && millis <= most, String(millis))
      }
    })
)

it.run("under another layer without a scope it is built anew, and the idle one is closed [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const names: Array<string> = []
    const model = logged(log, "model", () => Effect.map(Desk, (name) => void names.push(name)))
    const ask = run(Agent.make("clerk", { model }), "go")
    yield* bare(Effect.provide(Effect.andThen(ask, ask), given("a")))
    yield* bare(Effect.provide(ask, given("b")))
    assert.deepStrictEqual(names, ["a", "b"])
    assert.deepStrictEqual(log, [
      "model 1 opens",
      "model 1 asked",
      "model 1 asked",
      "model 1 closes",
      "model 2 opens",
      "model 2 asked"
    ])
    // the first build counts where nothing but services differs
    yield* bare(Effect.provideService(ask, Desk, "c"))
    yield* bare(Effect.provideService(ask, Desk, "d"))
    assert.deepStrictEqual(names, ["a", "b", "c"])
  })
)

it.run("without a runtime a build that fails is not kept, and one without runs is interrupted [P1504]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const opening = (n: number) => (n === 1 ? Effect.fail("no") : n === 2 ? Effect.never : Effect.void)
    const ask = bare(run(Agent.make("clerk", { model: logged(log, "model", opening) }), "go"))
    assert.strictEqual(yield* Effect.flip(ask), "no")
    const fiber = yield* Effect.forkChild(ask, { startImmediately: true })
    yield* Fiber.interrupt(fiber)
    yield* ask
    assert.deepStrictEqual(log, [
      "model 1 opens",
      "model 1 closes",
      "model 2 opens",
      "model 2 closes",
      "model 3 opens",
      "model 3 asked"
    ])
  })
)

it.run("a finaliser that fails is logged, and no run fails of it [P1504]", (run) =>
  Effect.gen(function* () {
    const broken = Effect.acquireRelease(Effect.succeed(service(() => Effect.void)), () => Effect.die("broken"))
    const agent = Agent.make("clerk", { model: Layer.effect(Model.Model, broken) })
    yield* bare(run(agent, "go"))
    yield* TestClock.adjust("5 minutes")
    assert.strictEqual(yield* bare(run(agent, "go")), "hi")
  })
)
