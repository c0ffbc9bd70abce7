/**
 * The hostile answers of `npm run fuzz -- wire` whose ends hang on limits and on counts, and that a process that dies is a crash of the run it
 * was at. The command plays all of them.
 */
import { fileURLToPath } from "node:url"
import { assert, it } from "vitest"
import { playApart } from "../src/wire/apart.ts"
import { type Line, scenarios } from "../src/wire/playing.ts"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

const groups = ["limits", "sizes", "ends", "usage"]

it(
  "each scenario of these groups ends as it has to, whole and streamed [P1401-P1406]",
  { timeout: 900_000 },
  async () => {
    const lines: Array<Line> = []
    for (const group of groups) {
      await playApart(group, [process.execPath, main, "wire", group, "apart"], (line) => lines.push(line))
    }
    const ofGroups = scenarios.filter(({ group }) => groups.includes(group))
    assert.strictEqual(lines.length, ofGroups.flatMap(({ modes }) => modes).length)
    assert.deepStrictEqual(
      lines.filter(({ type }) => type !== "right"),
      []
    )
  }
)

it("what a process has not told of when it is over has crashed, and the rest was not played", async () => {
  const first = scenarios.find(({ group }) => group === "texts")
  assert.isDefined(first)
  const line = JSON.stringify({
    group: "texts",
    name: first?.name,
    api: "x",
    mode: "streamed",
    type: "right",
    millis: 1
  })
  const lines: Array<Line> = []
  const program = `process.stdout.write(${JSON.stringify(`${line}\n`)}, () => process.exit(3))`
  await playApart("texts", [process.execPath, "-e", program], (line) => lines.push(line))
  assert.deepStrictEqual(
    lines.map(({ says, type }) => [type, says]),
    [
      ["right", undefined],
      ["crash", "the process ended with 3"]
    ]
  )
})
