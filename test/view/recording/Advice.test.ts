/** The row for each kind of failure, whole, and the pages about errors and verdicts. */
import { assert, describe, it } from "@effect/vitest"
import { errorPage, helpOf, rowFor, verdictPage } from "../../../packages/view/src/recording/Advice.ts"

const model = (error: object, hasRetried = false) =>
  rowFor({ layer: "model", error, sideEffects: undefined, hasRetried })

const tool = (error: object, { hasRetried = false, sideEffects = "none" } = {}) =>
  rowFor({ layer: "tool", error, sideEffects, hasRetried })

const tell = (name: string) => ({
  code: `Tool.onError({ ${name}: Recovery.tell() })`,
  entry: `${name}: Recovery.tell()`,
  page: "guide/tool-recovery#which-verdict-for-which-failure"
})

const retry = (name: string) => ({
  code: `Tool.onError({ ${name}: Recovery.retry(Backoff.suggested()) })`,
  entry: `${name}: Recovery.retry(Backoff.suggested())`,
  page: "guide/retry-a-flaky-tool"
})

describe("the row for a model call [P1702]", () => {
  const fallback = { code: "Model.fallback(first, second)", page: "guide/fall-back-to-another-model" }

  it("retries what may pass, once: then another model helps [P1702]", () => {
    assert.deepStrictEqual(model({ _tag: "RateLimitError" }), {
      code: "Agent.onLlmError({ RateLimitError: Recovery.retry(Backoff.suggested()) })",
      entry: "RateLimitError: Recovery.retry(Backoff.suggested())",
      page: "guide/model-recovery#retry-failed-model-calls"
    })
    assert.deepStrictEqual(model({ _tag: "RateLimitError" }, true), fallback)
    for (const hasRetried of [false, true])
      assert.deepStrictEqual(model({ _tag: "QuotaExhaustedError" }, hasRetried), fallback)
  })

  it("shortens a conversation that is too long, and no reply [P1702]", () => {
    assert.deepStrictEqual(model({ _tag: "ContextTooLongError" }), {
      code: "Agent.onLlmError({ ContextTooLongError: Recovery.compact(Compaction.dropOldest({ keepLast: 2 })) })",
      entry: "ContextTooLongError: Recovery.compact(Compaction.dropOldest({ keepLast: 2 }))",
      page: "guide/model-recovery#conversations-that-are-too-long"
    })
    assert.isUndefined(model({ _tag: "ReplyTooLargeError" }))
  })

  it("is none for what is refused, and for errors of other code [P1702]", () => {
    for (const _tag of ["AuthenticationError", "ContentFilteredError", "MalformedToolCallError", "Busy", "constructor"])
      assert.isUndefined(model({ _tag }))
  })
})

describe("the row for a tool [P1702]", () => {
  it("retries a tool that may be repeated, and tells the model when it has retried [P1702]", () => {
    const error = { _tag: "ToolTimeoutError" }
    for (const sideEffects of ["none", "idempotent"])
      assert.deepStrictEqual(tool(error, { sideEffects }), retry("ToolTimeoutError"))
    assert.deepStrictEqual(tool(error, { hasRetried: true }), {
      code: "Tool.onError({ ToolTimeoutError: Recovery.ladder(Recovery.retry(Backoff.suggested()), Recovery.tell()) })",
      entry: "ToolTimeoutError: Recovery.ladder(Recovery.retry(Backoff.suggested()), Recovery.tell())",
      page: "guide/recovery#tables-rows-and-verdicts"
    })
    assert.isUndefined(tool(error, { sideEffects: "unsafe" }))
    assert.isUndefined(tool(error, { sideEffects: "unsafe", hasRetried: true }))
  })

  it("tells the model what it can repair or shorten, and the failures of a domain [P1702]", () => {
    for (const _tag of ["InvalidArgs", "InputTooLargeError", "Busy"])
      for (const sideEffects of ["none", "unsafe"]) assert.deepStrictEqual(tool({ _tag }, { sideEffects }), tell(_tag))
    for (const _tag of ["ToolDeniedError", "OutcomeUnknownError", "RoutingError"]) assert.isUndefined(tool({ _tag }))
  })

  it("follows the category of a failure without a tag [P1702]", () => {
    const of = (fields: object) => tool({ _tag: "ExecutionError", ...fields })
    for (const category of ["network", "server", "mcp"])
      assert.deepStrictEqual(of({ category }), retry("ExecutionError"))
    for (const fields of [{}, { category: "unknown" }, { category: "parameter" }, { category: "validation" }])
      assert.deepStrictEqual(of(fields), tell("ExecutionError"))
    for (const category of ["client", "llm"]) assert.isUndefined(of({ category }))
    assert.deepStrictEqual(
      of({ category: "client", lent: { outlook: { isRetryable: true } } }),
      retry("ExecutionError")
    )
    assert.isUndefined(of({ category: "client", lent: { outlook: { isRetryable: false } } }))
  })

  it("has the tag as a key, which is quoted where it is no name [P1702]", () => {
    for (const name of ["$a_1", "_"]) assert.deepStrictEqual(tool({ name }), tell(name))
    for (const name of ["1a", "a-b", "a b", ""]) assert.deepStrictEqual(tool({ name }), tell(JSON.stringify(name)))
  })
})

describe("a page of the documentation [P1706]", () => {
  it("is that of the error or of the verdict [P1706]", () => {
    assert.strictEqual(errorPage("RateLimitError"), "errors#ratelimiterror")
    assert.isUndefined(errorPage("Busy"))
    assert.isUndefined(helpOf("toString"))
    assert.deepStrictEqual(["retry", "fix", "ask", "compact", "fallback", "tell", "toString"].map(verdictPage), [
      "guide/recovery#how-retries-are-counted",
      "guide/fixers",
      "guide/approvals#ask-a-person-about-a-failed-call",
      "guide/model-recovery#conversations-that-are-too-long",
      "guide/model-recovery#fallback-models",
      "guide/tool-recovery#which-verdict-for-which-failure",
      "guide/tool-recovery#which-verdict-for-which-failure"
    ])
  })
})
