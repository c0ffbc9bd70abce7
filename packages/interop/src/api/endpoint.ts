/** Makes a tool of an endpoint of an `HttpApi`. */
import type { InputTooLargeError } from "@kintsugi/core/DoorError"
import type * as Recovery from "@kintsugi/core/Recovery"
import * as Tool from "@kintsugi/core/Tool"
import { ExecutionError, executionErrorOf } from "@kintsugi/core/ToolError"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import { Description, Summary } from "effect/http-api/OpenApi"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { ApiError } from "./ApiError.ts"
import * as Answer from "./answer.ts"
import * as Failure from "./failure.ts"
import { effectOf, type Lengths, lengthOf } from "./options.ts"

/** An endpoint with its surroundings. */
export interface Declared {
  readonly name: string
  readonly api: string
  readonly group: HttpApiGroup.Top
  readonly endpoint: HttpApiEndpoint.Top
  readonly annotations: Context.Context<never>
  readonly successes: ReadonlyArray<Schema.Top>
  readonly errors: ReadonlyArray<Schema.Top>
  /** The statuses that the endpoint declares. */
  readonly statuses: ReadonlySet<number>
}

/** Options of one tool. */
export interface Given extends Lengths {
  readonly baseUrl?: string | URL
  readonly headers?: ReadonlyArray<string>
}

type Codec = Schema.Codec<unknown, unknown>

/** The types of `fromApi` refuse schemas that need services. */
const codecOf = (schema: Schema.Top): Codec => schema as unknown as Codec

/** Whether an endpoint takes and gives whole values. A tool cannot be made of streams, upgrades and forms with files. */
export const isPlain = ({ endpoint, successes }: Declared): boolean =>
  // the reflection of an API leaves out streams and upgrades
  successes.length >= endpoint.success.size &&
  [...endpoint.payload.values()].every(({ encoding }) => encoding._tag !== "Multipart" && encoding._tag !== "Stream")

/** Makes the tool. Throws a `TypeError` if the headers for the model cannot be picked from the schema of the headers. */
export const toolOf = (
  declared: Declared,
  sideEffects: Recovery.SideEffects | undefined,
  given: Given
): Tool.AnyTool => {
  const { annotations, endpoint, name } = declared
  const headers = pick(declared, given.headers ?? [])
  const where: Failure.Where = { api: declared.api, operation: endpoint.identifier }
  const limit = Answer.boundOf(given.maxResponseBytes)
  const inTime = Answer.inTime(where, Answer.timeOf(given.timeout))
  const isDeclared: (error: unknown) => boolean = Schema.is(
    codecOf(Schema.Union(declared.errors.map((schema) => Schema.toType(schema))))
  )
  const send = sending(declared, headers, { baseUrl: given.baseUrl, limit, where })
  const options = {
    foreignName: endpoint.identifier,
    server: declared.api,
    description: descriptionOf(endpoint, annotations),
    kind: "web-service",
    sideEffects: sideEffects ?? effectOf(endpoint.method),
    parameters: parametersOf(endpoint, headers),
    success: codecOf(Schema.Union(declared.successes.map(bodyOf))),
    failure: codecOf(Schema.Union([...declared.errors, ExecutionError])),
    ...lengthOf(given),
    run: (params: unknown, { callId }: Tool.ToolContext) =>
      Effect.mapError(inTime(send(params)), (error): unknown =>
        error instanceof ExecutionError || isDeclared(error)
          ? error
          : executionErrorOf(
              { tool: name, kind: "web-service", callId, args: isJson(params) ? params : null },
              Schema.isSchemaError(error) ? Failure.misfit(where, error.message) : error
            )
      )
  } as const
  return Tool.make(name, options)
}

const isJson = Schema.is(Schema.Json)

const descriptionOf = (endpoint: HttpApiEndpoint.Top, annotations: Context.Context<never>): string => {
  const summary = Context.getOrUndefined(annotations, Summary)
  const description = Context.getOrUndefined(annotations, Description)
  const said = [summary, description].filter(Predicate.isString).join("\n")
  return said === "" ? `${endpoint.method} ${endpoint.path}` : said
}

/** What a model reads of a success: the body without its headers. */
const bodyOf = (schema: Schema.Top): Schema.Top =>
  HttpApiSchema.isWithHeaders(schema)
    ? schema.schema
    : withHeaders(schema.ast) === undefined
      ? schema
      : Schema.toType(schema)

/** What a schema says that takes its value apart into a body and headers. */
const withHeaders = SchemaAST.resolveAt<unknown>("~httpApiWithHeaders")

/** The schema of the headers that the model may fill; `undefined` if there are none. */
const pick = ({ endpoint, name }: Declared, allowed: ReadonlyArray<string>): Schema.Top | undefined => {
  if (endpoint.headers === undefined || allowed.length === 0) return undefined
  const { ast } = endpoint.headers
  if (!SchemaAST.isObjects(ast) || ast.encoding !== undefined)
    throw new TypeError(`Tool '${name}': the headers must be a struct, so that some of them can be for the model`)
  const picked = ast.propertySignatures.filter((property) => allowed.some((header) => header === property.name))
  return picked.length === 0 ? undefined : Schema.make(new SchemaAST.Objects(picked, [], ast.annotations))
}

/**
 * The parameters: the parts of a request. A model writes the values of a path or a query in their JSON form, for example a number as a
 * number, although they are texts in the request.
 */
