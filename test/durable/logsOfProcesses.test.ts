/** Logs that several processes write: whose batch is stored, and what becomes of what a crash cut off. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { EventLog } from "../../packages/durable/src/eventLog.ts"
import { end, event, processOf, quiet, shown, start, storage, text, turn } from "./_support/logStorage.ts"

it.effect("a text that a process has discarded for another is no event of the run for the next one [P1543]", () =>
  Effect.gen(function* () {
    const rows = storage()
    const dead = new EventLog()
    dead.continues("r", true)
    yield* dead.end(yield* processOf(rows, "dead"), [turn, start, text("ab")])
    const process = yield* processOf(rows)
    const log = new EventLog()
    yield* log.begin(process, true)
    for (const one of [turn, start]) log.add(one)
    log.settle("r", 5, undefined)
    yield* log.end(process, [])
    assert.deepStrictEqual(
      [shown(rows.batches()).at(-1), rows.batches().at(-1)?.unreplayed],
      [["attempt-discarded ab"], [0]]
    )
    const third = new EventLog()
    yield* third.begin(yield* processOf(rows, "third"), true)
    assert.deepStrictEqual([third.add(turn), third.add(start)], [false, false])
    assert.isTrue(third.add(event("attempt-discarded", { attempt: 1, text: "x" })))
  })
)

it.effect("of two runs that a crash cut off, the one that goes on keeps its text [P1371 P1543]", () =>
  Effect.gen(function* () {
    const rows = storage()
    const dead = new EventLog()
    const ofOther = event("text-delta", { text: "cd", runId: "s" })
    dead.continues("r", true)
    yield* dead.end(yield* processOf(rows, "dead"), [start, text("ab"), { ...start, runId: "s" }, ofOther])
    const log = new EventLog()
    yield* log.begin(yield* processOf(rows), true)
    assert.deepStrictEqual(shown(rows.batches()).at(-1), ["attempt-discarded cd"])
    for (const one of [start, { ...start, runId: "s" }]) log.add(one)
    assert.deepStrictEqual([log.cutOffOf("r"), log.cutOffOf("s")], ["ab", undefined])
  })
)

it.effect.each([
  { writer: "other", epoch: 0 },
  { writer: "me", epoch: 1 }
])("a batch of $writer in epoch $epoch is not taken for one of this log [P1543]", ({ epoch, writer }) =>
  Effect.gen(function* () {
    const rows = storage()
    const process = yield* processOf(rows)
    const [mine, other] = [new EventLog(), new EventLog()]
    // a log that begins is in its first epoch
    if (epoch === 1) yield* other.begin(yield* processOf(rows, writer), false)
    yield* other.end(yield* processOf(rows, writer), [turn])
    yield* mine.end(process, [start])
    assert.deepStrictEqual(
      rows.batches().map(({ epoch, writer }) => [writer, epoch]),
      [[writer, epoch]]
    )
    const { writes } = rows.state
    yield* mine.end(process, [text("a")])
    assert.deepStrictEqual([rows.state.writes, shown(rows.batches())], [writes, [["turn-start"]]])
  })
)

it.effect("the end of a child run is not that of its log [P1541 P1543]", () =>
  Effect.gen(function* () {
    const rows = storage()
    const log = new EventLog()
    const ofChild = { ...end, runId: "child", parent: { runId: "r", callId: "1" } }
    yield* log.end(yield* processOf(rows), [turn, ofChild])
    const later = new EventLog()
    yield* later.begin(yield* processOf(rows, "later"), true)
    assert.deepStrictEqual([log.isOver, later.isOver], [false, false])
    assert.deepStrictEqual([log.add(start), later.add(start)], [true, true])
  })
)

it.effect("nothing is written for a replay that is over, and a batch begins with its first event [P1543]", () =>
  Effect.gen(function* () {
    const rows = storage()
    const process = yield* processOf(rows)
    const log = new EventLog()
    yield* log.during(process, Effect.void)
    log.add(turn)
    yield* TestClock.adjust("1 second")
    yield* quiet
    assert.lengthOf(rows.batches(), 0)
    const writing = yield* Effect.forkChild(log.during(process, Effect.never))
    yield* quiet
    yield* TestClock.adjust(250)
    yield* quiet
    assert.deepStrictEqual(shown(rows.batches()), [["turn-start"]])
    // a quarter of a second begins with an event, not with the batch before it
    yield* TestClock.adjust(100)
    yield* quiet
    log.add(start)
    yield* quiet
    yield* TestClock.adjust(249)
    yield* quiet
    assert.lengthOf(rows.batches(), 1)
    yield* TestClock.adjust(1)
    yield* quiet
    assert.lengthOf(rows.batches(), 2)
    yield* Fiber.interrupt(writing)
  })
)
