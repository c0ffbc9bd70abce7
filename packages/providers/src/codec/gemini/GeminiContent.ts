/**
 * The wire format of Gemini's `generateContent`.
 *
 * System messages go into the system instruction, wherever they stand. A failed call has the field `error` in its
 * response, a successful one `output`; both hold the text for the model. The schema of an output goes as
 * `responseJsonSchema`. Models before Gemini 3 take no schema beside tools, so for them it goes into the prompt as text.
 *
 * Signatures are sent back on the part that they came with. Calls of another model have none: Gemini 3 gets the
 * placeholder that Google documents for this case.
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
import * as Extra from "../Extra.ts"
import { checked, choiceOf, type GeminiParameters, providesTools, type Reasoning } from "../Parameters.ts"
import type { Source } from "../../transport/Source.ts"

/**
 * What requests to Gemini may contain.
 *
 * @internal
 */
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

/** The codec of one model. A parameter that is not set is not sent. Throws a `RangeError` for invalid parameters. */
export const make = (
  source: Source,
  parameters: GeminiParameters = {},
  able: Partial<Capabilities.Capabilities> = {}
): Codec => Extra.perRequest(source, own, (asked) => codecOf(source, asked, { ...capabilities, ...able }), parameters)

const codecOf = (source: Source, parameters: GeminiParameters, taken: Capabilities.Capabilities): Codec => {
  const { extra = {}, promptCache, providerTools = [], serviceTier, toolChoice } = checked(parameters)
  const { generationConfig: otherConfig, toolConfig, ...others } = extra
  // the names of both fields: ai.google.dev/gemini-api/docs/flex-inference and docs/caching, looked up on 2026-11-26
  const body = Extra.merged(
    {
      cachedContent: Extra.unless(others, ["cached_content"], promptCache?.name),
      service_tier: Extra.unless(others, ["serviceTier"], serviceTier)
    },
    others
  )
  const isCached = "cachedContent" in body || "cached_content" in body
  const encode = ContentRequest.make(source, {
    body,
    generationConfig: Extra.merged(generationConfig(parameters, taken.maxTokens), Json.object(otherConfig)),
    toolConfig: Json.fields(toolConfig),
    tools: providerTools,
    isCached,
    output: taken.output
  })
  const refuses = Capabilities.refusing(source, isCached ? { ...taken, toolChoice: [] } : taken)
  return {
    providerTools: providesTools(parameters),
    refuses: (request) => refuses({ ...request, toolChoice: choiceOf(request, toolChoice) }),
    takes: ContentRequest.takesOf(source),
    encode: (request) => encode({ ...request, toolChoice: choiceOf(request, toolChoice) }),
    decode: (answer) => ContentStream.decode(source, answer),
    decoder: (answer) => new ContentStream.ContentDecoder(source, answer),
    classify: (answer) => ContentError.classify(source, answer)
  }
}

/**
 * The fields of a body that this format writes alone, and those that it merges with the user's. The wire takes each of them in camelCase
 * and in snake_case.
 */
const own: Extra.Own = {
  written: {
    contents: "the messages of the request",
    generation_config: "the name generationConfig",
    model: "the option model",
    systemInstruction: "the prompt of the agent",
    system_instruction: "the prompt of the agent",
    tool_config: "the name toolConfig",
    tools: "the tools of the agent, or the option providerTools"
  },
  merged: { generationConfig: "object", toolConfig: "object" },
  single: ["generationConfig.candidateCount", "generationConfig.candidate_count"]
}

const generationConfig = (
  parameters: GeminiParameters,
  usualMaxTokens: number | undefined
): Readonly<Record<string, Schema.Json | undefined>> => {
  const { includeThoughts, maxTokens = usualMaxTokens, reasoning, seed, stop, temperature, topP } = parameters
  const thinking = {
    ...(reasoning === undefined ? {} : thinkingOf(reasoning)),
    ...(includeThoughts === undefined ? {} : { includeThoughts })
  }
  return {
    temperature,
    topP,
    maxOutputTokens: maxTokens,
    stopSequences: stop,
    seed,
    ...(Object.keys(thinking).length === 0 ? {} : { thinkingConfig: thinking })
  }
}

const thinkingOf = (reasoning: Reasoning): Readonly<Record<string, Schema.Json>> => {
  if (reasoning === "none") return { thinkingBudget: 0 }
  const depth = Predicate.isString(reasoning) ? { thinkingLevel: reasoning } : { thinkingBudget: reasoning.maxTokens }
  return { ...depth, includeThoughts: true }
}

/**
 * Finds the error within the body of a success, or within one chunk of a stream: an error object, a blocked prompt, or a finish reason for
 * a filter or a malformed tool call. Total; `undefined` if there is none.
 *
 * @internal
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  ContentError.inside(source, answer, json)
