import { describe, expect, it } from "vitest"
import { type File, filesIn } from "../scripts/files.ts"
import {
  doorViolations,
  MAX_LINES,
  measure,
  oldFunctionViolations,
  type Order,
  orderViolations,
  ownerOf,
  sizeViolations,
  stabilityViolations
} from "./architecture/checks.ts"
import { houses } from "./architecture/doors.ts"
import { castsOf, importsOf } from "./architecture/imports.ts"
import { internals, modules } from "./architecture/modules.ts"
import { installedEffect, stabilities } from "./architecture/stability.ts"

const core = "packages/core/src"
const providers = "packages/providers/src"
const sources = (folder: string) => filesIn(folder, (path) => path.endsWith(".ts"))
const stabilityOf = installedEffect()

describe("the house", () => {
  it("core imports in the order of modules.ts", () => {
    expect(orderViolations(sources(core), { folder: core, modules, internals })).toEqual([])
  })

  it("core uses stable exports of Effect only, but at its doors", { timeout: 60_000 }, () => {
    const doors = houses[core]?.doors ?? []
    expect(stabilityViolations(sources(core), stabilityOf, { folder: core, doors })).toEqual([])
  })

  it.each(Object.entries(houses))("%s imports from outside only at its doors", (folder, house) => {
    expect(doorViolations(sources(folder), folder, house)).toEqual([])
  })

  it(`no file is longer than ${MAX_LINES} lines, and none casts to any`, () => {
    const files = [...sources(core), ...sources(providers)]
    const rows = measure(files).toSorted((a, b) => b.lines - a.lines)
    const table = rows.map(
      ({ casts, lines, path }) => `${String(lines).padStart(5)} ${String(casts).padStart(5)}  ${path}`
    )
    process.stdout.write(`${["lines casts  file", ...table].join("\n")}\n`)
    expect(sizeViolations(files)).toEqual([])
  })

  it("no function is made where a property takes it", () => {
    expect(oldFunctionViolations([...sources(core), ...sources(providers)])).toEqual([])
  })
})

// What follows plants a violation of each kind: a check that never fails is none.

const order: Order = {
  folder: core,
  modules: ["Message", "Recovery", "Tool", "Toolset", "Agent", "index", "testing/*"],
  internals: { shared: "Message" }
}
const file = (name: string, ...lines: ReadonlyArray<string>): File => ({
  path: `${core}/${name}`,
  text: lines.join("\n")
})
const provider = (name: string, ...lines: ReadonlyArray<string>): File => ({
  path: `${providers}/${name}`,
  text: lines.join("\n")
})

describe("importsOf", () => {
  it("finds every kind of import, and none in comments and strings", () => {
    const found = importsOf(
      file(
        "Tool.ts",
        '/** import * as No from "./No.ts" */',
        'import * as A from "./A.ts"',
        "import {",
        "  type B,",
        "  b as c",
        '} from "./B.ts"',
        'import type { D } from "./D.ts"',
        'export * from "./E.ts"',
        'export * as F from "./F.ts"',
        'export { g as h } from "./G.ts"',
        'import "./I.ts"',
        'type J = import("./J.ts").J',
        'const k = import("./K.ts")',
        "const text = 'import x from \"./L.ts\"'",
        "const used: A.One = A.two(`${A.three}`)"
      )
    )
    expect(found.map(({ from, line, names }) => [line, from, ...names])).toEqual([
      [2, "./A.ts", "One", "two", "three"],
      [3, "./B.ts", "B", "b"],
      [7, "./D.ts", "D"],
      [8, "./E.ts", "*"],
      [9, "./F.ts", "*"],
      [10, "./G.ts", "g"],
      [11, "./I.ts"],
      [12, "./J.ts", "J"],
      [13, "./K.ts", "*"]
    ])
  })
})

