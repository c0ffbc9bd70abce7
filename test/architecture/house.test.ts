import { existsSync, readdirSync } from "node:fs"
import { join, posix } from "node:path"
import { describe, expect, it } from "vitest"
import { filesIn, pathsIn, read, root } from "../../scripts/files.ts"
import {
  exportViolations,
  foreignViolations,
  lengthViolations,
  MAX_LINES,
  measure,
  oldFunctionViolations,
  orderViolations,
  privacyViolations,
  sizeViolations,
  stabilityViolations,
  testViolations
} from "./_support/checks.ts"
import { importsOf } from "./_support/imports.ts"
import { type Package, packages } from "./_support/packages.ts"
import { installedEffect } from "./_support/stability.ts"

const isTypeScript = (path: string) => path.endsWith(".ts")
const sourcesOf = ({ name }: Package) => filesIn(`packages/${name}/src`)
const sources = packages.flatMap(sourcesOf)
// what imports from the packages besides them: other lock files, other rules
const others = [
  "packages/examples/src",
  "packages/examples/recipes",
  "test",
  "tools",
  "scripts",
  "bench",
  "site"
].flatMap((folder) => filesIn(folder, (path) => isTypeScript(path) && !path.startsWith("test/fixtures/")))

/** The modules that users import: those that `package.json` names, and those that such an index passes on. */
const published = ({ name }: Package): ReadonlySet<string> => {
  const manifest: { readonly exports: Readonly<Record<string, string>> } = JSON.parse(
    read(`packages/${name}/package.json`).text
  )
  const paths = Object.values(manifest.exports).map((path) => posix.join(`packages/${name}`, path))
  const indexes = paths.filter((path) => path.endsWith("/index.ts"))
  const passedOn = indexes.flatMap((path) =>
    importsOf(read(path)).map(({ from }) => posix.join(posix.dirname(path), from))
  )
  return new Set([...paths, ...passedOn])
}
const modules = new Map(packages.map((house) => [house.name, published(house)]))
const isPublic = (path: string) => [...modules.values()].some((paths) => paths.has(path))

/** `@kintsugi/core/Tool` where `package.json` of the importing package names core, and that of core names `./Tool`. */
const oursFor = ({ name }: Package) => {
  const { dependencies = {} }: { readonly dependencies?: Readonly<Record<string, string>> } = JSON.parse(
    read(`packages/${name}/package.json`).text
  )
  return (from: string): boolean => {
    const [, other = "", module = ""] = /^@kintsugi\/([a-z]+)(?:\/(.+))?$/.exec(from) ?? []
    if (dependencies[`@kintsugi/${other}`] === undefined) return false
    const { exports } = JSON.parse(read(`packages/${other}/package.json`).text)
    return Object.hasOwn(exports, module === "" ? "." : `./${module}`)
  }
}

