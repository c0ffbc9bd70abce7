/**
 * The wire format of Gemini's `generateContent`.
 *
 * System messages go as its system instruction, wherever they stand. A failed call is told by the field `error` of its
 * response, where a success has `output`; both are the text that the model is to read. The schema of an output goes as
 * `responseJsonSchema`; models before Gemini 3 take none beside tools, and are told in words then.
 *
 * Signatures go back on the part that they came with. Calls that another model made have none: Gemini 3 is told so by the
 * word that Google documents for this.
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Capabilities from "../Capabilities.ts"
import type { Codec } from "../Codec.ts"
import * as ContentError from "./error.ts"
import * as ContentRequest from "./request.ts"
import * as ContentStream from "./stream.ts"
import * as Json from "../../transport/Json.ts"
import { checked, choiceOf, type Parameters as Every, type Reasoning } from "../Parameters.ts"
import type { Source } from "../../transport/Source.ts"

/**
 * What may be asked of the model besides the conversation. What is not given is not sent. `reasoning` is a level
 * (`thinkingLevel`) or a budget (`thinkingBudget`); `none` is a budget of 0. Gemini 2.5 knows no levels: there the words `low`,
 * `medium` and `high` stand for the budgets that Google gives them, 1024, 8192 and 24576 tokens.
 */
export interface Parameters extends Pick<
  Every,
  "temperature" | "topP" | "maxTokens" | "stop" | "seed" | "reasoning" | "toolChoice" | "providerTools"
> {
  /** Whether summaries of its thoughts come with the reply; unless said otherwise, where `reasoning` asks for thoughts. */
  readonly includeThoughts?: boolean
  /**
   * Further fields of the body, as the wire names them. They cannot replace those that the library writes itself; those within
   * `generationConfig` and `toolConfig` go beside them.
   */
  readonly extra?: Every["extra"]
}

/** What can be said to Gemini. */
export const capabilities: Capabilities.Capabilities = {
  tools: true,
  toolChoice: ["none", "required", "named"],
  images: ["data", "url"],
  files: ["data", "url"],
  output: "schema",
  toolErrors: "field",
  reasoning: "demanded",
  promptCache: "automatic"
}

/** The codec of one model. Parameters that make no sense throw a `RangeError`. */
export const make = (source: Source, parameters: Parameters = {}): Codec => {
  const { extra = {}, providerTools = [], toolChoice } = checked(parameters)
  const encode = ContentRequest.make(source, {
    body: Object.fromEntries(Object.entries(extra).filter(([name]) => !own.has(name))),
    generationConfig: { ...Json.fields(extra["generationConfig"]), ...generationConfig(source, parameters) },
    toolConfig: Json.fields(extra["toolConfig"]),
    tools: providerTools
  })
  return {
    refuses: Capabilities.refusing(source, capabilities),
    encode: (request) => encode({ ...request, toolChoice: choiceOf(request, toolChoice) }),
    decode: (answer) => ContentStream.decode(source, answer),
    decoder: (answer) => new ContentStream.ContentDecoder(source, answer),
    classify: (answer) => ContentError.classify(source, answer)
  }
}

/** The fields that are written here, under both of the names that the wire takes. */
const own: ReadonlySet<string> = new Set([
  "contents",
  "systemInstruction",
  "system_instruction",
  "tools",
  "toolConfig",
  "tool_config",
  "generationConfig",
  "generation_config"
])

const generationConfig = (source: Source, parameters: Parameters): Readonly<Record<string, Schema.Json>> => {
  const { includeThoughts, maxTokens, reasoning, seed, stop, temperature, topP } = parameters
  const thinking = {
    ...(reasoning === undefined ? {} : thinkingOf(source, reasoning)),
    ...(includeThoughts === undefined ? {} : { includeThoughts })
  }
  return {
    // Mutant `false` survives: JSON leaves out a field that is undefined
    ...(temperature === undefined ? {} : { temperature }),
    // Mutant `false` survives: JSON leaves out a field that is undefined
    ...(topP === undefined ? {} : { topP }),
    // Mutant `false` survives: JSON leaves out a field that is undefined
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    // Mutant `false` survives: JSON leaves out a field that is undefined
    ...(stop === undefined ? {} : { stopSequences: stop }),
    // Mutant `false` survives: JSON leaves out a field that is undefined
    ...(seed === undefined ? {} : { seed }),
    ...(Object.keys(thinking).length === 0 ? {} : { thinkingConfig: thinking })
  }
}

const thinkingOf = ({ model }: Source, reasoning: Reasoning): Readonly<Record<string, Schema.Json>> => {
  if (reasoning === "none") return { thinkingBudget: 0 }
  if (!Predicate.isString(reasoning)) return { thinkingBudget: reasoning.maxTokens, includeThoughts: true }
  const budget = model.includes("gemini-2.5") ? budgets.get(reasoning) : undefined
  const depth = budget === undefined ? { thinkingLevel: reasoning } : { thinkingBudget: budget }
  return { ...depth, includeThoughts: true }
}

/** As Google maps efforts for its models without levels. */
const budgets: ReadonlyMap<string, number> = new Map([
  ["minimal", 1024],
  ["low", 1024],
  ["medium", 8192],
  ["high", 24_576]
])

/** The error of an answer that is no success, whatever its body holds; total. */
export const classify = (source: Source, answer: Answer): LlmError => ContentError.classify(source, answer)

/**
 * The error within the body of a success, or within one chunk of a stream: an error object, a blocked prompt, a reply that a
 * filter or a malformed tool call ended. Total; `undefined` when there is none.
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  ContentError.inside(source, answer, json)
