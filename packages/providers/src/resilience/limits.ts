/** Effect's rate limiter before model calls: configured limits, and limits learned from a server's refusals. */
import * as LlmError from "@kintsugi/core/LlmError"
import * as RunContext from "@kintsugi/core/RunContext"
import * as Usage from "@kintsugi/core/Usage"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as RateLimiter from "effect/persistence/RateLimiter"
import { UnhandledLogLevel } from "effect/References"
import { type By, type Call, type Ended, keyOf, nothingToTell, type Policy } from "./call.ts"

/** A number of requests or tokens per window of time. */
export type Limit = (
  | { readonly requests: number; readonly tokens?: never; readonly measure?: never }
  | {
      /**
       * Tokens are counted when the reply arrives, as the provider reports them. A call is admitted while at least
       * one token is left; tokens beyond the limit are missing afterwards. An interrupted call counts one token.
       */
      readonly tokens: number
      readonly requests?: never
      /** The part of the usage that counts; input and output by default. */
      readonly measure?: (usage: Usage.Usage) => number
    }
) & {
  readonly per: Duration.Input
  /** Which calls share the limit; `model` by default, which means provider and name together. */
  readonly by?: By
  /** The longest wait of a call, 60 seconds by default; 0 refuses at once, `Infinity` always waits. */
  readonly maxWait?: Duration.Input
  /** `fixed-window` by default: bursts up to the limit, then nothing until the window is over. `token-bucket` refills steadily. */
  readonly algorithm?: "fixed-window" | "token-bucket"
  /** Distinguishes two otherwise equal limits, and names this limit in errors. */
  readonly name?: string
}

/**
 * Limits learned from a server. After a refusal with a wait, no call starts before the wait ends; then calls start no
 * faster than the server admits.
 */
export interface Adaptive {
  readonly by?: By
  /** The longest wait of a call; 60 seconds by default. */
  readonly maxWait?: Duration.Input
  /** How long a learned limit lasts without a further refusal; 1 minute by default. */
  readonly window?: Duration.Input
}

export type OnStoreError = "allow" | "fail"

/** A policy that still needs the limiter. */
export type Limiting = (limiter: RateLimiter.RateLimiter) => Policy

const tokensOf = ({ inputTokens, outputTokens }: Usage.Usage): number => inputTokens + outputTokens

/** Throws a `RangeError` for senseless options. */
export const limiting = (limit: Limit, onStoreError: OnStoreError): Limiting => {
  const { algorithm = "fixed-window", by, measure = tokensOf } = limit
  const [count, what] = limit.tokens === undefined ? [limit.requests, "requests"] : [limit.tokens, "tokens"]
  if (!(Number.isSafeInteger(count) && count >= 1)) return refuse(what, "a whole number of at least 1", count)
  const per = finite("per", limit.per)
  const maxWait = maxWaitOf(limit.maxWait)
  const name = limit.name ?? `${count} ${what} per ${Duration.format(per)}`
  return (limiter) =>
    Effect.fnUntraced(function* (call) {
      const bucket = { algorithm, key: `${name}:${yield* keyOf(by, call)}`, limit: count, window: per }
      // A call that is refused or interrupted consumes nothing from the limit.
      const consume = Effect.matchEffect(limiter.consume({ ...bucket, onExceeded: "fail" }), {
        onSuccess: () => Effect.succeed<number | undefined>(0),
        onFailure: (error) =>
          error.reason._tag === "RateLimitExceeded"
            ? Effect.succeed(Math.max(1, Math.ceil(Duration.toMillis(error.reason.retryAfter))))
            : storeFailed(error, call, onStoreError)
      })
      const waited = yield* stopwatch
      let wait = yield* consume
      while (wait !== undefined && wait > 0) {
        if ((yield* waited) + wait > maxWait) return yield* exceeded(call, name, wait)
        yield* RunContext.sleep(Duration.millis(wait))
        wait = yield* consume
      }
      if (wait === undefined || what === "requests") return nothingToTell
      return (ended: Ended) => {
        const more = Math.ceil(measure(usageOf(ended))) - 1
        if (!(more > 0)) return Effect.void
        return reported(limiter.consume({ ...bucket, onExceeded: "delay", tokens: more }), call)
      }
    })
}

