import * as Factories from "@kintsugi/core/Factories"
import { assert, it } from "@effect/vitest"
import { KintsugiError, LlmError, RunError, ToolError, Usage } from "@kintsugi/core"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import { Duration, Exit, Schema } from "effect"
import { all } from "../_support/errorSamples.ts"
import { through } from "../_support/json.ts"

it("a rate limit and a spent quota are model failures like any other [T16]", () => {
  const limited = Factories.apiRateLimit("api", "1 second")
  for (const error of [limited, LlmError.QuotaExhaustedError.make({ model: "m" })]) {
    assert.isTrue(LlmError.isLlmError(error))
    assert.isFalse(ToolError.isToolError(error))
  }
})

it("every error of the library, and no other value, is a KintsugiError, and decodes to its own class [T36]", () => {
  assert.sameMembers([...new Set(all.map(({ _tag }) => _tag))], [...RecoveryAdvice.tags])
  for (const error of all) {
    assert.isTrue(KintsugiError.isKintsugiError(error), error._tag)
    assert.strictEqual(through(KintsugiError.KintsugiError, error).constructor, error.constructor)
  }
  const pretender = { ...all[0], _tag: "ServerError", message: "m", model: "m" }
  for (const other of [new Error("boom"), pretender, { _tag: "NetworkError" }, null, "NetworkError", undefined]) {
    assert.isFalse(KintsugiError.isKintsugiError(other))
  }
  const unknown = Schema.decodeUnknownExit(Schema.toCodecJson(KintsugiError.KintsugiError))({ _tag: "OtherError" })
  assert.isTrue(Exit.isFailure(unknown))
})

it("every class has an HTTP status, and is a problem in the sense of RFC 9457 [T39]", () => {
  for (const error of all) {
    assert(error.httpStatus >= 400 && error.httpStatus <= 599, error._tag)
    const problem = KintsugiError.toProblem(error)
    assert.deepStrictEqual(through(KintsugiError.Problem, problem), problem)
    assert.deepInclude(problem, { status: error.httpStatus, code: error.code, retryable: error.isRetryable })
    assert.match(problem.type, /^urn:kintsugi:error:[a-z-]+$/)
    assert.isNotEmpty(problem.title)
    assert.strictEqual("retryAfter" in problem, error.isRetryable)
    for (const key of ["cause", "rawArgs", "args", "transcript", "attempts"]) assert.notProperty(problem, key)
  }
  const statusOf = (tag: (typeof RecoveryAdvice.tags)[number]) => RecoveryAdvice.describe(tag).httpStatus
  assert.deepStrictEqual(
    (["RateLimitError", "ModelOverloadedError", "RequestTimeoutError", "InvalidArgs", "ToolDeniedError"] as const).map(
      statusOf
    ),
    [429, 503, 504, 422, 403]
  )
  assert.strictEqual(KintsugiError.problemMediaType, "application/problem+json")
})

it("a problem is a document of these fields [T39]", () => {
  const problem: KintsugiError.Problem = {
    type: "urn:kintsugi:error:server",
    title: "t",
    status: 502,
    detail: "d",
    code: "c",
    retryable: true,
    retryAfter: 7,
    tool: "look",
    callId: "c1",
    agent: "a",
    requestId: "r1"
  }
  assert.deepStrictEqual(through(KintsugiError.Problem, problem), problem)
  const is = Schema.is(KintsugiError.Problem)
  const optional = new Set(["retryAfter", "tool", "callId", "agent", "requestId"])
  for (const key of Object.keys(problem)) {
    const rest = Object.fromEntries(Object.entries(problem).filter(([other]) => other !== key))
    assert.strictEqual(is(rest), optional.has(key), key)
    assert.isFalse(is({ ...problem, [key]: null }), key)
  }
})

it("a problem waits as long as the server asks, and as long as advised [T39]", () => {
  const wait = (error: KintsugiError.KintsugiError) => KintsugiError.toProblem(error).retryAfter
  const server = { model: "m" }
  assert.strictEqual(wait(LlmError.ServerError.make(server)), 2)
  assert.strictEqual(wait(LlmError.ServerError.make({ ...server, retryAfter: Duration.millis(90_500) })), 91)
  assert.strictEqual(wait(LlmError.ServerError.make({ ...server, retryAfter: Duration.zero })), 2)
  assert.strictEqual(wait(Factories.fromNetworkError("look", "local", undefined)), 1)
  assert.isUndefined(wait(LlmError.ModelNotFoundError.make(server)))
})

it("an error that its own schema refuses is written as its tag, message and code [T39]", () => {
  const error = Object.assign(LlmError.ServerError.make({ model: "m", message: "It is out" }), { status: "five" })
  assert.deepStrictEqual(JSON.parse(JSON.stringify(error)), {
    _tag: "ServerError",
    message: "It is out",
    code: "KINTSUGI-SERVER"
  })
  const bare = Object.assign(LlmError.ServerError.make({ model: "m" }), { _tag: 5, message: 5 })
  assert.deepStrictEqual(JSON.parse(JSON.stringify(bare)), { _tag: "Error", message: "", code: "KINTSUGI-SERVER" })
})

it("a problem names the wait and the subject, and holds no secret [T39]", () => {
  const limited = KintsugiError.toProblem(LlmError.RateLimitError.make({ service: "openai", requestId: "r1" }))
  assert.deepInclude(limited, { retryAfter: 60, requestId: "r1", title: "Rate limit reached" })
  const denied = KintsugiError.toProblem(
    ToolError.ToolDeniedError.make({ tool: "transfer", callId: "c1", reason: "token=abcdefgh1234 is not admitted" })
  )
  assert.deepInclude(denied, { tool: "transfer", callId: "c1", status: 403, retryable: false })
  assert.notInclude(JSON.stringify(denied), "abcdefgh1234")
  const routing = KintsugiError.toProblem(
    RunError.RoutingError.make({
      agent: "desk",
      candidates: ["a", "b"],
      answer: "c",
      transcript: [],
      usage: Usage.empty
    })
  )
  assert.deepInclude(routing, { agent: "desk", type: "urn:kintsugi:error:routing" })
  assert.notProperty(routing, "tool")
  assert.notProperty(
    KintsugiError.toProblem(ToolError.ToolExecutionError.make({ tool: "fixer", message: "hopeless" })),
    "callId"
  )
})
