import * as Factories from "@kintsugi/core/Factories"
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { LlmError } from "@kintsugi/core"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import { Duration, Effect } from "effect"
import { all, execution, samples, timedOut } from "../_support/errorSamples.ts"

type Row = readonly [
  code: string,
  isRetryable: string,
  recovery: string,
  delay: number,
  maxAttempts: number,
  http: number
]

/** The rows of the rules, by hand: what the library says of itself proves nothing. */
const table: ReadonlyMap<string, Row> = new Map(
  Object.entries<Row>({
    ModelNotFoundError: ["KINTSUGI-MODEL-NOT-FOUND", "no", "fallback", 0, 1, 502],
    AuthenticationError: ["KINTSUGI-AUTHENTICATION", "no", "escalate", 0, 1, 502],
    ContentFilteredError: ["KINTSUGI-CONTENT-FILTERED", "no", "none", 0, 1, 422],
    InvalidRequestError: ["KINTSUGI-INVALID-REQUEST", "no", "none", 0, 1, 502],
    ModelOverloadedError: ["KINTSUGI-MODEL-OVERLOADED", "yes", "resend", 5000, 4, 503],
    ContextTooLongError: ["KINTSUGI-CONTEXT-TOO-LONG", "no", "shrink", 0, 1, 413],
    ServerError: ["KINTSUGI-SERVER", "yes", "resend", 2000, 4, 502],
    MalformedToolCallError: ["KINTSUGI-MALFORMED-TOOL-CALL", "no", "repair", 0, 1, 502],
    CapabilityMismatchError: ["KINTSUGI-CAPABILITY-MISMATCH", "no", "fallback", 0, 1, 501],
    UnknownLlmError: ["KINTSUGI-UNKNOWN-LLM", "yes", "resend", 1000, 4, 502],
    QuotaExhaustedError: ["KINTSUGI-QUOTA-EXHAUSTED", "no", "fallback", 0, 1, 503],
    NetworkError: ["KINTSUGI-NETWORK", "yes", "resend", 2000, 6, 502],
    EmptyReplyError: ["KINTSUGI-EMPTY-REPLY", "yes", "resend", 1000, 2, 502],
    ReplyTooLargeError: ["KINTSUGI-REPLY-TOO-LARGE", "no", "shrink", 0, 1, 502],
    InvalidArgs: ["KINTSUGI-INVALID-ARGS", "no", "repair", 0, 1, 422],
    DeserializationError: ["KINTSUGI-DESERIALIZATION", "no", "repair", 0, 1, 422],
    EscalationError: ["KINTSUGI-ESCALATION", "no", "escalate", 0, 1, 422],
    UnknownToolError: ["KINTSUGI-UNKNOWN-TOOL", "no", "repair", 0, 1, 422],
    ToolDeniedError: ["KINTSUGI-TOOL-DENIED", "no", "none", 0, 1, 403],
    ApprovalExpiredError: ["KINTSUGI-APPROVAL-EXPIRED", "no", "escalate", 0, 1, 410],
    OutcomeUnknownError: ["KINTSUGI-OUTCOME-UNKNOWN", "no", "escalate", 0, 1, 500],
    ToolExecutionError: ["KINTSUGI-TOOL-EXECUTION", "no", "none", 0, 1, 500],
    BudgetExceededError: ["KINTSUGI-BUDGET-EXCEEDED", "no", "none", 0, 1, 503],
    InvalidOutputError: ["KINTSUGI-INVALID-OUTPUT", "no", "repair", 0, 1, 502],
    RoutingError: ["KINTSUGI-ROUTING", "no", "fallback", 0, 1, 500],
    LoopExhaustedError: ["KINTSUGI-LOOP-EXHAUSTED", "no", "none", 0, 1, 500],
    GuardrailError: ["KINTSUGI-GUARDRAIL", "no", "none", 0, 1, 422],
    UnknownPriceError: ["KINTSUGI-UNKNOWN-PRICE", "no", "none", 0, 1, 422],
    InputTooLargeError: ["KINTSUGI-INPUT-TOO-LARGE", "no", "shrink", 0, 1, 413],
    RunLostError: ["KINTSUGI-RUN-LOST", "no", "none", 0, 1, 410],
    SnapshotRefusedError: ["KINTSUGI-SNAPSHOT-REFUSED", "no", "none", 0, 1, 409],
    RunOverError: ["KINTSUGI-RUN-OVER", "no", "none", 0, 1, 409],
    InboxFullError: ["KINTSUGI-INBOX-FULL", "yes", "resend", 1000, 3, 429],
    CursorExpiredError: ["KINTSUGI-CURSOR-EXPIRED", "no", "none", 0, 1, 410]
  })
)

