/**
 * The operations of an OpenAPI document (3.0 and 3.1) as tools. The document is foreign: no reference leads out of it, requests go only to
 * hosts of a list, and credentials come from the `HttpClient` in the context alone. Every failure of a call is an `ExecutionError`, with an
 * `ApiError` as its cause if the API has answered.
 */
import * as Bounds from "@kintsugi/core/Bounds"
import { InputTooLargeError } from "@kintsugi/core/DoorError"
import * as RawSchema from "@kintsugi/core/RawSchema"
import * as Redaction from "@kintsugi/core/Redaction"
import type * as Recovery from "@kintsugi/core/Recovery"
import * as Tool from "@kintsugi/core/Tool"
import { type ExecutionError, executionErrorOf } from "@kintsugi/core/ToolError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Answer from "./answer.ts"
import { ApiDocumentError, refusal } from "./documentError.ts"
import { type Listed, type Operation, operationsOf, read, securityOf, type Settings } from "./operation.ts"
import { effectOf, type Lengths, lengthOf } from "./options.ts"
import { isJsonObject, References } from "./pointer.ts"
import { send } from "./request.ts"

export { ApiDocumentError } from "./documentError.ts"

/** A tool of an operation. Its parameters and results are plain JSON, because only the document describes them. */
export type OperationTool = Tool.Tool<
  string,
  Schema.Json,
  Schema.Json,
  ExecutionError,
  HttpClient.HttpClient,
  {},
  Recovery.SideEffects
>

/** The tools of a document. */
export interface OperationTools {
  /** The tools, in the order of the document. */
  readonly tools: ReadonlyArray<OperationTool>
  /** Why operations are left out: one failure for each. */
  readonly refused: ReadonlyArray<ApiDocumentError | InputTooLargeError>
}

/** The ids of the operations of a document, if its type has them. */
type IdsIn<Document> = Document extends { readonly paths: infer Paths }
  ? { [Path in keyof Paths]: IdOf<Paths[Path][keyof Paths[Path]]> }[keyof Paths]
  : never

type IdOf<Operation> = Operation extends { readonly operationId: infer Id extends string } ? Id : never

type Ids<Document> = [IdsIn<Document>] extends [never] ? string : IdsIn<Document>

/** Options of `fromDocument`. An operation without an id is named by method and path, such as `get /pets`. */
export interface Options<Id extends string = string> extends Lengths {
  /** The name of the API, for models and errors. */
  readonly name: string
  /** The hosts to which requests and redirects may go, such as `api.example.com`; a host without TLS as `http://api.example.com`. */
  readonly hosts: ReadonlyArray<string>
  /** The address of the API; by default the first server of the document. */
  readonly baseUrl?: string | URL
  /** The operations to take; all by default. An operation of the list that cannot be a tool fails the effect. */
  readonly include?: ReadonlyArray<Id>
  /** The headers that the model may fill; none by default. A header of a security scheme is never one of them. */
  readonly headers?: ReadonlyArray<string>
  /** The side effects of operations; by default the method decides. */
  readonly sideEffects?: { readonly [_ in Id]?: Recovery.SideEffects }
  /** How many tools there may be; 128 by default. */
  readonly maxTools?: number
  /** How many nodes the schemas of all tools may have together; 100,000 by default. An operation beyond them is refused. */
  readonly maxNodes?: number
  /** The bounds of a tool's schema with its references followed, and the depth of an answer. */
  readonly bounds?: Partial<Bounds.Bounds>
}

/** The levels of a document. */
const deepest = 512

/**
 * Makes tools of the operations of a document, which is parsed JSON. An operation that cannot be a tool is left out, and `refused` has the
 * reason. Throws a `RangeError` for an invalid bound.
 */
export const fromDocument = <const Document>(
  document: Document,
  options: Options<NoInfer<Ids<Document>>>
): Effect.Effect<OperationTools, ApiDocumentError | InputTooLargeError> => {
  const { maxNodes = 100_000, maxTools = 128 } = options
  const bounds = Bounds.resolve(options.bounds)
  const limit = Answer.boundOf(options.maxResponseBytes)
  const timeout = Answer.timeOf(options.timeout)
  for (const [name, bound] of Object.entries({ maxNodes, maxTools }))
    if (!Number.isSafeInteger(bound) || bound < 1)
      throw new RangeError(`DocumentTools: ${name} must be an integer of at least 1, got ${bound}`)
  return Effect.try({
    try: () => made(document, options, { bounds, limit, maxNodes, maxTools, timeout }),
    catch: asRefusal
  })
}

/** A refusal as it is; all else is a defect. */
const asRefusal = (error: unknown): ApiDocumentError | InputTooLargeError => {
  if (error instanceof ApiDocumentError || error instanceof InputTooLargeError) return error
  throw error
}

