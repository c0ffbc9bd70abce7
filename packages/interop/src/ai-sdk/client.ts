/**
 * Makes an HTTP client of a language model of the SDK. Each request of the transport becomes one call of `doGenerate` or `doStream`, and
 * the result of the call becomes the response, as JSON. So the transport alone resends, waits and gives up, as for every other model.
 */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Failure from "./failure.ts"
import * as Metadata from "./metadata.ts"
import { type Addressee, optionsOf, type Sent } from "./prompt.ts"
import * as Warnings from "./warnings.ts"
import * as Urls from "./urls.ts"
import type { CallSettings, LanguageModel, Version } from "./specification.ts"

/** The last segment of the URL, which names the function to call: for a whole reply, or for a stream. */
export const ways = { whole: "doGenerate", streamed: "doStream" } as const

/** The most warnings that are logged for one model, because a provider may word them differently in each request. */
const mostLogged = 100

/** Makes the client of a model. Each different warning of the SDK is logged once. */
export const make = (model: LanguageModel, to: Addressee<Version>, settings: CallSettings): HttpClient.HttpClient => {
  const logged = new Set<string>()
  const warning = (warnings: unknown): Effect.Effect<void> =>
    Effect.forEach(
      Warnings.textsOf(warnings),
      (text) => {
        if (logged.has(text) || logged.size >= mostLogged) return Effect.void
        logged.add(text)
        return Effect.logWarning(
          `The AI SDK warns of a request to model '${model.modelId}' of ${to.provider}: ${text.replaceAll(/[\p{C}\u2028\u2029]/gu, " ")}`
        )
      },
      { discard: true }
    )
  return HttpClient.make((request, url, signal) =>
    Effect.flatMap(Effect.context<never>(), (context) =>
      Effect.map(
        Effect.tryPromise({
          try: () =>
            answering(model, to, settings, {
              sent: sentIn(request),
              isStreamed: url.pathname.endsWith(ways.streamed),
              signal,
              // forks the log entry, because a stream reports its warnings from a callback between its parts
              warn: (warnings) => void Effect.runForkWith(context)(warning(warnings))
            }),
          catch: (cause) =>
            new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
        }),
        (response) => HttpClientResponse.fromWeb(request, response)
      )
    )
  )
}

const sentIn = ({ body }: HttpClientRequest.HttpClientRequest): Sent => {
  // cast: the codec of the same model has written this body
  const text = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : "{}"
  return JSON.parse(text) as Sent
}

interface Call {
  readonly sent: Sent
  readonly isStreamed: boolean
  readonly signal: AbortSignal
  readonly warn: (warnings: unknown) => void
}

/** Calls the model, and makes an HTTP response of the result. It rejects if the connection failed. */
const answering = async (
  model: LanguageModel,
  to: Addressee<Version>,
  settings: CallSettings,
  { isStreamed, sent, signal, warn }: Call
): Promise<Response> => {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  // Mutants `{}`, `false` survive: a signal aborts once
  signal.addEventListener("abort", stop, { once: true })
  if (signal.aborted) stop()
  try {
    await Urls.check(sent.messages, model.supportedUrls)
    const own = optionsOf(sent, to)
    // cast: `optionsOf` makes the options of the version that the model has
    const options = {
      ...settings,
      ...own,
      ...(settings.providerOptions === undefined && own.providerOptions === undefined
        ? {}
        : { providerOptions: Metadata.byProvider(merged(settings.providerOptions ?? {}, own.providerOptions ?? {})) }),
      abortSignal: stopping.signal
    } as never
    if (isStreamed) {
      const { response, stream } = await model.doStream(options)
      return new Response(linesOf(stream, stop, warn), { headers: headersOf(response) })
    }
    const generated = await model.doGenerate(options)
    const { content, finishReason, providerMetadata, response, usage } = generated
    if (Predicate.hasProperty(generated, "warnings")) warn(generated.warnings)
    if (Predicate.hasProperty(finishReason, "unified") && finishReason.unified === "interrupted")
      throw new Interrupted()
    return new Response(written({ content, finishReason, providerMetadata, response: factsIn(response), usage }), {
      headers: headersOf(response)
    })
  } catch (failure) {
    return answerOf(failure)
  }
}

