/** Reading costs what is read, however small its pieces are. A process of its own measures it. */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import type { Measured } from "./_support/linearReading.ts"

const program = fileURLToPath(new URL("_support/linearReading.ts", import.meta.url))

/** What the program prints, line by line. */
const measured = (...parameters: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const { stderr, stdout } = spawnSync(process.execPath, [program, ...parameters], { encoding: "utf8" })
  assert.strictEqual(stderr, "")
  return stdout
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line))
}

const minutes = 60_000

describe("what a server sends", () => {
  it(
    "is read in time that is linear in its bytes, be it events, lines or a whole body [P1404]",
    { timeout: 5 * minutes },
    () => {
      // the program prints nothing else
      const all = measured() as ReadonlyArray<Measured>
      assert.strictEqual(all.length, 40)
      const slow = all.filter(({ large, small }) => large > 5 && large > 40 * small)
      assert.deepStrictEqual(slow, [])
    }
  )

  it("is read so at 8 MiB too, unpacked, and as many items, by a run too [P1404]", { timeout: 5 * minutes }, () => {
    // the program prints nothing else
    const all = measured("large") as ReadonlyArray<Measured>
    assert.strictEqual(all.length, 14)
    // a clock of whole slices says 0 of what takes a moment
    const slow = all.filter(({ large, small }) => large > 20 * Math.max(small, 2))
    assert.deepStrictEqual(slow, [])
  })

  it.each([
    "blanks",
    "one line",
    "lines of one event",
    "blanks in pieces of 16 KiB",
    "one event in pieces of 16 KiB",
    "an event without an end in pieces of 16 KiB",
    "blanks in gzip",
    "one event in gzip",
    "a whole body",
    "small parts"
  ])("takes memory that is bounded by what is kept of it: %s [P1404]", { timeout: 5 * minutes }, (name) => {
    const [mebibytes] = measured(name)
    assert.isAtMost(Number(mebibytes), 64 + 6 * 15)
  })

  it(
    "takes no more of it by a run in parts of four characters, in a process that has read before [P1404]",
    { timeout: 5 * minutes },
    () => {
      // an event of four characters has 105 bytes
      const [mebibytes] = measured("small parts, by a run", "105", "16")
      assert.isAtMost(Number(mebibytes), 64 + 6 * 4)
    }
  )
})
