/** Recognises errors by which a provider refuses an option although the capabilities allow it, and says so in their message. */
import * as LlmError from "@kintsugi/core/LlmError"
import type { ToolChoice } from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import { type Asked, isOff } from "./adapting.ts"
import type { Facts } from "./Capabilities.ts"
import * as Parameters from "./Parameters.ts"
import type { Source } from "../transport/Source.ts"

/** The parameters and the tool choice of a failed request. */
interface Sent {
  readonly parameters: Asked
  readonly toolChoice: ToolChoice
}

/** The facts about a model: all of them, those that the layer sets itself, and the name of the model's family. */
interface Knowledge {
  readonly able: Facts
  readonly own: Facts
  readonly family: string
}

/** An option: the words that errors use for it, and the capability that allows the sent value. */
interface Option {
  readonly name: string
  readonly words: RegExp
  readonly allowedBy: (sent: Sent, able: Facts) => keyof Facts | undefined
}

const options: ReadonlyArray<Option> = [
  {
    name: "sampling",
    words: /temperature|top_?[pk]\b/i,
    allowedBy: ({ parameters: { temperature, topK, topP } }, { sampling }) =>
      sampling !== undefined && (temperature ?? topK ?? topP) !== undefined ? "sampling" : undefined
  },
  {
    name: "toolChoice",
    words: /tool_?choice|tool_?config|function_?calling/i,
    allowedBy: ({ toolChoice }, able) =>
      Parameters.isForced(toolChoice) && able.toolChoice !== undefined ? "toolChoice" : undefined
  },
  {
    name: "reasoning",
    words: /thinking|reasoning|effort|budget/i,
    allowedBy: ({ parameters: { reasoning } }, { budgets, efforts, reasoningOff }) => {
      if (reasoning === undefined || reasoning === true) return undefined
      if (isOff(reasoning)) return reasoningOff === true ? "reasoningOff" : undefined
      if (Predicate.isString(reasoning)) return efforts?.includes(reasoning) === true ? "efforts" : undefined
      return budgets === true ? "budgets" : undefined
    }
  }
]

/** Matches the words of a provider that refuses an option as such, and not only its value. */
const refuses =
  /\b(?:unsupported|deprecated|incompatible)\b|\bnot (?:be )?(?:accepted|allowed|compatible|enabled|permitted|supported)\b|\b(?:not|n't) (?:accept|allow|support)\b|\bonly (?:accepts?|supports?|works)\b|\b(?:unknown|unrecognized) (?:parameter|(?:request )?argument)\b/i

/**
 * Matches the words of a provider that refuses an option beside another one. The word "with" before a model does not count, because the
 * name of a model has a number.
 */
const beside = /\bbeside\b|\bwith (?!(?:this|that|the|your|model)\b|[^ \d]*\d)/i

/**
 * Replaces the message of an error if the provider refused an option that was sent and that the capabilities allow. Any other error stays
 * the same.
 */
export const contradicted = (
  error: LlmError.LlmError,
  { model, provider }: Source,
  sent: Sent,
  { able, family, own }: Knowledge
): LlmError.LlmError => {
  if (error._tag !== "InvalidRequestError" && error._tag !== "CapabilityMismatchError") return error
  // Mutant `"Stryker was here!"` survives: these words refuse nothing
  const refusals = (error.detail ?? "").split(/[.!?]\s|\n/).filter((part) => refuses.test(part) && !beside.test(part))
  for (const { allowedBy, name, words } of options) {
    const entry = allowedBy(sent, able)
    if (entry === undefined || !refusals.some((sentence) => words.test(sentence))) continue
    const { cause, detail, requestId, retryAfter, shouldRetry, status, usage } = error
    const facts = { cause, detail, requestId, retryAfter, shouldRetry, status, usage }
    // fields that are `undefined` are left out
    const given = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
    const allowed =
      entry in own
        ? "which the option capabilities of the layer allows: correct it there"
        : `which the table of capabilities allows for ${family}: override it with the option capabilities of the layer`
    const what = `Model '${model}' of ${provider} refuses its ${name}, ${allowed}`
    return error._tag === "InvalidRequestError"
      ? LlmError.InvalidRequestError.make({ ...given, model, provider, what })
      : LlmError.CapabilityMismatchError.make({ ...given, model, provider, what, capability: error.capability })
  }
  return error
}
