/** A step of a run: a replay begins its work, joins it, or reads its end, and a wait of the run may end before the step. */
import { assert, it } from "@effect/vitest"
import type { Ledger } from "@kintsugi/core"
import { Usage } from "@kintsugi/core"
import * as Interception from "@kintsugi/core/Interception"
import * as RunContext from "@kintsugi/core/RunContext"
import { Cause, Clock, Deferred, Duration, Effect, Exit, Fiber, Option, Random, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import {
  acted,
  outside,
  record,
  type Recorded,
  type Replay,
  remainder,
  Said
} from "../../packages/durable/src/recording.ts"
import { Words } from "../../packages/durable/src/words.ts"
import { entry, exitOf, processOfReplays, quiet, spendingRun } from "./_support/replays.ts"

const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })

/** Books an entry with the run of the fiber, as an agent within the step does. */
const spend = (one: Ledger.Entry) =>
  Effect.map(Effect.serviceOption(RunContext.Current), (found) => Option.getOrUndefined(found)?.ledger.record(one))

/** Records the step `one`, whose work gives a text. */
const step = (
  replay: Replay,
  work: Effect.Effect<string, typeof Said.Type>,
  more: Pick<Recorded<string, typeof Said.Type>, "asks" | "run" | "words"> = {}
) => record(replay, { line: replay.lines.root, name: "one", value: Schema.String, error: Said, work, ...more })

/** Lets the line of a replay wait until an instant, and gives the fiber of that wait. */
const waitingUntil = (replay: Replay, instant: number) =>
  Effect.tap(
    Effect.forkChild(replay.lines.root.sleep(Duration.millis(instant - replay.lines.root.time), replay.clock)),
    quiet
  )

it.effect("the work of a step is done once, and its result or failure is read later with its instant [P1114]", () =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    yield* TestClock.setTime(500)
    const first = replay()
    const asks = { requestDigest: "r", conversationDigest: "c" }
    assert.strictEqual(yield* step(first, Effect.succeed("done"), { asks }), "done")
    assert.deepStrictEqual(stored(), { one: { _tag: "Done", at: 500, value: "done", ...asks } })
    yield* TestClock.setTime(900)
    const second = replay()
    const recorded: Array<unknown> = []
    const repeated = { ...asks, recorded: (...of: ReadonlyArray<unknown>) => void recorded.push(of) }
    assert.strictEqual(yield* step(second, Effect.die("done twice"), { asks: repeated }), "done")
    assert.deepStrictEqual([second.lines.root.time, second.lines.root.isLive, recorded], [500, false, [["one", 0]]])
    // so is a failure
    const other = yield* processOfReplays
    const no = { message: "no" }
    assert.deepStrictEqual(yield* Effect.flip(step(other.replay(), Effect.fail(no))), no)
    assert.deepStrictEqual(other.stored(), { one: { _tag: "Failed", at: 900, error: no } })
    assert.deepStrictEqual(yield* Effect.flip(step(other.replay(), Effect.die("again"))), no)
  })
)

it.effect(
  "a suspended replay leaves its work to the next one, which joins it with what it has spent [P1114 P1133]",
  () =>
    Effect.gen(function* () {
      const { replay, stored } = yield* processOfReplays
      const end = yield* Deferred.make<string>()
      const begun: Array<number> = []
      const work = Effect.gen(function* () {
        begun.push(1)
        yield* spend(entry(1))
        const text = yield* Deferred.await(end)
        yield* spend(entry(2))
        return text
      })
      const [first, second] = [spendingRun(), spendingRun()]
      const one = replay()
      const left = yield* Effect.forkChild(step(one, work, { run: first.run }))
      yield* quiet
      one.instance.suspended = true
      yield* Fiber.interrupt(left)
      assert.deepStrictEqual([...one.atWork.keys()], ["run/one"])
      const joining = yield* Effect.forkChild(step(replay(), work, { run: second.run }))
      yield* quiet
      yield* Deferred.succeed(end, "done")
      assert.strictEqual(yield* Fiber.join(joining), "done")
      assert.deepStrictEqual(stored(), {
        one: { _tag: "Done", at: 0, value: "done", ledger: [entry(1), entry(2)] }
      })
      assert.deepStrictEqual([begun, second.ledger.entries], [[1], [entry(1), entry(2)]])
      assert.deepStrictEqual([...one.atWork.keys()], [])
    })
)

