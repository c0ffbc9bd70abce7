/** Every exported function that sees foreign text has adversarial inputs for the growth test, or a reason why it needs none. */
import { describe, expect, it } from "vitest"
import { filesIn } from "../../scripts/files.ts"
import { tables } from "../_support/inputs/index.ts"
import { functionsOf, inputViolations } from "./_support/foreignText.ts"

/** Where foreign text is read, and single files of other folders. */
const read = [
  "core/src/data",
  "core/src/coercion",
  "core/src/errors",
  "core/src/budget/FailureHistory.ts",
  "core/src/event/Cursor.ts",
  "core/src/event/Snapshot.ts",
  "core/src/event/snapshotChecks.ts",
  "core/src/recovery/Render.ts",
  "core/src/tool/RawSchema.ts",
  "core/src/tool/bm25.ts",
  "core/src/tool/schemaCost.ts",
  "core/src/tool/schemaSize.ts",
  "providers/src/transport",
  "providers/src/codec",
  "providers/src/classify",
  "interop/src",
  "view/src",
  "durable/src"
]

const files = read.flatMap((folder) =>
  filesIn(`packages/${folder}`, (path) => path.endsWith(".ts") && !path.endsWith("/page/script.ts"))
)

const listed = Object.assign({}, ...Object.values(tables))

describe("the inputs of the growth test", () => {
  it("list every exported function of the folders that see foreign text, and no other [P1390]", () => {
    expect(files.length).toBeGreaterThan(150)
    expect(inputViolations(files, listed)).toEqual([])
  })

  it("give a reason for each function that is not measured [P1390]", () => {
    const entries = Object.values(tables)
      .flatMap((table) => Object.values(table))
      .flatMap((names) => Object.values(names))
    expect(entries.filter(({ kind }) => kind === "grows").length).toBeGreaterThan(120)
    for (const entry of entries) {
      if (entry.kind === "none") expect(entry.reason).toMatch(/^[a-zA-Z]\w* .{15}/)
      if (entry.kind === "grows") expect(entry.families.length).toBeGreaterThan(4)
    }
  })

  it("are asked for by a parser, which sees functions however they are written [P1390]", () => {
    const text = [
      "export function one() {}",
      "export const two = () => 1, three = async function () {}",
      "export const four = Schema.is(Four)",
      "export const five = Effect.fn('five')(function* () {})",
      "export class Six {}",
      "const seven = () => 1",
      "export { seven as eight }",
      "export const nine = (() => 1) as Nine",
      "export const no = Schema.Struct({}), none = 1, nothing = { f: () => 1 }",
      "export type Never = () => void",
      "export { other } from './other.ts'"
    ].join("\n")
    const names = ["one", "two", "three", "four", "five", "Six", "eight", "nine"]
    expect(functionsOf({ path: "a.ts", text })).toEqual(names)
    const file = { path: "packages/core/src/data/a.ts", text: "export const one = (text: string) => text" }
    expect(inputViolations([file], {})).toEqual([
      "core/src/data/a.ts exports one: test/_support/inputs has no entry for it"
    ])
    expect(inputViolations([file], { "core/src/data/a.ts": { one: 1, two: 1 } })).toEqual([
      "test/_support/inputs lists two of core/src/data/a.ts: it exports no such function"
    ])
  })
})
