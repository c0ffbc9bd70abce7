/** Models of language that say nothing until a test answers for them. */
import { assert } from "@effect/vitest"
import { type Message, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Deferred, Effect, Layer, Stream } from "effect"

/** A request that waits for its answer. */
export interface Asked {
  /** Of the model that was asked. */
  readonly name: string
  readonly request: Model.Request
  readonly answer: Deferred.Deferred<Message.Reply>
}

export interface Talking {
  /** Requests without an answer yet. */
  readonly asked: Array<Asked>
  /** All names that were asked, in order. */
  readonly names: Array<string>
  readonly layer: (name: string) => Layer.Layer<Model.Model>
  /** Answers the request that came last. */
  readonly answer: (content: Message.Reply["content"]) => Effect.Effect<void>
}

export const talking = (): Talking => {
  const asked: Array<Asked> = []
  const names: Array<string> = []
  return {
    asked,
    names,
    layer: (name) =>
      Layer.succeed(Model.Model, {
        name,
        provider: "test",
        generate: (request) =>
          Effect.suspend(() => {
            const answer = Deferred.makeUnsafe<Message.Reply>()
            names.push(name)
            asked.push({ name, request, answer })
            return Deferred.await(answer)
          }),
        stream: () => Stream.die("not streamed here")
      }),
    answer: (content) =>
      Effect.suspend(() => {
        const last = asked.pop()
        assert(last !== undefined, "no request was made")
        return Effect.andThen(Deferred.succeed(last.answer, ScriptedModel.reply({ content })), quiet)
      })
  }
}

/** A model whose replies follow from its requests, whole or streamed. */
export const replying = (replyTo: (request: Model.Request) => Message.Reply): Layer.Layer<Model.Model> =>
  Layer.succeed(Model.Model, {
    name: "m",
    provider: "p",
    generate: (request) => Effect.sync(() => replyTo(request)),
    stream: (request) => Stream.suspend(() => Stream.fromIterable(Model.partsOf(replyTo(request))))
  })

/** Lets every fiber go on until it waits for an answer or the clock. */
export const quiet = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })
