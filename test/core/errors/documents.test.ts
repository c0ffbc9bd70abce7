/** Errors as documents that other processes read: a document without a field, or with another word, is refused. */
import { assert, it } from "@effect/vitest"
import { LlmError, type RunError } from "@kintsugi/core"
import { Duration, Predicate, Schema } from "effect"
import { TrailEntry } from "../../../packages/core/src/errors/Trail.ts"
import { all, classes, samples } from "../_support/errorSamples.ts"
import { through } from "../_support/json.ts"

const isRead = (schema: Schema.Codec<unknown, unknown>) => {
  const decode = Schema.decodeUnknownExit(Schema.toCodecJson(schema))
  return (value: unknown): boolean => decode(value)._tag === "Success"
}

const documentOf = (schema: Schema.Codec<unknown, unknown>, error: unknown): object => {
  const document = Schema.encodeUnknownSync(Schema.toCodecJson(schema))(error)
  return Predicate.isObject(document) ? document : assert.fail("no object")
}

const without = (document: object, field: string) =>
  Object.fromEntries(Object.entries(document).filter(([key]) => key !== field))

/** The fields that an error may lack. */
const optional: ReadonlySet<string> = new Set(
  [
    "provider requestId status retryAfter shouldRetry detail usage isJobOver partial earlier cause filters limit actual",
    "rawArgs remainingQuota port lent originalError attempts tookEffect trail transcript isCut reason"
  ].flatMap((names) => names.split(" "))
)

/** Fields that are optional in other classes only. */
const required: Readonly<Record<string, ReadonlyArray<string>>> = {
  ToolExecutionError: ["attempts"],
  BudgetExceededError: ["limit", "partial", "reason", "transcript", "usage"],
  InvalidOutputError: ["transcript", "usage"],
  RoutingError: ["transcript", "usage"],
  GuardrailError: ["reason", "transcript", "usage"],
  UnknownPriceError: ["transcript", "usage"],
  EscalationError: ["reason"],
  ToolDeniedError: ["reason"],
  SnapshotRefusedError: ["reason"],
  InputTooLargeError: ["limit"],
  InboxFullError: ["limit"],
  CapabilityMismatchError: ["provider"],
  InvalidArgs: ["rawArgs"]
}

/** Failures of a service may have no model. */
const ofService: ReadonlySet<string> = new Set(["RateLimitError", "NetworkError", "RequestTimeoutError"])

it.each(Object.keys(samples))("%s is not read without one of its fields [T6]", (tag) => {
  const schema = classes[tag] ?? Schema.Never
  const is = isRead(schema)
  for (const error of all.filter(({ _tag }) => _tag === tag)) {
    const document = documentOf(schema, error)
    assert.isTrue(is(document))
    for (const key of Object.keys(document)) {
      const isOptional =
        (optional.has(key) && required[tag]?.includes(key) !== true) || (key === "model" && ofService.has(tag))
      assert.strictEqual(is(without(document, key)), isOptional, key)
    }
  }
})

const entry: RunError.TrailEntry = {
  tag: "Busy",
  message: "busy",
  verdict: "retry",
  gaveUp: false,
  why: "no-approver",
  rung: 0,
  attempt: 1,
  delay: Duration.seconds(1),
  hint: Duration.seconds(2),
  hintFrom: "RateLimitError",
  left: { turns: 1, toolCalls: 2 }
}

const filter = {
  of: "prompt",
  category: "hate",
  isFiltered: true,
  isDetected: false,
  severity: "high",
  id: "b1"
} as const

const filtered = LlmError.ContentFilteredError.make({ model: "m", filters: [filter] })

/** Fields of errors whose texts are words of a closed list. */
const lists: ReadonlyArray<readonly [error: { readonly _tag: string }, field: string, words: string]> = [
  [filtered, "kind", "refusal filter"],
  [samples.EmptyReplyError[0], "finishReason", "stop tool-calls length filtered paused other"],
  [
    samples.CapabilityMismatchError[0],
    "capability",
    "streaming vision files structuredOutput tools toolChoice thinking chat other"
  ],
  [samples.ExecutionError[0], "kind", "local web-service llm mcp-tool"],
  [samples.ExecutionError[0], "category", "network parameter client server validation llm mcp invocation unknown"],
  [samples.EscalationError[0], "severity", "LOW MEDIUM HIGH CRITICAL"],
  [samples.ToolTimeoutError[0], "sideEffects", "none idempotent unsafe undeclared"],
  [
    samples.BudgetExceededError[0],
    "reason",
    "maxTurns maxToolCalls maxDuration maxTokens maxCost maxConsecutiveSameTool maxDepth repeatedFailure toolsOff"
  ],
  [samples.GuardrailError[0], "side", "input output"],
  [samples.UnknownPriceError[0], "option", "maxCost"],
  [samples.InputTooLargeError[0], "bound", "depth nodes bytes"],
  [
    samples.SnapshotRefusedError[0],
    "reason",
    "unsigned bad-signature unknown-key already-resumed other-agent malformed"
  ],
  [samples.CursorExpiredError[0], "reason", "expired malformed other-run unknown"]
]

it.each(lists)("a document has one of the words of its error, and no other: $_tag, %s [T6]", (error, field, words) => {
  const schema = classes[error._tag] ?? Schema.Never
  const is = isRead(schema)
  const document = documentOf(schema, error)
  for (const word of words.split(" ")) assert.isTrue(is({ ...document, [field]: word }), word)
  for (const word of ["", "else"]) assert.isFalse(is({ ...document, [field]: word }), word)
})

it("what a filter found keeps its fields [T6]", () => {
  assert.deepStrictEqual(through(LlmError.ContentFilteredError, filtered).filters, [filter])
  const is = isRead(LlmError.ContentFilteredError)
  const document = documentOf(LlmError.ContentFilteredError, filtered)
  const { category, isFiltered } = filter
  for (const of of ["prompt", "reply"]) assert.isTrue(is({ ...document, filters: [{ of, category, isFiltered }] }), of)
  for (const key of ["of", "category", "isFiltered"])
    assert.isFalse(is({ ...document, filters: [without(filter, key)] }), key)
  for (const wrong of [{ of: "" }, { isDetected: "no" }, { severity: 1 }, { id: 1 }])
    assert.isFalse(is({ ...document, filters: [{ ...filter, ...wrong }] }), JSON.stringify(wrong))
})

it("a decision of a trail keeps its fields [T6]", () => {
  assert.deepStrictEqual(through(TrailEntry, entry), entry)
  const is = isRead(TrailEntry)
  const document = documentOf(TrailEntry, entry)
  for (const key of Object.keys(document))
    assert.strictEqual(is(without(document, key)), ["why", "hint", "hintFrom", "left"].includes(key), key)
  for (const verdict of "retry fix ask compact tell escalate respondWith raise rethrow fallback".split(" "))
    assert.isTrue(is({ ...document, verdict }), verdict)
  for (const why of ["no-approver", "no-continuation"]) assert.isTrue(is({ ...document, why }), why)
  for (const wrong of [{ verdict: "" }, { why: "" }, { left: {} }, { left: { turns: 1 } }, { left: { toolCalls: 1 } }])
    assert.isFalse(is({ ...document, ...wrong }), JSON.stringify(wrong))
})
