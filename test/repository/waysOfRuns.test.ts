/** The table of `docs/behaviour.md` that has, for each feature of runs, where it is tested in each way to run. */
import { assert, it } from "vitest"
import { filesIn, read } from "../../scripts/files.ts"
import { idsInSource } from "../../scripts/ruleIds.ts"

/** What a test of a way to run has in its source. */
const marks: Readonly<Record<string, RegExp>> = {
  whole: /\bit\.run\(|\bboth\(|(?:yield\*|Effect\.\w+\() *\w+\(/,
  streamed: /\bit\.run\(|\bboth\(|\.stream\(/,
  handle: /\.start\(|outcomeOf\(|startOf\(/,
  resumed: /Agent\.resume|Snapshot|resum|suspend/i,
  durable: /[dD]urable/,
  "in a sub-agent": /asTool|sub-agent|subAgent|child/i,
  "in a fixer": /fix\(|[fF]ixer/,
  "in a composition": /Agent\.(?:andThen|parallel|race|fallback|forum|loopUntil|branch|all|firstSuccess)|composition/i
}

const { text } = read("docs/behaviour.md")
const section = /^## Ways to run\n([^]*?)(?=^## )/m.exec(text)?.[1] ?? ""
const cellsOf = (row: string): ReadonlyArray<string> =>
  row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim())
const [head = [], , ...rows] = section
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map(cellsOf)
const ways = head.slice(1)

/** The reasons below the table, by their letter. */
const reasons = new Map(
  [...section.matchAll(/^- \*\*(\w)\*\*: (\S.*)$/gm)].map(([, letter = "", reason = ""]) => [letter, reason])
)

const sources = new Map(filesIn("test", (path) => path.endsWith(".test.ts")).map(({ path, text }) => [path, text]))

/** What is wrong with a cell: it names a file whose tests have an id of the row, if it has ids, and run in this way, or a reason. */
const faultOf = (ids: ReadonlyArray<string>, way: string, cell: string): string | undefined => {
  if (reasons.has(cell)) return undefined
  const path = /^\[\w+\]\(\.\.\/(test\/[^)]+)\)$/.exec(cell)?.[1]
  if (path === undefined) return "names neither a test nor a reason"
  const source = sources.get(path)
  if (source === undefined) return `${path} is not there`
  if (ids.length > 0 && !idsInSource(source).some((id) => ids.includes(id)))
    return `${path} has no test of ${ids.join(", ")}`
  return marks[way]?.test(source) === true ? undefined : `${path} does not run in this way`
}

it("each feature of runs has a test in each way to run, or a reason why it has none", () => {
  assert.deepStrictEqual(ways, Object.keys(marks))
  assert.isAtLeast(rows.length, 12)
  const faults = rows.flatMap(([feature = "", ...cells]) => {
    const ids = [...feature.matchAll(/P\d+/g)].map(([id]) => id)
    return ways.flatMap((way, index) => {
      const fault = faultOf(ids, way, cells[index] ?? "")
      return fault === undefined ? [] : [`${feature}, ${way}: ${fault}`]
    })
  })
  assert.deepStrictEqual(faults, [])
  const used = new Set(rows.flatMap((cells) => cells.slice(1)))
  assert.deepStrictEqual(
    [...reasons.keys()].filter((letter) => !used.has(letter)),
    []
  )
})
