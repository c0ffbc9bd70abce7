/** Events of runs for their clients: at a cursor, over the parts of a run, and what they say of its tools. */
import { assert, describe, it } from "@effect/vitest"
import { type AgentEvent, Usage } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { eventsAt, hasBegun } from "../../../packages/interop/src/proxy/events.ts"
import * as Parts from "../../../packages/interop/src/proxy/parts.ts"
import { forClients } from "../../../packages/interop/src/proxy/schemas.ts"

/** An event with the fields that are read. */
const event = (type: AgentEvent.AgentEvent["type"], fields: object = {}): AgentEvent.AgentEvent =>
  // cast: of the other fields nothing is read
  ({ type, runId: "r", agent: "a", at: 1, turn: 1, ...fields }) as unknown as AgentEvent.AgentEvent

const cursorOf = (number: number, epoch = "e1", runId = "r") => Cursor.of({ runId, epoch, number })

/** What an error says: its tag is on its class. */
const fieldsOf = (error: Error & { readonly _tag: string }): object => ({ ...error, _tag: error._tag })

describe("events at a cursor", () => {
  /** The options with which a run is read, and the end. */
  const reading = (after: string | undefined, ...events: ReadonlyArray<AgentEvent.AgentEvent>) =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const read = (options: object) => {
        asked.push(options)
        return Stream.fromIterable(events)
      }
      const found = yield* Effect.result(Effect.flatMap(eventsAt("one", after, read), Stream.runCollect))
      return { asked, found: found._tag === "Success" ? found.success : fieldsOf(found.failure) }
    })

  it.effect("are those of the run from there, or from its beginning [P1851]", () =>
    Effect.gen(function* () {
      const one = event("turn-start")
      assert.deepStrictEqual(yield* reading(undefined, one), { asked: [{ onGap: "state" }], found: [one] })
      const after = cursorOf(3)
      assert.deepStrictEqual(yield* reading(after, one), {
        asked: [{ onGap: "state" }, { after, onGap: "state" }],
        found: [one]
      })
    })
  )

  it.effect("of another run are unknown, and a text that is none does not fit [P1852]", () =>
    Effect.gen(function* () {
      for (const { found } of [
        yield* reading(cursorOf(3, "e1", "other"), event("turn-start")),
        yield* reading(cursorOf(3))
      ])
        assert.deepInclude(found, { _tag: "RunNotFoundError", status: 404, run: "one" })
      for (const odd of ["", "7"])
        assert.deepInclude((yield* reading(odd, event("turn-start"))).found, {
          _tag: "UnfitRequestError",
          issues: [{ path: "after", expected: "Expected a cursor" }]
        })
    })
  )
})

