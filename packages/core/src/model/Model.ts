/** A language model: one request in, one reply out, whole or streamed. It knows the specs of tools, not the tools. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Explanation } from "../recovery/Explanation.ts"
import { explained, explaining, type Options, over, uncounted } from "../recovery/Explained.ts"
import { fallback as inOrder } from "./fallback.ts"
import { attempting, around as surrounded, choosing, explainsAll } from "./compose.ts"
import type { Attempting, Choosing, Surrounding } from "./parts.ts"
import { explainsTable, guarded } from "./recovery.ts"
import type { CheckRows, LlmHandler, LlmRows, TableOf, TableOptions } from "./LlmTable.ts"
import { rowsAfter } from "./LlmTable.ts"
import type { Part, Request, Service } from "./service.ts"
import type * as LlmError from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import type { ServicesOf, ErrorOf, RowsOf, Residue } from "../recovery/TableTypes.ts"

export type { OutputSpec, Part, Request, Service, ToolChoice } from "./service.ts"
export type { Adaptation } from "../event/Happening.ts"

/**
 * Whether code may call models over the network. `ScriptedModel.noRealModels` sets `"forbidden"`. An implementer of such a model wraps its
 * calls with `leaving`.
 *
 * @internal
 */
export const RealCalls = Context.Reference<"allowed" | "forbidden">("@kintsugi/core/Model/RealCalls", {
  defaultValue: () => "allowed"
})

