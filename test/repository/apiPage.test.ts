import { join, posix } from "node:path"
import { assert, describe, it } from "vitest"
import { entryOf, path } from "../../scripts/api.ts"
import { entriesOf, headOf, isListed, namesOf } from "../../scripts/exports.ts"
import { filesIn, read, root } from "../../scripts/files.ts"
import { mainNames, written } from "../../scripts/mainNames.ts"
import { modules } from "../../scripts/modules.ts"
import { withoutOldNames } from "./_support/oldNames.ts"

/** The lines below each heading of a module, by the path of its import. */
const listed = (page: string): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    page
      .split(/^## /m)
      .slice(1)
      .flatMap((section) => {
        const [head = "", ...bodies] = section.split(/^### /m)
        return bodies.map((body) => {
          const [name = "", ...lines] = body.split("\n")
          return [`${head.trim()}/${name}`, lines] as const
        })
      })
  )

/** The entries below a heading, each without what it says. */
const entriesIn = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.flatMap((line) => /^- (`\w+`(?: \(\w+\))?): \S/.exec(line)?.[1] ?? [])

describe(path, () => {
  const page = listed(read(path).text)

  it("opens with the names of the main job, in the order in which they are learnt, and so does llms.txt", () => {
    const [head = ""] = read(path).text.split("\n## ")
    const wanted = mainNames.map(written)
    assert.deepStrictEqual(
      [...head.matchAll(/^\d+\. \[`([^`]+)`\]\(#\w+\)$/gm)].map(([, name]) => name),
      wanted
    )
    const [, sentence = ""] =
      /The main job needs these names, in this order: ([^]*?)\.\n\n/.exec(read("llms.txt").text) ?? []
    assert.deepStrictEqual(
      [...sentence.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
      wanted
    )
  })

  it.each(mainNames.map((main) => ({ main, name: written(main) })))("$name has a runnable example", ({ main }) => {
    const module = modules.find(({ title }) => title === main.module)
    const { name } = main
    const found = namesOf(module?.path ?? "").find((one) => one.name === name)
    const comments =
      name === undefined
        ? [headOf(module?.path ?? "")]
        : entriesOf(read(found?.from ?? "").text).flatMap((entry) => (entry.name === name ? entry.comments : []))
    assert.isTrue(comments.some((comment) => comment.includes("```ts\n")))
  })

  it("has every public module, and no other", () => {
    assert.deepStrictEqual(
      [...page.keys()],
      modules.map(({ title }) => title)
    )
  })

  it.each(modules)("has every public name of $title, and no other; `npm run api` writes it anew", (module) => {
    const { path, title, whole } = module
    const lines = page.get(title) ?? []
    const entries = entriesIn(lines)
    const names = namesOf(path).filter(isListed)
    const wanted = whole === undefined ? names.map(entryOf) : []
    assert.deepStrictEqual(
      {
        missing: wanted.filter((entry) => !entries.includes(entry)),
        tooMany: entries.filter((entry, index) => !wanted.includes(entry) || entries.indexOf(entry) !== index)
      },
      { missing: [], tooMany: [] },
      `${title} in docs/api.md`
    )
    assert.strictEqual(lines.includes(`All of it is in \`${posix.basename(whole ?? "")}\`.`), whole !== undefined)
    assert.isAbove(names.length, 0)
  })

  it.each(modules)("$title: the names that the sources export are those that the module has", async ({ path }) => {
    const module: Record<string, unknown> = await import(join(root, path))
    assert.sameMembers(
      Object.keys(module),
      namesOf(path).flatMap(({ name, value }) => (value === undefined ? [] : [name]))
    )
  })

  it.each(modules)("$title: every public name has a doc comment", ({ path, title }) => {
    const silent = namesOf(path).filter(({ comment, isInternal }) => comment === "" && !isInternal)
    assert.deepStrictEqual(
      silent.map(({ from, name }) => `${title}: ${name} of ${from}`),
      []
    )
  })

  it("the README of the core has every module in its table", () => {
    const [, table = ""] = read("packages/core/README.md").text.split("\n## Modules\n")
    const exported = namesOf("packages/core/src/index.ts").flatMap(({ from, name }) =>
      posix.basename(from, ".ts") === name ? [name] : []
    )
    assert.isAbove(exported.length, 20)
    assert.deepStrictEqual(
      exported.filter((name) => !table.includes(`\`${name}\``)),
      []
    )
  })

  it("no source outside of core uses its internal names", () => {
    const internal = modules
      .filter(({ title }) => title.startsWith("@kintsugi/core/"))
      .flatMap(({ path, title }) =>
        namesOf(path).flatMap(({ isInternal, name }) => (isInternal ? [`${posix.basename(title)}.${name}`] : []))
      )
    assert.isAbove(internal.length, 10)
    const outside = [
      ...filesIn("packages", (path) => /\.(?:ts|md)$/.test(path) && !path.startsWith("packages/core/")),
      ...filesIn("docs"),
      read("README.md")
      // this page quotes the sources of core
    ].filter(({ path }) => path !== "docs/reports/mutation.md")
    const used = outside.map(withoutOldNames).flatMap(({ path, text }) => {
      const words = new Set(text.match(/\b[A-Z]\w*\.\w+/g))
      return internal.filter((name) => words.has(name)).map((name) => `${path}: ${name}`)
    })
    assert.deepStrictEqual(used, [])
  })
})
