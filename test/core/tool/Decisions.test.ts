/** Which decisions and settlements of a resumption count. */
import { assert, it } from "@effect/vitest"
import type { Approval } from "@kintsugi/core"
import { Exit } from "effect"
import { decisionsOf } from "../../../packages/core/src/tool/Decisions.ts"

const none = () => []

const decided = (digest: string): Approval.Decided => ({ digest, decision: { type: "approve" } })

it("the first decision about a request counts, and each has its answer", () => {
  const first = decided("d1")
  const self = decisionsOf(
    { decisions: [first, decided("d1"), decided("d2"), decided("d3"), decided("d4")] },
    none,
    none,
    () => ["d3"],
    () => ["d4"]
  )
  self.note("d1", "counted")
  self.note("d1", "late")
  assert.deepStrictEqual(self.answers(), [
    { _tag: "Counted", digest: "d1" },
    { _tag: "NotCounted", digest: "d1", reason: "already-decided" },
    { _tag: "NotCounted", digest: "d2", reason: "unknown-request" },
    { _tag: "NotCounted", digest: "d3", reason: "withdrawn" },
    { _tag: "NotCounted", digest: "d4", reason: "already-decided" }
  ])
  assert.deepStrictEqual(self.about("d1"), { type: "approve" })
  assert.isUndefined(self.about("d3"))
  assert.deepStrictEqual(self.decided(), ["d4", "d1"])
})

it("the first settlement for a token counts, also where its call waits no more", () => {
  const settlement = (token: string) => ({ token, exit: Exit.succeed(token) })
  const self = decisionsOf(
    { settlements: ["t1", "t1", "t2", "t2", "t3"].map(settlement) },
    none,
    () => ["t2"],
    none,
    none
  )
  // its call has used it, and waits no more
  self.noteSettlement("t1", { _tag: "Counted" })
  assert.deepStrictEqual(self.receipts(), [
    { _tag: "Counted", token: "t1" },
    { _tag: "NotCounted", token: "t1", reason: "already-settled" },
    { _tag: "NotCounted", token: "t2", reason: "run-over" },
    { _tag: "NotCounted", token: "t2", reason: "already-settled" },
    { _tag: "NotCounted", token: "t3", reason: "unknown-token" }
  ])
})

it("without decisions and settlements there is nothing to answer", () => {
  const self = decisionsOf({}, none, none, none, none)
  assert.deepStrictEqual([self.answers(), self.receipts(), self.decided()], [undefined, undefined, []])
})
