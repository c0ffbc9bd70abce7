/** The recipes on the loopback interface: a model that answers, fails, and never answers, and a server around their routes. */
import { LlmError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Node from "@kintsugi/examples/backend/node"
import { Context, Deferred, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"

/** The status that the failure of this model has as a problem, unlike that of most. */
export const failure = { status: 502, code: "KINTSUGI-MODEL-NOT-FOUND" }

/** Answers the first request, fails at the second, and is stuck in the third. */
export const model = Effect.gen(function* () {
  const asked = yield* Deferred.make<void>()
  const stopped = yield* Deferred.make<void>()
  const stuck = Effect.onInterrupt(Effect.andThen(Deferred.succeed(asked, undefined), Effect.never), () =>
    Deferred.succeed(stopped, undefined)
  )
  const { layer, requests } = yield* ScriptedModel.make(
    ScriptedModel.text("Forty-two."),
    ScriptedModel.fails(LlmError.ModelNotFoundError.make({ model: "scripted" })),
    ScriptedModel.answers(() => stuck)
  )
  return { layer, requests, asked: Deferred.await(asked), stopped: Deferred.await(stopped) }
})

const server = Node.layer({ host: "127.0.0.1", port: 0, gracefulShutdownTimeout: 0 })

/** Logs nothing. */
export const quiet = { disableListenLog: true, disableLogger: true } as const

/** The address of a server with this app: `HttpRouter.serve(routes, quiet)`. */
export const serving = <E>(app: Layer.Layer<never, E, Layer.Success<typeof server>>) =>
  Effect.map(Layer.build(Layer.provideMerge(app, server)), (context) =>
    HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
  )