describe("orderViolations", () => {
  it("accepts imports from rows above, internal files of the same module and testing last", () => {
    expect(
      orderViolations(
        [
          file("Message.ts"),
          file("Recovery.ts", 'import * as Driver from "./internal/recoveryDriver.ts"'),
          file("internal/recoveryDriver.ts", 'import type * as Message from "../Message.ts"'),
          file("internal/shared.ts"),
          file("Agent.ts", 'import * as Tool from "./Tool.ts"', 'import * as S from "./internal/shared.ts"'),
          file("index.ts", 'export * as Agent from "./Agent.ts"'),
          file("testing/Script.ts", 'import * as Agent from "../Agent.ts"', 'import * as B from "./B.ts"')
        ],
        order
      )
    ).toEqual([])
  })

  it.each([
    ["an import from a row below", file("Tool.ts", 'import * as Agent from "./Agent.ts"'), "Tool -> Agent (line 1)"],
    ["a type import", file("Tool.ts", "", 'import type { A } from "./Agent.ts"'), "Tool -> Agent (line 2)"],
    ["an import type", file("Tool.ts", 'type A = import("./Agent.ts").A'), "Tool -> Agent (line 1)"],
    ["an export from", file("Tool.ts", 'export * from "./Toolset.ts"'), "Tool -> Toolset (line 1)"],
    ["core importing testing", file("Agent.ts", 'import "./testing/X.ts"'), "Agent -> testing/X (line 1)"],
    [
      "an internal file of a lower module",
      file("Tool.ts", 'import "./internal/agentLoop.ts"'),
      "Tool -> internal/agentLoop (line 1)"
    ],
    [
      "an internal file that reaches down",
      file("internal/toolRun.ts", 'import "../Agent.ts"'),
      "internal/toolRun -> Agent (line 1)"
    ],
    [
      "a longer name with the same beginning",
      file("internal/toolsetX.ts", 'import "../Agent.ts"'),
      "internal/toolsetX -> Agent (line 1)"
    ],
    ["a module that imports itself", file("Tool.ts", 'import "./Tool.ts"'), "Tool -> itself (line 1)"],
    [
      "a path out of the package",
      file("Tool.ts", 'import "../../providers/src/A.ts"'),
      "Tool -> ../../providers/src/A.ts, outside of the package (line 1)"
    ],
    ["a module without a row", file("Novel.ts"), "Novel is missing in test/architecture/modules.ts"],
    [
      "an internal file without an owner",
      file("internal/novel.ts"),
      "internal/novel is missing in test/architecture/modules.ts"
    ],
    ["a folder without a row", file("wire/X.ts"), "wire/X is missing in test/architecture/modules.ts"]
  ])("rejects %s", (_, planted, line) => {
    expect(orderViolations([planted], order)).toEqual([line])
  })

  it("gives internal files to the module with the longest fitting name", () => {
    expect(ownerOf(order, `${core}/internal/toolset.ts`)).toBe("Toolset")
    expect(ownerOf(order, `${core}/internal/toolSettle.ts`)).toBe("Tool")
    expect(ownerOf(order, `${core}/internal/toolsmith.ts`)).toBe(undefined)
  })
})

