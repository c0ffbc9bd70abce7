/** The bills of materials of the packages, and what installations of this repository may run. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { read, root } from "../../scripts/files.ts"
import { packages } from "../../scripts/packages.ts"
import { type Bill, billFaults, billOf, type Component, cycloneDx, importedIn } from "../../scripts/sbom.ts"

const component = (name: string, more: Partial<Component> = {}): Component => ({
  name,
  version: "1.0.0",
  license: "MIT",
  installs: [],
  ...more
})

const bill = (...components: ReadonlyArray<Component>): Bill => ({
  name: "@kintsugi/core",
  version: "0.1.0",
  components,
  declared: new Set(["effect"])
})

const files = (text: string) => new Map([["dist/index.js", `import * as Effect from "effect/Effect"\n${text}`]])

describe("the bill of a package", () => {
  it.each(packages)("of %s has its version, licences that ask for no more than their text, and no script", (name) => {
    const real = billOf(name)
    const modules = [...real.declared].map((one) => `import ${JSON.stringify(one)}`).join("\n")
    expect(billFaults(real, new Map([["dist/index.js", modules]]))).toEqual([])
    expect(real.components.map((one) => one.name)).toContain("effect")
    expect(cycloneDx(real)).toMatchObject({
      bomFormat: "CycloneDX",
      metadata: { component: { name: `@kintsugi/${name}`, version: real.version } }
    })
  })

  it.each([
    ["an import that is not declared", bill(), 'import "other/x"', "imports other, which it does not declare"],
    ["one that is loaded later", bill(), 'import("@a/b/c")', "imports @a/b, which it does not declare"],
    ["one that is given on", bill(), 'export { a } from "other"', "imports other, which it does not declare"],
    ["a licence", bill(component("x", { license: "GPL-3.0" })), "", "brings x@1.0.0 with the licence GPL-3.0"],
    ["a script", bill(component("x", { installs: ["install"] })), "", "brings x@1.0.0, which runs a script at install"],
    ["two majors", bill(component("x"), component("x", { version: "2.1.0" })), "", "brings x twice: 1.0.0, 2.1.0"],
    [
      "two versions before the first major",
      bill(component("x", { version: "0.1.0" }), component("x", { version: "0.2.0" })),
      "",
      "brings x twice: 0.1.0, 0.2.0"
    ]
  ])("is refused for %s", (_, given, text, fault) => {
    expect(billFaults(given, files(text))).toEqual([fault])
  })

  it("is refused for what nothing imports", () => {
    expect(billFaults(bill(), new Map([["dist/index.js", "export {}"]]))).toEqual([
      "declares effect, which no module of it imports"
    ])
  })

  it("knows what is no import, and its own modules", () => {
    const own = 'import "./a.js"\nimport "node:fs"\nconst text = "import x from \'y\'"\nimport(text)'
    expect([...importedIn(files(own))]).toEqual(["effect"])
    expect(billFaults(bill(), files('import "@kintsugi/core/Tool"'))).toEqual([])
  })

  it("allows minor versions beside each other", () => {
    expect(billFaults(bill(component("x"), component("x", { version: "1.9.0" })), files(""))).toEqual([])
  })
})

describe("the installation of this repository", () => {
  it("knows each package that would run a script, and runs those of three alone", () => {
    const { ignoredBuiltDependencies, onlyBuiltDependencies } = parse(read("pnpm-workspace.yaml").text)
    expect(onlyBuiltDependencies).toEqual(["bun", "deno", "node"])
    const store = join(root, "node_modules/.pnpm")
    const named = (folder: string): ReadonlyArray<string> =>
      !existsSync(folder)
        ? []
        : readdirSync(folder).flatMap((name) =>
            name.startsWith("@") ? readdirSync(join(folder, name)).map((one) => `${name}/${one}`) : [name]
          )
    const running = readdirSync(store).flatMap((one) => {
      const folder = join(store, one, "node_modules")
      return named(folder).flatMap((name) => {
        const path = join(folder, name, "package.json")
        if (!existsSync(path)) return []
        const { name: own = "", scripts = {} } = JSON.parse(readFileSync(path, "utf8"))
        const isRun = ["preinstall", "install", "postinstall"].some((script) => script in scripts)
        return isRun ? [own] : []
      })
    })
    const listed = new Set([...onlyBuiltDependencies, ...ignoredBuiltDependencies])
    expect(new Set(running).size).toBeGreaterThan(0)
    expect([...new Set(running)].filter((name) => !listed.has(name))).toEqual([])
  })
})
