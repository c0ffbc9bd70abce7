import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { namesOf } from "../../scripts/exports.ts"
import { pathsWithin, root } from "../../scripts/files.ts"
import { modules } from "../../scripts/modules.ts"
import { dependencies, exportsOf, packages } from "../../scripts/packages.ts"
import { binary } from "../../scripts/tools.ts"
import {
  checkTypes,
  consumer,
  folder,
  installed,
  link,
  manifestOf,
  node,
  run,
  setUp,
  tarballs,
  tearDown,
  typeTests,
  windows,
  write
} from "./_support/consumer.ts"
import { engines } from "./_support/engines.ts"

beforeAll(setUp, 240_000)
afterAll(tearDown)

describe.each(packages)("the tarball of %s", (name) => {
  it("satisfies publint", { timeout: 60_000 }, () => {
    const { output, status } = node(binary("publint"), ["run", tarballs.get(name) ?? "", "--strict"], folder)
    expect(status, output).toBe(0)
  })

  it("satisfies attw", { timeout: 60_000 }, () => {
    const { output, status } = node(
      binary("@arethetypeswrong/cli", "attw"),
      [tarballs.get(name) ?? "", "--profile", "esm-only", "--no-definitely-typed", "--no-emoji", "--format", "ascii"],
      folder
    )
    expect(status, output).toBe(0)
  })

  it("has effect as a peer, no workspace protocol, and entry points in dist", () => {
    const manifest = manifestOf(name)
    expect(manifest.peerDependencies.effect).toMatch(/^[\^~]4\.1/)
    expect(manifest.dependencies ?? {}).not.toHaveProperty("effect")
    expect(JSON.stringify({ ...manifest, devDependencies: {} })).not.toContain("workspace:")
    expect(manifest.sideEffects).toBe(false)
    // a closed list: what the package exports in the repository
    const sources = [...exportsOf(name)].map(([path, source]) => [
      path.replace(`@kintsugi/${name}`, "."),
      source.replace(`packages/${name}/src/`, "./dist/").replace(/\.ts$/, ".js")
    ])
    expect(manifest.exports).toEqual(Object.fromEntries(sources))
    const targets: ReadonlyArray<string> = Object.values(manifest.exports)
    expect(targets.filter((target) => !/^\.\/dist\/[\w/-]+\.js$/.test(target))).toEqual([])
    expect(targets.filter((target) => !existsSync(join(installed(name), target)))).toEqual([])
  })

  it("holds the readme, the licence, the sources and no test", () => {
    const paths = pathsWithin(installed(name)).map((path) => path.split("/")[0])
    expect([...new Set(paths)].toSorted()).toEqual(["AGENTS.md", "LICENSE", "README.md", "dist", "package.json", "src"])
    expect(pathsWithin(installed(name)).filter((path) => /\.(test|test-d)\./.test(path))).toEqual([])
  })

  it("has declarations whose relative imports resolve", () => {
    const declarations = pathsWithin(join(installed(name), "dist")).filter((path) => path.endsWith(".d.ts"))
    expect(declarations.length).toBeGreaterThan(0)
    const unresolved = declarations.flatMap((path) => {
      const file = join(installed(name), "dist", path)
      const specifiers = [...readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]*)"/g)]
      return specifiers
        .map(([, specifier = ""]) => specifier)
        .filter((specifier) => !existsSync(join(dirname(file), specifier.replace(/\.[jt]s$/, ".d.ts"))))
        .map((specifier) => `${path}: ${specifier}`)
    })
    expect(unresolved).toEqual([])
  })
})