describe("doorViolations", () => {
  const coreDoors = (planted: File) => doorViolations([planted], core, houses[core]!)
  const providerDoors = (...planted: ReadonlyArray<File>) => doorViolations(planted, providers, houses[providers]!)

  it("accepts each door at its module", () => {
    expect(coreDoors(file("Coercion.ts", 'import { jsonrepair } from "jsonrepair"'))).toEqual([])
    expect(coreDoors(file("internal/coercionLadder.ts", 'import { jsonrepair } from "jsonrepair"'))).toEqual([])
    expect(coreDoors(file("testing/Laws.ts", 'import * as fc from "fast-check"'))).toEqual([])
    expect(
      providerDoors(
        provider(
          "Transport.ts",
          'import * as HttpClient from "effect/http/HttpClient"',
          'import "effect/encoding/Sse"'
        ),
        provider("internal/transportRetry.ts", 'import "effect/http/HttpClientError"'),
        provider("Resilience.ts", 'import "effect/persistence/RateLimiter"'),
        provider("EffectAi.ts", 'import "effect/ai/Tool"'),
        provider("Mcp.ts", 'import "effect/ai/McpClient"'),
        provider("Durable.ts", 'import "effect/workflow/Activity"', 'import "effect/sql/SqlClient"'),
        provider("testing/Server.ts", 'import * as Http from "node:http"', 'import "@kintsugi/core/testing"'),
        provider("OpenAi.ts", 'import * as Model from "@kintsugi/core/Model"', 'import "effect/Layer"')
      )
    ).toEqual([])
  })

  it.each([
    [
      "the barrel",
      file("Tool.ts", 'import { Effect } from "effect"'),
      "Tool -> effect: import its modules by their own paths (line 1)"
    ],
    [
      "HTTP",
      file("Model.ts", 'import "effect/http/HttpClient"'),
      "Model -> effect/http/HttpClient: there is no door to it (line 1)"
    ],
    [
      "effect/ai as a type",
      file("Model.ts", 'import type { X } from "effect/ai/Tool"'),
      "Model -> effect/ai/Tool: there is no door to it (line 1)"
    ],
    ["Node", file("Tool.ts", 'import "node:fs"'), "Tool -> node:fs: there is no door to it (line 1)"],
    ["a package", file("Tool.ts", 'import "zod"'), "Tool -> zod: there is no door to it (line 1)"],
    [
      "its own package name",
      file("Tool.ts", 'import "@kintsugi/core/Model"'),
      "Tool -> @kintsugi/core/Model: there is no door to it (line 1)"
    ],
    [
      "the repair library elsewhere",
      file("Tool.ts", 'import "jsonrepair"'),
      "Tool -> jsonrepair: only through Coercion (line 1)"
    ],
    [
      "fast-check elsewhere",
      file("Tool.ts", 'import "fast-check"'),
      "Tool -> fast-check: only through testing/* (line 1)"
    ],
    [
      "the test clock elsewhere",
      file("Tool.ts", 'import "effect/testing/TestClock"'),
      "Tool -> effect/testing/TestClock: only through testing/* (line 1)"
    ]
  ])("rejects %s in core", (_, planted, line) => {
    expect(coreDoors(planted)).toEqual([line])
  })

  it.each([
    [
      "the barrel",
      provider("OpenAi.ts", 'import { Effect } from "effect"'),
      "OpenAi -> effect: import its modules by their own paths (line 1)"
    ],
    [
      "HTTP",
      provider("OpenAi.ts", 'import "effect/http/HttpClient"'),
      "OpenAi -> effect/http/HttpClient: only through Transport, Mcp, McpServer, testing/Recording (line 1)"
    ],
    [
      "persistence",
      provider("OpenAi.ts", 'import "effect/persistence/RateLimiter"'),
      "OpenAi -> effect/persistence/RateLimiter: only through Resilience (line 1)"
    ],
    [
      "effect/ai",
      provider("Transport.ts", 'import "effect/ai"'),
      "Transport -> effect/ai: only through EffectAi, Mcp, McpServer (line 1)"
    ],
    [
      "SQL",
      provider("OpenAi.ts", 'import "effect/sql/SqlClient"'),
      "OpenAi -> effect/sql/SqlClient: only through Durable (line 1)"
    ],
    [
      "Node",
      provider("OpenAi.ts", 'import "node:http"'),
      "OpenAi -> node:http: only through testing/*, testing/Recording, cli/* (line 1)"
    ],
    [
      "internals of core",
      provider("OpenAi.ts", 'import "@kintsugi/core/internal/x"'),
      "OpenAi -> @kintsugi/core/internal/x: there is no door to it (line 1)"
    ],
    ["a package", provider("OpenAi.ts", 'import "openai"'), "OpenAi -> openai: there is no door to it (line 1)"]
  ])("rejects %s in providers", (_, planted, line) => {
    expect(providerDoors(planted)).toEqual([line])
  })
})

