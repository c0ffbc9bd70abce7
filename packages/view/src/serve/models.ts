/** The models of runs: sends that are repeated as a transport repeats them, and the model that the module brings. */
import { Model } from "@kintsugi/core"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Core, Definition } from "./inside.ts"

/** What providers' transports do about failed sends: three sends, with waits between them. */
export const resending = ({ Model: models, Recovery }: Core, self: Model.Service): Model.Service => {
  const row = Recovery.retry({ maxAttempts: 3, initialBackoff: "250 millis" })
  return models.onError(self, { NetworkError: row, RateLimitError: row, ServerError: row })
}

/** The model that the module brings: that of the agent, or that of the layer. */
export const ownModel = (
  { model }: Definition,
  context: Context.Context<never>
): Effect.Effect<Model.Service | undefined, unknown, Scope.Scope> => {
  if (model === undefined) return Effect.succeed(modelIn(context))
  // its services are those of the layer of the module
  return Effect.map(Effect.provideContext(Layer.build(model), context), modelIn)
}

const modelIn = (context: Context.Context<never>): Model.Service | undefined => {
  const key: string = Model.Model.key
  // cast: a context has the service of a key under that key
  return context.mapUnsafe.get(key) as Model.Service | undefined
}
