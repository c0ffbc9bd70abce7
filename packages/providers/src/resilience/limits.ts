/** Policies that put Effect's rate limiter before model calls: for configured limits, and for limits learned from a server's refusals. */
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

/** A limit: a number of requests or tokens in a window of time. */
export type Limit = (
  | { readonly requests: number; readonly tokens?: never; readonly measure?: never }
  | {
      /**
       * The number of tokens in a window. A call is admitted while at least one token is left. Its tokens are counted when its reply
       * arrives, as the provider reports them; tokens beyond the limit are missing in the next window. An interrupted call counts one
       * token.
       */
      readonly tokens: number
      readonly requests?: never
      /** Computes the tokens that count from the usage of a reply. By default input and output tokens count. */
      readonly measure?: (usage: Usage.Usage) => number
    }
) & {
  readonly per: Duration.Input
  /** Which calls share the limit. `model`, the default: calls with the same provider and the same model name. */
  readonly by?: By
  /** The longest wait of a call; 60 seconds by default. With 0 no call waits, with `Infinity` every call waits as long as needed. */
  readonly maxWait?: Duration.Input
  /**
   * `fixed-window`, the default, admits calls up to the limit, then none until the window ends. `token-bucket` admits calls at a steady
   * rate.
   */
  readonly algorithm?: "fixed-window" | "token-bucket"
  /** The name of the limit in errors. Two equal limits need different names, or they share their count. */
  readonly name?: string
}

/**
 * Options of the limits that are learned from a server. After a refusal that states a wait, no call starts until the wait ends; then calls
 * start no faster than the server admits.
 */
export interface Adaptive {
  readonly by?: By
  /** The longest wait of a call; 60 seconds by default. */
  readonly maxWait?: Duration.Input
  /** How long a learned limit lasts if the server refuses no further call; 1 minute by default. */
  readonly window?: Duration.Input
}

export type OnStoreError = "allow" | "fail"

/** Makes a policy from Effect's rate limiter. */
export type Limiting = (limiter: RateLimiter.RateLimiter) => Policy

const tokensOf = ({ inputTokens, outputTokens }: Usage.Usage): number => inputTokens + outputTokens

/** Makes the policy of a configured limit. Throws a `RangeError` for an invalid limit. */
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
      // a refused or interrupted call consumes nothing from the limit, because nothing is reserved for it while it waits
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

/** Makes the policy of learned limits. Throws a `RangeError` for invalid options. */
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
          // the server's wait (`cooldown`) admits no call, so the limiter is asked again; otherwise the limiter has reserved a slot for the
          // instant after the delay
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

/** Reads the clock, and returns an effect that measures the milliseconds since then. */
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

/** Reports the end of a call to the rate limiter. If that fails, it is only logged, because the call is over. */
const reported = (report: Effect.Effect<unknown, RateLimiter.RateLimiterError>, { model }: Call): Effect.Effect<void> =>
  Effect.matchEffect(report, {
    onSuccess: () => Effect.void,
    onFailure: (error) => reportUnhandled(`the store of the rate limiter failed after a call of ${model}`, error)
  })

/** Logs an error that has no caller to fail. The level is Effect's `UnhandledLogLevel`, as in Effect's own circuit breaker. */
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

/** Checks the longest wait of a call, and returns it in milliseconds. */
const maxWaitOf = (input: Duration.Input = "60 seconds"): number => {
  const duration = Option.getOrUndefined(Duration.fromInput(input))
  return duration === undefined || Number.isNaN(input) || Duration.isNegative(duration)
    ? refuse("maxWait", "a duration of at least 0", input)
    : Duration.toMillis(duration)
}

const refuse = (name: string, rule: string, value: unknown): never => {
  throw new RangeError(`Resilience: ${name} must be ${rule}, got ${String(value)}`)
}
