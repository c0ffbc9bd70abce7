/** The page Getting started: its programs are the files of the starter, and each prints what the page shows. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { pathsIn, read, root } from "../../scripts/files.ts"
import { stepsOf } from "../../scripts/starter.ts"

const page = read("docs/guide/getting-started.md").text
const files = pathsIn("packages/examples/starter/src")
const steps = stepsOf(page)
const folder = mkdtempSync(join(realpathSync(tmpdir()), "kintsugi-starter-"))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("docs/guide/getting-started.md", () => {
  it("shows every file of the starter, in order", () => {
    expect(steps.map(({ code }) => code)).toEqual(files.map((file) => readFileSync(join(root, file), "utf8")))
    expect(steps).toHaveLength(6)
  })

  it.each(steps.flatMap(({ output }, index) => (output === undefined ? [] : [{ file: files[index] ?? "", output }])))(
    "$file prints what the page shows",
    { timeout: 60_000 },
    ({ file, output }) => {
      const { stderr, stdout } = spawnSync(process.execPath, [join(root, file)], { cwd: folder, encoding: "utf8" })
      expect(stdout, stderr).toBe(output)
    }
  )

  it("the last program ends with exit code 1 without a key, and names the variable", { timeout: 60_000 }, () => {
    const { OPENAI_API_KEY: _key, ...env } = process.env
    const file = join(root, files.at(-1) ?? "")
    const { status, stderr, stdout } = spawnSync(process.execPath, [file], { cwd: folder, encoding: "utf8", env })
    expect(status).toBe(1)
    expect(stdout).toBe("")
    expect(stderr).toContain("OPENAI_API_KEY")
  })
})
