/** What may be done after an error: the part of its advice that can depend on its own data. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { property } from "../data/Foreign.ts"

export const recoveryKinds = ["resend", "repair", "shrink", "fallback", "escalate", "none"] as const

/** What helps when sending the same input again does not. */
export type RecoveryKind = (typeof recoveryKinds)[number]

/** What to do after an error: whether, when and how often the same input may be sent again. */
export interface Outlook {
  /** Whether sending the same input again is safe and sensible. */
  readonly isRetryable: boolean
  readonly recovery: RecoveryKind
  /** How long to wait before the next attempt; zero unless retryable. */
  readonly suggestedDelay: Duration.Duration
  /** How many attempts make sense in all, the first included; 1 unless retryable. */
  readonly maxAttempts: number
}

/** Sending the same input again does not help. */
export const final = (recovery: RecoveryKind): Outlook => ({
  isRetryable: false,
  recovery,
  suggestedDelay: Duration.zero,
  maxAttempts: 1
})

/** Sending it again helps, after a wait of at least 1 ms. */
export const resend = (delay: Duration.Input, maxAttempts: number): Outlook => ({
  isRetryable: true,
  recovery: "resend",
  suggestedDelay: Duration.max(Duration.fromInputUnsafe(delay), Duration.millis(1)),
  maxAttempts
})

/** After a limit of the rate that says no more: the most generous advice of all. */
export const generous = resend("60 seconds", 6)

/** The wait after a timeout: half of the limit, 5 s at most. */
export const halfOf = (timeout: Duration.Duration): Duration.Duration =>
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

export type Category = (typeof categories)[number]

/** After a failure that says no more than that it will pass. */
const again = resend("1 second", 4)

/** A failure inside a tool, and what lies beneath it. */
export interface Categorised {
  readonly category: Category
  readonly cause?: unknown
  readonly status?: number
  readonly lent?: Lent
}

/** What a failure of a tool lends to the error that is put around it, as it is written down. */
export interface Lent extends Schema.Schema.Type<typeof Lent> {}

export const Lent = Schema.Struct({
  code: Schema.optionalKey(Schema.String),
  outlook: Schema.optionalKey(
    Schema.Struct({
      isRetryable: Schema.Boolean,
      recovery: Schema.Literals(recoveryKinds),
      suggestedDelay: Schema.Duration,
      maxAttempts: Schema.Finite
    })
  )
})

/** What was lent comes first, then the status; a failure of a model advises for itself; else the category decides. */
export const byCategory = ({ category, cause, lent, status }: Categorised): Outlook => {
  if (lent?.outlook !== undefined) return lent.outlook
  if (status !== undefined && retryableStatuses.has(status)) return again
  return (category === "llm" ? outlookOf(cause) : undefined) ?? ofCategory[category].outlook
}

/** Client errors that waiting cures: request timeout, too early, too many requests. */
const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429])

/** How a category reads in a log, and what may be done after a failure that says no more. */
export const ofCategory: Readonly<Record<Category, { readonly label: string; readonly outlook: Outlook }>> = {
  network: { label: "Network error", outlook: again },
  parameter: { label: "Parameter error", outlook: final("repair") },
  client: { label: "Client error", outlook: final("none") },
  server: { label: "Server error", outlook: again },
  validation: { label: "Validation error", outlook: final("repair") },
  llm: { label: "Model error", outlook: final("none") },
  mcp: { label: "MCP error", outlook: again },
  invocation: { label: "Invocation error", outlook: final("none") },
  unknown: { label: "Unknown error", outlook: final("none") }
}

/**
 * The advice that a value carries itself, if it carries one. Whatever is senseless in it is filled in.
 *
 * @internal
 */
export const outlookOf = (value: unknown): Outlook | undefined => {
  const isRetryable = property(value, "isRetryable")
  if (isRetryable === false) {
    const recovery = property(value, "recovery")
    return final(isRecoveryKind(recovery) && recovery !== "resend" ? recovery : "none")
  }
  if (isRetryable !== true) return undefined
  const delay = property(value, "suggestedDelay")
  const attempts = property(value, "maxAttempts")
  return resend(
    Duration.isDuration(delay) && Duration.isFinite(delay) ? delay : again.suggestedDelay,
    Predicate.isNumber(attempts) && Number.isSafeInteger(attempts) && attempts > 1 ? attempts : again.maxAttempts
  )
}

const isRecoveryKind = (value: unknown): value is RecoveryKind => recoveryKinds.some((kind) => kind === value)
