/** How a model is asked that is made of others: for whole replies, for parts, or attempt by attempt within a run. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ContentFilteredError, type LlmError, NetworkError } from "../LlmError.ts"
import * as Message from "../Message.ts"
import type { Part, Request, Service } from "./modelService.ts"
import { collected, Collector, partsOf } from "./modelCollecting.ts"
import { withPartial } from "./modelPartial.ts"

/** Asks single models, in one of the ways in which a model can be asked. */
export interface Asker<A, R> {
  readonly ask: (model: Service, request: Request) => Effect.Effect<A, LlmError, R>
  /** A reply that no model gave. */
  readonly given: (reply: Message.Reply) => A
  /** Whether a reader has seen some of what the present attempt says: no other may be made then. */
  readonly isShown: () => boolean
}

/** Which models are asked, in which order, and what is done about their failures. */
export type Strategy = <A, R>(request: Request, asker: Asker<A, R>) => Effect.Effect<A, LlmError, R>

const Composed: unique symbol = Symbol.for("~@kintsugi/core/Model/Composed")

interface Composition {
  readonly members: ReadonlyArray<Service>
  readonly strategy: Strategy
}

/** A model that is made of others. */
export const compose = (members: ReadonlyArray<Service>, strategy: Strategy): Service => {
  const composition: Composition = { members, strategy }
  const service: Service = {
    name: [...new Set(members.map(({ name }) => name))].join(" or "),
    provider: [...new Set(members.map(({ provider }) => provider))].join(" or "),
    generate: (request) => strategy(request, whole),
    stream: (request) => Stream.unwrap(strategy(request, opening))
  }
  // not enumerable: who copies a service to change what it does has made another
  return Object.defineProperty(service, Composed, { value: composition })
}

const compositionOf = (model: Service): Composition | undefined =>
  // whoever has the mark was made above
  Predicate.hasProperty(model, Composed) ? (model[Composed] as Composition) : undefined

/** The single models that it may ask: itself, unless it is made of others. */
export const leavesOf = (model: Service): ReadonlyArray<Service> =>
  compositionOf(model)?.members.flatMap(leavesOf) ?? [model]

/** Whether it is made of no others. */
export const isSingle = (model: Service): boolean => compositionOf(model) === undefined

/** Asks a model, each of those that it is made of by itself. */
export const ask = <A, R>(model: Service, request: Request, asker: Asker<A, R>): Effect.Effect<A, LlmError, R> => {
  const composition = compositionOf(model)
  return composition === undefined ? asker.ask(model, request) : composition.strategy(request, asker)
}

/** A reply that says which model gave it. */
export const named = (model: Service, reply: Message.Reply): Message.Reply =>
  reply.model === undefined ? { ...reply, model: model.name } : reply

const whole: Asker<Message.Reply, never> = {
  ask: (model, request) =>
    Effect.flatMap(
      Effect.suspend(() => model.generate(request)),
      (reply) => {
        const refusal = refused(model, reply)
        return refusal === undefined ? Effect.succeed(named(model, collected(reply))) : Effect.fail(refusal)
      }
    ),
  given: (reply) => reply,
  isShown: () => false
}

/** Asks for parts, and is done with the first of them: what fails later was seen. */
const opening: Asker<Stream.Stream<Part, LlmError>, Scope.Scope> = {
  ask: (model, request) =>
    Effect.flatMap(Effect.scope, (above) =>
      Effect.flatMap(Scope.fork(above), (scope) => {
        const opened = Effect.flatMap(Scope.provide(Stream.toPull(parts(model, request)), scope), (pull) =>
          Pull.matchEffect(pull, {
            onSuccess: (first) =>
              Effect.succeed(Stream.concat(Stream.fromArray(first), Stream.fromPull(Effect.succeed(pull)))),
            onFailure: (cause) => Effect.failCause(cause),
            onDone: () => Effect.fail(cutOff(model))
          })
        )
        return Effect.onExit(opened, (exit) => (Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit)))
      })
    ),
  given: (reply) => Stream.fromArray(partsOf(reply)),
  isShown: () => false
}

/** The parts of one model up to its end, and what is wrong with them as a failure with the text so far. */
const parts = (model: Service, request: Request): Stream.Stream<Part, LlmError> =>
  Stream.suspend(() => {
    const collector = new Collector()
    const seen = Stream.mapEffect(
      Stream.takeUntil(model.stream(request), ({ type }) => type === "finish"),
      (part): Effect.Effect<Part, LlmError> => {
        collector.push(part)
        const reply = collector.reply()
        if (part.type !== "finish" || reply === undefined) return Effect.succeed(part)
        const refusal = refused(model, reply)
        return refusal === undefined
          ? Effect.succeed({ ...part, model: part.model ?? model.name })
          : Effect.fail(refusal)
      }
    )
    const end = Stream.suspend(() => (collector.spent === undefined ? Stream.fail(cutOff(model)) : Stream.empty))
    return Stream.mapError(Stream.concat(seen, end), (error) => withPartial(error, collector.partial))
  })

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
