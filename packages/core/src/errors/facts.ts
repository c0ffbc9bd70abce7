/** The one table of facts: whatever is fixed for a kind of error stands here and nowhere else. */
import type * as Duration from "effect/Duration"
import { byCategory, type Categorised, final, generous, halfOf, type Outlook, resend } from "./outlook.ts"

export interface Facts<in Error, out Code extends string = string> {
  readonly code: Code
  /** The status with which a backend may answer its own client. */
  readonly httpStatus: number
  /** The kind of failure, in a few words. */
  readonly title: string
  /** What a caller can do. */
  readonly help: string
  readonly outlook: (error: Error) => Outlook
  /** The most generous advice that any error of the kind gives. */
  readonly most: Outlook
  /** The code that an error takes over from what lies beneath it. */
  readonly lentCode?: (error: Error) => string | undefined
}

interface Named<out Code extends string> {
  readonly code: Code
  readonly httpStatus: number
  readonly title: string
  readonly help: string
}

const fixed = <const Code extends string>(named: Named<Code>, outlook: Outlook): Facts<unknown, Code> => ({
  ...named,
  outlook: () => outlook,
  most: outlook
})

const varying = <Error, const Code extends string>(
  named: Named<Code>,
  outlook: (error: Error) => Outlook,
  most: Outlook
): Facts<Error, Code> => ({ ...named, outlook, most })

const named = <const Code extends string>(
  code: Code,
  httpStatus: number,
  title: string,
  help: string
): Named<Code> => ({
  code,
  httpStatus,
  title,
  help
})

interface Hinted {
  readonly retryAfter?: Duration.Duration
}

interface Timed {
  readonly timeout: Duration.Duration
}

interface TimedTool extends Timed {
  readonly sideEffects: string
  readonly tookEffect?: false
}

