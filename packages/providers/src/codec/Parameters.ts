/** What may be asked of a model besides the conversation. What is not given is not sent, and the provider's own default holds. */
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

/** All that one provider or another can be asked. Each takes the part that it has words for. */
export interface Parameters {
  /** How freely the next token is chosen: from 0, the likeliest, to 1 or 2. Many reasoning models refuse it. */
  readonly temperature?: number
  /** Only the likeliest tokens are chosen from, up to this sum of probabilities. */
  readonly topP?: number
  /** The longest reply, in tokens; reasoning counts. */
  readonly maxTokens?: number
  /** A reply ends before any of these texts. */
  readonly stop?: ReadonlyArray<string>
  /** The same seed gives similar replies, where the provider can. */
  readonly seed?: number
  /** How much a reasoning model is to think before it answers. */
  readonly reasoning?: Reasoning
  /**
   * What is asked for where the run leaves it to the model: `required` or one tool hold for the first reply to a user only, so
   * that a run can end.
   */
  readonly toolChoice?: Model.ToolChoice
  /** Whether one reply may call several tools. */
  readonly parallelToolCalls?: boolean
  /**
   * Tools that the provider runs on its own side, as the wire names them, beside those of the agent. What they did comes as
   * provider items, which are priced by their kind.
   */
  readonly providerTools?: ReadonlyArray<Schema.Json>
  /** How the prompt is kept in the provider's cache. */
  readonly promptCache?: PromptCache
  /** Further fields of the body, as the wire names them. They cannot replace those that the library writes itself. */
  readonly extra?: Readonly<Record<string, Schema.Json>>
}

/** An effort, in the provider's words (`none`, `minimal`, `low`, `medium`, `high` …), or the most tokens that may go into it. */
export type Reasoning = string | { readonly maxTokens: number }

/** Marks in the prompt, for providers that want to be told what to keep, or a key that requests with one beginning share. */
export interface PromptCache {
  /**
   * Where a mark is put: after the tools and the system text, and after the last message, which moves along with the
   * conversation. Both by default.
   */
  readonly breakpoints?: ReadonlyArray<"system" | "conversation">
  /** For how long the provider keeps what is marked; `5m` by default. */
  readonly ttl?: "5m" | "1h"
  /** Sent as the key of the cache. */
  readonly key?: string
}

/** The choice for this request: the model's own, unless the run or its options say otherwise. */
export const choiceOf = (request: Model.Request, wanted: Model.ToolChoice | undefined): Model.ToolChoice => {
  if (wanted === undefined || request.toolChoice !== "auto" || request.tools.length === 0) return request.toolChoice
  const isForced = wanted === "required" || typeof wanted === "object"
  return isForced && request.messages.at(-1)?.role !== "user" ? "auto" : wanted
}

/** The options that are numbers, of any format. */
interface Numbers extends Pick<Parameters, "temperature" | "topP" | "maxTokens" | "seed"> {
  readonly topK?: number
  readonly numCtx?: number
  readonly keepAlive?: string | number
  readonly reasoning?: unknown
}

/**
 * The same parameters, once their numbers are known to make sense: JSON would say `null` for what is none. Throws a
 * `RangeError`. How high a number may be is for the model to say.
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
    // some formats take -1 for as many as the model wants
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
