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
