/** Recorded failures of all providers, each read by its own wire format. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import { Duration } from "effect"
import { errorOf, errorsInside, type ExpectedError, type Fixture, fixtures } from "../../_support/wireFixtures.ts"

const tagsOf: Readonly<Record<string, ReadonlyArray<LlmError.LlmError["_tag"]>>> = {
  AUTHENTICATION_FAILED: ["AuthenticationError"],
  MODEL_NOT_FOUND: ["ModelNotFoundError"],
  CONTENT_FILTERED: ["ContentFilteredError"],
  INVALID_REQUEST: ["InvalidRequestError"],
  MODEL_OVERLOADED: ["ModelOverloadedError"],
  CONTEXT_TOO_LONG: ["ContextTooLongError"],
  SERVER_ERROR: ["ServerError"],
  MALFORMED_TOOL_CALL: ["MalformedToolCallError"],
  CAPABILITY_MISMATCH: ["CapabilityMismatchError"],
  RateLimit: ["RateLimitError", "QuotaExhaustedError"],
  Timeout: ["RequestTimeoutError"],
  UNKNOWN: ["UnknownLlmError"]
}

/**
 * No failure of the provider: the model wrote arguments that are no JSON, in a reply that is whole otherwise. What a call
 * asks for is read where tools are called, and told to the model there.
 */
const repliesAllTheSame: ReadonlySet<string> = new Set(["openai-chat-badargs-1"])

/** A refusal has no `error` among its expectations, only its outcome. */
const expectedOf = ({ expected }: Fixture): ExpectedError | undefined =>
  expected.error ??
  (expected.outcome === "filtered" ? { category: "CONTENT_FILTERED", retrySameRequest: false } : undefined)

/**
 * Whether the model may be asked once more with the same conversation. That is `isRetryable`, and it is so of a malformed
 * call too, though not blindly: it is repaired by asking again, best with the error told to the model (`recovery: "repair"`).
 */
const mayRetry = (error: LlmError.LlmError): boolean => error.isRetryable || error.recovery === "repair"

const check = (error: LlmError.LlmError, expected: ExpectedError) => {
  const admitted = [expected.category, ...(expected.acceptable ?? [])].flatMap((category) => tagsOf[category] ?? [])
  assert.include(admitted, error._tag)
  assert.strictEqual(mayRetry(error), expected.retrySameRequest)
  assert.strictEqual(error._tag === "QuotaExhaustedError", expected.quotaExhausted ?? false)
  if (expected.retryAfterMs !== undefined) {
    // a server that names milliseconds may also say it in whole seconds, and the largest value wins
    assert(error.retryAfter !== undefined)
    const hint = Duration.toMillis(error.retryAfter)
    assert.isAtLeast(hint, expected.retryAfterMs)
    assert.isBelow(hint, expected.retryAfterMs + 1000)
  }
  if (expected.remainingQuota !== undefined) {
    assert(error instanceof LlmError.RateLimitError)
    assert.strictEqual(error.remainingQuota, expected.remainingQuota)
  }
  if (error instanceof LlmError.ContextTooLongError) {
    assert.strictEqual(error.limit, expected.contextLimit)
    assert.strictEqual(error.actual, expected.contextActual)
  }
  // by how much it is too long says neither how long it is nor how long it may be: it stays in the text
  if (expected.contextOverBy !== undefined) assert.include(error.detail, String(expected.contextOverBy))
}

const failures = fixtures.filter((fixture) => expectedOf(fixture) !== undefined && !repliesAllTheSame.has(fixture.id))

describe("failures", () => {
  for (const fixture of failures) {
    it(`classifies ${fixture.id} [T8 T35]`, () => {
      const error = errorOf(fixture)
      const expected = expectedOf(fixture)
      assert(error !== undefined && expected !== undefined)
      check(error, expected)
      assert.isTrue(LlmError.isLlmError(error))
      assert.strictEqual(errorOf(fixture)?._tag, error._tag)
    })
  }

  for (const fixture of failures.filter(({ status }) => status === 200)) {
    it(`${fixture.id} holds one kind of error, however often its text has it [T8]`, () => {
      assert.lengthOf(new Set(errorsInside(fixture).map(({ _tag }) => _tag)), 1)
    })
  }
})

describe("replies", () => {
  const replies = fixtures.filter((fixture) => expectedOf(fixture) === undefined || repliesAllTheSame.has(fixture.id))
  for (const fixture of replies) {
    it(`finds no error in ${fixture.id} [T8]`, () => assert.deepStrictEqual(errorsInside(fixture), []))
  }
})