it.effect.each([
  { name: "is interrupted", state: {}, isStopped: false },
  { name: "is put aside for another process", state: { suspended: true, abandoned: true }, isStopped: false },
  { name: "is suspended as its run is stopped", state: { suspended: true }, isStopped: true }
])("the work of a step stops when its replay $name, and nothing is stored [P1130 P1136]", ({ isStopped, state }) =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    const one = replay()
    let isOver = false
    const work = Effect.onInterrupt(Effect.never, () => Effect.sync(() => void (isOver = true)))
    const running = yield* Effect.forkChild(step(one, work, { run: spendingRun().run }))
    yield* quiet
    Object.assign(one.instance, state)
    one.stopping.isSo = isStopped
    yield* Fiber.interrupt(running)
    assert.deepStrictEqual([isOver, [...one.atWork.keys()], stored()], [true, [], {}])
  })
)

it.effect("a wait that ends before a step is stored with what was counted, and the step goes on [P1132 P1133]", () =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    const end = yield* Deferred.make<string>()
    const play = (over: Replay, words: Words | undefined) =>
      Effect.gen(function* () {
        const wait = yield* waitingUntil(over, 1000)
        const running = yield* Effect.forkChild(step(over, Deferred.await(end), words === undefined ? {} : { words }))
        yield* quiet
        return { running, wait }
      })
    const words = new Words()
    words.begin()
    words.push({ type: "usage", usage })
    const first = replay()
    const { running, wait } = yield* play(first, words)
    yield* TestClock.setTime(1000)
    yield* quiet
    const late = { one: { _tag: "Late", counted: { usage } } }
    assert.deepStrictEqual(stored(), late)
    assert.isDefined(wait.pollUnsafe())
    assert.strictEqual(first.lines.root.time, 1000)
    yield* TestClock.setTime(1200)
    yield* Deferred.succeed(end, "done")
    assert.strictEqual(yield* Fiber.join(running), "done")
    const whole = { ...late, "one~2": { _tag: "Done", at: 1200, value: "done" } }
    assert.deepStrictEqual(stored(), whole)
    // replays wait and end in the same order, with or without a reader of the words
    for (const read of [new Words(), undefined]) {
      const next = replay()
      const heard: Array<unknown> = []
      read?.hear((part) => void heard.push(part))
      const { running, wait } = yield* play(next, read)
      assert.strictEqual(yield* Fiber.join(running), "done")
      assert.deepStrictEqual(
        [heard, next.lines.root.time],
        [read === undefined ? [] : [{ type: "usage", usage }], 1200]
      )
      assert.isDefined(wait.pollUnsafe())
    }
  })
)

it.effect("a step whose wait is over already begins its work after the wait [P1132]", () =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    const one = replay()
    const wait = yield* waitingUntil(one, 1000)
    yield* TestClock.setTime(1000)
    yield* quiet
    // it replays, so only a step ends its waits
    assert.isUndefined(wait.pollUnsafe())
    let begun = 0
    assert.strictEqual(
      yield* step(
        one,
        Effect.sync(() => {
          begun++
          return wait.pollUnsafe() === undefined ? "within" : "after"
        })
      ),
      "after"
    )
    assert.deepStrictEqual([begun, Object.keys(stored())], [1, ["one", "one~2"]])
  })
)

/** A step with a time limit of a second, whose work spends something before and after that, and its run. */
const timed = (replay: Replay, work: Effect.Effect<string>) =>
  Effect.gen(function* () {
    const { ledger, run } = spendingRun()
    const spending = Effect.onInterrupt(Effect.andThen(spend(entry(1)), work), () => spend(entry(2)))
    const limit = Effect.as(replay.lines.root.sleep(Duration.seconds(1), replay.clock), "too late")
    const running = yield* Effect.forkChild(Effect.raceFirst(limit, step(replay, spending, { run })))
    yield* quiet
    return { ledger, running }
  })

const late = { _tag: "Late", ledger: [entry(1)] }

it.effect("a step that a timeout ends is stopped, and what its agents spent until then is stored [P1133]", () =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    const { ledger, running } = yield* timed(replay(), Effect.never)
    yield* TestClock.setTime(1000)
    assert.strictEqual(yield* Fiber.join(running), "too late")
    assert.deepStrictEqual(stored(), { one: late, "one/cut-off": { ledger: [entry(2)] } })
    assert.deepStrictEqual(ledger.entries, [entry(1), entry(2)])
    // a replay ends at the same wait, and books both
    const next = yield* timed(replay(), Effect.die("again"))
    assert.strictEqual(yield* Fiber.join(next.running), "too late")
    assert.deepStrictEqual(next.ledger.entries, [entry(1), entry(2)])
  })
)

