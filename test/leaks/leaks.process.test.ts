/** What a feature leaves behind: nothing, after 12 uses of each here, and after 10,000 with `npm run leaks`. Planted leaks are found. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { root } from "../../scripts/files.ts"
import { features } from "./_support/features/index.ts"
import type { Left } from "./_support/measure.ts"
import { clean, planted } from "./_support/planted.ts"

const minutes = 60_000

/** Measures in a process that can collect its heap. */
const measured = (uses: number, ...options: ReadonlyArray<string>): ReadonlyArray<Left> => {
  const program = join(root, "test/leaks/_support/main.ts")
  const { stderr, stdout } = spawnSync(process.execPath, ["--expose-gc", program, String(uses), ...options], {
    cwd: root,
    encoding: "utf8",
    timeout: 10 * minutes
  })
  // the log of the library stands between
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"))
  const found: ReadonlyArray<Left | { readonly ended: number }> = lines.map((line) => JSON.parse(line))
  expect(found.at(-1), stderr).toHaveProperty("ended")
  return found.flatMap((one) => ("ended" in one ? [] : one))
}

describe("a planted leak", () => {
  let found: ReadonlyArray<Left> = []

  beforeAll(() => {
    found = measured(2_000, "--planted")
  }, 10 * minutes)

  it.each(planted)("of $name is found", ({ finds, name }) => {
    const { leaks = [] } = found.find((one) => one.name === name) ?? {}
    expect(leaks.filter((leak) => finds.test(leak))).toHaveLength(1)
  })

  it("is all that is found", () => {
    expect(found).toHaveLength(planted.length + 1)
    expect(found.find(({ name }) => name === clean.name)?.leaks).toEqual([])
  })
})

it(
  "no feature leaves a fiber, a timer, a listener, a finalizer, a resource or an entry",
  () => {
    const found = measured(12)
    expect(found.map(({ name }) => name)).toEqual(features.map(({ name }) => name))
    expect(found.flatMap(({ leaks, name }) => leaks.map((leak) => `${name}: ${leak}`))).toEqual([])
  },
  10 * minutes
)
