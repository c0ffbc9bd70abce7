import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import { assert, describe, it } from "vitest"
import { path, render } from "../../scripts/errors.ts"
import { pathsIn, root } from "../../scripts/files.ts"

describe(path, () => {
  const page = readFileSync(join(root, path), "utf8")

  it("has the table of facts; `npm run errors` writes it anew [T1]", () => {
    assert.strictEqual(render(page), page)
    assert.notStrictEqual(render(page.replace("KINTSUGI-SERVER", "KINTSUGI-OTHER")), page.replace("SERVER", "OTHER"))
  })

  it("has a section for every error, in the order of the table, each with what raises it and an example that runs [T36]", () => {
    const sections = page.split(/^### /m).slice(1)
    assert.deepStrictEqual(
      sections.map((section) => section.slice(0, section.indexOf("\n"))),
      [...RecoveryAdvice.tags]
    )
    for (const section of sections) {
      const [, afterFacts = ""] = section.split(/<!-- \/facts -->/)
      assert.match(afterFacts, /^\n\n[A-Z][^]*?\.?\n\n```ts\n[^]*?\/\/ => [^]*?```/)
    }
  })
})

it("every code that a page names is one of the table [T2]", () => {
  const codes = new Set(RecoveryAdvice.tags.map((tag) => RecoveryAdvice.describe(tag).code))
  // reports name tests, also those of errors outside of the table
  const pages = pathsIn("docs", (path) => path.endsWith(".md") && !path.startsWith("docs/reports/"))
  const named = pages.flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(/KINTSUGI(?:-[A-Z]+)+/g)].map(([code]) => ({ path, code }))
  )
  assert.isAbove(named.filter(({ path }) => path === "docs/guide/production.md").length, 5)
  assert.deepStrictEqual(
    named.filter(({ code }) => !new Set<string>(codes).has(code)),
    []
  )
})
