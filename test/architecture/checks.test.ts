/** Plants a violation of each kind: a check that never fails is none. */
import { describe, expect, it } from "vitest"
import { type File } from "../../scripts/files.ts"
import {
  exportViolations,
  foreignViolations,
  oldFunctionViolations,
  orderViolations,
  privacyViolations,
  testViolations
} from "./_support/checks.ts"
import { type Package } from "./_support/packages.ts"

const core = "packages/core/src"
const file = (name: string, ...lines: ReadonlyArray<string>): File => ({
  path: name.startsWith("test/") || name.startsWith("scripts/") ? name : `${core}/${name}`,
  text: lines.join("\n")
})

const house: Package = {
  name: "core",
  folders: ["data", "recovery", "telemetry", "tool", "agent", "agent/composition", "testing"],
  aside: ["telemetry", "testing"],
  everywhere: ["effect/Effect"],
  within: { data: ["jsonrepair"], testing: ["fast-check"] }
}

const isEntry = (path: string): boolean => path === `${core}/index.ts`

describe("orderViolations", () => {
  it("accepts imports of the same folder and of folders before it, and everything in an index", () => {
    expect(
      orderViolations(
        [
          file("data/Message.ts", 'import * as Parts from "./parts.ts"'),
          file("tool/Tool.ts", 'import type * as Message from "../data/Message.ts"'),
          file("agent/composition/run.ts", 'import "../definition.ts"', 'import "../../tool/Tool.ts"'),
          file("testing/Script.ts", 'import "../agent/Agent.ts"', 'import "../telemetry/Operations.ts"'),
          file("index.ts", 'export * as Telemetry from "./telemetry/Telemetry.ts"')
        ],
        house,
        isEntry
      )
    ).toEqual([])
  })

  it.each([
    [
      "an import from a later folder",
      file("data/Message.ts", 'import * as Tool from "../tool/Tool.ts"'),
      `${core}/data/Message.ts:1 imports ${core}/tool/Tool.ts: data stands before tool`
    ],
    [
      "a type import",
      file("tool/Tool.ts", "", 'import type { A } from "../agent/Agent.ts"'),
      `${core}/tool/Tool.ts:2 imports ${core}/agent/Agent.ts: tool stands before agent`
    ],
    [
      "an import type",
      file("tool/Tool.ts", 'type A = import("../agent/Agent.ts").A'),
      `${core}/tool/Tool.ts:1 imports ${core}/agent/Agent.ts: tool stands before agent`
    ],
    [
      "an export from",
      file("data/Message.ts", 'export * from "../recovery/Recovery.ts"'),
      `${core}/data/Message.ts:1 imports ${core}/recovery/Recovery.ts: data stands before recovery`
    ],
    [
      "a folder aside",
      file("tool/Tool.ts", 'import "../telemetry/Telemetry.ts"'),
      `${core}/tool/Tool.ts:1 imports ${core}/telemetry/Telemetry.ts: only an index and testing import telemetry`
    ],
    [
      "a module that imports itself",
      file("tool/Tool.ts", 'import "./Tool.ts"'),
      `${core}/tool/Tool.ts:1 imports itself`
    ],
    [
      "an index",
      file("tool/Tool.ts", 'import "../data/index.ts"'),
      `${core}/tool/Tool.ts:1 imports an index: ${core}/data/index.ts`
    ],
    [
      "a path out of the package",
      file("tool/Tool.ts", 'import "../../../view/src/A.ts"'),
      `${core}/tool/Tool.ts:1 imports packages/view/src/A.ts, outside of its package`
    ],
    [
      "an index that package.json does not name",
      file("data/index.ts", 'export * from "./Message.ts"'),
      `${core}/data/index.ts: package.json does not name this index`
    ],
    [
      "a path out of the package in an index",
      file("index.ts", 'export * from "../../view/src/A.ts"'),
      `${core}/index.ts:1 imports packages/view/src/A.ts, outside of its package`
    ],
    ["another kind of source", file("data/a.mts"), `${core}/data/a.mts: a source is a .ts file`],
    [
      "a folder below one that has a place",
      file("data/deep/a.ts"),
      `${core}/data/deep/a.ts: its folder is missing in test/architecture/_support/packages.ts`
    ],
    [
      "a folder without a place",
      file("internal/novel.ts"),
      `${core}/internal/novel.ts: its folder is missing in test/architecture/_support/packages.ts`
    ],
    [
      "a file outside of the folders",
      file("Novel.ts"),
      `${core}/Novel.ts: its folder is missing in test/architecture/_support/packages.ts`
    ]
  ])("rejects %s", (_, planted, line) => {
    expect(orderViolations([planted], house, isEntry)).toEqual([line])
  })
})

