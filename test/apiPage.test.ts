import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { modules, namesOf, path, render } from "../scripts/api.ts"
import { root } from "../scripts/files.ts"

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
})
