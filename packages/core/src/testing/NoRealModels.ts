/** A layer under which tests make no real model calls. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Model from "../model/Model.ts"

const forgotten = Effect.die(new Error("A test calls a model, and none was given to it: provide a ScriptedModel"))

/**
 * Under this layer a real model call dies: one of an agent that was given no model, and one of any model that is reached over a
 * wire, with any host and wherever its layer stands. Scripted models go on as ever. Provide it to the whole of a test suite.
 */
export const noRealModels: Layer.Layer<Model.Model> = Layer.merge(
  Layer.succeed(Model.RealCalls, "forbidden"),
  Layer.succeed(Model.Model, {
    name: "none",
    provider: "none",
    generate: () => forgotten,
    stream: () => Stream.unwrap(forgotten)
  })
)