describe("the house", () => {
  it("has a list for each package that is published, and no other", () => {
    const manifests = readdirSync(join(root, "packages")).map((name) => [
      name,
      JSON.parse(read(`packages/${name}/package.json`).text)
    ])
    const released = manifests.filter(([, manifest]) => manifest.private !== true).map(([name]) => name)
    expect(packages.map(({ name }) => name).toSorted()).toEqual(released.toSorted())
  })

  it("each codec has a door and the files request, reply, stream and error", () => {
    const codecs = (packages.find(({ name }) => name === "providers")?.folders ?? []).filter((folder) =>
      folder.startsWith("codec/")
    )
    expect(codecs.length).toBeGreaterThan(0)
    for (const codec of codecs) {
      const names = readdirSync(join(root, "packages/providers/src", codec))
      expect(names).toEqual(expect.arrayContaining(["error.ts", "reply.ts", "request.ts", "stream.ts"]))
      expect(names.filter((name) => /^[A-Z]/.test(name))).toHaveLength(1)
    }
  })

  it.each(packages)("$name imports in the order of its folders", (house) => {
    expect(orderViolations(sourcesOf(house), house, isPublic)).toEqual([])
  })

  it("private files are imported from where they belong alone", () => {
    expect(privacyViolations([...sources, ...others])).toEqual([])
  })

  it.each(packages)("the files of $name export what is imported, and nothing else", (house) => {
    const own = sourcesOf(house)
    expect(exportViolations(own, others, isPublic)).toEqual([])
  })

  it.each(packages)("$name imports from outside what its list names", (house) => {
    expect(foreignViolations(sourcesOf(house), house, oursFor(house))).toEqual([])
  })

  it("what users import are doors", () => {
    const paths = [...modules.values()].flatMap((all) => [...all])
    const isDoor = (path: string) => /^[A-Z]/.test(posix.basename(path)) || path.endsWith("/index.ts")
    expect(paths.filter((path) => !isDoor(path))).toEqual([])
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it("core uses stable exports of Effect only, its testing kit excepted", { timeout: 60_000 }, () => {
    const [core] = packages
    const isExempt = (path: string, from: string) =>
      path.startsWith("packages/core/src/testing/") && core?.within?.["testing"]?.includes(from) === true
    expect(stabilityViolations(filesIn("packages/core/src", isTypeScript), installedEffect(), isExempt)).toEqual([])
  })

  it.each(packages)("the tests of $name mirror its folders", (house) => {
    const tests = pathsIn(`test/${house.name}`, isTypeScript)
    expect(tests.length).toBeGreaterThan(0)
    expect(testViolations(tests, house, new Set(house.folders))).toEqual([])
  })

  it("helpers of the other suites are in _support", () => {
    const suites = ["architecture", "examples", "faults", "laws", "models", "repository", "types"]
    const helpers = suites
      .flatMap((suite) => pathsIn(`test/${suite}`, isTypeScript))
      .filter((path) => !/\.(test|test-d)\.ts$/.test(path) && !path.includes("/_support/"))
    expect(helpers).toEqual([])
  })

  it("the reference knows the data and the errors of core, and no engine, in at most 300 lines", () => {
    const reference = read("test/laws/_support/reference.ts")
    const folders = importsOf(reference).map(({ from }) => /^(?:\.\.\/){3}packages\/core\/src\/(\w+)\//.exec(from)?.[1])
    expect(folders.length).toBeGreaterThan(0)
    expect(folders.filter((folder) => folder !== "data" && folder !== "errors")).toEqual([])
    expect(reference.text.trimEnd().split("\n").length).toBeLessThanOrEqual(300)
  })

  it("each tool is a private package with a README that names its command", () => {
    const tools = readdirSync(join(root, "tools"))
    expect(tools.length).toBeGreaterThan(0)
    for (const tool of tools) {
      const { name, private: isPrivate } = JSON.parse(read(`tools/${tool}/package.json`).text)
      expect({ name, isPrivate }).toEqual({ name: `@kintsugi-tools/${tool}`, isPrivate: true })
      expect(read(`tools/${tool}/README.md`).text).toMatch(/^# .+\n\n[A-Z][^]*```sh\nnpm run /)
      expect(pathsIn(`tools/${tool}/src`, isTypeScript)).toContain(`tools/${tool}/src/main.ts`)
    }
  })

  it(`no test and no program is longer than ${MAX_LINES} lines`, () => {
    expect(lengthViolations(others)).toEqual([])
  })

  it(`no source is longer than ${MAX_LINES} lines, and none casts to any`, () => {
    const rows = measure(sources).toSorted((a, b) => b.lines - a.lines)
    const table = rows.map(
      ({ casts, lines, path }) => `${String(lines).padStart(5)} ${String(casts).padStart(5)}  ${path}`
    )
    process.stdout.write(`${["lines casts  file", ...table].join("\n")}\n`)
    expect(sizeViolations(sources)).toEqual([])
  })

  it("no function is made where a property takes it", () => {
    expect(oldFunctionViolations(sources)).toEqual([])
  })
})
