/**
 * The events of a run over Effect's RPC: a procedure that streams, and a typed client that reads it over HTTP, line by line. The events
 * hold the whole conversation: they are for your own programs.
 *
 *   OPENAI_API_KEY=… node scripts/launch.mjs packages/examples/recipes/rpc/server.ts
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Agent, AgentEvent, KintsugiError, type Model } from "@kintsugi/core"
import { OpenAi } from "@kintsugi/providers"
import { Console, Effect, Layer, Schema, Stream } from "effect"
import { FetchHttpClient, HttpRouter } from "effect/http"
import { Rpc, RpcClient, RpcGroup, RpcSerialization, RpcServer } from "effect/rpc"
import { createServer } from "node:http"

class Failed extends Schema.Error<Failed>("Failed")(KintsugiError.Problem.fields) {
  readonly _tag = "Failed"
}

/** Server and clients share this. */
class Guide extends RpcGroup.make(
  Rpc.make("watch", {
    payload: { input: Schema.String },
    success: AgentEvent.AgentEvent,
    error: Failed,
    stream: true
  })
) {}

const guide = Agent.make("guide", { prompt: "Answer in one sentence." })

const handlers = Guide.toLayer({
  watch: ({ input }) => Stream.mapError(guide.stream(input), (error) => new Failed(KintsugiError.toProblem(error)))
})

export const routes = <E>(model: Layer.Layer<Model.Model, E>) =>
  RpcServer.layerHttp({ group: Guide, path: "/rpc", protocol: "http" }).pipe(
    Layer.provide(handlers),
    Layer.provide(model),
    Layer.provide(RpcSerialization.layerNdjson)
  )

/** The client: `client.watch({ input })` is a stream of events, which fails with `Failed`. */
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
