import { readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { assert, describe, it } from "vitest"
import { modules, namesOf, path, render } from "../../scripts/api.ts"
import { filesIn, read, root } from "../../scripts/files.ts"

describe(path, () => {
  it("lists every exported name; `npm run api` writes it anew", () => {
    assert.strictEqual(readFileSync(join(root, path), "utf8"), render())
  })

  it.each(modules)("$title: what it lists is what the module exports", async ({ path }) => {
    const module: Record<string, unknown> = await import(join(root, path))
    const values = namesOf(path).filter(({ kind }) => kind !== "type")
    assert.sameMembers(
      Object.keys(module),
      values.map(({ name }) => name)
    )
  })

  it.each(modules)("$title: every name says what it is", ({ path }) => {
    const silent = namesOf(path).filter(({ says }) => says === "")
    assert.deepStrictEqual(
      silent.map(({ name }) => name),
      []
    )
  })

  it("the README has every module of the core in its table", () => {
    const [, table = ""] = read("README.md").text.split("\n## Modules\n")
    const exported = [...read("packages/core/src/index.ts").text.matchAll(/^export \* as (\w+) from/gm)].map(
      ([, name]) => name
    )
    assert.isAbove(exported.length, 30)
    assert.deepStrictEqual(
      exported.filter((name) => !table.includes(`\`${name}\``)),
      []
    )
  })

  it("nobody outside of core uses its names that are internal", () => {
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
      // that one quotes the sources of core
    ].filter(({ path }) => path !== "docs/mutation.md")
    const used = outside.flatMap(({ path, text }) => {
      const words = new Set(text.match(/\b[A-Z]\w*\.\w+/g))
      return internal.filter((name) => words.has(name)).map((name) => `${path}: ${name}`)
    })
    assert.deepStrictEqual(used, [])
  })
})
