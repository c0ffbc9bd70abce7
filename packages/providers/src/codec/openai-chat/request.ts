/**
 * Encodes a request as the body of `POST /chat/completions`. Messages and tools are encoded once and cached by their
 * identity, so that a turn does not pay for the transcript before it.
 */
import { InvalidRequestError, type LlmError } from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Codec } from "../Codec.ts"
import * as Capabilities from "../Capabilities.ts"
import * as Parameters from "../Parameters.ts"
import type { Source } from "../../transport/Source.ts"
import type { Full } from "./dialect.ts"
import * as Messages from "./messages.ts"
import { breakpoint, cacheFields, isMarked, lastInstruction } from "../cacheMarks.ts"
import { isContinued } from "../Continued.ts"
import * as OutputWords from "../outputWords.ts"
import { remembering } from "../Remembering.ts"
import * as Extra from "../Extra.ts"
import * as Json from "../../transport/Json.ts"
import * as RootSchema from "../rootSchema.ts"
import * as StrictSchema from "../strictSchema.ts"
import { formatName } from "../text.ts"

export const make = (source: Source, asked: Parameters.ChatParameters, dialect: Full): Codec["encode"] => {
  const { capabilities } = dialect
  const { stream_options, ...constants } = constantsOf(source, asked, dialect)
  const head = JSON.stringify(constants).slice(0, -1)
  const plain = Messages.make(source.provider, dialect, Messages.takesOf(dialect, source.model))
  const mark = dialect.cacheMark ?? (isMarked(asked.promptCache) ? breakpoint : undefined)
  const messages = mark === undefined ? plain : marking(plain, dialect, mark)
  const tools = remembering((spec: Message.ToolSpec) => encodeTool(spec, dialect))
  const isLeftToUser = Object.hasOwn(constants, "response_format")
  const formats = remembering((output: Model.OutputSpec) => (isLeftToUser ? "" : encodeFormat(output, dialect)))
  const messagesOf = OutputWords.make()
  // `parallel_tool_calls` is sent only with tools: "only allowed when 'tools' are specified" (github.com/Upsonic/Upsonic/issues/323, looked
  // up on 2026-11-26)
  const isParallelSaid = asked.parallelToolCalls !== undefined && !Object.hasOwn(constants, "parallel_tool_calls")
  const parallel = isParallelSaid ? `,"parallel_tool_calls":${asked.parallelToolCalls}` : ""
  const provided = (asked.providerTools ?? []).map((tool) => JSON.stringify(tool))
  const streamOptions = Extra.merged(dialect.streamOptions ? { include_usage: true } : {}, Json.object(stream_options))
  // sent only in streamed requests, because other requests with this field are refused
  const options = Object.keys(streamOptions).length === 0 ? "" : `,"stream_options":${JSON.stringify(streamOptions)}`
  return (request, mode) => {
    const { output } = request
    const choice = Parameters.choiceOf(request, asked.toolChoice)
    const format = output === undefined ? "" : formats(output)
    const transcript = messagesOf(request, isLeftToUser || (format !== "" && capabilities.output === "schema"))
    // If a server does not know the choice `none`, the request offers no tools instead.
    const specs = choice === "none" && !capabilities.toolChoice.includes("none") ? [] : request.tools
    const offered = [...specs.map(tools), ...provided]
    const toolFields = offered.length === 0 ? "" : `,"tools":[${offered.join(",")}]${encodeChoice(choice)}${parallel}`
    const stream = mode === "streamed" ? `,"stream":true${options}` : ""
    const { field } = dialect.continuation ?? {}
    const isBegun = field !== undefined && isContinued(request)
    const said = isBegun ? begun(transcript, messages, field) : messages(transcript)
    return `${head},"messages":[${said}]${toolFields}${format}${stream}}`
  }
}

/** Adds a cache mark to the last of the instructions at the beginning. */
const marking =
  (messages: (transcript: Message.Transcript) => string, { systemRole }: Full, mark: Schema.JsonObject) =>
  (transcript: Message.Transcript): string => {
    const at = lastInstruction(transcript)
    const message = transcript[at]
    if (message?.role !== "system") return messages(transcript)
    const content = [{ type: "text", text: message.text, ...mark }]
    const marked = JSON.stringify({ role: systemRole, content })
    return [messages(transcript.slice(0, at)), marked, messages(transcript.slice(at + 1))]
      .filter((text) => text !== "")
      .join(",")
  }

/** Encodes messages whose last one is the beginning of the reply. That message is marked by a field. */
const begun = (
  transcript: Message.Transcript,
  messages: (transcript: Message.Transcript) => string,
  field: string
): string => {
  const last = transcript.at(-1)
  // Mutant `"Stryker was here!"` survives: the last message of a continued request is the model's
  const content = last?.role === "assistant" ? Message.textOf(last) : ""
  const before = messages(transcript.slice(0, -1))
  return `${before === "" ? "" : `${before},`}${JSON.stringify({ role: "assistant", content, [field]: true })}`
}

