/** Tables for models themselves, compactions, and orders of models. */
import { Agent, Compaction, LlmError, type Message, Model, Recovery, Tool, type Usage } from "@kintsugi/core"
import { Effect, type Layer, Schema } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import type { Boom, Db, Oops } from "./_support/subjects.ts"

declare const service: Model.Service
declare const layer: Layer.Layer<Model.Model, Boom, Db>
declare const plainLayer: Layer.Layer<Model.Model>
declare const reply: Message.Reply
declare const looked: Effect.Effect<Message.Reply, Oops, Db>
declare const lookedUp: Effect.Effect<Message.Reply, LlmError.NetworkError, Db>
declare const summing: (input: string) => Effect.Effect<string, Oops, Db>
declare const usage: Usage.Usage

type All = LlmError.LlmError
type But<E> = Exclude<All, E>

const plain = Agent.make("plain", {})

describe("Model.onError", () => {
  it("a model leaves what its table does not handle [A701 A714]", () => {
    // each by its name: overloads are not resolved alike within a call that is generic itself
    const retried = Model.onError(service, { NetworkError: Recovery.retry({ retries: 1 }) })
    sameType<Model.GuardedModel<All, never>>()(retried)
    const stocked = Model.onError(service, { NetworkError: Recovery.respondWith(reply) })
    sameType<Model.GuardedModel<But<LlmError.NetworkError>, never>>()(stocked)
    const failing = Model.onError(service, { NetworkError: Recovery.respondWith(() => looked) })
    sameType<Model.GuardedModel<But<LlmError.NetworkError> | Oops, Db>>()(failing)
    const total = Model.onError(service, { orElse: Recovery.respondWith(reply) })
    sameType<Model.GuardedModel<never, never>>()(total)
  })

  it("what it answers is a reply [A711]", () => {
    // @ts-expect-error a model replies with replies
    Model.onError(service, { NetworkError: Recovery.respondWith("text") })
    // @ts-expect-error usage alone is no reply
    Model.onError(service, { NetworkError: Recovery.respondWith({ usage }) })
  })

  it("a layer keeps its own failures and needs, and takes those of the table along [A704]", () => {
    sameType<Layer.Layer<Model.Model, Boom, Db>>()(
      layer.pipe(Model.onError({ orElse: Recovery.retry({ retries: 1 }) }))
    )
    const needing = Model.onError(plainLayer, { NetworkError: Recovery.respondWith(() => lookedUp) })
    sameType<Layer.Layer<Model.Model, never, Db>>()(needing)
    // @ts-expect-error a model fails with nothing but LlmErrors
    Model.onError(plainLayer, { NetworkError: Recovery.respondWith(() => looked) })
  })

  it("what has no meaning for a model does not compile [A514]", () => {
    // @ts-expect-error the model is what failed
    Model.onError(service, { NetworkError: Recovery.tell() })
    // @ts-expect-error there is no such tag
    Model.onError(service, { NetworkErrors: Recovery.rethrow })
  })
})

describe("Model.fallback", () => {
  it("services make a service, layers a layer [P1001]", () => {
    sameType<Model.Service>()(Model.fallback(service, service))
    sameType<Model.Service>()(Model.fallback(service, service, { when: (error) => error.isRetryable }))
    sameType<Layer.Layer<Model.Model, Boom, Db>>()(Model.fallback(plainLayer, layer))
    sameType<Layer.Layer<Model.Model, Boom, Db>>()(Model.fallback(plainLayer, layer, { when: () => true }))
    // @ts-expect-error an order has a first
    Model.fallback()
    // @ts-expect-error options are no model
    Model.fallback({ when: () => true })
  })
})

describe("Recovery.compact", () => {
  it("stands in tables for models, and keeps the tag, for it may give up [P1005]", () => {
    const drop = Recovery.compact(Compaction.dropOldest({ keepLast: 2 }))
    sameType<All>()(left(plain.pipe(Agent.onLlmError({ ContextTooLongError: drop }))))
    sameType<But<LlmError.ContextTooLongError>>()(
      left(plain.pipe(Agent.onLlmError({ ContextTooLongError: Recovery.ladder(drop, Recovery.respondWith("")) })))
    )
    sameType<All>()(
      left(
        plain.pipe(
          Agent.onLlmError({
            orElse: Recovery.when((error) =>
              error._tag === "ContextTooLongError"
                ? Recovery.compact(Compaction.dropOldest({ keepLast: 2 }))
                : Recovery.rethrow
            )
          })
        )
      )
    )
  })

  it("takes the needs of its agent along, and none of its failures [P1005]", () => {
    const agent = plain.pipe(Agent.onLlmError({ ContextTooLongError: Recovery.compact(Compaction.summarise(summing)) }))
    sameType<All>()(left(agent))
    sameType<Model.Model | Db>()(needs(agent))
  })

  it("does not compile in the table of a tool, of a fixer, or of a plain effect [A514]", () => {
    const tool = Tool.make("t", {
      description: "d",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.fail(LlmError.ContextTooLongError.make({ model: "m" }))
    })
    const drop = Recovery.compact<LlmError.ContextTooLongError>(Compaction.dropOldest({ keepLast: 2 }))
    // @ts-expect-error no conversation of this call failed
    tool.pipe(Tool.onError({ ContextTooLongError: drop }))
    // @ts-expect-error not within a ladder either
    tool.pipe(Tool.onError({ ContextTooLongError: Recovery.ladder(drop, Recovery.tell()) }))
    // @ts-expect-error nor for all tools
    plain.pipe(Agent.toolDefaults({ ExecutionError: Recovery.compact(Compaction.dropOldest({ keepLast: 2 })) }))
    const effect = Effect.fail(LlmError.ContextTooLongError.make({ model: "m" }))
    // @ts-expect-error an effect has no conversation
    Recovery.onError(effect, { ContextTooLongError: drop })
  })
})

declare const left: <O, E, R>(agent: (input: string) => Effect.Effect<O, E, R>) => Extract<E, All>
declare const needs: <O, E, R>(agent: (input: string) => Effect.Effect<O, E, R>) => R
