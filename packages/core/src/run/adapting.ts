/** Emits what a model changes of a request. */
import * as Effect from "effect/Effect"
import * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"

/** The effect, behind the event of what the model changes of its request, if it does. */
export const adapting = <A, E>(
  run: RunContext.RunContext,
  model: Model.Service,
  request: Model.Request,
  asked: Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  if (model.adapts === undefined || run.emit === undefined) return asked
  return Effect.suspend(() => {
    const adaptation = model.adapts?.(request)
    const { name, provider } = model
    return adaptation === undefined
      ? asked
      : RunContext.emitThen(
          run,
          () => ({ type: "request-adapted", model: name, provider, ...adaptation }),
          () => asked
        )
  })
}
