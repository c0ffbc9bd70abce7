import { describe, expect, it } from "vitest"
import { casesIn, least, seedIn, table, tooFew } from "../../scripts/cases.ts"
import { filesIn, read } from "../../scripts/files.ts"
import { idsInSource } from "../../scripts/ruleIds.ts"

describe("docs/laws.md", () => {
  const rows = [...read("docs/laws.md").text.matchAll(/^\| \*\*(L\d+)\*\* \|(.*)\|$/gm)]

  it("lists exactly the laws that end the titles in test/laws, each once", () => {
    const files = filesIn("test/laws", (path) => path.endsWith(".test.ts"))
    const titles = files.flatMap(({ text }) => idsInSource(text)).filter((id) => id.startsWith("L"))
    const listed = rows.map(([, id]) => id)
    expect(listed.toSorted()).toEqual([...new Set(titles)].toSorted())
    expect(listed.length).toBe(118)
  })

  it("has of each law what holds, and on which mutation of which files it was tried", () => {
    for (const [, id, row = ""] of rows) {
      const [holds = "", mutation = "", files = "", ...more] = row.split("|").map((cell) => cell.trim())
      expect([id, more]).toEqual([id, []])
      expect(holds.length).toBeGreaterThan(10)
      expect(mutation.length).toBeGreaterThan(3)
      for (const file of files.split(", ")) {
        const path = file.replaceAll("`", "")
        const found = path.startsWith("test/") ? path : `packages/${path}`
        expect(read(found).text.length).toBeGreaterThan(0)
      }
    }
  })
})

describe("the cases of laws", () => {
  const drawn = [
    { title: "holds [L101 T3] (whole)", cases: 1_000, seed: 7 },
    { title: "holds [L101 L102] (streamed)", cases: 900, seed: 7 },
    { title: "holds [P301 L103]", cases: 2_000, seed: 7 },
    { title: "no law, though [L104] is in it", cases: 5_000, seed: 7 }
  ]

  it("are printed in one line, with the fewest", () => {
    expect(least(drawn)).toBe("3 laws in 4 properties, each on at least 900 cases, seed 7")
    expect(least([])).toBe("no laws")
  })

  it("are a hundred, three hundred with CI, and any number that the environment sets", () => {
    const asked: ReadonlyArray<Record<string, string>> = [{}, { CI: "false" }, { CI: "true" }]
    expect(asked.map(casesIn)).toEqual([100, 100, 300])
    expect(asked.map((one) => casesIn({ ...one, KINTSUGI_CASES: "10000" }))).toEqual([10_000, 10_000, 10_000])
    expect(["0", "-5", "1.5", "many", ""].map((one) => casesIn({ KINTSUGI_CASES: one }))).toEqual(Array(5).fill(100))
    expect([seedIn({}), seedIn({ KINTSUGI_SEED: "7" })]).toEqual([4_711, 7])
  })

  it("are too few where a law drew fewer than it had to", () => {
    expect(tooFew(drawn, 1_000)).toEqual(["900 cases instead of 1000: holds [L101 L102] (streamed)"])
    expect(tooFew(drawn, 10_000)).toHaveLength(4)
    expect(tooFew(drawn, 900)).toEqual([])
  })

  it("are printed law by law, with the fewest and the sum", () => {
    expect(table(drawn)).toEqual([
      "law     properties  cases each       all",
      "L101             2         900      1900",
      "L102             1         900       900",
      "L103             1        2000      2000"
    ])
  })
})
