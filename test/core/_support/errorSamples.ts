/** One error of every class, and of every constructor of it, with optional fields given and left out. */
import { DoorError, LlmError, Message, RunError, ToolError, type Trail, Usage } from "@kintsugi/core"
import { Duration } from "effect"

const ofCall = { tool: "fetch", callId: "c1", message: "It failed" }

export const execution = (
  category: ToolError.ExecutionError["category"],
  cause: unknown = new Error("boom"),
  status?: number
): ToolError.ExecutionError =>
  new ToolError.ExecutionError({
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
  new ToolError.ToolTimeoutError({ ...ofCall, timeout: Duration.fromInputUnsafe(timeout), sideEffects })

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

const trail: Trail.Trail = [
  {
    tag: "Busy",
    message: "busy",
    verdict: "retry",
    gaveUp: false,
    rung: 0,
    attempt: 1,
    delay: Duration.seconds(1),
    hint: Duration.millis(1500),
    hintFrom: "RateLimitError",
    left: { turns: 1, toolCalls: 2 }
  },
  { tag: "Busy", message: "busy", verdict: "retry", gaveUp: true, rung: 0, attempt: 2, delay: Duration.zero }
]

const overloaded = new LlmError.ModelOverloadedError({ model: "m", message: "It is full", ...origin })

export const samples = {
  ModelNotFoundError: [LlmError.ModelNotFoundError.modelNotFound("m")],
  AuthenticationError: [LlmError.AuthenticationError.authenticationFailed("m", "no key")],
  ContentFilteredError: [
    LlmError.ContentFilteredError.contentFiltered("m", "no"),
    LlmError.ContentFilteredError.contentFiltered("m", "no", {}, "refusal")
  ],
  InvalidRequestError: [LlmError.InvalidRequestError.invalidRequest("m", "no")],
  ModelOverloadedError: [LlmError.ModelOverloadedError.modelOverloaded("m"), overloaded],
  ContextTooLongError: [
    LlmError.ContextTooLongError.contextTooLong("m", 1, 2),
    LlmError.ContextTooLongError.contextTooLong("m")
  ],
  ServerError: [LlmError.ServerError.serverError("m", new Error("boom"))],
  MalformedToolCallError: [
    LlmError.MalformedToolCallError.malformedToolCall("m", "fetch", "no"),
    LlmError.MalformedToolCallError.malformedToolCall("m", "fetch", "no", new Error("boom"))
  ],
  CapabilityMismatchError: [
    LlmError.CapabilityMismatchError.streamingNotSupported("m", "p"),
    LlmError.CapabilityMismatchError.visionNotSupported("m", "p"),
    LlmError.CapabilityMismatchError.structuredOutputNotSupported("m", "p"),
    LlmError.CapabilityMismatchError.toolCallNotSupported("m", "p"),
    LlmError.CapabilityMismatchError.notSupported("m", "p", "tools", { requestId: "r1" })
  ],
  UnknownLlmError: [
    LlmError.UnknownLlmError.unknown("m", new Error("what?")),
    LlmError.UnknownLlmError.unreadable("m", "no JSON", { status: 200 })
  ],
  RateLimitError: [
    LlmError.RateLimitError.apiRateLimit("api", "10 seconds"),
    LlmError.RateLimitError.fromHttp429("api", "1.5", { now: 0 }),
    LlmError.RateLimitError.limited("api", { ...origin, model: "m" }, 3),
    new LlmError.RateLimitError({ service: "api", message: "Too many", remainingQuota: 0 })
  ],
  QuotaExhaustedError: [LlmError.QuotaExhaustedError.llmQuotaExceeded("m")],
  NetworkError: [
    LlmError.NetworkError.connectionRefused("host", 80),
    LlmError.NetworkError.dnsResolutionFailed("host", new Error("ENOTFOUND")),
    LlmError.NetworkError.connectionTimeout("host", 80, "1 second"),
    LlmError.NetworkError.connectionFailed({ host: "host" }, "It broke off", { model: "m" })
  ],
  RequestTimeoutError: [
    LlmError.RequestTimeoutError.llmTimeout("30 seconds"),
    LlmError.RequestTimeoutError.httpTimeout("http://host/path", "10 seconds"),
    LlmError.RequestTimeoutError.timedOut("a search", "1 minute", { model: "m" })
  ],
  EmptyReplyError: [
    LlmError.EmptyReplyError.emptyReply("m", "stop"),
    LlmError.EmptyReplyError.emptyReply("m", "length")
  ],
  InvalidArgs: [ToolError.InvalidArgs.of("fetch", "c1", "{", "no JSON")],
  DeserializationError: [
    ToolError.DeserializationError.of("fetch", "c1", { n: "x" }, "fetch parameters", [
      { path: ["n", 0], expected: "Expected number", actual: "string" }
    ]),
    ToolError.DeserializationError.misfit("The answer does not fit", {
      tool: "fetch",
      callId: "c1",
      rawValue: [1],
      targetType: "fetch result",
      issues: []
    })
  ],
  ExecutionError: [
    execution("network"),
    execution("llm", overloaded),
    ToolError.ExecutionError.of("fetch", "local", "mcp", "It failed", undefined, { callId: "c1" }, 500),
    ToolError.ExecutionError.fromNetworkError("fetch", "local", new Error("boom")),
    ToolError.ExecutionError.fromParameterError("fetch", "local", "n is required"),
    ToolError.ExecutionError.fromApiError("fetch", "web-service", 429, "Too many"),
    ToolError.ExecutionError.fromLlmError("fetch", "llm", overloaded),
    ToolError.ExecutionError.fromMcpError("fetch", new Error("boom")),
    ToolError.ExecutionError.fromInvocationError("fetch", "local", new Error("boom")),
    ToolError.ExecutionError.ofResult("fetch", "local", "it gave a number", new Error("boom")),
    ToolError.ExecutionError.wrap(
      { tool: "fetch", callId: "c1", kind: "local", args: {} },
      Object.assign(new Error("boom"), { isRetryable: true, code: "E1" })
    ),
    ToolError.ExecutionError.wrap({ tool: "fetch", callId: "c1", kind: "local", args: {} }, new Error("boom"))
  ],
  EscalationError: [
    ToolError.EscalationError.of("fixer", "no keys", "LOW"),
    new ToolError.EscalationError({
      message: "m",
      source: "fixer",
      reason: "no keys",
      severity: "CRITICAL",
      originalError: ToolError.InvalidArgs.of("fetch", "c1", "{", "no JSON"),
      attempts: 2
    })
  ],
  UnknownToolError: [
    ToolError.UnknownToolError.of("fetch", "c1", ["look"]),
    new ToolError.UnknownToolError({ ...ofCall, known: ["look"] })
  ],
  ToolTimeoutError: [
    ToolError.ToolTimeoutError.actionTimeout("fetch", "5 seconds"),
    ToolError.ToolTimeoutError.notStarted("fetch", "5 seconds", { sideEffects: "unsafe", isAsked: true }),
    timedOut("unsafe")
  ],
  ToolDeniedError: [
    ToolError.ToolDeniedError.of("fetch", "c1", "not at night"),
    new ToolError.ToolDeniedError({ ...ofCall, reason: "not at night" })
  ],
  OutcomeUnknownError: [
    ToolError.OutcomeUnknownError.of("fetch", "c1", "key"),
    new ToolError.OutcomeUnknownError({ ...ofCall, idempotencyKey: "key" })
  ],
  ToolExecutionError: [
    ToolError.ToolExecutionError.raised("fixer", "hopeless"),
    ToolError.ToolExecutionError.exhausted(
      { tool: "fetch", callId: "c1" },
      { failures: [new Error("boom")], runs: 1, why: "why", trail }
    ),
    new ToolError.ToolExecutionError({
      ...ofCall,
      attempts: [ToolError.InvalidArgs.of("fetch", "c1", "{", "no JSON"), execution("server", overloaded)],
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
    RunError.InvalidOutputError.invalid({
      agent: "worker",
      text: "x",
      issues: [{ path: [], expected: "number", actual: "string" }],
      transcript,
      usage
    }),
    new RunError.InvalidOutputError({
      message: "m",
      agent: "worker",
      text: "x",
      issues: [{ path: [], expected: "number", actual: "string" }],
      transcript,
      usage
    })
  ],
  RoutingError: [
    RunError.RoutingError.of("worker", ["a"], "b", { transcript, usage }),
    new RunError.RoutingError({ message: "m", agent: "worker", candidates: ["a"], answer: "b", transcript, usage })
  ],
  LoopExhaustedError: [
    RunError.LoopExhaustedError.of(3, { draft: 1 }),
    new RunError.LoopExhaustedError({ message: "m", iterations: 3, last: { draft: 1 } })
  ],
  InputTooLargeError: [
    DoorError.InputTooLargeError.beyond("The input schema of tool 'fetch'", { bound: "depth", limit: 128 }),
    new DoorError.InputTooLargeError({ message: "m", what: "It", bound: "nodes", limit: 20_000 })
  ],
  RunLostError: [
    DoorError.RunLostError.of("run-1", "what came of its step 'a'"),
    new DoorError.RunLostError({ message: "m", executionId: "run-1" })
  ],
  SnapshotRefusedError: [
    DoorError.SnapshotRefusedError.of("already-resumed", "The snapshot of run 'r' was resumed before"),
    new DoorError.SnapshotRefusedError({ message: "m", reason: "bad-signature" })
  ]
} as const

export const all = Object.values(samples).flat()