describe("an installation", () => {
  const dependenciesOf = (name: string) => Object.keys(manifestOf(name).dependencies ?? {}).toSorted()

  it("brings d3 and the bin kintsugi with view alone", () => {
    expect(Object.fromEntries(packages.map((name) => [name, dependenciesOf(name)]))).toEqual({
      core: [],
      providers: ["@kintsugi/core"],
      durable: ["@kintsugi/core"],
      interop: ["@kintsugi/core"],
      view: ["@kintsugi/core", "d3-array", "d3-time"]
    })
    expect(packages.filter((name) => manifestOf(name).bin !== undefined)).toEqual(["view"])
  })

  /** Durable is an optional peer of these modules of interop alone: two doors, and what is behind them. */
  const servingDurable = /\/(?:DurableRuns|ConversationProxyServer|executions|conversing)\.(?:js|d\.ts)$/

  it("imports workflows in durable alone, MCP in interop alone, d3 and the command line in view alone", () => {
    const importing = (from: RegExp) =>
      packages.filter((name) => {
        const dist = join(installed(name), "dist")
        return pathsWithin(dist)
          .filter((path) => /\.(?:js|d\.ts)$/.test(path) && !servingDurable.test(path))
          .flatMap((path) => [
            ...readFileSync(join(dist, path), "utf8").matchAll(/(?:from|import\()\s*"([^".][^"]*)"/g)
          ])
          .some(([, specifier = ""]) => from.test(specifier))
      })
    expect(importing(/^effect\/(?:workflow|cluster|sql)\b/)).toEqual(["durable"])
    expect(importing(/^effect\/ai\/Mcp/)).toEqual(["interop"])
    expect(importing(/^(?:effect\/cli|d3-array|d3-time)\b/)).toEqual(["view"])
    expect(importing(/^effect\/Effect$/).length).toBeGreaterThan(1)
  })
})

describe("a library that exports what it makes of the tarballs", () => {
  const sources = join(root, "test/repository/_support/library")
  const library = join(consumer, "node_modules/library")
  // in every run the compiler of today; in CI the one that most programs have, too
  const compilers = process.env["CI"] === undefined ? ["typescript"] : ["typescript", "typescript-5.9"]
  const options = {
    target: "es2024",
    lib: ["es2024", "dom"],
    strict: true,
    exactOptionalPropertyTypes: true,
    types: []
  }
  const tsc = (compiler: string, project: string) =>
    node(binary(compiler, "tsc"), ["-p", project, "--pretty", "false"], consumer)
  const hidden = modules.flatMap(({ path, title }) =>
    namesOf(path).flatMap(({ isHidden, name }) => (isHidden ? [`${posix.basename(title)}.${name}`] : []))
  )
  const exportsIn = (text: string) => [...text.matchAll(/^export (?:declare )?(?:const|class|function) (\w+)/gm)]

  describe.each(compilers)("with %s", (compiler) => {
    it("emits declarations that name nothing but public modules [P1301]", { timeout: 120_000 }, () => {
      rmSync(library, { recursive: true, force: true })
      mkdirSync(join(library, "src"), { recursive: true })
      cpSync(join(sources, "index.ts"), join(library, "src/index.ts"))
      const emitting = { declaration: true, composite: true, module: "nodenext", rootDir: "src", outDir: "dist" }
      writeFileSync(
        join(library, "tsconfig.json"),
        JSON.stringify({ compilerOptions: { ...options, ...emitting }, include: ["src"] })
      )
      writeFileSync(
        join(library, "package.json"),
        JSON.stringify({ name: "library", type: "module", exports: { ".": "./dist/index.js" } })
      )
      const { output, status } = tsc(compiler, library)
      expect(status, output).toBe(0)
      const declarations = readFileSync(join(library, "dist/index.d.ts"), "utf8")
      const source = readFileSync(join(sources, "index.ts"), "utf8")
      expect(exportsIn(source).length).toBeGreaterThan(30)
      expect(exportsIn(declarations).map(([, name]) => name)).toEqual(exportsIn(source).map(([, name]) => name))
      const exported = new Set(packages.flatMap((name) => [...exportsOf(name).keys()]))
      const specifiers = [...declarations.matchAll(/(?:from |import\()"([^"]*)"/g)].map(
        ([, specifier = ""]) => specifier
      )
      expect(specifiers).toContain("@kintsugi/core")
      expect(specifiers.filter((one) => !/^effect(\/|$)/.test(one) && !exported.has(one))).toEqual([])
      // a name that no page lists is public for these declarations alone
      expect(hidden.filter((name) => !new RegExp(`\\b${name}\\b`).test(declarations.replaceAll('")', "")))).toEqual([])
    })

    it.each(
      [
        { module: "nodenext", skipLibCheck: true },
        { module: "nodenext", skipLibCheck: false },
        { module: "node16", skipLibCheck: true },
        { module: "es2022", moduleResolution: "bundler", skipLibCheck: true },
        { module: "es2022", moduleResolution: "bundler", skipLibCheck: false }
      ].filter(({ module, skipLibCheck }) => {
        if (process.env["CI"] === undefined) return module === "es2022"
        // the compiler of most programs takes long: each way to resolve once
        return compiler === "typescript" || (module === "es2022") === !skipLibCheck
      })
    )("is what it was to a program with $module, skipLibCheck $skipLibCheck [P1301]", { timeout: 120_000 }, (how) => {
      const app = join(consumer, "app")
      mkdirSync(app, { recursive: true })
      const program = readFileSync(join(sources, "app.ts"), "utf8")
      const outside = program
        .replace("./index.ts", "library")
        .replace("../../../types/_support/Identity.ts", "./Identity.js")
      writeFileSync(join(app, "app.ts"), outside)
      cpSync(join(root, "test/types/_support/Identity.ts"), join(app, "Identity.ts"))
      writeFileSync(
        join(app, "tsconfig.json"),
        JSON.stringify({ compilerOptions: { ...options, ...how, noEmit: true }, files: ["app.ts"] })
      )
      const { output, status } = tsc(compiler, app)
      expect(status, output).toBe(0)
      // a type that is not kept does not compile
      if (how.module === "nodenext" || !how.skipLibCheck) return
      writeFileSync(join(app, "app.ts"), outside.replaceAll("lib.Mail", "never"))
      expect(tsc(compiler, app).output).toMatch(/app\.ts\(\d+,\d+\): error TS2554/)
    })
  })
})

const bundler = ["--module", "es2022", "--moduleResolution", "bundler"]
const node16 = ["--module", "node16", "--moduleResolution", "node16"]

/** In every run with the compiler of today, in CI with the one that most programs have, too. */
const typeChecks = [
  { compiler: "typescript", how: bundler },
  { compiler: "typescript", how: [...node16, "--skipLibCheck", "false"] },
  { compiler: "typescript-5.9", how: [...bundler, "--skipLibCheck", "false"] }
].slice(0, process.env["CI"] === undefined ? 1 : undefined)

describe("a project that installs the tarballs", () => {
  it("type-checks, declarations of dependencies included", { timeout: 60_000 }, () => {
    const { output, status } = node(binary("typescript", "tsc"), ["-p", ".", "--pretty", "false"], consumer)
    expect(status, output).toBe(0)
  })

  const passing = "passes the type tests of the repository against the declarations alone, $compiler $how [P1301]"

  it.each(typeChecks)(passing, { timeout: 120_000 }, ({ compiler, how }) => {
    const { output, status, stdout } = checkTypes(compiler, ...how, "--listFiles")
    expect(status, output).toBe(0)
    const files = stdout.split(/\r?\n/).map((path) => path.replaceAll("\\", "/"))
    const filesOf = (folder: string) => files.filter((path) => path.startsWith(`${folder.replaceAll("\\", "/")}/`))
    const tests = pathsWithin(join(root, "test/types")).filter((path) => path.endsWith(".test-d.ts"))
    expect(filesOf(typeTests).filter((path) => path.endsWith(".test-d.ts"))).toHaveLength(tests.length)
    expect(filesOf(installed("core")).filter((path) => !path.endsWith(".d.ts"))).toEqual([])
    expect(filesOf(installed("core"))).not.toEqual([])
    expect(filesOf(join(root, "packages"))).toEqual([])
  })

  it("fails a type test that the declarations do not keep", { timeout: 60_000 }, () => {
    const planted = join(typeTests, "test/types/planted.test-d.ts")
    const call =
      'import { call, count } from "./_support/subjects.ts"\nimport { sameType } from "./_support/Identity.ts"\n'
    writeFileSync(planted, `${call}sameType<string>()(call(count))\n// @ts-expect-error is fine\ncall(count)\n`)
    const { output, status } = checkTypes("typescript")
    rmSync(planted)
    expect(status, output).not.toBe(0)
    expect(output).toMatch(/planted\.test-d\.ts\(3,.*TS2554/)
    expect(output).toMatch(/planted\.test-d\.ts\(4,.*TS2578/)
  })

  it("runs", { timeout: 60_000 }, () => {
    const { output, stdout } = node("run.mjs", [], consumer)
    expect(stdout, output).toBe(
      JSON.stringify({
        answer: "IT WORKS",
        durably: "IT LASTS",
        foreign: "ring",
        way: "http",
        served: true,
        chunks: 0,
        isDrawn: true,
        sameModules: true,
        isEmpty: false
      })
    )
  })

  it("has the testing kit without fast-check, and requires that only for its own module", { timeout: 60_000 }, () => {
    expect(manifestOf("core").peerDependenciesMeta).toEqual({ "fast-check": { optional: true } })
    write(
      "kit.mjs",
      `import "@kintsugi/core/testing"
import "@kintsugi/core/testing/Arbitraries"
await import("@kintsugi/core/testing/FastCheck").catch((error) => process.stdout.write(error.message))
`
    )
    const without = node("kit.mjs", [], consumer)
    expect(without.stdout, without.output).toContain("Cannot find package 'fast-check'")
    link("fast-check", ".")
    const installed = node("kit.mjs", [], consumer)
    expect([installed.status, installed.stdout], installed.output).toEqual([0, ""])
  })

  it("says which packages an engine needs, and runs on them once they are there", { timeout: 120_000 }, () => {
    write("engine.mjs", engines)
    const peers = Object.keys(manifestOf("durable").peerDependenciesMeta)
    expect(peers.length).toBe(4)
    const without = node("engine.mjs", ["3"], consumer)
    const pglite = "@electric-sql/pglite"
    expect(JSON.parse(without.stdout), without.output).toEqual([
      `Durable.layerPglite needs the package ${pglite}, which is not installed: npm install ${pglite} ${pglite}-socket @effect/sql-pg`,
      "Durable.layerPostgres needs the package @effect/sql-pg, which is not installed: npm install @effect/sql-pg",
      "Durable.layerPostgres needs the package @effect/sql-pg, which is not installed: npm install @effect/sql-pg @effect/platform-node-shared"
    ])
    for (const name of peers) link(name, "packages/durable")
    const installed = node("engine.mjs", ["1"], consumer)
    expect(installed.stdout, installed.output).toBe('["IT LASTS"]')
  })

  it.each(packages)("cannot reach the internals of %s", (name) => {
    const files = pathsWithin(join(installed(name), "dist")).filter((path) => path.endsWith(".js"))
    const exported = exportsOf(name)
    const paths = files.flatMap((file) => {
      const path = file.replace(/\.js$/, "")
      return [path, file, `dist/${file}`, `src/${path}.ts`, `internal/${path}`]
    })
    const tried = paths.map((path) => `@kintsugi/${name}/${path}`).filter((path) => !exported.has(path))
    write(
      "internal.mjs",
      `const reached = []
for (const path of ${JSON.stringify(tried)}) {
  const code = await import(path).then(() => "it is there", (error) => error.code)
  if (code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") reached.push([path, code])
}
process.stdout.write(JSON.stringify(reached))
`
    )
    const { output, stdout } = node("internal.mjs", [], consumer)
    expect(stdout, output).toBe("[]")
    // of the five ways to a file, a package exports at most one
    expect(tried.length).toBeGreaterThan(4 * files.length)
  })

  const events = join(root, "docs/guide/pictures/events.jsonl")

  /** As npm installs a bin: a link to the program, which is called by its name. */
  const kintsugi = (...parameters: ReadonlyArray<string>) => {
    const bin = join(consumer, "node_modules/.bin/kintsugi")
    const program = join(installed("view"), manifestOf("view").bin.kintsugi)
    mkdirSync(dirname(bin), { recursive: true })
    if (!existsSync(bin)) symlinkSync(program, bin)
    return windows ? node(program, parameters, consumer) : run(bin, parameters, consumer)
  }

  it("has the bin kintsugi, two files that need nothing but what is installed [P1244]", { timeout: 60_000 }, () => {
    expect(manifestOf("view").bin).toEqual({ kintsugi: "./dist/cli/main.js" })
    const dist = join(installed("view"), "dist")
    const [main = "", program = ""] = ["cli/main.js", "internal/process.js"].map((path) =>
      readFileSync(join(dist, path), "utf8")
    )
    expect(main).toMatch(/^#!\/usr\/bin\/env node\n/)
    // what stands at its head is loaded before the compile cache is on
    expect([...main.matchAll(/^import .*$/gm)].map(([line]) => line)).toEqual(['import module from "node:module";'])
    const imported = [...program.matchAll(/^import [^"\n]*"([^".][^"]*)";?$/gm)].map(([, from = ""]) => from)
    expect(imported.length).toBeGreaterThan(20)
    expect(imported.filter((from) => !/^(node:|effect\/|@kintsugi\/core(\/|$))/.test(from))).toEqual([])
    const { output, status, stdout } = kintsugi("--help")
    expect([status, stdout.includes("report")], output).toEqual([0, true])
    expect(kintsugi("--version").stdout).toBe(`${manifestOf("view").version}\n`)
  })

  it("has a bin that runs beside core and view alone [P1244]", { timeout: 60_000 }, () => {
    const alone = join(folder, "alone/node_modules")
    for (const name of ["core", "view"]) cpSync(installed(name), join(alone, "@kintsugi", name), { recursive: true })
    for (const name of ["effect", ...dependencies().map(([name]) => name)]) {
      symlinkSync(realpathSync(join(consumer, "node_modules", name)), join(alone, name), windows ? "junction" : "dir")
    }
    const program = join(alone, "@kintsugi/view", manifestOf("view").bin.kintsugi)
    const version = node(program, ["--version"], dirname(alone))
    expect(version.stdout, version.output).toBe(`${manifestOf("view").version}\n`)
    const counted = node(program, ["stats", events, "--json"], dirname(alone))
    expect(JSON.parse(counted.stdout), counted.output).toMatchObject({ recordings: 1, unread: [] })
  })

  it("reports, explains and counts with it [P1244]", { timeout: 60_000 }, () => {
    const report = kintsugi("report", events, "-o", "report.html")
    expect(report.status, report.output).toBe(0)
    expect(readFileSync(join(consumer, "report.html"), "utf8")).toMatch(/^<!doctype html>/)
    write(
      "policy.ts",
      'import { Recovery } from "@kintsugi/core"\nexport const table: object = { A: Recovery.retry({ retries: 2 }) }\n'
    )
    const explained = kintsugi("explain", "policy.ts#table")
    expect(explained.stdout, explained.output).toContain("at worst: 3 attempts")
    const counted = kintsugi("stats", events, "--json")
    expect(JSON.parse(counted.stdout), counted.output).toMatchObject({ recordings: 1, unread: [] })
  })

  it("explains a policy of another copy of core, as under npx [P1244]", { timeout: 60_000 }, () => {
    const other = join(consumer, "other")
    const copy = join(other, "node_modules/@kintsugi/core")
    cpSync(installed("core"), copy, { recursive: true })
    const core = JSON.stringify(join(copy, "dist/index.js"))
    // what its own copy has made
    writeFileSync(
      join(other, "policy.mjs"),
      `import { Agent, Recovery } from "@kintsugi/core"
import * as Copy from ${core}
if (Recovery.retry !== Copy.Recovery.retry) throw new Error("this is not the copy")
const table = { NetworkError: Recovery.retry({ maxAttempts: 3, initialBackoff: "1 second", jitter: "full" }) }
export const clerk = Agent.make("clerk", {}).pipe(Agent.onLlmError(table))
export { table }
`
    )
    const explained = kintsugi("explain", "other/policy.mjs#table", "other/policy.mjs#table")
    expect(explained.stdout, explained.output).toContain("3 × 3 = 9 attempts")
    const agent = kintsugi("explain", "other/policy.mjs#clerk", "other/policy.mjs#table")
    expect(agent.stdout, agent.output).toContain("3 × 3 = 9 attempts")
  })

  it("cannot reach its code from outside [P1244]", () => {
    for (const module of ["main", "program", "report"]) {
      write("internal.mjs", `await import("@kintsugi/view/cli/${module}")\n`)
      expect(node("internal.mjs", [], consumer).output).toContain("ERR_PACKAGE_PATH_NOT_EXPORTED")
    }
  })
})
