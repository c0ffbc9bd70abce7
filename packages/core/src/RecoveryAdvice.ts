/**
 * What an error says about recovering from it. The table `facts` is the only place where these facts stand; classes,
 * documentation and tests draw from it.
 *
 * The questions come from TnsAI's error hierarchy (`isRetryable`, code, delay, attempts); `recovery` is ours.
 */
import * as Duration from "effect/Duration"

/** What helps when sending the same input again does not. */
export type RecoveryKind = "resend" | "repair" | "shrink" | "fallback" | "escalate" | "none"

/** The part of the advice that may depend on an error's own data. */
export interface Outlook {
  /** Whether sending the same input again is safe and sensible. */
  readonly isRetryable: boolean
  readonly recovery: RecoveryKind
  /** How long to wait before the next attempt; zero unless retryable. */
  readonly suggestedDelay: Duration.Duration
  /** How many attempts make sense in all, the first included; 1 unless retryable. */
  readonly maxAttempts: number
}

/** Carried by every error of this library. */
export interface RecoveryAdvice extends Outlook {
  /** Stable over releases: made for alerts and metrics. */
  readonly code: `KINTSUGI-${string}`
  /** The status with which a backend may answer its own client. */
  readonly httpStatus: number
}

interface Facts<in Error> {
  readonly code: `KINTSUGI-${string}`
  readonly httpStatus: number
  readonly outlook: (error: Error) => Outlook
}

const facts = {
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
  RateLimitError: {
    code: "KINTSUGI-RATE-LIMIT",
    httpStatus: 429,
    outlook: (error: Hinted) => resend(error.retryAfter ?? "60 seconds", 6)
  },
  QuotaExhaustedError: fixed("KINTSUGI-QUOTA-EXHAUSTED", 503, final("fallback")),
  NetworkError: fixed("KINTSUGI-NETWORK", 502, resend("2 seconds", 6)),
  RequestTimeoutError: {
    code: "KINTSUGI-REQUEST-TIMEOUT",
    httpStatus: 504,
    outlook: (error: Timed) => resend(halfOf(error.timeout), 4)
  },
  InvalidArgs: fixed("KINTSUGI-INVALID-ARGS", 422, final("repair")),
  DeserializationError: fixed("KINTSUGI-DESERIALIZATION", 422, final("repair")),
  ExecutionError: {
    code: "KINTSUGI-EXECUTION",
    httpStatus: 502,
    outlook: (error: Categorised) => byCategory(error)
  },
  EscalationError: fixed("KINTSUGI-ESCALATION", 422, final("escalate")),
  UnknownToolError: fixed("KINTSUGI-UNKNOWN-TOOL", 422, final("repair")),
  ToolTimeoutError: {
    code: "KINTSUGI-TOOL-TIMEOUT",
    httpStatus: 504,
    outlook: (error: Timed & { readonly sideEffects: string }) =>
      error.sideEffects === "none" || error.sideEffects === "idempotent"
        ? resend(halfOf(error.timeout), 4)
        : final("escalate")
  },
  ToolDeniedError: fixed("KINTSUGI-TOOL-DENIED", 403, final("none")),
  OutcomeUnknownError: fixed("KINTSUGI-OUTCOME-UNKNOWN", 500, final("escalate")),
  ToolExecutionError: fixed("KINTSUGI-TOOL-EXECUTION", 500, final("none")),
  BudgetExceededError: fixed("KINTSUGI-BUDGET-EXCEEDED", 503, final("none")),
  InvalidOutputError: fixed("KINTSUGI-INVALID-OUTPUT", 502, final("repair")),
  RoutingError: fixed("KINTSUGI-ROUTING", 500, final("fallback")),
  LoopExhaustedError: fixed("KINTSUGI-LOOP-EXHAUSTED", 500, final("none"))
} satisfies Record<string, Facts<never>>

type FactsTable = typeof facts

/** The tag of every error of this library. */
export type Tag = keyof FactsTable

