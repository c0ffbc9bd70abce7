/** interop: MCP and the AI SDK. */
import * as Message from "@kintsugi/core/Message"
import * as Redaction from "@kintsugi/core/Redaction"
import { Duration, Effect, Result, Schema, Scope } from "effect"
import * as McpSchema from "effect/ai/McpSchema"
import * as UiMessageStream from "../../../packages/interop/src/ai-sdk/UiMessageStream.ts"
import * as ModelCodec from "../../../packages/interop/src/ai-sdk/codec.ts"
import * as ModelFailure from "../../../packages/interop/src/ai-sdk/failure.ts"
import * as Prompt from "../../../packages/interop/src/ai-sdk/prompt.ts"
import * as Metadata from "../../../packages/interop/src/ai-sdk/metadata.ts"
import { fileOf, givenBy } from "../../../packages/interop/src/ai-sdk/versions.ts"
import { copyOf } from "../../../packages/interop/src/ai-sdk/copy.ts"
import * as Output from "../../../packages/interop/src/ai-sdk/output.ts"
import { textsOf } from "../../../packages/interop/src/ai-sdk/warnings.ts"
import { sourcesOf } from "../../../packages/interop/src/ai-sdk/sources.ts"
import * as AiSchema from "../../../packages/interop/src/ai-sdk/schema.ts"
import * as Mcp from "../../../packages/interop/src/mcp/Mcp.ts"
import * as Failure from "../../../packages/interop/src/mcp/failure.ts"
import { oneLine } from "../../../packages/interop/src/mcp/line.ts"
import * as Names from "../../../packages/interop/src/mcp/names.ts"
import * as McpResult from "../../../packages/interop/src/mcp/result.ts"
import { Shallow, shallow } from "../../../packages/interop/src/mcp/shallow.ts"
import { inPieces } from "./answers.ts"
import { call, inputSchema, url, withTools } from "../../interop/mcp/_support/fakeServer.ts"
import { bombs, deepValues, documents, many, schemas, texts, values, wide } from "./data.ts"
import {
  each,
  effectOnly,
  fixed,
  grows,
  type Inputs,
  looksOnce,
  merged,
  none,
  reached,
  schema,
  type Table
} from "./entry.ts"
import { runs } from "./runs.ts"

const redact = Redaction.foreign

const contracted = none("declares a schema; Effect reads the requests, and the size of a body is bounded")

const where: Failure.Where = { server: "shop", tool: "look", redact }

const plain: ReadonlyArray<object> = [{ name: "look", inputSchema }]

/** What the server answers next, and the tools that it has. */
const server = { result: {} as object, tools: plain }

let opened: Promise<Mcp.McpConnection> | undefined

/** Connected once, for all measurements. */
const connected = (): Promise<Mcp.McpConnection> => {
  // written down when it is asked for
  const tools = Object.assign([], { toJSON: () => server.tools })
  const { layer } = withTools(tools, () => server.result)
  const connecting = Effect.flatMap(Scope.make(), (scope) =>
    Mcp.connect("shop", Mcp.http({ url }), { bounds: wide }).pipe(Effect.provide(layer), Scope.provide(scope))
  )
  return (opened ??= Effect.runPromise(connecting))
}

/** A call of a tool that is answered so. */
const answered = async (result: object) => {
  const one = await connected()
  Object.assign(server, { result, tools: plain })
  return Effect.runPromiseExit(call(one, "look"))
}

/** The tools of a server that has these. */
const offered = async (tools: ReadonlyArray<object>) => {
  const one = await connected()
  Object.assign(server, { tools })
  return Effect.runPromiseExit(Effect.all([one.tools, Mcp.toolsOf([one])]))
}

const ofText = (text: string) => ({ content: [{ type: "text", text }] })

const ofImage = (data: string) => ({ content: [{ type: "image", mimeType: "image/png", data }] })

const blocks: Inputs<object> = {
  "many texts": (size) => ({ content: many(size, 30, (n) => ({ type: "text", text: `a${n}` })) }),
  "many links": (size) => ({ content: many(size, 60, (n) => ({ type: "resource_link", uri: `a://${n}`, name: "a" })) }),
  "a long image": (size) => ofImage("A".repeat(size)),
  "a long resource": (size) => ({
    content: [{ type: "resource", resource: { uri: "a://b", text: "a".repeat(size) } }]
  }),
  "many texts that say the data": (size) => ({
    content: many(size, 40, () => ({ type: "text", text: '{"a":1}' })),
    structuredContent: { a: 2 }
  })
}

