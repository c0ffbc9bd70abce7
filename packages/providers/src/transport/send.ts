/** Sends one HTTP request, and maps each possible outcome to an answer or an error. */
import * as LlmError from "@kintsugi/core/LlmError"
import * as Redaction from "@kintsugi/core/Redaction"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Stream from "effect/Stream"
import * as Answer from "./Answer.ts"
import * as Source from "./Source.ts"
import * as Body from "./body.ts"
import * as Fault from "./fault.ts"
import type { Framing } from "./Frames.ts"
import { onlyFailure, type Failure } from "./Failure.ts"
import type { Header, HeadersOf } from "./Header.ts"
import { mayResend } from "./mayResend.ts"
import type { Limits } from "./settings.ts"

/** The URL and headers of a model's requests, and how failed answers are classified. */
export interface Endpoint {
  readonly source: Source.Source
  readonly url: string
  /** `POST` by default. A `GET` has no body. */
  readonly method?: "GET" | "POST"
  /** The headers of every request. Secret values are `Redacted`. */
  readonly headers: Readonly<Record<string, Header>>
  /**
   * Makes further headers of each send, such as a signature. They replace `headers` of the same name. If it fails, the request is not
   * resent.
   */
  readonly headersOf?: HeadersOf | undefined
  /** Turns the bytes of a streamed answer into server-sent events, for a server with another format. */
  readonly framing?: Framing | undefined
  /** The error of an answer whose status is not 2xx. */
  readonly classify: (answer: Answer.Answer) => LlmError.LlmError
}

/** An endpoint whose URL and headers are valid. */
export interface Target {
  readonly endpoint: Endpoint
  readonly url: URL
  /** The URL as errors show it, without its query. */
  readonly shownUrl: string
  readonly request: HttpClientRequest.HttpClientRequest
  /** The names of the headers that hold secrets. */
  readonly hidden: ReadonlyArray<string>
  /** The headers whose values are effects. Each send runs these effects. */
  readonly asked: ReadonlyArray<readonly [name: string, value: Effect.Effect<Redacted.Redacted, unknown>]>
  /** The secrets in the headers of this send. They are redacted in errors as long as this array is in memory. */
  readonly given?: ReadonlyArray<Redacted.Redacted>
}

/** An answer whose body is not read yet, and the failures that reading it may have. */
export interface Exchange {
  readonly answer: Answer.Answer
  readonly bytes: Stream.Stream<Uint8Array, Failure>
  /** Reads the whole body as text. */
  readonly text: Effect.Effect<string, Failure>
  /** Makes the failure of an error that a codec found in the body. */
  readonly failed: (error: LlmError.LlmError) => Failure
  /** Makes the failure of a body that ended before the reply was complete. */
  readonly truncated: () => Failure
  /** Makes the failure of a reply that is larger than the limit with this name. */
  readonly oversized: (option: keyof Limits) => Failure
}

/**
 * Validates an endpoint. The error of an invalid one is that of every call. The headers are checked here, because `fetch` would quote an
 * invalid header value in its own message.
 */
export const target = (endpoint: Endpoint): Result.Result<Target, LlmError.LlmError> => {
  const { source } = endpoint
  const fault = faultOfUrl(endpoint.url)
  if (fault !== undefined) return Result.fail(unsendable(source, fault))
  const headers: Record<string, string> = {}
  const hidden: Array<string> = []
  const asked: Array<Target["asked"][number]> = []
  for (const [named, header] of Object.entries(endpoint.headers)) {
    const name = named.toLowerCase()
    if (Effect.isEffect(header)) {
      asked.push([name, header])
      hidden.push(name)
      continue
    }
    const value = (Redacted.isRedacted(header) ? Redacted.value(header) : header).trim()
    if (!sendable.test(value)) {
      const message = unsendableHeader(named)
      return Result.fail(Redacted.isRedacted(header) ? unauthorised(source, message) : unsendable(source, message))
    }
    headers[name] = value
    if (Redacted.isRedacted(header)) hidden.push(name)
  }
  const url = new URL(endpoint.url)
  return Result.succeed({
    endpoint,
    url,
    shownUrl: `${url.origin}${url.pathname}`,
    request: HttpClientRequest.make(endpoint.method ?? "POST")(endpoint.url, { headers }),
    hidden,
    asked
  })
}

const unsendableHeader = (name: string): string => `The header '${name}' holds a character that HTTP does not admit`

