/**
 * The table of facts: everything that is fixed for a class of errors. The advice can also depend on fields of the error; an
 * `ExecutionError` takes some of it from its cause.
 */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as ErrorCause from "../data/ErrorCause.ts"
import { property, quietly } from "../data/Foreign.ts"
import * as Redaction from "../data/Redaction.ts"
import * as RetryAfter from "../data/RetryAfter.ts"
import * as ForeignFailure from "./ForeignFailure.ts"

const recoveryKinds = ["resend", "repair", "shrink", "fallback", "escalate", "none"] as const

/** The remedy if resending the same input does not help. */
export type RecoveryKind = (typeof recoveryKinds)[number]

/** What to do after an error: whether, when and how often the same input may be resent. */
export interface Outlook extends Schema.Schema.Type<typeof Outlook> {}

const Outlook = Schema.Struct({
  /** Whether sending the same input again is safe and sensible. */
  isRetryable: Schema.Boolean,
  recovery: Schema.Literals(recoveryKinds),
  /** How long to wait before the next attempt; zero unless retryable. */
  suggestedDelay: Schema.Duration,
  /** How many attempts make sense in all, the first included; 1 unless retryable. */
  maxAttempts: Schema.Finite
})

/** Sending the same input again does not help. */
export const final = (recovery: RecoveryKind): Outlook => ({
  isRetryable: false,
  recovery,
  suggestedDelay: Duration.zero,
  maxAttempts: 1
})

/** Sending it again helps, after a wait of at least 1 ms. */
const resend = (delay: Duration.Input, maxAttempts: number): Outlook => ({
  isRetryable: true,
  recovery: "resend",
  suggestedDelay: Duration.max(Duration.fromInputUnsafe(delay), Duration.millis(1)),
  maxAttempts
})

/** The advice after a rate limit without a hint. No other advice waits longer or retries more often. */
export const generous = resend("60 seconds", 6)

/** The wait after a timeout: half of the limit, 5 s at most. */
const halfOf = (timeout: Duration.Duration): Duration.Duration =>
  Duration.min(Duration.times(timeout, 0.5), Duration.seconds(5))

/** The categories of a failure inside a tool. */
export const categories = [
  "network",
  "parameter",
  "client",
  "server",
  "validation",
  "llm",
  "mcp",
  "invocation",
  "unknown"
] as const

type Category = (typeof categories)[number]

/** The advice after a transient failure that gives no advice itself. */
const resendable = resend("1 second", 4)

/** A failure inside a tool, with its cause. */
export interface Categorised {
  readonly category: Category
  readonly cause?: unknown
  readonly status?: number
  readonly lent?: Lent
}

/** The encoded advice that a failure of a tool lends to the error around it. */
interface Lent extends Schema.Schema.Type<typeof Lent> {}

export const Lent = Schema.Struct({
  code: Schema.optionalKey(Schema.String),
  outlook: Schema.optionalKey(Outlook)
})

/**
 * The advice of a categorised failure. Advice from the cause comes first, then the status; a model failure has its own advice; otherwise
 * the category decides.
 */
const byCategory = ({ category, cause, lent, status }: Categorised): Outlook => {
  if (lent?.outlook !== undefined) return lent.outlook
  if (retryableStatuses.has(status)) return resendable
  return (category === "llm" ? carriedBy(cause) : undefined) ?? ofCategory[category].outlook
}

/** Client errors that waiting cures: request timeout, too early, too many requests. */
const retryableStatuses: ReadonlySet<number | undefined> = new Set([408, 425, 429])

/** The label of each category for logs, and its default advice. */
export const ofCategory: Readonly<Record<Category, { readonly label: string; readonly outlook: Outlook }>> = {
  network: { label: "Network error", outlook: resendable },
  parameter: { label: "Parameter error", outlook: final("repair") },
  client: { label: "Client error", outlook: final("none") },
  server: { label: "Server error", outlook: resendable },
  validation: { label: "Validation error", outlook: final("repair") },
  llm: { label: "Model error", outlook: final("none") },
  mcp: { label: "MCP error", outlook: resendable },
  invocation: { label: "Invocation error", outlook: final("none") },
  unknown: { label: "Unknown error", outlook: final("none") }
}

/**
 * The advice of any value: its own fields, else that of its category or structure. Invalid fields get defaults.
 *
 * @internal
 */
export const outlookOf = (value: unknown): Outlook | undefined =>
  carriedBy(value) ?? categorised(value) ?? outlookOfForeign(value)

/** The advice by the failure's own category. If a tool cannot decode a value that it read, its arguments are not at fault. */
const categorised = (value: unknown): Outlook | undefined => {
  const category = property(value, "category")
  if (isCategory(category)) return ofCategory[category].outlook
  return ErrorCause.tagOf(value) === "SchemaError" ? final("none") : undefined
}

/** Connection failures that a retry does not mend. */
const unchanging: ReadonlySet<ReturnType<typeof ForeignFailure.connectionOf>> = new Set(["untrusted", "oversized"])

