/**
 * The wire format of OpenAI's Responses API.
 *
 * The provider stores nothing by default, so reasoning comes encrypted, and is sent back with the item that followed it. Everything else
 * that the provider does itself, like a search, comes and goes back as provider items. A message with more than text, like sources, is
 * followed by an item of the kind `message`. A call that waits for the client becomes a call of the agent's tool for its kind, and goes
 * back with the item that answers it. If the agent has no such tool, the reply is an error.
 *
 * Schemas of tools and outputs that fit the strict dialect are sent in it, with optional properties as nullable ones;
 * others are sent unchanged and not strict. As in chat completions, the text of a failed tool call says that it
 * failed.
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Capabilities from "../Capabilities.ts"
import { cacheFields, isMarked } from "../cacheMarks.ts"
import type { Codec } from "../Codec.ts"
import * as Json from "../../transport/Json.ts"
import { type Dialect, openAi } from "./dialect.ts"
import * as Chain from "./chain.ts"
import * as ResponsesError from "./error.ts"
import * as Jobs from "./jobs.ts"
import * as ResponsesReply from "./reply.ts"
import * as ResponsesRequest from "./request.ts"
import { ResponsesDecoder } from "./stream.ts"
import { checked, providesTools, type ResponsesParameters } from "../Parameters.ts"
import * as Extra from "../Extra.ts"
import type { Source } from "../../transport/Source.ts"
import { takes, withoutIds } from "./items.ts"

/**
 * The capabilities of OpenAI's own service.
 *
 * @internal
 */
export const capabilities = openAi.capabilities

/**
 * Makes the codec of one model. A parameter that is not set is not sent. Throws a `RangeError` for invalid parameters. For `chained`
 * requests, `account` lists what distinguishes accounts besides the secrets of `source`.
 */
export const make = (
  source: Source,
  parameters: ResponsesParameters = {},
  dialect: Dialect = openAi,
  able: Partial<Capabilities.Capabilities> = {},
  account: ReadonlyArray<string> = []
): Codec => {
  const { background = false, chained = false, extra = {} } = parameters
  const store = extra["store"] ?? parameters.store
  if (chained && store !== true) throw new RangeError("Model: chained needs store: true")
  if (background && store === false) throw new RangeError("Model: background needs a store that is not false")
  const chain = chained && !Chain.namesConversation(extra) ? Chain.make(source, account) : undefined
  const taken = { ...dialect.capabilities, ...able }
  const codec = Extra.perRequest(source, own, (asked) => codecOf(source, asked, dialect, taken, chain), parameters)
  return chain === undefined ? codec : chain.around(codec)
}

/** The fields of a body that this format writes alone, and those that it merges with the user's. */
const own: Extra.Own = {
  written: {
    input: "the messages of the request",
    model: "the option model",
    stream: "Model.stream or a streamed run",
    tool_choice: "the option toolChoice",
    tools: "the tools of the agent, or the option providerTools"
  },
  merged: { include: "list", reasoning: "object", text: "object" },
  single: ["n"]
}

const codecOf = (
  source: Source,
  parameters: ResponsesParameters,
  dialect: Dialect,
  taken: Capabilities.Capabilities,
  chain: Chain.Chain | undefined
): Codec => {
  const { extra = {}, maxTokens, promptCache, reasoning, reasoningSummary, temperature, topP } = checked(parameters)
  const { serviceTier, verbosity } = parameters
  const background = (extra["background"] ?? parameters.background) === true
  const store = (extra["store"] ?? parameters.store ?? background) === true
  // a chained request that sends the whole transcript does not refer to stored items, so it sends them in full
  const stored = store && chain === undefined
  const { encryptedReasoning = !stored && !refusesEncryption.test(source.model) } = parameters
  const included = (more: Schema.Json | undefined) => [
    ...new Set([...(encryptedReasoning ? [encrypted] : []), ...Json.items(more)])
  ]
  const include = included(extra["include"])
  const wanted = Extra.merged({ effort: reasoning, summary: reasoningSummary })
  const { text, ...constants } = Extra.merged(
    {
      ...(dialect.presets?.includes(source.model) === true ? { preset: source.model } : { model: source.model }),
      store,
      ...(background ? { background } : {}),
      temperature,
      top_p: topP,
      max_output_tokens: maxTokens ?? taken.maxTokens ?? demandedTokens(source, dialect),
      reasoning: Object.keys(wanted).length === 0 ? undefined : wanted,
      text: verbosity === undefined ? undefined : { verbosity },
      service_tier: serviceTier,
      ...cacheFields(promptCache)
    },
    include.length === 0 ? extra : { ...extra, include }
  )
  return {
    providerTools: providesTools(parameters),
    refuses: Capabilities.refusing(source, taken),
    ...(dialect.items === "openai" ? { takes } : {}),
    withoutThoughts: (bare, whole) => withoutIds(bare, whole, source.provider),
    encode: ResponsesRequest.make({
      provider: source.provider,
      constants,
      text,
      toolChoice: parameters.toolChoice,
      parallelToolCalls: "parallel_tool_calls" in extra ? undefined : parameters.parallelToolCalls,
      providerTools: parameters.providerTools ?? [],
      stored,
      linkIn: chain?.linkIn,
      isPlain: dialect.items === "plain",
      output: taken.output,
      isMarked: isMarked(promptCache),
      strict: parameters.strict ?? true
    }),
    decode: (answer, request) => ResponsesReply.decode(source, answer, request?.providerCalls),
    decoder: (answer, request) => new ResponsesDecoder(source, answer, request?.providerCalls),
    jobs: Jobs.make(
      source,
      {
        begins: ({ options = {} }) => (options["background"] ?? background) === true,
        include: ({ options = {} }) => included({ ...extra, ...options }["include"])
      },
      (answer, request) => new ResponsesDecoder(source, answer, request?.providerCalls, true)
    ),
    classify: (answer) => ResponsesError.classify(source, answer)
  }
}

const demandedTokens = ({ model }: Source, { maxTokens }: Dialect): number | undefined =>
  maxTokens !== undefined && model.startsWith(maxTokens.of) ? maxTokens.tokens : undefined

const encrypted = "reasoning.encrypted_content"

/** Matches the models that do not reason. They answer a request for encrypted reasoning with the status 400. */
const refusesEncryption = /^(?:ft:|.*\/)?(?:gpt-3|gpt-4|chatgpt|gpt-5-chat|gpt-5\.3-chat)/

/**
 * Finds the error within the body of a success, or within one event of a stream: an `error` event, with its fields nested or flat, a failed
 * response, a response that a content filter cut off, or a refusal. Total; `undefined` if there is no error.
 *
 * @internal
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  ResponsesError.inside(source, answer, json)