/** All tags, in the order of the table. */
// Object.keys widens to string; the table's own keys are the tags
export const tags = Object.keys(facts) as ReadonlyArray<Tag>

interface Hinted {
  readonly retryAfter?: Duration.Duration
}

interface Timed {
  readonly timeout: Duration.Duration
}

/** The categories of a failure inside a tool. */
export type Category =
  | "network"
  | "parameter"
  | "client"
  | "server"
  | "validation"
  | "llm"
  | "mcp"
  | "invocation"
  | "unknown"

interface Categorised {
  readonly category: Category
  readonly cause?: unknown
  readonly status?: number
}

function fixed(code: `KINTSUGI-${string}`, httpStatus: number, outlook: Outlook): Facts<unknown> {
  return { code, httpStatus, outlook: () => outlook }
}

function final(recovery: RecoveryKind): Outlook {
  return { isRetryable: false, recovery, suggestedDelay: Duration.zero, maxAttempts: 1 }
}

function resend(delay: Duration.Input, maxAttempts: number): Outlook {
  const suggestedDelay = Duration.max(Duration.fromInputUnsafe(delay), Duration.millis(1))
  return { isRetryable: true, recovery: "resend", suggestedDelay, maxAttempts }
}

function halfOf(timeout: Duration.Duration): Duration.Duration {
  return Duration.min(Duration.times(timeout, 0.5), Duration.seconds(5))
}

const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429])

function byCategory(error: Categorised): Outlook {
  const lent = outlookOf(error.cause)
  switch (error.category) {
    case "llm":
      return lent ?? final("none")
    case "network":
    case "server":
    case "mcp":
      return lent ?? resend("1 second", 4)
    case "parameter":
    case "validation":
      return lent ?? final("repair")
    case "client":
      return error.status !== undefined && retryableStatuses.has(error.status)
        ? resend("1 second", 4)
        : (lent ?? final("none"))
    case "invocation":
    case "unknown":
      return lent ?? final("none")
  }
}

/** The advice that a value carries itself, if it carries one. */
export const outlookOf = (value: unknown): Outlook | undefined => {
  if (typeof value !== "object" || value === null || !("isRetryable" in value)) return undefined
  const { isRetryable } = value
  if (typeof isRetryable !== "boolean") return undefined
  if (!isRetryable) return final("recovery" in value && isRecoveryKind(value.recovery) ? value.recovery : "none")
  const delay =
    "suggestedDelay" in value && Duration.isDuration(value.suggestedDelay) ? value.suggestedDelay : Duration.seconds(1)
  const maxAttempts = "maxAttempts" in value && typeof value.maxAttempts === "number" ? value.maxAttempts : 4
  return resend(delay, maxAttempts)
}

const recoveryKinds: ReadonlySet<unknown> = new Set<RecoveryKind>([
  "resend",
  "repair",
  "shrink",
  "fallback",
  "escalate",
  "none"
])

const isRecoveryKind = (value: unknown): value is RecoveryKind => recoveryKinds.has(value)

/**
 * Gives the instances of an error class their advice, as getters that read the table. Used in the `extends` clause of
 * every error class of this library.
 */
export const advised = <T extends Tag, C extends { readonly prototype: ErrorOf<T> }>(tag: T, base: C): C => {
  // the table is a union of functions here; the constraint on `C` has matched this tag's function to this class
  const row = facts[tag] as Facts<unknown>
  const getter = (get: (self: unknown) => unknown): PropertyDescriptor => ({
    get(this: unknown) {
      return get(this)
    },
    configurable: true
  })
  Object.defineProperties(base.prototype, {
    code: getter(() => row.code),
    httpStatus: getter(() => row.httpStatus),
    isRetryable: getter((self) => row.outlook(self).isRetryable),
    recovery: getter((self) => row.outlook(self).recovery),
    suggestedDelay: getter((self) => row.outlook(self).suggestedDelay),
    maxAttempts: getter((self) => row.outlook(self).maxAttempts)
  })
  return base
}

type ErrorOf<T extends Tag> = FactsTable[T] extends Facts<infer Error> ? Error : never
