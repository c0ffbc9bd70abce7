/** Tests that start processes say so in their names: `npm test` leaves them to `CI` and to `npm run test:processes`. */
import { describe, expect, it } from "vitest"
import { filesIn } from "../../scripts/files.ts"
import { processViolations } from "./_support/processes.ts"

const isForeign = (path: string) => path.startsWith("test/sdk/")
const violations = (...files: ReadonlyArray<readonly [path: string, text: string]>) =>
  processViolations(
    files.map(([path, text]) => ({ path, text })),
    isForeign
  )

describe("tests that start processes", () => {
  it("are the files whose names say it", () => {
    const files = ["test", "tools", "bench", "scripts"].flatMap((folder) =>
      filesIn(folder, (path) => path.endsWith(".ts") && !path.startsWith("test/fixtures/"))
    )
    expect(files.filter(({ path }) => path.endsWith(".process.test.ts")).length).toBeGreaterThan(15)
    expect(processViolations(files, isForeign)).toEqual([])
  })

  it.each([
    ["node:child_process"],
    ["child_process"],
    ["node:worker_threads"],
    ["node:cluster"],
    ["@effect/platform-node-shared/NodeChildProcessSpawner"],
    ["esbuild"],
    ["rolldown"],
    ["playwright-core"],
    ["@electric-sql/pglite"]
  ])("are found by %s", (name) => {
    const text = `import * as it from "${name}"`
    expect(violations(["test/a.test.ts", text])).toEqual(["test/a.test.ts starts processes: name it .process.test.ts"])
    expect(violations(["test/a.process.test.ts", text])).toEqual([])
  })

  it("are found by an engine that works in a thread", () => {
    const text = `const engine = Durable.${"layerPglite"}({ folder: "runs" })`
    expect(violations(["test/a.process.test.ts", text])).toEqual([])
  })

  it("are found behind the files that they import", () => {
    const helpers = [
      ["test/_support/near.ts", 'export * from "../../tools/one/src/far.ts"'],
      ["tools/one/src/far.ts", 'import { spawn } from "node:child_process"'],
      ["test/pure.test.ts", 'import { join } from "node:path"']
    ] as const
    const text = 'const { start } = await import("./_support/near.ts")'
    expect(violations(...helpers, ["test/a.test.ts", text])).toEqual([
      "test/a.test.ts starts processes: name it .process.test.ts"
    ])
    expect(violations(...helpers, ["test/a.process.test.ts", text])).toEqual([])
  })

  it("may use scripts that start some, under either name", () => {
    const script = ["scripts/one.ts", 'import { spawnSync } from "node:child_process"'] as const
    for (const path of ["test/a.test.ts", "test/a.process.test.ts"])
      expect(violations(script, [path, 'import "../scripts/one.ts"'])).toEqual([])
  })

  it("and no others are named so, those aside that need an installation of their own", () => {
    expect(
      violations(["test/a.process.test.ts", ""], ["test/sdk/b.process.test.ts", ""], ["test/sdk/c.test.ts", ""])
    ).toEqual([
      "test/a.process.test.ts starts no process: name it .test.ts",
      "test/sdk/c.test.ts needs an installation of its own: name it .process.test.ts"
    ])
  })
})
