/** Reads a request for Gemini's `generateContent`, and checks it as the real service does. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Received } from "../handling.ts"
import type * as Wire from "./wire.ts"
import * as Parts from "./parts.ts"

const Part = Schema.Struct({
  text: Schema.optionalKey(Schema.String),
  thought: Schema.optionalKey(Schema.Boolean),
  thoughtSignature: Schema.optionalKey(Schema.String),
  functionCall: Schema.optionalKey(
    Schema.Struct({
      id: Schema.optionalKey(Schema.String),
      name: Schema.String,
      args: Schema.optionalKey(Schema.JsonObject)
    })
  ),
  functionResponse: Schema.optionalKey(
    Schema.Struct({
      id: Schema.optionalKey(Schema.String),
      name: Schema.String,
      response: Schema.JsonObject
    })
  ),
  inlineData: Schema.optionalKey(Schema.Struct({ mimeType: Schema.String, data: Schema.String })),
  fileData: Schema.optionalKey(Schema.Struct({ mimeType: Schema.optionalKey(Schema.String), fileUri: Schema.String })),
  executableCode: Schema.optionalKey(Schema.Json),
  codeExecutionResult: Schema.optionalKey(Schema.Json)
})
type Part = typeof Part.Type

const Content = Schema.Struct({
  role: Schema.optionalKey(Schema.String),
  parts: Schema.optionalKey(Schema.Array(Part))
})

const Declaration = Schema.Struct({
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  parameters: Schema.optionalKey(Schema.JsonObject),
  parametersJsonSchema: Schema.optionalKey(Schema.JsonObject)
})

const Body = Schema.Struct({
  contents: Schema.optionalKey(Schema.Array(Content)),
  systemInstruction: Schema.optionalKey(Content),
  tools: Schema.optionalKey(
    Schema.Array(Schema.Struct({ functionDeclarations: Schema.optionalKey(Schema.Array(Declaration)) }))
  ),
  toolConfig: Schema.optionalKey(
    Schema.Struct({
      functionCallingConfig: Schema.optionalKey(
        Schema.Struct({
          mode: Schema.optionalKey(Schema.String),
          allowedFunctionNames: Schema.optionalKey(Schema.Array(Schema.String))
        })
      )
    })
  )
})
type Body = typeof Body.Type

const fields = new Set([
  ...Object.keys(Body.fields),
  "generationConfig",
  "safetySettings",
  "cachedContent",
  "labels",
  // the field of the service tier: ai.google.dev/gemini-api/docs/flex-inference, looked up on 2026-11-26
  "service_tier"
])

/** Reads the model and the kind of reply, whole or streamed, from a path. */
export const addressed = (path: string): { readonly model: string; readonly isStreamed: boolean } | undefined => {
  const [, model, way] = /\/models\/([^/]+):(generateContent|streamGenerateContent)$/.exec(path) ?? []
  return model === undefined ? undefined : { model, isStreamed: way === "streamGenerateContent" }
}

/** The API key of a request, from a header or the query, or the bearer token of Vertex. */
export const keyOf = (received: Received): string | undefined =>
  received.headers["x-goog-api-key"] ||
  new URLSearchParams(received.path.split("?")[1] ?? "").get("key") ||
  Parts.bearerOf(received)

export const read = (received: Received): Result.Result<Wire.BrainRequest, Wire.Failure> => {
  // Mutant `true` survives: the path of a request that is read names a model
  const { isStreamed, model } = addressed(Parts.pathOf(received)) ?? { model: "", isStreamed: false }
  const unknown = Predicate.isObject(received.body) && Object.keys(received.body).find((name) => !fields.has(name))
  if (unknown) return Parts.invalid(`Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`)
  return Result.flatMap(Parts.decode(Body, received), (body) => {
    const turns = (body.contents ?? []).map(turnOf)
    const system = (body.systemInstruction?.parts ?? []).map(({ text = "" }) => text)
    return Parts.unless(complaint(turns, isModern(model)), {
      format: "gemini-content",
      model,
      messages: [...(system.length === 0 ? [] : [Message.system(system.join("\n"))]), ...messagesOf(turns)],
      // Mutant `["Stryker was here"]` survives: what is no tool declares no functions
      tools: (body.tools ?? [])
        .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
        .map(({ description, name, parameters, parametersJsonSchema }) =>
          Parts.specOf(name, description, parametersJsonSchema ?? parameters)
        ),
      toolChoice: choiceOf(body),
      isStreamed,
      received
    })
  })
}

/** Whether tool calls of this model have ids and thought signatures. */
export const isModern = (model: string): boolean => !/^gemini-[12]/.test(model)

interface Turn {
  readonly role: string
  readonly parts: ReadonlyArray<Part>
  readonly calls: ReadonlyArray<{
    readonly call: NonNullable<Part["functionCall"]>
    readonly signature: string | undefined
  }>
  readonly responses: number
}