describe("privacyViolations", () => {
  it("accepts private files of the same folder, from below and from directly above, and the tests of the folder", () => {
    expect(
      privacyViolations([
        file("agent/Agent.ts", 'import "./listeners.ts"', 'import "./composition/parts.ts"'),
        file("agent/composition/parts.ts", 'import "../listeners.ts"'),
        file("index.ts", 'export { noRealModels } from "./testing/noRealModels.ts"'),
        file("test/core/agent/listeners.test.ts", 'import "../../../packages/core/src/agent/listeners.ts"'),
        file("test/core/run/Run.test.ts", 'import "../../../packages/core/src/tool/Toolset.ts"'),
        file("test/core/run/Run.test.ts", 'import "../../../packages/examples/src/demo/report.ts"')
      ])
    ).toEqual([])
  })

  it.each([
    ["another folder", "run/Run.ts", "../agent/listeners.ts"],
    ["a folder two above", "index.ts", "./agent/composition/parts.ts"],
    ["a folder beside", "agent/other/x.ts", "../composition/parts.ts"],
    ["a test of another folder", "test/core/run/Run.test.ts", "../../../packages/core/src/agent/listeners.ts"],
    ["a test of no folder", "test/laws/calls.test.ts", "../../packages/core/src/agent/listeners.ts"],
    ["a program of the repository", "scripts/x.ts", "../packages/core/src/agent/listeners.ts"]
  ])("rejects an import from %s", (_, from, to) => {
    const [violation = "", ...more] = privacyViolations([file(from, `import "${to}"`)])
    expect(more).toEqual([])
    expect(violation).toMatch(/:1 imports packages\/core\/src\/agent\/.*, which is private$/)
  })
})

describe("exportViolations", () => {
  const tool = file(
    "tool/Toolset.ts",
    "export interface Entry { readonly name: string }",
    "export const make = (): Entry => ({ name: '' })",
    "export const own = 1",
    "const hidden = 2"
  )
  const user = file("run/Run.ts", 'import * as Toolset from "../tool/Toolset.ts"', "Toolset.make()")
  const mate = file("tool/call.ts", 'import { own } from "./Toolset.ts"')

  it("accepts what other folders import, and types that it names", () => {
    expect(
      exportViolations(
        [tool, user],
        [file("test/core/x.test.ts", 'import { own } from "../../packages/core/src/tool/Toolset.ts"')],
        () => false
      )
    ).toEqual([])
  })

  it("rejects what only the own folder imports from a door", () => {
    expect(exportViolations([tool, user, mate], [], () => false)).toEqual([
      `${core}/tool/Toolset.ts exports own: no other folder imports it`
    ])
  })

  it("rejects what no file imports from a private file", () => {
    const planted = file("tool/rows.ts", "export const a = 1", "export const b = 2")
    expect(exportViolations([planted, file("tool/Tool.ts", 'import { a } from "./rows.ts"')], [], () => false)).toEqual(
      [`${core}/tool/rows.ts exports b: no other file imports it`]
    )
  })

  it("takes all names of a public module for needed, those that are internal excepted", () => {
    const planted = file(
      "tool/Tool.ts",
      "export const a = 1",
      "/**\n * Says.\n *\n * @internal\n */",
      "export const b = 2"
    )
    expect(exportViolations([planted], [], () => true)).toEqual([
      `${core}/tool/Tool.ts exports b: no other file imports it`
    ])
  })

  it.each([
    'import { a } from "./a.ts"\nexport { a }',
    'import * as A from "./a.ts"\nexport const a = A.a',
    'import { a } from "./a.ts"\nexport const b = a'
  ])("rejects a file that passes names on in other words: %s", (text) => {
    expect(exportViolations([file("tool/All.ts", text)], [], () => true)).toEqual([
      `${core}/tool/All.ts consists of re-exports`
    ])
  })

  it("rejects a file of re-exports, an index excepted", () => {
    const text = 'export * from "./a.ts"'
    expect(exportViolations([file("tool/All.ts", text), file("tool/index.ts", text)], [], () => true)).toEqual([
      `${core}/tool/All.ts consists of re-exports`
    ])
  })
})

