/** What a call uses to ask a person. */
import { assert, it } from "@effect/vitest"
import type { RunContext } from "../../../packages/core/src/event/RunContext.ts"
import { asksOf } from "../../../packages/core/src/tool/asks.ts"

it("a request is withdrawn at the inbox of its run, and at none where there is none", () => {
  const withdrawn: Array<string> = []
  const inbox = { withdraw: (digest: string) => void withdrawn.push(digest) }
  // only these fields are read
  const run = (tree: object) => asksOf({ tree, meter: { withdraws: true } } as unknown as RunContext)
  run({ inbox }).withdraw("d1")
  assert.deepStrictEqual(withdrawn, ["d1"])
  run({}).withdraw("d2")
  assert.deepStrictEqual(withdrawn, ["d1"])
  assert.isTrue(run({}).isWithdrawn())
})
