/** The errors of Converse by the names of its exceptions and stop reasons. */
import { assert, it } from "@effect/vitest"
import { Duration } from "effect"
import * as ConverseError from "../../../../packages/providers/src/codec/bedrock/error.ts"

const source = { provider: "bedrock", model: "m", secrets: [] }

const answer = (status: number, headers: Readonly<Record<string, string>> = {}, body: object = { message: "no" }) => ({
  status,
  headers,
  body: JSON.stringify(body),
  at: 0,
  elapsed: Duration.zero
})

it("an exception has its error by its name, which is in a header or in the body [P1414]", () => {
  const names = {
    AccessDeniedException: "AuthenticationError",
    ExpiredTokenException: "AuthenticationError",
    IncompleteSignatureException: "AuthenticationError",
    InvalidSignatureException: "AuthenticationError",
    MissingAuthenticationTokenException: "AuthenticationError",
    UnrecognizedClientException: "AuthenticationError",
    InternalFailure: "ServerError",
    InternalServerException: "ServerError",
    ModelErrorException: "ServerError",
    ModelStreamErrorException: "ServerError",
    ModelNotReadyException: "ModelOverloadedError",
    ServiceUnavailableException: "ModelOverloadedError",
    ModelTimeoutException: "RequestTimeoutError",
    ResourceNotFoundException: "ModelNotFoundError",
    ServiceQuotaExceededException: "QuotaExhaustedError",
    ThrottlingException: "RateLimitError",
    UnknownOperationException: "InvalidRequestError"
  }
  for (const [name, tag] of Object.entries(names)) {
    // a status that says nothing
    for (const status of [200, 418]) {
      for (const given of [
        answer(status, { "x-amzn-errortype": `${name}:http://internal.amazon.com/` }),
        answer(status, {}, { message: "no", __type: `com.amazon.coral#${name}` }),
        answer(status, {}, { message: "no", code: name }),
        answer(status, {}, { Output: { __type: name } })
      ]) {
        assert.strictEqual(ConverseError.classify(source, given)._tag, tag, `${name} ${given.body}`)
      }
    }
  }
})

it("an exception in a stream has a status of its own, and the text of its body if there is one [P1414]", () => {
  const found = (event: Record<string, unknown>) => {
    const error = ConverseError.inside(source, answer(200), JSON.parse(JSON.stringify(event)))
    assert(error !== undefined)
    return [error._tag, error.status, error.detail]
  }
  for (const [name, tag, status] of [
    ["internalServerException", "ServerError", 500],
    ["modelStreamErrorException", "ServerError", 424],
    ["serviceUnavailableException", "ModelOverloadedError", 503],
    ["throttlingException", "RateLimitError", 429],
    ["validationException", "InvalidRequestError", 400]
  ] as const) {
    for (const said of [{ message: "no" }, { Message: "no" }]) {
      assert.deepStrictEqual(found({ [name]: said }), [tag, status, "no"])
    }
  }
  for (const nothing of [null, 5]) {
    assert.deepStrictEqual(found({ throttlingException: nothing }), ["RateLimitError", 429, undefined])
  }
})

it("some stop reasons are errors, with the text of the reply [P1414]", () => {
  const of = (stopReason: string, ...texts: ReadonlyArray<string>) => {
    const content = texts.map((text) => ({ text }))
    const error = ConverseError.inside(source, answer(200), { output: { message: { content } }, stopReason })
    return error === undefined ? [] : [error._tag, error.detail]
  }
  for (const [reason, tag] of [
    ["content_filtered", "ContentFilteredError"],
    ["guardrail_intervened", "ContentFilteredError"],
    ["malformed_model_output", "ServerError"],
    ["malformed_tool_use", "MalformedToolCallError"]
  ] as const) {
    assert.deepStrictEqual(of(reason), [tag, `the reply ended with ${reason}`])
    assert.deepStrictEqual(of(reason, "I may not", "say"), [tag, "I may not\nsay"])
  }
  for (const reason of ["end_turn", "toString"]) assert.deepStrictEqual(of(reason, "hi"), [])
})
