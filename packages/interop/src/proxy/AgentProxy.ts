/**
 * An agent as an `RpcGroup` and an `HttpApiGroup`. Server and clients share it, and it imports no agent. `AgentProxyServer` serves the groups,
 * over runs in memory (`AgentRuns`) or durable ones (`DurableRuns`).
 */
import * as Context from "effect/Context"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type * as RpcGroup from "effect/rpc/RpcGroup"
import type * as RpcMiddleware from "effect/rpc/RpcMiddleware"
import * as Schema from "effect/Schema"
import { type EndpointName, type Endpoints, endpointsOf, type Procedures, proceduresOf, Reading } from "./endpoints.ts"
import type { AgentRuns } from "./runs.ts"

export {
  RequestTooLargeError,
  RunConflictError,
  RunFailedError,
  RunNotFoundError,
  TooBusyError,
  UnauthorizedError,
  UnfitRequestError
} from "./errors.ts"
export { type Ending, ProxyEvent } from "./schemas.ts"
export type { AgentRuns } from "./runs.ts"
export type { Reading } from "./endpoints.ts"

/**
 * Whose request it is: a person or a tenant. A middleware of the program provides it, after it has authenticated the request. Each run
 * belongs to the subject that started it, and no other subject learns that it exists.
 */
// Mutant `""` survives: no other key is empty
export class Subject extends Context.Service<Subject, string>()("@kintsugi/interop/Subject") {}

/** The runs of this agent, in a context. */
export interface RunsOf<Name extends string> {
  readonly RunsOf: Name
}

/** The contract of an agent. Its failures are `E` and the errors of this library. */
export interface AgentProxy<Name extends string, I, O, E = never> {
  readonly name: Name
  readonly input: Schema.Codec<I, unknown>
  readonly output: Schema.Codec<O, unknown>
  readonly error: Schema.Codec<E, unknown>
  /** The runs of the agent, for endpoints that a program writes itself. */
  readonly runs: Context.Service<RunsOf<Name>, AgentRuns<I, O, E>>
}

interface Options<I, O, E> {
  /** The schema of the agent's input; a text by default. */
  readonly input?: Schema.Codec<I, unknown>
  /** The schema of the agent's output; a text by default. */
  readonly output?: Schema.Codec<O, unknown>
  /**
   * The schema of the agent's failures that are not errors of this library. The status of each is that of its schema (`httpApiStatus`), 500 by
   * default.
   */
  readonly error?: Schema.Codec<E, unknown>
}

/**
 * Makes the contract of an agent. The name is unique among the agents of a program.
 *
 * @example
 * ```ts
 * import * as AgentProxy from "@kintsugi/interop/AgentProxy"
 * import { Layer } from "effect"
 * import { HttpApi, HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
 *
 * class Signed extends HttpApiMiddleware.Service<Signed, { provides: AgentProxy.Subject }>()("Signed", {
 *   security: { bearer: HttpApiSecurity.bearer },
 *   error: AgentProxy.UnauthorizedError
 * }) {}
 * const guide = AgentProxy.make("guide")
 * const Api = HttpApi.make("api").add(AgentProxy.toHttpApiGroup(guide, Signed))
 * Object.keys(Api.groups.guide.endpoints) // => ["ask", "stream", "show", "events", "decide", "say", "stop"]
 * ```
 */
export const make = <const Name extends string, I = string, O = string, E = never>(
  name: Name,
  { error, input, output }: Options<I, O, E> = {}
): AgentProxy<Name, I, O, E> => ({
  name,
  // casts: an absent schema has the default of its type parameter
  input: input ?? (Schema.String as never),
  output: output ?? (Schema.String as never),
  error: error ?? (Schema.Never as never),
  runs: Context.Service<RunsOf<Name>, AgentRuns<I, O, E>>(`@kintsugi/interop/AgentRuns/${name}`)
})

/**
 * Refuses a middleware that does not provide the subject.
 *
 * @internal
 */
export type ProvidesSubject<Provided> = Subject extends Provided ? unknown : MiddlewareProvidesNoSubject

interface MiddlewareProvidesNoSubject {
  readonly MiddlewareProvidesNoSubject: never
}

/**
 * Makes an `HttpApiGroup` of a contract. The middleware `subject` authenticates each request and provides `Subject`. With `only` the group has
 * these endpoints alone, and with `id` another name and path: so the people who decide may have a group and a middleware of their own.
 */
export const toHttpApiGroup = <
  const Name extends string,
  I,
  O,
  E,
  M extends HttpApiMiddleware.AnyId,
  S,
  const Id extends string = Name,
  const Only extends EndpointName = EndpointName
>(
  self: AgentProxy<Name, I, O, E>,
  subject: Context.Key<M, S> & ProvidesSubject<HttpApiMiddleware.Provides<M>>,
  options: { readonly id?: Id; readonly only?: ReadonlyArray<Only> } = {}
): HttpApiGroup.HttpApiGroup<Id, HttpApiEndpoint.WithIdentifier<Endpoints<Id, I, O, E, M>, Only>> => {
  const id: string = options.id ?? self.name
  const names: ReadonlyArray<string> | undefined = options.only
  const all = endpointsOf(id, self).filter(({ identifier }) => names === undefined || names.includes(identifier))
  // casts: the type of the result is that of these endpoints; a group takes them one by one
  const group = HttpApiGroup.make(id).add(...(all as never as [HttpApiEndpoint.Top]))
  return group.middleware(subject as never).middleware(Reading) as never
}

/** @internal */
export type ProvidedBy<M> = M extends { new (_: never): infer Id } ? RpcMiddleware.Provides<Id> : never

/** Makes an `RpcGroup` of a contract. The middleware `subject` authenticates each request and provides `Subject`. */
export const toRpcGroup = <
  const Name extends string,
  I,
  O,
  E,
  M extends RpcMiddleware.AnyService,
  const Prefix extends string = ""
>(
  self: AgentProxy<Name, I, O, E>,
  subject: M & ProvidesSubject<ProvidedBy<M>>,
  options: { readonly prefix?: Prefix } = {}
): RpcGroup.RpcGroup<Procedures<Prefix, I, O, E, M>> =>
  // cast: the type of the result is that of these procedures
  proceduresOf(options.prefix ?? "", self).middleware(subject) as never
