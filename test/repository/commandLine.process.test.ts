/** The programs with options: help, and a command line that asks for nothing that can be done. */
import { spawnSync } from "node:child_process"
import { assert, describe, it } from "vitest"
import { root } from "../../scripts/files.ts"

const refusal = /^error: --scenario: there is no 'song', only .*\n\(--help lists the options\)\n$/

describe("a program", () => {
  it.each<readonly [tool: string, option: string, status: number, stdout: RegExp, stderr: RegExp]>([
    ["live", "--help", 0, /^npm run [^]*--scenario=A,B/, /^$/],
    ["live", "--scenario=song", 2, /^$/, refusal],
    ["eval", "--scenario=song", 2, /^$/, refusal]
  ])("helps or refuses: %s %s", (tool, option, status, stdout, stderr) => {
    const ran = spawnSync(process.execPath, [`tools/${tool}/src/main.ts`, option], { cwd: root, encoding: "utf8" })
    assert.strictEqual(ran.status, status)
    assert.match(ran.stdout, stdout)
    assert.match(ran.stderr, stderr)
  })
})
