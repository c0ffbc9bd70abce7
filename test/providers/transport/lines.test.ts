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

  it("the last one counts without its end", () => {
    assert.deepStrictEqual(linesOf(['{"a":', "1}\n{", '"b":2}']), ['{"a":1}', '{"b":2}'])
  })
})
