/** The body fields for the parameters of a Claude model. */
import type * as Schema from "effect/Schema"
import * as Predicate from "effect/Predicate"
import type { AnthropicParameters, Reasoning } from "../Parameters.ts"

/** The default longest reply of a model without a family of its own: every served model supports it. */
const usualMaxTokens = 8192

/** With an effort the model itself decides how long it thinks, and all of its thinking counts. */
const thinkingMaxTokens = 32_000

/** The body fields that are the same for every request. */
export interface Fields {
  readonly head: Readonly<Record<string, Schema.Json | undefined>>
  /** Left out of a request that the provider would refuse with it. */
  readonly thinking: Schema.Json | undefined
  /** The output config without the output format. */
  readonly outputConfig: Schema.JsonObject
}

export const fieldsOf = (model: string, parameters: AnthropicParameters, usual = usualMaxTokens): Fields => {
  const { extra = {}, maxTokens, reasoning, stop, temperature, topK, topP } = parameters
  const { messages: _m, output_config, stream: _s, system: _y, thinking, tool_choice: _c, tools: _t, ...others } = extra
  const wanted = reasoningOf(reasoning, usual)
  return {
    head: {
      ...others,
      model,
      max_tokens: maxTokens ?? wanted.maxTokens,
      // what is not set leaves a field of `extra`
      ...(temperature === undefined ? {} : { temperature }),
      ...(topP === undefined ? {} : { top_p: topP }),
      ...(topK === undefined ? {} : { top_k: topK }),
      ...(stop === undefined ? {} : { stop_sequences: stop })
    },
    thinking: wanted.thinking === undefined ? thinking : { ...objectOf(thinking), ...wanted.thinking },
    outputConfig: { ...objectOf(output_config), ...wanted.effort }
  }
}

const objectOf = (json: Schema.Json | undefined): Schema.JsonObject =>
  // values within JSON are JSON
  Predicate.isObject(json) ? (json as Schema.JsonObject) : {}

interface Wanted {
  readonly thinking?: Schema.JsonObject
  readonly effort?: Schema.JsonObject
  readonly maxTokens: number
}

const reasoningOf = (reasoning: Reasoning | undefined, usual: number): Wanted => {
  if (reasoning === undefined) return { maxTokens: usual }
  if (reasoning === "none") return { thinking: { type: "disabled" }, maxTokens: usualMaxTokens }
  // no thoughts before the answer, only between calls
  if (reasoning === "between_tools") return { thinking: { type: reasoning }, maxTokens: usual }
  if (Predicate.isString(reasoning)) {
    return { thinking: { type: "adaptive" }, effort: { effort: reasoning }, maxTokens: thinkingMaxTokens }
  }
  const { maxTokens } = reasoning
  if (maxTokens === 0) return { thinking: { type: "disabled" }, maxTokens: usualMaxTokens }
  return { thinking: { type: "enabled", budget_tokens: maxTokens }, maxTokens: maxTokens + usualMaxTokens }
}
