/**
 * An agent on Effect's `HttpRouter`: its answer whole, and as server-sent events while it is written.
 *
 *   OPENAI_API_KEY=… node scripts/launch.mjs packages/examples/recipes/http-router/server.ts
 *   curl localhost:3000/ask -d 'What is a span?'
 *   curl -N localhost:3000/stream -d 'What is a span?'
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Agent, KintsugiError, type Model } from "@kintsugi/core"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { OpenAi } from "@kintsugi/providers"
import { Console, Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"

const guide = Agent.make("guide", { prompt: "Answer in one sentence." })

const body = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ text }) => text)

const answer = (input: string) =>
  guide(input).pipe(
    Effect.map((answer) => HttpServerResponse.jsonUnsafe({ answer })),
    Effect.catchIf(KintsugiError.isKintsugiError, (error) => {
      const problem = KintsugiError.toProblem(error)
      const options = { status: problem.status, contentType: KintsugiError.problemMediaType }
      return Effect.succeed(HttpServerResponse.text(JSON.stringify(problem), options))
    })
  )

const ask = Effect.flatMap(body, answer)

/** The status is 200 by then: a failure is the last chunk but one. A reader that leaves interrupts the run. */
const stream = Effect.gen(function* () {
  const chunks = UiMessageStream.fromStream(guide.stream(yield* body))
  const lines = Stream.encodeText(UiMessageStream.toServerSentEvents(chunks))
  // the lines are read when the handler has ended: they bring their services along
  const context = yield* Effect.context<Model.Model>()
  return HttpServerResponse.stream(Stream.provideContext(lines, context), { headers: UiMessageStream.headers })
})

/** What the routes need is provided to them, and not to the server. */
export const routes = <E>(model: Layer.Layer<Model.Model, E>) =>
  Layer.mergeAll(HttpRouter.add("POST", "/ask", ask), HttpRouter.add("POST", "/stream", stream)).pipe(
    HttpRouter.provideRequest(model)
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
