/** What is kept of the events of a run, and how readers go on in it. */
import { assert, describe, it } from "@effect/vitest"
import { AgentEvent, Message } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import type * as DoorError from "@kintsugi/core/DoorError"
import { Effect, Fiber, Stream } from "effect"
import { EventLog } from "../../../packages/core/src/event/EventLog.ts"

const origin = { runId: "run-1", agent: "a", turn: 1, at: 5 }

const begun = (transcript: Message.Transcript = []): AgentEvent.AgentEvent => ({
  ...origin,
  type: "run-start",
  input: "go",
  transcript
})

const delta = (text: string, runId = "run-1"): AgentEvent.AgentEvent => ({ ...origin, runId, type: "text-delta", text })

const said = (text: string): AgentEvent.AgentEvent => ({
  ...origin,
  type: "turn-end",
  message: Message.assistant(text)
})

const progress = (data: unknown): AgentEvent.AgentEvent => ({
  ...origin,
  type: "tool-progress",
  callId: "c",
  tool: "t",
  data
})

const logOf = (events: Iterable<AgentEvent.AgentEvent>, limits?: { events?: number; bytes?: number }) => {
  const log = new EventLog()
  log.limit({ events: 4096, bytes: 4 * 1024 * 1024, ...limits })
  for (const event of events) log.push(event)
  return log
}

const many = (count: number) => Array.from({ length: count }, (_, index) => progress(index))

/** What a reader gets that has no need to wait. */
const readOf = (log: EventLog, options: Parameters<EventLog["read"]>[0]) => {
  log.end()
  return Stream.runCollect(log.read(options))
}

const numbersOf = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.map(({ cursor = "" }) => Cursor.read(cursor)?.number)

const textOf = (event: AgentEvent.AgentEvent | undefined) =>
  event !== undefined && "text" in event ? event.text : event?.type

describe("the messages that events have led to", () => {
  it("begin with the prompt of the skill, if it has one", () => {
    const go = Message.user("go")
    const chosen = (prompt: string): AgentEvent.AgentEvent => ({
      ...origin,
      type: "skill-chosen",
      skill: "s",
      by: "rule",
      prompt
    })
    const before = [Message.system("Work."), go]
    assert.deepStrictEqual(AgentEvent.saidAfter(before, chosen("Play.")), [Message.system("Play."), go])
    assert.deepStrictEqual(AgentEvent.saidAfter(before, chosen("")), [go])
  })
})