/** Adds the headers that are made for one send: the values of effects, and those of `headersOf`. */
const withAsked = (target: Target, body: string): Effect.Effect<Target, Failure> => {
  const { headersOf, source } = target.endpoint
  const refused = (why: string, cause?: unknown): Failure => ({
    error: unauthorised(source, why, cause),
    resend: false
  })
  const given = Effect.forEach(target.asked, ([name, value]) =>
    Effect.matchEffect(value, {
      onFailure: (cause) => Effect.fail(refused(`The effect of the header '${name}' failed`, cause)),
      onSuccess: (secret) => {
        Redaction.know(secret)
        return Effect.succeed([name, secret] as const)
      }
    })
  )
  const made: ReturnType<HeadersOf> = headersOf?.({ url: target.url, body }) ?? Effect.succeed({})
  const more = Effect.mapBoth(made, {
    onFailure: (error): Failure => ({ error, resend: false }),
    onSuccess: (headers) => Object.entries(headers)
  })
  return Effect.flatMap(Effect.all([given, more]), ([given, more]) => {
    const all: ReadonlyArray<readonly [name: string, value: string | Redacted.Redacted]> = [...given, ...more]
    const texts = all.map(
      ([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value).trim() : value] as const
    )
    const broken = texts.find(([, text]) => !sendable.test(text))
    if (broken !== undefined) return Effect.fail(refused(unsendableHeader(broken[0])))
    const secrets = all.flatMap(([name, value]) => (Redacted.isRedacted(value) ? [[name, value] as const] : []))
    return Effect.succeed({
      ...target,
      request: HttpClientRequest.setHeaders(target.request, texts),
      hidden: [...target.hidden, ...secrets.map(([name]) => name)],
      // Mutant `undefined` for `secret` survives: only a garbage collection would show the difference
      given: secrets.map(([, secret]) => secret)
    })
  })
}

/** Says what is wrong with a URL, without quoting it, because it may hold a secret. Effect's client would report a lost network instead. */
const faultOfUrl = (text: string): string | undefined => {
  const advice = "it has to begin with http:// or https://, as in 'http://localhost:11434'"
  if (!URL.canParse(text)) return `the base URL is not a URL; ${advice}`
  const { password, protocol, username } = new URL(text)
  if (protocol !== "http:" && protocol !== "https:")
    return `the base URL has no scheme, or another one than http and https; ${advice}`
  return username === "" && password === ""
    ? undefined
    : "the base URL holds a user name or a password; put them in a header that is Redacted"
}

/** Matches the header values that HTTP admits: tabs, and the visible and blank characters of Latin-1. */
const sendable = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/** The target for requests whose answers should have this media type. */
export const accepting = (target: Target, mediaType: string): Target => ({
  ...target,
  request: HttpClientRequest.setHeader(target.request, "accept", mediaType)
})

/** Sends one request, and succeeds when the head of an answer with a 2xx status arrives. */
export const exchange = (
  client: HttpClient.HttpClient,
  target: Target,
  body: string,
  limits: Limits
): Effect.Effect<Exchange, Failure> =>
  target.asked.length === 0 && target.endpoint.headersOf === undefined
    ? sent(client, target, body, limits)
    : Effect.flatMap(withAsked(target, body), (target) => sent(client, target, body, limits))

