/** What the structure of a failure tells that is not the library's. */
import { assert, describe, it } from "@effect/vitest"
import { Backoff, LlmError, Recovery, Tool, ToolError } from "@kintsugi/core"
import * as ForeignFailure from "@kintsugi/core/ForeignFailure"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import * as Render from "@kintsugi/core/Render"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Clock, Data, Duration, Effect, PlatformError, Schema } from "effect"
import { HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { hintOf } from "../../../packages/core/src/recovery/Backoff.ts"
import { agentWith, done, overADay, read } from "../../_support/dialogue.ts"
import { it as running } from "../../_support/run.ts"

const coded = (code: string, message = "it failed") => Object.assign(new Error(message), { code })
const beneath = (cause: unknown) => new Error("outside", { cause })
const fetchFailed = (cause?: unknown) => new TypeError("fetch failed", { cause })

const request = HttpClientRequest.get("http://shop.example/search")
const answered = (status: number, headers: Record<string, string> = {}) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.StatusCodeError({
      request,
      response: HttpClientResponse.fromWeb(request, new Response("no", { status, headers }))
    })
  })
const transported = (cause: unknown) =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })

const category = (cause: unknown) =>
  ToolError.executionErrorOf({ tool: "look", callId: "c1", kind: "web-service", args: null }, cause)

const context: Recovery.FailureContext = {
  attempt: 1,
  previous: [],
  elapsed: Duration.zero,
  failingBatches: 0,
  failuresInARow: 0,
  tool: "look",
  callId: "c1",
  sideEffects: "none",
  kind: "web-service"
}

/** A failure, its category, whether it is worth another try, and its first wait. */
const table: ReadonlyArray<readonly [string, unknown, ToolError.ExecutionError["category"], boolean, Duration.Input?]> =
  [
    ["fetch, refused", fetchFailed(coded("ECONNREFUSED")), "network", true],
    ["fetch, an aggregate of refusals", fetchFailed(new AggregateError([coded("ECONNREFUSED")])), "network", true],
    ["fetch, unresolved", fetchFailed(coded("ENOTFOUND")), "network", true],
    ["fetch without a cause", fetchFailed(), "network", true],
    ["fetch of Deno", new TypeError("error sending request for url: Connection refused"), "network", true],
    ["a code that is thrown", { code: "ECONNREFUSED" }, "network", true],
    ["a code two causes below", beneath(beneath(coded("ECONNRESET"))), "network", true],
    ["a certificate", fetchFailed(coded("CERT_HAS_EXPIRED")), "network", false],
    ["a head that is too large", fetchFailed(coded("UND_ERR_HEADERS_OVERFLOW")), "network", false],
    [
      "AbortSignal.timeout",
      new DOMException("The operation was aborted due to timeout", "TimeoutError"),
      "network",
      true
    ],
    ["an aborted request", new DOMException("This operation was aborted", "AbortError"), "network", true],
    ["Effect.timeout", new Cause.TimeoutError(), "network", true],
    ["effect/http, refused", transported(fetchFailed(coded("ECONNREFUSED"))), "network", true],
    ["effect/http, broken", transported(new Error("?")), "network", true],
    ["effect/http, 503", answered(503), "server", true],
    ["effect/http, 503 with a wait", answered(503, { "retry-after": "7" }), "server", true, "7 seconds"],
    ["effect/http, 429 with a wait", answered(429, { "retry-after": "9" }), "client", true, "9 seconds"],
    [
      "effect/http, 503 with a wait, and advice of its own",
      Object.assign(answered(503, { "retry-after": "7" }), { isRetryable: true, suggestedDelay: Duration.seconds(2) }),
      "server",
      true,
      "2 seconds"
    ],
    ["effect/http, 404", answered(404), "client", false],
    ["a status of axios", Object.assign(new Error("no"), { response: { status: 500 } }), "server", true],
    ["a status of an SDK", Object.assign(new Error("no"), { status: 429 }), "client", true],
    ["a status of AWS", Object.assign(new Error("no"), { $metadata: { httpStatusCode: 502 } }), "server", true],
    ["a file that is not there", coded("ENOENT"), "parameter", false],
    [
      "a file that is not there, of effect",
      PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method: "open", cause: coded("ENOENT") }),
      "parameter",
      false
    ],
    ["a file without the right to read it", coded("EACCES"), "client", false],
    ["too many open files", coded("EMFILE"), "server", true],
    ["a bug", new TypeError("x is not a function"), "unknown", false],
    ["words that sound like a connection", new Error("the socket of the lamp is terminated"), "unknown", false],
    ["a status that is a word", Object.assign(new Error("no"), { status: "500" }), "unknown", false],
    ["a status of success", Object.assign(new Error("no"), { status: 200 }), "unknown", false],
    ["text", "ECONNREFUSED", "unknown", false],
    ["nothing", undefined, "unknown", false]
  ]