/** Guards a model call that leaves the process. The call dies if `ScriptedModel.noRealModels` forbids real models. */
export const leaving = <A, E, R>(name: string, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(RealCalls, (calls) =>
    calls === "allowed"
      ? self
      : Effect.die(new Error(`A test calls the real model '${name}'; give its agent a scripted one`))
  )

/** The service of a model, which agents need in `R`. */
export class Model extends Context.Service<Model, Service>()("@kintsugi/core/Model") {}

export type { Surrounding } from "./parts.ts"
export { Collector, partsOf, withUsage } from "./parts.ts"
export type { TransportRows } from "./resending.ts"
export { Resending, resending } from "./resending.ts"
/** @internal */
export { collected } from "./parts.ts"
/** @internal */
export { sendingOnce } from "./resending.ts"

/**
 * A model with a recovery table. `E` are the failures that the table leaves. If they are `LlmError`s only, the model is a `Service`.
 *
 * @hidden
 */
export interface GuardedModel<E, R> {
  readonly name: string
  readonly provider: string
  readonly generate: (request: Request) => Effect.Effect<Message.Reply, E, R>
  readonly stream: (request: Request) => Stream.Stream<Part, E, R>
}

type AnyLayer = Layer.Layer<Model, unknown, unknown>

/** A model, or a layer that provides one. */
type AnyModel = Service | AnyLayer

/** The type of a model, or of its layer, with a recovery table. */
type OnError<M, Table> =
  M extends Layer.Layer<Model, infer E, infer R>
    ? Layer.Layer<Model, E, R | ServicesOf<RowsOf<Table>>>
    : GuardedModel<Residue<LlmError.LlmError, Table>, ServicesOf<RowsOf<Table>>>

/** Refuses a table with other errors than `LlmError`s for a layer: the model of a layer fails with `LlmError`s only. */
type Fitting<M, Table> = M extends AnyLayer
  ? [ErrorOf<RowsOf<Table>>] extends [LlmError.LlmError]
    ? unknown
    : never
  : unknown

/**
 * Recovers from failures of a model, by a table or function. The model may also be a layer. The verdicts are those of `Agent.onLlmError`;
 * `respondWith` gives a reply. The type has the failures that the table leaves. A streamed reply is retried before its first text, thought
 * or call only; a later failure carries the text so far. Within a run, each attempt is an event and an entry of the ledger.
 */
export const onError: {
  <const Given extends LlmRows<Message.Reply> | LlmHandler<Message.Reply>>(
    given: Given & CheckRows<Given>,
    options?: TableOptions
  ): <M extends AnyModel>(self: M & Fitting<M, TableOf<Given>>) => OnError<M, TableOf<Given>>
  <E, R, const Given extends LlmRows<Message.Reply> | LlmHandler<Message.Reply>>(
    self: Layer.Layer<Model, E, R> & Fitting<Layer.Layer<Model>, TableOf<Given>>,
    given: Given & CheckRows<Given>,
    options?: TableOptions
  ): OnError<Layer.Layer<Model, E, R>, TableOf<Given>>
  <const Given extends LlmRows<Message.Reply> | LlmHandler<Message.Reply>>(
    self: Service,
    given: Given & CheckRows<Given>,
    options?: TableOptions
  ): OnError<Service, TableOf<Given>>
} = dual(
  ([self]) => isModel(self),
  (self: AnyModel, given: object, options: TableOptions = {}) => {
    const rows = rowsAfter(new Map(), given, options)
    if (!isLayer(self)) return guarded(self, rows, options)
    const made = Effect.flatMap(built(self), (model) =>
      Effect.map(Effect.context<never>(), (here) => guarded(model, rows, options, here))
    )
    return explaining(Layer.effect(Model, made), explainsTable(self, rows, options.transport))
  }
)

/** The option of `Model.fallback`. */
interface FallbackOptions {
  /** Whether the next model is called after this failure. It replaces the default. */
  readonly when?: (error: LlmError.LlmError) => boolean
}

/**
 * The layer that `Model.fallback` makes of several layers.
 *
 * @hidden
 */
export type FallbackLayer<Layers extends ReadonlyArray<AnyLayer>> = Layer.Layer<
  Model,
  Layer.Error<Layers[number]>,
  Layer.Services<Layers[number]>
>

type Several<M> = readonly [M, ...Array<M>]

/**
 * Makes one model of several: the next one after a failure. `when` says which failures lead to the next model. By default these are errors
 * whose `recovery` is `fallback` or `resend`, after the transport has given up. A wrong key, a content filter and a conversation that is
 * too long do not go on to the next model. After the first text, thought or call of a stream no other model is called.
 *
 * If several models have failed, the error is that of the last one; `LlmError.reasonsOf` gives all of them in order. The ledger books each
 * attempt under the name and the provider of its model, and `model` of the reply names the model. Each call begins with the first model.
 */
export const fallback: {
  <const M extends Several<Service>>(...models: M): Service
  <const M extends Several<Service>>(...modelsAndOptions: readonly [...models: M, options: FallbackOptions]): Service
  <const M extends Several<AnyLayer>>(...models: M): FallbackLayer<M>
  <const M extends Several<AnyLayer>>(
    ...modelsAndOptions: readonly [...models: M, options: FallbackOptions]
  ): FallbackLayer<M>
} = (...given: ReadonlyArray<AnyModel | FallbackOptions>): never => {
  const models = given.filter(isModel)
  const { when } = given.find((one): one is FallbackOptions => !isModel(one)) ?? {}
  const services = models.filter((one): one is Service => !isLayer(one))
  const ofAll = Effect.map(Effect.forEach(models, built), (all) => inOrder(all, when))
  const made =
    services.length === models.length
      ? inOrder(services, when)
      : explaining(Layer.effect(Model, ofAll), explainsAll(models))
  // the overloads declare the type of this value
  return made as never
}

/**
 * Makes one model of several, by a function. It decides which of them a call asks, in which order, and how often. Each attempt is an event and
 * an entry of the ledger, under the name of its model; two attempts at once are a defect. After the first text, thought or call of a stream no other attempt is made: a later
 * failure does not reach the function. `Model.fallback` is such a model, and emits its decisions besides.
 *
 * @example
 * ```ts
 * import { Agent, Model } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect, Layer } from "effect"
 *
 * const service = (answer: string): Effect.Effect<Model.Service> =>
 *   Effect.provide(Effect.service(Model.Model), ScriptedModel.answering(() => ScriptedModel.text(answer)))
 *
 * const program = Effect.gen(function* () {
 *   const [small, large] = [yield* service("short"), yield* service("long")]
 *   const model = Model.compose([small, large], (ask, { messages }) => ask(messages.length < 10 ? small : large))
 *   return yield* Agent.make("clerk", { model: Layer.succeed(Model.Model, model) })("hi")
 * })
 * await Effect.runPromise(program) // => "short"
 * ```
 */
export const compose = (models: Several<Service>, choose: Choosing): Service => choosing(models, choose)

/**
 * Wraps the calls of a model, or of a model layer. The wrapper is made of Effect combinators, or is a log, a limit or a cache. It runs
 * inside `onLlmError` and around the transport.
 *
 * A function gets each attempt as an effect, and may run it again as `Effect.retry` does. Each attempt is an event and an entry of the
 * ledger, and the cap of a call counts it. The attempt of a stream lasts until its first text, thought or call; the function does not see
 * a later failure.
 *
 * A `Surrounding` has a function for whole replies and one for streams, and sees replies and parts. Its repetitions are booked as one
 * attempt. Around a composed model it surrounds the whole call; the run still books each attempt of the composed models. A copy of the
 * service with another `generate` loses this, and is booked as one model.
 *
 * @example
 * ```ts
 * import { Agent, LlmError, Model } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect, Schedule } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })
 *   const scripted = yield* ScriptedModel.make(ScriptedModel.fails(overloaded), ScriptedModel.text("hello"))
 *   const model = Model.around(scripted.layer, (attempt) => Effect.retry(attempt, Schedule.recurs(1)))
 *   return yield* Agent.make("clerk", { model })("hi")
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => "hello"
 * ```
 */
export const around: {
  (given: Attempting | Surrounding): <M extends AnyModel>(self: M) => Around<M>
  <M extends AnyModel>(self: M, given: Attempting | Surrounding): Around<M>
} = dual(2, (self: AnyModel, given: Attempting | Surrounding): AnyModel => {
  const put = (model: Service) => (typeof given === "function" ? attempting(model, given) : surrounded(model, given))
  if (!isLayer(self)) return put(self)
  const made = Layer.provide(Layer.effect(Model, Effect.map(Model, put)), self)
  return explaining(made, (errors) => {
    const inner = explained(self, errors)
    return typeof given === "function" ? uncounted(inner) : inner
  })
})

/** The type of a model or layer after `Model.around`: a layer keeps its errors and services. */
type Around<M extends AnyModel> = M extends Layer.Layer<Model, infer E, infer R> ? Layer.Layer<Model, E, R> : Service

/**
 * Computes the worst case of one call of a composed model. It counts the attempts of all its models, and the waits of all its tables
 * (`fallback`, `onError`). Nothing runs. Any other model counts as one request. A layer that other functions have transformed is unknown;
 * use its service then: `Effect.map(Model.Model, Model.explain)`.
 */
export const explain = (model: GuardedModel<unknown, unknown> | AnyModel, options: Options = {}): Explanation =>
  over(explained(model, options.errors ?? []), options.transport)

// every layer in this file provides a model
const isLayer = (given: AnyModel | FallbackOptions): given is AnyLayer => Layer.isLayer(given)

const isModel = (given: AnyModel | FallbackOptions): given is AnyModel => isLayer(given) || "generate" in given

/** Builds the model of a layer, for the present scope. A service stays as it is. */
const built = (self: AnyModel): Effect.Effect<Service, unknown, Scope.Scope> =>
  isLayer(self)
    ? // the missing services of the layer are in the type of the result
      Effect.map(Layer.build(self as Layer.Layer<Model, unknown>), (context) => Context.get(context, Model))
    : Effect.succeed(self)
