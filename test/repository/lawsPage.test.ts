import { describe, expect, it } from "vitest"
import { least, table, tooFew } from "../../scripts/cases.ts"
import { filesIn, read } from "../../scripts/files.ts"
import { idsInSource } from "../../scripts/ruleIds.ts"

describe("docs/laws.md", () => {
  const rows = [...read("docs/laws.md").text.matchAll(/^\| \*\*(L\d+)\*\* \|(.*)\|$/gm)]

  it("lists exactly the laws that end the titles in test/laws, each once", () => {
    const files = filesIn("test/laws", (path) => path.endsWith(".test.ts"))
    const titles = files.flatMap(({ text }) => idsInSource(text)).filter((id) => id.startsWith("L"))
    const listed = rows.map(([, id]) => id)
    expect(listed.toSorted()).toEqual([...new Set(titles)].toSorted())
    expect(listed.length).toBe(94)
  })

  it("says of each what holds, which mutation of which files it was tried on, and that the mutation dies", () => {
    for (const [, id, row = ""] of rows) {
      const [holds = "", mutation = "", files = "", fate = "", ...more] = row.split("|").map((cell) => cell.trim())
      expect([id, more]).toEqual([id, []])
      expect(holds.length).toBeGreaterThan(10)
      expect(mutation.length).toBeGreaterThan(3)
      for (const file of files.split(", ")) {
        const path = file.replaceAll("`", "")
        const found = path.startsWith("test/") ? path : `packages/${path}`
        expect(read(found).text.length).toBeGreaterThan(0)
      }
      expect([id, fate]).toEqual([id, "dies"])
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

  it("are told in one line, with the fewest", () => {
    expect(least(drawn)).toBe("3 laws in 4 properties, each on at least 900 cases, seed 7")
    expect(least([])).toBe("no laws")
  })

  it("are a thousand, unless fewer are asked for", () => {
    expect(tooFew(drawn, undefined)).toEqual(["900 cases instead of 1000: holds [L101 L102] (streamed)"])
    expect(tooFew(drawn, "10000")).toHaveLength(1)
    expect(tooFew(drawn, "200")).toEqual([])
  })

  it("are told law by law, with the fewest and the sum", () => {
    expect(table(drawn)).toEqual([
      "law     properties  cases each       all",
      "L101             2         900      1900",
      "L102             1         900       900",
      "L103             1        2000      2000"
    ])
  })
})
