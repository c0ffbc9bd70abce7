/** Errors of a provider that refuses what its request had and the capabilities allow: they say so. */
import * as LlmError from "@kintsugi/core/LlmError"
import type { ToolChoice } from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import { type Asked, isOff } from "./adapting.ts"
import type { Facts } from "./Capabilities.ts"
import * as Parameters from "./Parameters.ts"
import type { Source } from "../transport/Source.ts"

/** What a request had. */
interface Sent {
  readonly parameters: Asked
  readonly toolChoice: ToolChoice
}

/** What is known of the model: by a family of the table, and by the layer. */
interface Knowledge {
  readonly able: Facts
  readonly own: Facts
  readonly family: string
}

/** An option by the words that an error has for it, and the entry that allows what was sent of it. */
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

/** The words of a provider that refuses an option, and not its value. */
const refuses =
  /\b(?:unsupported|deprecated|incompatible)\b|\bnot (?:be )?(?:accepted|allowed|compatible|enabled|permitted|supported)\b|\b(?:not|n't) (?:accept|allow|support)\b|\bonly (?:accepts?|supports?|works)\b|\b(?:unknown|unrecognized) (?:parameter|(?:request )?argument)\b/i

/** The words of one that refuses it beside something else: not with a model, whose name has a number. */
const beside = /\bbeside\b|\bwith (?!(?:this|that|the|your|model)\b|[^ \d]*\d)/i

/** The same error. If the provider has refused an option that was sent and is allowed, the message says so. */
export const contradicted = (
  error: LlmError.LlmError,
  { model, provider }: Source,
  sent: Sent,
  { able, family, own }: Knowledge
): LlmError.LlmError => {
  if (error._tag !== "InvalidRequestError" && error._tag !== "CapabilityMismatchError") return error
  const refusals = (error.detail ?? "").split(/[.!?]\s|\n/).filter((part) => refuses.test(part) && !beside.test(part))
  for (const { allowedBy, name, words } of options) {
    const entry = allowedBy(sent, able)
    if (entry === undefined || !refusals.some((sentence) => words.test(sentence))) continue
    const { cause, detail, requestId, retryAfter, shouldRetry, status, usage } = error
    const facts = { cause, detail, requestId, retryAfter, shouldRetry, status, usage }
    // a field that is undefined is none
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
