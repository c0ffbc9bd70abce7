/** Conversations served over both protocols, with a client of each for any subject. */
import type { Approval, Message } from "@kintsugi/core"
import type { Conversations } from "@kintsugi/durable"
import type * as AgentProxy from "@kintsugi/interop/AgentProxy"
import * as ConversationProxy from "@kintsugi/interop/ConversationProxy"
import * as ConversationProxyServer from "@kintsugi/interop/ConversationProxyServer"
import { Context, Effect, Fiber, Layer, Stream } from "effect"
import type { Sharding } from "effect/cluster"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, type HttpApiClient, HttpApiTest } from "effect/http-api"
import { RpcSerialization, RpcServer, RpcTest } from "effect/rpc"
import type { WorkflowEngine } from "effect/workflow"
import { passing, type talking } from "../../../durable/entity/_support/talking.ts"
import { platform } from "./platform.ts"
import { Named, named, server, Signed, signed, signing } from "./served.ts"

export const contract = ConversationProxy.make("clerk")

class Api extends HttpApi.make("api").add(ConversationProxy.toHttpApiGroup(contract, Signed)) {}
class Procedures extends ConversationProxy.toRpcGroup(contract, Named, { prefix: "clerk." }) {}

type Talk = Pick<ReturnType<typeof talking>, "clerks" | "durable">
type Needs = Conversations.Conversations | Sharding.Sharding | WorkflowEngine.WorkflowEngine
type Failed = unknown
type Ending = AgentProxy.Ending<string>

/** What both clients do, for one subject and one conversation. */
export interface Talker {
  readonly send: (id: string, message: string) => Effect.Effect<ConversationProxy.MessageProgress, Failed>
  readonly say: (id: string, message: string) => Effect.Effect<ConversationProxy.MessageProgress, Failed>
  readonly state: (id: string) => Effect.Effect<ConversationProxy.MessageProgress, Failed>
  readonly edit: (id: string, message: string) => Effect.Effect<void, Failed>
  readonly withdraw: (id: string) => Effect.Effect<void, Failed>
  readonly answer: (id: string) => Effect.Effect<Ending, Failed>
  readonly events: (id: string, after?: string) => Stream.Stream<AgentProxy.ProxyEvent, Failed>
  readonly decide: (id: string, digest: string, decision: Approval.Decision) => Effect.Effect<Ending, Failed>
  readonly queued: Effect.Effect<ReadonlyArray<ConversationProxy.QueuedMessage<string>>, Failed>
  readonly interrupt: (dropQueue?: boolean) => Effect.Effect<{ readonly stopped: boolean }, Failed>
  readonly history: (page?: {
    readonly from?: number
    readonly limit?: number
  }) => Effect.Effect<ConversationProxy.HistoryPage, Failed>
}

/** Lets time pass until an effect has ended, and no longer: a tool that waits at a gate has a time limit. */
const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) yield* passing(0.25)
    return yield* Fiber.join(fiber)
  })

/** Each request, while time passes. */
const timed = (talker: Talker): Talker => ({
  send: (id, message) => inTime(talker.send(id, message)),
  say: (id, message) => inTime(talker.say(id, message)),
  state: (id) => inTime(talker.state(id)),
  edit: (id, message) => inTime(talker.edit(id, message)),
  withdraw: (id) => inTime(talker.withdraw(id)),
  answer: (id) => inTime(talker.answer(id)),
  events: (id, after) =>
    Stream.unwrap(Effect.map(inTime(Stream.runCollect(talker.events(id, after))), Stream.fromIterable)),
  decide: (id, digest, decision) => inTime(talker.decide(id, digest, decision)),
  queued: inTime(talker.queued),
  interrupt: (dropQueue) => inTime(talker.interrupt(dropQueue)),
  history: (page) => inTime(talker.history(page))
})

const cursor = (after: string | undefined) => (after === undefined ? {} : { after })
const dropping = (dropQueue: boolean | undefined) => (dropQueue === undefined ? {} : { dropQueue })

