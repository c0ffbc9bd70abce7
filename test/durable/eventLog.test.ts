/** The log of one run in one process: when it writes its batches, what another process has written, and what it gives up. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { EventLog } from "../../packages/durable/src/eventLog.ts"
import type { Words } from "../../packages/durable/src/words.ts"
import { end, event, processOf, quiet, shown, silent, start, storage, text, turn } from "./_support/logStorage.ts"

it.effect("a batch has the events of a quarter of a second, or 32 deltas [P1543]", () =>
  Effect.gen(function* () {
    const rows = storage()
    const process = yield* processOf(rows)
    const log = new EventLog()
    const writing = yield* Effect.forkChild(log.during(process, Effect.never))
    yield* quiet
    log.add(turn)
    log.add(start)
    yield* quiet
    yield* TestClock.adjust(249)
    yield* quiet
    assert.lengthOf(rows.batches(), 0)
    yield* TestClock.adjust(1)
    yield* quiet
    assert.deepStrictEqual(shown(rows.batches()), [["turn-start", "model-start"]])
    for (let nth = 0; nth < 32; nth++) log.add(text("x"))
    yield* quiet
    assert.lengthOf(rows.batches(), 2)
    log.add(text("y"))
    yield* quiet
    assert.lengthOf(rows.batches(), 2)
    yield* TestClock.adjust(250)
    yield* quiet
    assert.deepStrictEqual(shown(rows.batches()), [
      ["turn-start", "model-start"],
      [`text-delta ${"x".repeat(32)}`],
      ["text-delta y"]
    ])
    assert.deepStrictEqual(
      rows.batches().map(({ epoch, first, writer }) => [writer, epoch, first]),
      [
        ["me", 0, 1],
        ["me", 0, 3],
        ["me", 0, 4]
      ]
    )
    yield* Fiber.interrupt(writing)
  })
)

it.effect("the end of a replay writes the rest, and tries for half a minute if the storage fails [P1113 P1543]", () =>
  Effect.gen(function* () {
    const rows = storage()
    const process = yield* processOf(rows)
    const log = new EventLog()
    yield* log.begin(process, false)
    rows.state.fails = "before"
    log.add(turn)
    const ending = yield* Effect.forkChild(log.during(process, Effect.void))
    yield* quiet
    const tries = [0]
    for (let quarter = 1; quarter <= 160; quarter++) {
      const { writes } = rows.state
      yield* TestClock.adjust(250)
      yield* quiet
      if (rows.state.writes > writes) tries.push(quarter / 4)
    }
    yield* Fiber.join(ending)
    assert.strictEqual(rows.state.writes, 12)
    assert.deepStrictEqual(tries, [0, 0.25, 0.75, 1.75, 3.75, 7.75, 11.75, 15.75, 19.75, 23.75, 27.75, 31.75])
    // what is left comes with the next replay
    rows.state.fails = undefined
    yield* log.begin(process, true)
    assert.deepStrictEqual(shown(rows.batches()), [["turn-start"]])
  }).pipe(silent)
)

it.effect(
  "a batch that was stored although its write failed counts, and what came later has the next one [P1543]",
  () =>
    Effect.gen(function* () {
      const rows = storage()
      const process = yield* processOf(rows)
      const log = new EventLog()
      yield* log.begin(process, false)
      rows.state.fails = "after"
      for (const one of [turn, start, text("ab")]) log.add(one)
      const ending = yield* Effect.forkChild(log.end(process, []))
      yield* quiet
      log.add(text("cd"))
      rows.state.fails = undefined
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(ending)
      const both = [["turn-start", "model-start", "text-delta ab"], ["text-delta cd"]]
      assert.deepStrictEqual(shown(rows.batches()), both)
      yield* log.end(process, [end])
      assert.deepStrictEqual(shown(rows.batches()), [...both, ["run-interrupted"]])
    }).pipe(silent)
)

it.effect("a log whose next batch another process has written is left to that process [P1543]", () =>
  Effect.gen(function* () {
    const rows = storage()
    const [mine, other] = [new EventLog(), new EventLog()]
    const [me, them] = [yield* processOf(rows), yield* processOf(rows, "other")]
    mine.add(turn)
    yield* mine.end(me, [])
    yield* other.begin(them, true)
    assert.deepInclude(rows.batches()[1], { writer: "other", kind: "takeover", epoch: 1, first: 1, events: [] })
    mine.add(start)
    yield* mine.end(me, [])
    const { writes } = rows.state
    mine.add(text("a"))
    yield* mine.end(me, [end])
    assert.strictEqual(rows.state.writes, writes)
    assert.lengthOf(rows.batches(), 2)
  })
)

it.effect("a log whose storage fails says so once [P1543]", () => {
  const logged: Array<unknown> = []
  const logger = Logger.make<unknown, void>(
    ({ message }) => void logged.push(Array.isArray(message) ? message[0] : message)
  )
  return Effect.gen(function* () {
    const rows = storage()
    const process = yield* processOf(rows)
    const log = new EventLog()
    rows.state.fails = "before"
    log.add(turn)
    const ending = yield* Effect.forkChild(log.end(process, []))
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(ending)
    assert.isAbove(rows.state.writes, 1)
    assert.deepStrictEqual(logged, ["The events of run 'run' cannot be stored just now"])
  }).pipe(Effect.provide(Logger.layer([logger])))
})

it.effect("a log ends at its limit, which all batches share, also for the next process [P1543]", () =>
  Effect.gen(function* () {
    const rows = storage()
    const process = yield* processOf(rows)
    const log = new EventLog(700)
    for (const nth of [1, 2, 3, 4]) {
      log.add(event("tool-progress", { callId: "1", tool: "t", args: {}, data: `${nth}`.repeat(150) }))
      yield* log.end(process, [])
    }
    const kinds = rows.batches().map(({ events, kind }) => kind ?? events.length)
    assert.deepStrictEqual(kinds, [1, 1, "full"])
    const { writes } = rows.state
    const next = yield* processOf(rows, "next")
    const later = new EventLog(2000)
    yield* later.begin(next, true)
    yield* later.end(next, [end])
    assert.strictEqual(rows.state.writes, writes)
  })
)

it.effect(
  "a process that takes a log over retracts the text that was cut off, and a replay's own events stay new [P1371 P1543]",
  () =>
    Effect.gen(function* () {
      const rows = storage()
      const dead = new EventLog()
      yield* dead.begin(yield* processOf(rows, "dead"), false)
      for (const one of [turn, start, text("ab")]) dead.add(one)
      yield* dead.end(yield* processOf(rows, "dead"), [])
      const process = yield* processOf(rows)
      const log = new EventLog()
      yield* log.begin(process, true)
      assert.deepInclude(rows.batches()[1], { kind: "takeover", epoch: 2 })
      assert.deepStrictEqual(shown(rows.batches())[1], ["attempt-discarded ab"])
      assert.deepStrictEqual([log.add(turn), log.add(start), log.add(text("abc"))], [false, false, true])
      // another process that reads the takeover does not count its event as one of the run
      const third = new EventLog()
      yield* third.begin(yield* processOf(rows, "third"), true)
      assert.deepStrictEqual([third.add(turn), third.add(start)], [false, false])
      assert.isTrue(third.add(event("attempt-discarded", { attempt: 1, text: "x" })))
    })
)

it.effect(
  "a replay in the same process retracts a text only if its model call is not at work any more [P1371 P1543]",
  () =>
    Effect.gen(function* () {
      for (const isAtWork of [true, false]) {
        const rows = storage()
        const process = yield* processOf(rows)
        const log = new EventLog()
        yield* log.begin(process, false)
        for (const one of [turn, start, text("ab")]) log.add(one)
        yield* log.end(process, [])
        const words: Words = process.words.of("r", "step")
        if (isAtWork) words.begin()
        yield* log.begin(process, true)
        assert.deepStrictEqual(shown(rows.batches()).slice(1), isAtWork ? [] : [["attempt-discarded ab"]])
      }
    })
)

it.effect("what becomes of a text that was cut off is marked as an event that no replay emits [P1543]", () =>
  Effect.gen(function* () {
    const rows = storage()
    const dead = new EventLog()
    yield* dead.begin(yield* processOf(rows, "dead"), false)
    dead.continues("r", true)
    for (const one of [turn, start, text("ab")]) dead.add(one)
    yield* dead.end(yield* processOf(rows, "dead"), [])
    assert.deepStrictEqual(rows.batches()[0]?.continuing, ["r"])
    const process = yield* processOf(rows)
    const log = new EventLog()
    yield* log.begin(process, true)
    assert.deepStrictEqual([log.add(turn), log.add(start), log.cutOffOf("r")], [false, false, "ab"])
    log.settle("r", 5, "ab")
    yield* log.end(process, [])
    const last = rows.batches().at(-1)
    assert.deepStrictEqual([last?.events.map(({ type }) => type), last?.unreplayed], [["attempt-continued"], [0]])
  })
)

it.effect("a log that is over takes no batch and no event of a later replay [P1541 P1543]", () =>
  Effect.gen(function* () {
    const rows = storage()
    const log = new EventLog()
    yield* log.end(yield* processOf(rows), [turn, end])
    assert.isTrue(log.isOver)
    const { writes } = rows.state
    const later = new EventLog()
    yield* later.begin(yield* processOf(rows, "later"), true)
    assert.deepStrictEqual([later.isOver, later.add(turn), log.add(start)], [true, false, false])
    yield* later.end(yield* processOf(rows, "later"), [turn])
    assert.strictEqual(rows.state.writes, writes)
  })
)

it.effect(
  "a replay that is interrupted writes its rest once; of a run that waits or was stopped, until the storage answers [P1113 P1543]",
  () =>
    Effect.gen(function* () {
      for (const { isStopped = false, isWritten, writes, ...state } of [
        { isWritten: false, writes: 1 },
        { abandoned: true, isWritten: false, suspended: true, writes: 1 },
        // once more beside the run, at once
        { isWritten: true, suspended: true, writes: 2 },
        { isStopped: true, isWritten: true, writes: 1 }
      ]) {
        const rows = storage()
        const scope = yield* Scope.make()
        const process = { ...(yield* processOf(rows)), scope, stopping: { isSo: isStopped } }
        Object.assign(process.instance, state)
        const log = new EventLog()
        yield* log.begin(process, false)
        rows.state.fails = "before"
        const running = yield* Effect.forkChild(log.during(process, Effect.never))
        yield* quiet
        log.add(turn)
        const stopping = yield* Effect.forkChild(Fiber.interrupt(running))
        yield* quiet
        assert.strictEqual(rows.state.writes, writes)
        // only the end of a run waits for the storage: a run that waits writes beside it
        assert.strictEqual(stopping.pollUnsafe() === undefined, isStopped)
        rows.state.fails = undefined
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(stopping)
        yield* quiet
        assert.deepStrictEqual(shown(rows.batches()), isWritten ? [["turn-start"]] : [])
        // and ends with its process
        yield* Scope.close(scope, Exit.void)
      }
    }).pipe(silent)
)