/** Their advice depends on the data: they have rows of their own below. */
const varying: ReadonlySet<string> = new Set([
  "RateLimitError",
  "RequestTimeoutError",
  "ToolTimeoutError",
  "ExecutionError"
])

const rowOf = (error: RecoveryAdvice.RecoveryAdvice): Row => [
  error.code,
  error.isRetryable ? "yes" : "no",
  error.recovery,
  Duration.toMillis(error.suggestedDelay),
  error.maxAttempts,
  error.httpStatus
]

it("every constructor of a class gives the row of its class [T1 L1102]", () => {
  assert.sameMembers([...table.keys(), ...varying], [...RecoveryAdvice.tags])
  for (const error of all) {
    if (!varying.has(error._tag))
      assert.deepStrictEqual([error._tag, rowOf(error)], [error._tag, table.get(error._tag)])
  }
})

it("every constructor that there is made one of these errors [T1]", () => {
  for (const [tag, errors] of Object.entries(samples)) {
    const { source } = readings
    for (const name of constructorsOf(errors[0].constructor)) {
      assert.include(source, `${tag}.${name}(`, `no sample is made by ${tag}.${name}`)
    }
  }
})

/** The static methods of a class that are its own. */
const constructorsOf = (from: object): ReadonlyArray<string> =>
  Object.getOwnPropertyNames(from).filter((name) => !["length", "name", "prototype"].includes(name))

const readings = { source: readFileSync(new URL("../_support/errorSamples.ts", import.meta.url), "utf8") }

it("the rows of four classes depend on their data [T1 L1102]", () => {
  const limited = new LlmError.RateLimitError({ service: "api", message: "m" })
  const waiting = Factories.apiRateLimit("api", "7 seconds")
  assert.deepStrictEqual(rowOf(limited), ["KINTSUGI-RATE-LIMIT", "yes", "resend", 60_000, 6, 429])
  assert.deepStrictEqual(rowOf(waiting), ["KINTSUGI-RATE-LIMIT", "yes", "resend", 7000, 6, 429])
  for (const [limit, delay] of [
    ["30 seconds", 5000],
    ["3 seconds", 1500]
  ] as const) {
    const late = Factories.llmTimeout(limit)
    assert.deepStrictEqual(rowOf(late), ["KINTSUGI-REQUEST-TIMEOUT", "yes", "resend", delay, 4, 504])
  }
  for (const sideEffects of ["none", "idempotent"] as const) {
    assert.deepStrictEqual(rowOf(timedOut(sideEffects)), ["KINTSUGI-TOOL-TIMEOUT", "yes", "resend", 2500, 4, 504])
  }
  for (const sideEffects of ["unsafe", "undeclared"] as const) {
    assert.deepStrictEqual(rowOf(timedOut(sideEffects)), ["KINTSUGI-TOOL-TIMEOUT", "no", "escalate", 0, 1, 504])
  }
  const code = "KINTSUGI-EXECUTION"
  for (const category of ["network", "server", "mcp"] as const) {
    assert.deepStrictEqual(rowOf(execution(category)), [code, "yes", "resend", 1000, 4, 502])
  }
  for (const category of ["parameter", "validation"] as const) {
    assert.deepStrictEqual(rowOf(execution(category)), [code, "no", "repair", 0, 1, 502])
  }
  for (const category of ["client", "llm", "invocation", "unknown"] as const) {
    assert.deepStrictEqual(rowOf(execution(category)), [code, "no", "none", 0, 1, 502])
  }
  assert.deepStrictEqual(rowOf(execution("llm", waiting)), [code, "yes", "resend", 7000, 6, 502])
})

