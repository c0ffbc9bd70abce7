/** Finds the vendor of a model on Bedrock. Converse leaves some fields to the model, and these differ by vendor. */
import type * as Schema from "effect/Schema"
import * as Predicate from "effect/Predicate"
import type { Reasoning } from "../Parameters.ts"

/** The vendor of a model. `undefined` for any other vendor, and if the name does not show it, as with an application inference profile. */
export type Vendor = "claude" | "nova" | "openai" | undefined

export const vendorOf = (model: string): Vendor => {
  if (/(?:^|[./])anthropic\.|\bclaude-/i.test(model)) return "claude"
  if (/(?:^|[./])amazon\.nova/i.test(model)) return "nova"
  return /(?:^|[./])openai\./i.test(model) ? "openai" : undefined
}

/**
 * The fields for `reasoning`, and the longest reply if it is a budget. `undefined` if no field of the model for this is known. Claude has
 * the fields of its Messages, Nova has `reasoningConfig`, OpenAI `reasoning_effort` (the pages of these models in
 * docs.aws.amazon.com/bedrock/latest/userguide, looked up on 2026-11-26).
 */
export const reasoningFields = (
  vendor: Vendor,
  reasoning: Reasoning
): { readonly fields: Schema.JsonObject; readonly maxTokens?: number } | undefined => {
  const isOff = reasoning === "none" || (Predicate.isObject(reasoning) && reasoning.maxTokens === 0)
  switch (vendor) {
    case "claude": {
      if (isOff) return { fields: { thinking: { type: "disabled" } } }
      if (reasoning === "between_tools") return { fields: { thinking: { type: reasoning } } }
      if (Predicate.isString(reasoning)) {
        return { fields: { thinking: { type: "adaptive" }, output_config: { effort: reasoning } } }
      }
      const { maxTokens } = reasoning
      return { fields: { thinking: { type: "enabled", budget_tokens: maxTokens } }, maxTokens: maxTokens + forAnswer }
    }
    case "nova":
      if (isOff) return { fields: { reasoningConfig: { type: "disabled" } } }
      return Predicate.isString(reasoning)
        ? { fields: { reasoningConfig: { type: "enabled", maxReasoningEffort: reasoning } } }
        : undefined
    case "openai":
      return Predicate.isString(reasoning) ? { fields: { reasoning_effort: reasoning } } : undefined
    case undefined:
      return undefined
  }
}

/**
 * How many tokens of the longest reply are for the answer, beside a budget of reasoning. It is the same number as in Anthropic's Messages.
 */
const forAnswer = 8192