const parametersOf = (endpoint: HttpApiEndpoint.Top, headers: Schema.Top | undefined): Codec => {
  const payloads = [...endpoint.payload.values()].flatMap(({ encoding, schemas }) =>
    encoding._tag === "Json" && !isInQuery(endpoint) ? schemas : schemas.map((schema) => Schema.toType(schema))
  )
  return codecOf(
    Schema.Struct({
      ...(endpoint.params === undefined ? {} : { params: Schema.toType(endpoint.params) }),
      ...(endpoint.query === undefined ? {} : { query: needless(Schema.toType(endpoint.query)) }),
      ...(headers === undefined ? {} : { headers: needless(Schema.toType(headers)) }),
      ...(payloads.length === 0 ? {} : { payload: payloads.length === 1 ? payloads[0]! : Schema.Union(payloads) })
    })
  )
}

/** A part without necessary fields may be left out. */
const needless = (part: Schema.Top): Schema.Top =>
  Schema.is(part)({}) ? Schema.withDecodingDefaultKey(Effect.succeed({}))(part) : part

const isInQuery = ({ method }: HttpApiEndpoint.Top): boolean => method === "GET" || method === "HEAD"

type Failed = HttpClientError.HttpClientError | ApiError | InputTooLargeError

interface Settings {
  readonly baseUrl: string | URL | undefined
  readonly limit: number
  readonly where: Failure.Where
}

/** Sends requests of an endpoint over the client in the context. */
const sending = (declared: Declared, headers: Schema.Top | undefined, settings: Settings) => {
  const { baseUrl, limit, where } = settings
  // The same endpoint without the headers that the client in the context sets. A declaration is only read, so a shadow of it will do.
  const endpoint: HttpApiEndpoint.Top = Object.create(declared.endpoint, { headers: { value: headers } })
  const group = HttpApiGroup.make(declared.group.identifier, { topLevel: true }).add(endpoint)
  const api = HttpApi.make(declared.api).annotateMerge(declared.annotations).add(group)
  // cast: the middleware of the client is in the context, and the types of `fromApi` say so
  return (params: unknown) =>
    Effect.gen(function* () {
      let status: Failure.Answer | undefined
      const bounded = HttpClient.transformResponse(yield* HttpClient.HttpClient, (responding) =>
        Effect.flatMap(responding, (response): Effect.Effect<HttpClientResponse.HttpClientResponse, Failed> => {
          const retryAfter = response.headers["retry-after"]
          if (!declared.statuses.has(response.status))
            return Effect.flatMap(Answer.beginning(response), (text) =>
              fromStatus(where, { status: response.status, text, retryAfter })
            )
          return Effect.map(Answer.within(response, limit, where), (bytes) => {
            status = { status: response.status, text: Answer.textOf(bytes.subarray(0, shown)), retryAfter }
            return withBody(response, bytes)
          })
        })
      )
      const client = yield* HttpApiClient.makeWith(api, {
        httpClient: bounded,
        ...(baseUrl === undefined ? {} : { baseUrl })
      })
      // cast: the group is at the top level, and the endpoint takes what the parameters decode to
      const methods = client as unknown as Record<string, (request: unknown) => Effect.Effect<unknown, unknown>>
      const call = methods[endpoint.identifier]!
      const init = yield* Effect.serviceOption(FetchHttpClient.RequestInit)
      const value = yield* Effect.suspend(() => call(params)).pipe(
        // A redirect would take the credentials of the client, and the body, to a host that the program does not name.
        Effect.provideService(FetchHttpClient.RequestInit, {
          ...(init._tag === "Some" ? init.value : {}),
          redirect: "manual"
        }),
        Effect.catchDefect((defect) =>
          Predicate.isError(defect) && (defect instanceof URIError || defect.message.includes("path parameter"))
            ? Effect.fail(Failure.unsendable(where, defect.message))
            : Effect.die(defect)
        ),
        Effect.catchIf(HttpClientError.isHttpClientError, (error): Effect.Effect<never, Failed> => {
          const answer = status ?? answerOf(error)
          if (answer === undefined) return Effect.fail(error)
          return answer.status < 300 ? Effect.fail(Failure.misfit(where, error.message)) : fromStatus(where, answer)
        })
      )
      return isWithHeaders(value) ? value.body : value
    }) as Effect.Effect<unknown, unknown, HttpClient.HttpClient>
}

const isWithHeaders = (value: unknown): value is { readonly body: unknown } =>
  Predicate.hasProperty(value, HttpApiSchema.WithHeadersValueTypeId)

/** The bytes of a declared error that are shown if it does not fit its schema. */
const shown = 16 * 1024

/** The status in a failure of a client that refuses statuses itself; its body is not read. */
const answerOf = ({ reason }: HttpClientError.HttpClientError): Failure.Answer | undefined =>
  reason._tag === "StatusCodeError"
    ? { status: reason.response.status, text: "", retryAfter: reason.response.headers["retry-after"] }
    : undefined

const fromStatus = (where: Failure.Where, answer: Failure.Answer): Effect.Effect<never, ApiError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(Failure.fromStatus(where, answer, now)))

/** The same answer with a body that is in memory. */
const withBody = (
  response: HttpClientResponse.HttpClientResponse,
  bytes: Uint8Array<ArrayBuffer>
): HttpClientResponse.HttpClientResponse =>
  HttpClientResponse.fromWeb(
    response.request,
    new Response(bytes.length === 0 ? null : bytes, { status: response.status, headers: { ...response.headers } })
  )
