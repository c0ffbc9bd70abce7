import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { root } from "../scripts/files.ts"

const folder = mkdtempSync(join(tmpdir(), "kintsugi-launch-"))
const program = join(folder, "program.ts")

writeFileSync(
  program,
  `const input: Array<string> = []
for await (const chunk of process.stdin) input.push(String(chunk))
process.stdout.write(JSON.stringify({ version: process.version, parameters: process.argv.slice(2), input }))
process.exitCode = 7
`
)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const launch = (parameters: ReadonlyArray<string>, input = "") => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(root, "scripts/launch.mjs"), ...parameters], {
    encoding: "utf8",
    input
  })
  return { status, stderr, stdout }
}

// The first start may have to install; what it says then is of no interest here.
beforeAll(() => void launch([program]), 240_000)

describe("scripts/launch.mjs", () => {
  it("passes arguments and input on, and the exit code back, and adds no word of its own", () => {
    const { status, stderr, stdout } = launch([program, "-", "two words", '{"a": 1,}'], "typed")
    expect({ status, stderr }).toEqual({ status: 7, stderr: "" })
    expect(JSON.parse(stdout)).toEqual({
      version: expect.stringMatching(/^v24\./),
      parameters: ["-", "two words", '{"a": 1,}'],
      input: ["typed"]
    })
  })

  it("says what is wrong with its own arguments", () => {
    expect(launch(["nowhere.ts"])).toEqual({ status: 1, stderr: "nowhere.ts does not exist\n", stdout: "" })
    expect(launch([])).toMatchObject({ status: 2, stdout: "", stderr: expect.stringMatching(/^usage: /) })
  })
})
