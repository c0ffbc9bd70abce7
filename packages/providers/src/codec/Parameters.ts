/** The parameters of models, by wire format. A parameter that is not set is not sent, so the provider's default holds. */
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

/** The parameters of all wire formats. The parameters of each format are a selection of these. */
interface Every {
  /** The sampling temperature: from 0, the likeliest token, to 1 or 2. Many reasoning models refuse it. */
  readonly temperature?: number
  /** Samples only from the likeliest tokens, up to this sum of probabilities. */
  readonly topP?: number
  /** The most tokens of a reply, reasoning included. */
  readonly maxTokens?: number
  /** Stop sequences: a reply ends before any of these texts. */
  readonly stop?: ReadonlyArray<string>
  /** The seed of the sampling. Requests with the same seed get similar replies, if the provider supports it. */
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
  /**
   * The tier that is to serve requests, in the words of the provider: `flex` or `priority` for OpenAI, Gemini and OpenRouter, `auto` or
   * `standard_only` for Anthropic, `reserved` for Bedrock, `on_demand` for Groq. A reply names the tier that served it.
   */
  readonly serviceTier?: string
  /** How long an answer is to be, in the words of the provider: `low`, `medium`, `high`. */
  readonly verbosity?: string
  /**
   * Further fields of the body, under their names on the wire. A field wins over the option that sets it; objects are merged, unless their
   * types differ. A field that only the library writes (messages, tools, tool choice, model, stream), or that asks for several replies
   * (`n`), is a `RangeError`. The `options` of a request are such fields too, and override these; there the error is an
   * `InvalidRequestError`.
   */
  readonly extra?: Readonly<Record<string, Schema.Json>>
}

/** An effort, as the provider names it (`none`, `minimal`, `low`, `medium`, `high` …), or the most tokens for reasoning. */
export type Reasoning = string | { readonly maxTokens: number }

/** Cache marks in the prompt, for providers that need them, or a key that requests with the same prefix share. */
interface PromptCache {
  /**
   * Where to put marks: after the tools; after the tools and the system text; and after the last message, where the mark moves along
   * with the conversation. The last two by default.
   */
  readonly breakpoints?: ReadonlyArray<"tools" | "system" | "conversation">
  /** How long the provider caches marked content; `5m` by default. */
  readonly ttl?: "5m" | "1h"
  /** The key of the cache. */
  readonly key?: string
}

/** Options of OpenAI's cache (developers.openai.com/api/docs/guides/prompt-caching, looked up on 2026-11-26). */
interface OpenAiCache extends Pick<PromptCache, "key"> {
  /** Puts a cache mark behind the system text, for models from GPT-5.6 on. These models mark the end of the conversation themselves. */
  readonly breakpoints?: ReadonlyArray<"system">
  /**
   * How long the prompt stays cached. For models before GPT-5.6: `in_memory` or `24h`. For later models: at least `30m`, or `12h` at Azure.
   */
  readonly ttl?: "in_memory" | "24h" | "30m" | "12h"
}

/** Requires at least one of these options. A cache without any option is the automatic one. */
type SomeOf<A> = { readonly [Name in keyof A]-?: A & Required<Pick<A, Name>> }[keyof A]

/** The parameters of Anthropic's Messages. `maxTokens` is always sent. */
export interface AnthropicParameters extends Pick<
  Every,
  | "temperature"
  | "topP"
  | "stop"
  | "reasoning"
  | "toolChoice"
  | "parallelToolCalls"
  | "providerTools"
  | "serviceTier"
  | "extra"
> {
  /**
   * The most tokens of a reply, reasoning included. The wire demands a number. The default is 8192; with a budget of reasoning it is that
   * budget plus 8192. With an effort, and for a model that thinks unless it is told otherwise, it is 32000.
   */
  readonly maxTokens?: number
  /** How many of the likeliest tokens the model samples from. */
  readonly topK?: number
  /** Where to put cache marks; no marks by default. This format has no key. */
  readonly promptCache?: MarkedCache
  /**
   * Whether a reply has summaries of its thoughts. By default the model decides: models from Claude Opus 4.7 on send none. `true` without
   * `reasoning` lets the model think as much as it wants.
   */
  readonly includeThoughts?: boolean
}

interface MarkedCache extends Omit<PromptCache, "key" | "breakpoints"> {
  /** The places of `PromptCache`, or `automatic`: then the provider marks the last block that it can cache. */
  readonly breakpoints?: ReadonlyArray<"automatic" | NonNullable<PromptCache["breakpoints"]>[number]>
}