/**
 * Merges provider options. The options of the request win over the settings, as for every other model. Objects are merged, unless their
 * `type` differs.
 */
const merged = (settings: Schema.JsonObject, own: Schema.JsonObject): Schema.JsonObject => {
  // a map, because a provider may be named `__proto__`
  const all = new Map(Object.entries(settings))
  for (const [name, value] of Object.entries(own)) {
    const [one, more] = [Metadata.objectOf(all.get(name)), Metadata.objectOf(value)]
    const [kind, other] = [Metadata.fieldOf(one, "type"), Metadata.fieldOf(more, "type")]
    const isOther = kind !== undefined && other !== undefined && kind !== other
    all.set(name, one === undefined || more === undefined || isOther ? value : merged(one, more))
  }
  return Object.fromEntries(all)
}

/** The error for a reply that the provider broke off, which the SDK reports from version 4 on. It counts as a broken connection. */
class Interrupted extends Error {
  override readonly name = "ConnectionClosed"
  readonly code = "ECONNRESET"
  constructor() {
    super("the reply ended before it was complete")
  }
}

const answerOf = (failure: unknown): Response => {
  const thrown = Failure.thrown(failure)
  if (thrown.type === "connection") throw thrown.cause
  if (thrown.type === "answer") return new Response(thrown.body, { status: thrown.status, headers: headersOf(thrown) })
  return new Response(written({ type: "error", error: thrown }))
}

/** The parts of a stream as lines of JSON. If the reader cancels the stream, the call is aborted. */
const linesOf = (parts: ReadableStream<unknown>, stop: () => void, warn: Call["warn"]): ReadableStream<Uint8Array> => {
  const reader = parts.getReader()
  const encoder = new TextEncoder()
  const line = (part: unknown) => encoder.encode(`${written(part)}\n`)
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        const isError = Predicate.hasProperty(value, "type") && value.type === "error"
        if (isError) return put(controller, Predicate.hasProperty(value, "error") ? value.error : undefined)
        const isStart = Predicate.hasProperty(value, "type") && value.type === "stream-start"
        if (isStart && Predicate.hasProperty(value, "warnings")) warn(value.warnings)
        controller.enqueue(line(value))
      } catch (failure) {
        put(controller, failure)
      }
    },
    cancel: async (reason) => {
      stop()
      await reader.cancel(reason)
    }
  })

  function put(controller: ReadableStreamDefaultController<Uint8Array>, failure: unknown): void {
    const thrown = Failure.thrown(failure)
    if (thrown.type === "connection") return controller.error(thrown.cause)
    controller.enqueue(line({ type: "error", error: thrown }))
    controller.close()
    // no parts are read after a failure, so the call is stopped
    stop()
    reader.cancel().catch(() => undefined)
  }
}

/** Writes a value as JSON, with bytes in base64. Throws if JSON cannot represent the value. */
const written = (value: unknown): string =>
  JSON.stringify(value, function (this: unknown, key: string, json: unknown): unknown {
    // read from the parent object, because `toJSON` of a `Buffer` gives a list of numbers
    const bytes = Predicate.hasProperty(this, key) ? this[key] : json
    return bytes instanceof Uint8Array ? Result.getOrElse(encoded(bytes), () => "") : json
  })

const encoded = Schema.encodeResult(Schema.Uint8ArrayFromBase64)

const factsIn = (response: unknown): object => {
  const [id, modelId] = ["id", "modelId"].map((key) =>
    Predicate.hasProperty(response, key) ? response[key] : undefined
  )
  return { id, modelId }
}

/** Headers about the bytes of the provider's response, which are wrong for the response that this module makes. */
const ofBytes: ReadonlySet<string> = new Set(["content-length", "content-encoding", "transfer-encoding"])

const headersOf = (response: unknown): Headers => {
  const headers = new Headers()
  const given = Predicate.hasProperty(response, "headers") ? response.headers : undefined
  if (!Predicate.isObject(given)) return headers
  for (const [name, value] of Object.entries(given)) {
    if (Predicate.isString(value) && !ofBytes.has(name.toLowerCase())) Result.try(() => headers.set(name, value))
  }
  return headers
}
