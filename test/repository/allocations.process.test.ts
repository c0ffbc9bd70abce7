/** What a run costs that uses none of the optional features: the same fibers, and no more objects, as features are added. */
import { spawnSync } from "node:child_process"
import { assert, it } from "vitest"
import { root } from "../../scripts/files.ts"

/**
 * Bytes of one run, on Node 24 without its optimising compilers; runs differ by 0.2 %, and the limits stand 1 % above. Before tools had scopes and calls had keys
 * of their own, the three runs took 33,300, 56,200 and 99,600 bytes. Until 2026-11-27 the limits were 36,600, 70,000 and 114,800:
 * decision 43 says what took the difference. Calls that a durable run may migrate take 900 more since then.
 */
const limits = {
  "a text reply": { fibers: 2, bytes: 32_870 },
  "a successful call": { fibers: 2, bytes: 61_100 },
  "a failure that the model reads": { fibers: 2, bytes: 107_100 }
}

it("a run without optional features forks two fibers, and allocates no more than it is known to", () => {
  const flags = ["--no-opt", "--no-sparkplug"]
  const { status, stderr, stdout } = spawnSync(process.execPath, [...flags, "scripts/allocations.ts"], {
    cwd: root,
    encoding: "utf8"
  })
  assert.strictEqual(status, 0, stderr)
  const counted = JSON.parse(stdout) as typeof limits
  assert.sameMembers(Object.keys(counted), Object.keys(limits))
  for (const [name, limit] of Object.entries(limits)) {
    const found = counted[name as keyof typeof limits]
    assert.strictEqual(found.fibers, limit.fibers, name)
    assert.isAtMost(found.bytes, limit.bytes, name)
    assert.isAbove(found.bytes, limit.bytes * 0.97, `${name}: the limit can be lower now`)
  }
}, 120_000)
