/** The mark of a model that is made of others: its members, and in which order they are asked. */
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Stream from "effect/Stream"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import type { Compactions } from "../recovery/Layer.ts"
import type { Part, Request, Service } from "./service.ts"

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

export interface Composition {
  readonly members: ReadonlyArray<Service>
  readonly strategy: Strategy
}

// not enumerable: who copies a service to change what it does has made another
export const marked = (service: Service, composition: Composition): Service =>
  Object.defineProperty(service, Composed, { value: composition })

export const compositionOf = (model: Service): Composition | undefined =>
  // whoever has the mark was made above
  Predicate.hasProperty(model, Composed) ? (model[Composed] as Composition) : undefined
