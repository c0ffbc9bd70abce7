/** Lines of JSON, held against Effect's own reading of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as Ndjson from "effect/encoding/Ndjson"
import fc from "fast-check"
import { Lines } from "../../../packages/providers/src/transport/lines.ts"

/** The lines of a text that comes in these pieces. */
const linesOf = (pieces: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  const reader = new Lines((line) => lines.push(line))
  for (const piece of pieces) reader.feed(piece)
  return [...lines, reader.rest()].map((line) => line.trim()).filter((line) => line !== "")
}

const reference = (text: string) =>
  Stream.runCollect(
    Stream.fromArray([text]).pipe(Stream.pipeThroughChannel(Ndjson.decodeString({ ignoreEmptyLines: true })))
  )

/** A text cut at random places. */
const cut = (text: string, at: ReadonlyArray<number>): ReadonlyArray<string> => {
  const positions = [0, ...at.map((position) => position % (text.length + 1)).toSorted((a, b) => a - b), text.length]
  return positions.slice(1).map((end, index) => text.slice(positions[index], end))
}

describe("lines", () => {
  it.effect("are read as Effect reads them, wherever the text is cut", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.json(), { maxLength: 6 }),
          fc.constantFrom("\n", "\r\n", "\n\n"),
          fc.array(fc.nat(), { maxLength: 8 }),
          async (values, end, at) => {
            const text = values.map((value) => value + end).join("")
            const expected = await Effect.runPromise(reference(text))
            assert.deepStrictEqual(
              linesOf(cut(text, at)).map((line) => JSON.parse(line)),
              expected
            )
          }
        )
      )
    )
  )

  it("end with LF alone, or with CR, LF and CRLF, wherever the text is cut", () => {
    const text = "a\r\nb\rc\n\n\rd\r\r\n\ne"
    for (const [ends, expected] of [
      ["lf", ["a\r", "b\rc", "", "\rd\r\r", "", "e"]],
      ["any", ["a", "b", "c", "", "", "d", "", "", "e"]]
    ] as const) {
      for (const pieces of [[text], Array.from(text), [text.slice(0, 2), text.slice(2, 9), text.slice(9)]]) {
        const lines: Array<string> = []
        const reader = new Lines((line) => lines.push(line), ends)
        for (const piece of pieces) reader.feed(piece)
        assert.deepStrictEqual<ReadonlyArray<string>>([...lines, reader.rest()], expected, ends)
      }
    }
  })

  it("are measured, with how they begin, piece by piece, and are not passed on beyond the limit", () => {
    const asked: Array<readonly [number, string]> = []
    const lines: Array<readonly [string, number]> = []
    const begun: Array<number> = []
    const reader = new Lines(
      (line, bytes) => lines.push([line, bytes]),
      "any",
      (bytes, beginning) => {
        asked.push([bytes, beginning])
        return bytes <= 8
      }
    )
    for (const piece of ["", "  ", " {ä", "1}\nnext", "\n: hi", "\nlonger", "than", "that\n"]) {
      reader.feed(piece)
      begun.push(reader.begun)
    }
    assert.deepStrictEqual(lines, [
      ["   {ä1}", 8],
      ["next", 4],
      [": hi", 4]
    ])
    assert.deepStrictEqual(asked, [
      [2, "  "],
      [6, " {ä"],
      [8, "{ä"],
      [4, "next"],
      [4, "next"],
      [4, ": hi"],
      [4, ": hi"],
      [6, "longer"],
      [10, "longer"],
      [14, "longer"]
    ])
    assert.deepStrictEqual(begun, [0, 0, 6, 4, 0, 6, 10, 14])
  })

  it("the last one counts without its end", () => {
    assert.deepStrictEqual(linesOf(['{"a":', "1}\n{", '"b":2}']), ['{"a":1}', '{"b":2}'])
  })
})
