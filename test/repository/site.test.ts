/** The site, without what it is built with: that no page is forgotten, and where the links lead. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { pathsIn, read, root } from "../../scripts/files.ts"
import { faults } from "../../scripts/site/links.ts"
import { serve } from "../../scripts/site/serve.ts"
import { anchors } from "../../scripts/site/anchors.ts"
import {
  apiSidebar,
  type Group,
  type Item,
  linksOf,
  moved,
  pages,
  pictures,
  redirect,
  references,
  relink,
  settings,
  sidebar,
  sidebarOf,
  staged
} from "../../scripts/site/pages.ts"

const titlesOf = (entries: ReadonlyArray<Item | Group>): ReadonlyArray<string> =>
  entries.flatMap((one) => [one.text, ...("items" in one ? titlesOf(one.items) : [])])
/** As forges make anchors of headings. */
const headingsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-")
  )
const fileOf = (link: string) => `${link.slice(1)}${link.endsWith("/") ? "index" : ""}.md`
const duplicates = (all: ReadonlyArray<string>) => all.filter((one, index) => all.indexOf(one) !== index)

describe("the pages of the site", () => {
  it("are all of docs, each once in the sidebar, and the README at home", () => {
    const docs = pathsIn("docs", (path) => path.endsWith(".md"))
    const listed = linksOf(sidebar())
    assert.isAbove(docs.length, 50)
    assert.sameMembers(
      pages().map(({ from }) => from),
      ["README.md", ...docs]
    )
    assert.sameMembers([...listed.map(fileOf), "index.md"], [...staged().keys()])
    assert.deepStrictEqual(duplicates(listed), [])
  })

  it("are found at their old addresses too, at the same heading", () => {
    const all = pages().map(({ to }) => to)
    for (const [from, to] of Object.entries(moved)) {
      assert.include(all, `${to}.md`)
      assert.notInclude(all, `${from}.md`)
      assert.include(redirect("/base/", to), `location.replace("/base/${to}" + location.hash)`)
    }
  })

  it("are found at old anchors, where nothing else is", () => {
    const texts = staged()
    const headings = (path: string): ReadonlyArray<string> | undefined => {
      const text = [`${path}.md`, `${path}index.md`].map((file) => texts.get(file)).find((one) => one !== undefined)
      return text === undefined ? undefined : headingsOf(text)
    }
    assert.isNotEmpty(anchors)
    for (const [from, to] of anchors) {
      const [[oldPath = "", oldHeading = ""], [path = "", heading]] = [from.split("#"), to.split("#")]
      assert.notInclude(headings(oldPath) ?? [], oldHeading, from)
      assert.isDefined(headings(path), `${from} leads to ${to}`)
      if (heading !== undefined) assert.include(headings(path) ?? [], heading, from)
    }
  })

  it("are of four kinds, and a new page is never left out", () => {
    assert.deepStrictEqual(
      sidebar().map(({ text }) => text),
      ["Tutorial", "How-to guides", "Explanation", "Reference"]
    )
    const page = (path: string) => ({ from: `docs/${path}`, to: path })
    const all = [
      { from: "README.md", to: "index.md" },
      ...["guide/b.md", "guide/a.md", "guide/c.md", "new.md", "decisions/1.md"].map(page)
    ]
    const llms =
      "# Us\n\n## Start\n\n- [README](README.md): us\n- [B](docs/guide/b.md): b\n\n## Build\n\n- [A](docs/guide/a.md): a\n\n## Others\n\n- [C](docs/guide/c.md): c\n"
    const section = (text: string, collapsed: boolean, one: string, link: string) => ({
      text,
      items: [{ text: one, link }],
      collapsed
    })
    assert.deepStrictEqual(
      sidebarOf(all, llms, (from) => `about ${from}`),
      [
        { text: "Tutorial", items: [{ text: "B", link: "/guide/b" }] },
        {
          text: "Explanation",
          items: [
            section("Build", false, "A", "/guide/a"),
            section("Decisions", true, "about docs/decisions/1.md", "/decisions/1")
          ]
        },
        { text: "Reference", items: [section("More", true, "about docs/new.md", "/new")] },
        section("Others", false, "C", "/guide/c")
      ]
    )
  })

  it("have a page for every public module, or the module that has all of it", () => {
    const titles = references().map(({ title }) => title)
    const listed = linksOf(apiSidebar())
    assert.includeMembers(titles, [
      "@kintsugi/core/Agent",
      "@kintsugi/core/testing/Trace",
      "@kintsugi/providers/OpenAi"
    ])
    assert.includeMembers(titles, ["@kintsugi/durable/Durable", "@kintsugi/interop/Mcp", "@kintsugi/view/Svg"])
    assert.notIncludeMembers(titles, ["@kintsugi/core/Composition", "@kintsugi/core/Verdict", "@kintsugi/core/Turn"])
    assert.strictEqual(listed.length, titles.length + 1)
    assert.deepStrictEqual(duplicates(listed), [])
  })

  it("name each other by meaningful titles", () => {
    for (const title of titlesOf([...sidebar(), ...apiSidebar()])) assert.match(title, /\w/)
  })
})