interface Limits {
  readonly bounds: Bounds.Bounds
  readonly limit: number
  readonly maxNodes: number
  readonly maxTools: number
  readonly timeout: Duration.Duration
}

const made = (document: unknown, options: Options, limits: Limits): OperationTools => {
  const { include, name: api, sideEffects = {} } = options
  const what = `The OpenAPI document '${Redaction.foreign(api, 200)}'`
  if (Bounds.isDeeper(document, deepest)) throw InputTooLargeError.make({ what, bound: "depth", limit: deepest })
  const version = isJsonObject(document) ? document["openapi"] : undefined
  if (!isJsonObject(document) || !Predicate.isString(version) || !/^3\.[01](?:\.|$)/.test(version))
    throw refusal(api, "#/openapi", "version", "it is no OpenAPI document of version 3.0 or 3.1")
  const references = new References(api, document)
  const settings: Settings = {
    api,
    references,
    bounds: limits.bounds,
    total: { what, limit: limits.maxNodes, nodes: 0 },
    isOld: version.startsWith("3.0"),
    hosts: new Set(options.hosts.map((host) => host.toLowerCase())),
    baseUrl: options.baseUrl,
    headers: new Set(options.headers?.map((header) => header.toLowerCase())),
    ...securityOf(references)
  }
  const found = operationsOf(references)
  const all = found.filter((one): one is Listed => !(one instanceof ApiDocumentError))
  const ids = new Set<string>()
  const shared = new Set<string>()
  for (const { id } of all) (ids.has(id) ? shared : ids).add(id)
  const ambiguous = (id: string, pointer: string) =>
    refusal(api, pointer, "operation", `more than one operation has the id '${id}'`)
  for (const id of [...(include ?? []), ...Object.keys(sideEffects)]) {
    if (!ids.has(id)) throw refusal(api, "#/paths", "operation", `it has no operation '${id}'`)
    if (shared.has(id)) throw ambiguous(id, "#/paths")
  }
  const wanted = include === undefined ? undefined : new Set(include)
  const taken = wanted === undefined ? all : all.filter(({ id }) => wanted.has(id))
  if (taken.length > limits.maxTools)
    throw refusal(
      api,
      "#/paths",
      "count",
      `it has ${taken.length} operations, and ${limits.maxTools} may be tools: set the option include or maxTools`
    )
  const operations: Array<Operation> = []
  const refused: Array<ApiDocumentError | InputTooLargeError> =
    wanted === undefined ? found.filter((one) => one instanceof ApiDocumentError) : []
  for (const listed of taken) {
    const { id, operation: part } = listed
    const operation = shared.has(id) ? ambiguous(id, part.pointer) : readWithin(listed, settings)
    if (!(operation instanceof ApiDocumentError) && !(operation instanceof InputTooLargeError))
      operations.push(operation)
    else if (wanted === undefined) refused.push(operation)
    else throw operation
  }
  const names = Tool.namesFor(operations.map(({ id }) => id))
  const tools = operations.map((operation, index) =>
    toolOf(names[index] ?? "", operation, { options, settings, limits })
  )
  return { tools, refused }
}

/** The characters of an operation id that are quoted. */
const longestId = 200

/** Reads an operation, and checks the bounds of its schema. */
const readWithin = (listed: Listed, settings: Settings): Operation | ApiDocumentError | InputTooLargeError => {
  try {
    const operation = read(listed, settings)
    const what = `The input schema of operation '${Redaction.foreign(listed.id, longestId)}' of the API '${settings.api}'`
    return RawSchema.tooLarge(operation.schema, { bounds: settings.bounds, what }) ?? operation
  } catch (error) {
    return asRefusal(error)
  }
}

interface Around {
  readonly options: Options
  readonly settings: Settings
  readonly limits: Limits
}

const toolOf = (name: string, operation: Operation, { limits, options, settings }: Around): OperationTool => {
  const { api, credentials, hosts } = settings
  const where = { api, operation: operation.id }
  const sending = { operation, where, hosts, credentials, limit: limits.limit, bounds: limits.bounds }
  const sideEffects = options.sideEffects?.[operation.id] ?? effectOf(operation.method)
  return Tool.make(name, {
    foreignName: Redaction.foreign(operation.id, longestId),
    server: api,
    description: operation.description,
    kind: "web-service",
    sideEffects: sideEffects as Recovery.SideEffects,
    parameters: RawSchema.make(operation.schema, { bounds: limits.bounds }),
    success: Schema.Json,
    ...lengthOf(options),
    run: (params: Schema.Json, { callId }) =>
      Effect.mapError(Answer.inTime(where, limits.timeout)(send(sending, params)), (error) =>
        executionErrorOf({ tool: name, kind: "web-service", callId, args: params }, error)
      )
  })
}
