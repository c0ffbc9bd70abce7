/**
 * Serves the groups of `ConversationProxy`. Each request is answered from the conversations of its subject. A client that leaves stops
 * nothing: the same request finds the message again.
 */
import { Sharding } from "effect/cluster/Sharding"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as Rpc from "effect/rpc/Rpc"
import type * as Schema from "effect/Schema"
import type { AgentEvent, KintsugiError, Message } from "@kintsugi/core"
import type { ConversationEntity } from "@kintsugi/durable/ConversationEntity"
import { Conversations } from "@kintsugi/durable/Conversations"
import type * as Durable from "@kintsugi/durable/Durable"
import type { Subject } from "../AgentProxy.ts"
import type { Reading } from "../endpoints.ts"
import { type Executions, executionsOf, versionsOf } from "../executions.ts"
import { bounded, groupLayer, type MiddlewareOf, responseOf } from "../serving.ts"
import { refused } from "../unfit.ts"
import type { ConversationProxy } from "./ConversationProxy.ts"
import { conversing, type Needs } from "./conversing.ts"
import { type ConversationEndpointName, conversationProceduresOf } from "./endpoints.ts"

/** The conversations to serve, and what clients may read of them; all by default. */
interface Options<Said, O, E, R> {
  /** The conversations, of `ConversationEntity.make`. */
  readonly entity: ConversationEntity<Said, O, E | KintsugiError.KintsugiError | Durable.ReplayError, R>
  /** The durable agent that answers in them: events and decisions are those of its runs. */
  readonly durable: AnyDurable
  /** Its former versions, whose runs are still at work or read. */
  readonly former?: ReadonlyArray<AnyDurable>
  /** Which events clients may read: the events of a run hold its prompt and the arguments and results of its tools. */
  readonly shows?: (event: AgentEvent.AgentEvent) => boolean
  /** Which messages of the history clients may read: replies hold the calls of tools and their results. */
  readonly showsMessage?: (message: Message.Message) => boolean
}

type AnyCodec = Schema.Codec<unknown, unknown>

/** Any durable agent; what it needs is no matter here. */
interface AnyDurable extends Pick<
  Durable.Durable<string, AnyCodec, AnyCodec, unknown, never>,
  "hasInbox" | "hasEvents"
> {
  readonly workflow: { readonly _tag: string }
  readonly layer: unknown
}

const handlersOf = <Said, O, E, R>(options: Options<Said, O, E, R>) =>
  Effect.map(WorkflowEngine, (engine) => {
    const { durable, entity, former = [], shows = () => true, showsMessage = () => true } = options
    // casts: the schemas are used as they are; what fails is an error of this library or of the contract
    const runsOf = (one: AnyDurable) => executionsOf(one as never, engine) as Executions<unknown, unknown>
    const runs = versionsOf(runsOf(durable), ...former.map(runsOf))
    // cast: the schemas of the group have the types of these conversations
    return conversing(entity as never, runs, { shows, showsMessage })
  })

/** What a request needs beside its own context. */
const needed = Effect.map(Effect.context<Needs>(), Context.pick(Conversations, Sharding, WorkflowEngine))

interface Request {
  readonly params: { readonly conversation: string; readonly id: string }
  readonly query: { readonly after?: string; readonly from?: number; readonly limit?: number }
  readonly headers: { readonly "last-event-id"?: string }
  readonly payload: never
}

type Handler = (request: Request) => Effect.Effect<unknown, unknown, Subject | Needs>

/**
 * Serves an `HttpApiGroup`. It is the group `id` of the API, of `ConversationProxy.toHttpApiGroup`. A body of more than 1 MiB is 413;
 * `HttpIncomingMessage.MaxBodySize` changes the bound. A stream has a comment every 15 seconds.
 */
export const layerHttpApi = <
  ApiId extends string,
  Groups extends HttpApiGroup.Constraint,
  const Id extends HttpApiGroup.Identifier<Groups>,
  Name extends string,
  Said,
  O,
  E,
  R
>(
  api: HttpApi.HttpApi<ApiId, Groups>,
  id: Id,
  _self: ConversationProxy<Name, Said, O, E>,
  options: Options<Said, O, E, R>
): Layer.Layer<
  HttpApiGroup.Service<ApiId, Id> | Reading,
  never,
  Needs | Exclude<MiddlewareOf<HttpApiGroup.WithIdentifier<Groups, Id>>, Reading>
> => {
  const made = Effect.gen(function* () {
    const served = yield* handlersOf(options)
    const context = yield* needed
    const each: Record<ConversationEndpointName, Handler> = {
      send: ({ params, payload }) => served.send({ ...params, ...Object(payload) }),
      say: ({ params, payload }) => served.say({ ...params, ...Object(payload) }),
      state: ({ params }) => served.state(params),
      edit: ({ params, payload }) => served.edit({ ...params, ...Object(payload) }),
      withdraw: ({ params }) => served.withdraw(params),
      answer: ({ params }) => served.answer(params),
      events: ({ headers, params, query }) => {
        const last = headers["last-event-id"] || undefined
        return Effect.map(served.events({ ...params, after: last ?? (query.after || undefined) }), (read) =>
          responseOf({ ...read, all: Stream.provideContext(read.all, context) }, last)
        )
      },
      decide: ({ params, payload }) => served.decide({ ...params, ...Object(payload) }),
      queued: ({ params }) => served.queued(params),
      interrupt: ({ params, payload }) => served.interrupt({ ...params, ...Object(payload) }),
      history: ({ params, query }) => served.history({ ...params, ...query })
    }
    const provided = Object.entries(each).map(([name, handler]) => [
      name,
      (request: Request) => Effect.provideContext(handler(request), context)
    ])
    return Object.fromEntries(provided)
  })
  // cast: the middleware of the group is not known here
  return groupLayer(api, id, made) as never
}

/** Serves an `RpcGroup`. It is of `ConversationProxy.toRpcGroup`. Payloads and bodies are bounded as those of `AgentProxyServer`. */
export const layerRpcHandlers = <const Name extends string, Said, O, E, R, const Prefix extends string = "">(
  self: ConversationProxy<Name, Said, O, E>,
  options: Options<Said, O, E, R> & { readonly prefix?: Prefix }
): Layer.Layer<Rpc.Handler<`${Prefix}${ConversationEndpointName}`>, never, Needs> => {
  const prefix = options.prefix ?? ""
  const group = conversationProceduresOf(prefix, self)
  const handlers = Effect.gen(function* () {
    const { events, ...plain } = yield* handlersOf(options)
    const context = yield* needed
    const taking =
      <Of, A, Failed>(use: (of: Of) => Effect.Effect<A, Failed, Subject | Needs>) =>
      (of: Of) =>
        Effect.provideContext(Effect.flatMap(refused(of), use), context)
    const all = {
      // cast: each takes the payload of its procedure
      ...Object.fromEntries(Object.entries(plain).map(([name, handler]) => [name, taking(handler as never)])),
      events: (of: never) =>
        Stream.unwrap(Effect.map(taking(events)(of), ({ all }) => Stream.provideContext(all, context)))
    }
    return Object.fromEntries(Object.entries(all).map(([name, handler]) => [`${prefix}${name}`, handler]))
  })
  // cast: the middleware of the group that is served provides the subject
  return Layer.merge(group.toLayer(handlers as never), bounded) as never
}
