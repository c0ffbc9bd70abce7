import { assert, it } from "@effect/vitest"
import { path, render, sentencesOf } from "../../scripts/events.ts"
import { schemas } from "../../packages/core/src/event/Codec.ts"
import { read } from "../../scripts/files.ts"

const { text: source } = read("packages/core/src/event/Happening.ts")
const { text: page } = read(path)

it("docs/guide/events.md lists every event of a run with its fields; `npm run events` writes it anew", () => {
  assert.strictEqual(render(page, source), page)
  const rows = page.match(/^\| `[\w-]+` \|/gm) ?? []
  assert.isAtLeast(rows.length, 40)
  assert.sameMembers(
    rows.map((row) => row.slice(3, -3)),
    Object.keys(schemas)
  )
})

it("the index has what the source says of each event", () => {
  assert.sameMembers([...sentencesOf(source).keys()], Object.keys(schemas))
  const changed = source.replace("The last event: the run was interrupted.", "The run was stopped. It is over.")
  assert.include(render(page, changed), "| `run-interrupted` | The run was stopped |")
  assert.throws(() => render(page, source.replace("/** A fixer begins. */", "")), "fix-start")
})
