/** A process that plays a group and dies is a crash of the run it was at. */
import { assert, it } from "vitest"
import { playApart } from "../src/wire/apart.ts"
import { type Line, scenarios } from "../src/wire/playing.ts"

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
