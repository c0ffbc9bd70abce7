import { assert, it } from "@effect/vitest"
import { read } from "../../scripts/files.ts"

it("docs/guide/events.md lists every event of a run, and no other", () => {
  const types = (text: string, pattern: RegExp) => [
    ...new Set([...text.matchAll(pattern)].map(([, type = ""]) => type))
  ]
  const declared = types(read("packages/core/src/event/Happening.ts").text, /readonly type: "([\w-]+)"(?! \| | \}>)/g)
  const rows = read("docs/guide/events.md").text.match(/^\| `[^|]*\|/gm) ?? []
  assert.isAtLeast(declared.length, 40)
  assert.sameMembers(types(rows.join("\n"), /`([\w-]+)`/g), declared)
})
