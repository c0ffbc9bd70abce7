/** An agent served over both protocols, in memory and on the loopback interface, with a client of each for any subject. */
import { Agent, type AgentEvent, type Approval, type Model, Recovery, Tool } from "@kintsugi/core"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import * as AgentProxyServer from "@kintsugi/interop/AgentProxyServer"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import { Durable } from "@kintsugi/durable"
import * as Node from "@kintsugi/examples/backend/node"
import * as DurableRuns from "@kintsugi/interop/DurableRuns"
import { ByteSize, Context, Deferred, Effect, Layer, Redacted, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClientRequest, HttpIncomingMessage, HttpRouter, HttpServer } from "effect/http"
import {
  HttpApi,
  HttpApiBuilder,
  HttpApiClient,
  HttpApiMiddleware,
  HttpApiSecurity,
  HttpApiTest
} from "effect/http-api"
import { RpcClient, RpcMiddleware, RpcSerialization, RpcServer, RpcTest } from "effect/rpc"
import { TestClock } from "effect/testing"
import { platform } from "./platform.ts"

/** A failure of a tool that leaves the agent. Its status is that of its schema. */
export class SoldOut extends Schema.TaggedError<SoldOut>()(
  "SoldOut",
  { item: Schema.String },
  { httpApiStatus: 402 }
) {}

export const contract = AgentProxy.make("desk", { error: SoldOut })

/** Whose request it is: the token is the name of the subject. */
const subjectOf = (token: string) =>
  token === "" || token === "none" ? Effect.fail(new AgentProxy.UnauthorizedError()) : Effect.succeed(token)

export class Signed extends HttpApiMiddleware.Service<Signed, { provides: AgentProxy.Subject }>()("test/Signed", {
  security: { bearer: HttpApiSecurity.bearer },
  error: AgentProxy.UnauthorizedError,
  requiredForClient: true
}) {}

/** Takes the token for the name of the subject. */
export const signed = Layer.succeed(Signed, {
  bearer: (handling, { credential }) =>
    Effect.flatMap(subjectOf(Redacted.value(credential)), (subject) =>
      Effect.provideService(handling, AgentProxy.Subject, subject)
    )
})

export class Named extends RpcMiddleware.Service<Named, { provides: AgentProxy.Subject }>()("test/Named", {
  error: AgentProxy.UnauthorizedError
}) {}

export const named = Layer.succeed(Named, (handling, { headers }) =>
  Effect.flatMap(subjectOf(headers["authorization"] ?? ""), (subject) =>
    Effect.provideService(handling, AgentProxy.Subject, subject)
  )
)

export class Api extends HttpApi.make("api").add(AgentProxy.toHttpApiGroup(contract, Signed)) {}
export class Procedures extends AgentProxy.toRpcGroup(contract, Named, { prefix: "desk." }) {}

/** An agent whose tool `pay` needs an approval, whose tool `wait` waits at a gate, whose tool `buy` fails, and whose tool `order` ends later. */
export const agent = Effect.gen(function* () {
  const gate = yield* Deferred.make<void>()
  const stopped = yield* Deferred.make<void>()
  const paid: Array<number> = []
  const tokens: Array<string> = []
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    sideEffects: "unsafe",
    run: ({ cents }) => Effect.sync(() => `paid ${paid.push(cents)}`)
  }).pipe(Tool.requireApproval({ when: ({ cents }) => cents > 0, reason: "it is money", validFor: "365 days" }))
  const wait = Tool.make("wait", {
    description: "Waits.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects: "none",
    timeout: "365 days",
    run: () =>
      Effect.as(Deferred.await(gate), "waited").pipe(Effect.onInterrupt(() => Deferred.succeed(stopped, undefined)))
  })
  const buy = Tool.make("buy", {
    description: "Buys.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    failure: SoldOut,
    sideEffects: "none",
    run: () => Effect.fail(new SoldOut({ item: "a lamp" }))
  })
  const order = Tool.deferred("order", {
    description: "Orders.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    start: (_params, { token }) => Effect.sync(() => `order ${tokens.push(token)}`),
    wait: "suspend",
    deadline: "30 days"
  })
  const desk = Agent.make("desk", { tools: [pay, wait, buy, order], budget: { maxDuration: "365 days" } }).pipe(
    Agent.toolDefaults({ InvalidArgs: Recovery.tell(), DeserializationError: Recovery.tell() })
  )
  return { desk, order, paid, tokens, release: Deferred.succeed(gate, undefined), stopped: Deferred.await(stopped) }
})

