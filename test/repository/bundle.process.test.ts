/** What a bundler makes of the packages as they are published: how much of them it takes, and what it may leave out. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { install, remains, weigh, weighBeyondEffect } from "../../bench/src/bundling.ts"
import { programs } from "../../bench/src/weighed.ts"
import { marked } from "../../scripts/pure.ts"

const folder = mkdtempSync(join(realpathSync(tmpdir()), "kintsugi-bundle-"))

beforeAll(() => install(folder), 240_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const hello = () => readFileSync(join(folder, "ours.mjs"), "utf8")

/** In KB of 1,000 bytes, as was reached: `docs/decisions/0043-what-makes-a-run-fast.md` tells why, and `npm run bench -- weight` what has grown. */
const budgets = {
  "a table for an effect": 8.6,
  "all of Recovery": 31.3,
  "all of the core": 153.1,
  "hello agent": 116.3
}

describe("weight", () => {
  it.each(Object.entries({ ...programs, "hello agent": undefined }))("of %s", async (name, source) => {
    const beyondEffect = await weighBeyondEffect(folder, source ?? hello())
    expect(beyondEffect).toBeLessThan(new Map(Object.entries(budgets)).get(name) ?? Number.NaN)
    // none of them is empty
    expect(beyondEffect).toBeGreaterThan(3)
  })

  it("of a hello agent is that of these packages alone", async () => {
    const { packages } = await weigh(folder, hello())
    expect([...packages.keys()].toSorted()).toEqual(["@kintsugi/core", "@kintsugi/providers", "effect", "the program"])
  })

  it("of pictures: nothing of Effect, and none of them in a hello agent [P1213]", async () => {
    // policies are explained by core, which stands on Effect; runs are drawn from their events alone
    const names = "Page, Recording, Scene, Stats, StatsPage, StatsSvg, StatsText, Svg"
    const { gzip, packages } = await weigh(folder, `import { ${names} } from "@kintsugi/view"; console.log(${names})`)
    expect([...packages.keys()].toSorted()).toEqual(["@kintsugi/view", "d3-array", "d3-time", "the program"])
    expect(gzip).toBeLessThan(87)
    const { modules } = await weigh(folder, hello())
    expect(modules.map(([module]) => module).filter((module) => /view|d3/i.test(module))).toEqual([])
  })

  it("takes no schema along for a table", async () => {
    const { modules } = await weigh(folder, programs["a table for an effect"])
    expect(modules.map(([module]) => module)).not.toContainEqual(expect.stringMatching(/Schema|coercion/))
  })
})

const entries = [
  "@kintsugi/core",
  "@kintsugi/core/testing",
  "@kintsugi/providers",
  "@kintsugi/providers/testing",
  "@kintsugi/durable",
  "@kintsugi/interop/AgentProxy",
  "@kintsugi/interop/AgentProxyServer",
  "@kintsugi/interop/AgentRuns",
  "@kintsugi/interop/AiSdk",
  "@kintsugi/interop/AiSdkModel",
  "@kintsugi/interop/ConversationProxy",
  "@kintsugi/interop/ConversationProxyServer",
  "@kintsugi/interop/DurableRuns",
  "@kintsugi/interop/EventStream",
  "@kintsugi/interop/Mcp",
  "@kintsugi/interop/McpServer",
  "@kintsugi/interop/UiMessageStream",
  "@kintsugi/view"
]

describe("the command line", () => {
  it("is in no bundle of the library [P1244]", async () => {
    const all = entries.map((entry, index) => `import * as all${index} from ${JSON.stringify(entry)}`)
    const used = entries.map((_, index) => `all${index}`).join(", ")
    const { modules } = await weigh(folder, `${all.join("\n")}\nglobalThis.kept = [${used}]`)
    const names = modules.map(([module]) => module)
    expect(names).toContainEqual(expect.stringMatching(/^@kintsugi\/view\/dist\/(?:\w+\/)*Page\.js$/))
    expect(names.filter((name) => /dist\/cli|effect\/.*\/cli\/|platform-node/.test(name))).toEqual([])
  })
})

describe("side effects", () => {
  it.each(entries)("of %s: nothing is left of an import for them", async (entry) => {
    expect(await remains(folder, `import ${JSON.stringify(entry)}`, true)).toBe("")
  })

  it.each(entries)("of %s: a bundler may leave out each of its statements", async (entry) => {
    expect(await remains(folder, `import ${JSON.stringify(entry)}`, false)).toBe("")
  })

  it("a statement with an effect stays", async () => {
    expect(await remains(folder, 'import "@kintsugi/core"; globalThis.planted = 1', false)).toContain("planted")
  })

  it("of all of them: they log nothing, add nothing to globals, and keep no process alive", () => {
    const script = `
      void Response // Node loads it on its first use, and that plants something
      await import("effect/cluster/Sharding") // it loads undici, which plants its dispatcher
      const known = Reflect.ownKeys(globalThis)
      const resources = process.getActiveResourcesInfo().length
      for (const entry of ${JSON.stringify(entries)}) await import(entry)
      const planted = Reflect.ownKeys(globalThis).filter((key) => !known.includes(key))
      const held = process.getActiveResourcesInfo().length - resources
      process.exitCode = planted.length + held`
    const { status, stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: folder,
      encoding: "utf8"
    })
    expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: "", stdout: "" })
  })
})

describe("marked", () => {
  it.each([
    ["a call, and those in its arguments", "const a = f(g())", "const a = /*#__PURE__*/ f(/*#__PURE__*/ g())"],
    ["what is exported", "export const a = new A()", "export const a = /*#__PURE__*/ new A()"],
    [
      "what a class extends",
      "class A extends f() { m() { g() } }",
      "class A extends /*#__PURE__*/ f() { m() { g() } }"
    ],
    ["nothing in functions", "const f = () => g()", "const f = () => g()"],
    ["functions that are given to a call", "const a = f(() => g())", "const a = /*#__PURE__*/ f(() => g())"],
    ["a chain once", "const a = f().g()", "const a = /*#__PURE__*/ f().g()"],
    ["what copies fields", "const a = { ...b, c: f() }", "const a = /*#__PURE__*/ (() => ({ ...b, c: f() }))()"],
    ["what reads a field", "const a = f(b.c)", "const a = /*#__PURE__*/ (() => (f(b.c)))()"],
    ["what makes a text of a value", "const a = `${b}`", "const a = /*#__PURE__*/ (() => (`${b}`))()"],
    [
      "what reads from a namespace, which Rolldown takes for code",
      'import * as B from "b"; const a = f(B.c)',
      'import * as B from "b"; const a = /*#__PURE__*/ (() => (f(B.c)))()'
    ],
    ["no statement that does something", "f(); a.b = g()", "f(); a.b = g()"]
  ])("%s", (_, source, expected) => {
    expect(marked(source)).toBe(expected)
  })

  it.each(["let n = 0; const a = (n = b.c)", "let n = 0; const a = f(n++)", "const a = await f(b.c)"])(
    "refuses %s",
    (source) => {
      expect(() => marked(source)).toThrow("A module must not do this when it is loaded")
    }
  )

  it("lets functions change what they like", () => {
    const source = "let n = 0; const f = async () => { n++; await n }"
    expect(marked(source)).toBe(source)
  })
})
