/**
 * Makes a `Model` of a provider of your own. It needs a codec, a source and a URL. A codec is one of `AnthropicMessages`, `GeminiContent`,
 * `OllamaChat`, `OpenAiChat` and `OpenAiResponses`, or your own; `failure`, `undecodable` and `refusing` make the errors of your own codec.
 */
import * as LlmError from "@kintsugi/core/LlmError"
import * as Model from "@kintsugi/core/Model"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Codec } from "../codec/Codec.ts"
import { isContinued } from "../codec/Continued.ts"
import * as Provenance from "../codec/Provenance.ts"
import type { Answer } from "../transport/Answer.ts"
import type { Framing } from "../transport/Frames.ts"
import type { Header, HeadersOf } from "../transport/Header.ts"
import type { Source } from "../transport/Source.ts"
import type * as Background from "./background.ts"
import type { Counting } from "./counting.ts"
import * as Transport from "../transport/Transport.ts"

export { failure, undecodable } from "../classify/Classify.ts"
export { refusing } from "../codec/Capabilities.ts"
export type { Codec } from "../codec/Codec.ts"
export type { Source } from "../transport/Source.ts"

type Headers = Readonly<Record<string, Header>>

/** The parts from which `layer` makes a model over HTTP: a codec, a source, URLs and headers. */
interface Provider {
  readonly source: Source
  readonly codec: Codec
  /** The URL for whole replies. */
  readonly url: string
  /** The URL for streamed replies, if it differs from `url`. */
  readonly streamUrl?: string
  /** The URL for requests in which the model continues a message that the request ends with, if it differs from `url`. */
  readonly continuationUrl?: string | undefined
  /**
   * The headers of every request. A secret is a `Redacted` that is also among the secrets of `source`, or an effect that gives a `Redacted`
   * before each send.
   */
  readonly headers: Headers
  /** Additional headers for the requests to which `applies` returns true. They replace headers of the same name. */
  readonly headersFor?: { readonly applies: (request: Model.Request) => boolean; readonly headers: Headers }
  readonly transport?: Transport.Options | undefined
  /** The price of the model, or `reported` if each reply states its own cost. */
  readonly price?: Model.Service["price"] | undefined
  /**
   * Makes further headers for each send, such as a signature of the body.
   *
   * @internal
   */
  readonly headersOf?: HeadersOf
  /**
   * Turns the bytes of a streamed answer into server-sent events.
   *
   * @internal
   */
  readonly framing?: Framing
  /**
   * Makes the functions that wait for replies made in the background (jobs). Without it, requests that name such a reply are refused.
   *
   * @internal
   */
  readonly background?: typeof Background.make | undefined
  /**
   * Asks the provider how many tokens a request has. Without it, the model has no `countTokens`.
   *
   * @internal
   */
  readonly counting?: Counting | undefined
}

/**
 * The model of a codec at a URL. `headers` are sent with every request; a secret among them is `Redacted`, and also
 * among the secrets of `source`. Throws a `RangeError` for invalid options of the transport.
 */
export const layer = (self: Provider): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { background, codec, headers, headersFor, source, transport, url } = self
  const usual = transportsWith(self, headers)
  const further = headersFor === undefined ? usual : transportsWith(self, { ...headers, ...headersFor.headers })
  const own = background === undefined ? { ...self, codec: withoutJobs(source, codec) } : self
  const build = Effect.map(Effect.all([usual, further]), ([usual, further]) =>
    fromTransports(own, (request) => (headersFor?.applies(request) === true ? further : usual))
  )
  const { jobs } = codec
  if (jobs === undefined || background === undefined) {
    return Layer.effect(
      Model.Model,
      Effect.map(build, (model) => contradicting(codec, model))
    )
  }
  const classify = (answer: Answer) => (answer.status === 404 ? jobs.gone(answer) : codec.classify(answer))
  return Layer.effect(
    Model.Model,
    Effect.flatMap(build, (model) =>
      Effect.contextWith((context: Context.Context<Transport.HttpClient>) => {
        const to: Background.Background["to"] = (path, method, query, retry) => {
          const endpoint = { source, url: urlOf(url, path, query), headers, classify, method }
          return Effect.provide(Transport.make(endpoint, { ...transport, retry }), context)
        }
        const marking = Provenance.make(source, codec)
        return Effect.map(background({ codec, jobs, to, marking, anew: model }), (replying) =>
          contradicting(codec, { ...model, ...replying })
        )
      })
    )
  )
}

