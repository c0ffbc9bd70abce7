/** What the page of versions says of stored documents. */
import { Snapshot } from "@kintsugi/core"
import { assert, it } from "vitest"
import { read } from "../../scripts/files.ts"

it("docs/versions.md has a row for the version of a snapshot that is read", () => {
  const [, section = ""] = read("docs/versions.md").text.split("\n## Stored snapshots\n")
  const [table = ""] = section.split("\n## ")
  const rows = [...table.matchAll(/^\| (\d+) \|/gm)].map(([, version]) => Number(version))
  assert.deepStrictEqual(rows, [Snapshot.Snapshot.fields.version.literal])
})
