import { assert, it } from "@effect/vitest"
import { Duration } from "effect"
import * as Answer from "../../../packages/providers/src/transport/Answer.ts"

const of = (more: Partial<Answer.Answer>): Answer.Answer => ({
  status: 200,
  headers: {},
  body: "",
  at: 0,
  elapsed: Duration.zero,
  ...more
})

it("an answer is a success from 200 to 299", () => {
  const statuses = [100, 199, 200, 204, 299, 300, 404]
  assert.deepStrictEqual(
    statuses.filter((status) => Answer.isSuccess(of({ status }))),
    [200, 204, 299]
  )
})

it("the id of a request is in the first of three headers that has one", () => {
  const id = (headers: Answer.Answer["headers"]) => Answer.requestId(of({ headers }))
  const all = { "x-request-id": "a", "request-id": "b", "x-amzn-requestid": "c" }
  assert.strictEqual(id(all), "a")
  assert.strictEqual(id({ ...all, "x-request-id": "" }), "b")
  assert.strictEqual(id({ "x-amzn-requestid": "c" }), "c")
  assert.isUndefined(id({ "x-request-id": "", "other-request-id": "d" }))
})
