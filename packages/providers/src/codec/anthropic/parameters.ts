/** What may be asked of a Claude model, and the fields of the body that say it. */
import type * as Schema from "effect/Schema"
import * as Predicate from "effect/Predicate"
import type * as Params from "../Parameters.ts"

/** What may be asked of the model besides the conversation. What is not given is not sent, `maxTokens` excepted. */
export interface Parameters extends Pick<
  Params.Parameters,
  "temperature" | "topP" | "stop" | "reasoning" | "toolChoice" | "parallelToolCalls" | "providerTools" | "extra"
> {
  /**
   * The longest reply, in tokens; reasoning counts. The wire demands a number: 8192 by default, with a budget for reasoning
   * that much beyond it, and 32000 with an effort.
   */
  readonly maxTokens?: number
  /** Only so many of the likeliest tokens are chosen from. */
  readonly topK?: number
  /** Where marks for the provider's cache are put; none without it. There is no key here. */
  readonly promptCache?: Omit<Params.PromptCache, "key">
}

/** The longest reply where nothing else is said: what every model that is still served can give. */
const usualMaxTokens = 8192

/** With an effort the model itself decides how long it thinks, and whatever it thinks counts. */
const thinkingMaxTokens = 32_000

/** The fields that are the same for every request. */
export interface Fields {
  readonly head: Readonly<Record<string, Schema.Json | undefined>>
  /** Left out where the request has no room for it. */
  readonly thinking: Schema.Json | undefined
  /** Without the format of the output. */
  readonly outputConfig: Schema.JsonObject
}

export const fieldsOf = (model: string, parameters: Parameters): Fields => {
  const { extra = {}, maxTokens, reasoning, stop, temperature, topK, topP } = parameters
  const { messages: _m, output_config, stream: _s, system: _y, thinking, tool_choice: _c, tools: _t, ...others } = extra
  const wanted = reasoningOf(reasoning)
  return {
    head: {
      ...others,
      model,
      max_tokens: maxTokens ?? wanted.maxTokens,
      temperature,
      top_p: topP,
      top_k: topK,
      stop_sequences: stop
    },
    thinking: wanted.thinking === undefined ? thinking : { ...objectOf(thinking), ...wanted.thinking },
    outputConfig: { ...objectOf(output_config), ...wanted.effort }
  }
}

const objectOf = (json: Schema.Json | undefined): Schema.JsonObject =>
  // an object within JSON holds JSON
  Predicate.isObject(json) ? (json as Schema.JsonObject) : {}

interface Wanted {
  readonly thinking?: Schema.JsonObject
  readonly effort?: Schema.JsonObject
  readonly maxTokens: number
}

const reasoningOf = (reasoning: Params.Reasoning | undefined): Wanted => {
  if (reasoning === undefined) return { maxTokens: usualMaxTokens }
  if (reasoning === "none") return { thinking: { type: "disabled" }, maxTokens: usualMaxTokens }
  if (Predicate.isString(reasoning)) {
    return { thinking: { type: "adaptive" }, effort: { effort: reasoning }, maxTokens: thinkingMaxTokens }
  }
  const { maxTokens } = reasoning
  if (maxTokens === 0) return { thinking: { type: "disabled" }, maxTokens: usualMaxTokens }
  return { thinking: { type: "enabled", budget_tokens: maxTokens }, maxTokens: maxTokens + usualMaxTokens }
}
