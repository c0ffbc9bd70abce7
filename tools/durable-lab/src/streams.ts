/** A model whose replies come whole, as a service that streams them too. */
import { Model } from "@kintsugi/core"
import { Effect, Stream } from "effect"

export const streaming = (model: Omit<Model.Service, "stream">): Model.Service => ({
  ...model,
  stream: (request) =>
    Stream.unwrap(Effect.map(model.generate(request), (reply) => Stream.fromIterable(Model.partsOf(reply))))
})