describe("the home page", () => {
  const text = staged().get("index.md") ?? ""

  it("shows the picture of the README, for a screen and for a phone", () => {
    for (const { to } of pictures().filter(({ from }) => from.startsWith("site/"))) assert.include(text, `="./${to}"`)
    assert.notInclude(text, '"site/')
  })

  it("is the README: its first sentence on top, the rest below, nothing written twice", () => {
    const { tagline } = settings()
    const readme = read("README.md").text
    assert.isTrue(readme.replaceAll("\n", " ").includes(tagline))
    assert.strictEqual(text.split(tagline).length, 2)
    assert.include(text, `"tagline":${JSON.stringify(tagline)}`)
    const [, table] = readme.split("## Modules")
    assert.strictEqual(table?.split("\n").length, text.split("## Modules")[1]?.split("\n").length)
  })

  it("leads to pages of the site", () => {
    assert.include(text, "(./guide/recovery.md)")
    assert.notInclude(text, "(docs/")
  })
})

describe("links", () => {
  const guide = { from: "docs/guide/a.md", to: "guide/a.md" }
  const all = [guide, { from: "docs/api.md", to: "api/index.md" }, { from: "docs/errors.md", to: "errors.md" }]
  const relinked = (text: string, published?: string) => relink(text, guide, all, published)

  it("lead to where a page is on the site", () => {
    assert.strictEqual(relinked("[`x` y](../errors.md#a-b)"), "[`x` y](../errors.md#a-b)")
    assert.strictEqual(relinked("see [names](../api.md)"), "see [names](../api/index.md)")
  })

  it("stay what they are within a page, to other hosts, and in code", () => {
    for (const text of ["[a](#b)", "[a](https://effect.website)", "`[a](b.md)`", "```ts\n[a](b.md)\n```"])
      assert.strictEqual(relinked(text), text)
  })

  it("to sources lead to the repository where it is published; else the file is named", () => {
    const text = "[the agent](../../packages/core/src/agent/Agent.ts)"
    assert.strictEqual(
      relinked(text, "https://example.org/k"),
      "[the agent](https://example.org/k/blob/main/packages/core/src/agent/Agent.ts)"
    )
    assert.strictEqual(relinked(text), "the agent (`packages/core/src/agent/Agent.ts`)")
  })

  it("to pictures lead to where they stand on the site", () => {
    const home = { from: "README.md", to: "index.md" }
    assert.strictEqual(relinked("![a run](pictures/run.svg)"), "![a run](./pictures/run.svg)")
    assert.strictEqual(
      relink("![a run](docs/guide/pictures/run.svg)", home, [home], "https://example.org/k"),
      "![a run](./guide/pictures/run.svg)"
    )
  })

  it("to nothing are refused", () => {
    assert.throws(() => relinked("[a](../nowhere.md)"), "docs/guide/a.md links to ../nowhere.md")
  })

  it("from the list of names lead to each of them, but for those of others", () => {
    const names = staged().get("api/index.md") ?? ""
    assert.include(names, "### [Agent](./core/Agent.md)")
    assert.include(names, "- [`make`](./core/Agent.md#make)")
    assert.include(names, "- `HttpClient`")
  })
})

describe("a site that is built", () => {
  const folder = mkdtempSync(join(tmpdir(), "kintsugi-site-"))
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text)

  beforeAll(() => {
    write("index.html", '<a href="/k/a#b">a</a> <a href="./a.html#b">a</a> <a href="https://effect.website">e</a>')
    write("a.html", '<h1 id="b">b</h1><a href="#b">b</a>')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it("has no faults when pages and headings are there", () => {
    assert.deepStrictEqual(faults(folder, "/k/"), [])
  })

  it("has faults: pages and headings that are not there, what is fetched from elsewhere", () => {
    write("b.html", '<a href="gone">g</a><a href="a#c">c</a><a href="/a">a</a><script src="https://cdn.example/x.js">')
    write("c.css", "@font-face { src: url(//fonts.example/f.woff2) }")
    assert.deepStrictEqual(faults(folder, "/k/"), [
      "b.html: loads https://cdn.example/x.js",
      "b.html: gone leads nowhere",
      "b.html: a#c names no heading",
      "b.html: /a is above /k/",
      "c.css: loads //fonts.example/f.woff2"
    ])
  })

  it("is shown on the loopback interface, and nothing beside it", async () => {
    write("404.html", "lost")
    const server = await serve(folder, "/k/", 0)
    try {
      const address = server.address()
      assert.isObject(address)
      if (address === null || typeof address === "string") return
      assert.strictEqual(address.address, "127.0.0.1")
      const get = async (path: string) => {
        const response = await fetch(`http://127.0.0.1:${address.port}${path}`)
        return [response.status, await response.text()]
      }
      assert.deepStrictEqual(await get("/k/a"), await get("/k/a.html"))
      assert.strictEqual((await get("/k/"))[0], 200)
      assert.deepStrictEqual(await get("/k/..%2f..%2fetc%2fhostname"), [404, "lost"])
      assert.deepStrictEqual(await get("/a"), [404, "lost"])
    } finally {
      await new Promise((closed) => server.close(closed))
    }
  })
})

it("what the site is built with stays out of the workspace", () => {
  assert.notInclude(read("pnpm-workspace.yaml").text, "site")
  assert.isTrue(existsSync(join(root, "site/pnpm-lock.yaml")))
})
