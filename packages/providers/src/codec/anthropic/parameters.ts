/** Makes the fields of a body from the parameters of a Claude model. */
import type * as Schema from "effect/Schema"
import * as Predicate from "effect/Predicate"
import type { AnthropicParameters, Reasoning } from "../Parameters.ts"
import * as Json from "../../transport/Json.ts"
import * as Extra from "../Extra.ts"

/** The fields of a body that this format writes alone, and those that it merges with the user's. */
export const own: Extra.Own = {
  written: {
    messages: "the messages of the request",
    model: "the option model",
    stream: "Model.stream or a streamed run",
    system: "the prompt of the agent",
    tool_choice: "the options toolChoice and parallelToolCalls",
    tools: "the tools of the agent, or the option providerTools"
  },
  merged: { output_config: "object" }
}

/** The default of `max_tokens` for a model without a family in the table. Every served model supports it. */
const usualMaxTokens = 8192

/** The default of `max_tokens` with an effort: the model decides how long it thinks, and all of its thinking counts. */
const thinkingMaxTokens = 32_000

/** The fields of a body that are the same in every request. */
export interface Fields {
  readonly head: Schema.JsonObject
  /** The field `thinking`; `undefined` if the parameters set nothing for it. */
  readonly thinking: Schema.Json | undefined
  /** The field `output_config`, without the format of the output. */
  readonly outputConfig: Schema.JsonObject
}

export const fieldsOf = (model: string, parameters: AnthropicParameters, usual = usualMaxTokens): Fields => {
  const { extra, includeThoughts, maxTokens, promptCache, reasoning, serviceTier, stop, temperature, topK, topP } =
    parameters
  const wanted = reasoningOf(reasoning, usual)
  const { output_config, thinking, ...head } = Extra.merged(
    {
      model,
      max_tokens: maxTokens ?? wanted.maxTokens,
      temperature,
      top_p: topP,
      top_k: topK,
      stop_sequences: stop,
      thinking: shownAs(wanted.thinking, includeThoughts),
      service_tier: serviceTier,
      cache_control: promptCache?.breakpoints?.includes("automatic") === true ? markOf(promptCache) : undefined,
      output_config: wanted.effort
    },
    extra
  )
  return { head, thinking, outputConfig: Json.object(output_config) ?? {} }
}

/** The mark on a block up to which the provider caches the prompt. */
export const markOf = ({ ttl }: NonNullable<AnthropicParameters["promptCache"]>): Schema.JsonObject =>
  ttl === undefined ? { type: "ephemeral" } : { type: "ephemeral", ttl }

/**
 * Sets whether a reply has summaries of its thoughts (`display`). From Claude Opus 4.7 on the default is `omitted`
 * (platform.claude.com/docs/en/build-with-claude/adaptive-thinking, quoted by github.com/docker/docker-agent/pull/3415, looked up on
 * 2026-11-26).
 */
const shownAs = (
  thinking: Schema.JsonObject | undefined,
  isShown: boolean | undefined
): Schema.JsonObject | undefined => {
  if (isShown === undefined || thinking?.["type"] === "disabled") return thinking
  if (thinking === undefined) return isShown ? { type: "adaptive", display: "summarized" } : undefined
  return { ...thinking, display: isShown ? "summarized" : "omitted" }
}

interface Wanted {
  readonly thinking?: Schema.JsonObject
  readonly effort?: Schema.JsonObject
  readonly maxTokens: number
}

const reasoningOf = (reasoning: Reasoning | undefined, usual: number): Wanted => {
  if (reasoning === undefined) return { maxTokens: usual }
  if (reasoning === "none") return { thinking: { type: "disabled" }, maxTokens: usualMaxTokens }
  // with `between_tools` the model thinks only between calls, not before the answer
  if (reasoning === "between_tools") return { thinking: { type: reasoning }, maxTokens: usual }
  if (Predicate.isString(reasoning)) {
    return { thinking: { type: "adaptive" }, effort: { effort: reasoning }, maxTokens: thinkingMaxTokens }
  }
  const { maxTokens } = reasoning
  if (maxTokens === 0) return { thinking: { type: "disabled" }, maxTokens: usualMaxTokens }
  return { thinking: { type: "enabled", budget_tokens: maxTokens }, maxTokens: maxTokens + usualMaxTokens }
}