const overHttp = ({ clerk }: HttpApiClient.ForApi<typeof Api>, conversation: string): Talker => {
  const params = (id: string) => ({ params: { conversation, id } })
  const of = { params: { conversation } }
  return {
    send: (id, message) => clerk.send({ ...of, payload: { id, message } }),
    say: (id, message) => clerk.say({ ...of, payload: { id, message } }),
    state: (id) => clerk.state(params(id)),
    edit: (id, message) => clerk.edit({ ...params(id), payload: { message } }),
    withdraw: (id) => clerk.withdraw(params(id)),
    answer: (id) => clerk.answer(params(id)),
    events: (id, after) =>
      Stream.map(Stream.unwrap(clerk.events({ ...params(id), query: cursor(after), headers: {} })), ({ data }) => data),
    decide: (id, digest, decision) => clerk.decide({ ...params(id), payload: { decisions: [{ digest, decision }] } }),
    queued: clerk.queued(of),
    interrupt: (dropQueue) => clerk.interrupt({ ...of, payload: dropping(dropQueue) }),
    history: (query = {}) => clerk.history({ ...of, query })
  }
}

const rpcInMemory = () => RpcTest.makeClient(Procedures)

const overRpc = (
  client: Effect.Success<ReturnType<typeof rpcInMemory>>,
  conversation: string,
  subject: string
): Talker => {
  const options = { headers: { authorization: subject } }
  const of = { conversation }
  return {
    send: (id, message) => client["clerk.send"]({ ...of, id, message }, options),
    say: (id, message) => client["clerk.say"]({ ...of, id, message }, options),
    state: (id) => client["clerk.state"]({ ...of, id }, options),
    edit: (id, message) => client["clerk.edit"]({ ...of, id, message }, options),
    withdraw: (id) => client["clerk.withdraw"]({ ...of, id }, options),
    answer: (id) => client["clerk.answer"]({ ...of, id }, options),
    events: (id, after) => client["clerk.events"]({ ...of, id, ...cursor(after) }, options),
    decide: (id, digest, decision) => client["clerk.decide"]({ ...of, id, decisions: [{ digest, decision }] }, options),
    queued: client["clerk.queued"](of, options),
    interrupt: (dropQueue) => client["clerk.interrupt"]({ ...of, ...dropping(dropQueue) }, options),
    history: (page = {}) => client["clerk.history"]({ ...of, ...page }, options)
  }
}

/** What clients may read; all of it where nothing is said. */
interface Shown {
  readonly showsMessage?: (message: Message.Message) => boolean
}

const handlersOf = ({ clerks, durable }: Talk, shown: Shown = {}) => ({ entity: clerks, durable, ...shown })

/** Every way to reach the conversations. */
export const ways = {
  HttpApi: (talk: Talk, shown?: Shown) =>
    Effect.gen(function* () {
      const needs = Layer.succeedContext(yield* Effect.context<Needs>())
      const handlers = ConversationProxyServer.layerHttpApi(Api, "clerk", contract, handlersOf(talk, shown)).pipe(
        Layer.provideMerge(signed),
        Layer.provide(needs)
      )
      const context = yield* Layer.build(Layer.merge(handlers, platform))
      return (subject: string, conversation = "c-1") =>
        Effect.map(
          HttpApiTest.groups(Api, ["clerk"]).pipe(Effect.provide(signing(subject)), Effect.provideContext(context)),
          (client) => timed(overHttp(client, conversation))
        )
    }),
  Rpc: (talk: Talk, shown?: Shown) =>
    Effect.gen(function* () {
      const needs = Layer.succeedContext(yield* Effect.context<Needs>())
      const handlers = Layer.provide(
        ConversationProxyServer.layerRpcHandlers(contract, { ...handlersOf(talk, shown), prefix: "clerk." }),
        needs
      )
      const context = yield* Layer.build(Layer.merge(handlers, named))
      const client = yield* Effect.provideContext(rpcInMemory(), context)
      return (subject: string, conversation = "c-1") => Effect.succeed(timed(overRpc(client, conversation, subject)))
    })
} as const

/** Serves both protocols on the loopback interface; returns its address. */
export const listening = (talk: Talk) =>
  Effect.gen(function* () {
    const needs = Layer.succeedContext(yield* Effect.context<Needs>())
    const api = HttpApiBuilder.layer(Api).pipe(
      Layer.provide(ConversationProxyServer.layerHttpApi(Api, "clerk", contract, handlersOf(talk))),
      Layer.provide([signed, needs])
    )
    const rpc = RpcServer.layerHttp({ group: Procedures, path: "/rpc", protocol: "http" }).pipe(
      Layer.provide(ConversationProxyServer.layerRpcHandlers(contract, { ...handlersOf(talk), prefix: "clerk." })),
      Layer.provide([named, needs, RpcSerialization.layerNdjson])
    )
    const served = HttpRouter.serve(Layer.merge(api, rpc), { disableListenLog: true, disableLogger: true })
    const context = yield* Layer.build(Layer.provideMerge(served, server))
    return HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
  })