/**
 * The parameters of Bedrock's Converse. `reasoning` is sent in the words of Claude, Nova and OpenAI, and refused for other models. Without
 * `maxTokens`, Bedrock reserves the model's longest reply from the account's quota.
 */
export interface BedrockParameters extends Pick<
  Every,
  "temperature" | "topP" | "maxTokens" | "stop" | "reasoning" | "toolChoice" | "providerTools" | "serviceTier" | "extra"
> {
  /** Where to put cache points; none by default. This format has no key. */
  readonly promptCache?: Omit<PromptCache, "key">
}

/** The parameters of chat completions. Reasoning in tokens is an `InvalidRequestError` if the server takes only an effort. */
export interface ChatParameters extends Omit<Every, "promptCache"> {
  /** The cache key that requests with the same prefix share, a mark behind the system text, and how long the cache lasts. */
  readonly promptCache?: SomeOf<OpenAiCache>
}

/**
 * The parameters of Gemini's `generateContent`. `reasoning` is a level (`thinkingLevel`) or a budget (`thinkingBudget`); `none` is a budget
 * of 0. Gemini 2.5 takes no levels, and Gemini 3 no budgets: a layer converts between them by Google's budgets for `low`, `medium` and
 * `high`, which are 1024, 8192 and 24576 tokens.
 */
export interface GeminiParameters extends Pick<
  Every,
  | "temperature"
  | "topP"
  | "maxTokens"
  | "stop"
  | "seed"
  | "reasoning"
  | "toolChoice"
  | "providerTools"
  | "serviceTier"
  | "extra"
> {
  /**
   * The name of a content that you have cached, as in `cachedContents/abc`. The content holds the prompt and the tools, its own and those
   * of the agent. Google refuses a request that repeats them, so they are not sent, and a forced call is a `CapabilityMismatchError`
   * (github.com/langchain-ai/langchain-google/issues/1618, looked up on 2026-11-26).
   */
  readonly promptCache?: { readonly name: string }
  /** Whether a reply has summaries of its thoughts. By default it has them if `reasoning` asks for thoughts. */
  readonly includeThoughts?: boolean
}

/** The parameters of Ollama's own chat. `truncate` is always sent. `maxTokens` is Ollama's `num_predict`. */
export interface OllamaParameters extends Pick<
  Every,
  "temperature" | "topP" | "maxTokens" | "stop" | "seed" | "extra"
> {
  /** Whether a reasoning model thinks; for models with levels, `low`, `medium` or `high`. `none` is `false`. */
  readonly reasoning?: boolean | string
  /**
   * The context size: the tokens of prompt and reply together. The server's own default may be as small as 4096. The server may cut a
   * longer prompt silently. The library reports that as an error only if it knows the size: from this option, from `num_ctx` in `options`
   * of `extra`, or from `contextWindow` of the `capabilities`.
   */
  readonly numCtx?: number
  /** How long the model stays loaded after the reply: `5m`, or seconds; 0 unloads it at once, a negative number keeps it loaded. */
  readonly keepAlive?: string | number
  /**
   * Whether the server may drop the oldest messages of a prompt that is too long. By default it may not: such a prompt is a
   * `ContextTooLongError`. With `true`, or if a cut is only likely, the reply has a provider item of the kind `truncated_prompt`.
   */
  readonly truncate?: boolean
}

/** The parameters of OpenAI's Responses. */
export type ResponsesParameters = Responses & (Storing | Chaining)

interface Storing {
  /** Whether the provider stores replies; `false` by default, and `true` with `background`. */
  readonly store?: boolean
  readonly chained?: false
}

interface Chaining {
  readonly store: true
  /**
   * Whether a request names the stored reply before it (`previous_response_id`) and sends only the messages after it. It needs `store:
   * true`; `false` by default. The whole transcript is sent if the part before the reply has changed: after a compaction, an edit or a
   * change of the system text, and for another model or account. It is also sent, once and with a warning in the log, if the provider does
   * not know the stored reply, or accepts none. The system text is part of the stored conversation.
   *
   * Accounts are distinguished by key, organization, project, base URL and plain headers. A key that an effect gives is not known before
   * the send; then the provider decides. A transcript names the stored reply, and is not signed: a client that can write the transcript can
   * name any stored reply of the account. Check what clients send, or keep transcripts on the server.
   */
  readonly chained?: boolean
}

interface Responses extends Pick<
  Every,
  | "temperature"
  | "topP"
  | "maxTokens"
  | "toolChoice"
  | "parallelToolCalls"
  | "providerTools"
  | "serviceTier"
  | "verbosity"
  | "extra"