export const facts = {
  ModelNotFoundError: fixed(
    named(
      "KINTSUGI-MODEL-NOT-FOUND",
      502,
      "Model not found",
      "Check its name, where it was asked, and which models this key may use"
    ),
    final("fallback")
  ),
  AuthenticationError: fixed(
    named("KINTSUGI-AUTHENTICATION", 502, "Authentication failed", "Check the key, and what it is allowed to do"),
    final("escalate")
  ),
  ContentFilteredError: fixed(
    named("KINTSUGI-CONTENT-FILTERED", 422, "Content filtered", "Change the input, or ask another model"),
    final("none")
  ),
  InvalidRequestError: fixed(
    named("KINTSUGI-INVALID-REQUEST", 502, "Request refused", "Correct the request: sent again, it fails again"),
    final("none")
  ),
  ModelOverloadedError: fixed(
    named("KINTSUGI-MODEL-OVERLOADED", 503, "Model overloaded", "Wait and send it again, or ask another model"),
    resend("5 seconds", 4)
  ),
  ContextTooLongError: fixed(
    named("KINTSUGI-CONTEXT-TOO-LONG", 413, "Context too long", "Shorten the conversation, or ask a larger model"),
    final("shrink")
  ),
  ServerError: fixed(
    named("KINTSUGI-SERVER", 502, "Provider failed", "Wait and send it again, or ask another provider"),
    resend("2 seconds", 4)
  ),
  MalformedToolCallError: fixed(
    named("KINTSUGI-MALFORMED-TOOL-CALL", 502, "Malformed tool call", "Tell the model what is wrong and ask again"),
    final("repair")
  ),
  CapabilityMismatchError: fixed(
    named("KINTSUGI-CAPABILITY-MISMATCH", 501, "Capability missing", "Ask a model that can, or do without"),
    final("fallback")
  ),
  UnknownLlmError: fixed(
    named("KINTSUGI-UNKNOWN-LLM", 502, "Unknown model failure", "Send it again; if that does not help, read the cause"),
    resend("1 second", 4)
  ),
  RateLimitError: varying(
    named("KINTSUGI-RATE-LIMIT", 429, "Rate limit reached", "Wait as long as the server asks, then send it again"),
    (error: Hinted) => (error.retryAfter === undefined ? generous : resend(error.retryAfter, generous.maxAttempts)),
    generous
  ),
  QuotaExhaustedError: fixed(
    named("KINTSUGI-QUOTA-EXHAUSTED", 503, "Quota used up", "Add credit at the provider, or ask another one"),
    final("fallback")
  ),
  NetworkError: fixed(
    named("KINTSUGI-NETWORK", 502, "Connection failed", "Check address and network, then send it again"),
    resend("2 seconds", 6)
  ),
  RequestTimeoutError: varying(
    named("KINTSUGI-REQUEST-TIMEOUT", 504, "Request timed out", "Send it again, or allow more time"),
    (error: Timed) => resend(halfOf(error.timeout), 4),
    resend("5 seconds", 4)
  ),
  InvalidArgs: fixed(
    named("KINTSUGI-INVALID-ARGS", 422, "Arguments are no JSON", "Repair the arguments and call the tool again"),
    final("repair")
  ),
  DeserializationError: fixed(
    named("KINTSUGI-DESERIALIZATION", 422, "Arguments do not fit", "Correct these fields and call the tool again"),
    final("repair")
  ),
  ExecutionError: {
    ...varying(
      named("KINTSUGI-EXECUTION", 502, "Tool failed", "Read its category and its cause"),
      (error: Categorised) => byCategory(error),
      generous
    ),
    lentCode: ({ lent }: Categorised): string | undefined => lent?.code
  },
  EscalationError: fixed(
    named("KINTSUGI-ESCALATION", 422, "Agent gave up", "Read the reason, and decide at its severity"),
    final("escalate")
  ),
  UnknownToolError: fixed(
    named("KINTSUGI-UNKNOWN-TOOL", 422, "Unknown tool", "Call one of the known tools"),
    final("repair")
  ),
  ToolTimeoutError: varying(
    named("KINTSUGI-TOOL-TIMEOUT", 504, "Tool timed out", "Allow more time; run it again only if that is safe"),
    (error: TimedTool) =>
      error.sideEffects === "none" || error.sideEffects === "idempotent" || error.tookEffect === false
        ? resend(halfOf(error.timeout), 4)
        : final("escalate"),
    resend("5 seconds", 4)
  ),
  ToolDeniedError: fixed(
    named("KINTSUGI-TOOL-DENIED", 403, "Call denied", "Respect the reason, or ask whoever denied it"),
    final("none")
  ),
  OutcomeUnknownError: fixed(
    named(
      "KINTSUGI-OUTCOME-UNKNOWN",
      500,
      "Outcome unknown",
      "Look up by its key whether it took effect, before any repetition"
    ),
    final("escalate")
  ),
  ToolExecutionError: fixed(
    named("KINTSUGI-TOOL-EXECUTION", 500, "Tool failed for good", "Read in its attempts what was tried"),
    final("none")
  ),
  BudgetExceededError: fixed(
    named("KINTSUGI-BUDGET-EXCEEDED", 503, "Budget used up", "Go on from its transcript with a larger budget"),
    final("none")
  ),
  InvalidOutputError: fixed(
    named("KINTSUGI-INVALID-OUTPUT", 502, "Output does not fit", "Loosen the output schema, or ask another model"),
    final("repair")
  ),
  RoutingError: fixed(
    named("KINTSUGI-ROUTING", 500, "No skill chosen", "Describe the skills more clearly, or choose one by rule"),
    final("fallback")
  ),
  LoopExhaustedError: fixed(
    named("KINTSUGI-LOOP-EXHAUSTED", 500, "Loop used up", "Use its last output, or allow more iterations"),
    final("none")
  ),
  InputTooLargeError: fixed(
    named("KINTSUGI-INPUT-TOO-LARGE", 413, "Input too large", "Make it smaller, or raise the bound where you trust it"),
    final("shrink")
  ),
  RunLostError: fixed(
    named("KINTSUGI-RUN-LOST", 410, "Run lost", "Look up what was done in it, and start another one"),
    final("none")
  ),
  SnapshotRefusedError: fixed(
    named("KINTSUGI-SNAPSHOT-REFUSED", 409, "Snapshot refused", "Resume the newest document of your own store"),
    final("none")
  )
} satisfies Record<string, Facts<never>>

export type FactsTable = typeof facts
