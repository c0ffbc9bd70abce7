/**
 * Writes the facts into `docs/errors.md`: the overview, and under the heading of each error its title, its code and what to do.
 * They come from the library; everything outside of the marked blocks is written by hand.
 *
 *   npm run errors
 */
import * as Factories from "@kintsugi/core/Factories"
import { LlmError, RunError, ToolError, Usage } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import { Duration } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./files.ts"

export const path = "docs/errors.md"

const tool = "tool"
const callId = "call"

type Tag = (typeof RecoveryAdvice.tags)[number]

/** One error of every class. */
const instances: Record<Tag, RecoveryAdvice.RecoveryAdvice> = {
  ModelNotFoundError: LlmError.ModelNotFoundError.make({ model: "model" }),
  AuthenticationError: LlmError.AuthenticationError.make({ model: "model", detail: "why" }),
  ContentFilteredError: LlmError.ContentFilteredError.make({ model: "model", detail: "why" }),
  InvalidRequestError: LlmError.InvalidRequestError.make({ model: "model", detail: "why" }),
  ModelOverloadedError: LlmError.ModelOverloadedError.make({ model: "model" }),
  ContextTooLongError: LlmError.ContextTooLongError.make({ model: "model" }),
  ServerError: LlmError.ServerError.make({ model: "model" }),
  MalformedToolCallError: LlmError.MalformedToolCallError.make({ model: "model", tool, detail: "why" }),
  CapabilityMismatchError: LlmError.CapabilityMismatchError.make({
    model: "model",
    provider: "provider",
    capability: "tools"
  }),
  UnknownLlmError: LlmError.UnknownLlmError.make({ model: "model", cause: "why" }),
  RateLimitError: LlmError.RateLimitError.make({ service: "service" }),
  QuotaExhaustedError: LlmError.QuotaExhaustedError.make({ model: "model" }),
  NetworkError: Factories.connectionRefused("host", 443),
  RequestTimeoutError: Factories.llmTimeout("1 hour"),
  EmptyReplyError: LlmError.EmptyReplyError.make({ model: "model", finishReason: "stop" }),
  ReplyTooLargeError: LlmError.ReplyTooLargeError.make({ model: "model", option: "maxReplyBytes", limit: 1 }),
  InvalidArgs: ToolError.InvalidArgs.make({ tool, callId, rawArgs: "{", parseError: "why" }),
  DeserializationError: ToolError.DeserializationError.make({
    tool,
    callId,
    rawValue: {},
    targetType: "parameters",
    issues: []
  }),
  ExecutionError: Factories.fromNetworkError(tool, "local", "why"),
  EscalationError: ToolError.EscalationError.make({ source: "agent", reason: "why" }),
  UnknownToolError: ToolError.UnknownToolError.make({ tool, callId, available: [] }),
  ToolTimeoutError: ToolError.ToolTimeoutError.make({ tool, timeout: Duration.fromInputUnsafe("1 hour") }),
  ToolDeniedError: ToolError.ToolDeniedError.make({ tool, callId, reason: "why" }),
  ApprovalExpiredError: ToolError.ApprovalExpiredError.make({ tool, callId }),
  OutcomeUnknownError: ToolError.OutcomeUnknownError.make({ tool, callId, idempotencyKey: "key" }),
  ToolExecutionError: ToolError.ToolExecutionError.make({ tool: "agent", message: "why" }),
  BudgetExceededError: RunError.BudgetExceededError.make({
    agent: "agent",
    reason: "maxTurns",
    limit: 1,
    spent: 1,
    transcript: [],
    usage: Usage.empty,
    partial: ""
  }),
  InvalidOutputError: RunError.InvalidOutputError.make({
    agent: "agent",
    text: "",
    issues: [],
    transcript: [],
    usage: Usage.empty
  }),
  RoutingError: RunError.RoutingError.make({
    agent: "agent",
    candidates: [],
    answer: "",
    transcript: [],
    usage: Usage.empty
  }),
  LoopExhaustedError: RunError.LoopExhaustedError.make({ iterations: 1, last: null }),
  GuardrailError: RunError.GuardrailError.make({
    agent: "agent",
    guard: "guardrail",
    side: "input",
    reason: "why",
    transcript: [],
    usage: Usage.empty
  }),
  UnknownPriceError: RunError.UnknownPriceError.make({
    agent: "agent",
    model: "model",
    option: "maxCost",
    transcript: [],
    usage: Usage.empty
  }),
  InputTooLargeError: DoorError.InputTooLargeError.make({ what: "what", bound: "depth", limit: 1 }),
  RunLostError: DoorError.RunLostError.make({ executionId: "run", what: "a row" }),
  SnapshotRefusedError: DoorError.SnapshotRefusedError.make({ reason: "unsigned", what: "what" }),
  RunOverError: DoorError.RunOverError.make({ runId: "run" }),
  InboxFullError: DoorError.InboxFullError.make({ runId: "run", limit: 64 }),
  CursorExpiredError: DoorError.CursorExpiredError.make({ oldest: "run.epoch.0" })
}

