/** Makes a `LanguageModel` of `effect/ai` from a model of this library. `effect/ai` itself runs the tools of its callers. */
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { mendedParams, mendedText } from "./mending.ts"
import { partsOf, PartWriter } from "./response.ts"
import { toAiError } from "./toError.ts"
import { transcriptOf } from "./transcript.ts"
import { waiting } from "./waiting.ts"
import { remembering } from "../codec/Remembering.ts"

type Options = LanguageModel.ProviderOptions

export const toLanguageModel = (given: Model.Service): Effect.Effect<LanguageModel.LanguageModel> => {
  const model = waiting(given)
  return LanguageModel.make({
    generateText: (options) =>
      Effect.flatMap(prepared(model, options, "generateText"), ({ failed, request }) =>
        Effect.flatMap(Effect.mapError(model.generate(request), failed), (reply) => {
          const undeclared = undeclaredIn(reply.content, options, "generateText")
          const { responseFormat } = options
          return undeclared === undefined
            ? Effect.succeed(
                partsOf(
                  responseFormat.type === "json" ? mended(reply, responseFormat.schema) : reply,
                  paramsOf(options)
                )
              )
            : Effect.fail(undeclared)
        })
      ),
    streamText: (options) =>
      Stream.unwrap(
        Effect.map(prepared(model, options, "streamText"), ({ failed, request }) =>
          Stream.suspend(() => written(model, model.stream(request), options, failed))
        )
      )
  })
}

const written = (
  model: Model.Service,
  parts: Stream.Stream<Model.Part, LlmError.LlmError>,
  options: Options,
  failed: (error: LlmError.LlmError) => AiError.AiError
): Stream.Stream<Response.StreamPartEncoded, AiError.AiError> => {
  const writer = new PartWriter(paramsOf(options))
  const upToItsEnd = Stream.takeUntil(parts, ({ type }) => type === "finish")
  const all = Stream.mapEffect(Stream.mapError(upToItsEnd, failed), (part) => {
    const undeclared = part.type === "tool-call" ? undeclaredIn([part], options, "streamText") : undefined
    return undeclared === undefined ? Effect.succeed(writer.write(part)) : Effect.fail(undeclared)
  })
  const end = Stream.suspend(() => (writer.isDone ? Stream.empty : Stream.fail(failed(cutOff(model)))))
  return Stream.concat(Stream.flattenIterable(all), end)
}

/** Prepares a call: the request to the model, and the function that converts its failures to `AiError`s by the caller's clock. */
const prepared = (
  { name }: Model.Service,
  options: Options,
  method: string
): Effect.Effect<Prepared, AiError.AiError> => {
  const { tools } = options
  const defined = tools.find(Tool.isProviderDefined)
  if (defined !== undefined) {
    const description = `the tools of a provider are an option of its model ('providerTools'), and none of a toolkit`
    const reason = new AiError.ToolConfigurationError({ toolName: defined.name, description })
    return Effect.fail(AiError.make({ module: name, method, reason }))
  }
  const request = Result.try(() => requestOf(options))
  if (Result.isFailure(request)) {
    const description = request.failure instanceof Error ? request.failure.message : String(request.failure)
    const reason = new AiError.UnsupportedSchemaError({ description })
    return Effect.fail(AiError.make({ module: name, method, reason }))
  }
  return Effect.map(Clock.Clock, (clock) => ({
    request: request.success,
    failed: (error) => toAiError(error, { module: name, method, now: clock.currentTimeMillisUnsafe() })
  }))
}

interface Prepared {
  readonly request: Model.Request
  readonly failed: (error: LlmError.LlmError) => AiError.AiError
}

const requestOf = ({ prompt, responseFormat, toolChoice, tools }: Options): Model.Request => ({
  messages: transcriptOf(prompt),
  tools: tools.map(specOf),
  toolChoice: tools.length === 0 ? "auto" : choiceOf(toolChoice),
  ...(responseFormat.type === "json"
    ? { output: { name: responseFormat.objectName, schema: jsonSchemaOf(responseFormat.schema, true) } }
    : {})
})

/** The tool choice of the request. If the caller allows only some tools, `effect/ai` has already removed the others. */
const choiceOf = (choice: LanguageModel.ToolChoice<string>): Model.ToolChoice =>
  typeof choice === "string" || "tool" in choice ? choice : (choice.mode ?? "auto")

const specOf = remembering((tool: Tool.Any): Message.ToolSpec => {
  const isForeign = Tool.isDynamic(tool) && tool.jsonSchema !== undefined
  return {
    name: tool.name,
    description: Tool.getDescription(tool) ?? "",
    parameters: isForeign
      ? // a JSON Schema is itself JSON
        (tool.jsonSchema as Message.ToolSpec["parameters"])
      : jsonSchemaOf(tool.parametersSchema, Tool.getStrictMode(tool) !== false),
    // such a tool has no Effect schema to mend by, so `null`s in its arguments stay
    ...(isForeign ? { keepsNulls: true } : {})
  }
})

/** The JSON Schema of an Effect schema. A closed one forbids additional properties, so providers can enforce it strictly. */
const jsonSchemaOf = (schema: Schema.Top, isClosed: boolean): Message.ToolSpec["parameters"] => {
  const document = Schema.toJsonSchemaDocument(schema, isClosed ? { onExcessProperty: "error" } : {})
  const { definitions, schema: root } = document
  // a JSON Schema is itself JSON
  const json = root as Message.ToolSpec["parameters"]
  return Object.keys(definitions).length === 0 ? json : { ...json, $defs: definitions as Schema.Json }
}

const paramsOf = ({ tools }: Options) => {
  const toolsByName = new Map(tools.map((tool) => [tool.name, tool]))
  return (call: Message.ToolCall): Schema.Json => mendedParams(call, toolsByName.get(call.name))
}

/** If mending changes the JSON text of a reply, replaces all its text parts by the mended text. */
const mended = (reply: Message.Reply, schema: Schema.Top): Message.Reply => {
  const texts = reply.content.filter((part) => part.type === "text")
  const before = texts.map(({ text }) => text).join("")
  const after = mendedText(before, schema)
  if (after === before) return reply
  const others = reply.content.filter((part) => part.type !== "text")
  return { ...reply, content: [...others, { type: "text", text: after }] }
}

/** The failure of a reply that calls an undeclared tool; none if the caller chose to get such calls (`deferred`). */
const undeclaredIn = (
  content: Message.Reply["content"],
  { toolCallValidation, tools }: Options,
  method: string
): AiError.AiError | undefined => {
  if (toolCallValidation === "deferred") return undefined
  const availableTools = tools.map(({ name }): string => name)
  const undeclared = content.find((part) => part.type === "tool-call" && !availableTools.includes(part.name))
  if (undeclared?.type !== "tool-call") return undefined
  const reason = new AiError.ToolNotFoundError({ toolName: undeclared.name, availableTools })
  return AiError.make({ module: "LanguageModel", method, reason })
}

const cutOff = ({ name, provider }: Model.Service): LlmError.NetworkError =>
  LlmError.NetworkError.make({
    host: provider,
    what: `The stream of model '${name}' ended before its end`,
    provider,
    model: name
  })
