/** The facts: whatever is fixed for a kind of error stands here and nowhere else. */
import type * as Duration from "effect/Duration"
import { byCategory, type Categorised, final, generous, halfOf, type Outlook, resend } from "./outlook.ts"

export interface Facts<in Error, out Code extends string = string> {
  readonly code: Code
  /** The status with which a backend may answer its own client. */
  readonly httpStatus: number
  readonly outlook: (error: Error) => Outlook
  /** The most generous advice that any error of the kind gives. */
  readonly most: Outlook
  /** The code that an error takes over from what lies beneath it. */
  readonly lentCode?: (error: Error) => string | undefined
}

const fixed = <const Code extends string>(code: Code, httpStatus: number, outlook: Outlook): Facts<unknown, Code> =>
  varying(code, httpStatus, () => outlook, outlook)

const varying = <Error, const Code extends string>(
  code: Code,
  httpStatus: number,
  outlook: (error: Error) => Outlook,
  most: Outlook
): Facts<Error, Code> => ({ code, httpStatus, outlook, most })

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
  ModelNotFoundError: fixed("KINTSUGI-MODEL-NOT-FOUND", 502, final("fallback")),
  AuthenticationError: fixed("KINTSUGI-AUTHENTICATION", 502, final("escalate")),
  ContentFilteredError: fixed("KINTSUGI-CONTENT-FILTERED", 422, final("none")),
  InvalidRequestError: fixed("KINTSUGI-INVALID-REQUEST", 502, final("none")),
  ModelOverloadedError: fixed("KINTSUGI-MODEL-OVERLOADED", 503, resend("5 seconds", 4)),
  ContextTooLongError: fixed("KINTSUGI-CONTEXT-TOO-LONG", 413, final("shrink")),
  ServerError: fixed("KINTSUGI-SERVER", 502, resend("2 seconds", 4)),
  MalformedToolCallError: fixed("KINTSUGI-MALFORMED-TOOL-CALL", 502, final("repair")),
  CapabilityMismatchError: fixed("KINTSUGI-CAPABILITY-MISMATCH", 501, final("fallback")),
  UnknownLlmError: fixed("KINTSUGI-UNKNOWN-LLM", 502, resend("1 second", 4)),
  RateLimitError: varying(
    "KINTSUGI-RATE-LIMIT",
    429,
    (error: Hinted) => (error.retryAfter === undefined ? generous : resend(error.retryAfter, generous.maxAttempts)),
    generous
  ),
  QuotaExhaustedError: fixed("KINTSUGI-QUOTA-EXHAUSTED", 503, final("fallback")),
  NetworkError: fixed("KINTSUGI-NETWORK", 502, resend("2 seconds", 6)),
  RequestTimeoutError: varying(
    "KINTSUGI-REQUEST-TIMEOUT",
    504,
    (error: Timed) => resend(halfOf(error.timeout), 4),
    resend("5 seconds", 4)
  ),
  InvalidArgs: fixed("KINTSUGI-INVALID-ARGS", 422, final("repair")),
  DeserializationError: fixed("KINTSUGI-DESERIALIZATION", 422, final("repair")),
  ExecutionError: {
    ...varying("KINTSUGI-EXECUTION", 502, (error: Categorised) => byCategory(error), generous),
    lentCode: ({ lent }: Categorised): string | undefined => lent?.code
  },
  EscalationError: fixed("KINTSUGI-ESCALATION", 422, final("escalate")),
  UnknownToolError: fixed("KINTSUGI-UNKNOWN-TOOL", 422, final("repair")),
  ToolTimeoutError: varying(
    "KINTSUGI-TOOL-TIMEOUT",
    504,
    (error: TimedTool) =>
      error.sideEffects === "none" || error.sideEffects === "idempotent" || error.tookEffect === false
        ? resend(halfOf(error.timeout), 4)
        : final("escalate"),
    resend("5 seconds", 4)
  ),
  ToolDeniedError: fixed("KINTSUGI-TOOL-DENIED", 403, final("none")),
  OutcomeUnknownError: fixed("KINTSUGI-OUTCOME-UNKNOWN", 500, final("escalate")),
  ToolExecutionError: fixed("KINTSUGI-TOOL-EXECUTION", 500, final("none")),
  BudgetExceededError: fixed("KINTSUGI-BUDGET-EXCEEDED", 503, final("none")),
  InvalidOutputError: fixed("KINTSUGI-INVALID-OUTPUT", 502, final("repair")),
  RoutingError: fixed("KINTSUGI-ROUTING", 500, final("fallback")),
  LoopExhaustedError: fixed("KINTSUGI-LOOP-EXHAUSTED", 500, final("none")),
  InputTooLargeError: fixed("KINTSUGI-INPUT-TOO-LARGE", 413, final("shrink")),
  RunLostError: fixed("KINTSUGI-RUN-LOST", 410, final("none")),
  SnapshotRefusedError: fixed("KINTSUGI-SNAPSHOT-REFUSED", 409, final("none"))
} satisfies Record<string, Facts<never>>

