/** The errors for answers of an HTTP API, with each of their fields. */
import { assert, it } from "@effect/vitest"
import { ApiError } from "@kintsugi/interop/ApiError"
import { Duration, Schema } from "effect"
import * as Failure from "../../../packages/interop/src/api/failure.ts"
import { fieldsOf } from "./_support/errors.ts"

const where = { api: "shop", operation: "buy" }
const head = "operation 'buy' of the API 'shop': "

/** The error for a status, without the fields that all of them have, and with its wait in milliseconds. */
const ofStatus = (
  status: number,
  text = "",
  retryAfter?: string
): { readonly said: string; readonly [field: string]: unknown } => {
  const { _tag, api, message, operation, suggestedDelay, ...more } = {
    suggestedDelay: undefined,
    ...(fieldsOf(Failure.fromStatus(where, { status, text, retryAfter }, 0)) as {
      readonly _tag: string
      readonly api: string
      readonly operation: string
      readonly message: string
      readonly suggestedDelay?: Duration.Duration
    })
  }
  assert.deepStrictEqual([_tag, api, operation, message.slice(0, head.length)], ["ApiError", "shop", "buy", head])
  const wait = suggestedDelay === undefined ? {} : { wait: Duration.toMillis(suggestedDelay) }
  return { said: message.slice(head.length), ...more, ...wait }
}

it("a status has its reason, category and advice, and the trimmed words of the API, cut and redacted [P1792 P1798]", () => {
  const busy = (status: number) => ({
    said: `status ${status}`,
    reason: "busy",
    status,
    category: "server",
    isRetryable: true
  })
  for (const status of [408, 425, 429, 503]) assert.deepStrictEqual(ofStatus(status), busy(status))
  const final = { isRetryable: false, recovery: "none" }
  for (const status of [401, 403]) {
    assert.deepStrictEqual(ofStatus(status), {
      said: `status ${status}`,
      reason: "authentication",
      status,
      category: "client",
      ...final
    })
  }
  for (const status of [500, 502, 529, 599]) {
    assert.deepStrictEqual(ofStatus(status), { said: `status ${status}`, reason: "server", status, category: "server" })
  }
  for (const status of [400, 402, 404, 409, 422, 499]) {
    const said = `status ${status}`
    assert.deepStrictEqual(ofStatus(status), { said, reason: "arguments", status, category: "parameter" })
  }
  for (const status of [300, 302, 399]) {
    const said = `status ${status}`
    assert.deepStrictEqual(ofStatus(status), { said, reason: "redirect", status, category: "client", ...final })
  }
  for (const status of [200, 299, 100]) {
    const said = `status ${status} is none that the API declares`
    assert.deepStrictEqual(ofStatus(status, "body"), {
      said,
      reason: "result",
      status,
      category: "validation",
      ...final
    })
  }
  assert.strictEqual(ofStatus(422, "\n copies: too many \n").said, "status 422: copies: too many")
  assert.strictEqual(ofStatus(404, "x".repeat(2000)).said, `status 404: ${"x".repeat(2000)}`)
  assert.strictEqual(ofStatus(404, "x".repeat(2001)).said, `status 404: ${"x".repeat(2000)}…`)
  assert.strictEqual(ofStatus(500, "password=hunter2secret9").said, "status 500: password=<redacted>")
})

it("a busy API is waited for as it asks, and for a moment at least [P1792 P1798]", () => {
  assert.deepInclude(ofStatus(429, "", "7"), { wait: 7000 })
  assert.deepInclude(ofStatus(503, "", "0"), { wait: 1 })
  assert.deepInclude(ofStatus(503, "", "Thu, 01 Jan 1970 00:00:05 GMT"), { wait: 5000 })
  assert.notProperty(ofStatus(503, "", "soon"), "wait")
  // other statuses say nothing about a wait
  assert.notProperty(ofStatus(500, "", "7"), "wait")
})

it("an error may advise to repair the arguments or not to, and nothing else [P1798]", () => {
  const fields = { ...where, message: "no", reason: "arguments", category: "parameter" } as const
  for (const recovery of ["repair", "none"] as const)
    assert.deepInclude(Schema.encodeSync(ApiError)(new ApiError({ ...fields, recovery })), { recovery })
  const other: object = { ...fields, recovery: "wait" }
  // cast: no advice of the type
  assert.throws(() => new ApiError(other as never))
})

it("an argument that cannot be sent, and an answer that does not fit, comes late or is too large say so [P1792 P1793]", () => {
  const names = { api: "a".repeat(201), operation: "o".repeat(201) }
  assert.deepStrictEqual(fieldsOf(Failure.unsendable(names, "it is odd")), {
    _tag: "ApiError",
    message: `operation '${"o".repeat(200)}…' of the API '${"a".repeat(200)}…': it is odd`,
    ...names,
    reason: "arguments",
    category: "parameter"
  })
  assert.deepStrictEqual(fieldsOf(Failure.misfit(where, "order: a number")), {
    _tag: "ApiError",
    message: `${head}its answer does not fit: order: a number`,
    ...where,
    reason: "result",
    category: "validation",
    isRetryable: false,
    recovery: "none"
  })
  const long = Failure.misfit(where, "x".repeat(2001))
  assert.strictEqual(long.message, `${head}its answer does not fit: ${"x".repeat(2000)}…`)
  assert.deepStrictEqual(fieldsOf(Failure.late(where, Duration.seconds(90))), {
    _tag: "ApiError",
    message: `${head}no whole answer within 1m 30s`,
    ...where,
    reason: "timeout",
    category: "network"
  })
  const { message, ...large } = fieldsOf(Failure.tooLarge(where, "depth", 30)) as { readonly message: string }
  const what = "The answer of operation 'buy' of the API 'shop'"
  assert.deepStrictEqual(large, { _tag: "InputTooLargeError", what, bound: "depth", limit: 30 })
  assert.include(message, `${what} is beyond the bound of 30 levels (depth)`)
})
