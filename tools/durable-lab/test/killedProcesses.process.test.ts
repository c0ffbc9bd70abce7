import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "vitest"
import { kill } from "../src/killing.ts"

// One run, of which eight processes are killed: each at a thing that it tells, a little further on in the story. `npm run test:durable`
// has a run for every point.
const points = [4, 6, 5, 8, 6, 7, 8, 5]

it(
  "eight processes are killed with SIGKILL, one after the other, and the ninth ends the run: nothing is lost, or done twice [P1115]",
  { timeout: 300_000 },
  async () => {
    const temporary = mkdtempSync(join(tmpdir(), "kintsugi-durable-"))
    try {
      const { deaths, faults } = await kill(join(temporary, "database"), join(temporary, "run"), "run", points)
      assert.deepStrictEqual(faults, [])
      assert.strictEqual(deaths.length, points.length)
    } finally {
      rmSync(temporary, { recursive: true, force: true })
    }
  }
)
