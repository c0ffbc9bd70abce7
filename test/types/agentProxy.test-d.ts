/** Clients of an agent over both protocols: what they give, and what they fail with, also in a generic function. */
import { Agent, type KintsugiError, type Model, Recovery, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import * as AgentProxyServer from "@kintsugi/interop/AgentProxyServer"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import * as DurableRuns from "@kintsugi/interop/DurableRuns"
import { Context, Effect, type Layer, Schema, type Stream } from "effect"
import type { HttpClientError } from "effect/http"
import { HttpApi, HttpApiClient, HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { type RpcClient, type RpcGroup, RpcMiddleware } from "effect/rpc"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { describe, it } from "vitest"
import type { Equal, Expect } from "./_support/Identity.ts"

class SoldOut extends Schema.TaggedError<SoldOut>()("SoldOut", { item: Schema.String }) {}
class Books extends Context.Service<Books, { readonly find: Effect.Effect<number, SoldOut> }>()("Books") {}

const Item = Schema.Struct({ item: Schema.String })
const Price = Schema.Struct({ cents: Schema.Int })

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.Finite,
  failure: SoldOut,
  run: () => Effect.flatMap(Books, ({ find }) => find)
})
const quiet = look.pipe(Tool.onError({ SoldOut: Recovery.tell() }))
const clerkWith = <const T extends Tool.AnyTool>(tool: T) =>
  Agent.make("clerk", { input: Item, output: Price, tools: [tool] })
const clerk = clerkWith(look)

class Signed extends HttpApiMiddleware.Service<Signed, { provides: AgentProxy.Subject }>()("Signed", {
  security: { bearer: HttpApiSecurity.bearer },
  error: AgentProxy.UnauthorizedError
}) {}
class Nobodys extends HttpApiMiddleware.Service<Nobodys>()("Nobodys") {}
class Named extends RpcMiddleware.Service<Named, { provides: AgentProxy.Subject }>()("Named", {
  error: AgentProxy.UnauthorizedError
}) {}
class Unnamed extends RpcMiddleware.Service<Unnamed>()("Unnamed") {}

const contract = AgentProxy.make("clerk", { input: Item, output: Price, error: SoldOut })
const Api = HttpApi.make("api").add(AgentProxy.toHttpApiGroup(contract, Signed))
const group = AgentProxy.toRpcGroup(contract, Named)

type ErrorOf<T> = T extends Effect.Effect<unknown, infer E, unknown> ? E : never
type Of<T> = T extends (...args: never) => infer Result ? Result : never
type Priced = { readonly cents: number }

type Wire = HttpClientError.HttpClientError | Schema.SchemaError
type Failed = AgentProxy.RunConflictError | AgentProxy.RunFailedError | SoldOut
type Read = AgentProxy.UnauthorizedError | AgentProxy.RequestTooLargeError | AgentProxy.UnfitRequestError

