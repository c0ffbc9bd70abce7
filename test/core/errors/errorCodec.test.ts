import * as Factories from "@kintsugi/core/Factories"
import { assert, it } from "@effect/vitest"
import { LlmError, Recovery, RunError, Tool, ToolError } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Duration, Effect, Predicate, Schema } from "effect"
import { agentWith, asHard, scripted } from "../../_support/dialogue.ts"
import { all, classes, samples } from "../_support/errorSamples.ts"

const unions = [LlmError.LlmError, ToolError.ToolError, RunError.RunError, DoorError.DoorError]

/** Through JSON text and back. */
const throughText = (schema: Schema.Codec<unknown, unknown>, error: unknown) => {
  const codec = Schema.toCodecJson(schema)
  const text = JSON.stringify(Schema.encodeUnknownSync(codec)(error))
  return { text, back: Schema.decodeUnknownSync(codec)(JSON.parse(text)) }
}

const ours = (tag: string) => Object.hasOwn(samples, tag)

/** What has to survive: every field of our errors; of a foreign one name, message and code. */
const shape = (value: unknown): unknown => {
  if (Duration.isDuration(value)) return `${Duration.toMillis(value)} ms`
  if (Array.isArray(value)) return value.map(shape)
  if (!Predicate.isObject(value)) return value
  const fields = Object.fromEntries(Object.entries(value).map(([key, field]) => [key, shape(field)]))
  if (!(value instanceof Error)) return fields
  if (Predicate.hasProperty(value, "_tag") && ours(String(value._tag))) {
    return { ...fields, class: value.constructor, message: value.message, cause: shape(value.cause) }
  }
  return { name: value.name, message: value.message, code: "code" in value ? value.code : undefined }
}

it("every class survives JSON text with all its fields, nested causes included [T6]", () => {
  for (const error of all) {
    const schema = classes[error._tag]
    if (schema === undefined) return assert.fail(`no class ${error._tag}`)
    const { back, text } = throughText(schema, error)
    assert.deepStrictEqual(shape(back), shape(error), error._tag)
    assert.strictEqual(JSON.parse(text)._tag, error._tag)
    const twice = throughText(schema, back)
    assert.strictEqual(twice.text, text)
  }
  return undefined
})

it("the advice comes back with the class: code, delay and attempts [T6]", () => {
  for (const error of all) {
    const back = throughText(classes[error._tag] ?? Schema.Never, error).back
    const { code, httpStatus, isRetryable, maxAttempts, recovery, suggestedDelay } = error
    assert.deepInclude(back, { code, httpStatus, isRetryable, maxAttempts, recovery, suggestedDelay })
  }
})

it("the unions decode each of their members to its own class [T6]", () => {
  let decoded = 0
  for (const error of all) {
    for (const union of unions) {
      if (!Schema.is(union)(error)) continue
      decoded++
      const { back } = throughText(union, error)
      assert.strictEqual((back as object).constructor, error.constructor)
    }
  }
  const outside = [
    "UnknownToolError",
    "ToolTimeoutError",
    "ToolDeniedError",
    "ApprovalExpiredError",
    "OutcomeUnknownError"
  ]
  const alone = new Set([...outside, "ToolExecutionError"])
  assert.strictEqual(decoded, all.filter(({ _tag }) => !alone.has(_tag)).length)
})

it("our own errors keep their class as a nested cause, three levels down [T6]", () => {
  const innermost = Factories.apiRateLimit("api", "7 seconds")
  const inner = ToolError.executionErrorOf({ tool: "t", callId: "c", kind: "llm", args: {} }, innermost)
  const outer = new ToolError.ToolExecutionError({
    tool: "t",
    callId: "c",
    message: "m",
    attempts: [inner],
    cause: inner
  })
  const { back } = throughText(ToolError.ToolExecutionError, outer)
  const first = asHard(back).attempts[0]
  assert.instanceOf(first, ToolError.ExecutionError)
  const cause = (first as ToolError.ExecutionError).cause
  assert.instanceOf(cause, LlmError.RateLimitError)
  assert.deepStrictEqual((cause as LlmError.RateLimitError).retryAfter, Duration.seconds(7))
})

const planted = [
  "sk_live_0123456789abcdef",
  "Bearer abcdefghijklmnop01",
  "AIzaSyA0123456789abcdefghijklmnopqrstuv",
  "api_key=topsecretvalue1",
  "https://user:hunter22@example.org/x",
  "https://example.org/x?token=hunter22",
  '{"password":"hunter22"}'
]

const secrets = /0123456789|abcdefghijklmnop|topsecretvalue|hunter22|x-header-value|stackframe/

/** A foreign error with a secret in every corner. */
const leaky = (secret: string) =>
  Object.assign(new Error(`request failed: ${secret}`), {
    code: "ECONNRESET",
    headers: { authorization: "x-header-value" },
    request: { body: secret },
    stack: `Error: ${secret}\n at stackframe`,
    cause: new Error(secret)
  })

it("foreign causes become name, message and code; planted secrets never reach the wire [T6]", () => {
  for (const secret of planted) {
    const cause = leaky(secret)
    for (const error of [
      LlmError.ServerError.make({ model: "m", cause }),
      LlmError.UnknownLlmError.make({ model: "m", cause }),
      Factories.dnsResolutionFailed("h", cause),
      LlmError.MalformedToolCallError.make({ model: "m", tool: "t", detail: "no", cause }),
      ToolError.executionErrorOf({ tool: "t", callId: "c", kind: "local", args: {} }, cause),
      new ToolError.ToolExecutionError({ tool: "t", callId: "c", message: "m", attempts: [cause, secret], cause }),
      new ToolError.EscalationError({ message: "m", source: "a", reason: "r", severity: "LOW", originalError: cause })
    ]) {
      const { back, text } = throughText(classes[error._tag] ?? Schema.Never, error)
      assert.notMatch(text, secrets, error._tag)
      const decodedCause = "cause" in error ? (back as { readonly cause: unknown }).cause : undefined
      if (decodedCause !== undefined) assert.deepInclude(decodedCause, { name: "Error", code: "ECONNRESET" })
    }
  }
})

it("causes of any kind have a form on the wire [T6]", () => {
  const circular: Record<string, unknown> = {}
  circular["self"] = circular
  const odd = [undefined, null, 0, "", "text", 10n, Symbol("s"), () => {}, [], {}, circular, Object.create(null), NaN]
  for (const cause of odd) {
    const error = new ToolError.ToolExecutionError({ tool: "t", callId: "c", message: "m", attempts: [cause], cause })
    const { back } = throughText(ToolError.ToolExecutionError, error)
    assert.strictEqual(asHard(back).attempts.length, 1)
  }
})

it.effect("what a run fails with has no secret of a tool's failure on the wire [T6]", () =>
  Effect.gen(function* () {
    for (const secret of planted) {
      const { tool } = scripted("fetch", Effect.fail(leaky(secret)))
      const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("fetch", {})))
      const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.retry({ retries: 0 }) })))
      const error = asHard(yield* Effect.flip(agent("go").pipe(Effect.provide(model.layer))))
      assert.notMatch(throughText(ToolError.ToolExecutionError, error).text, secrets)
    }
  })
)
