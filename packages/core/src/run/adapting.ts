/** Emits what a model changes of a request. */
import * as Effect from "effect/Effect"
import * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"

/** The effect, behind the event of what the model changes of its request, if it does. */
export const adapting = <A, E>(
  run: RunContext.RunContext,
  { name, provider }: Model.Service,
  adapts: NonNullable<Model.Service["adapts"]>,
  request: Model.Request,
  asked: Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  if (run.emit === undefined) return asked
  return Effect.suspend(() => {
    const adaptation = adapts(request)
    return adaptation === undefined
      ? asked
      : RunContext.emitThen(
          run,
          () => ({ type: "request-adapted", model: name, provider, ...adaptation }),
          () => asked
        )
  })
}
