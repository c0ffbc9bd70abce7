/** How many words the pages may have, so that they stay pages that are read. */
import { expect, it } from "vitest"
import { pathsIn, read } from "../../scripts/files.ts"

/** Pages to look things up in: those that commands write, and the rules under test. Tables that a command writes count with them. */
const reference = new Set([
  "docs/api.md",
  "docs/errors.md",
  "docs/laws.md",
  "docs/behaviour.md",
  "docs/guide/what-the-model-reads.md"
])

const generated = /<!-- figures: [^]*<!-- end of figures -->|<!-- index of events -->[^]*<!-- end of index -->/

/** Words outside of code. */
const wordsOf = (text: string): number =>
  text
    .replaceAll(/^(`{3,})[^]*?^\1$/gm, "")
    .split(/\s+/)
    .filter((word) => word !== "").length

const isReport = (path: string) => path.startsWith("docs/reports/") || path.startsWith("docs/decisions/")
const pages = ["README.md", "AGENTS.md", ...pathsIn("docs", (path) => path.endsWith(".md"))]
  .filter((path) => !isReport(path))
  .map((path) => {
    const { text } = read(path)
    const words = wordsOf(text)
    return { path, words, byHand: reference.has(path) ? 0 : wordsOf(text.replace(generated, "")) }
  })
const written = pages.filter(({ path }) => !reference.has(path))
const byHand = pages.reduce((sum, page) => sum + page.byHand, 0)
const forReference = pages.reduce((sum, page) => sum + page.words, 0) - byHand

it("the pages that are written by hand have at most 45,000 words, those for reference at most 32,500", () => {
  console.info(`${byHand} words by hand, ${forReference} for reference`)
  expect(byHand).toBeLessThanOrEqual(45_000)
  expect(forReference).toBeLessThanOrEqual(32_500)
})

it("a page has at most 1,500 words", () => {
  expect(written.filter(({ words }) => words > 1500)).toEqual([])
})
