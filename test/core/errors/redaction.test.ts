import * as Factories from "@kintsugi/core/Factories"
import { assert, describe } from "@effect/vitest"
import { KintsugiError, LlmError, Recovery, Tool, ToolError } from "@kintsugi/core"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import * as Render from "@kintsugi/core/Render"
import * as RetryAfter from "@kintsugi/core/RetryAfter"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Duration, Effect, Exit, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, batch, callingOnce, done, fixer, read, scripted } from "../../_support/dialogue.ts"

/** A credential, and the part of it that must be nowhere. */
const credentials: ReadonlyArray<readonly [text: string, secret: string]> = [
  [`sk-proj-${"a1B2c3D4".repeat(6)}`, "a1B2c3D4"],
  [`AKIA${"A2B3C4D5".repeat(2)}`, "A2B3C4D5"],
  ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJzdWIiOiIxMjM0In0"],
  ["Bearer abcdefghijklmnop01", "abcdefghijklmnop"],
  ["Basic dXNlcjpodW50ZXIy", "dXNlcjpodW50ZXIy"],
  ["Authorization: Token hunter2hunter2", "hunter2"],
  ["Cookie: session=hunter2; theme=dark", "hunter2"],
  ["GET /v1beta/models?key=hunter2hunter2", "hunter2"],
  ["https://admin:hunter2@host/path", "hunter2"]
]

describe("redaction", () => {
  it("our own messages, codes, labels and JSON hold none, wherever it came from [P202]", () => {
    const tool = "fetch"
    for (const [text, secret] of credentials) {
      const errors = [
        LlmError.AuthenticationError.make({ model: "m", detail: `Incorrect key: ${text}` }),
        LlmError.ServerError.make({ model: "m", cause: new Error(text) }),
        Factories.fromApiError(tool, "web-service", 401, text),
        ToolError.executionErrorOf(
          { tool, kind: "local", callId: "c", args: {} },
          Object.assign(new Error("x"), { code: text })
        ),
        ToolError.executionErrorOf({ tool, kind: "local", callId: "c", args: {} }, { name: text, message: "x" })
      ]
      for (const error of errors) {
        assert.notInclude(error.message, secret)
        assert.notInclude(JSON.stringify(error), secret)
        assert.notInclude(JSON.stringify(KintsugiError.toProblem(error)), secret)
        assert.notInclude(RecoveryAdvice.labelsOf(error).code, secret)
      }
    }
    const late = Factories.httpTimeout("https://admin:hunter2@host/path?x=1", "10 seconds")
    const limited = Factories.apiRateLimit("https://h/x?key=hunter2hunter2", "1 second")
    assert.notInclude(JSON.stringify([late, limited, late.message, limited.message]), "hunter2")
  })

  it("the text of a misfit keeps its fields, its advice and its order, however many fields there are [P201 P202]", () => {
    const issues = Array.from({ length: 60 }, (_, index) => ({
      path: [`field${index}`],
      expected: "Expected string",
      actual: "number 3"
    }))
    const error = ToolError.DeserializationError.make({
      tool: "t",
      callId: "c",
      rawValue: {},
      targetType: "t parameters",
      issues
    })
    const text = Render.messageOf(error)
    assert.include(text, "field0: Expected string, got number 3")
    assert.include(text, "and 40 more")
    assert.notInclude(text, "Correct these fields")
  })

  it.run("neither a renderer of a user nor a fixer's reason carries a credential to the model [P202 L911]", (run) =>
    Effect.gen(function* () {
      const key = `sk-proj-${"a1B2c3D4".repeat(6)}`
      const rendered = scripted("one", Effect.fail(new Error(key)))
      const escalated = scripted("two", Effect.fail(new Error("broken")))
      const giving = fixer(
        Effect.fail(ToolError.EscalationError.make({ source: "fixer", reason: `no access with ${key}` }))
      )
      const model = yield* ScriptedModel.make(batch("one", "two"), done)
      const agent = agentWith(
        rendered.tool.pipe(Tool.onError({ orElse: Recovery.tell((error) => `told ${String(error)}`) })),
        escalated.tool.pipe(Tool.onError({ orElse: Recovery.fix(giving.agent) }))
      )
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.strictEqual(read(model).length, 2)
      for (const text of read(model)) {
        assert.include(text, "<redacted>")
        assert.notInclude(text, "a1B2c3D4")
      }
    })
  )
})

