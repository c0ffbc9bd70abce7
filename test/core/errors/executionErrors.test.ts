import * as Factories from "@kintsugi/core/Factories"
import { assert, it as plain } from "@effect/vitest"
import { Agent, type LlmError, Recovery, Tool, ToolError } from "@kintsugi/core"
import type * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Data, Duration, Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, batch, busy, callingOnce, done, fixer, play, read, scripted } from "../../_support/dialogue.ts"
import { Kind } from "../../../packages/core/src/errors/Kinds.ts"

const { ExecutionError } = ToolError

const adviceOf = (error: RecoveryAdvice.RecoveryAdvice) => [
  error.isRetryable,
  error.recovery,
  Duration.toMillis(error.suggestedDelay),
  error.maxAttempts
]

const resent = [true, "resend", 1000, 4]
const final = (recovery: string) => [false, recovery, 0, 1]

const ofCategory: Record<ToolError.ExecutionError["category"], ReadonlyArray<unknown>> = {
  network: resent,
  parameter: final("repair"),
  client: final("none"),
  server: resent,
  validation: final("repair"),
  llm: final("none"),
  mcp: resent,
  invocation: final("none"),
  unknown: final("none")
}

plain("the category decides whether the same call may be tried again, how long to wait and what helps [T21]", () => {
  assert.sameMembers([...ToolError.ExecutionError.fields.category.literals], Object.keys(ofCategory))
  for (const category of ToolError.ExecutionError.fields.category.literals) {
    const error = ExecutionError.make({
      tool: "fetch",
      kind: "local",
      category,
      message: "no",
      cause: new Error("boom")
    })
    assert.deepStrictEqual([category, ...adviceOf(error)], [category, ...(ofCategory[category] ?? [])])
    assert.strictEqual(error.code, "KINTSUGI-EXECUTION")
  }
})

plain("an error that a program has built does not take over the advice of a foreign cause [T21]", () => {
  const cause = Object.assign(new Error("boom"), { isRetryable: false, code: "E1" })
  assert.deepStrictEqual(adviceOf(Factories.fromNetworkError("fetch", "local", cause)), resent)
  assert.strictEqual(Factories.fromNetworkError("fetch", "local", cause).code, "KINTSUGI-EXECUTION")
})

plain("a failure of a model advises for itself [T22 T24]", () => {
  const denied = Factories.authenticationFailed("m", "no key")
  const limited = Factories.apiRateLimit("api", "7 seconds")
  const of = (cause: LlmError.LlmError) => Factories.fromLlmError("summarize", "llm", cause)
  assert.deepStrictEqual(adviceOf(of(denied)), final("escalate"))
  assert.deepStrictEqual(adviceOf(of(limited)), [true, "resend", 7000, 6])
  assert.deepInclude(of(limited), { tool: "summarize", kind: "llm", category: "llm", cause: limited })
})

plain(
  "a status of an API decides about the category; 408, 425 and 429 are client errors that waiting cures [T23]",
  () => {
    const waitable = new Set([408, 425, 429])
    for (let status = 100; status <= 599; status++) {
      const error = Factories.fromApiError("createIssue", "web-service", status, "no", new Error("boom"))
      const category = status < 400 ? "unknown" : status < 500 ? "client" : "server"
      assert.deepInclude(error, { category, status, tool: "createIssue", kind: "web-service" })
      assert.strictEqual(error.isRetryable, category === "server" || waitable.has(status), String(status))
      if (error.isRetryable) assert.deepStrictEqual(adviceOf(error), resent)
    }
    const busy = Factories.fromApiError("createIssue", "web-service", 503, "Service Unavailable")
    assert.strictEqual(busy.message, "Service Unavailable (status 503)")
    assert.notProperty(busy, "cause")
  }
)

plain("each constructor sets category and kind, keeps the cause, and says what the cause says [T24]", () => {
  const cause = new Error("boom")
  for (const [error, category, kind] of [
    [Factories.fromNetworkError("t", "web-service", cause), "network", "web-service"],
    [Factories.fromMcpError("t", cause), "mcp", "mcp-tool"],
    [Factories.fromInvocationError("t", "local", cause), "invocation", "local"]
  ] as const) {
    assert.deepInclude(error, { tool: "t", category, kind, message: "boom", callId: "", args: null })
    assert.strictEqual(error.cause, cause)
  }
  const error = Factories.fromParameterError("search", "local", "query is required", cause)
  assert.deepInclude(error, { tool: "search", category: "parameter", kind: "local", message: "query is required" })
  assert.strictEqual(error.cause, cause)
  assert.notProperty(Factories.fromParameterError("search", "local", "query is required"), "cause")
  const called = Factories.fromMcpError("t", cause, { callId: "c1", args: { n: 1 } })
  assert.deepInclude(called, { callId: "c1", args: { n: 1 } })
})

