/** The compiler prints inferred types in declarations as it shows them under the cursor. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../../scripts/files.ts"
import { binary } from "../../scripts/tools.ts"
import { assert, describe, it } from "vitest"

/** The types of the exports of `test/types/_support/hovers.ts`, by name, with the modules before their names left out. */
const hovers = (): ReadonlyMap<string, string> => {
  const folder = mkdtempSync(join(tmpdir(), "kintsugi-hovers-"))
  try {
    const options = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", folder]
    const compiler = spawnSync(
      process.execPath,
      [binary("typescript", "tsc"), "-p", "test/types/hovers.json", ...options],
      {
        cwd: root,
        encoding: "utf8"
      }
    )
    assert.strictEqual(compiler.status, 0, compiler.stdout)
    const text = readFileSync(join(folder, "hovers.d.ts"), "utf8")
    const shown = text.matchAll(/^export declare const (\w+): ([^]*?);$(?=\nexport|\n*$(?![^]))/gm)
    return new Map(
      [...shown].map(([, name = "", type = ""]) => [
        name,
        type.replaceAll(/(?:import\("[^"]*"\)|\b\w+)\./g, "").replaceAll(/\s+/g, " ")
      ])
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What the compiler says where effects of `test/types/_support/hovers.ts` are run without what they need. */
const edges = (names: ReadonlyArray<string>): string => {
  mkdirSync(join(root, ".cache"), { recursive: true })
  const folder = mkdtempSync(join(root, ".cache/edges-"))
  try {
    const lines = names.map((name) => `export const ${name}Run = Effect.runPromise(hovers.${name})`)
    const imports = [
      'import { Effect } from "effect"',
      'import * as hovers from "../../test/types/_support/hovers.ts"',
      ""
    ]
    writeFileSync(join(folder, "edges.ts"), [...imports, ...lines].join("\n"))
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: "../../tsconfig.json", files: ["edges.ts"], include: [] })
    )
    const tsc = [binary("typescript", "tsc"), "-p", folder, "--noEmit", "--pretty", "false"]
    return spawnSync(process.execPath, tsc, { cwd: root, encoding: "utf8" }).stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it("the error at the edge names each of one to six services that are missing [P1305]", () => {
  const counts = [1, 2, 3, 4, 5, 6]
  const said = edges(counts.map((count) => `needs${count}`))
  for (const count of counts) {
    const services = Array.from({ length: count }, (_, index) => `S${index + 1}`)
    assert.include(said, `Type '${["Model", ...services].join(" | ")}' is not assignable to type 'never'`)
  }
})

describe("hovers", () => {
  const all = hovers()
  const errors = "BudgetExceededError | ToolExecutionError | LlmError"
  it("an agent of one to six services shows each of them by its name, and `LlmError` by one name [P1305]", () => {
    for (let count = 1; count <= 6; count++) {
      const [errors, needs] = /^Effect<string, (.*), (.*)>$/.exec(all.get(`needs${count}`) ?? "")?.slice(1) ?? []
      const services = Array.from({ length: count }, (_, index) => `S${index + 1}`)
      assert.sameMembers(needs?.split(" | ") ?? [], ["Model", ...services])
      assert.strictEqual(errors, "BudgetExceededError | LlmError")
    }
  })

  it("a sealed agent shows what it takes, gives, fails with and needs, and no other type [P1306]", () => {
    assert.strictEqual(all.get("sealed"), `Any<string, string, ${errors}, Model>`)
  })

  for (const [name, type] of [
    ["called", "Effect<number, DeserializationError | InvalidArgs | NoKeys, never>"],
    ["run", `Effect<string, ${errors}, Model>`],
    ["streamed", `Stream<AgentEvent, ${errors}, Model>`],
    ["completing", "Effect<string | Completion, BudgetExceededError | LlmError, Model>"],
    ["bare", "Effect<string, BudgetExceededError | LlmError, Model>"],
    ["chosen", "Effect<string, BudgetExceededError | RoutingError | LlmError, Model>"],
    ["inTurn", `Effect<number, ${errors}, Model>`],
    ["together", `Effect<{ readonly text: string; readonly size: number; }, ${errors}, Model>`],
    ["inOrder", `Effect<string, ${errors}, Model>`],
    ["racing", `Effect<string | number, ${errors}, Model>`],
    ["hedged", `Effect<string, ${errors}, Model>`],
    ["guarded", "Effect<string, BudgetExceededError | ToolExecutionError, Model>"],
    ["decoded", "Effect<KintsugiError, SchemaError, never>"],
    ["decodedLlm", "Effect<LlmError, SchemaError, never>"],
    ["decodedTool", "Effect<ToolError, SchemaError, never>"],
    ["decodedRun", "Effect<RunError, SchemaError, never>"],
    ["decodedEvent", "Effect<AgentEvent, SchemaError, never>"]
  ] as const) {
    it(`'${name}' shows the names of the unions, not their members [T36]`, () => {
      assert.strictEqual(all.get(name), type)
    })
  }
})
