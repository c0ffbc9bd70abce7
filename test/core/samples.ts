/** One error of every class, and of every constructor of it, with optional fields given and left out. */
import { LlmError, Message, RunError, ToolError, Usage } from "@kintsugi/core"
import { Duration } from "effect"

const L = LlmError
const T = ToolError

const ofCall = { tool: "fetch", callId: "c1", message: "It failed" }

export const execution = (
  category: ToolError.ExecutionError["category"],
  cause: unknown = new Error("boom"),
  status?: number
): ToolError.ExecutionError =>
  new T.ExecutionError({
    ...ofCall,
    args: { n: [1, null] },
    kind: "web-service",
    category,
    cause,
    ...(status === undefined ? {} : { status })
  })

export const timedOut = (
  sideEffects: ToolError.ToolTimeoutError["sideEffects"],
  timeout: Duration.Input = "5 seconds"
): ToolError.ToolTimeoutError =>
  new T.ToolTimeoutError({ ...ofCall, timeout: Duration.fromInputUnsafe(timeout), sideEffects })

const call: Message.ToolCall = { type: "tool-call", id: "c1", name: "fetch", arguments: '{"n":1}' }

const transcript: Message.Transcript = [
  Message.system("Work."),
  Message.user("go"),
  Message.settle(
    {
      content: [
        { type: "reasoning", text: "hm", opaque: { provider: "p", data: { signature: "s" } } },
        Message.text("well"),
        call,
        { ...call, id: "c2", arguments: { n: 1 } }
      ],
      finish: "tool-calls",
      usage: Usage.empty
    },
    [{ kind: "told", text: "no" }]
  )
]

const usage = Usage.make({ inputTokens: 3, outputTokens: 4, reasoningTokens: 1 })

const origin = {
  provider: "p",
  requestId: "r1",
  status: 529,
  retryAfter: Duration.millis(1500),
  detail: "the provider's own words",
  cause: new Error("socket hang up")
}

const overloaded = new L.ModelOverloadedError({ model: "m", message: "It is full", ...origin })

export const samples = {
  ModelNotFoundError: [L.ModelNotFoundError.modelNotFound("m")],
  AuthenticationError: [L.AuthenticationError.authenticationFailed("m", "no key")],
  ContentFilteredError: [L.ContentFilteredError.contentFiltered("m", "no")],
  InvalidRequestError: [L.InvalidRequestError.invalidRequest("m", "no")],
  ModelOverloadedError: [L.ModelOverloadedError.modelOverloaded("m"), overloaded],
  ContextTooLongError: [L.ContextTooLongError.contextTooLong("m", 1, 2), L.ContextTooLongError.contextTooLong("m")],
  ServerError: [L.ServerError.serverError("m", new Error("boom"))],
  MalformedToolCallError: [
    L.MalformedToolCallError.malformedToolCall("m", "fetch", "no"),
    L.MalformedToolCallError.malformedToolCall("m", "fetch", "no", new Error("boom"))
  ],
  CapabilityMismatchError: [
    L.CapabilityMismatchError.streamingNotSupported("m", "p"),
    L.CapabilityMismatchError.visionNotSupported("m", "p"),
    L.CapabilityMismatchError.structuredOutputNotSupported("m", "p"),
    L.CapabilityMismatchError.toolCallNotSupported("m", "p")
  ],
  UnknownLlmError: [L.UnknownLlmError.unknown("m", new Error("what?"))],
  RateLimitError: [
    L.RateLimitError.apiRateLimit("api", "10 seconds"),
    new L.RateLimitError({ service: "api", message: "Too many", remainingQuota: 0 })
  ],
  QuotaExhaustedError: [L.QuotaExhaustedError.llmQuotaExceeded("m")],
  NetworkError: [
    L.NetworkError.connectionRefused("host", 80),
    L.NetworkError.dnsResolutionFailed("host", new Error("ENOTFOUND")),
    L.NetworkError.connectionTimeout("host", 80, "1 second")
  ],
  RequestTimeoutError: [
    L.RequestTimeoutError.llmTimeout("30 seconds"),
    L.RequestTimeoutError.httpTimeout("http://host/path", "10 seconds")
  ],
  InvalidArgs: [T.InvalidArgs.of("fetch", "c1", "{", "no JSON")],
  DeserializationError: [
    T.DeserializationError.of("fetch", "c1", { n: "x" }, "fetch parameters", [
      { path: ["n", 0], expected: "Expected number", actual: "string" }
    ])
  ],
  ExecutionError: [
    execution("network"),
    execution("llm", overloaded),
    T.ExecutionError.wrap({ tool: "fetch", callId: "c1", kind: "local", args: {} }, new Error("boom"))
  ],
  EscalationError: [
    T.EscalationError.of("fixer", "no keys", "LOW"),
    new T.EscalationError({
      message: "m",
      source: "fixer",
      reason: "no keys",
      severity: "CRITICAL",
      originalError: T.InvalidArgs.of("fetch", "c1", "{", "no JSON"),
      attempts: 2
    })
  ],
  UnknownToolError: [new T.UnknownToolError({ ...ofCall, known: ["look"] })],
  ToolTimeoutError: [T.ToolTimeoutError.actionTimeout("fetch", "5 seconds"), timedOut("unsafe")],
  ToolDeniedError: [new T.ToolDeniedError({ ...ofCall, reason: "not at night" })],
  OutcomeUnknownError: [new T.OutcomeUnknownError({ ...ofCall, idempotencyKey: "key" })],
  ToolExecutionError: [
    T.ToolExecutionError.raised("fixer", "hopeless"),
    new T.ToolExecutionError({
      ...ofCall,
      attempts: [T.InvalidArgs.of("fetch", "c1", "{", "no JSON"), execution("server", overloaded)],
      cause: execution("server", overloaded),
      transcript,
      usage
    })
  ],
  BudgetExceededError: [
    RunError.BudgetExceededError.exceeded({
      agent: "worker",
      reason: "maxTurns",
      limit: 3,
      spent: 3,
      transcript,
      usage,
      partial: "so far"
    })
  ],
  InvalidOutputError: [
    new RunError.InvalidOutputError({
      message: "m",
      agent: "worker",
      text: "x",
      issues: [{ path: [], expected: "number", actual: "string" }]
    })
  ],
  RoutingError: [new RunError.RoutingError({ message: "m", agent: "worker", candidates: ["a"], answer: "b" })],
  LoopExhaustedError: [new RunError.LoopExhaustedError({ message: "m", iterations: 3, last: { draft: 1 } })]
} as const

export const all = Object.values(samples).flat()
