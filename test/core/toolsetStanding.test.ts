import { assert, it } from "@effect/vitest"
import { Duration } from "effect"
import { keeping, leftOf } from "../../packages/core/src/internal/toolsetStanding.ts"
import { busy } from "./dialogue.ts"

it("A906 of the time of a call is left what it had not used when its run was suspended", () => {
  const limit = Duration.seconds(10)
  const position = { attempts: 1, rounds: 0, startedAt: 5000, wakeAt: 8000, counts: {}, steps: {} }
  const standing = { key: "1/1/0", runs: 1, isOpen: false, position, failures: [], trail: [] }
  assert.strictEqual(Duration.toMillis(leftOf(limit, undefined)), 10_000)
  assert.strictEqual(Duration.toMillis(leftOf(limit, standing)), 7000)
})

it("P1104 of the failures of a call that may be suspended is kept what a schedule may read, of others nothing", () => {
  assert.deepStrictEqual(keeping(true)?.(busy("later")), { _tag: "Busy", message: "later" })
  assert.isUndefined(keeping(false))
})