export type FactsTable = typeof facts

/** Of each kind a title, which is the kind of failure in a few words, and what a caller can do. */
export const wording: Readonly<Record<keyof FactsTable, readonly [title: string, help: string]>> = {
  ModelNotFoundError: ["Model not found", "Check its name, where it was asked, and which models this key may use"],
  AuthenticationError: ["Authentication failed", "Check the key, and what it is allowed to do"],
  ContentFilteredError: ["Content filtered", "Change the input, or ask another model"],
  InvalidRequestError: ["Request refused", "Correct the request: sent again, it fails again"],
  ModelOverloadedError: ["Model overloaded", "Wait and send it again, or ask another model"],
  ContextTooLongError: ["Context too long", "Shorten the conversation, or ask a larger model"],
  ServerError: ["Provider failed", "Wait and send it again, or ask another provider"],
  MalformedToolCallError: ["Malformed tool call", "Tell the model what is wrong and ask again"],
  CapabilityMismatchError: ["Capability missing", "Ask a model that can, or do without"],
  UnknownLlmError: ["Unknown model failure", "Send it again; if that does not help, read the cause"],
  RateLimitError: ["Rate limit reached", "Wait as long as the server asks, then send it again"],
  QuotaExhaustedError: ["Quota used up", "Add credit at the provider, or ask another one"],
  NetworkError: ["Connection failed", "Check address and network, then send it again"],
  RequestTimeoutError: ["Request timed out", "Send it again, or allow more time"],
  InvalidArgs: ["Arguments are no JSON", "Repair the arguments and call the tool again"],
  DeserializationError: ["Arguments do not fit", "Correct these fields and call the tool again"],
  ExecutionError: ["Tool failed", "Read its category and its cause"],
  EscalationError: ["Agent gave up", "Read the reason, and decide at its severity"],
  UnknownToolError: ["Unknown tool", "Call one of the known tools"],
  ToolTimeoutError: ["Tool timed out", "Allow more time; run it again only if that is safe"],
  ToolDeniedError: ["Call denied", "Respect the reason, or ask whoever denied it"],
  OutcomeUnknownError: ["Outcome unknown", "Look up by its key whether it took effect, before any repetition"],
  ToolExecutionError: ["Tool failed for good", "Read in its attempts what was tried"],
  BudgetExceededError: ["Budget used up", "Go on from its transcript with a larger budget"],
  InvalidOutputError: ["Output does not fit", "Loosen the output schema, or ask another model"],
  RoutingError: ["No skill chosen", "Describe the skills more clearly, or choose one by rule"],
  LoopExhaustedError: ["Loop used up", "Use its last output, or allow more iterations"],
  InputTooLargeError: ["Input too large", "Make it smaller, or raise the bound where you trust it"],
  RunLostError: ["Run lost", "Look up what was done in it, and start another one"],
  SnapshotRefusedError: ["Snapshot refused", "Resume the newest document of your own store"]
}
