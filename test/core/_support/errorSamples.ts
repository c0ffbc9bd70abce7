/** One error of every class, and of every constructor of it, with optional fields given and left out. */
import * as Factories from "@kintsugi/core/Factories"
import { LlmError, Message, RunError, ToolError, Usage } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { Duration, type Schema } from "effect"

/** The class of each error, by its tag. */
export const classes: Readonly<Record<string, Schema.Codec<unknown, unknown>>> = {
  ...LlmError,
  ...ToolError,
  ...RunError,
  ...DoorError
} as never

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

const trail: ReadonlyArray<RunError.TrailEntry> = [
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
  ModelNotFoundError: [LlmError.ModelNotFoundError.make({ model: "m" })],
  AuthenticationError: [LlmError.AuthenticationError.make({ model: "m", detail: "no key" })],
  ContentFilteredError: [
    LlmError.ContentFilteredError.make({ model: "m", detail: "no" }),
    LlmError.ContentFilteredError.make({ model: "m", detail: "no", kind: "refusal" })
  ],
  InvalidRequestError: [LlmError.InvalidRequestError.make({ model: "m", detail: "no" })],
  ModelOverloadedError: [LlmError.ModelOverloadedError.make({ model: "m" }), overloaded],
  ContextTooLongError: [
    LlmError.ContextTooLongError.make({ model: "m", limit: 1, actual: 2 }),
    LlmError.ContextTooLongError.make({ model: "m" })
  ],
  ServerError: [LlmError.ServerError.make({ model: "m", cause: new Error("boom") })],
  MalformedToolCallError: [
    LlmError.MalformedToolCallError.make({ model: "m", tool: "fetch", detail: "no" }),
    LlmError.MalformedToolCallError.make({ model: "m", tool: "fetch", detail: "no", cause: new Error("boom") })
  ],
  CapabilityMismatchError: [
    LlmError.CapabilityMismatchError.make({ model: "m", provider: "p", capability: "streaming" }),
    LlmError.CapabilityMismatchError.make({ model: "m", provider: "p", capability: "vision" }),
    LlmError.CapabilityMismatchError.make({ model: "m", provider: "p", capability: "structuredOutput" }),
    LlmError.CapabilityMismatchError.make({ model: "m", provider: "p", capability: "tools" }),
    LlmError.CapabilityMismatchError.make({ model: "m", provider: "p", capability: "tools", requestId: "r1" })
  ],
  UnknownLlmError: [
    LlmError.UnknownLlmError.make({ model: "m", cause: new Error("what?") }),
    LlmError.UnknownLlmError.make({
      model: "m",
      detail: "no JSON",
      status: 200,
      what: `The reply of model '${"m"}' could not be read`
    })
  ],
  RateLimitError: [
    Factories.apiRateLimit("api", "10 seconds"),
    Factories.fromHttp429("api", "1.5", { now: 0 }),
    LlmError.RateLimitError.make({ service: "api", ...origin, model: "m", remainingQuota: 3 }),
    new LlmError.RateLimitError({ service: "api", message: "Too many", remainingQuota: 0 })
  ],
  QuotaExhaustedError: [LlmError.QuotaExhaustedError.make({ model: "m" })],
  NetworkError: [
    Factories.connectionRefused("host", 80),
    Factories.dnsResolutionFailed("host", new Error("ENOTFOUND")),
    Factories.connectionTimeout("host", 80, "1 second"),
    LlmError.NetworkError.make({ host: "host", what: "It broke off", model: "m" })
  ],
  RequestTimeoutError: [
    Factories.llmTimeout("30 seconds"),
    Factories.httpTimeout("http://host/path", "10 seconds"),
    LlmError.RequestTimeoutError.make({
      operation: "a search",
      timeout: Duration.fromInputUnsafe("1 minute"),
      model: "m"
    })
  ],
  EmptyReplyError: [
    LlmError.EmptyReplyError.make({ model: "m", finishReason: "stop" }),
    LlmError.EmptyReplyError.make({ model: "m", finishReason: "length" })
  ],
  ReplyTooLargeError: [
    LlmError.ReplyTooLargeError.make({
      model: "m",
      option: "maxReplyBytes",
      limit: 67_108_864,
      provider: "p",
      status: 200
    }),
    LlmError.ReplyTooLargeError.make({ model: "m", option: "maxHeaderSize" })
  ],
  InvalidArgs: [ToolError.InvalidArgs.make({ tool: "fetch", callId: "c1", rawArgs: "{", parseError: "no JSON" })],
  DeserializationError: [
    ToolError.DeserializationError.make({
      tool: "fetch",
      callId: "c1",
      rawValue: { n: "x" },
      targetType: "fetch parameters",
      issues: [{ path: ["n", 0], expected: "Expected number", actual: "string" }]
    }),
    ToolError.DeserializationError.make({
      what: "The answer does not fit",
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
    ToolError.ExecutionError.make({
      tool: "fetch",
      kind: "local",
      category: "mcp",
      message: "It failed",
      callId: "c1",
      status: 500
    }),
    Factories.fromNetworkError("fetch", "local", new Error("boom")),
    Factories.fromParameterError("fetch", "local", "n is required"),
    Factories.fromApiError("fetch", "web-service", 429, "Too many"),
    Factories.fromLlmError("fetch", "llm", overloaded),
    Factories.fromMcpError("fetch", new Error("boom")),
    Factories.fromInvocationError("fetch", "local", new Error("boom")),
    ToolError.resultErrorOf({ tool: "fetch", kind: "local", message: "it gave a number", cause: new Error("boom") }),
    ToolError.executionErrorOf(
      { tool: "fetch", callId: "c1", kind: "local", args: {} },
      Object.assign(new Error("boom"), { isRetryable: true, code: "E1" })
    ),
    ToolError.executionErrorOf({ tool: "fetch", callId: "c1", kind: "local", args: {} }, new Error("boom"))
  ],
  EscalationError: [
    ToolError.EscalationError.make({ source: "fixer", reason: "no keys", severity: "LOW" }),
    new ToolError.EscalationError({
      message: "m",
      source: "fixer",
      reason: "no keys",
      severity: "CRITICAL",
      originalError: ToolError.InvalidArgs.make({ tool: "fetch", callId: "c1", rawArgs: "{", parseError: "no JSON" }),
      attempts: 2
    })
  ],
  UnknownToolError: [
    ToolError.UnknownToolError.make({ tool: "fetch", callId: "c1", available: ["look"] }),
    new ToolError.UnknownToolError({ ...ofCall, available: ["look"] })
  ],
  ToolTimeoutError: [
    ToolError.ToolTimeoutError.make({ tool: "fetch", timeout: Duration.fromInputUnsafe("5 seconds") }),
    ToolError.ToolTimeoutError.make({
      tool: "fetch",
      timeout: Duration.seconds(5),
      sideEffects: "unsafe",
      tookEffect: false,
      what: "Tool 'fetch' did not begin within 5s, because its call had no approval"
    }),
    timedOut("unsafe")
  ],
  ApprovalExpiredError: [
    ToolError.ApprovalExpiredError.make({ tool: "fetch", callId: "c1" }),
    new ToolError.ApprovalExpiredError(ofCall)
  ],
  ToolDeniedError: [
    ToolError.ToolDeniedError.make({ tool: "fetch", callId: "c1", reason: "not at night" }),
    new ToolError.ToolDeniedError({ ...ofCall, reason: "not at night" })
  ],
  OutcomeUnknownError: [
    ToolError.OutcomeUnknownError.make({ tool: "fetch", callId: "c1", idempotencyKey: "key" }),
    new ToolError.OutcomeUnknownError({ ...ofCall, idempotencyKey: "key" })
  ],
  ToolExecutionError: [
    ToolError.ToolExecutionError.make({ tool: "fixer", message: "hopeless" }),
    ToolError.exhausted({ tool: "fetch", callId: "c1" }, { failures: [new Error("boom")], runs: 1, why: "why", trail }),
    new ToolError.ToolExecutionError({
      ...ofCall,
      attempts: [
        ToolError.InvalidArgs.make({ tool: "fetch", callId: "c1", rawArgs: "{", parseError: "no JSON" }),
        execution("server", overloaded)
      ],
      cause: execution("server", overloaded),
      transcript,
      usage
    })
  ],
  BudgetExceededError: [
    RunError.BudgetExceededError.make({
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
    RunError.InvalidOutputError.make({
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
    RunError.RoutingError.make({ agent: "worker", candidates: ["a"], answer: "b", transcript, usage }),
    new RunError.RoutingError({ message: "m", agent: "worker", candidates: ["a"], answer: "b", transcript, usage })
  ],
  GuardrailError: [
    RunError.GuardrailError.make({
      agent: "worker",
      guard: "pii",
      side: "output",
      reason: "a name",
      transcript,
      usage
    }),
    new RunError.GuardrailError({
      message: "m",
      agent: "worker",
      guard: "pii",
      side: "input",
      reason: "a name",
      transcript,
      usage
    })
  ],
  UnknownPriceError: [
    RunError.UnknownPriceError.make({ agent: "worker", model: "gpt-x", option: "maxCost", transcript, usage }),
    new RunError.UnknownPriceError({ message: "m", agent: "worker", model: "m", option: "maxCost", transcript, usage })
  ],
  LoopExhaustedError: [
    RunError.LoopExhaustedError.make({ iterations: 3, last: { draft: 1 } }),
    new RunError.LoopExhaustedError({ message: "m", iterations: 3, last: { draft: 1 } })
  ],
  InputTooLargeError: [
    DoorError.InputTooLargeError.make({ what: "The input schema of tool 'fetch'", bound: "depth", limit: 128 }),
    new DoorError.InputTooLargeError({ message: "m", what: "It", bound: "nodes", limit: 20_000 })
  ],
  RunLostError: [
    DoorError.RunLostError.make({ executionId: "run-1", what: "what came of its step 'a'" }),
    new DoorError.RunLostError({ message: "m", executionId: "run-1" })
  ],
  SnapshotRefusedError: [
    DoorError.SnapshotRefusedError.make({
      reason: "already-resumed",
      what: "The snapshot of run 'r' was resumed before"
    }),
    new DoorError.SnapshotRefusedError({ message: "m", reason: "bad-signature" })
  ],
  RunOverError: [
    DoorError.RunOverError.make({ runId: "run-1" }),
    new DoorError.RunOverError({ message: "m", runId: "" })
  ],
  InboxFullError: [
    DoorError.InboxFullError.make({ runId: "run-1", limit: 64 }),
    new DoorError.InboxFullError({ message: "m", runId: "run-1", limit: 1 })
  ],
  CursorExpiredError: [
    DoorError.CursorExpiredError.make({ oldest: "run-1.e.7" }),
    DoorError.CursorExpiredError.make({ oldest: "run-1.e.7", reason: "malformed" }),
    new DoorError.CursorExpiredError({ message: "m", oldest: "" })
  ]
} as const

export const all = Object.values(samples).flat()