type Desk = Effect.Success<typeof agent>["desk"]

/** What both clients do, for one subject. */
export interface Client {
  readonly ask: (asked: { readonly input: string; readonly run?: string }) => Effect.Effect<Ending, Refusal>
  readonly stream: (asked: { readonly input: string; readonly run?: string }) => Stream.Stream<Event, Refusal>
  readonly show: (run: string) => Effect.Effect<Ending | { readonly _tag: "AtWork"; readonly run: string }, Refusal>
  readonly events: (run: string, after?: string) => Stream.Stream<Event, Refusal>
  readonly decide: (
    run: string,
    decisions: readonly [Approval.Decided, ...ReadonlyArray<Approval.Decided>]
  ) => Effect.Effect<Ending, Refusal>
  readonly say: (run: string, message: string, id?: string) => Effect.Effect<void, Refusal>
  readonly stop: (run: string) => Effect.Effect<void, Refusal>
}

type Ending = AgentProxy.Ending<string>
export type Event = AgentProxy.ProxyEvent
type Refusal = unknown

const optional = <const Key extends string>(key: Key, value: string | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: string }

type Http = HttpApiClient.ForApi<typeof Api>

const overHttp = ({ desk }: Http): Client => ({
  ask: (payload) => desk.ask({ payload }),
  stream: (payload) => Stream.map(Stream.unwrap(desk.stream({ payload })), ({ data }) => data),
  show: (run) => desk.show({ params: { run } }),
  events: (run, after) =>
    Stream.map(
      Stream.unwrap(desk.events({ params: { run }, query: optional("after", after), headers: {} })),
      ({ data }) => data
    ),
  decide: (run, decisions) => desk.decide({ params: { run }, payload: { decisions } }),
  say: (run, message, id) => desk.say({ params: { run }, payload: { message, ...optional("id", id) } }),
  stop: (run) => desk.stop({ params: { run } })
})

type OfRpc = Effect.Success<ReturnType<typeof rpcInMemory>>

const rpcInMemory = () => RpcTest.makeClient(Procedures)

const overRpc = (client: OfRpc, subject: string): Client => {
  const options = { headers: { authorization: subject } }
  return {
    ask: (asked) => client["desk.ask"](asked, options),
    stream: (asked) => client["desk.stream"](asked, options),
    show: (run) => client["desk.show"]({ run }, options),
    events: (run, after) => client["desk.events"]({ run, ...optional("after", after) }, options),
    decide: (run, decisions) => client["desk.decide"]({ run, decisions }, options),
    say: (run, message, id) => client["desk.say"]({ run, message, ...optional("id", id) }, options),
    stop: (run) => client["desk.stop"]({ run }, options)
  }
}

export const signing = (subject: string) =>
  HttpApiMiddleware.layerClient(Signed, ({ next, request }) => next(HttpClientRequest.bearerToken(request, subject)))

export interface Serving {
  readonly desk: Desk
  readonly model: Layer.Layer<Model.Model>
  readonly limits?: Parameters<typeof AgentRuns.layerMemory>[2]
  readonly suspended?: Layer.Layer<AgentRuns.SuspendedRuns>
  readonly shows?: (event: AgentEvent.AgentEvent) => boolean
}

const runsOf = ({ desk, limits, model, suspended = AgentRuns.layerSuspendedMemory() }: Serving) =>
  AgentRuns.layerMemory(contract, desk, limits).pipe(Layer.provide([model, suspended]))

