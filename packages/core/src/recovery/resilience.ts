/**
 * The tables of `Agent.resilient`: the best policy that needs no knowledge of the tools. What repeats is what the failure itself says may
 * pass, and what may be done twice; everything else the model reads.
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

/** How patient the tables are. */
export interface ToolOptions {
  /** How often a call is run again; 3 by default. */
  readonly toolRetries?: number
}

/** How patient the tables are with models. */
export interface ModelOptions<R = never> {
  /** How often a model call is made again; 4 by default. */
  readonly modelRetries?: number
  /** What makes a conversation shorter that is too long; by default long results are cut, then the oldest messages are dropped. */
  readonly compaction?: Compaction<R>
}

/**
 * For all tools: a failure that may pass is met with another run, after half a second, then twice as long each time and 10 seconds at most,
 * with jitter, and as late as a server asks for. Then, and for every other failure, the model reads what it can do. A tool with unsafe
 * side effects never runs again, and a tool that declares none only where nothing was sent. The table stands behind all other rows: the
 * model also reads the failures that these rows give up.
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

/** Whether another run may help, and does no harm. */
const mayRepeat = (error: unknown, { sideEffects }: Verdict.FailureContext): boolean => {
  if (outlookOf(error)?.isRetryable !== true) return false
  return sideEffects === "none" || sideEffects === "idempotent" || (sideEffects === "undeclared" && isUnsent(error))
}

/** Whether a failure came before anything was sent. */
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

/** Cuts every text that a tool call was settled with to 2,000 characters. */
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
 * For model calls, in the place of the resends of transports: a call whose failure may pass is repeated after a second, then twice as long
 * each time and 30 seconds at most, with jitter, and as late as the server asks for. A conversation that is too long is shortened.
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