it.run("the kind is declared on the tool, `local` by default, and reaches the row [T25]", (run) =>
  Effect.gen(function* () {
    assert.deepStrictEqual([...Kind.literals], ["local", "web-service", "llm", "mcp-tool"])
    for (const [options, kind] of [
      [{}, "local"],
      [{ kind: "mcp-tool" }, "mcp-tool"]
    ] as const) {
      const seen: Array<ToolError.ExecutionError> = []
      const { tool } = play("fetch", options, [Effect.fail(busy())])
      const guarded = tool.pipe(
        Tool.onError({
          ExecutionError: Recovery.tell((error) => {
            seen.push(error)
            return "no"
          })
        })
      )
      const model = yield* callingOnce("fetch")
      yield* run(agentWith(guarded), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(
        seen.map((error) => error.kind),
        [kind]
      )
    }
  })
)

plain(
  "detailedMessage is one line: kind, tool, message, category, retryable, and the cause if there is one [T26]",
  () => {
    class SocketTimeout extends Data.TaggedError("SocketTimeout")<{ readonly message: string }> {}
    const { fromApiError, fromInvocationError, fromNetworkError, fromParameterError } = Factories
    assert.strictEqual(
      fromNetworkError("fetchWeather", "web-service", new SocketTimeout({ message: "Connect timed out" }))
        .detailedMessage,
      "[WEB_SERVICE] Tool 'fetchWeather' failed: Connect timed out | Category: Network error | Retryable: true | Cause: SocketTimeout (Connect timed out)"
    )
    assert.strictEqual(
      fromParameterError("search", "local", "query is required").detailedMessage,
      "[LOCAL] Tool 'search' failed: query is required | Category: Parameter error | Retryable: false"
    )
    const paged = fromApiError("t", "mcp-tool", 500, "first line\n  second\tline", new Error(""))
    assert.strictEqual(
      paged.detailedMessage,
      "[MCP_TOOL] Tool 't' failed: first line second line (status 500) | Category: Server error | Retryable: true | Cause: Error"
    )
    const secret = fromInvocationError("t", "llm", new Error("api_key=abcdefgh12345 was refused"))
    assert.notInclude(secret.detailedMessage, "abcdefgh12345")
    assert.notInclude(secret.detailedMessage, "    at ")
  }
)

it.run("a failure of `run` lends advice, code and category of its own to the error around it [T27]", (run) =>
  Effect.gen(function* () {
    class Own extends Data.TaggedError("Own")<{
      readonly message: string
      readonly isRetryable?: boolean
      readonly code?: string
      readonly category?: string
    }> {}
    const contract = Schema.decodeUnknownEffect(Schema.Finite)("x")
    const byDefault = { category: "unknown", code: "KINTSUGI-EXECUTION", isRetryable: false }
    for (const [failing, expected] of [
      [Effect.fail(busy()), byDefault],
      [Effect.fail(new Own({ message: "m", code: "E42" })), { ...byDefault, code: "E42" }],
      [
        Effect.fail(new Own({ message: "m", category: "server" })),
        { ...byDefault, category: "server", isRetryable: true }
      ],
      [Effect.fail(new Own({ message: "m", category: "nonsense", code: "" })), byDefault],
      [Effect.fail(new Own({ message: "m", isRetryable: true })), { ...byDefault, isRetryable: true }],
      [
        Effect.fail(new Own({ message: "m", category: "network", isRetryable: false, code: "E1" })),
        { category: "network", code: "E1", isRetryable: false }
      ],
      [
        Effect.fail(Factories.modelOverloaded("m")),
        { category: "llm", code: "KINTSUGI-MODEL-OVERLOADED", isRetryable: true }
      ],
      [contract, { ...byDefault, category: "validation" }]
    ] as const) {
      const seen: Array<ToolError.ExecutionError> = []
      const { tool } = scripted("fetch", failing as Effect.Effect<string, unknown>)
      const table = {
        ExecutionError: Recovery.tell((error: ToolError.ExecutionError) => {
          seen.push(error)
          return "no"
        })
      }
      const model = yield* callingOnce("fetch")
      const agent = agentWith(tool).pipe(Agent.toolDefaults(table))
      yield* run(agent, "go").pipe(Effect.provide(model.layer), Effect.orDie)
      const [error] = seen
      assert(error !== undefined)
      const { category, code, isRetryable } = error
      assert.deepStrictEqual({ category, code, isRetryable }, expected)
      const codec = Schema.toCodecJson(ExecutionError)
      const back = Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeSync(codec)(error))))
      assert.deepStrictEqual([back.code, ...adviceOf(back)], [error.code, ...adviceOf(error)])
    }
  })
)