/** The same as a workflow, on an engine in memory. */
const durableRunsOf = ({ desk, model }: Serving) => {
  const durable = Durable.workflow(desk, {
    name: "desk",
    input: Schema.String,
    output: Schema.String,
    error: SoldOut,
    inbox: true
  })
  return DurableRuns.layer(contract, durable).pipe(
    Layer.provideMerge(Layer.provide(durable.layer, model)),
    Layer.provide(Durable.layerMemory)
  )
}

/** Time passes, for what looks again after a while. */
export const ticking = Effect.forkScoped(Effect.forever(TestClock.adjust("250 millis")))

/** Every kind of runs. */
export const kinds = {
  memory: { runsOf, begin: Effect.void },
  durable: { runsOf: durableRunsOf, begin: ticking }
} as const

type Runs = Layer.Layer<AgentProxy.RunsOf<"desk">>

const routesOf = (runs: Runs, options: Pick<Serving, "shows">) => {
  const api = HttpApiBuilder.layer(Api).pipe(
    Layer.provide(AgentProxyServer.layerHttpApi(Api, "desk", contract, options)),
    Layer.provide(signed)
  )
  const rpc = RpcServer.layerHttp({ group: Procedures, path: "/rpc", protocol: "http" }).pipe(
    Layer.provide(AgentProxyServer.layerRpcHandlers(contract, { prefix: "desk." })),
    Layer.provide([named, RpcSerialization.layerNdjson])
  )
  const largest = Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.kibibytes(64))
  return Layer.provide(Layer.merge(api, rpc), [runs, largest])
}

const inMemory = {
  http: (runs: Runs) =>
    Effect.gen(function* () {
      const handlers = AgentProxyServer.layerHttpApi(Api, "desk", contract).pipe(
        Layer.provideMerge(signed),
        Layer.provide(runs)
      )
      const context = yield* Layer.build(Layer.merge(handlers, platform))
      return (subject: string) =>
        Effect.map(
          HttpApiTest.groups(Api, ["desk"]).pipe(Effect.provide(signing(subject)), Effect.provideContext(context)),
          overHttp
        )
    }),
  rpc: (runs: Runs) =>
    Effect.gen(function* () {
      const handlers = AgentProxyServer.layerRpcHandlers(contract, { prefix: "desk." }).pipe(Layer.provide(runs))
      const context = yield* Layer.build(Layer.merge(handlers, named))
      const client = yield* Effect.provideContext(rpcInMemory(), context)
      return (subject: string) => Effect.succeed(overRpc(client, subject))
    })
}

export const server = Node.layer({ host: "127.0.0.1", port: 0, gracefulShutdownTimeout: 0 })

/** Serves both protocols on the loopback interface. */
export const listening = (runs: Runs, options: Pick<Serving, "shows"> = {}) =>
  Effect.map(
    Layer.build(
      Layer.provideMerge(
        HttpRouter.serve(routesOf(runs, options), { disableListenLog: true, disableLogger: true }),
        server
      )
    ),
    (context) => HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
  )

export const clientsOf = (url: string) => ({
  http: (subject: string) =>
    Effect.map(
      HttpApiClient.make(Api, { baseUrl: url }).pipe(Effect.provide([signing(subject), FetchHttpClient.layer])),
      overHttp
    ),
  rpc: (subject: string) =>
    Effect.map(
      Effect.provide(
        RpcClient.make(Procedures),
        RpcClient.layerProtocolHttp({ url: `${url}/rpc` }).pipe(
          Layer.provide([FetchHttpClient.layer, RpcSerialization.layerNdjson])
        )
      ),
      (client) => overRpc(client as OfRpc, subject)
    )
})

const overLoopback = (protocol: "http" | "rpc") => (runs: Runs) =>
  Effect.map(listening(runs), (url) => clientsOf(url)[protocol])

/** Every way to reach the agent. */
export const ways = {
  "HttpApi in memory": inMemory.http,
  "Rpc in memory": inMemory.rpc,
  "HttpApi on loopback": overLoopback("http"),
  "Rpc on loopback": overLoopback("rpc")
} as const
