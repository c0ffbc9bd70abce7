/**
 * An agent over Effect's RPC: a typed client asks, streams, decides and says over HTTP, line by line. A reader that was cut off goes on at
 * its cursor. The events hold the whole conversation: they are for your own programs.
 *
 *   OPENAI_API_KEY=… node scripts/launch.mjs packages/examples/recipes/rpc/server.ts
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Agent, type Model } from "@kintsugi/core"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import * as AgentProxyServer from "@kintsugi/interop/AgentProxyServer"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import { OpenAi } from "@kintsugi/providers"
import { Console, Effect, Layer } from "effect"
import { FetchHttpClient, HttpRouter } from "effect/http"
import { RpcClient, RpcMiddleware, RpcSerialization, RpcServer } from "effect/rpc"
import { createServer } from "node:http"

/** Server and clients share this. */
const contract = AgentProxy.make("guide")

export class Named extends RpcMiddleware.Service<Named, { provides: AgentProxy.Subject }>()("Named") {}

export class Guide extends AgentProxy.toRpcGroup(contract, Named) {}

/** Whose request it is: look up a token here, and refuse with `AgentProxy.UnauthorizedError`. */
const named = Layer.succeed(Named, (handling, { headers }) =>
  Effect.provideService(handling, AgentProxy.Subject, headers["x-user"] ?? "nameless")
)

const guide = Agent.make("guide", { prompt: "Answer in one sentence." })

export const routes = <E>(model: Layer.Layer<Model.Model, E>) =>
  RpcServer.layerHttp({ group: Guide, path: "/rpc", protocol: "http" }).pipe(
    Layer.provide([AgentProxyServer.layerRpcHandlers(contract), named]),
    Layer.provide(AgentRuns.layerMemory(contract, guide)),
    Layer.provide([model, AgentRuns.layerSuspendedMemory(), RpcSerialization.layerNdjson])
  )

/** The client: `client.stream({ input })` is a stream of events, which fails with `AgentProxy.RunFailedError`. */
export const clientOf = (url: string) =>
  Effect.provide(
    RpcClient.make(Guide),
    RpcClient.layerProtocolHttp({ url: `${url}/rpc` }).pipe(
      Layer.provide([FetchHttpClient.layer, RpcSerialization.layerNdjson])
    )
  )

if (import.meta.main) {
  const server = NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 3000 })
  const live = HttpRouter.serve(routes(OpenAi.model("gpt-5.6-sol"))).pipe(Layer.provide(server))
  // a missing key is one line
  const main = Effect.catchTag(Layer.launch(live), "ConfigError", ({ message }) => {
    process.exitCode = 1
    return Console.error(message)
  })
  NodeRuntime.runMain(main)
}
