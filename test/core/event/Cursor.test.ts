/** Cursors as texts, and events with their deltas merged. */
import { assert, describe, it } from "@effect/vitest"
import type { AgentEvent } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import fc from "fast-check"

const units = fc.string({ unit: "binary" })

const position = fc.record({ runId: units, epoch: units, number: fc.nat() })

const origin = { runId: "run-1", agent: "a", turn: 1, at: 0 }

const text = (text: string, more: object = {}) => ({ ...origin, type: "text-delta" as const, text, ...more })

const ended = (runId = "run-1") => ({ ...origin, runId, type: "turn-start" as const })

const end = (runId = "run-1"): AgentEvent.AgentEvent => ({
  ...origin,
  runId,
  type: "turn-end",
  message: { role: "assistant", content: [] }
})

const numbered = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.map((event, index) => ({ number: index + 1, event }))

const shown = (events: ReturnType<typeof Cursor.merge>) =>
  events.map(({ event, number }) => [number, "text" in event ? event.text : event.type])

describe("a cursor", () => {
  it("names the run, the epoch and the number that it was made of [P1540]", () => {
    fc.assert(fc.property(position, (one) => assert.deepStrictEqual(Cursor.read(Cursor.of(one)), one)))
    const halves = { runId: "\ud800.\udc00\u0000\n", epoch: "", number: 0 }
    assert.deepStrictEqual(Cursor.read(Cursor.of(halves)), halves)
  })

  it("is a text for a header, a query and an id line [P1540 P1545]", () => {
    fc.assert(fc.property(position, (one) => assert.match(Cursor.of(one), /^[\w.~-]+$/)))
  })

  it("is nothing else, and one position has one text [P1540]", () => {
    const foreign = [
      "",
      "1",
      "..",
      "a.b",
      "a.b.",
      "a.b.c",
      "a.b.1.2",
      "a.b.-1",
      "a.b.01",
      "a.b.1e3",
      "a.b. 1",
      "a.b.1\n"
    ]
    for (const text of [...foreign, "~0061.b.1", "~00g1.b.1", "a b.c.1", "a.b.99999999999999999", "a.b.NaN"])
      assert.strictEqual(Cursor.read(text), undefined, text)
    // a header that came twice is an array
    assert.isUndefined(Cursor.read(["a.b.1", "a.b.2"] as never))
    fc.assert(
      fc.property(units, (text) => {
        const read = Cursor.read(text)
        assert.isTrue(read === undefined || Cursor.of(read) === text)
      })
    )
  })
})

describe("merged events", () => {
  it("are fewer: adjacent deltas of finished model calls are one [P1542]", () => {
    const events = numbered([text("a"), text("b"), text("c"), end(), text("d"), text("e")])
    assert.deepStrictEqual(shown(Cursor.merge(events)), [
      [3, "abc"],
      [4, "turn-end"],
      [5, "d"],
      [6, "e"]
    ])
    assert.deepStrictEqual(shown(Cursor.merge(events, { all: true })).at(-1), [6, "de"])
  })

  it("stay apart by run, by turn, by kind, by any other field, and where something came in between [P1542]", () => {
    const apart = [
      text("a"),
      text("b", { turn: 2 }),
      text("c", { turn: 2, parent: { runId: "run-0" } }),
      text("d", { runId: "run-2" }),
      { ...text("e"), type: "reasoning-delta" as const },
      text("f", { mark: 1 }),
      text("g", { mark: 2 }),
      ended(),
      text("h"),
      end(),
      end("run-2")
    ]
    assert.deepStrictEqual(Cursor.merge(numbered(apart)), numbered(apart))
    // one is missing between them
    const gap = numbered([text("a"), text("b"), text("c"), end()]).filter(({ number }) => number !== 2)
    assert.deepStrictEqual(Cursor.merge(gap), gap)
  })

  it("are the same behind every cursor, one within a merged text included [P1541 P1542]", () => {
    const kinds = fc.constantFrom<AgentEvent.AgentEvent>(
      text("one "),
      text("two ", { runId: "run-2", parent: { runId: "run-1" } }),
      { ...text("why? "), type: "reasoning-delta" },
      text(""),
      text("\ud83d"),
      end(),
      end("run-2"),
      ended()
    )
    const texts = (events: ReadonlyArray<AgentEvent.AgentEvent>) => {
      const all: Array<string> = []
      let last: string | undefined
      for (const event of events) {
        const key = `${event.runId} ${event.type}`
        if (!("text" in event) || key !== last) all.push(key)
        if ("text" in event) all[all.length - 1] += event.text as string
        last = "text" in event ? key : undefined
      }
      return all
    }
    fc.assert(
      fc.property(fc.array(kinds), fc.nat(30), fc.nat(30), fc.boolean(), (all, first, second, isAll) => {
        const events = numbered(all)
        const merged = Cursor.merge(Cursor.merge(events.slice(0, first), { all: isAll }).concat(events.slice(first)))
        const rest = Cursor.merge(merged, { after: second })
        assert.deepStrictEqual(texts(rest.map(({ event }) => event)), texts(all.slice(second)))
        assert.isTrue(rest.every(({ number }, index) => number > (rest[index - 1]?.number ?? second)))
      })
    )
  })
})