it("codes are unique, and follow from the tags [T2 L1102]", () => {
  const codes = new Map<string, string>(RecoveryAdvice.tags.map((tag) => [RecoveryAdvice.describe(tag).code, tag]))
  assert.strictEqual(codes.size, RecoveryAdvice.tags.length)
  assert.sameMembers([...codes.values()], [...RecoveryAdvice.tags])
  for (const [code, tag] of codes) {
    const words = tag.replace(/Error$/, "").replace(/([a-z])([A-Z])/g, "$1-$2")
    assert.strictEqual(code, `KINTSUGI-${words.toUpperCase()}`)
  }
})

const hintless: Array<RecoveryAdvice.RecoveryAdvice> = [
  new LlmError.RateLimitError({ service: "api", message: "m", retryAfter: Duration.zero }),
  Factories.llmTimeout(0),
  timedOut("none", 0)
]

it("an error that is not retryable has no delay and one attempt; a retryable one has a delay and more attempts [T3 L213]", () => {
  for (const error of [...all, ...hintless]) {
    if (error.isRetryable) {
      assert.isAbove(Duration.toMillis(error.suggestedDelay), 0)
      assert.isAbove(error.maxAttempts, 1)
    } else {
      assert.strictEqual(Duration.toMillis(error.suggestedDelay), 0)
      assert.strictEqual(error.maxAttempts, 1)
    }
  }
})

it("maxAttempts counts the first call: 4 is three retries, 6 is five, 3 is two, 2 is one, 1 is none [T4]", () => {
  assert.deepStrictEqual([...new Set(all.map(({ maxAttempts }) => maxAttempts))].toSorted(), [1, 2, 3, 4, 6])
  assert.strictEqual(Factories.serverError("m", 1).maxAttempts, 4)
  assert.strictEqual(Factories.connectionRefused("h", 1).maxAttempts, 6)
})

it("isRetryable is about the same input: too long, malformed and filtered are not, though a change may cure them [T5]", () => {
  for (const [error, recovery] of [
    [samples.ContextTooLongError[0], "shrink"],
    [samples.MalformedToolCallError[0], "repair"],
    [samples.ContentFilteredError[0], "none"]
  ] as const) {
    assert.deepInclude(error, { isRetryable: false, recovery })
  }
  for (const error of all) assert.strictEqual(error.recovery === "resend", error.isRetryable)
})

it("the constructors of model failures set their fields, and their message names what they were given [T9 T10]", () => {
  const cause = new Error("boom")
  for (const [error, fields, words] of [
    [Factories.modelNotFound("gpt"), { model: "gpt" }, ["gpt"]],
    [Factories.authenticationFailed("gpt", "bad key"), { model: "gpt" }, ["gpt", "bad key"]],
    [Factories.contentFiltered("gpt", "violence"), { model: "gpt" }, ["gpt", "violence"]],
    [Factories.modelOverloaded("gpt"), { model: "gpt" }, ["gpt"]],
    [Factories.serverError("gpt", cause), { model: "gpt", cause }, ["gpt", "boom"]],
    [Factories.contextTooLong("gpt", 8000, 9001), { limit: 8000, actual: 9001 }, ["8000", "9001"]],
    [Factories.contextTooLong("gpt", 8000), { limit: 8000 }, ["8000"]],
    [Factories.contextTooLong("gpt", undefined, 9001), { actual: 9001 }, ["9001"]]
  ] as const) {
    assert.deepInclude(error, fields)
    for (const word of words) assert.include(error.message, word)
  }
  const bare = Factories.contextTooLong("gpt")
  assert.notProperty(bare, "limit")
  assert.notProperty(bare, "actual")
})

