/** Links between the pages: where they lead, and that every guide is found. */
import { existsSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { assert, describe, it } from "vitest"
import { pathsIn, root } from "../../scripts/files.ts"

const pages = [
  ...["README.md", "AGENTS.md", "CONTRIBUTING.md", "SECURITY.md", "llms.txt"].filter((path) =>
    existsSync(join(root, path))
  ),
  ...pathsIn("docs", (path) => path.endsWith(".md")),
  ...pathsIn("tools", (path) => path.endsWith(".md")),
  ...pathsIn("packages", (path) => /^packages\/[^/]+\/[A-Z]+\.md$/.test(path))
]

const textOf = (path: string): string => readFileSync(join(root, path), "utf8")

/** Code aside: what stands there is no link. */
const proseOf = (path: string): string =>
  textOf(path)
    .replaceAll(/^ *```[^]*?^ *```/gm, "")
    .replaceAll(/`[^`\n]*`/g, "")

/** As forges make them of headings. */
const anchorsOf = (path: string): ReadonlySet<string> =>
  new Set(
    [...textOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-")
    )
  )

interface Link {
  readonly from: string
  readonly to: string
  readonly anchor: string | undefined
}

const linksOf = (from: string): ReadonlyArray<Link> =>
  [...proseOf(from).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
    if (/^[a-z]+:/.test(target)) return []
    const [path = "", anchor] = target.split("#")
    return [{ from, to: path === "" ? from : posix.join(posix.dirname(from), path), anchor }]
  })

const links = pages.flatMap(linksOf)

describe("links", () => {
  it("lead to files that exist", () => {
    assert.isAbove(links.length, 100)
    assert.deepStrictEqual(
      links.filter(({ to }) => !existsSync(join(root, to))),
      []
    )
  })

  it("name headings that exist", () => {
    const broken = links.filter(
      ({ anchor, to }) => anchor !== undefined && existsSync(join(root, to)) && !anchorsOf(to).has(anchor)
    )
    assert.deepStrictEqual(broken, [])
  })

  it("lead to every guide, from the README or a page and from llms.txt", () => {
    const guides = pages.filter((path) => path.startsWith("docs/guide/"))
    const from = (isSource: (path: string) => boolean) => {
      const found = new Set(links.filter((link) => isSource(link.from) && link.from !== link.to).map(({ to }) => to))
      return guides.filter((guide) => !found.has(guide))
    }
    assert.deepStrictEqual(
      from((path) => path === "llms.txt"),
      []
    )
    assert.deepStrictEqual(
      from((path) => path !== "llms.txt"),
      []
    )
  })
})
