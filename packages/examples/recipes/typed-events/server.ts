/**
 * The events of a run as a contract: `HttpApiSchema.StreamSse` sends them as server-sent events, and a client made of the contract reads
 * them typed, the failure too. The events hold the whole conversation: they are for your own people.
 *
 *   OPENAI_API_KEY=… node scripts/launch.mjs packages/examples/recipes/typed-events/server.ts
 *   curl -N localhost:3000/events -H 'content-type: application/json' -d '{"input": "What is a span?"}'
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Agent, AgentEvent, KintsugiError, type Model } from "@kintsugi/core"
import { OpenAi } from "@kintsugi/providers"
import { Console, Effect, Layer, Schema, Stream } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { createServer } from "node:http"

class Failed extends Schema.Error<Failed>("Failed")(KintsugiError.Problem.fields) {
  readonly _tag = "Failed"
}

/** Clients import this: `HttpApiClient.make(Api, { baseUrl })`. */
export const Api = HttpApi.make("guide").add(
  HttpApiGroup.make("guide", { topLevel: true }).add(
    HttpApiEndpoint.post("watch", "/events", {
      payload: Schema.Struct({ input: Schema.String }),
      success: HttpApiSchema.StreamSse({ data: AgentEvent.AgentEvent, error: Failed })
    })
  )
)

const guide = Agent.make("guide", { prompt: "Answer in one sentence." })

const handlers = HttpApiBuilder.group(Api, "guide", (group) =>
  group.handle("watch", ({ payload }) => {
    const events = guide
      .stream(payload.input)
      .pipe(Stream.mapError((error) => new Failed(KintsugiError.toProblem(error))))
    return Effect.map(Effect.context<Model.Model>(), (context) => Stream.provideContext(events, context))
  })
)

export const routes = <E>(model: Layer.Layer<Model.Model, E>) =>
  HttpApiBuilder.layer(Api).pipe(Layer.provide(handlers), HttpRouter.provideRequest(model))

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