describe("the events of a run", () => {
  it.effect("that never began have no cursor of another run [P1540]", () =>
    Effect.gen(function* () {
      const after = Cursor.of({ runId: "run-1", epoch: "e", number: 1 })
      const error = yield* Effect.flip(readOf(new EventLog(), { after }))
      assert.deepInclude(error, { _tag: "CursorExpiredError", reason: "expired", oldest: "" })
    })
  )

  it.effect("are numbered once, from 1, those of runs below it too, for every reader alike [P1540]", () =>
    Effect.gen(function* () {
      const log = logOf([begun(), delta("a", "run-2"), delta("b")])
      const all = yield* readOf(log, {})
      assert.deepStrictEqual(numbersOf(all), [1, 2, 3])
      assert.deepStrictEqual(yield* readOf(log, {}), all)
      assert.strictEqual(new Set(all.map(({ cursor = "" }) => Cursor.read(cursor)?.epoch)).size, 1)
      assert.isTrue(all.every(({ cursor = "" }) => Cursor.read(cursor)?.runId === "run-1"))
      // and without options they are as they were emitted
      assert.deepStrictEqual(yield* Stream.runCollect(log.stream), [begun(), delta("a", "run-2"), delta("b")])
    })
  )

  it.effect("are kept, 4,096 of them; a late reader begins with the state that the others led to [P1542 A1203]", () =>
    Effect.gen(function* () {
      const full = logOf([begun([Message.user("go")]), ...many(4095)])
      assert.strictEqual((yield* readOf(full, {})).length, 4096)
      const log = logOf([begun([Message.user("go")]), said("one"), ...many(4095), said("two")])
      const [state, ...rest] = yield* readOf(log, {})
      assert.deepInclude(state, {
        type: "events-lost",
        runId: "run-1",
        agent: "a",
        transcript: [Message.user("go"), Message.assistant("one")]
      })
      assert.deepStrictEqual(numbersOf([state!, ...rest]), [
        2,
        ...Array.from({ length: 4096 }, (_, index) => index + 3)
      ])
      assert.deepStrictEqual(AgentEvent.transcriptOf([state!, ...rest]), [
        Message.user("go"),
        Message.assistant("one"),
        Message.assistant("two")
      ])
      const plain = yield* Stream.runCollect(log.stream)
      assert.deepStrictEqual([plain.length, plain[0]?.type, plain[0]?.cursor], [4097, "events-lost", undefined])
    })
  )

  it.effect("are kept up to 4 MiB of text, the latest always; the transcript of the run does not count [P1542]", () =>
    Effect.gen(function* () {
      const half = "x".repeat(2 * 1024 * 1024)
      const transcript = [Message.user(half + half + half)]
      const types = (log: EventLog) => Effect.map(readOf(log, {}), (events) => events.map(({ type }) => type))
      assert.deepStrictEqual(yield* types(logOf([begun(transcript), progress(half)])), ["run-start", "tool-progress"])
      const log = logOf([begun(transcript), progress({ deep: [half] }), progress(half), progress(1)])
      assert.deepStrictEqual(yield* types(log), ["events-lost", "tool-progress", "tool-progress"])
      assert.deepStrictEqual(yield* types(logOf([begun(), progress(new Uint8Array(5_000_000))])), [
        "events-lost",
        "tool-progress"
      ])
      const cyclic: Record<string, unknown> = { half }
      cyclic["self"] = cyclic
      const hostile = new Proxy(
        {},
        { getPrototypeOf: () => assert.fail("looked at"), ownKeys: () => assert.fail("read") }
      )
      assert.strictEqual((yield* types(logOf([progress(cyclic), progress(hostile)]))).at(-1), "tool-progress")
    })
  )

  it.effect("lose no text before others do: the deltas of finished calls are merged first [P1542]", () =>
    Effect.gen(function* () {
      const letters = [..."abcdefgh"]
      const log = logOf([begun(), ...letters.map((text) => delta(text)), said("abcdefgh"), delta("i"), delta("j")], {
        events: 10
      })
      const merged = yield* readOf(log, {})
      assert.deepStrictEqual(merged.map(textOf), ["run-start", "abcdefgh", "turn-end", "i", "j"])
      assert.deepStrictEqual(numbersOf(merged), [1, 9, 10, 11, 12])
      // a cursor within the merged text is as good as any other
      const [{ cursor = "" } = begun()] = merged
      const within = Cursor.of({ ...Cursor.read(cursor)!, number: 4 })
      assert.deepStrictEqual((yield* readOf(log, { after: within })).map(textOf), ["defgh", "turn-end", "i", "j"])
    })
  )

  it.effect("of an open call are not merged; the state has its text so far [P1542]", () =>
    Effect.gen(function* () {
      const events = [begun(), said("before"), ...[..."abcdef"].map((text) => delta(text))]
      const [state, ...rest] = yield* readOf(logOf(events, { events: 3 }), {})
      assert.deepInclude(state, { type: "events-lost", transcript: [Message.assistant("before")], text: "abc" })
      assert.deepStrictEqual(rest.map(textOf), ["d", "e", "f"])
      const discarded = { ...origin, type: "attempt-discarded" as const, attempt: 1, text: "abcdef" }
      const [anew] = yield* readOf(logOf([...events, discarded, delta("g")], { events: 1 }), {})
      assert.notProperty(anew, "text")
    })
  )
})

