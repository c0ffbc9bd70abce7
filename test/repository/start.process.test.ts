/** What a process loads that imports the packages without a bundler, and how long that takes. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { build } from "rolldown"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { install } from "../../bench/src/bundling.ts"
import { loadedBy, type Program, starts } from "../../bench/src/starting.ts"
import { pathsWithin, read } from "../../scripts/files.ts"
import { packages } from "../../scripts/packages.ts"

const folder = mkdtempSync(join(realpathSync(tmpdir()), "kintsugi-start-"))

beforeAll(() => install(folder), 240_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const filesOf = (name: string) => pathsWithin(join(folder, "node_modules/@kintsugi", name, "dist"))

describe("an import", () => {
  const measured: ReadonlyArray<Program> = [
    "the root index",
    "the OpenAI provider",
    "the root index and the OpenAI provider"
  ]

  // a busy machine makes one measurement wrong, and not three: the least that the processor takes counts
  it("takes at most 1.5 times what its imports of Effect take", { retry: 2, timeout: 420_000 }, () => {
    const times = starts(folder, measured, 14, (all) => Math.min(...all))
    const ratios = measured.map((name) => {
      const { floor, program } = times.get(name) ?? { floor: { cpu: 0 }, program: { cpu: 0 } }
      return [name, program.cpu / floor.cpu] as const
    })
    expect(ratios.filter(([, ratio]) => !(ratio < 1.5))).toEqual([])
    expect(ratios.filter(([, ratio]) => !(ratio > 0.5))).toEqual([])
  })

  it("of a hello agent loads these modules of others, and no more", () => {
    const listed = read("test/repository/_support/hello.txt").text.trimEnd().split("\n")
    const { foreign } = loadedBy(folder, "a hello agent")
    // another module here is time and size for every user: `npm run bench -- start` and `-- weight` tell how much
    expect(foreign).toEqual(listed)
  })

  it("of a hello agent loads 19 files of ours, and that of the root index 27", () => {
    expect(loadedBy(folder, "a hello agent").ours).toHaveLength(19)
    expect(loadedBy(folder, "the root index").ours).toHaveLength(27)
  })
})

describe("source maps", () => {
  it.each(packages)("of %s name sources that are published, or hold their text", (name) => {
    const maps = filesOf(name).filter((path) => path.endsWith(".js.map"))
    expect(maps).not.toEqual([])
    const missing = maps.flatMap((path) => {
      const installed = join(folder, "node_modules/@kintsugi", name)
      const file = join(installed, "dist", path)
      const { sources, sourcesContent }: Record<string, Array<string | null>> = JSON.parse(readFileSync(file, "utf8"))
      return (sources ?? []).filter((source, index) => {
        const found = join(dirname(file), source ?? "")
        const isPublished = found.startsWith(join(installed, "src")) && existsSync(found)
        return !isPublished && typeof sourcesContent?.[index] !== "string"
      })
    })
    expect(missing).toEqual([])
  })

  it.each(packages)("of %s belong to every file that has code", (name) => {
    const unmapped = filesOf(name).filter((path) => {
      if (!path.endsWith(".js")) return false
      const code = readFileSync(join(folder, "node_modules/@kintsugi", name, "dist", path), "utf8")
      const isFacade = code.split("\n").every((line) => /^$|^(?:import|export) /.test(line))
      return !isFacade && !code.includes("//# sourceMappingURL=")
    })
    expect(unmapped).toEqual([])
  })
})

describe("a stack", () => {
  const failing = `
    import * as Budget from "@kintsugi/core/Budget"
    try { Budget.make({ warnAt: 2 }) } catch (error) { process.stdout.write(error.stack) }`

  const stackOf = (...flags: ReadonlyArray<string>): string => {
    const program = join(folder, "failing.mjs")
    writeFileSync(program, failing)
    const { stderr, stdout } = spawnSync(process.execPath, [...flags, program], { cwd: folder, encoding: "utf8" })
    expect(stderr).toBe("")
    return stdout
  }

  it("names our functions and the file of the package", () => {
    expect(stackOf()).toMatch(/ at (?:Module\.)?make\S* \(.*@kintsugi\/core\/dist\/internal\/main\.js:\d+/)
  })

  it("names the line of the source with --enable-source-maps", () => {
    const [, path = "", line = "0"] =
      /@kintsugi\/core\/(src\/\S+\.ts):(\d+):\d+/.exec(stackOf("--enable-source-maps")) ?? []
    expect(path).toMatch(/^src\/budget\//)
    const source = read(join("packages/core", path)).text.split("\n")
    expect(source[Number(line) - 1]).toContain("throw ")
  })
})

describe("a bundle by Rolldown", () => {
  /** In KB of 1,000 bytes, minified and gzipped. */
  const weigh = async (source: string): Promise<number> => {
    const input = join(folder, "bundled.mjs")
    writeFileSync(input, source)
    const output = { format: "esm", minify: true, codeSplitting: false } as const
    const { output: chunks } = await build({ input, platform: "node", write: false, output })
    return gzipSync(chunks[0].code, { level: 9 }).length / 1000
  }

  const hello = () => readFileSync(join(folder, "ours.mjs"), "utf8")

  it("of a hello agent is as small by the root index as by subpaths", async () => {
    const byRoot = hello().replaceAll(
      /import \* as (\w+) from "@kintsugi\/core\/\w+"/g,
      'import { $1 } from "@kintsugi/core"'
    )
    expect(byRoot).toContain('from "@kintsugi/core"')
    const [own, root] = [await weigh(hello()), await weigh(byRoot)]
    expect(own).toBeLessThan(172)
    expect(root - own).toBeLessThan(0.1)
  })
})