/**
 * How the model continues a message of its own; `undefined` if the user's options demand JSON or a call, or the server cannot continue a
 * message.
 */
export const continuationOf = (
  { extra = {}, toolChoice }: Parameters.ChatParameters,
  { continuation }: Full
): Codec["continuation"] =>
  Parameters.isForced(toolChoice) || Object.hasOwn(extra, "response_format") ? undefined : continuation?.reply

/** Makes the check why this server cannot express a request. */
export const refusing = (
  source: Source,
  { reasoning, toolChoice }: Parameters.ChatParameters,
  dialect: Full
): ((request: Model.Request) => LlmError | undefined) => {
  const refuses = Capabilities.refusing(source, dialect.capabilities)
  const { model, provider } = source
  const budget =
    dialect.reasoning.endsWith("effort") && Predicate.isObject(reasoning)
      ? InvalidRequestError.make({ model, detail: "reasoning is asked for by an effort, not in tokens", provider })
      : undefined
  return (request) => budget ?? refuses({ ...request, toolChoice: Parameters.choiceOf(request, toolChoice) })
}

/** The fields of a body that this format writes alone, and those that it merges with the user's. */
export const own: Extra.Own = {
  written: {
    messages: "the messages of the request",
    model: "the option model",
    stream: "Model.stream or a streamed run",
    tool_choice: "the option toolChoice",
    tools: "the tools of the agent, or the option providerTools"
  },
  merged: { stream_options: "object" },
  single: ["n"]
}

/** The fields of a body that are the same in every request: the model and its parameters. */
const constantsOf = ({ model }: Source, asked: Parameters.ChatParameters, dialect: Full): Schema.JsonObject =>
  Extra.merged(
    {
      model,
      temperature: asked.temperature,
      top_p: asked.topP,
      [dialect.maxTokensField]: Extra.unless(
        asked.extra,
        ["max_tokens", "max_completion_tokens"],
        asked.maxTokens ?? dialect.capabilities.maxTokens
      ),
      stop: asked.stop,
      [dialect.seedField]: Extra.unless(asked.extra, ["seed", "random_seed"], asked.seed),
      ...encodeReasoning(asked.reasoning, dialect),
      service_tier: asked.serviceTier,
      verbosity: asked.verbosity,
      ...cacheFields(asked.promptCache)
    },
    asked.extra
  )

const encodeReasoning = (
  asked: Parameters.Reasoning | undefined,
  { reasoning }: Full
): Readonly<Record<string, Schema.Json>> => {
  if (asked === undefined) return {}
  const budget = Predicate.isString(asked) ? undefined : asked.maxTokens
  const effort = Predicate.isString(asked) ? { reasoning_effort: asked } : {}
  if (reasoning === "effort") return effort
  if (reasoning === "object") {
    return { reasoning: Predicate.isString(asked) ? { effort: asked } : { max_tokens: asked.maxTokens } }
  }
  if (asked === "none") return { thinking: { type: "disabled" } }
  const thinking = { type: "enabled", ...(budget === undefined ? {} : { budget_tokens: budget }) }
  return { thinking, ...(reasoning === "thinking-effort" ? effort : {}) }
}

/**
 * Encodes the schema of an output. The wire takes only objects, and restricts the characters of names. In the strict dialect optional
 * properties may be `null`, because answers are always read with `null` as absent.
 */
const encodeFormat = ({ name, schema }: Model.OutputSpec, { capabilities: { output }, strict }: Full): string => {
  const root = RootSchema.objectRoot(schema)
  if (root === undefined || output === "none") return ""
  if (output === "json") return ',"response_format":{"type":"json_object"}'
  const strictly = strict ? StrictSchema.strict(schema, { optional: true }) : undefined
  const json_schema = {
    name: formatName(name),
    ...(strictly === undefined ? { schema: root } : { schema: strictly, strict })
  }
  return `,"response_format":${JSON.stringify({ type: "json_schema", json_schema })}`
}

const encodeTool = ({ description, keepsNulls, name, parameters }: Message.ToolSpec, { strict }: Full): string => {
  const strictly = strict ? StrictSchema.strict(parameters, { optional: keepsNulls !== true }) : undefined
  const said =
    strictly === undefined
      ? { parameters: RootSchema.parametersRoot(parameters) ?? parameters }
      : { parameters: strictly, strict }
  return JSON.stringify({ type: "function", function: { name, description, ...said } })
}

const encodeChoice = (choice: Model.ToolChoice): string => {
  if (choice === "auto") return ""
  const encoded = Predicate.isString(choice) ? choice : { type: "function", function: { name: choice.tool } }
  return `,"tool_choice":${JSON.stringify(encoded)}`
}
