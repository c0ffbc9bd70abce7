/** Emits what a model changes of a request, and what its server has perhaps cut of it. */
import * as Effect from "effect/Effect"
import type * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"
import { truncatedPrompt } from "../model/ModelCall.ts"

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

/** The effect, behind the event of a reply whose provider remarks that the server has cut the prompt. */
export const behindCut = <A, E>(
  run: RunContext.RunContext,
  { name, provider }: Model.Service,
  { content }: Message.Reply,
  next: Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const cut = content.find((part) => part.type === "provider-item" && part.kind === truncatedPrompt)
  if (cut?.type !== "provider-item") return next
  const changes = [{ option: "messages", sent: cut.opaque.data }]
  return RunContext.emitThen(
    run,
    () => ({ type: "request-adapted", model: name, provider, family: name, changes }),
    () => next
  )
}
