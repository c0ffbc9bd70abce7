/** Emits an event when a model changes a request before it is sent, and when its server may have cut the prompt. */
import * as Effect from "effect/Effect"
import type * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"
import { truncatedPrompt } from "../model/ModelCall.ts"

/** Runs the effect, and before it emits which parts of the request the model changes, if any. */
export const adapting = <A, E>(
  run: RunContext.RunContext,
  { name, provider }: Model.Service,
  adapts: NonNullable<Model.Service["adapts"]>,
  request: Model.Request,
  asked: Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  // Mutant `false` survives: speed only
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

/** Runs the effect, and before it emits that the server may have cut the prompt, if the provider says so in the reply. */
export const behindCut = <A, E>(
  run: RunContext.RunContext,
  { name, provider }: Model.Service,
  { content }: Message.Reply,
  next: Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  // Mutant `false` survives: speed only
  if (run.emit === undefined) return next
  // Mutant `true` for `part.type === "provider-item"` survives: no other part has a kind
  const cut = content.find((part) => part.type === "provider-item" && part.kind === truncatedPrompt)
  if (cut?.type !== "provider-item") return next
  const changes = [{ option: "messages", sent: cut.opaque.data }]
  return RunContext.emitThen(
    run,
    () => ({ type: "request-adapted", model: name, provider, family: name, changes }),
    () => next
  )
}
