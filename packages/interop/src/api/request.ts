/** Sends the requests of an operation, and reads the answers. */
import type { InputTooLargeError } from "@kintsugi/core/DoorError"
import * as Bounds from "@kintsugi/core/Bounds"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type * as HttpMethod from "effect/http/HttpMethod"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { ApiError } from "./ApiError.ts"
import * as Answer from "./answer.ts"
import * as Failure from "./failure.ts"
import { form, isDots, keyOf, type Operation } from "./operation.ts"
import { effectOf } from "./options.ts"
import { isJsonObject, type Json } from "./pointer.ts"
import { isAllowed } from "./server.ts"
import { pairs, type Parameter, simple } from "./style.ts"

/** What the requests of an operation share. */
export interface Sending {
  readonly operation: Operation
  readonly where: Failure.Where
  readonly hosts: ReadonlySet<string>
  readonly credentials: ReadonlySet<string>
  readonly limit: number
  readonly bounds: Bounds.Bounds
}

type Failed = ApiError | InputTooLargeError | HttpClientError.HttpClientError

/** How many redirects a request may follow. */
const mostRedirects = 5

/** Sends a request with these params. */
export const send = (
  sending: Sending,
  params: Schema.Json
): Effect.Effect<Schema.Json, Failed, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const init = yield* Effect.serviceOption(FetchHttpClient.RequestInit)
    const made = requestOf(sending, isJsonObject(params) ? params : {})
    if (Result.isFailure(made)) return yield* Effect.fail(Failure.unsendable(sending.where, made.failure))
    // A redirect is followed here, so that no request leaves the list of hosts.
    const execute = (request: HttpClientRequest.HttpClientRequest) =>
      Effect.provideService(client.execute(request), FetchHttpClient.RequestInit, {
        ...(init._tag === "Some" ? init.value : {}),
        redirect: "manual"
      })
    return yield* following(sending, execute, made.success, 0)
  })

type Execute = (
  request: HttpClientRequest.HttpClientRequest
) => Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

const following = (
  sending: Sending,
  execute: Execute,
  request: HttpClientRequest.HttpClientRequest,
  hops: number
): Effect.Effect<Schema.Json, Failed> =>
  Effect.flatMap(execute(request), (response) => {
    const { hosts, operation } = sending
    // A client that follows redirects itself may come from another host.
    const last = sourceOf(response)
    if (last !== undefined && !isAllowed(last, hosts)) return refused(sending, { status: 302, text: last.host })
    if (response.status < 300 || response.status > 399 || response.status === 304) return answered(sending, response)
    const to = targetOf(response, request.url)
    const text = to === undefined ? "it redirects to no address" : `it redirects to the host ${to.host}`
    const isSafe = effectOf(operation.method) === "none" && hops < mostRedirects
    if (
      to === undefined ||
      !isSafe ||
      !isAllowed(to, hosts) ||
      (to.protocol === "http:" && request.url.startsWith("https:"))
    )
      return refused(sending, { status: response.status, text })
    return following(
      sending,
      execute,
      HttpClientRequest.setUrl(HttpClientRequest.setUrlParams(request, []), to),
      hops + 1
    )
  })

const refused = (
  { where }: Sending,
  answer: Pick<Failure.Answer, "status" | "text">,
  retryAfter?: string
): Effect.Effect<never, ApiError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.fail(Failure.fromStatus(where, { ...answer, retryAfter }, now))
  )

/** The address from which an answer came, if its client tells. */
const sourceOf = ({ request }: HttpClientResponse.HttpClientResponse): URL | undefined =>
  URL.canParse(request.url) ? new URL(request.url) : undefined

const targetOf = ({ headers }: HttpClientResponse.HttpClientResponse, base: string): URL | undefined => {
  const { location } = headers
  return location !== undefined && URL.canParse(location, base) ? new URL(location, base) : undefined
}

