/** How a model is asked that is made of others: for whole replies, for parts, or attempt by attempt within a run. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ContentFilteredError, type LlmError, NetworkError } from "../errors/LlmError.ts"
import * as Message from "../data/Message.ts"
import type { Part, Request, Service } from "./service.ts"
import { collected, Collector, partsOf } from "./collecting.ts"
import type { Compactions } from "../recovery/rules.ts"
import { explained, explaining, type Explains } from "./explaining.ts"
import { withPartial } from "./partial.ts"

/** Asks single models, in one of the ways in which a model can be asked. */
export interface Asker<A, R> {
  readonly ask: (model: Service, request: Request) => Effect.Effect<A, LlmError, R>
  /** A reply that no model gave. */
  readonly given: (reply: Message.Reply) => A
  /** Whether a reader has seen some of what the present attempt says: no other may be made then. */
  readonly isShown: () => boolean
  /** How often any table has shortened this request. */
  readonly compactions: Compactions
  /** Puts something around all that is asked for one request. */
  readonly within: (
    model: Service,
    asking: Effect.Effect<A, LlmError, R>,
    surrounding: Surrounding,
    request: Request
  ) => Effect.Effect<A, LlmError, R>
}

/**
 * What is done around a call of a model. A run asks a model that is made of others for one reply, streamed or not: around that
 * stands `generate`.
 */
export interface Surrounding {
  readonly generate: (
    reply: Effect.Effect<Message.Reply, LlmError>,
    request: Request,
    model: Service
  ) => Effect.Effect<Message.Reply, LlmError>
  readonly stream: (
    parts: Stream.Stream<Part, LlmError>,
    request: Request,
    model: Service
  ) => Stream.Stream<Part, LlmError>
}

/** Which models are asked, in which order, and what is done about their failures. */
export type Strategy = <A, R>(request: Request, asker: Asker<A, R>) => Effect.Effect<A, LlmError, R>

const Composed: unique symbol = Symbol.for("~@kintsugi/core/Model/Composed")

interface Composition {
  readonly members: ReadonlyArray<Service>
  readonly strategy: Strategy
}

/** A model that is made of others. */
export const compose = (members: ReadonlyArray<Service>, strategy: Strategy, explains: Explains): Service => {
  const service: Service = {
    name: [...new Set(members.map(({ name }) => name))].join(" or "),
    provider: [...new Set(members.map(({ provider }) => provider))].join(" or "),
    generate: (request) => Effect.suspend(() => strategy(request, asking(whole))),
    stream: (request) => Stream.unwrap(Effect.suspend(() => strategy(request, asking(opening))))
  }
  return explaining(marked(service, { members, strategy }), explains)
}

const asking = <A, R>(way: Omit<Asker<A, R>, "compactions">): Asker<A, R> => ({ ...way, compactions: { made: 0 } })

// not enumerable: who copies a service to change what it does has made another
const marked = (service: Service, composition: Composition): Service =>
  Object.defineProperty(service, Composed, { value: composition })

/** The model with something around each call of it. One that is made of others stays that: whoever knows asks each by itself. */
export const around = (model: Service, surrounding: Surrounding): Service => {
  const service: Service = {
    ...model,
    generate: (request) =>
      surrounding.generate(
        Effect.suspend(() => model.generate(request)),
        request,
        model
      ),
    stream: (request) =>
      surrounding.stream(
        Stream.suspend(() => model.stream(request)),
        request,
        model
      )
  }
  const composition = compositionOf(model)
  if (composition === undefined) return service
  const { members, strategy } = composition
  const composed = marked(service, {
    members,
    strategy: (request, asker) => asker.within(service, strategy(request, asker), surrounding, request)
  })
  return explaining(composed, (errors) => explained(model, errors))
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

const whole: Omit<Asker<Message.Reply, never>, "compactions"> = {
  ask: (model, request) =>
    Effect.flatMap(
      Effect.suspend(() => model.generate(request)),
      (reply) => {
        const refusal = refused(model, reply)
        return refusal === undefined ? Effect.succeed(named(model, collected(reply))) : Effect.fail(refusal)
      }
    ),
  given: (reply) => reply,
  isShown: () => false,
  within: (model, asking, { generate }, request) => generate(asking, request, model)
}

/** Asks for parts, and is done with the first of them: what fails later was seen. */
const opening: Omit<Asker<Stream.Stream<Part, LlmError>, Scope.Scope>, "compactions"> = {
  ask: (model, request) => opened(model, parts(model, request)),
  given: (reply) => Stream.fromArray(partsOf(reply)),
  isShown: () => false,
  within: (model, asking, { stream }, request) => opened(model, stream(Stream.unwrap(asking), request, model))
}

/** A stream of which the first parts have come; one that has none fails. */
const opened = (
  model: Service,
  stream: Stream.Stream<Part, LlmError>
): Effect.Effect<Stream.Stream<Part, LlmError>, LlmError, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (above) =>
    Effect.flatMap(Scope.fork(above), (scope) => {
      const opening = Effect.flatMap(Scope.provide(Stream.toPull(stream), scope), (pull) =>
        Pull.matchEffect(pull, {
          onSuccess: (first) =>
            Effect.succeed(Stream.concat(Stream.fromArray(first), Stream.fromPull(Effect.succeed(pull)))),
          onFailure: (cause) => Effect.failCause(cause),
          onDone: () => Effect.fail(cutOff(model))
        })
      )
      return Effect.onExit(opening, (exit) => (Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit)))
    })
  )

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
