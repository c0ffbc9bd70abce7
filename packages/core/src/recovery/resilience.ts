/**
 * The tables of `Agent.resilient`, a policy that knows nothing about the tools. It repeats a call if the failure says that it may pass and
 * a repetition does no harm. The model reads all other failures.
 */
import * as Duration from "effect/Duration"
import * as ForeignFailure from "../errors/ForeignFailure.ts"
import { outlookOf } from "../errors/RecoveryAdvice.ts"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import type { Compaction } from "./Compaction.ts"
import * as Compactions from "./Compaction.ts"
import { truncated } from "./truncation.ts"
import { ladder, when } from "./ladder.ts"
import * as Verdict from "./Verdict.ts"

/** How often the table for tools repeats a call. */
export interface ToolOptions {
  /** The number of repetitions of a tool call; 3 by default. */
  readonly toolRetries?: number
}

/** How often the table for model calls repeats a call, and how it shortens conversations. */
export interface ModelOptions<R = never> {
  /** The number of repetitions of a model call; 4 by default. */
  readonly modelRetries?: number
  /** Shortens a conversation that is too long. By default long results are cut, then the oldest messages are dropped. */
  readonly compaction?: Compaction<R>
}

/**
 * The table for tools. It repeats a call whose failure may pass: first after 500 ms, then after twice as long each time up to 10 seconds,
 * with jitter, and never earlier than a server asks for. The model reads any other failure, and a failure that remains after the
 * repetitions. An `unsafe` tool never runs again. A tool with `undeclared` side effects runs again only if its request was not sent. The
 * table decides after all other rows, so the model also reads failures that those rows gave up.
 */
export const resilientTools = ({ toolRetries = 3 }: ToolOptions = {}) => {
  const retry = Verdict.retry<unknown>({
    retries: toolRetries,
    initialBackoff: Duration.millis(500),
    maxBackoff: "10 seconds",
    jitter: "equal"
  })
  const telling = Verdict.tell<unknown>()
  const patient = ladder(retry, telling)
  const orElse = when((error: unknown, context) => (mayRepeat(error, context) ? patient : telling), {
    among: [patient, telling]
  })
  return { orElse: Verdict.backstop(orElse, telling) }
}

/** Whether another run may help and does no harm. */
const mayRepeat = (error: unknown, { sideEffects }: Verdict.FailureContext): boolean => {
  if (outlookOf(error)?.isRetryable !== true) return false
  return sideEffects === "none" || sideEffects === "idempotent" || (sideEffects === "undeclared" && isUnsent(error))
}

/** Whether the request failed before it was sent. */
const isUnsent = (error: unknown): boolean => {
  const failure = ForeignFailure.of(error)
  return failure?.type === "connection" && beforeSending.has(failure.connection)
}

const beforeSending: ReadonlySet<ReturnType<typeof ForeignFailure.connectionOf>> = new Set([
  "refused",
  "unresolved",
  "unreachable",
  "slow-connect"
])

/** Cuts the text of every settled tool call to 2,000 characters. */
const shrinkResults = Compactions.make("shrinkResults", ({ transcript }) =>
  transcript.map((message) =>
    message.role === "assistant" ? { ...message, content: message.content.map(shrunk) } : message
  )
)

const shrunk = (part: Message.Assistant["content"][number]): Message.Assistant["content"][number] =>
  part.type === "settled-call"
    ? { ...part, settlement: { ...part.settlement, text: truncated(part.settlement.text, 2000) } }
    : part

/**
 * The table for model calls. It replaces the resends of transports, and repeats a call whose failure may pass: first after 1 second, then
 * after twice as long each time up to 30 seconds, with jitter, and never earlier than the server asks for. It shortens a conversation that
 * is too long.
 */
export const resilientModel = <R = never>({ compaction, modelRetries = 4 }: ModelOptions<R> = {}) => {
  const retry = Verdict.retry<LlmError>({
    retries: modelRetries,
    initialBackoff: "1 second",
    maxBackoff: "30 seconds",
    jitter: "equal"
  })
  return {
    RateLimitError: retry,
    ModelOverloadedError: retry,
    ServerError: retry,
    NetworkError: retry,
    RequestTimeoutError: retry,
    EmptyReplyError: retry,
    UnknownLlmError: retry,
    ContextTooLongError:
      compaction === undefined
        ? ladder(
            Verdict.compact<LlmError, R>(shrinkResults),
            Verdict.compact<LlmError, R>(Compactions.dropOldest({ keepLast: 4 }))
          )
        : Verdict.compact<LlmError, R>(compaction)
  }
}