describe("a reader", () => {
  it.effect("whose events are gone fails, or gets the state once and goes on [P1542]", () =>
    Effect.gen(function* () {
      const log = logOf([begun(), ...many(3)], { events: 10 })
      const [first] = yield* readOf(log, {})
      const after = first?.cursor
      for (const event of many(20)) log.push(event)
      const error = yield* Effect.flip(readOf(log, { after }))
      assert.deepInclude(error, { _tag: "CursorExpiredError", reason: "expired" })
      assert.strictEqual((yield* readOf(log, { after: error.oldest })).length, 10)
      const going = yield* readOf(log, { after, onGap: "state" })
      assert.deepStrictEqual([going.length, going[0]?.type], [11, "events-lost"])
      // the state has a cursor like any event
      assert.strictEqual(going[0]?.cursor, error.oldest)
    })
  )

  it.effect(
    "gets nothing for a cursor of another run, of another epoch, of the future, or for any other text, and is told why [P1540 P1542]",
    () =>
      Effect.gen(function* () {
        const log = logOf([begun([Message.user("go")]), delta("a")])
        const [{ cursor = "" } = begun()] = yield* readOf(log, {})
        const own = Cursor.read(cursor)!
        const foreign: ReadonlyArray<readonly [string, DoorError.CursorExpiredError["reason"], RegExp]> = [
          [Cursor.of({ ...own, runId: "run-2" }), "other-run", /^The cursor is of another run\./],
          [Cursor.of({ ...own, epoch: "e" }), "expired", /^The events behind the cursor are gone\./],
          [Cursor.of({ ...own, number: 3 }), "unknown", /^No event of the run has this cursor\./],
          ...["", "7", `${cursor} `].map((text) => [text, "malformed", /^The text is no cursor\./] as const)
        ]
        for (const [after, why, says] of foreign) {
          const { _tag, message, oldest, reason } = yield* Effect.flip(readOf(log, { after }))
          assert.deepStrictEqual([_tag, oldest, reason], ["CursorExpiredError", Cursor.of({ ...own, number: 0 }), why])
          assert.match(message, says)
          const going = yield* readOf(log, { after, onGap: "state" })
          assert.deepStrictEqual(
            going.map(({ type }) => type),
            ["events-lost", "run-start", "text-delta"]
          )
          assert.deepInclude(going[0], { transcript: [Message.user("go")] })
        }
        assert.deepStrictEqual((yield* readOf(log, { after: Cursor.of({ ...own, number: 2 }) })).length, 0)
      })
  )

  it.effect("of a run that never began gets nothing, or the failure for its cursor [P1542]", () =>
    Effect.gen(function* () {
      const log = logOf([])
      assert.deepStrictEqual(yield* readOf(log, {}), [])
      assert.deepStrictEqual(yield* readOf(log, { after: "a.b.1", onGap: "state" }), [])
      assert.deepInclude(yield* Effect.flip(readOf(log, { after: "a.b.1" })), {
        _tag: "CursorExpiredError",
        oldest: ""
      })
    })
  )

  it.effect("waits for the next event and gets it, and many readers get it each [P1541 P1546]", () =>
    Effect.gen(function* () {
      const log = logOf([])
      const readers = yield* Effect.forEach([1, 2, 3], () =>
        Effect.forkChild(Stream.runCollect(log.read({})), { startImmediately: true })
      )
      log.push(begun())
      yield* Effect.yieldNow
      log.push(delta("a"))
      log.push(delta("b"))
      yield* Effect.yieldNow
      const [leaving] = readers
      yield* Fiber.interrupt(leaving!)
      log.push(said("ab"))
      log.end()
      for (const reader of readers.slice(1)) assert.deepStrictEqual(numbersOf(yield* Fiber.join(reader)), [1, 2, 3, 4])
    })
  )

  it.effect(
    "that is too slow while it reads fails, or gets the state in between; the others do not notice [P1542]",
    () =>
      Effect.gen(function* () {
        const log = logOf([begun()], { events: 4 })
        const slowly = (options: Parameters<EventLog["read"]>[0]) =>
          Effect.scoped(
            Effect.gen(function* () {
              const pull = yield* Stream.toPull(log.read(options))
              const first = yield* pull
              for (const event of many(9)) log.push(event)
              return [first.map(({ type }) => type), (yield* pull).map(({ type }) => type)]
            })
          )
        const progressed = Array.from({ length: 4 }, () => "tool-progress")
        assert.deepStrictEqual(yield* slowly({ onGap: "state" }), [["run-start"], ["events-lost", ...progressed]])
        assert.deepInclude(yield* Effect.flip(slowly({})), { _tag: "CursorExpiredError" })
      })
  )

  it.effect("takes a few hundred events at a time [P1542]", () =>
    Effect.gen(function* () {
      const log = logOf([begun(), ...many(1000)])
      const sizes: Array<number> = []
      log.end()
      yield* Stream.runForEachArray(log.read({}), (events) => Effect.sync(() => sizes.push(events.length)))
      assert.deepStrictEqual(sizes, [256, 256, 256, 233])
    })
  )
})
