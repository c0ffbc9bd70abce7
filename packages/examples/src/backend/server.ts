/** The API, served: each endpoint is a few lines around a run. */
import { Message, Model, Telemetry } from "@kintsugi/core"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { ByteSize, Effect, Layer, Stream } from "effect"
import { HttpIncomingMessage, HttpRouter } from "effect/http"
import { HttpApiBuilder, HttpApiMiddleware, HttpApiSchema } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import * as Access from "./access.ts"
import { Api, type Chat, Deciding } from "./api.ts"
import * as Bugs from "./bugs.ts"
import * as Live from "./live.ts"
import * as Origins from "./origins.ts"
import { Unauthorized } from "./problems.ts"
import * as Readers from "./readers.ts"
import * as Runs from "./runs.ts"
import * as Running from "./running.ts"
import * as Strays from "./strays.ts"

/** A stream without requirements: it is read after its handler has ended. */
const here = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Effect.map(Effect.context<R>(), (context) => Stream.provideContext(stream, context))

const runs = HttpApiBuilder.group(Api, "runs", (handlers) =>
  handlers.handleAll({
    ask: ({ payload }) => Runs.ask(payload.input, payload.user),
    watch: ({ payload }) => here(Runs.watch(payload.input, payload.user)),
    start: ({ payload }) => Effect.map(Runs.start(payload.input, payload.user), (runId) => ({ runId })),
    stop: ({ params }) => Runs.stop(params.runId)
  })
)

const approvals = HttpApiBuilder.group(Api, "approvals", (handlers) =>
  handlers.handleAll({
    list: ({ query }) => Runs.waitingOf(query.user),
    show: ({ params }) => Runs.show(params.runId),
    decide: ({ params, payload }) => Runs.decide(params.runId, payload.decisions)
  })
)

const deciding = Layer.effect(
  Deciding,
  Effect.map(Access.Access, (access) => ({
    bearer: (handling, { credential }) =>
      Access.isRight(access, credential) ? handling : Effect.fail(new Unauthorized())
  }))
)

type Said = (typeof Chat.Type)["messages"][number]

const textOf = ({ parts }: Said): string => parts.map(({ text }) => text ?? "").join("")

/** The earlier messages. A system prompt of the client is left out: only the backend writes it. */
const spoken = (said: Said): Message.Transcript => {
  if (said.role === "system") return []
  return [said.role === "user" ? Message.user(textOf(said)) : Message.assistant(textOf(said))]
}

const { "content-type": _, ...streamHeaders } = UiMessageStream.headers

const chat = HttpApiBuilder.group(Api, "chat", (handlers) =>
  handlers.handleAll({
    chat: ({ payload: { id, messages } }) =>
      Effect.gen(function* () {
        const said = textOf(messages.at(-1) ?? messages[0])
        const events = yield* Runs.chat(messages.slice(0, -1).flatMap(spoken), said, id)
        const lines = UiMessageStream.toServerSentEvents(UiMessageStream.fromStream(events))
        return HttpApiSchema.withHeaders({ body: yield* here(Stream.encodeText(lines)), headers: streamHeaders })
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
  Readers.layer,
  Origins.layer,
  Strays.layer(
    new Map<HttpRouter.PathInput, ReadonlyArray<string>>([
      ["/openapi.json", ["GET"]],
      ["/metrics", ["GET"]],
      ...Live.routes,
      ...Readers.routes
    ])
  ),
  Bugs.layer
).pipe(
  Layer.provide([runs, approvals, chat, system]),
  Layer.provide(deciding),
  Layer.provide(HttpApiMiddleware.layerProblemDetails({ includeDetails: true })),
  Layer.provide(Telemetry.layer),
  Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.kibibytes(256)))
)

/**
 * The whole server. When its scope closes, it accepts nothing more, waits for the requests at work as long as its
 * `gracefulShutdownTimeout` says, and interrupts the rest: their runs settle their calls and end.
 */
export const layer = Layer.provide(HttpRouter.serve(routes), Running.layer)