it.run("an ExecutionError that a tool makes itself reaches its row as it is, and learns its call [T24 A108]", (run) =>
  Effect.gen(function* () {
    const made = Factories.fromApiError("createIssue", "web-service", 503, "Service Unavailable")
    const seen: Array<ToolError.ExecutionError> = []
    const { tool } = scripted("fetch", Effect.fail(made), Effect.fail(made))
    const telling = tool.pipe(
      Tool.onError({
        ExecutionError: Recovery.tell((error) => {
          seen.push(error)
          return "no"
        })
      })
    )
    const model = yield* callingOnce("fetch")
    yield* run(agentWith(telling), "go").pipe(Effect.provide(model.layer))
    const [error] = seen
    assert(error instanceof ExecutionError)
    assert.deepInclude(error, { callId: "c1", args: {}, tool: "createIssue", status: 503, category: "server" })
    assert.strictEqual(error.message, made.message)
    const rethrown = yield* ScriptedModel.make(batch("fetch"))
    const through = agentWith(tool.pipe(Tool.onError({ ExecutionError: Recovery.rethrow })))
    assert.strictEqual(yield* Effect.flip(run(through, "go").pipe(Effect.provide(rethrown.layer))), made)
  })
)

it.run(
  "the switch by category is one row: network and server retry, parameter and validation fix, else it leaves [T34]",
  (run) =>
    Effect.gen(function* () {
      const { fromApiError, fromInvocationError, fromLlmError, fromNetworkError, fromParameterError } = Factories
      const overloaded = Factories.modelOverloaded("m")
      const denied = Factories.authenticationFailed("m", "no key")
      for (const [error, outcome] of [
        [fromNetworkError("fetch", "local", new Error("lost")), "retried"],
        [fromApiError("fetch", "local", 500, "boom"), "retried"],
        [fromParameterError("fetch", "local", "n is required"), "fixed"],
        [fromLlmError("fetch", "llm", overloaded), "retried"],
        [fromLlmError("fetch", "llm", denied), "left"],
        [fromInvocationError("fetch", "local", new Error("no such method")), "left"]
      ] as const) {
        const { agent: repair, inputs } = fixer(Effect.succeed('{"n":1}'))
        const { runs, tool } = scripted("fetch", Effect.fail(error), Effect.succeed("fine"))
        const byCategory = tool.pipe(
          Tool.onError({
            ExecutionError: Recovery.when((error) => {
              switch (error.category) {
                case "network":
                case "server":
                  return Recovery.retry({ retries: 1 })
                case "parameter":
                case "validation":
                  return Recovery.fix(repair)
                case "llm":
                  return error.isRetryable ? Recovery.retry({ retries: 1 }) : Recovery.rethrow
                default:
                  return Recovery.rethrow
              }
            })
          })
        )
        const ending = outcome === "left" ? [] : [done]
        const model = yield* ScriptedModel.make(batch("fetch"), ...ending)
        const running = run(agentWith(byCategory), "go").pipe(Effect.provide(model.layer))
        if (outcome === "left") assert.strictEqual(yield* Effect.flip(running), error)
        else {
          yield* running
          assert.deepStrictEqual(read(model), ["result: fine"])
        }
        assert.strictEqual(runs.length, outcome === "left" ? 1 : 2)
        assert.strictEqual(inputs.length, outcome === "fixed" ? 1 : 0)
      }
    })
)

it.run("a schema error has its origin: the arguments, or a contract within the tool [T31]", (run) =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    const note = (error: { readonly _tag: string; readonly category?: string }) => {
      seen.push(error.category === undefined ? error._tag : `${error._tag} ${error.category}`)
      return "no"
    }
    const { tool } = scripted(
      "fetch",
      Schema.decodeUnknownEffect(Schema.Struct({ a: Schema.String }))({}).pipe(Effect.as("never"))
    )
    const guarded = tool.pipe(
      Tool.onError({ DeserializationError: Recovery.tell(note), ExecutionError: Recovery.tell(note) })
    )
    const { call, calls } = ScriptedModel
    const model = yield* ScriptedModel.make(calls(call("fetch", { n: "x" }, "c1"), call("fetch", {}, "c2")), done)
    yield* run(agentWith(guarded), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(seen.toSorted(), ["DeserializationError", "ExecutionError validation"])
  })
)