/** No base64: Effect refuses it before anything here reads it. */
const padded: Inputs<object> = { "an image of padding": (size) => ofImage(`${"=".repeat(size)}A`) }

interface Named {
  readonly name: string
}

const lists: Inputs<ReadonlyArray<Named>> = {
  "many tools": (size) => many(size, 80, (n) => ({ name: `t${n}`, inputSchema })),
  "many tools of one name": (size) => many(size, 80, () => ({ name: "look", inputSchema })),
  "many tools of names that collide": (size) =>
    many(size, 80, (n) => ({ name: `look ${n % 2 === 0 ? "!" : "?"}`, inputSchema })),
  "a long name": (size) => [{ name: "a ".repeat(size / 2), inputSchema }],
  "a long description": (size) => [{ name: "look", description: "eyJ-".repeat(size / 4), inputSchema }],
  ...Object.fromEntries(
    Object.entries({ ...schemas, ...bombs }).map(([family, make]) => [
      `a schema: ${family}`,
      (size: number) => [{ name: "look", inputSchema: make(size), outputSchema: make(size) }]
    ])
  )
}

const decoded = (result: object) => Schema.decodeUnknownSync(McpSchema.CallToolResult)({ content: [], ...result })

const source = { provider: "a.b", model: "m", secrets: [] }

const addressee = { version: "v4", provider: "a.b", providerTools: [] } as const

const codec = ModelCodec.make(source, addressee, undefined)

/** Reads an answer of a language model, whole and as a stream. */
const answeredBy = (body: string) => {
  const answer = { status: 200, headers: {}, body, at: 0, elapsed: Duration.zero }
  return [codec.decode(answer), codec.decoder(answer).push(body)]
}

const callWith = (text: string) =>
  ({
    call: { type: "tool-call", id: "c", name: "look", arguments: text },
    settlement: { kind: "result", text }
  }) as const

const promptOf = (content: Message.Assistant["content"]) =>
  Prompt.optionsOf({ messages: [{ role: "assistant", content }], tools: [], toolChoice: "auto" }, addressee)

