/** What a model sends is repaired in time that is linear in its length. A process of its own measures it. */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, it } from "vitest"
import type { Measured } from "./_support/linearRepair.ts"

const program = fileURLToPath(new URL("_support/linearRepair.ts", import.meta.url))

it(
  "arguments are repaired in time that is linear in their length, in one call or in 32 [P1390]",
  { timeout: 300_000 },
  () => {
    const { stderr, stdout } = spawnSync(process.execPath, [program], { encoding: "utf8" })
    assert.strictEqual(stderr, "")
    const lines = stdout
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line))
    // the program prints the ones, then the others
    const all = lines.slice(0, -3) as ReadonlyArray<Measured>
    assert.strictEqual(all.length, 34)
    // what is quadratic takes 256 times as long; `test/linear` is more exact
    assert.deepStrictEqual(
      all.filter(({ large, small }) => large > 20 && large > 80 * small),
      []
    )
    for (const millis of lines.slice(-3)) assert.isBelow(Number(millis), 4000)
  }
)
