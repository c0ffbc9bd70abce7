/**
 * An agent behind a server of Node, and a page of React that talks with it by `useChat`.
 *
 *   node scripts/launch.mjs --install packages/examples/recipes/react
 *   OPENAI_API_KEY=… node scripts/launch.mjs packages/examples/recipes/react/server.ts     then open http://localhost:3000
 *
 * - `POST /chat/:id` takes a message of the user, or a decision about a call, and streams the answer.
 * - `GET /chat/:id` streams the last answer of a chat from its beginning, for a page that comes back.
 * - `DELETE /chat/:id` stops the answer.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { type Agent, Approval, KintsugiError, type Model } from "@kintsugi/core"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { OpenAi } from "@kintsugi/providers"
import { Console, Effect, Layer, Schema, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { build } from "esbuild"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import * as Chats from "./chats.ts"

const Sent = Schema.Union([
  Schema.Struct({ message: Schema.Struct({ id: Schema.String, text: Schema.NonEmptyString }) }),
  Schema.Struct({ decision: Approval.Decided })
])

/** What a user reads about a failure. The message of an error may hold what is not for users. */
const describe = (error: unknown): string =>
  KintsugiError.isKintsugiError(error) ? KintsugiError.toProblem(error).title : "Unknown failure"

/** The runs of one answer, one after the other, as one message. */
const streaming = (runs: ReadonlyArray<Agent.Run<string, unknown>>) => {
  const chunks = Stream.flatMap(Stream.fromIterable(runs), ({ events }) =>
    UiMessageStream.fromStream(events, { describe })
  )
  const lines = Stream.encodeText(UiMessageStream.toServerSentEvents(chunks))
  return HttpServerResponse.stream(lines, { headers: UiMessageStream.headers })
}

const chatId = Effect.map(HttpRouter.params, ({ id = "" }) => id)

const chat = Effect.map(Chats.make, (chats) =>
  Layer.mergeAll(
    HttpRouter.add(
      "POST",
      "/chat/:id",
      Effect.gen(function* () {
        const [id, sent] = [yield* chatId, yield* HttpServerRequest.schemaBodyJson(Sent)]
        const runs = yield* "message" in sent ? chats.ask(id, sent.message) : chats.decide(id, sent.decision)
        return runs.length === 0 ? HttpServerResponse.empty({ status: 409 }) : streaming(runs)
      })
    ),
    HttpRouter.add(
      "GET",
      "/chat/:id",
      Effect.map(chatId, (id) => {
        const runs = chats.find(id)
        return runs.length === 0 ? HttpServerResponse.empty() : streaming(runs)
      })
    ),
    HttpRouter.add("DELETE", "/chat/:id", Effect.as(Effect.flatMap(chatId, chats.stop), HttpServerResponse.empty()))
  )
)

/** The page and its script. Yours may come from Vite or another build. */
const page = Effect.gen(function* () {
  const entryPoints = [join(import.meta.dirname, "page.tsx")]
  const { outputFiles } = yield* Effect.promise(() =>
    build({ entryPoints, bundle: true, write: false, minify: true, format: "esm", jsx: "automatic" })
  )
  const html = readFileSync(join(import.meta.dirname, "index.html"), "utf8")
  const script = HttpServerResponse.text(outputFiles[0]?.text ?? "", { contentType: "text/javascript" })
  return Layer.mergeAll(
    HttpRouter.add("GET", "/", Effect.succeed(HttpServerResponse.text(html, { contentType: "text/html" }))),
    HttpRouter.add("GET", "/page.js", Effect.succeed(script))
  )
})

/** What the routes need is provided to them, and not to the server. */
export const routes = <E>(model: Layer.Layer<Model.Model, E>) =>
  Layer.mergeAll(Layer.unwrap(chat), Layer.unwrap(page)).pipe(HttpRouter.provideRequest(model))

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