/** What depends on an error's own data, in words; the numbers are those of the instances. */
const varying: Partial<Record<Tag, Partial<Record<"isRetryable" | "recovery" | "delay" | "attempts", string>>>> = {
  RateLimitError: { delay: `\`retryAfter\`, else ${delayOf("RateLimitError")}` },
  RequestTimeoutError: { delay: `half of the timeout, at most ${delayOf("RequestTimeoutError")}` },
  ToolTimeoutError: {
    isRetryable: "`none` and `idempotent` tools",
    recovery: "resend, else escalate",
    delay: `half of the timeout, at most ${delayOf("ToolTimeoutError")}`,
    attempts: `${instances.ToolTimeoutError.maxAttempts} or 1`
  },
  ExecutionError: {
    isRetryable: "by category",
    recovery: "resend, repair or none, by category",
    delay: `by category, ${delayOf("ExecutionError")}`,
    attempts: `${instances.ExecutionError.maxAttempts} or 1`
  }
}

function delayOf(tag: Tag): string {
  const delay = instances[tag].suggestedDelay
  return Duration.isZero(delay) ? "0" : `${Duration.toSeconds(delay)} s`
}

/** The cells of a row of the overview. */
export const cellsOf = (tag: Tag): ReadonlyArray<string> => {
  const { code, httpStatus, isRetryable, maxAttempts, recovery } = instances[tag]
  const varied = varying[tag] ?? {}
  const { attempts = String(maxAttempts), delay = delayOf(tag), isRetryable: when } = varied
  const retryable = when ?? (isRetryable ? "yes" : "no")
  const then = varied.recovery ?? recovery
  return [`[\`${tag}\`](#${tag.toLowerCase()})`, `\`${code}\``, retryable, then, delay, attempts, `${httpStatus}`]
}

const titles = ["tag", "code", "same input again?", "recovery", "suggested delay", "attempts", "HTTP"]

const overview = (): string =>
  [titles, titles.map(() => "---"), ...RecoveryAdvice.tags.map(cellsOf)]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n")

const factsOf = (tag: string): string => {
  const declared = RecoveryAdvice.tags.find((other) => other === tag)
  if (declared === undefined) throw new Error(`${path}: no error is called ${tag}`)
  const { code, help, title } = RecoveryAdvice.describe(declared)
  return `**${title}** · \`${code}\`. ${help}.`
}

/** The page with its blocks written anew. */
export const render = (page: string): string =>
  page
    .replace(
      /(<!-- overview -->\n)[^]*?(<!-- \/overview -->)/,
      (_all, opening, close) => `${opening}\n${overview()}\n\n${close}`
    )
    .replaceAll(
      /(<!-- facts (\w+) -->\n)[^]*?(<!-- \/facts -->)/g,
      (_all, opening, tag, close) => `${opening}\n${factsOf(tag)}\n\n${close}`
    )

if (import.meta.main) {
  const file = join(root, path)
  writeFileSync(file, render(readFileSync(file, "utf8")))
}