describe("failures that are not the library's", () => {
  for (const [name, failure, wanted, isRetryable, wait = "1 second"] of table)
    it(`${name}: the category is ${wanted}, and a repetition ${isRetryable ? "helps" : "does not help"} [P1333]`, () => {
      const error = category(failure)
      assert.deepInclude(error, { category: wanted, isRetryable })
      assert.strictEqual(RecoveryAdvice.outlookOf(failure)?.isRetryable ?? false, isRetryable)
      // the text and the schedule read it the same way, wrapped or not
      for (const value of [failure, error]) {
        const text = Render.labelled(value, context)
        assert.strictEqual(text.startsWith("transient: "), isRetryable, text)
      }
      if (isRetryable) assert.deepStrictEqual(error.suggestedDelay, Duration.fromInputUnsafe(wait))
    })

  it("the wait of a server counts where a failure has no advice of its own [P1333]", () => {
    const busy = () => answered(503, { "retry-after": "7" })
    assert.deepStrictEqual(RecoveryAdvice.hintBeneath(busy()), Duration.seconds(7))
    for (const isRetryable of [true, false])
      assert.isUndefined(RecoveryAdvice.hintBeneath(Object.assign(busy(), { isRetryable })))
    // the error of a tool has the wait of its cause
    for (const carrier of [busy(), category(busy())]) assert.strictEqual(hintOf(carrier), 7000)
    for (const other of [coded("ECONNREFUSED"), answered(503), undefined])
      assert.isUndefined(RecoveryAdvice.hintBeneath(other))
  })

  it("the own fields of a failure win over those of its causes; errors of the library are recognised [P1333]", () => {
    class Own extends Data.TaggedError("Own")<{ readonly cause: unknown; readonly isRetryable?: boolean }> {}
    const refused = coded("ECONNREFUSED")
    assert.deepInclude(category(new Own({ cause: refused })), { category: "network", isRetryable: true })
    assert.deepInclude(category(new Own({ cause: refused, isRetryable: false })), { isRetryable: false })
    assert.strictEqual(
      category(Object.assign(new Error("no"), { category: "validation", status: 503 })).category,
      "validation"
    )
    const lost = LlmError.NetworkError.make({ host: "h", what: "lost", cause: refused })
    assert.strictEqual(category(lost).category, "llm")
    const hard = ToolError.EscalationError.make({ source: "fixer", reason: "no" }).about({
      error: refused,
      attempts: 1
    })
    assert.strictEqual(category(hard).category, "unknown")
  })

  it("a refusal of the system advises by its reason [P1333]", () => {
    const advice = (code: string) => RecoveryAdvice.outlookOf(coded(code))
    assert.isUndefined(advice("EACCES"))
    assert.deepInclude(advice("ENOENT"), { isRetryable: false, recovery: "repair" })
    assert.deepInclude(advice("EBUSY"), { isRetryable: true, recovery: "resend", maxAttempts: 4 })
  })

  it("the error has the status; reading a failure neither throws nor loops for ever [P1333]", () => {
    assert.strictEqual(category(answered(503)).status, 503)
    assert.isUndefined(category(coded("ECONNREFUSED")).status)
    const hostile = {
      get cause() {
        throw new Error("no")
      },
      get status() {
        throw new Error("no")
      }
    }
    assert.isUndefined(ForeignFailure.of(hostile))
    const circle: { cause?: unknown; errors?: ReadonlyArray<unknown> } = {}
    circle.cause = circle
    circle.errors = Array.from({ length: 1000 }, () => circle)
    assert.isUndefined(ForeignFailure.of(circle))
    assert.lengthOf(ForeignFailure.chainOf({ errors: Array.from({ length: 10_000 }, () => ({})) }), 100)
  })
})

running.run(
  "a tool that is refused a connection is retried as the failure suggests, then told as transient [P1333]",
  (run) =>
    Effect.gen(function* () {
      const at: Array<number> = []
      const look = Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        sideEffects: "none",
        run: () =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            at.push(now)
            return Effect.fail(
              at.length % 2 === 1 ? fetchFailed(coded("ECONNREFUSED")) : answered(503, { "retry-after": "7" })
            )
          })
      })
      const byCategory = (error: ToolError.ExecutionError) =>
        error.category === "network" || error.category === "server"
          ? Recovery.ladder(Recovery.retry(Backoff.suggested()), Recovery.tell())
          : Recovery.rethrow
      const agent = agentWith(look.pipe(Tool.onError({ ExecutionError: byCategory })))
      const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("look", {})), done)
      yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(at, [0, 1000, 8000, 9000])
      assert.match(
        read(model)[0] ?? "",
        /^told: transient: tool 'look' failed 4 times, at last: .*503.*; safe to retry$/
      )
    })
)