it.effect.each([
  { what: "that ends by itself", steps: ["one", "one~2"] },
  { what: "that another process goes on with", steps: ["one"] },
  { what: "whose process ends", steps: ["one"] }
] as const)("a step $what after a wait is not cut off [P1115 P1130 P1133]", ({ steps, what }) =>
  Effect.gen(function* () {
    const { replay, scope, stored } = yield* processOfReplays
    const one = replay()
    const end = yield* Deferred.make<string>()
    yield* waitingUntil(one, 1000)
    const running = yield* Effect.forkChild(step(one, Deferred.await(end), { run: spendingRun().run }))
    yield* quiet
    yield* TestClock.setTime(1000)
    yield* quiet
    if (what === "that ends by itself") yield* Deferred.succeed(end, "done")
    if (what === "that another process goes on with") one.taken.isSo = true
    if (what === "whose process ends") yield* Scope.close(scope, Exit.void)
    yield* quiet
    yield* Fiber.interrupt(running)
    assert.deepStrictEqual(Object.keys(stored()), [...steps])
  })
)

it.effect("a run that a newer agent has recorded is suspended, and its step is not read [P1712]", () =>
  Effect.gen(function* () {
    const { replay, steps } = yield* processOfReplays
    steps.set("one", Exit.succeed({ _tag: "Done", at: 0, value: "done", revision: 1 }))
    const one = replay()
    const exit = yield* exitOf(step(one, Effect.die("again")))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
    assert.isTrue(one.instance.suspended)
    assert.strictEqual(yield* step(replay({ migrations: [{}] }), Effect.die("again")), "done")
  })
)

it.effect("a step that waits for its engine is noted, if the engine has storage that can lose it [P1398]", () =>
  Effect.gen(function* () {
    const { replay } = yield* processOfReplays
    for (const [rows, expected] of [
      [{}, ["one"]],
      [undefined, []]
    ] as const) {
      const one = replay({ rows })
      const engine = { ...one.engine, activityExecute: () => Effect.never }
      const running = yield* Effect.forkChild(step({ ...one, engine } as Replay, Effect.succeed("done")))
      yield* quiet
      assert.deepStrictEqual<ReadonlyArray<string>>([...one.waiting], expected)
      yield* Fiber.interrupt(running)
      assert.deepStrictEqual([...one.waiting], [])
    }
    // a step that has begun is at work
    const one = replay({ rows: {} })
    const seen = yield* step(
      one,
      Effect.sync(() => `${one.waiting.size}`)
    )
    assert.strictEqual(seen, "0")
  })
)

it.effect("a wait is never longer than decided, nor shorter than nothing [P1132]", () =>
  Effect.gen(function* () {
    const { replay } = yield* processOfReplays
    const { clock } = replay()
    yield* TestClock.setTime(1000)
    const left = (from: number, until: number) => Duration.toMillis(remainder(clock, from, until))
    assert.deepStrictEqual([left(900, 1300), left(1200, 1300), left(100, 900)], [300, 100, 0])
  })
)

it.effect("fibers whose wait is over act before the one that yields to them [P1132]", () =>
  Effect.gen(function* () {
    const turns: Array<string> = []
    const acting = (name: string, times: number) =>
      Effect.repeat(
        Effect.andThen(
          Effect.sync(() => void turns.push(name)),
          Effect.yieldNow
        ),
        { times: times - 1 }
      )
    yield* Effect.forkChild(acting("other", 4))
    yield* acted
    assert.deepStrictEqual(turns, ["other", "other", "other", "other"])
  })
)

it.effect("what is not recorded has the clock and the random numbers of its process, and records nothing [P1114]", () =>
  Effect.gen(function* () {
    const { replay } = yield* processOfReplays
    const one = replay({ clock: { currentTimeMillis: Effect.succeed(42) }, random: { nextIntUnsafe: () => 7 } })
    const seen = Effect.gen(function* () {
      const current = yield* Interception.Current
      return [yield* Clock.currentTimeMillis, (yield* Random.Random).nextIntUnsafe(), current]
    })
    // nothing of the interception of the run is used
    const within = Effect.provideService(outside(one, seen), Interception.Current, {} as never)
    assert.deepStrictEqual(yield* within, [42, 7, undefined])
  })
)
