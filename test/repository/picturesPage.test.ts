import { existsSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { expect, it } from "vitest"
import { pathsIn, read, root } from "../../scripts/files.ts"
import { Recovery } from "@kintsugi/core"
import { PolicyText, PolicyView } from "@kintsugi/view"
import { folder, heroes, render, search } from "../../scripts/pictures.ts"

it("the pictures of the guide and of the README are current: npm run pictures [P1247]", async () => {
  const drawn = await render()
  expect([...pathsIn(folder), ...Object.values(heroes)].toSorted()).toEqual([...drawn.keys()].toSorted())
  for (const [path, text] of drawn) expect(readFileSync(join(root, path), "utf8") === text, path).toBe(true)
})

it("the guide shows each of them with words for those who do not see it [P1247]", () => {
  const page = "docs/guide/see.md"
  const shown = [...read(page).text.matchAll(/!\[([^\]]{20,})\]\(([^)]+\.svg)\)/g)]
  const paths = shown.map(([, , path = ""]) => posix.join(posix.dirname(page), path))
  expect(paths.toSorted()).toEqual(pathsIn(folder, (path) => path.endsWith(".svg")))
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

it("the guide shows the output of kintsugi explain for the drawn policy [P1247]", () => {
  const view = PolicyView.make([{ name: "search", explanation: Recovery.explain(search) }])
  expect(read("docs/guide/see.md").text).toContain(`\`\`\`text\n${PolicyText.format(view)}\n\`\`\``)
})