describe("the parts of a run", () => {
  /** A part that gives its own events after any cursor, and notes that cursor. */
  const partOf =
    (epoch: string, asked: Array<unknown>, runId = "r"): Parts.Part =>
    (after) =>
      Stream.suspend(() => {
        asked.push([epoch, after])
        return Stream.make(event("turn-start", { runId, cursor: cursorOf(1, epoch, runId) }))
      })

  /** The epochs of the parts that are read, each with the cursor that its part gets, or the failure. */
  const reading = (after: string | undefined, epochs: ReadonlyArray<string>, runId?: string) =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const parts = epochs.map((epoch) => partOf(epoch, asked, runId))
      const found = yield* Effect.result(Parts.eventsOf("one", parts, after))
      if (found._tag === "Failure") return fieldsOf(found.failure)
      const from = asked.length
      yield* Stream.runDrain(found.success)
      return asked.slice(from)
    })

  it.effect("are read one after the other from the part of the cursor on, which alone gets it [P1851]", () =>
    Effect.gen(function* () {
      const epochs = ["e1", "e2", "e3"]
      const [e0, e1, e2, e3] = ["e0", ...epochs].map((epoch) => cursorOf(1, epoch))
      for (const [after, read] of [
        [
          undefined,
          [
            ["e1", undefined],
            ["e2", undefined],
            ["e3", undefined]
          ]
        ],
        [
          e1,
          [
            ["e1", e1],
            ["e2", undefined],
            ["e3", undefined]
          ]
        ],
        [
          e2,
          [
            ["e2", e2],
            ["e3", undefined]
          ]
        ],
        [e3, [["e3", e3]]],
        // events that are gone
        [
          e0,
          [
            ["e1", e0],
            ["e2", undefined],
            ["e3", undefined]
          ]
        ]
      ] as const)
        assert.deepStrictEqual<unknown>(yield* reading(after, epochs), read)
    })
  )

  it.effect("of another run are unknown, and so are those without a cursor [P1852]", () =>
    Effect.gen(function* () {
      const unknown = { _tag: "RunNotFoundError", run: "one" }
      assert.deepInclude(yield* reading(cursorOf(1, "e1", "other"), ["e1"]), unknown)
      for (const part of [() => Stream.empty, () => Stream.make(event("turn-start"))]) {
        const error = yield* Effect.flip(Parts.eventsOf("one", [part], cursorOf(1)))
        assert.deepInclude(fieldsOf(error), unknown)
      }
      assert.deepInclude(yield* reading("7", ["e1"]), {
        _tag: "UnfitRequestError",
        issues: [{ path: "after", expected: "Expected a cursor" }]
      })
    })
  )

  it("are sixteen at most, the newest", () => {
    const parts = Array.from({ length: 16 }, (): Parts.Part => () => Stream.empty)
    const newest: Parts.Part = () => Stream.empty
    assert.deepStrictEqual(Parts.added([], newest), [newest])
    assert.deepStrictEqual(Parts.added(parts, newest), [...parts.slice(1), newest])
  })

  it.effect("before this process are the state and that the run waits [P1851]", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(7)
      const [one, two] = [Usage.make({ inputTokens: 1 }), Usage.make({ inputTokens: 2, outputTokens: 3 })]
      const ledger = [{ usage: one }, { usage: two }]
      const transcript = [{ role: "system", text: "x" }]
      const of = (id?: string) => {
        const snapshot = { agent: "a", ledger, runId: "r", transcript, turn: 2, ...(id === undefined ? {} : { id }) }
        // cast: of a snapshot nothing else is read
        return { snapshot, part: Parts.partBefore(snapshot as never) }
      }
      const { part, snapshot } = of("s1")
      const origin = { runId: "r", agent: "a", turn: 2, at: 7 }
      const lost = { ...origin, type: "events-lost", transcript, cursor: cursorOf(1, "s1") }
      const usage = Usage.make({ inputTokens: 3, outputTokens: 3 })
      const waits = { ...origin, type: "run-suspended", snapshot, usage, ledger, cursor: cursorOf(2, "s1") }
      const after = (cursor?: string) => Effect.map(Stream.runCollect(part(cursor)), (events): unknown => events)
      assert.deepStrictEqual(yield* after(), [lost, waits])
      assert.deepStrictEqual(yield* after(cursorOf(0, "s1")), [lost, waits])
      assert.deepStrictEqual(yield* after(cursorOf(1, "s1")), [waits])
      assert.deepStrictEqual(yield* after(cursorOf(2, "s1")), [])
      for (const other of [cursorOf(2, "s0"), "7"]) assert.deepStrictEqual(yield* after(other), [lost, waits])
      const [first] = yield* Stream.runCollect(of().part())
      assert.strictEqual(first?.cursor, cursorOf(1, ""))
    })
  )
})

describe("the events of tools", () => {
  const ofCall = (type: AgentEvent.AgentEvent["type"], callId = "c", runId = "r") =>
    event(type, { callId, runId, tool: "t" })

  it("say whether an attempt may have begun", () => {
    const start = ofCall("tool-start")
    for (const events of [
      [start],
      [ofCall("approval-decided")],
      [event("events-lost")],
      [ofCall("tool-failed")],
      [ofCall("tool-end")],
      [start, ofCall("approval-requested"), ofCall("approval-decided")],
      [start, ofCall("approval-requested", "d")],
      [start, ofCall("tool-denied", "c", "s")],
      [event("turn-start"), start, event("turn-end")]
    ])
      assert.isTrue(hasBegun(events))
    for (const events of [
      [],
      [event("turn-start"), event("run-completed")],
      [ofCall("tool-denied")],
      [start, ofCall("approval-requested")],
      [start, ofCall("tool-denied")],
      [ofCall("tool-skipped")]
    ])
      assert.isFalse(hasBegun(events))
  })
})

describe("an event for clients", () => {
  it("is the event itself, except that no client reads a snapshot [P1852]", () => {
    const other = event("turn-start")
    assert.strictEqual<unknown>(forClients(other), other)
    const snapshot = { runId: "r", agent: "a" }
    const of = { runId: "r", agent: "a", turn: 1, at: 1, usage: Usage.empty, type: "run-suspended" }
    for (const more of [{}, { cursor: "x" }, { parent: { runId: "p" } }]) {
      const suspended = event("run-suspended", { snapshot, usage: Usage.empty, ledger: [], ...more })
      assert.deepStrictEqual<unknown>(forClients(suspended), { ...of, waiting: [], ...more })
    }
  })
})
