/** The pages about other libraries show the programs that `test/sdk/comingFrom.process.test.ts` runs, as they are. */
import { expect, it } from "vitest"
import { pathsIn, read } from "../../scripts/files.ts"

const folder = "test/sdk/comingFrom"

const shown = pathsIn(folder, (path) => /comingFrom\/[\w-]+\/\w+\.ts$/.test(path))
  .filter((path) => !path.startsWith(`${folder}/ours/`))
  .map((path) => {
    const [library = "", program = ""] = path.slice(folder.length + 1).split("/")
    return [`docs/guide/coming-from-${library}.md`, path, `${folder}/ours/${program}`] as const
  })

it("there are programs of other libraries", () => {
  expect(shown).not.toEqual([])
})

it.each(shown)("%s shows %s beside %s", (page, theirs, ours) => {
  const { text } = read(page)
  expect(text).toContain(
    `\`\`\`typescript\n${read(theirs).text}\`\`\`\n\nWith Kintsugi:\n\n\`\`\`ts\n${read(ours).text}\`\`\`\n`
  )
})