/** The transports to one provider: one for each URL, all with the same headers. */
interface Transports {
  readonly whole: Transport.Transport
  readonly streamed: Transport.Transport
  /** The transport for requests in which the model continues a message of its own; `undefined` if it is the usual one. */
  readonly continued: Transport.Transport | undefined
  /** The transport to the URL that counts tokens; `undefined` if the provider cannot count. */
  readonly counted: Transport.Transport | undefined
}

const transportsWith = (
  { codec, continuationUrl, counting, framing, headersOf, source, streamUrl, transport, url }: Provider,
  headers: Headers
): Effect.Effect<Transports, never, Transport.HttpClient> => {
  const to = (url: string) =>
    Transport.make({ source, url, headers, headersOf, framing, classify: codec.classify }, transport)
  const whole = to(url)
  return Effect.all({
    whole,
    streamed: streamUrl === undefined ? whole : to(streamUrl),
    continued: continuationUrl === undefined ? Effect.undefined : to(continuationUrl),
    counted: counting === undefined ? Effect.undefined : to(counting.url)
  })
}

/** Appends a path and a query to a URL. An invalid URL is returned as it is: the transport reports it. */
const urlOf = (url: string, path: string, query: ReadonlyArray<readonly [string, string]>): string => {
  if (!URL.canParse(url)) return url
  const full = new URL(url)
  full.pathname = `${full.pathname}/${path}`
  for (const [name, value] of query) full.searchParams.append(name, value)
  return full.href
}

const fromTransports = (
  { codec, counting, price, source }: Provider,
  transportsOf: (request: Model.Request) => Transports
): Model.Service => {
  const traced = Provenance.make(source, codec)
  const announcing = announcer(source, codec)
  const { adapts } = codec
  const anew = (error: LlmError.LlmError, request: Model.Request): Effect.Effect<Model.Request, LlmError.LlmError> => {
    const other = codec.anew?.(error, request)
    return other === undefined
      ? Effect.fail(error)
      : Effect.as(Effect.logWarning(`A request to model '${source.model}' is resent whole`, error.message), other)
  }
  /**
   * Sends a request. If it fails because the provider no longer has data that the request refers to, sends once more, with that data in the
   * request.
   */
  const sending = <A>(
    request: Model.Request,
    send: (request: Model.Request) => Effect.Effect<A, LlmError.LlmError>
  ): Effect.Effect<A, LlmError.LlmError> =>
    // Mutant `false` survives: without `anew` there is no other request, and the error stays the same
    codec.anew === undefined
      ? send(request)
      : send(request).pipe(Effect.catch((error) => Effect.flatMap(anew(error, request), send)))
  const countTokens = (asked: Model.Request): Effect.Effect<number, LlmError.LlmError> =>
    Model.leaving(
      source.model,
      Effect.suspend(() => {
        const { request } = traced(asked)
        const { counted } = transportsOf(asked)
        const refusal = refusalOf(source, codec, request)
        if (refusal !== undefined || counted === undefined || counting === undefined)
          return Effect.fail(refusal ?? unable(source, "it does not count tokens"))
        return sending(request, (request) => counting.ask(source, counted, codec.encode(request, "whole")))
      })
    )
  return {
    name: source.model,
    provider: source.provider,
    continuation: codec.continuation,
    ...(codec.contextWindow === undefined ? {} : { contextWindow: codec.contextWindow }),
    ...(price === undefined ? {} : { price }),
    ...(adapts === undefined ? {} : { adapts: (asked) => adapts(traced(asked).request) }),
    ...(codec.providerTools === true ? { providerTools: true } : {}),
    ...(codec.takes === undefined ? {} : { showsInResults: codec.takes }),
    ...(counting === undefined ? {} : { countTokens }),
    // The transcript may change later, so it is encoded when the request starts, and not read afterwards.
    generate: (asked) =>
      Model.leaving(
        source.model,
        Effect.suspend(() => {
          const { marked, request } = traced(asked)
          const refusal = refusalOf(source, codec, request)
          if (refusal !== undefined) return Effect.fail(refusal)
          const { continued, whole } = transportsOf(asked)
          const transport = isContinued(asked) ? (continued ?? whole) : whole
          const post = (request: Model.Request) =>
            transport.post(codec.encode(request, "whole"), (answer) =>
              Result.map(codec.decode(answer, request), marked)
            )
          return announcing(request, sending(request, post))
        })
      ),
    stream: (asked): Stream.Stream<Model.Part, LlmError.LlmError> =>
      Stream.unwrap(
        Model.leaving(
          source.model,
          Effect.suspend(() => {
            const { marked, marking, request } = traced(asked)
            const refusal = refusalOf(source, codec, request)
            if (refusal !== undefined) return Effect.fail(refusal)
            const { continued, streamed } = transportsOf(asked)
            const transport = isContinued(asked) ? (continued ?? streamed) : streamed
            const partsOf = (request: Model.Request) =>
              transport.stream(
                codec.encode(request, "streamed"),
                (answer) => marking(codec.decoder(answer, request)),
                (answer) => Result.map(codec.decode(answer, request), (reply) => Model.partsOf(marked(reply)))
              )
            const parts = partsOf(request).pipe(
              Stream.catch((error) => Stream.unwrap(Effect.map(anew(error, request), partsOf)))
            )
            return announcing(request, Effect.succeed(parts))
          })
        )
      )
  }
}

