/** Lines of bytes that come in pieces, and the bounds of them. */
import { describe, expect, it } from "vitest"
import { tooMuch } from "../../../packages/view/src/cli/bounds.ts"
import { Splitter } from "../../../packages/view/src/cli/splitting.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

/** What is said of some pieces, and the lines that they have. */
const split = (pieces: ReadonlyArray<string | Uint8Array>, bounds: { maxLine?: number; maxSize?: number } = {}) => {
  const lines: Array<string> = []
  const splitter = new Splitter({ maxLine: 1e6, maxSize: 1e6, ...bounds }, (line) => lines.push(line))
  const says = pieces.map((piece) => splitter.push(typeof piece === "string" ? bytes(piece) : piece))
  splitter.end()
  return { lines, says: says.filter((one) => one !== undefined), hasZero: splitter.hasZero }
}

describe("lines of bytes", () => {
  it("end as on any system, wherever a piece ends [P1389]", () => {
    for (const end of ["\n", "\r", "\r\n"])
      expect(split([`a${end}${end}b${end}`])).toEqual({ lines: ["a", "", "b"], says: [], hasZero: false })
    expect(split(["a\r", "\nb\r", "\r", "\n", "\nc"]).lines).toEqual(["a", "b", "", "", "c"])
    expect(split([""]).lines).toEqual([])
    expect(split(["\n"]).lines).toEqual([""])
  })

  it("are UTF-8, also where a piece ends within a character, with a sign for each byte that is none [P1389]", () => {
    const [first = 0, second = 0] = bytes("é")
    expect(split([Uint8Array.of(first), Uint8Array.of(second, 0x0a)]).lines).toEqual(["é"])
    expect(split([Uint8Array.of(0x61, 0xff, 0x0a)]).lines).toEqual(["a\ufffd"])
    expect(split([Uint8Array.of(0x61, 0x0a)]).hasZero).toBe(false)
    expect(split([Uint8Array.of(0x61, 0, 0x0a), "b"]).hasZero).toBe(true)
  })

  it("grow beyond the room that they begin with [P1389]", () => {
    const [long, longer] = ["x".repeat(1025), "y".repeat(5000)]
    expect(split([long.slice(0, 1000), long.slice(1000), "\n", "short\n", longer]).lines).toEqual([
      long,
      "short",
      longer
    ])
  })

  it("are as long as their bound, and no byte longer [P1389]", () => {
    const mebibyte = 2 ** 20
    const line = "x".repeat(mebibyte)
    const bounds = { maxLine: mebibyte, maxSize: 2 * mebibyte + 2 }
    expect(split([`a\n${line}`], bounds).says).toEqual([])
    const says = ["its line 2 is larger than 1 MiB; --max-line raises the bound"]
    expect(split([`a\n${line}x\n`], bounds).says).toEqual(says)
    expect(split(["a\n", line, "x"], bounds).says).toEqual(says)
    const small = { maxLine: 2 * mebibyte, maxSize: mebibyte }
    expect(split([line], small).says).toEqual([])
    expect(split([line, "\n"], small).says).toEqual(["it is larger than 1 MiB; --max-size raises the bound"])
    expect(tooMuch("x", 3 * mebibyte, "y")).toBe("x is larger than 3 MiB; --y raises the bound")
  })
})