const answered = (
  sending: Sending,
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Schema.Json, Failed> => {
  const { bounds, limit, where } = sending
  const { headers, status } = response
  // Mutant `false` for `status < 200` survives: a response of a client has no lower status
  if (status < 200 || status > 299)
    return Effect.flatMap(Answer.beginning(response), (text) =>
      refused(sending, { status, text }, headers["retry-after"])
    )
  return Effect.flatMap(Answer.within(response, limit, where), (bytes): Effect.Effect<Schema.Json, Failed> => {
    const text = Answer.textOf(bytes)
    const type = (headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase()
    if (text === "") return Effect.succeed(null)
    if (type !== "application/json" && !type.endsWith("+json")) return Effect.succeed(text)
    const parsed = Result.try((): unknown => JSON.parse(text))
    if (Result.isFailure(parsed)) return Effect.fail(Failure.misfit(where, "it is no JSON"))
    if (Bounds.isDeeper(parsed.success, bounds.depth))
      return Effect.fail(Failure.tooLarge(where, "depth", bounds.depth))
    // cast: `JSON.parse` gives JSON
    return Effect.succeed(parsed.success as Schema.Json)
  })
}

/** The request, or why the arguments cannot be sent. */
const requestOf = (
  { credentials, operation }: Sending,
  params: Json
): Result.Result<HttpClientRequest.HttpClientRequest, string> => {
  const groups = {
    path: groupOf(params["params"]),
    query: groupOf(params["query"]),
    header: groupOf(params["headers"])
  }
  const segments = new Map<string, string>()
  const query: Array<readonly [string, string]> = []
  const headers: Array<readonly [string, string]> = []
  for (const parameter of operation.parameters) {
    const group = groups[parameter.in]
    if (!Object.hasOwn(group, parameter.name)) continue
    const value = group[parameter.name]
    if (parameter.in === "query") query.push(...pairs(parameter, value))
    else {
      const text = simple(parameter, value)
      if (parameter.in === "header") headers.push([parameter.name, text])
      else segments.set(parameter.name, text)
    }
  }
  if ([...segments.values()].some((text) => !text.isWellFormed()))
    return Result.fail("a parameter of the path has half of a surrogate pair, which no address can have")
  const path = operation.path.split("/").map((segment) => {
    const written = segment.replaceAll(/\{([^{}]*)\}/g, (_, name: string) =>
      encodeURIComponent(segments.get(name) ?? "")
    )
    return segment.includes("{") && (written === "" || isDots(written)) ? undefined : written
  })
  if (path.includes(undefined)) return Result.fail("a parameter of the path is empty, or leads to another path")
  const spoofed = query.find(([name]) => credentials.has(keyOf("query", name)))
  if (spoofed !== undefined) return Result.fail(`the query may not have '${spoofed[0]}'`)
  const odd = headers.find(([, value]) => /[^\t\x20-\x7e\x80-\xff]/.test(value))
  if (odd !== undefined) return Result.fail(`the header '${odd[0]}' has characters that no header may have`)
  const url = new URL(operation.server)
  url.pathname = `${url.pathname.replace(/\/$/, "")}${path.join("/")}`
  // cast: one of the methods that the reader of the document knows
  const request = HttpClientRequest.make(operation.method as HttpMethod.HttpMethod)(url).pipe(
    HttpClientRequest.setHeaders([["accept", "application/json, text/*;q=0.9, */*;q=0.1"], ...headers]),
    HttpClientRequest.appendUrlParams(query)
  )
  return Result.succeed(withPayload(request, operation.mediaType, params["payload"]))
}

const groupOf = (value: unknown): Json => (isJsonObject(value) ? value : {})

const withPayload = (
  request: HttpClientRequest.HttpClientRequest,
  mediaType: string | undefined,
  payload: unknown
): HttpClientRequest.HttpClientRequest => {
  if (mediaType === undefined || payload === undefined) return request
  if (mediaType === form) {
    const fields: ReadonlyArray<readonly [string, string]> = Object.entries(groupOf(payload)).flatMap(([name, value]) =>
      pairs(ofForm(name), value)
    )
    return HttpClientRequest.bodyText(
      request,
      new URLSearchParams(fields.map(([name, text]) => [name, text])).toString(),
      form
    )
  }
  const text = mediaType === "text/plain" && typeof payload === "string" ? payload : JSON.stringify(payload)
  return HttpClientRequest.bodyText(request, text, mediaType)
}

const ofForm = (name: string): Parameter => ({ name, in: "query", isRequired: false, style: "form", isExploded: true })