const hostile: ReadonlyArray<unknown> = [
  {
    _tag: "X",
    get code() {
      throw new Error("boom")
    }
  },
  {
    get _tag() {
      throw new Error("boom")
    }
  },
  { _tag: "X", message: "m", isRetryable: true, maxAttempts: Infinity, suggestedDelay: Duration.infinity },
  { _tag: "X", isRetryable: true, maxAttempts: 2.5 },
  { isRetryable: false, recovery: "resend" },
  new Proxy(
    {},
    {
      get: () => {
        throw new Error("boom")
      },
      has: () => {
        throw new Error("boom")
      }
    }
  ),
  { _tag: "x".repeat(5_000_000) },
  undefined,
  Symbol("s")
]

it.run("any failure of a tool becomes an error that the model can read and that JSON can hold [T27 P203]", (run) =>
  Effect.gen(function* () {
    for (const failure of hostile) {
      const wrapped = ToolError.executionErrorOf({ tool: "t", kind: "local", callId: "c", args: {} }, failure)
      assert.isBelow(JSON.stringify(wrapped).length, 5000)
      assert.isTrue(wrapped.isRetryable ? wrapped.maxAttempts > 1 : wrapped.maxAttempts === 1)
      assert.isTrue(wrapped.recovery === "resend" ? wrapped.isRetryable : !wrapped.isRetryable)
      assert.isString(RecoveryAdvice.labelsOf(failure).code)
      const { tool } = scripted("fetch", Effect.fail(failure))
      const model = yield* callingOnce("fetch")
      const agent = agentWith(tool.pipe(Tool.onError({ ExecutionError: Recovery.tell() })))
      const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.isTrue(Exit.isSuccess(exit), Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "")
    }
  })
)

it("numbers that are none are left out, and no depth of arguments is too much [T10]", () => {
  const error = LlmError.ContextTooLongError.make({ model: "m", limit: Number.NaN, actual: Infinity })
  assert.notProperty(error, "limit")
  assert.notProperty(error, "actual")
  const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`) as Schema.Json
  const misfit = ToolError.DeserializationError.make({
    tool: "t",
    callId: "c",
    rawValue: deep,
    targetType: "t parameters",
    issues: []
  })
  assert.include(JSON.stringify(misfit), "KINTSUGI-DESERIALIZATION")
})

it("the wait of a problem is never shorter than the server's wait, and never endless [T39]", () => {
  const minute = LlmError.ModelOverloadedError.make({ model: "m", retryAfter: Duration.minutes(1) })
  assert.strictEqual(KintsugiError.toProblem(minute).retryAfter, 60)
  const endless = KintsugiError.toProblem(Factories.apiRateLimit("m", Duration.infinity))
  assert.notProperty(endless, "retryAfter")
  assert.isTrue(Schema.is(KintsugiError.Problem)(endless))
})

it("numbers that are too large for a wait are instants, or the longest wait [T12 P801]", () => {
  const now = Date.UTC(2026, 0, 1)
  assert.deepStrictEqual(RetryAfter.parse(String(now / 1000 + 30), now), Duration.seconds(30))
  assert.deepStrictEqual(RetryAfter.parse("9".repeat(307), now), Duration.seconds(1e9))
})

it("an error whose server forbids a resend is not retryable, of any kind [P802]", () => {
  const error = LlmError.ServerError.make({ model: "m", status: 503, shouldRetry: false })
  assert.deepInclude(error, { isRetryable: false, recovery: "fallback", maxAttempts: 1 })
  assert.isTrue(Duration.isZero(error.suggestedDelay))
  assert.isTrue(LlmError.ServerError.make({ model: "m" }).isRetryable)
})
