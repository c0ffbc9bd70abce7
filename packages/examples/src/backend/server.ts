/** The API, served: each endpoint is a few lines around a run. */
import { type AgentEvent, Message, Model, Telemetry } from "@kintsugi/core"
import type * as AgentProxy from "@kintsugi/interop/AgentProxy"
import * as AgentProxyServer from "@kintsugi/interop/AgentProxyServer"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { ByteSize, Effect, Layer, Stream } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiMiddleware, HttpApiSchema } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import * as Access from "./access.ts"
import { Api, type Chat, Desk } from "./api.ts"
import * as Bugs from "./bugs.ts"
import * as Chats from "./chats.ts"
import * as Config from "./config.ts"
import * as Live from "./live.ts"
import * as Origins from "./origins.ts"
import * as Signing from "./signing.ts"
import * as Strays from "./strays.ts"

/** A stream without requirements: it is read after its handler has ended. */
const here = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Effect.map(Effect.context<R>(), (context) => Stream.provideContext(stream, context))

/** The runs of customers, and the decisions about them: all that `AgentProxy` says. */
const runs = AgentProxyServer.layerHttpApi(Api, "runs", Desk)
const approvals = AgentProxyServer.layerHttpApi(Api, "approvals", Desk)

const waiting = HttpApiBuilder.group(Api, "waiting", (handlers) => handlers.handleAll({ waiting: () => Chats.waiting }))

type Said = (typeof Chat.Type)["messages"][number]

const textOf = ({ parts }: Said): string => parts.map(({ text }) => text ?? "").join("")

/** The earlier messages. A system prompt of the client is left out: only the backend writes it. */
const spoken = (said: Said): Message.Transcript => {
  if (said.role === "system") return []
  return [said.role === "user" ? Message.user(textOf(said)) : Message.assistant(textOf(said))]
}

const { "content-type": _, ...streamHeaders } = UiMessageStream.headers

const chunksOf = <E, R>(events: Stream.Stream<AgentEvent.AgentEvent, E, R>) =>
  Effect.map(here(Stream.encodeText(UiMessageStream.toServerSentEvents(UiMessageStream.fromStream(events)))), (body) =>
    HttpApiSchema.withHeaders({ body, headers: streamHeaders })
  )

const chat = HttpApiBuilder.group(Api, "chat", (handlers) =>
  handlers.handleAll({
    chat: ({ payload: { id, messages } }) => {
      const said = textOf(messages.at(-1) ?? messages[0])
      return Effect.flatMap(Chats.chat(messages.slice(0, -1).flatMap(spoken), said, id), chunksOf)
    },
    reopen: ({ params }) =>
      Effect.gen(function* () {
        const events = yield* Chats.reopened(params.id)
        return events === undefined ? HttpServerResponse.empty({ status: 204 }) : yield* chunksOf(events)
      })
  })
)

const system = HttpApiBuilder.group(Api, "system", (handlers) =>
  handlers.handleAll({
    health: () => Model.Model.use(({ name }) => Effect.succeed({ status: "ok" as const, model: name }))
  })
)

const routes = Layer.mergeAll(
  Access.layer,
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }),
  PrometheusMetrics.layerHttp({ path: "/metrics" }),
  Live.layer,
  Origins.layer,
  Strays.layer(
    new Map<HttpRouter.PathInput, ReadonlyArray<string>>([
      ["/openapi.json", ["GET"]],
      ["/metrics", ["GET"]],
      ...Live.routes
    ])
  ),
  Bugs.layer
).pipe(
  Layer.provide([runs, approvals, waiting, chat, system]),
  Layer.provide(Signing.layer),
  Layer.provide(HttpApiMiddleware.layerProblemDetails({ includeDetails: true })),
  Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.kibibytes(256)))
)

/**
 * The whole server, over these runs. When its scope closes, it accepts nothing more, waits for the requests at work as long as its
 * `gracefulShutdownTimeout` says, and interrupts the rest.
 */
export const layerOver = <E, R>(runs: Layer.Layer<AgentProxy.RunsOf<typeof Desk.name>, E, R>) =>
  HttpRouter.serve(routes).pipe(Layer.provide([runs, Config.layerRunning]), Layer.provide(Telemetry.layer))

/** The server over runs in memory: as it stops, all runs at work are interrupted, settle their calls and end. */
export const layer = layerOver(AgentRuns.layerMemory(Desk, Chats.served))
