/** One call of a model: each of the models that it is made of is asked by itself. */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import { ContentFilteredError, type LlmError, NetworkError } from "../errors/LlmError.ts"
import * as Message from "../data/Message.ts"
import * as Returned from "../data/Returned.ts"
import { type Asker, compositionOf } from "./composition.ts"
import { withPartial } from "./partial.ts"
import type { Part, Request, Service } from "./service.ts"
import { streamed } from "./streamed.ts"

export type { Asker } from "./composition.ts"
export { withPartial } from "./partial.ts"

/** The single models that it may ask: itself, unless it is made of others. */
export const leavesOf = (model: Service): ReadonlyArray<Service> =>
  compositionOf(model)?.members.flatMap(leavesOf) ?? [model]

/** Asks a model, each of those that it is made of by itself. */
export const ask = <A, R>(model: Service, request: Request, asker: Asker<A, R>): Effect.Effect<A, LlmError, R> => {
  const composition = compositionOf(model)
  return composition === undefined ? asker.ask(model, request) : composition.strategy(request, asker)
}

/** The reply of a single model. */
export const generate = (model: Service, request: Request): Effect.Effect<Message.Reply, LlmError> =>
  Returned.effect(model.generate(request), "The generate of model", model.name)

/** The parts of a single model's reply. */
export const stream = (model: Service, request: Request): Stream.Stream<Part, LlmError> =>
  streamed(model.stream(request), "The stream of model", model.name)

/** A reply that says which model gave it. */
export const named = (model: Service, reply: Message.Reply): Message.Reply =>
  reply.model === undefined ? { ...reply, model: model.name } : reply

/** A filtered reply that calls nothing has nothing to say. */
export const refused = (model: Service, reply: Message.Reply): LlmError | undefined =>
  reply.finish === "filtered" && Message.callsOf(reply).length === 0
    ? withPartial(
        ContentFilteredError.contentFiltered(model.name, "the reply was cut off by a content filter", {
          provider: model.provider
        }),
        Message.textOf(reply)
      )
    : undefined

export const cutOff = (model: Service): NetworkError =>
  NetworkError.connectionFailed({ host: model.provider }, `The stream of model '${model.name}' ended before its end`, {
    provider: model.provider,
    model: model.name
  })