> {
  /** An effort: `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, depending on the model. */
  readonly reasoning?: string
  /** Asks for a summary of the reasoning: `auto`, `concise`, `detailed`. Without it the reasoning has no readable text. */
  readonly reasoningSummary?: string
  /**
   * Whether the provider makes replies in the background. Then a request only begins a reply, and the library asks for it every 2 seconds,
   * or reads it as a stream, until it is complete. `requestTimeout` bounds each of these requests, not the wait. A retry, and a durable run
   * after a crash, ask for the same reply; an interruption cancels it. `false` by default.
   */
  readonly background?: boolean
  /**
   * Whether to request reasoning in encrypted form, so that it can be sent back although replies are not stored. The default is `true` if
   * replies are not stored, except for models that refuse it: `gpt-4o` and other models without reasoning.
   */
  readonly encryptedReasoning?: boolean
  /** Whether schemas that fit are sent in OpenAI's strict dialect; `true` by default. */
  readonly strict?: boolean
  /** The cache key that requests with the same prefix share, a mark behind the system text, and how long the cache lasts. */
  readonly promptCache?: SomeOf<OpenAiCache>
}

/**
 * The tool choice of a request. If the run leaves it at `auto`, the choice of the layer's options applies; a forced choice applies only to
 * the first reply to a user message.
 */
export const choiceOf = (request: Model.Request, wanted: Model.ToolChoice | undefined): Model.ToolChoice => {
  if (wanted === undefined || request.toolChoice !== "auto" || request.tools.length === 0) return request.toolChoice
  return isForced(wanted) && request.messages.at(-1)?.role !== "user" ? "auto" : wanted
}

/**
 * Whether the provider runs tools of its own for requests with these parameters. Fields of `extra` that do this are
 * known by their names.
 */
export const providesTools = ({
  extra = {},
  providerTools = []
}: {
  readonly extra?: Every["extra"] | undefined
  readonly providerTools?: Every["providerTools"] | undefined
}): boolean => providerTools.length > 0 || switches.some((name) => Object.hasOwn(extra, name))

/** The fields that switch on a search, plugins or tool servers of the provider: of OpenAI and Perplexity, OpenRouter, Anthropic, xAI. */
const switches = ["web_search_options", "plugins", "mcp_servers", "search_parameters"]

/** Whether a tool choice forces the model to call a tool. */
export const isForced = (wanted: Model.ToolChoice | undefined): boolean =>
  wanted === "required" || typeof wanted === "object"

/** The numeric options of any format. */
interface Numbers extends Pick<Every, "temperature" | "topP" | "maxTokens" | "seed"> {
  readonly topK?: number
  readonly numCtx?: number
  readonly keepAlive?: string | number
  readonly reasoning?: unknown
  readonly capabilities?: { readonly [Name in (typeof counts)[number]]?: number }
}

/** The options of `capabilities` that are numbers. */
const counts = ["contextWindow", "leastBudget", "maxTokens"] as const

/**
 * Checks the numbers among the parameters, because JSON would turn invalid ones into `null`. Throws a `RangeError`. A number that is too
 * high for the model is left to the provider to refuse.
 */
export const checked = <A extends Numbers>(parameters: A): A => {
  const { capabilities, keepAlive, maxTokens, numCtx, reasoning, seed, temperature, topK, topP } = parameters
  demand("temperature", temperature, "at least 0", (value) => Number.isFinite(value) && value >= 0)
  demand("topP", topP, "between 0 and 1", (value) => value >= 0 && value <= 1)
  demand("maxTokens", maxTokens, ...countOf(1))
  demand("topK", topK, ...countOf(1))
  demand("numCtx", numCtx, ...countOf(1))
  demand("seed", seed, "an integer", Number.isSafeInteger)
  if (!Predicate.isString(keepAlive)) demand("keepAlive", keepAlive, "a number of seconds", Number.isFinite)
  if (Predicate.isObject(reasoning) && "maxTokens" in reasoning) {
    // Some formats take -1, which lets the model choose the number.
    demand("reasoning.maxTokens", reasoning.maxTokens, ...countOf(-1))
  }
  for (const name of counts) demand(`capabilities.${name}`, capabilities?.[name], ...countOf(1))
  return parameters
}

const countOf = (least: number) =>
  [`an integer of at least ${least}`, (value: number) => Number.isSafeInteger(value) && value >= least] as const

const demand = (name: string, value: unknown, what: string, isFit: (value: number) => boolean): void => {
  if (value === undefined || (Predicate.isNumber(value) && isFit(value))) return
  throw new RangeError(`Model: ${name} must be ${what}, got ${String(value)}`)
}
