import { beforeAll, describe, expect, it } from "vitest"
import { check, type Example, extract, installedTypes } from "../../scripts/doctest.ts"
import { type File, read } from "../../scripts/files.ts"

/** A row of a table whose second cell is an expression and whose third one is its value. */
interface Row {
  readonly name: string
  readonly line: number
  readonly expression: string
  readonly value: string
}

const opening = "<!-- rows -->"
const closing = "<!-- /rows -->"

/** The rows of the marked table, and the example above it, whose names they use. */
const tableOf = (page: File): { readonly preamble: Example; readonly rows: ReadonlyArray<Row> } => {
  const lines = page.text.split("\n")
  const from = lines.indexOf(opening)
  const to = lines.indexOf(closing)
  const preamble = extract(page).findLast(({ line }) => line < from)
  if (preamble === undefined || to < from)
    throw new Error(`${page.path} has no table with rows, or no example above it`)
  const rows = lines.slice(from, to).flatMap((text, index): ReadonlyArray<Row> => {
    const found = /^\| (.+?) \| `(.+?)` \| `(.+?)` \|/.exec(text)
    if (found === null) return []
    const [, name = "", expression = "", value = ""] = found
    return [{ name, expression, value, line: from + index + 1 }]
  })
  return { preamble, rows }
}

/** Each row as an example of its own. */
const exampleOf = ({ preamble }: ReturnType<typeof tableOf>, { expression, line, value }: Row): Example => ({
  ...preamble,
  line: line - preamble.code.split("\n").length,
  code: `${preamble.code}\n;${expression} // => ${value}`
})

describe("docs/guide/coming-from-tnsai.md", () => {
  const page = read("docs/guide/coming-from-tnsai.md")
  const table = tableOf(page)
  const spoilt = { ...table.rows[0]!, value: '"something else"' }
  let problems: ReturnType<typeof check> = []

  beforeAll(() => {
    problems = check(
      [...table.rows, spoilt].map((row) => exampleOf(table, row)),
      installedTypes()
    )
  }, 180_000)

  it("the test reads every row", () => {
    const lines = page.text.slice(page.text.indexOf(opening), page.text.indexOf(closing)).split("\n")
    expect(table.rows).toHaveLength(lines.filter((line) => line.startsWith("| ")).length - 2)
  })

  it("a wrong row is found, at its line", () => {
    expect(problems.at(-1)?.map(({ line, message }) => [line, message.split("\n")[0]])).toEqual([
      [spoilt.line, "gave true, not 'something else'"]
    ])
  })

  it.each(table.rows.map(({ name }, index) => [name, index] as const))("%s", (_, index) => {
    expect(problems[index]).toEqual([])
  })
})

/** Everything that the documents of the others name, by the page that answers to it. */
const named: Record<string, string> = {
  "ai-sdk": `
    ToolLoopAgent instructions generate stream tool inputSchema execute stopWhen repairToolCall Output.object prepareStep
    toolApproval needsApproval maxRetries timeout totalMs toolMs wrapLanguageModel wrapGenerate wrapStream telemetry
    MockLanguageModelV4 useChat`,
  "openai-agents": `
    instructions model run finalOutput stream tool parameters execute outputType asTool handoffs maxTurns errorFunction
    toolErrorFormatter timeoutMs timeoutBehavior errorHandlers modelSettings.retry needsApproval interruptions RunState
    inputGuardrails outputGuardrails tracing toolNotFoundBehavior`,
  langchain: `
    createAgent systemPrompt invoke messages stream tool schema responseFormat ChatOpenAI toolRetryMiddleware toolErrorMiddleware
    modelRetryMiddleware modelFallbackMiddleware modelCallLimitMiddleware toolCallLimitMiddleware recursionLimit
    summarizationMiddleware humanInTheLoopMiddleware wrapToolCall wrapModelCall LangGraph fakeModel`,
  mastra: `
    instructions model generate stream createTool inputSchema execute maxSteps structuredOutput inputProcessors outputProcessors
    errorProcessors requireApproval approveToolCall memory agents createWorkflow durable scorers`,
  "agents-kt": `
    agent prompt model ollama openai temperature budget maxTurns skills skill tools implementedBy
    tool description executor onError onToolError defaults invalidArgs executionError retry maxAttempts fix retries
    escalate throwException toolMap EscalationException ToolExecutionException IllegalArgumentException
    ToolError InvalidArgs rawArgs parseError DeserializationError rawValue targetType KType ExecutionError args cause
    EscalationError source reason severity Severity LOW MEDIUM HIGH CRITICAL onToolUse
    onLLMError ConnectException LlmErrorDecision Rethrow RespondWith Retry initialBackoffMillis ClassCastException
    onBudgetExceeded HttpModelClientSupport sendBounded IOException HttpTimeoutException sendChatStream
    408 429 500 502 503 504 OpenAI Anthropic DeepSeek Kimi OpenRouter Perplexity Gemini Ollama
    firstOf speculative loopUntil`,
  tnsai: `
    TnsAIException isRetryable getErrorCode getSuggestedRetryDelayMs getMaxRetryAttempts TNSAI-LLM
    LLMException getModel getErrorType ErrorType MODEL_NOT_FOUND AUTHENTICATION_FAILED CONTENT_FILTERED INVALID_REQUEST
    MODEL_OVERLOADED CONTEXT_TOO_LONG SERVER_ERROR MALFORMED_TOOL_CALL CAPABILITY_MISMATCH UNKNOWN
    modelNotFound authenticationFailed contentFiltered contextTooLong modelOverloaded serverError malformedToolCall
    RateLimitException getRetryAfterMs getService getRemainingQuota fromHttp429 llmQuotaExceeded apiRateLimit
    ActionExecutionException getActionName getActionType getCategory getDetailedMessage
    ActionType LOCAL WEB_SERVICE LLM MCP_TOOL
    ErrorCategory NETWORK PARAMETER CLIENT_ERROR VALIDATION MCP INVOCATION
    fromNetworkError fromParameterError fromApiError fromLLMError fromMCPError fromInvocationError
    NetworkException host port connectionRefused dnsResolutionFailed connectionTimeout
    TimeoutException timeoutMs operation llmTimeout httpTimeout actionTimeout
    ValidationException ApprovalRequiredException actionName reason
    TaskCompleteException withResult failed withMetadata getSummary isSuccess hasResult getResultAs
    LLMCapabilityException ToolCallNotSupportedException provider capability model
    streamingNotSupported visionNotSupported structuredOutputNotSupported tnsai.errors code retryable`,
  kani: `
    Kani full_round retry_attempts handle_function_call_exception call err attempt tool_call_id
    ExceptionHandleResult should_retry message NoSuchFunction WrappedCallException FunctionCallException FunctionCall
    ChatMessage system function ai_function super engine chat_in_terminal get_time auto_retry auto_truncate`,
  "a-retry-loop": `
    HANDLERS invoke_tool name arguments tool_use_id tool_result is_error json.dumps unknown transient permanent
    TransientError http_fetch url attempts time.sleep timeout raise_for_status TimeoutException HTTPStatusError`
}

it.each(Object.entries(named))(
  "docs/guide/coming-from-%s.md tells of everything that is named there",
  (page, names) => {
    const { text } = read(`docs/guide/coming-from-${page}.md`)
    const isMentioned = (name: string) => new RegExp(`(?<!\\w)${name.replaceAll(".", "\\.")}(?!\\w)`).test(text)
    expect(isMentioned("NamedNowhere")).toBe(false)
    expect(
      names
        .trim()
        .split(/\s+/)
        .filter((name) => !isMentioned(name))
    ).toEqual([])
  }
)
