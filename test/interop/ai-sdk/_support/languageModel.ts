/** Language models that play a script, written to the three versions of the AI SDK's specification. */
import { assert } from "@effect/vitest"
import { Message, Model } from "@kintsugi/core"
import type * as AiSdkModel from "@kintsugi/interop/AiSdkModel"
import { Effect, Stream } from "effect"

export type Version = AiSdkModel.LanguageModel["specificationVersion"]

export const versions: ReadonlyArray<Version> = ["v2", "v3", "v4"]

/** A part of a reply, as `doGenerate` gives it. */
export type Content = Readonly<Record<string, unknown>> & { readonly type: string }

/** One reply of the script. */
export interface Reply {
  readonly content: ReadonlyArray<Content>
  /** In the words of the SDK; `stop` by default. */
  readonly finish?: string
  /** In the words of the provider. */
  readonly raw?: string
  /** Tokens: input, of these read from the cache, output, of these for thoughts. */
  readonly usage?: readonly [input: number, cached: number, output: number, thoughts: number]
  readonly headers?: Readonly<Record<string, string>>
  readonly providerMetadata?: object
  readonly warnings?: ReadonlyArray<object>
  /** A stream breaks off with this behind its content. */
  readonly breaks?: unknown
}

/** A step of the script: a reply, a failure, or a reply that never comes. */
export type Step = Reply | { readonly throws: unknown } | "silence"

export const says = (...texts: ReadonlyArray<string>): Reply => ({
  content: texts.map((text) => ({ type: "text", text }))
})

export const calls = (...named: ReadonlyArray<readonly [name: string, input: string, id: string]>): Reply => ({
  content: named.map(([toolName, input, toolCallId]) => ({ type: "tool-call", toolCallId, toolName, input })),
  finish: "tool-calls"
})

/** As the packages of providers make it: by its fields alone, for there may be several copies of the class. */
export class ApiCallError extends Error {
  override readonly name = "AI_APICallError"
  readonly url = "https://api.example/v1"
  readonly requestBodyValues = {}
  readonly isRetryable = true
  readonly statusCode: number | undefined
  readonly responseHeaders: Readonly<Record<string, string>> | undefined
  readonly responseBody: string | undefined
  constructor(
    message: string,
    fields: {
      readonly statusCode?: number
      readonly responseHeaders?: Readonly<Record<string, string>>
      readonly responseBody?: string
      readonly cause?: unknown
    }
  ) {
    super(message, { cause: fields.cause })
    this.statusCode = fields.statusCode
    this.responseHeaders = fields.responseHeaders
    this.responseBody = fields.responseBody
  }
}

/** What a model was called with. */
export interface Called {
  readonly prompt: ReadonlyArray<{ readonly role: string; readonly content: unknown }>
  readonly abortSignal: AbortSignal
  readonly [option: string]: unknown
}

/** A model, and the calls that it got. */
export const scripted = (
  version: Version,
  script: ReadonlyArray<Step>,
  options: { readonly provider?: string; readonly modelId?: string; readonly supportedUrls?: object } = {}
) => {
  const called: Array<Called & { readonly isStreamed: boolean }> = []
  const next = (options: Called, isStreamed: boolean): Reply | Promise<never> => {
    called.push({ ...options, isStreamed })
    const step = script[called.length - 1]
    if (step === undefined) throw new Error(`call ${called.length} is not in the script`)
    if (step === "silence") return new Promise(() => undefined)
    if ("throws" in step) throw step.throws
    return step
  }
  const model: AiSdkModel.LanguageModel = {
    specificationVersion: version,
    provider: options.provider ?? "script.chat",
    modelId: options.modelId ?? "script-1",
    ...(options.supportedUrls === undefined ? {} : { supportedUrls: options.supportedUrls }),
    doGenerate: async (options: Called) => {
      const reply = await next(options, false)
      return {
        content: reply.content,
        ...endOf(version, reply),
        response: { id: "r-1", modelId: "script-1-large", timestamp: new Date(0), headers: reply.headers },
        warnings: reply.warnings ?? []
      }
    },
    doStream: async (options: Called) => {
      const reply = await next(options, true)
      return { stream: streamOf(version, reply), response: { headers: reply.headers } }
    }
  }
  return { model, called }
}

