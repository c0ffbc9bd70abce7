/** The headings of the page Troubleshooting are words that a reader has read: messages of the library, of Effect, or of the compiler. */
import { describe, expect, it } from "vitest"
import { filesIn, read } from "../../scripts/files.ts"

const headings = [...read("docs/guide/troubleshooting.md").text.matchAll(/^### (.+)$/gm)].map(([, text = ""]) => text)

/** Words of others: of the compiler, and of the cluster of Effect. */
const foreign = ["Type 'Model' is not assignable to type 'never'", "No healthy runners available"]

const sources = filesIn("packages", (path) => /\/src\/.*\.ts$/.test(path)).map(({ text }) => text)

describe("docs/guide/troubleshooting.md", () => {
  it.each(headings.filter((heading) => !foreign.includes(heading)))("%s", (heading) => {
    const parts = heading.split("…").map((part) => part.trim())
    expect(sources.some((text) => parts.every((part) => text.includes(part)))).toBe(true)
  })

  it("has no heading of others that is not on the list", () => {
    expect(foreign.filter((heading) => !headings.includes(heading))).toEqual([])
    expect(headings.length).toBeGreaterThan(10)
  })
})