describe("stabilityViolations", () => {
  it("reads the tags of declarations, renamed exports and names that are type and value", () => {
    const tags = stabilities(
      [
        "/** Module. @stability stable */",
        'import * as X from "./X.ts"',
        "/** @stability stable */",
        "export const a = 1",
        "/** @stability unstable */",
        "export function b(): void {}",
        "const c_ = 1",
        "export {",
        "  /** @stability experimental */",
        "  c_ as c",
        "}",
        "/** @stability stable */",
        "export interface D {}",
        "/** @stability unstable */",
        "export const D = 1",
        "export const e = 1"
      ].join("\n")
    )
    expect(Object.fromEntries(tags)).toEqual({
      a: "stable",
      b: "unstable",
      c: "experimental",
      D: "unstable",
      e: "untagged"
    })
  })

  it("accepts what the installed Effect tags stable", () => {
    const planted = file(
      "Tool.ts",
      'import * as Schema from "effect/Schema"',
      'import * as Effect from "effect/Effect"',
      'import { dual } from "effect/Function"',
      "export class No extends Schema.TaggedError<No>()('No', { a: Schema.Array(Schema.String) }) {}",
      "export const run: Effect.Effect<void> = Effect.void"
    )
    expect(stabilityViolations([planted], stabilityOf)).toEqual([])
  })

  it.each([
    [
      "a member of a namespace",
      ['import * as Plan from "effect/ExecutionPlan"', "Plan.make()"],
      "make of effect/ExecutionPlan: unstable"
    ],
    [
      "a member used as a type",
      ['import type * as Plan from "effect/ExecutionPlan"', "type A = Plan.ExecutionPlan<never>"],
      "ExecutionPlan of effect/ExecutionPlan: unstable"
    ],
    ["a named import", ['import { make } from "effect/ExecutionPlan"'], "make of effect/ExecutionPlan: unstable"],
    [
      "a name that is not there",
      ['import * as Schema from "effect/Schema"', "Schema.nowhere"],
      "nowhere of effect/Schema: no such export"
    ],
    [
      "a re-export of everything",
      ['export * as Plan from "effect/ExecutionPlan"'],
      "* of effect/ExecutionPlan: more than its stable part"
    ]
  ])("rejects %s", (_, lines, line) => {
    expect(stabilityViolations([file("Tool.ts", ...lines)], stabilityOf)).toEqual([`${core}/Tool.ts:1 uses ${line}`])
  })
})

describe("sizeViolations", () => {
  it("counts lines and casts, and not as const or renamed imports", () => {
    const planted = file(
      "Tool.ts",
      'import { a as b } from "./A.ts"',
      "// a comment as string",
      'export const c = "x" as const',
      "export const d = c as unknown as number"
    )
    expect(measure([planted])).toEqual([{ path: `${core}/Tool.ts`, lines: 4, casts: 2 }])
    expect(castsOf(planted).map(({ line }) => line)).toEqual([4, 4])
    expect(sizeViolations([planted])).toEqual([])
  })

  it("rejects a long file and a cast to any", () => {
    const long = file("Long.ts", ...Array.from({ length: MAX_LINES + 1 }, () => "//"))
    expect(sizeViolations([long, file("Any.ts", "", "export const a = 1 as any")])).toEqual([
      `${core}/Long.ts has 401 lines, more than 400`,
      `${core}/Any.ts:2 casts to any`
    ])
  })
})

describe("oldFunctionViolations", () => {
  it("rejects a function behind the name of a property, and not one that has a name or belongs to a literal", () => {
    const planted = file(
      "Run.ts",
      "meter.announce = () => run",
      "meter[key] ??= function () {}",
      "const announce = () => run",
      "meter.announce = announce",
      "let later",
      "later = () => run",
      "export const all = { of: () => run }"
    )
    expect(oldFunctionViolations([planted])).toEqual([
      "packages/core/src/run/Run.ts:1 makes a function where a property takes it: name it first",
      "packages/core/src/run/Run.ts:2 makes a function where a property takes it: name it first"
    ])
  })
})
