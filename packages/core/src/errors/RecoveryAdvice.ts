/**
 * The advice that an error gives about recovery. One table (`facts.ts`) has the facts, and the classes, the documentation and the tests
 * read it.
 *
 * `isRetryable`, the code, the delay and the attempts come from TnsAI's error hierarchy; `recovery` does not.
 */
import * as Predicate from "effect/Predicate"
import { property } from "../data/Foreign.ts"
import * as Redaction from "../data/Redaction.ts"
import { facts, type FactsTable, generous, helps, type Outlook, outlookOf } from "./facts.ts"

/** @internal */
export { hintBeneath, outlookOf, withoutHelp } from "./facts.ts"

type Tag = keyof FactsTable

/**
 * The advice of every error of this library: whether, when and how often to send the same input again, and what else helps.
 *
 * @hidden
 */
export interface RecoveryAdvice<out Code extends string = string> extends Outlook {
  /** Stays the same over releases: for alerts and metrics. */
  readonly code: Code
  /** The status with which a backend may answer its own client. */
  readonly httpStatus: number
}

/** The tags of all errors, in the order of the table. */
// Object.keys widens to string; the table's own keys are the tags
export const tags = Object.keys(facts) as ReadonlyArray<Tag>

/** What all errors of a tag have in common. This is the code, the HTTP status, a title, and a sentence that says how to go on. */
export const describe = (
  tag: Tag
): { readonly code: string; readonly httpStatus: number; readonly title: string; readonly help: string } => {
  const { code, httpStatus } = facts[tag]
  return { code, httpStatus, title: titles[tag], help: helps[tag] }
}

/** Names each failure in a few words. */
const titles: Readonly<Record<Tag, string>> = {
  ModelNotFoundError: "Model not found",
  AuthenticationError: "Authentication failed",
  ContentFilteredError: "Content filtered",
  InvalidRequestError: "Request refused",
  ModelOverloadedError: "Model overloaded",
  ContextTooLongError: "Context too long",
  ServerError: "Provider failed",
  MalformedToolCallError: "Malformed tool call",
  CapabilityMismatchError: "Capability missing",
  UnknownLlmError: "Unknown model failure",
  RateLimitError: "Rate limit reached",
  QuotaExhaustedError: "Quota used up",
  NetworkError: "Connection failed",
  RequestTimeoutError: "Request timed out",
  EmptyReplyError: "Empty reply",
  ReplyTooLargeError: "Reply too large",
  InvalidArgs: "Arguments are no JSON",
  DeserializationError: "Arguments do not fit",
  ExecutionError: "Tool failed",
  EscalationError: "Agent gave up",
  UnknownToolError: "Unknown tool",
  ToolTimeoutError: "Tool timed out",
  ToolDeniedError: "Call denied",
  ApprovalExpiredError: "Approval expired",
  OutcomeUnknownError: "Outcome unknown",
  ToolExecutionError: "Tool failed for good",
  BudgetExceededError: "Budget used up",
  InvalidOutputError: "Output does not fit",
  RoutingError: "No skill chosen",
  LoopExhaustedError: "Loop used up",
  GuardrailError: "Blocked by a guardrail",
  UnknownPriceError: "Unknown price",
  InputTooLargeError: "Input too large",
  RunLostError: "Run lost",
  SnapshotRefusedError: "Snapshot refused",
  RunOverError: "Run not at work",
  InboxFullError: "Inbox full",
  CursorExpiredError: "Cursor expired"
}

/**
 * The most generous advice that an error with this tag gives. For a tag of another library, it is the most generous advice of all.
 *
 * @internal
 */
export const mostFor = (tag: string): Outlook => (isTag(tag) ? facts[tag].most : generous)

const isTag = (tag: string): tag is Tag => Object.hasOwn(facts, tag)

/** Labels of any failure, for metrics and logs. They are its code, else its tag, else `UNKNOWN`, and whether it is retryable. */
export const labelsOf = (error: unknown): { readonly code: string; readonly retryable: boolean } => ({
  code: textAt(error, "code") ?? textAt(error, "_tag") ?? "UNKNOWN",
  retryable: outlookOf(error)?.isRetryable ?? false
})

/**
 * The redacted text of a field, cut at 100 UTF-16 units; `undefined` if the field is empty or no text.
 *
 * @internal
 */
export const textAt = (value: unknown, key: string): string | undefined => {
  const text = property(value, key)
  return Predicate.isString(text) && text !== "" ? Redaction.foreign(text, longestLabel) : undefined
}

const longestLabel = 100
