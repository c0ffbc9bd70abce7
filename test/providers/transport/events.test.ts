/** Server-sent events, held against Effect's own reading of them, and what stands by itself between them. */
import { assert, describe, it } from "@effect/vitest"
import * as Sse from "effect/encoding/Sse"
import fc from "fast-check"
import { Events } from "../../../packages/providers/src/transport/events.ts"
import { Lines } from "../../../packages/providers/src/transport/lines.ts"

type Heard = readonly [name: string, data: string]

const read = (pieces: ReadonlyArray<string>) => {
  const heard: Array<Heard> = []
  const bare: Array<string> = []
  const events = new Events({ event: (data, name) => heard.push([name, data]), bare: (json) => bare.push(json) })
  const lines = new Lines((line) => events.line(line), "any")
  for (const piece of pieces) lines.feed(piece)
  return { heard, bare, end: events.end(lines.rest()) }
}

const reference = (text: string): ReadonlyArray<Heard> => {
  const heard: Array<Heard> = []
  Sse.makeParser((event) => {
    if (event._tag === "Event") heard.push([event.event, event.data])
  }).feed(text)
  return heard
}

/** A text cut at random places. */
const cut = (text: string, at: ReadonlyArray<number>): ReadonlyArray<string> => {
  const positions = [0, ...at.map((position) => position % (text.length + 1)).toSorted((a, b) => a - b), text.length]
  return positions.slice(1).map((end, index) => text.slice(positions[index], end))
}

const words = ["data", "event", "id", "retry", ":", ": ", " ", "\t", "x", "é", "\n", "\r", "\r\n", "\n\n", "dat", "5"]

describe("events", () => {
  it("are read as Effect reads them, wherever the text is cut [P1404]", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...words), { maxLength: 60 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (parts, at) => {
          const text = parts.join("")
          assert.deepStrictEqual(read(cut(text, at)).heard, reference(text))
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("and JSON between them are the same for every cut into pieces [P1404]", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...words, "{", "[", '{"a":1}', "]", '"'), { maxLength: 40 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (parts, at) => {
          const text = parts.join("")
          assert.deepStrictEqual(read(cut(text, at)), read([text]))
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("end where JSON begins a line, and go on where a line of an event follows [P1404]", () => {
    const { bare, end, heard } = read([
      'data: 1\n\n \t{"a":\n1}\ndata: 2\n\nid: 7\r[1,\r2]\revent: e\rdata: 3\r\r{"b',
      '":2}'
    ])
    assert.deepStrictEqual(heard, [
      ["message", "1"],
      ["message", "2"],
      ["e", "3"]
    ])
    assert.deepStrictEqual(
      bare.map((json) => JSON.parse(json)),
      [{ a: 1 }, [1, 2]]
    )
    assert.deepStrictEqual(end, { bare: '{"b":2}', begun: "" })
  })

  it("are measured without framing, and apart from whole answers [P1401 P1404]", () => {
    const asked: Array<readonly [number, boolean]> = []
    const events = new Events(
      { event: () => {}, bare: () => {} },
      {
        whole: new Set(["whole"]),
        admits: (bytes, isWhole) => {
          asked.push([bytes, isWhole])
          return true
        }
      }
    )
    const text = 'data: ä\ndata:1\n\n: hi\nevent: whole\ndata: 12\n\n{\n\n"a": 1\n}\ndata: 123\n\nevent: other\ndata'
    const sizes: Array<number> = []
    for (const line of text.split("\n")) {
      events.line(line)
      sizes.push(events.size)
    }
    assert.deepStrictEqual(asked, [
      [2, false],
      [4, false],
      [2, true],
      [2, true],
      [9, true],
      [11, true],
      [3, false],
      [0, false]
    ])
    assert.deepStrictEqual(sizes, [2, 4, 0, 0, 0, 2, 0, 2, 2, 9, 11, 3, 0, 0, 0])
    assert.isFalse(events.isWhole())
    assert.isTrue(events.isWhole(" \t{"))
    assert.isTrue(events.isWhole("["))
    assert.isFalse(events.isWhole("x{"))
  })

  it("that have not ended leave their first data [P1404]", () => {
    for (const [text, begun] of [
      ["data: 1\n\ndata:\ndata: 2\ndata: 3", "2"],
      ["data: 1\n\ndat", ""],
      ["data: 1\n\n: data: 2\n", ""],
      ['{"a":1}\ndata: {"b', '{"b'],
      ["data: 1\n{", "1"]
    ] as const) {
      assert.strictEqual(read([text]).end.begun, begun, text)
    }
  })
})
