/**
 * The wire format of OpenAI's responses.
 *
 * Nothing is kept by the provider unless asked for, so reasoning comes encrypted, and goes back with the item that followed
 * it. What else the provider did on its own side, like a search, comes and goes back as provider items; a message that says
 * more than its text, like its sources, is followed by one of the kind `message`. A call of a tool that is neither ours nor
 * the provider's own waits for an answer that nobody gives, so it does not go back.
 *
 * Schemas of tools and outputs are said in the strict dialect where they fit it, with optional properties as ones that may be
 * `null`; otherwise as they are, and not strict. As in chat completions, the text of a failed tool call says so itself.
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Capabilities from "../Capabilities.ts"
import type { Codec } from "../Codec.ts"
import * as Json from "../../transport/Json.ts"
import * as ResponsesError from "./error.ts"
import * as ResponsesReply from "./reply.ts"
import * as ResponsesRequest from "./request.ts"
import { ResponsesDecoder } from "./stream.ts"
import * as Options from "../Parameters.ts"
import type { Source } from "../../transport/Source.ts"

/** What may be asked of the model besides the conversation. What is not given is not sent. */
export interface Parameters extends Pick<
  Options.Parameters,
  "temperature" | "topP" | "maxTokens" | "toolChoice" | "parallelToolCalls" | "providerTools" | "extra"
> {
  /** An effort: `none`, `minimal`, `low`, `medium`, `high`, `xhigh`; which of them, depends on the model. */
  readonly reasoning?: string
  /** Asks for the thoughts summed up: `auto`, `concise`, `detailed`. Without it there is nothing to read of them. */
  readonly reasoningSummary?: string
  /** Whether the provider keeps the replies; `false` by default. */
  readonly store?: boolean
  /**
   * Whether reasoning is asked for in encrypted form, so that it can go back although nothing is kept. By default where
   * replies are not stored and the model is none of those that refuse this: `gpt-4o` and other models that do not reason.
   */
  readonly encryptedReasoning?: boolean
  /** `false`: no schema is said in the strict dialect. */
  readonly strict?: boolean
  /** Requests with one beginning share this key, and the cache behind it. */
  readonly promptCache?: Required<Pick<Options.PromptCache, "key">>
}

/** What this format has words for. */
export const capabilities: Capabilities.Capabilities = {
  tools: true,
  toolChoice: ["none", "required", "named"],
  images: ["data", "url"],
  files: ["data", "url"],
  output: "schema",
  toolErrors: "text",
  reasoning: "demanded",
  promptCache: "key"
}

/** What users may stumble over. */
export const quirks: ReadonlyArray<string> = [
  "Replies are not stored unless `store` says so; encrypted reasoning goes back instead.",
  "There are no stop sequences and no seed.",
  "An optional parameter of a tool comes as `null` where its schema is sent as strict, and is read as absent.",
  "A schema with an optional property that may also be `null`, or with a keyword beyond the strict dialect, is sent as not strict.",
  "The schema of an output that is no object is told in words.",
  "Calls of `computer`, `custom`, `local_shell` and `apply_patch` tools are shown as provider items and do not go back: nobody answers them."
]

/** The codec of one model. Parameters that make no sense throw a `RangeError`. */
export const make = (source: Source, parameters: Parameters = {}): Codec => {
  const {
    extra = {},
    maxTokens,
    promptCache,
    reasoning,
    reasoningSummary,
    temperature,
    topP
  } = Options.checked(parameters)
  const { store = false, encryptedReasoning = !store && !refusesEncryption.test(source.model) } = parameters
  const { input: _i, stream: _s, tools: _t, tool_choice: _c, parallel_tool_calls: _p, ...free } = extra
  const { text, reasoning: otherReasoning, ...others } = free
  const wanted = { ...Json.object(otherReasoning), ...defined({ effort: reasoning, summary: reasoningSummary }) }
  const include = [...(encryptedReasoning ? [encrypted] : []), ...Json.items(extra["include"])]
  return {
    refuses: Capabilities.refusing(source, capabilities),
    encode: ResponsesRequest.make({
      provider: source.provider,
      constants: {
        ...others,
        model: source.model,
        store,
        include: include.length === 0 ? undefined : [...new Set(include)],
        temperature,
        top_p: topP,
        max_output_tokens: maxTokens,
        reasoning: Object.keys(wanted).length === 0 ? undefined : wanted,
        ...defined({ prompt_cache_key: promptCache?.key })
      },
      text,
      toolChoice: parameters.toolChoice,
      parallelToolCalls: parameters.parallelToolCalls,
      providerTools: parameters.providerTools ?? [],
      stored: store,
      strict: parameters.strict ?? true
    }),
    decode: (answer) => ResponsesReply.decode(source, answer),
    decoder: (answer) => new ResponsesDecoder(source, answer),
    classify: (answer) => ResponsesError.classify(source, answer)
  }
}

const encrypted = "reasoning.encrypted_content"

/** Models that do not reason answer with 400 when they are asked for encrypted reasoning. */
const refusesEncryption = /^(?:ft:|.*\/)?(?:gpt-3|gpt-4|chatgpt|gpt-5-chat|gpt-5\.3-chat)/

const defined = (fields: Readonly<Record<string, string | undefined>>): Schema.JsonObject =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** The error of an answer that is no success, whatever its body holds; total. */
export const classify = (source: Source, answer: Answer): LlmError => ResponsesError.classify(source, answer)

/**
 * The error within the body of a success, or within one event of a stream: an `error` event, with its fields nested or flat, a
 * failed response, one that a content filter cut off, and a refusal. Total; `undefined` when there is none.
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  ResponsesError.inside(source, answer, json)
