/** Which failed requests may be resent, by their error, the status of the answer, and what the server says. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import { Duration } from "effect"
import { mayResend } from "../../../packages/providers/src/transport/mayResend.ts"

const common = { model: "m", provider: "p", message: "no" }
const conflict = new LlmError.InvalidRequestError({ ...common, status: 409 })
const busy = new LlmError.RateLimitError({ ...common, service: "p", status: 429 })

const answer = (status: number, headers: Readonly<Record<string, string>> = {}) => ({
  status,
  headers,
  body: "",
  at: 0,
  elapsed: Duration.zero
})

/** The statuses of an answer with which an error may be resent. */
const resent = (error: LlmError.LlmError, headers?: Readonly<Record<string, string>>): ReadonlyArray<number> =>
  [200, 299, 300, 400, 404, 408, 409, 410, 425, 429, 431, 499, 500, 529].filter((status) =>
    mayResend(error, answer(status, headers))
  )

const transient = [408, 409, 425, 429, 500, 529]

const cases: ReadonlyArray<readonly [string, LlmError.LlmError, ReadonlyArray<number>]> = [
  ["a rate limit", busy, [200, 299, ...transient]],
  ["an overload", new LlmError.ModelOverloadedError(common), [200, 299, ...transient]],
  ["a fault of the server", new LlmError.ServerError({ ...common, status: 409 }), [200, 299, ...transient]],
  ["a lost connection", LlmError.NetworkError.make({ host: "a.test" }), transient],
  ["a conflict", conflict, [200, 299, ...transient]],
  ["a request that is not valid", new LlmError.InvalidRequestError({ ...common, status: 400 }), []],
  ["a request that is not valid, without a status", new LlmError.InvalidRequestError(common), []],
  ["a refused key in the status of a conflict", new LlmError.AuthenticationError({ ...common, status: 409 }), []],
  ["an unknown model", new LlmError.ModelNotFoundError(common), []]
]

describe("a resend", () => {
  for (const [what, error, statuses] of cases) {
    it(`after ${what} is for the statuses ${statuses.join(", ") || "none"} [A801 A803]`, () => {
      assert.deepStrictEqual(resent(error), statuses)
    })
  }

  it("is never made if the server forbids it, or the job is over [P802]", () => {
    for (const error of [conflict, busy]) {
      assert.deepStrictEqual(resent(error, { "x-should-retry": "false" }), [])
      assert.deepStrictEqual(resent(error, { "x-should-retry": "true" }), [200, 299, ...transient])
    }
    const over = (error: LlmError.LlmError) => Object.assign(error, { isJobOver: true } as const)
    assert.deepStrictEqual(resent(over(new LlmError.RateLimitError({ ...common, service: "p", status: 429 }))), [])
    assert.deepStrictEqual(resent(over(new LlmError.InvalidRequestError({ ...common, status: 409 }))), [])
  })
})