const outlookOfForeign = (value: unknown): Outlook | undefined => {
  const failure = ForeignFailure.of(value)
  if (failure?.type === "connection")
    return unchanging.has(failure.connection) ? final("none") : ofCategory.network.outlook
  if (failure?.type === "system" && failure.refused !== "access")
    return failure.refused === "busy" ? resendable : final("repair")
  if (failure?.type !== "status" || !(failure.status >= 500 || retryableStatuses.has(failure.status))) return undefined
  const wait = foreignHint(failure)
  return wait === undefined ? resendable : resend(wait, resendable.maxAttempts)
}

/**
 * The wait that a server asks for, for a failure without advice of its own. Only seconds count, because the current time is not known here.
 *
 * @internal
 */
export const hintBeneath = (value: unknown): Duration.Duration | undefined =>
  carriedBy(value) === undefined ? foreignHint(ForeignFailure.of(value)) : undefined

const foreignHint = (failure: ForeignFailure.ForeignFailure | undefined): Duration.Duration | undefined =>
  failure?.type === "status" ? RetryAfter.parse(failure.retryAfter) : undefined

const carriedBy = (value: unknown): Outlook | undefined => {
  const isRetryable = property(value, "isRetryable")
  if (isRetryable === false) {
    const recovery = property(value, "recovery")
    return final(isRecoveryKind(recovery) && recovery !== "resend" ? recovery : "none")
  }
  if (isRetryable !== true) return undefined
  const delay = property(value, "suggestedDelay")
  const attempts = property(value, "maxAttempts")
  return resend(
    Duration.isDuration(delay) && Duration.isFinite(delay) ? delay : resendable.suggestedDelay,
    Predicate.isNumber(attempts) && Number.isSafeInteger(attempts) && attempts >= 1 ? attempts : resendable.maxAttempts
  )
}

const isRecoveryKind = (value: unknown): value is RecoveryKind => recoveryKinds.some((kind) => kind === value)

const isCategory = (value: unknown): value is Category => Predicate.isString(value) && Object.hasOwn(ofCategory, value)

/**
 * The category of a failure. Its own category comes first; model failures and contract errors are known by their class, other failures by
 * their structure.
 */
export const categoryOf = (cause: unknown, isLlmError: (cause: unknown) => boolean): Category => {
  const category = property(cause, "category")
  if (isCategory(category)) return category
  if (quietly(() => isLlmError(cause), false)) return "llm"
  const tag = ErrorCause.tagOf(cause)
  if (tag === "SchemaError") return "validation"
  return Object.hasOwn(facts, tag) ? "unknown" : categoryByStructure(ForeignFailure.of(cause))
}

const categoryByStructure = (failure: ForeignFailure.ForeignFailure | undefined): Category => {
  if (failure === undefined) return "unknown"
  if (failure.type === "connection") return "network"
  return failure.type === "status" ? categoryOfStatus(failure.status) : categoryOfRefusal[failure.refused]
}

const categoryOfRefusal = { input: "parameter", access: "client", busy: "server" } as const

/** The status with which a peer has answered, as far as the structure of a failure tells. */
export const statusOf = (cause: unknown): number | undefined => {
  const failure = ForeignFailure.of(cause)
  return failure?.type === "status" ? failure.status : undefined
}

export const categoryOfStatus = (status: number): Category => {
  if (status >= 400 && status < 500) return "client"
  return status >= 500 && status < 600 ? "server" : "unknown"
}

/** The code and the advice that a failure carries itself; `undefined` for one that carries neither. */
export const lentBy = (cause: unknown): Lent | undefined => {
  const own = property(cause, "code")
  const code = Predicate.isString(own) ? Redaction.foreign(own, 100) : ""
  const outlook = outlookOf(cause)
  if (code === "" && outlook === undefined) return undefined
  return { ...(code === "" ? {} : { code }), ...(outlook === undefined ? {} : { outlook }) }
}

/** The message of the cause; without a cause, the category. */
export const sayingOf = (cause: unknown, category: Category): string => {
  if (cause === undefined) return ofCategory[category].label
  const { message, name } = ErrorCause.summarise(cause)
  return message === "" ? name : message
}