describe("foreignViolations", () => {
  const needed = [
    file("tool/Tool.ts", 'import * as Effect from "effect/Effect"'),
    file("data/Json.ts", 'import { jsonrepair } from "jsonrepair"'),
    file("testing/wire/Laws.ts", 'import * as fc from "fast-check"')
  ]
  const isOurs = (from: string) => from === "@kintsugi/core/Tool"
  const violations = (...planted: ReadonlyArray<File>) => foreignViolations([...needed, ...planted], house, isOurs)

  it("accepts what the lists name, and modules of other packages", () => {
    expect(violations(file("tool/Tool.ts", 'import "@kintsugi/core/Tool"'))).toEqual([])
  })

  it.each([
    [
      "the barrel",
      'import { Effect } from "effect"',
      "imports effect: modules of Effect are imported by their own paths"
    ],
    ["HTTP", 'import "effect/http/HttpClient"', "imports effect/http/HttpClient: no list names it"],
    ["a type", 'import type { X } from "effect/ai/Tool"', "imports effect/ai/Tool: no list names it"],
    ["Node", 'import "node:fs"', "imports node:fs: no list names it"],
    [
      "a private path of another package",
      'import "@kintsugi/core/data/x"',
      "imports @kintsugi/core/data/x: no list names it"
    ],
    ["a package of another folder", 'import "jsonrepair"', "imports jsonrepair: only data may"]
  ])("rejects %s", (_, text, why) => {
    expect(violations(file("tool/Tool.ts", text))).toEqual([`${core}/tool/Tool.ts:1 ${why}`])
  })

  it("rejects a name of a list that no file imports", () => {
    expect(foreignViolations(needed.slice(0, 2), house, isOurs)).toEqual([
      "core lists fast-check for testing: no file imports it"
    ])
  })
})

describe("testViolations", () => {
  it("accepts tests in the folders of the sources, and helpers beside them", () => {
    const paths = ["test/core/tool/Tool.test.ts", "test/core/tool/_support/tools.ts", "test/core/_support/models.ts"]
    expect(testViolations(paths, house, new Set(["tool"]))).toEqual([])
  })

  it("rejects other folders, helpers among tests, and tests among helpers", () => {
    const paths = [
      "test/core/mood/x.test.ts",
      "test/core/x.test.ts",
      "test/core/tool/tools.ts",
      "test/core/_support/x.test.ts"
    ]
    expect(testViolations(paths, house, new Set(["tool"]))).toEqual([
      `test/core/mood/x.test.ts: ${core} has no folder mood`,
      `test/core/x.test.ts: ${core} has no folder .`,
      "test/core/tool/tools.ts: a helper stands in _support/",
      "test/core/_support/x.test.ts: a test stands beside _support/"
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
      "packages/core/src/Run.ts:1 makes a function where a property takes it: name it first",
      "packages/core/src/Run.ts:2 makes a function where a property takes it: name it first"
    ])
  })
})