it("malformedToolCall has no cause when none was given [T11]", () => {
  const { malformedToolCall } = Factories
  const error = malformedToolCall("gpt", "fetch", "no JSON")
  assert.deepInclude(error, { model: "gpt", tool: "fetch" })
  assert.notProperty(error, "cause")
  const cause = new Error("boom")
  assert.strictEqual(malformedToolCall("gpt", "fetch", "no JSON", cause).cause, cause)
})

it("the hint of a rate limit is kept as it is; a hint of 0 waits 1 ms, never a hot loop [T13 T14]", () => {
  const { apiRateLimit } = Factories
  const ten = apiRateLimit("api", "10 seconds")
  assert.deepStrictEqual([ten.retryAfter, ten.suggestedDelay], [Duration.seconds(10), Duration.seconds(10)])
  assert.strictEqual(ten.service, "api")
  const zero = apiRateLimit("api", 0)
  assert.deepStrictEqual(zero.retryAfter, Duration.zero)
  assert.strictEqual(Duration.toMillis(zero.suggestedDelay), 1)
})

it("an exhausted quota is not retryable; its resetAfter is advice, 5 minutes by default [T15]", () => {
  const error = Factories.llmQuotaExceeded("gpt")
  assert.deepInclude(error, { model: "gpt", isRetryable: false, suggestedDelay: Duration.zero })
  assert.deepStrictEqual(error.resetAfter, Duration.minutes(5))
  const later = new LlmError.QuotaExhaustedError({ model: "gpt", message: "m", resetAfter: Duration.hours(2) })
  assert.deepStrictEqual(later.resetAfter, Duration.hours(2))
})

it("the constructors of NetworkError name host, port and time [T17]", () => {
  const { connectionRefused, connectionTimeout, dnsResolutionFailed } = Factories
  const cause = new Error("ENOTFOUND")
  assert.deepInclude(connectionRefused("example.org", 443), { host: "example.org", port: 443 })
  assert.deepInclude(dnsResolutionFailed("example.org", cause), { host: "example.org", cause })
  assert.notProperty(dnsResolutionFailed("example.org", cause), "port")
  const slow = connectionTimeout("example.org", 443, "3 seconds")
  assert.deepInclude(slow, { host: "example.org", port: 443 })
  for (const part of ["example.org:443", "3s"]) assert.include(slow.message, part)
})

it("timeouts advise half of the limit, 5 s at most, 1 ms at least; no query string is in the message [T18]", () => {
  const delay = ({ suggestedDelay }: RecoveryAdvice.RecoveryAdvice) => Duration.toMillis(suggestedDelay)
  const { httpTimeout, llmTimeout } = Factories
  const { actionTimeout } = Factories
  assert.deepStrictEqual(
    [llmTimeout("30 seconds"), httpTimeout("http://h", "10 seconds"), llmTimeout("3 seconds")].map(delay),
    [5000, 5000, 1500]
  )
  assert.deepStrictEqual(
    ["5 seconds", "1 millis", 0].map((limit) => delay(actionTimeout("t", limit as 0))),
    [2500, 1, 1]
  )
  const error = httpTimeout("https://api.example.org/v1/chat?key=abc#frag", "10 seconds")
  assert.include(error.message, "https://api.example.org/v1/chat")
  for (const part of ["key", "abc", "frag", "?"]) assert.notInclude(JSON.stringify(error), part)
})

it("each constructor of CapabilityMismatchError names its capability [T20]", () => {
  assert.deepStrictEqual(
    samples.CapabilityMismatchError.map(({ capability }) => capability),
    ["streaming", "vision", "structuredOutput", "tools", "tools"]
  )
  for (const error of samples.CapabilityMismatchError) assert.deepInclude(error, { model: "m", provider: "p" })
})

it.effect("errors fail an effect by being yielded, and are caught by their tag [T1]", () =>
  Effect.gen(function* () {
    const failing = Effect.gen(function* () {
      return yield* Factories.modelNotFound("m")
    })
    assert.strictEqual(
      yield* Effect.catchTag(failing, "ModelNotFoundError", ({ recovery }) => Effect.succeed(recovery)),
      "fallback"
    )
  })
)
