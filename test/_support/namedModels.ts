/** What the tests of models that are made of others share: scripted ones with names, and requests without an agent. */
import { LlmError, Message, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Layer, type Scope, Stream } from "effect"
import { it } from "./run.ts"

export interface Named {
  readonly service: Model.Service
  readonly layer: Layer.Layer<Model.Model>
  readonly requests: ScriptedModel.ScriptedModel["requests"]
  /** When it was asked. */
  readonly instants: ReadonlyArray<number>
}

/** A scripted model under a name of its own; its provider is `of name`. */
export const namedModel = Effect.fnUntraced(function* (
  name: string,
  ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>
) {
  const { layer, requests } = yield* ScriptedModel.make(...steps)
  const scripted = yield* Effect.provide(Effect.service(Model.Model), layer)
  const instants: Array<number> = []
  const noted = Effect.map(Clock.currentTimeMillis, (at) => void instants.push(at))
  const service: Model.Service = {
    name,
    provider: `of ${name}`,
    generate: (request) => Effect.andThen(noted, scripted.generate(request)),
    stream: (request) => Stream.unwrap(Effect.as(noted, scripted.stream(request)))
  }
  const named: Named = { service, layer: Layer.succeed(Model.Model, service), requests, instants }
  return named
})

export const hello: Model.Request = { messages: [Message.user("hello")], tools: [], toolChoice: "auto" }

/** A way to ask a model for a reply without an agent. */
export interface Ask {
  readonly isStreamed: boolean
  <E, R>(model: Model.GuardedModel<E, R>, request?: Model.Request): Effect.Effect<Message.Reply, E, R>
}

const whole: Ask = Object.assign(<E, R>(model: Model.GuardedModel<E, R>, request = hello) => model.generate(request), {
  isStreamed: false
})

const streamed: Ask = Object.assign(
  <E, R>(model: Model.GuardedModel<E, R>, request = hello) =>
    Effect.flatMap(Stream.runCollect(model.stream(request)), (parts) => {
      const collector = new Model.Collector()
      for (const part of parts) collector.push(part)
      const reply = collector.reply()
      return reply === undefined ? Effect.die(new Error("the stream has no end")) : Effect.succeed(reply)
    }),
  { isStreamed: true }
)

/** Runs each test of a bare model twice: with whole replies, and with streamed ones put together. */
export const asked = <E>(name: string, body: (ask: Ask) => Effect.Effect<void, E, Scope.Scope>): void => {
  it.effect(`${name} (whole)`, () => body(whole))
  it.effect(`${name} (streamed)`, () => body(streamed))
}

export const overloaded = (name = "a") => LlmError.ModelOverloadedError.make({ model: name })
export const unauthorised = (name = "a") => LlmError.AuthenticationError.make({ model: name, detail: "no such key" })
export const says = (text: string): Model.Part => ({ type: "text-delta", text })