/** Throws a `RangeError` for senseless options. */
export const adapting = (options: Adaptive, onStoreError: OnStoreError): Limiting => {
  const maxWait = maxWaitOf(options.maxWait)
  const fallbackWindow = finite("window", options.window ?? "1 minute")
  return (limiter) =>
    Effect.fnUntraced(function* (call) {
      const one = { key: yield* keyOf(options.by, call), tokens: 1 }
      const consume = Effect.matchEffect(limiter.adaptiveConsume({ ...one, fallbackLimit: 1, fallbackWindow }), {
        onSuccess: Effect.succeed<RateLimiter.AdaptiveConsumeResult | undefined>,
        onFailure: (error) => storeFailed(error, call, onStoreError)
      })
      const waited = yield* stopwatch
      while (true) {
        const admission = yield* consume
        if (admission === undefined) return nothingToTell
        const { delay, epoch, phase } = admission
        const wait = Duration.toMillis(delay)
        if (wait > 0) {
          if ((yield* waited) + wait > maxWait) return yield* exceeded(call, "what the server admits", wait)
          yield* RunContext.sleep(delay)
          // During the server's wait no call is admitted, so ask again. Afterwards the limiter has reserved a slot
          // for this instant.
          if (phase === "cooldown") continue
        }
        return (ended: Ended) => {
          if (ended.as !== "failure" || ended.error._tag !== "RateLimitError") return Effect.void
          const { retryAfter } = ended.error
          if (retryAfter === undefined) return Effect.void
          return reported(limiter.adaptiveFeedback({ ...one, epoch, status: 429, retryAfter }), call)
        }
      }
    })
}

const usageOf = (ended: Ended): Usage.Usage => {
  if (ended.as === "reply") return ended.usage
  return (ended.as === "failure" ? ended.error.usage : undefined) ?? Usage.empty
}

/** Measures the time from its start. */
const stopwatch = Effect.map(Clock.currentTimeMillis, (start) =>
  Effect.map(Clock.currentTimeMillis, (now) => now - start)
)

const exceeded = ({ model, provider }: Call, limit: string, wait: number) =>
  Effect.fail(
    LlmError.RateLimitError.make({
      service: `own limit: ${limit}`,
      provider,
      model,
      retryAfter: Duration.millis(wait),
      detail: "a limit of this program, the model was not called"
    })
  )

const storeFailed = (
  error: RateLimiter.RateLimiterError,
  { model, provider }: Call,
  onStoreError: OnStoreError
): Effect.Effect<undefined, LlmError.LlmError> =>
  onStoreError === "fail"
    ? Effect.fail(LlmError.UnknownLlmError.make({ model, cause: error, provider }))
    : Effect.as(reportUnhandled("the store of the rate limiter failed, the call goes unlimited", error), undefined)

/** A failed report changes nothing for the call, which is over. */
const reported = (report: Effect.Effect<unknown, RateLimiter.RateLimiterError>, { model }: Call): Effect.Effect<void> =>
  Effect.matchEffect(report, {
    onSuccess: () => Effect.void,
    onFailure: (error) => reportUnhandled(`the store of the rate limiter failed after a call of ${model}`, error)
  })

/** Logs as Effect's own breaker does for errors without a caller. */
const reportUnhandled = (message: string, error: unknown): Effect.Effect<void> =>
  Effect.flatMap(UnhandledLogLevel, (level) =>
    level === undefined ? Effect.void : Effect.logWithLevel(level)(message, error)
  )

const finite = (name: string, input: Duration.Input): Duration.Duration => {
  const duration = Option.getOrUndefined(Duration.fromInput(input))
  if (
    duration === undefined ||
    Number.isNaN(input) ||
    !Duration.isFinite(duration) ||
    Duration.toMillis(duration) < 1
  ) {
    return refuse(name, "a finite duration of at least 1 ms", input)
  }
  return duration
}

/** In milliseconds. */
const maxWaitOf = (input: Duration.Input = "60 seconds"): number => {
  const duration = Option.getOrUndefined(Duration.fromInput(input))
  return duration === undefined || Number.isNaN(input) || Duration.isNegative(duration)
    ? refuse("maxWait", "a duration of at least 0", input)
    : Duration.toMillis(duration)
}

const refuse = (name: string, rule: string, value: unknown): never => {
  throw new RangeError(`Resilience: ${name} must be ${rule}, got ${String(value)}`)
}
