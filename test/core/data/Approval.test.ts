import { assert, it } from "@effect/vitest"
import { Approval, KintsugiError } from "@kintsugi/core"
import { through } from "../_support/json.ts"

it("a request for approval is data that survives JSON, and no error [T30]", () => {
  const what = { tool: "transfer", callId: "c1", reason: "more than 100", schema: "s", digest: "d" }
  const fields = {
    ...what,
    runId: "r",
    key: "r/1/0",
    agent: "clerk",
    arguments: { amount: 101 },
    requestedAt: 0,
    expiresAt: 1000
  }
  const request = new Approval.ApprovalRequest(fields)
  assert.deepInclude(through(Approval.ApprovalRequest, request), fields)
  assert.instanceOf(through(Approval.ApprovalRequest, request), Approval.ApprovalRequest)
  assert.isFalse(KintsugiError.isKintsugiError(request))
})

it("a grant has an end that is a number, or none [P1531]", () => {
  assert.deepStrictEqual(Approval.approveFor("run", { until: 9 }), { type: "approve", for: "run", until: 9 })
  for (const until of [NaN, Infinity])
    assert.throws(() => Approval.approveFor("run", { until }), /until must be a finite number/)
})
