/**
 * What the errors of Kintsugi advise, and the row that would have handled a failure. The table copies `RecoveryAdvice` of
 * `@kintsugi/core`, because the script of a page must not load the classes of errors.
 *
 * @internal
 */
import { flagAt, textAt } from "./Fields.ts"
import { tagOf } from "./ErrorWords.ts"

/** What helps after an error, as its field `recovery` says at most. */
type Help = "resend" | "repair" | "shrink" | "fallback" | "escalate" | "none"

const helps: Readonly<Record<string, Help>> = {
  ModelNotFoundError: "fallback",
  AuthenticationError: "escalate",
  ContentFilteredError: "none",
  InvalidRequestError: "none",
  ModelOverloadedError: "resend",
  ContextTooLongError: "shrink",
  ServerError: "resend",
  MalformedToolCallError: "repair",
  CapabilityMismatchError: "fallback",
  UnknownLlmError: "resend",
  RateLimitError: "resend",
  QuotaExhaustedError: "fallback",
  NetworkError: "resend",
  RequestTimeoutError: "resend",
  EmptyReplyError: "resend",
  ReplyTooLargeError: "shrink",
  InvalidArgs: "repair",
  DeserializationError: "repair",
  ExecutionError: "resend",
  EscalationError: "escalate",
  UnknownToolError: "repair",
  ToolTimeoutError: "resend",
  ToolDeniedError: "none",
  ApprovalExpiredError: "escalate",
  OutcomeUnknownError: "escalate",
  ToolExecutionError: "none",
  BudgetExceededError: "none",
  InvalidOutputError: "repair",
  RoutingError: "fallback",
  LoopExhaustedError: "none",
  GuardrailError: "none",
  UnknownPriceError: "none",
  InputTooLargeError: "shrink",
  RunLostError: "none",
  SnapshotRefusedError: "none",
  RunOverError: "none",
  InboxFullError: "resend",
  CursorExpiredError: "none"
}

/** The most generous help for an error with this tag; `undefined` for a tag of other code. */
export const helpOf = (tag: string): Help | undefined => (Object.hasOwn(helps, tag) ? helps[tag] : undefined)

/** The code of an error of Kintsugi, which its tag determines: `KINTSUGI-RATE-LIMIT`; `undefined` for a tag of other code. */
export const codeOf = (tag: string): string | undefined =>
  helpOf(tag) === undefined
    ? undefined
    : `KINTSUGI-${tag
        // Mutant `/Error/` survives: a tag of the table has this word at its end, if at all
        .replace(/Error$/, "")
        .replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-")
        .toUpperCase()}`

/** A row that would have gone on, and the page of the documentation about it. */
export interface Row {
  /** The code to write, beside the tool or the agent. */
  readonly code: string
  /** The row alone, for a table that exists; absent where another model helps, and no row. */
  readonly entry?: string
  /** The page, by its path on the site of the documentation: `guide/tool-recovery#which-verdict-for-which-failure`. */
  readonly page: string
}

/** A failure, as far as a row for it depends on it. */
export interface Failure {
  readonly layer: "model" | "tool"
  readonly error: unknown
  /** What a second run of the tool would do, if its call says it. */
  readonly sideEffects: string | undefined
  /** Whether a row for the tag has retried the failure, and gave up. */
  readonly hasRetried: boolean
}

/** The row that would have gone on after a failure; `undefined` if the error advises against going on. */
export const rowFor = ({ error, hasRetried, layer, sideEffects }: Failure): Row | undefined => {
  const tag = tagOf(error)
  const name = /^[A-Za-z_$][\w$]*$/.test(tag) ? tag : JSON.stringify(tag)
  return layer === "model"
    ? modelRow(tag, name, hasRetried)
    : toolRow(name, helpOfCall(error), sideEffects === "none" || sideEffects === "idempotent", hasRetried)
}

/** A row in a table of its own. */
const rowIn = (table: "Agent.onLlmError" | "Tool.onError", entry: string, page: string): Row => ({
  code: `${table}({ ${entry} })`,
  entry,
  page
})

const modelRow = (tag: string, name: string, hasRetried: boolean): Row | undefined => {
  const help = helpOf(tag)
  if (help === "resend" && !hasRetried)
    return rowIn("Agent.onLlmError", `${name}: ${retry}`, "guide/model-recovery#retry-failed-model-calls")
  if (help === "resend" || help === "fallback")
    return { code: "Model.fallback(first, second)", page: "guide/fall-back-to-another-model" }
  if (tag === "ContextTooLongError")
    return rowIn(
      "Agent.onLlmError",
      "ContextTooLongError: Recovery.compact(Compaction.dropOldest({ keepLast: 2 }))",
      "guide/model-recovery#conversations-that-are-too-long"
    )
  return undefined
}

const retry = "Recovery.retry(Backoff.suggested())"

/** A tool that may have side effects is never repeated: its failure is told to the model, if that may help. */
const toolRow = (name: string, help: Help | undefined, isRepeatable: boolean, hasRetried: boolean): Row | undefined => {
  if (help === "resend") {
    if (!isRepeatable) return undefined
    return hasRetried
      ? rowIn(
          "Tool.onError",
          `${name}: Recovery.ladder(${retry}, Recovery.tell())`,
          "guide/recovery#tables-rows-and-verdicts"
        )
      : rowIn("Tool.onError", `${name}: ${retry}`, "guide/retry-a-flaky-tool")
  }
  // an error of other code is about the domain of the tool
  return help === undefined || help === "repair" || help === "shrink"
    ? rowIn("Tool.onError", `${name}: Recovery.tell()`, "guide/tool-recovery#which-verdict-for-which-failure")
    : undefined
}

/** The help for a failed call. The fields of some errors say more than their tag. */
const helpOfCall = (error: unknown): Help | undefined => {
  const tag = tagOf(error)
  if (tag === "ExecutionError") {
    const category = textAt(error, "category") ?? "unknown"
    if (flagAt(error, "lent", "outlook", "isRetryable") || resent.has(category)) return "resend"
    // the tool has failed with an error without a tag, which the model may read
    return category === "unknown"
      ? undefined
      : category === "parameter" || category === "validation"
        ? "repair"
        : "none"
  }
  return helpOf(tag)
}

const resent: ReadonlySet<string> = new Set(["network", "server", "mcp"])

/** The page about an error with this tag, by its path on the site of the documentation; `undefined` for errors of other code. */
export const errorPage = (tag: string): string | undefined =>
  helpOf(tag) === undefined ? undefined : `errors#${tag.toLowerCase()}`

const verdictPages: Readonly<Record<string, string>> = {
  retry: "guide/recovery#how-retries-are-counted",
  fix: "guide/fixers",
  ask: "guide/approvals#ask-a-person-about-a-failed-call",
  compact: "guide/model-recovery#conversations-that-are-too-long",
  fallback: "guide/model-recovery#fallback-models"
}

/** The page about a verdict of this kind. */
export const verdictPage = (verdict: string): string =>
  Object.hasOwn(verdictPages, verdict)
    ? (verdictPages[verdict] ?? "")
    : "guide/tool-recovery#which-verdict-for-which-failure"
