import { assert, it } from "@effect/vitest"
import { Cause } from "effect"
import { onlyFailure } from "../../../packages/providers/src/transport/Failure.ts"

it("a failure beside an interrupt or a defect does not count", () => {
  const failed = Cause.fail("first")
  assert.strictEqual(onlyFailure(failed), "first")
  assert.strictEqual(onlyFailure(Cause.combine(failed, Cause.fail("second"))), "first")
  for (const other of [Cause.die("a defect"), Cause.interrupt(1)]) {
    for (const cause of [other, Cause.combine(failed, other), Cause.combine(other, failed)]) {
      assert.isUndefined(onlyFailure(cause))
    }
  }
  assert.isUndefined(onlyFailure(Cause.empty))
})