export interface Facts<in Error, out Code extends string = string> {
  readonly code: Code
  /** The status with which a backend may answer its own client. */
  readonly httpStatus: number
  readonly outlook: (error: Error) => Outlook
  /** The most generous advice that an error of the class can give. */
  readonly most: Outlook
  /** The code that an error takes over from its cause. */
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

/** Whether a tool that took too long may run again. */
const isHarmless = ({ sideEffects, tookEffect }: { readonly sideEffects: string; readonly tookEffect?: false }) =>
  sideEffects === "none" || sideEffects === "idempotent" || tookEffect === false

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
  EmptyReplyError: fixed("KINTSUGI-EMPTY-REPLY", 502, resend("1 second", 2)),
  ReplyTooLargeError: fixed("KINTSUGI-REPLY-TOO-LARGE", 502, final("shrink")),
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
    (error: Timed & Parameters<typeof isHarmless>[0]) =>
      isHarmless(error) ? resend(halfOf(error.timeout), 4) : final("escalate"),
    resend("5 seconds", 4)
  ),
  ToolDeniedError: fixed("KINTSUGI-TOOL-DENIED", 403, final("none")),
  ApprovalExpiredError: fixed("KINTSUGI-APPROVAL-EXPIRED", 410, final("escalate")),
  OutcomeUnknownError: fixed("KINTSUGI-OUTCOME-UNKNOWN", 500, final("escalate")),
  ToolExecutionError: fixed("KINTSUGI-TOOL-EXECUTION", 500, final("none")),
  BudgetExceededError: fixed("KINTSUGI-BUDGET-EXCEEDED", 503, final("none")),
  InvalidOutputError: fixed("KINTSUGI-INVALID-OUTPUT", 502, final("repair")),
  RoutingError: fixed("KINTSUGI-ROUTING", 500, final("fallback")),
  LoopExhaustedError: fixed("KINTSUGI-LOOP-EXHAUSTED", 500, final("none")),
  GuardrailError: fixed("KINTSUGI-GUARDRAIL", 422, final("none")),
  UnknownPriceError: fixed("KINTSUGI-UNKNOWN-PRICE", 422, final("none")),
  InputTooLargeError: fixed("KINTSUGI-INPUT-TOO-LARGE", 413, final("shrink")),
  RunLostError: fixed("KINTSUGI-RUN-LOST", 410, final("none")),
  SnapshotRefusedError: fixed("KINTSUGI-SNAPSHOT-REFUSED", 409, final("none")),
  RunOverError: fixed("KINTSUGI-RUN-OVER", 409, final("none")),
  InboxFullError: fixed("KINTSUGI-INBOX-FULL", 429, resend("1 second", 3)),
  CursorExpiredError: fixed("KINTSUGI-CURSOR-EXPIRED", 410, final("none"))
} satisfies Record<string, Facts<never>>

export type FactsTable = typeof facts

/** What helps after each class of errors. */
export const helps: Readonly<Record<keyof FactsTable, string>> = {
  ModelNotFoundError: "Check its name, where it was asked, and which models this key may use",
  AuthenticationError: "Check the key, and what it is allowed to do",
  ContentFilteredError: "Change the input, or ask another model",
  InvalidRequestError: "Correct the request: sent again, it fails again",
  ModelOverloadedError: "Wait and send it again, or ask another model",
  ContextTooLongError: "Shorten the conversation, or ask a larger model",
  ServerError: "Wait and send it again, or ask another provider",
  MalformedToolCallError: "Tell the model what is wrong and ask again",
  CapabilityMismatchError: "Ask a model that can, or do without",
  UnknownLlmError: "Send it again; if that does not help, read the cause",
  RateLimitError: "Wait as long as the server asks, then send it again",
  QuotaExhaustedError: "Add credit at the provider, or ask another one",
  NetworkError: "Check address and network, then send it again",
  RequestTimeoutError: "Send it again, or allow more time",
  EmptyReplyError: "Send it again, or ask another model",
  ReplyTooLargeError: "Ask for less, or raise the option that it names",
  InvalidArgs: "Repair the arguments and call the tool again",
  DeserializationError: "Correct these fields and call the tool again",
  ExecutionError: "Read its category and its cause",
  EscalationError: "Read the reason, and decide at its severity",
  UnknownToolError: "Call one of the known tools",
  ToolTimeoutError: "Allow more time; run it again only if that is safe",
  ToolDeniedError: "Respect the reason, or ask for another decision",
  ApprovalExpiredError: "Ask a person again, or give the decision more time",
  OutcomeUnknownError: "Look up by its key whether it took effect, before any repetition",
  ToolExecutionError: "Read in its attempts what was tried",
  BudgetExceededError: "Mend what has used it up, or go on from its transcript with a larger budget",
  InvalidOutputError: "Loosen the output schema, or ask another model",
  RoutingError: "Describe the skills more clearly, or choose one by rule",
  LoopExhaustedError: "Use its last output, or allow more iterations",
  GuardrailError: "Ask for something else, or loosen the check",
  UnknownPriceError: "Give the price in the budget's prices, or as the option price of the model's layer",
  InputTooLargeError: "Make it smaller, or raise the bound where you trust it",
  RunLostError: "Look up what was done in it, and start another one",
  SnapshotRefusedError: "Resume the newest document of your own store",
  RunOverError: "Start another run, or resume from its snapshot or transcript",
  InboxFullError: "Wait until the run has read some messages, then send it again",
  CursorExpiredError: "Begin with the transcript so far, or with the first event"
}

/**
 * The message without its advice, which is for operators.
 *
 * @internal
 */
export const withoutHelp = (message: string): string =>
  Object.values(helps).reduce((text, help) => text.replaceAll(`. ${help}`, ""), message)