const turnOf = ({ parts = [], role = "user" }: typeof Content.Type): Turn => ({
  role,
  parts,
  calls: parts.flatMap(({ functionCall: call, thoughtSignature: signature }) =>
    call === undefined ? [] : [{ call, signature }]
  ),
  responses: parts.filter(({ functionResponse }) => functionResponse !== undefined).length
})

const choiceOf = ({ toolConfig }: Body): Model.ToolChoice => {
  const { allowedFunctionNames: [only, ...others] = [], mode } = toolConfig?.functionCallingConfig ?? {}
  if (mode === "NONE") return "none"
  if (mode !== "ANY") return "auto"
  return only === undefined || others.length > 0 ? "required" : { tool: only }
}

/**
 * Converts turns to messages. A call without an id gets a numbered id, and a response without an id gets that of the next call of the turn
 * before.
 */
const messagesOf = (turns: ReadonlyArray<Turn>): ReadonlyArray<Message.Foreign> => {
  let count = 0
  // Mutant `["Stryker was here"]` survives: a response before any call is refused
  let unanswered: Array<string> = []
  return turns.flatMap(({ calls, parts, role }): ReadonlyArray<Message.Foreign> => {
    if (role === "model") {
      const ids = calls.map(({ call: { id } }) => id ?? `call_${++count}`)
      unanswered = [...ids]
      return [{ role: "assistant", content: parts.flatMap((part) => saidBy(part, ids)) }]
    }
    const results = parts.flatMap(
      ({ functionResponse }): ReadonlyArray<Extract<Message.Foreign, { readonly role: "tool" }>> => {
        if (functionResponse === undefined) return []
        const { id = unanswered.shift() ?? "", response } = functionResponse
        return [{ role: "tool", callId: id, ...outcomeIn(response) }]
      }
    )
    const content = parts.flatMap(shownBy)
    return content.length === 0 ? results : [...results, { role: "user", content }]
  })
}

/** Reads a function response. By convention the result is in `output` or `error`; otherwise the whole response is the result. */
const outcomeIn = (response: Schema.JsonObject): { readonly text: string; readonly isError: boolean } => {
  const isError = "error" in response
  const outcome = response["error"] ?? response["output"] ?? response
  return { text: Predicate.isString(outcome) ? outcome : JSON.stringify(outcome), isError }
}

const saidBy = (
  part: Part,
  ids: Array<string>
): Extract<Message.Foreign, { readonly role: "assistant" }>["content"] => {
  const { functionCall: call, text, thought } = part
  if (call !== undefined) {
    return [{ type: "tool-call", id: ids.shift() ?? "", name: call.name, arguments: call.args ?? null }]
  }
  if (text !== undefined) return thought === true ? [{ type: "reasoning", text }] : [Message.text(text)]
  const kind = part.executableCode !== undefined ? "executableCode" : "codeExecutionResult"
  return kind in part ? [{ type: "provider-item", kind, opaque: { provider: "gemini", data: null } }] : []
}

const shownBy = ({ fileData, inlineData, text }: Part): Message.UserContent => {
  if (text !== undefined) return [Message.text(text)]
  const type = inlineData?.mimeType ?? fileData?.mimeType ?? "application/octet-stream"
  const from = inlineData ?? (fileData === undefined ? undefined : { url: fileData.fileUri })
  if (from === undefined) return []
  return [type.startsWith("image/") ? Message.image(type, from) : Message.file(type, from)]
}

/** The error message with which the real service refuses a request; `undefined` if it accepts the request. */
const complaint = (turns: ReadonlyArray<Turn>, isModern: boolean): string | undefined => {
  if (turns.length === 0) return "* GenerateContentRequest.contents: contents is not specified\n"
  const asked = turns.findLastIndex(({ responses, role }) => role === "user" && responses === 0)
  for (const [index, turn] of turns.entries()) {
    const before = turns[index - 1]
    if (turn.role !== "user" && turn.role !== "model") return "Please use a valid role: user, model."
    if (turn.parts.length === 0) {
      return `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.\n`
    }
    if (turn.calls.length > 0 && before?.role !== "user") {
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
    }
    if (turn.calls.length !== (turns[index + 1]?.responses ?? 0)) {
      return turn.calls.length === 0
        ? "Please ensure that function response turn comes immediately after a function call turn."
        : "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
    }
    const [first] = turn.calls
    if (isModern && index > asked && first !== undefined) {
      const {
        call: { name },
        signature
      } = first
      if (signature === undefined) return unsigned(name, index + 1)
      if (signature !== Parts.signatureOf(name) && !waivers.has(signature)) return "Thought signature is not valid."
    }
  }
  return turns[0]?.responses === 0
    ? undefined
    : "Please ensure that function response turn comes immediately after a function call turn."
}

/** Texts that the service accepts in the place of a thought signature, for calls that another model made. */
const waivers = new Set(["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"])

const unsigned = (name: string, position: number): string =>
  `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${position}.`
