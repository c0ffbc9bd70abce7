/**
 * Conversations with an agent as an `RpcGroup` and an `HttpApiGroup`. Server and clients share it, and it imports no agent.
 * `ConversationProxyServer` serves the groups, over the entity of the conversations.
 */
import type * as Context from "effect/Context"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type * as RpcGroup from "effect/rpc/RpcGroup"
import type * as RpcMiddleware from "effect/rpc/RpcMiddleware"
import * as Schema from "effect/Schema"
import type { Message } from "@kintsugi/core"
import type { ProvidedBy, ProvidesSubject } from "../AgentProxy.ts"
import { Reading } from "../endpoints.ts"
import { Text } from "../schemas.ts"
import {
  type ConversationEndpointName,
  type ConversationEndpoints,
  type ConversationProcedures,
  conversationEndpointsOf,
  conversationProceduresOf
} from "./endpoints.ts"

export { ConversationConflictError, ConversationNotFoundError } from "./errors.ts"
export { HistoryPage, MessageProgress, type QueuedMessage } from "./schemas.ts"

/** The contract of conversations. Their failures are `E` and the errors of this library. */
export interface ConversationProxy<Name extends string, Said, O, E = never> {
  readonly name: Name
  readonly said: Schema.Codec<Said, unknown>
  readonly output: Schema.Codec<O, unknown>
  readonly error: Schema.Codec<E, unknown>
}

interface Options<Said, O, E> {
  /** The schema of a message: a text by default; `Message.UserContent` for texts, images and files. */
  readonly said?: Schema.Codec<Said, unknown>
  /** The schema of an answer; a text by default. */
  readonly output?: Schema.Codec<O, unknown>
  /**
   * The schema of the agent's failures that are not errors of this library. The status of each is that of its schema (`httpApiStatus`), 500 by
   * default.
   */
  readonly error?: Schema.Codec<E, unknown>
}

/**
 * Makes the contract of conversations. The name is unique among the contracts of a program.
 *
 * @example
 * ```ts
 * import * as AgentProxy from "@kintsugi/interop/AgentProxy"
 * import * as ConversationProxy from "@kintsugi/interop/ConversationProxy"
 * import { HttpApi, HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
 *
 * class Signed extends HttpApiMiddleware.Service<Signed, { provides: AgentProxy.Subject }>()("Signed", {
 *   security: { bearer: HttpApiSecurity.bearer },
 *   error: AgentProxy.UnauthorizedError
 * }) {}
 * const clerk = ConversationProxy.make("clerk")
 * const Api = HttpApi.make("api").add(ConversationProxy.toHttpApiGroup(clerk, Signed))
 * Api.groups.clerk.endpoints.send.path // => "/clerk/:conversation/messages"
 * ```
 */
export const make = <
  const Name extends string,
  Said extends string | Message.UserContent = string,
  O = string,
  E = never
>(
  name: Name,
  { error, output, said }: Options<Said, O, E> = {}
): ConversationProxy<Name, Said, O, E> => ({
  name,
  // casts: an absent schema has the default of its type parameter
  said: said ?? (Text as never),
  output: output ?? (Schema.String as never),
  error: error ?? (Schema.Never as never)
})

/**
 * Makes an `HttpApiGroup` of a contract. The middleware `subject` authenticates each request and provides `AgentProxy.Subject`. With `only`
 * the group has these endpoints alone, and with `id` another name and path: so the people who decide may have a group and a middleware of
 * their own.
 */
export const toHttpApiGroup = <
  const Name extends string,
  Said,
  O,
  E,
  M extends HttpApiMiddleware.AnyId,
  S,
  const Id extends string = Name,
  const Only extends ConversationEndpointName = ConversationEndpointName
>(
  self: ConversationProxy<Name, Said, O, E>,
  subject: Context.Key<M, S> & ProvidesSubject<HttpApiMiddleware.Provides<M>>,
  options: { readonly id?: Id; readonly only?: ReadonlyArray<Only> } = {}
): HttpApiGroup.HttpApiGroup<Id, HttpApiEndpoint.WithIdentifier<ConversationEndpoints<Id, Said, O, E, M>, Only>> => {
  const id: string = options.id ?? self.name
  const names: ReadonlyArray<string> | undefined = options.only
  const all = conversationEndpointsOf(id, self).filter(
    ({ identifier }) => names === undefined || names.includes(identifier)
  )
  // casts: the type of the result is that of these endpoints; a group takes them one by one
  const group = HttpApiGroup.make(id).add(...(all as never as [HttpApiEndpoint.Top]))
  return group.middleware(subject as never).middleware(Reading) as never
}

/** Makes an `RpcGroup` of a contract. The middleware `subject` authenticates each request and provides `AgentProxy.Subject`. */
export const toRpcGroup = <
  const Name extends string,
  Said,
  O,
  E,
  M extends RpcMiddleware.AnyService,
  const Prefix extends string = ""
>(
  self: ConversationProxy<Name, Said, O, E>,
  subject: M & ProvidesSubject<ProvidedBy<M>>,
  options: { readonly prefix?: Prefix } = {}
): RpcGroup.RpcGroup<ConversationProcedures<Prefix, Said, O, E, M>> =>
  // cast: the type of the result is that of these procedures
  conversationProceduresOf(options.prefix ?? "", self).middleware(subject) as never