export const interop: Table = {
  "interop/src/ai-sdk/AiSdk.ts": each(
    none("takes tools of the developer; what they give is read by output.ts"),
    "tool",
    "tools"
  ),
  "interop/src/ai-sdk/AiSdkModel.ts": each(
    none("takes a model of the developer; what it gives is read by codec.ts"),
    "layer"
  ),
  "interop/src/ai-sdk/client.ts": each(effectOnly, "make"),
  "interop/src/ai-sdk/codec.ts": {
    make: merged({
      texts: grows({ ...texts, ...documents }, (text) =>
        answeredBy(JSON.stringify({ content: [{ type: "text", text }] }))
      ),
      bodies: grows({ ...texts, ...documents }, answeredBy),
      parts: grows(values, (value) => answeredBy(JSON.stringify({ content: [{ type: "beam", value }] }))),
      failures: grows(texts, (message) =>
        answeredBy(JSON.stringify({ type: "error", error: { name: "Error", message } }))
      )
    })
  },
  "interop/src/ai-sdk/failure.ts": {
    thrown: grows(texts, (text) => ModelFailure.thrown({ statusCode: 400, message: text, responseBody: text })),
    asJson: grows({ ...values, ...deepValues }, ModelFailure.asJson),
    ...each(reached, "ended", "failureOf")
  },
  "interop/src/ai-sdk/metadata.ts": {
    ...each(reached, "dataOf", "byProvider", "opaqueOf"),
    optionsOf: grows(values, (metadata) => Metadata.optionsOf({ metadata })),
    merged: grows(values, (data) => Metadata.merged({ a: { data } }, { a: { more: data } })),
    ...each(looksOnce, "objectOf", "fieldOf", "textOf", "countOf")
  },
  "interop/src/ai-sdk/prompt.ts": {
    optionsOf: grows(texts, (text) =>
      promptOf([
        { type: "text", text },
        { type: "settled-call", ...callWith(text) }
      ])
    ),
    ...each(looksOnce, "isTaken")
  },
  "interop/src/ai-sdk/reply.ts": each(reached, "PartReader", "costIn", "finishOf", "usageOf"),
  "interop/src/ai-sdk/urls.ts": each(
    none("compares addresses of the developer with those that a package declares"),
    "check"
  ),
  "interop/src/ai-sdk/warnings.ts": {
    textsOf: grows(texts, (text) => textsOf([{ type: "unsupported", feature: text, details: text }]))
  },
  "interop/src/ai-sdk/versions.ts": {
    givenBy: grows(texts, (url) => givenBy(Message.image("image/png", { url }))),
    fileOf: grows(texts, (data) => fileOf({ mediaType: "image/png", data }))
  },
  "interop/src/ai-sdk/UiMessageStream.ts": {
    // as they are written down: of an event only its fields are read
    fromEvents: grows(runs, (events) => UiMessageStream.fromEvents(events as never)),
    ...each(effectOnly, "fromStream", "toServerSentEvents")
  },
  "interop/src/sse/EventStream.ts": each(none("reads a cursor by `Cursor.read`, which is measured"), "answer"),
  "interop/src/proxy/AgentProxy.ts": each(contracted, "Subject", "make", "toHttpApiGroup", "toRpcGroup"),
  "interop/src/proxy/AgentProxyServer.ts": each(effectOnly, "layerHttpApi", "layerRpcHandlers"),
  "interop/src/proxy/AgentRuns.ts": each(effectOnly, "layerMemory"),
  "interop/src/proxy/DurableRuns.ts": each(effectOnly, "layer"),
  "interop/src/proxy/endpoints.ts": each(contracted, "Reading", "endpointsOf", "proceduresOf"),
  "interop/src/proxy/executions.ts": each(effectOnly, "executionsOf", "versionsOf", "refusing", "failureTo"),
  "interop/src/proxy/parts.ts": {
    ...each(none("reads a cursor by `Cursor.read`, which is measured"), "partBefore", "eventsOf"),
    ...each(effectOnly, "added", "partOf")
  },
  "interop/src/proxy/serving.ts": each(
    effectOnly,
    "withSubject",
    "isNotFound",
    "eventsFor",
    "reading",
    "groupLayer",
    "asSent",
    "responseOf"
  ),
  "interop/src/proxy/unfit.ts": each(contracted, "issuesOf", "unfitOf", "refusable", "refused"),
  "interop/src/proxy/conversation/ConversationProxy.ts": each(contracted, "make", "toHttpApiGroup", "toRpcGroup"),
  "interop/src/proxy/conversation/ConversationProxyServer.ts": each(effectOnly, "layerHttpApi", "layerRpcHandlers"),
  "interop/src/proxy/conversation/conversing.ts": each(effectOnly, "conversing"),
  "interop/src/proxy/conversation/endpoints.ts": each(
    contracted,
    "conversationEndpointsOf",
    "conversationProceduresOf"
  ),
  "interop/src/proxy/conversation/errors.ts": each(
    contracted,
    "ConversationNotFoundError",
    "ConversationConflictError"
  ),
  "interop/src/proxy/conversation/schemas.ts": each(contracted, "queuedOf", "sendFields"),
  "interop/src/proxy/ends.ts": each(contracted, "refusalOf", "notCounted", "failureOf"),
  "interop/src/proxy/errors.ts": each(
    contracted,
    "UnauthorizedError",
    "RunNotFoundError",
    "RunConflictError",
    "RequestTooLargeError",
    "UnfitRequestError",
    "TooBusyError",
    "RunFailedError",
    "runFailed",
    "failedInside",
    "failedForNow"
  ),
  "interop/src/proxy/crowded.ts": each(none("looks at each item once"), "firstOfMost"),
  "interop/src/proxy/events.ts": {
    ...each(none("reads a cursor by `Cursor.read`, which is measured"), "eventsAt"),
    ...each(none("looks at each event once"), "hasBegun")
  },
  "interop/src/proxy/memory.ts": each(effectOnly, "runsInMemory"),
  "interop/src/proxy/schemas.ts": each(contracted, "answered", "startFields", "shown", "forClients"),
  "interop/src/proxy/suspended.ts": each(effectOnly, "SuspendedRuns", "layerSuspendedMemory"),
  "interop/src/ai-sdk/copy.ts": { copyOf: grows({ ...values, ...deepValues }, copyOf) },
  "interop/src/ai-sdk/drawing.ts": each(reached, "Drawing"),
  "interop/src/ai-sdk/output.ts": {
    plain: grows(values, Output.plain),
    said: merged({
      content: grows(values, (value) => Output.said({ type: "content", value })),
      texts: grows(texts, (text) =>
        Output.said({ type: "content", value: [{ text }, { type: text, mediaType: text }] })
      )
    })
  },
  "interop/src/ai-sdk/sources.ts": {
    sourcesOf: grows({ ...values, ...deepValues }, (value) =>
      sourcesOf([{ type: "provider-item", kind: "citations", opaque: { provider: "p", data: [value as Schema.Json] } }])
    )
  },
  "interop/src/ai-sdk/schema.ts": {
    read: grows({ ...schemas, ...bombs }, (jsonSchema) =>
      Result.try(() => AiSchema.read("look", { jsonSchema }, undefined, wide))
    ),
    ...each(looksOnce, "isPromise")
  },
  "interop/src/mcp/Mcp.ts": {
    ...each(none("names a program; its lines are read as those of a server over HTTP are"), "stdio"),
    ...each(reached, "http", "toolsOf")
  },
  "interop/src/mcp/McpServer.ts": {
    ...each(none("hands requests that Effect's server has read to serverCall.ts"), "stdio", "http")
  },
  "interop/src/mcp/connection.ts": {
    ...each(fixed, "isLost"),
    connect: merged({
      "a text": grows(texts, (text) => answered(ofText(text))),
      "a failure": grows(texts, (text) => answered({ ...ofText(text), isError: true })),
      "an error": grows(texts, (message) => answered({ rpcError: { code: -32_602, message } })),
      blocks: grows({ ...blocks, ...padded }, answered),
      data: grows(values, (value) => answered({ content: [], structuredContent: { value } })),
      "a text and data": grows(documents, (text) => answered({ ...ofText(text), structuredContent: { text } })),
      tools: grows(lists, offered)
    })
  },
  "interop/src/mcp/failure.ts": {
    ...each(schema, "McpError"),
    ...each(reached, "fromClient"),
    ...each(fixed, "notPinned"),
    withoutInput: grows(texts, (text) => Failure.withoutInput(where, [text], text)),
    fromResult: grows(texts, (text) => Failure.fromResult(where, text)),
    misfit: grows(texts, (text) => Failure.misfit(where, text))
  },
  "interop/src/mcp/hints.ts": each(fixed, "sideEffectsOf", "hintsOf"),
  "interop/src/mcp/http.ts": each(reached, "secretsOf", "connect"),
  "interop/src/mcp/last.ts": each(effectOnly, "Last"),
  "interop/src/mcp/line.ts": { oneLine: grows(texts, oneLine) },
  "interop/src/mcp/names.ts": {
    resolve: grows(lists, (tools) =>
      Names.resolve(
        tools.map((tool) => ({ server: "shop", name: tool.name, tool })),
        "always"
      )
    )
  },
  "interop/src/execution-plan/ExecutionPlans.ts": each(
    none("calls models, and reads no text"),
    "toModel",
    "fromFallback"
  ),
  "interop/src/mcp/notices.ts": { ...each(reached, "make"), ...each(effectOnly, "Requested") },
  "interop/src/mcp/pinning.ts": each(reached, "Pinning"),
  "interop/src/mcp/pins.ts": each(reached, "memory", "definitionOf", "digestOf"),
  "interop/src/mcp/renewed.ts": each(reached, "renewed"),
  "interop/src/mcp/result.ts": {
    fromWire: grows(blocks, (result) => McpResult.fromWire(decoded(result), redact)),
    dataOf: grows(values, (value) => McpResult.dataOf(decoded({ structuredContent: { value } }))),
    redacted: grows(values, (value) => McpResult.redacted(value, redact)),
    partsOf: grows(values, (value) => McpResult.partsOf({ content: [], structured: value })),
    ...each(reached, "textOf")
  },
  "interop/src/mcp/serverCall.ts": each(none("one call of an agent, whose parts are measured in core"), "settle"),
  "interop/src/mcp/session.ts": { ...each(effectOnly, "Begun", "counted"), ...each(fixed, "isForgotten", "isUnknown") },
  "interop/src/mcp/shallow.ts": {
    shallow: grows({ ...texts, ...documents }, (text) => shallow(text, wide)),
    Shallow: grows(texts, (text) => {
      const one = new Shallow(wide)
      inPieces(text, 64, (piece) => one.take(piece))
    })
  },
  "interop/src/mcp/stdio.ts": each(none("starts the program that the developer names"), "launch"),
  "interop/src/mcp/tool.ts": each(reached, "make", "tooLarge")
}
