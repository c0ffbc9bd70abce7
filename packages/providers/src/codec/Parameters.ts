/** Parameters of a model. A parameter that is not set is not sent, so the provider's default holds. */
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

/** The parameters of all providers. Each provider takes those that its format has. */
export interface Parameters {
  /** The sampling temperature: from 0, the likeliest token, to 1 or 2. Many reasoning models refuse it. */
  readonly temperature?: number
  /** Samples only from the likeliest tokens, up to this sum of probabilities. */
  readonly topP?: number
  /** The longest reply, in tokens, reasoning included. */
  readonly maxTokens?: number
  /** Stop sequences: a reply ends before any of these texts. */
  readonly stop?: ReadonlyArray<string>
  /** The same seed gives similar replies, if the provider supports it. */
  readonly seed?: number
  /** How much a reasoning model thinks before it answers. */
  readonly reasoning?: Reasoning
  /**
   * The tool choice when the run leaves it to the model. `required` or a named tool applies to the first reply to a
   * user message only, so that a run can end.
   */
  readonly toolChoice?: Model.ToolChoice
  /** Whether one reply may call several tools. */
  readonly parallelToolCalls?: boolean
  /**
   * Tools that the provider runs itself, as the wire names them, beside those of the agent. Their results are
   * provider items, which are priced by their kind.
   */
  readonly providerTools?: ReadonlyArray<Schema.Json>
  /** How the provider caches the prompt. */
  readonly promptCache?: PromptCache
  /** Further fields of the body, under their names on the wire. They cannot replace fields that the library writes. */
  readonly extra?: Readonly<Record<string, Schema.Json>>
}

/** An effort, as the provider names it (`none`, `minimal`, `low`, `medium`, `high` …), or the most tokens for reasoning. */
export type Reasoning = string | { readonly maxTokens: number }

/** Cache marks in the prompt, for providers that need them, or a key that requests with the same prefix share. */
export interface PromptCache {
  /**
   * Where to put marks: after the tools and the system text, and after the last message, where the mark moves along
   * with the conversation. Both by default.
   */
  readonly breakpoints?: ReadonlyArray<"system" | "conversation">
  /** How long the provider caches marked content; `5m` by default. */
  readonly ttl?: "5m" | "1h"
  /** The key of the cache. */
  readonly key?: string
}

/** The tool choice for this request: `auto`, unless the run or its options set another. */
export const choiceOf = (request: Model.Request, wanted: Model.ToolChoice | undefined): Model.ToolChoice => {
  if (wanted === undefined || request.toolChoice !== "auto" || request.tools.length === 0) return request.toolChoice
  const isForced = wanted === "required" || typeof wanted === "object"
  return isForced && request.messages.at(-1)?.role !== "user" ? "auto" : wanted
}

/** The numeric options of any format. */
interface Numbers extends Pick<Parameters, "temperature" | "topP" | "maxTokens" | "seed"> {
  readonly topK?: number
  readonly numCtx?: number
  readonly keepAlive?: string | number
  readonly reasoning?: unknown
}

/**
 * Checks the numbers: JSON would turn invalid ones into `null`. Throws a `RangeError`. The model itself reports a
 * number that is too high.
 */
export const checked = <A extends Numbers>(parameters: A): A => {
  const { keepAlive, maxTokens, numCtx, reasoning, seed, temperature, topK, topP } = parameters
  demand("temperature", temperature, "at least 0", (value) => Number.isFinite(value) && value >= 0)
  demand("topP", topP, "between 0 and 1", (value) => value >= 0 && value <= 1)
  demand("maxTokens", maxTokens, ...countOf(1))
  demand("topK", topK, ...countOf(1))
  demand("numCtx", numCtx, ...countOf(1))
  demand("seed", seed, "an integer", Number.isSafeInteger)
  if (!Predicate.isString(keepAlive)) demand("keepAlive", keepAlive, "a number of seconds", Number.isFinite)
  if (Predicate.isObject(reasoning) && "maxTokens" in reasoning) {
    // Some formats take -1 for as many as the model wants.
    demand("reasoning.maxTokens", reasoning.maxTokens, ...countOf(-1))
  }
  return parameters
}

const countOf = (least: number) =>
  [`an integer of at least ${least}`, (value: number) => Number.isSafeInteger(value) && value >= least] as const

const demand = (name: string, value: unknown, what: string, isFit: (value: number) => boolean): void => {
  if (value === undefined || (Predicate.isNumber(value) && isFit(value))) return
  throw new RangeError(`Model: ${name} must be ${what}, got ${String(value)}`)
}