const endOf = (version: Version, { finish = "stop", providerMetadata, raw, usage = [10, 0, 5, 0] }: Reply) => {
  const [input, cached, output, thoughts] = usage
  return {
    finishReason: version === "v2" ? finish : { unified: finish, raw },
    usage:
      version === "v2"
        ? {
            inputTokens: input,
            outputTokens: output,
            totalTokens: input + output,
            reasoningTokens: thoughts,
            cachedInputTokens: cached
          }
        : {
            inputTokens: { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: undefined },
            outputTokens: { total: output, text: output - thoughts, reasoning: thoughts }
          },
    ...(providerMetadata === undefined ? {} : { providerMetadata })
  }
}

/** The parts of a stream: texts and thoughts in two pieces, calls behind their pieces. */
const streamOf = (version: Version, reply: Reply): ReadableStream<unknown> => {
  const pieces: ReadonlyArray<object> = [
    { type: "stream-start", warnings: reply.warnings ?? [] },
    { type: "response-metadata", id: "r-1", modelId: "script-1-large", timestamp: new Date(0) },
    ...reply.content.flatMap((part, index) => piecesOf(part, `p${index}`)),
    ...("breaks" in reply ? [] : [{ type: "finish", ...endOf(version, reply) }])
  ]
  return new ReadableStream({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece)
      if (!("breaks" in reply)) controller.close()
    },
    pull: (controller) => {
      if (reply.breaks === "silence") return new Promise(() => undefined)
      if ("breaks" in reply) controller.error(reply.breaks)
      return undefined
    }
  })
}

const piecesOf = (part: Content, id: string): ReadonlyArray<object> => {
  const { providerMetadata, text, type } = part
  const beside = providerMetadata === undefined ? {} : { providerMetadata }
  if ((type === "text" || type === "reasoning") && typeof text === "string") {
    const half = Math.ceil(text.length / 2)
    const { citations } = part
    return [
      { type: `${type}-start`, id },
      ...[text.slice(0, half), text.slice(half)].map((delta) => ({ type: `${type}-delta`, id, delta })),
      { type: `${type}-end`, id, ...beside, ...(citations === undefined ? {} : { citations }) }
    ]
  }
  if (type !== "tool-call") return [part]
  const { input, toolCallId, toolName } = part
  return [
    { type: "tool-input-start", id: toolCallId, toolName },
    { type: "tool-input-delta", id: toolCallId, delta: input },
    { type: "tool-input-end", id: toolCallId },
    part
  ]
}

export const plainRequest: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

/** One reply, whole and streamed: both have to be the same. */
export const replies = (layer: ReturnType<typeof AiSdkModel.layer>, request = plainRequest) =>
  Effect.gen(function* () {
    const model = yield* Model.Model
    const whole = yield* model.generate(request)
    const parts = yield* Stream.runCollect(model.stream(request))
    const collector = new Model.Collector()
    for (const part of parts) collector.push(part)
    assert.deepStrictEqual(collector.reply(), whole)
    return whole
  }).pipe(Effect.provide(layer))

/** The failure of a call, whole and streamed. */
export const failures = (layer: ReturnType<typeof AiSdkModel.layer>, request = plainRequest) =>
  Effect.gen(function* () {
    const model = yield* Model.Model
    const whole = yield* Effect.flip(model.generate(request))
    const streamed = yield* Effect.flip(Stream.runDrain(model.stream(request)))
    assert.strictEqual(streamed._tag, whole._tag)
    assert.strictEqual(streamed.message, whole.message)
    return whole
  }).pipe(Effect.provide(layer))
