import { assert, it } from "@effect/vitest"
import {
  Approval,
  Completion,
  KintsugiError,
  LlmError,
  Problem,
  RecoveryAdvice,
  RunError,
  ToolError,
  Usage
} from "@kintsugi/core"
import { Effect, Exit, Schema } from "effect"
import { all } from "../_support/errorSamples.ts"

const through = <A>(schema: Schema.Codec<A, unknown>, value: A): A => {
  const codec = Schema.toCodecJson(schema)
  return Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeSync(codec)(value))))
}

it("a rate limit and a spent quota are model failures like any other [T16]", () => {
  const limited = LlmError.RateLimitError.apiRateLimit("api", "1 second")
  for (const error of [limited, LlmError.QuotaExhaustedError.llmQuotaExceeded("m")]) {
    assert.isTrue(LlmError.isLlmError(error))
    assert.isFalse(ToolError.isToolError(error))
  }
})

it("a completion is a value: it is no error, and knows its summary, success, result and metadata [T28]", () => {
  const completion = Completion.make("Analysis complete")
  assert.deepInclude(completion, { summary: "Analysis complete", isSuccess: true, metadata: {}, hasResult: false })
  assert.notInstanceOf(completion, Error)
  assert.isFalse(KintsugiError.isKintsugiError(completion))
  assert.isTrue(Completion.isCompletion(completion))
  assert.isFalse(Completion.isCompletion({ ...completion }))
})

it("each constructor of a completion [T29]", () => {
  const { failed, make, withMetadata, withResult } = Completion
  assert.deepInclude(make("Done"), { isSuccess: true, hasResult: false })
  const created = withResult("Task done", { filesCreated: 5 })
  assert.deepInclude(created, { summary: "Task done", isSuccess: true, hasResult: true, result: { filesCreated: 5 } })
  assert.isTrue(withResult("Nothing found", null).hasResult)
  assert.deepInclude(failed("Could not complete", "API unavailable"), {
    summary: "Could not complete",
    isSuccess: false,
    hasResult: false,
    metadata: { reason: "API unavailable" }
  })
  assert.deepInclude(withMetadata("Done", { duration: "45s" }), { isSuccess: true, metadata: { duration: "45s" } })
  for (const completion of [make("Done"), created, failed("No", "why"), withMetadata("Done", { n: 1 })]) {
    assert.deepStrictEqual(through(Completion.Completion, completion), completion)
  }
})

it.effect("resultAs decodes the result, or fails typed: without a result, or with one that does not fit [T29]", () =>
  Effect.gen(function* () {
    const Files = Schema.Struct({ created: Schema.Finite, at: Schema.DateFromString })
    const at = "2027-01-01T12:00:00.000Z"
    const fits = Completion.withResult("Done", { created: 5, at })
    assert.deepStrictEqual(yield* fits.resultAs(Files), { created: 5, at: new Date(at) })
    for (const completion of [Completion.make("Done"), Completion.withResult("Done", { created: "5" })]) {
      const error = yield* Effect.flip(completion.resultAs(Files))
      assert.strictEqual(error._tag, "SchemaError")
    }
    const both = yield* Effect.flip(Completion.withResult("Done", {}).resultAs(Files))
    for (const field of ["created", "at"]) assert.include(both.message, field)
  })
)

it("a request for approval is data that survives JSON, and no error [T30]", () => {
  const what = { tool: "transfer", callId: "c1", reason: "more than 100", digest: "d" }
  const fields = { ...what, runId: "r", key: "r/1/0", agent: "clerk", arguments: { amount: 101 }, expiresAt: 1000 }
  const request = new Approval.Request(fields)
  assert.deepInclude(through(Approval.Request, request), fields)
  assert.isTrue(Approval.isRequest(through(Approval.Request, request)))
  assert.isFalse(Approval.isRequest(fields))
  assert.isFalse(KintsugiError.isKintsugiError(request))
})

it("every error of the library, and nothing else, is a KintsugiError, and decodes to its own class [T36]", () => {
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
    const problem = Problem.fromError(error)
    assert.deepStrictEqual(through(Problem.Problem, problem), problem)
    assert.deepInclude(problem, { status: error.httpStatus, code: error.code, retryable: error.isRetryable })
    assert.match(problem.type, /^urn:kintsugi:error:[a-z-]+$/)
    assert.isNotEmpty(problem.title)
    assert.strictEqual("retryAfter" in problem, error.isRetryable)
    for (const key of ["cause", "rawArgs", "args", "transcript", "attempts"]) assert.notProperty(problem, key)
  }
  const statusOf = (tag: RecoveryAdvice.Tag) => RecoveryAdvice.describe(tag).httpStatus
  assert.deepStrictEqual(
    (["RateLimitError", "ModelOverloadedError", "RequestTimeoutError", "InvalidArgs", "ToolDeniedError"] as const).map(
      statusOf
    ),
    [429, 503, 504, 422, 403]
  )
  assert.strictEqual(Problem.mediaType, "application/problem+json")
})

it("a problem says when to come back and what it is about, and no secret [T39]", () => {
  const limited = Problem.fromError(LlmError.RateLimitError.limited("openai", { requestId: "r1" }))
  assert.deepInclude(limited, { retryAfter: 60, requestId: "r1", title: "Rate limit reached" })
  const denied = Problem.fromError(ToolError.ToolDeniedError.of("transfer", "c1", "token=abcdefgh1234 is not admitted"))
  assert.deepInclude(denied, { tool: "transfer", callId: "c1", status: 403, retryable: false })
  assert.notInclude(JSON.stringify(denied), "abcdefgh1234")
  const routing = Problem.fromError(
    RunError.RoutingError.of("desk", ["a", "b"], "c", { transcript: [], usage: Usage.empty })
  )
  assert.deepInclude(routing, { agent: "desk", type: "urn:kintsugi:error:routing" })
  assert.notProperty(routing, "tool")
  assert.notProperty(Problem.fromError(ToolError.ToolExecutionError.raised("fixer", "hopeless")), "callId")
})