const sent = (
  client: HttpClient.HttpClient,
  target: Target,
  body: string,
  limits: Limits
): Effect.Effect<Exchange, Failure> =>
  Clock.clockWith((clock) => {
    const start = clock.currentTimeMillisUnsafe()
    const since = () => Duration.millis(clock.currentTimeMillisUnsafe() - start)
    const failed = (error: HttpClientError.HttpClientError) => faultOf(error, target, since())
    const request =
      target.endpoint.method === "GET"
        ? target.request
        : HttpClientRequest.setBody(target.request, HttpBody.text(body, "application/json"))
    // Tracers and loggers redact the values of these headers too. The attempt has a span of its own.
    const sending = Effect.updateContext(client.execute(request), (context: Context.Context<never>) =>
      Context.add(Context.add(context, HttpClient.TracerDisabledWhen, always), Headers.CurrentRedactedNames, [
        ...Context.get(context, Headers.CurrentRedactedNames),
        ...target.hidden
      ])
    )
    return Effect.matchCauseEffect(sending, {
      onFailure: (cause) => {
        const error = onlyFailure(cause)
        // A client that rejects some statuses still passes on the response in its error.
        return error?.reason._tag === "StatusCodeError"
          ? received(error.reason.response)
          : Effect.failCause(Cause.map(cause, failed))
      },
      onSuccess: (response) => received(response)
    })

    function received(response: HttpClientResponse.HttpClientResponse): Effect.Effect<Exchange, Failure> {
      const elapsed = since()
      const at = clock.currentTimeMillisUnsafe()
      const { headers, status } = response
      const answer = { status, headers, body: "", at, elapsed, url: target.shownUrl }
      const oversized = (option: keyof Limits) => ({
        error: tooLarge(target.endpoint.source, answer, option, limits[option]),
        resend: false
      })
      const truncated = () => ({ error: Fault.incomplete(target.endpoint.source, target.url), resend: true })
      const incoming: Exchange = {
        answer,
        get bytes() {
          const bytes = Body.bytes(response, failed)
          const faults = {
            maxEventBytes: limits.maxEventBytes,
            broken: truncated,
            oversized: () => oversized("maxEventBytes")
          }
          return target.endpoint.framing?.(headers["content-type"], bytes, faults) ?? bytes
        },
        text: Body.text(response, limits.maxBodyBytes, {
          failed,
          oversized: () => oversized("maxBodyBytes")
        }),
        failed: (error) => ({ error, resend: mayResend(error, answer) }),
        truncated,
        oversized
      }
      return Answer.isSuccess(answer) ? Effect.succeed(incoming) : rejected(target, incoming)
    }
  })

const always = () => true

const rejected = ({ endpoint, url }: Target, incoming: Exchange): Effect.Effect<never, Failure> => {
  const location = incoming.answer.headers["location"]
  if (incoming.answer.status < 400 && location !== undefined) {
    const to = URL.canParse(location, url) ? new URL(location, url).origin : "nowhere"
    return Effect.fail({ error: redirected(endpoint.source, url, incoming.answer, to), resend: false })
  }
  // an error page that is too large is not read, so its status alone decides about the error
  const page = Effect.catchIf(
    incoming.text,
    ({ error }) => error._tag === "ReplyTooLargeError",
    () => Effect.succeed("")
  )
  return Effect.flatMap(page, (body) => Effect.fail(incoming.failed(endpoint.classify({ ...incoming.answer, body }))))
}

const faultOf = (
  { reason }: HttpClientError.HttpClientError,
  { endpoint: { source }, request: { method }, url }: Target,
  elapsed: Duration.Duration
): Failure => {
  if (reason._tag === "EncodeError" || reason._tag === "InvalidUrlError") {
    const why = reason.description === undefined ? "it could not be written" : Source.quote(reason.description)
    return { error: unsendable(source, why, reason.cause), resend: false }
  }
  const error = Fault.fromCause(reason.cause ?? reason.description, { source, url, method, elapsed })
  // After a timeout nothing is resent, because the silent server may still work on the request.
  return { error, resend: error._tag === "NetworkError" }
}

const unsendable = (source: Source.Source, why: string, cause?: unknown): LlmError.LlmError => {
  const { model, provider } = source
  const message = `The request to model '${model}' was not sent: ${why}`
  const beneath = cause === undefined ? {} : { cause: Source.scrubCause(cause) }
  return new LlmError.InvalidRequestError({ model, provider, message, ...beneath })
}

const unauthorised = ({ model, provider }: Source.Source, why: string, cause?: unknown): LlmError.LlmError => {
  const message = `The request to model '${model}' was not sent: ${why}`
  const beneath = cause === undefined ? {} : { cause: Source.scrubCause(cause) }
  return new LlmError.AuthenticationError({ model, provider, message, ...beneath })
}

const redirected = (
  { model, provider }: Source.Source,
  url: URL,
  { status }: Answer.Answer,
  to: string
): LlmError.LlmError => {
  const asked = Source.quote(`${url.origin}${url.pathname}`)
  const message = `The server of model '${model}' redirects ${asked} to ${to} (status ${status}); redirects are not followed`
  return new LlmError.InvalidRequestError({ model, provider, status, message })
}

const tooLarge = (
  source: Source.Source,
  answer: Answer.Answer,
  option: keyof Limits,
  limit: number
): LlmError.LlmError => {
  const id = Answer.requestId(answer)
  return LlmError.ReplyTooLargeError.make({
    model: source.model,
    provider: source.provider,
    status: answer.status,
    ...(id === undefined ? {} : { requestId: Source.quote(id) }),
    option,
    limit
  })
}