describe("AgentProxy", () => {
  it("a client of an HttpApi fails with the failures of the agent, of the request, and of the wire", () => {
    const client = HttpApiClient.make(Api, { baseUrl: "http://localhost" })
    type Client = Effect.Success<typeof client>["clerk"]
    const ask = (of: Client) => of.ask({ payload: { input: { item: "a lamp" } } })
    type Answer = Effect.Success<ReturnType<typeof ask>>
    type _output = Expect<Equal<Extract<Answer, { readonly _tag: "Answered" }>["output"], Priced>>
    type _error = Expect<Equal<ErrorOf<ReturnType<typeof ask>>, Failed | AgentProxy.TooBusyError | Read | Wire>>
    const show = (of: Client) => of.show({ params: { run: "one" } })
    type _found = Expect<Equal<ErrorOf<ReturnType<typeof show>>, Failed | AgentProxy.RunNotFoundError | Read | Wire>>
    const wrong = (of: Client) =>
      // @ts-expect-error the input is the schema's
      of.ask({ payload: { input: "a lamp" } })
    void wrong
  })

  it("a client of an Rpc group has the same answers and failures", () => {
    type Client = RpcClient.RpcClient<RpcGroup.Rpcs<typeof group>>
    const ask = (of: Client) => of.ask({ input: { item: "a lamp" } })
    type _error = Expect<
      Equal<
        ErrorOf<ReturnType<typeof ask>>,
        Failed | AgentProxy.TooBusyError | AgentProxy.UnfitRequestError | AgentProxy.UnauthorizedError
      >
    >
    const events = (of: Client) => of.events({ run: "one" })
    type Events = Of<typeof events>
    type _events = Expect<Equal<Stream.Success<Events>, AgentProxy.ProxyEvent>>
    type _failed = Expect<
      Equal<
        Stream.Error<Events>,
        Failed | AgentProxy.RunNotFoundError | AgentProxy.UnfitRequestError | AgentProxy.UnauthorizedError
      >
    >
  })

  it("a middleware has to provide the subject", () => {
    // @ts-expect-error it provides nothing
    void AgentProxy.toHttpApiGroup(contract, Nobodys)
    // @ts-expect-error it provides nothing
    void AgentProxy.toRpcGroup(contract, Unnamed)
  })

  it("the layers need what the agent and the middleware need", () => {
    const runs = AgentRuns.layerMemory(contract, clerk)
    type _runs = Expect<
      Equal<typeof runs, Layer.Layer<AgentProxy.RunsOf<"clerk">, never, AgentRuns.SuspendedRuns | Books | Model.Model>>
    >
    const http = AgentProxyServer.layerHttpApi(Api, "clerk", contract)
    type _http = Expect<Equal<Layer.Services<typeof http>, AgentProxy.RunsOf<"clerk"> | Signed>>
    const rpc = AgentProxyServer.layerRpcHandlers(contract)
    type _rpc = Expect<Equal<Layer.Services<typeof rpc>, AgentProxy.RunsOf<"clerk">>>
    const durable = Durable.workflow(clerk, { name: "clerk", input: Item, output: Price, error: SoldOut })
    const lasting = DurableRuns.layer(contract, durable)
    type _lasting = Expect<Equal<typeof lasting, Layer.Layer<AgentProxy.RunsOf<"clerk">, never, WorkflowEngine>>>
  })

  it("a contract covers the failures, the input and the output of its agent", () => {
    const bare = AgentProxy.make("clerk", { input: Item, output: Price })
    // @ts-expect-error SoldOut is no failure of the contract
    void AgentRuns.layerMemory(bare, clerk)
    void AgentRuns.layerMemory(bare, clerkWith(quiet))
    const text = AgentProxy.make("clerk", { output: Price, error: SoldOut })
    // @ts-expect-error the agent takes no text
    void AgentRuns.layerMemory(text, clerk)
    const other = AgentProxy.make("clerk", { input: Item, error: SoldOut })
    // @ts-expect-error the agent gives no text
    void AgentRuns.layerMemory(other, clerk)
  })

  it("a group has the endpoints that it is given", () => {
    const staff = AgentProxy.toHttpApiGroup(contract, Signed, { id: "approvals", only: ["show", "decide"] })
    const both = HttpApi.make("api").add(staff)
    type Client = Effect.Success<ReturnType<typeof HttpApiClient.make<"api", typeof staff>>>
    type _names = Expect<Equal<keyof Client["approvals"], "show" | "decide">>
    void both
  })

  it("a generic function sees the failures of any contract", () => {
    const asked = <Name extends string, I, O, E>(self: AgentProxy.AgentProxy<Name, I, O, E>, input: I) =>
      Effect.gen(function* () {
        const runs = yield* self.runs
        const run = yield* runs.start({ subject: "ann", input })
        return yield* runs.end({ subject: "ann", run })
      })
    const program = asked(contract, { item: "a lamp" })
    type _program = Expect<
      Equal<
        typeof program,
        Effect.Effect<
          AgentProxy.Ending<Priced>,
          Failed | AgentProxy.TooBusyError | AgentProxy.RunNotFoundError,
          AgentProxy.RunsOf<"clerk">
        >
      >
    >
    const served = <const Name extends string, I, O, E>(
      self: AgentProxy.AgentProxy<Name, I, O, E>,
      agent: Agent.Any<I, O, E | KintsugiError.KintsugiError, Books>
    ) => AgentRuns.layerMemory(self, agent)
    const layer = served(contract, Agent.seal(clerkWith(quiet)) as never)
    type _layer = Expect<
      Equal<typeof layer, Layer.Layer<AgentProxy.RunsOf<"clerk">, never, AgentRuns.SuspendedRuns | Books>>
    >
  })
})
