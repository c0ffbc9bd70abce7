import { assert, it } from "@effect/vitest"
import { Duration } from "effect"
import { leftOf } from "../../packages/core/src/internal/toolsetStanding.ts"

it("A906 of the time of a call is left what it had not used when its run was suspended", () => {
  const limit = Duration.seconds(10)
  const position = { attempts: 1, rounds: 0, startedAt: 5000, wakeAt: 8000, counts: {}, steps: {} }
  const standing = { key: "1/1/0", runs: 1, isOpen: false, position, failures: [], trail: [] }
  assert.strictEqual(Duration.toMillis(leftOf(limit, undefined)), 10_000)
  assert.strictEqual(Duration.toMillis(leftOf(limit, standing)), 7000)
})