/** Wraps a model: if the provider refuses something that the table of capabilities allows, the error says so. */
const contradicting = ({ contradicts }: Codec, model: Model.Service): Model.Service =>
  contradicts === undefined
    ? model
    : {
        ...model,
        generate: (request) => Effect.mapError(model.generate(request), (error) => contradicts(error, request)),
        stream: (request) => Stream.mapError(model.stream(request), (error) => contradicts(error, request))
      }

/**
 * Makes the function that logs before a request: once the codec's warning, and at debug level how the codec adapts the request to the
 * model. Within a run an event reports the adaptation too.
 */
const announcer = ({ model, provider }: Source, { adapts, warning }: Codec) => {
  let isWarned = warning === undefined
  return <A, E>(request: Model.Request, self: Effect.Effect<A, E>): Effect.Effect<A, E> => {
    const adaptation = adapts?.(request)
    const adapted =
      adaptation === undefined
        ? self
        : Effect.andThen(Effect.logDebug(`A request to model '${model}' of ${provider} is adapted`, adaptation), self)
    if (isWarned) return adapted
    isWarned = true
    return Effect.andThen(Effect.logWarning(warning), adapted)
  }
}

const refusalOf = (source: Source, codec: Codec, request: Model.Request): LlmError.LlmError | undefined =>
  codec.continuation === undefined && isContinued(request)
    ? unable(source, "it does not go on from a message of its own")
    : codec.refuses?.(request)

const unable = ({ model, provider }: Source, detail: string): LlmError.LlmError =>
  LlmError.CapabilityMismatchError.make({ model, provider, capability: "other", detail })

/**
 * Makes the codec refuse requests that name a background reply. It is for a model that does not wait for such replies, which would begin a
 * new reply with each request.
 */
const withoutJobs = (source: Source, codec: Codec): Codec => ({
  ...codec,
  refuses: (request) =>
    codec.jobs?.of(request) === undefined
      ? codec.refuses?.(request)
      : unable(source, "it does not ask for replies in the background")
})
