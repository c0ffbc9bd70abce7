/**
 * Answers a request that a model has answered before from a cache: for tests of whole programs, for batches that run again, and for
 * questions that many users ask. No model has this unless you ask for it.
 */
import * as Redaction from "@kintsugi/core/Redaction"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Persistable from "effect/persistence/Persistable"
import * as Persistence from "effect/persistence/Persistence"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type LlmError, Message, Model, Tool, Usage } from "@kintsugi/core"

/** What a cache of replies may do. */
export interface CacheOptions {
  /**
   * Whose replies these are: one tenant never reads a reply of another. An effect is run for each call, so it can read a `Context.Reference`
   * of the request that your backend serves. Without a name, a call dies with a `TypeError`; give all users one name if they may share replies.
   */
  readonly tenant: string | Effect.Effect<string>
  /**
   * Tells models of the same name apart whose layers have other options, such as the temperature, a base URL or a search of the provider: the
   * cache sees only their requests.
   */
  readonly options?: Schema.Json
  /** How long a reply counts; one day by default. */
  readonly timeToLive?: Duration.Input
  /**
   * Whether a request is answered from the cache although its conversation has tool calls: with `true`, or if these tools alone were called.
   * By default it is not, because the reply of a model after a call may stand for something that was done once. Calls that a compaction has
   * left out count too.
   */
  readonly afterTools?: boolean | ReadonlyArray<string>
}

class CachedReply extends Persistable.Class<{ payload: { key: string } }>()("CachedReply", {
  primaryKey: ({ key }) => key,
  success: Message.Reply
}) {}

/**
 * Puts a cache before a model. The key is the provider, the model, your `options`, the tenant and the whole request. A reply from the cache is booked with 0
 * tokens and costs nothing; a stream gives its parts at once. Only replies that came to their end are kept: no failure, no reply that was cut
 * off, filtered, paused or empty, and none with work of the provider. A request for a background reply goes to the model.
 *
 * The store is Effect's `Persistence`: `Persistence.layerMemory`, `layerKvs`, `layerRedis` or `layerSql`. A store that fails is logged, and
 * the model is asked. Of a fallback, cache each model rather than the whole, so that each reply keeps its name.
 *
 * Throws a `RangeError` for a `timeToLive` that is no duration above 0, and a `TypeError` for a tenant without a name.
 *
 * @example
 * ```ts
 * import { Agent } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { ReplyCache } from "@kintsugi/durable"
 * import { Effect } from "effect"
 * import { Persistence } from "effect/persistence"
 *
 * const program = Effect.gen(function* () {
 *   const scripted = yield* ScriptedModel.make(ScriptedModel.text("Oslo"))
 *   const clerk = Agent.make("clerk", { model: ReplyCache.layer(scripted.layer, { tenant: "acme" }) })
 *   return [yield* clerk("The capital of Norway?"), yield* clerk("The capital of Norway?")]
 * })
 * await Effect.runPromise(Effect.scoped(Effect.provide(program, Persistence.layerMemory))) // => ["Oslo", "Oslo"]
 * ```
 */
export const layer = <E, R>(
  model: Layer.Layer<Model.Model, E, R>,
  options: CacheOptions
): Layer.Layer<Model.Model, E, R | Persistence.Persistence> => {
  const timeToLive = lifeOf(options.timeToLive)
  if (!Effect.isEffect(options.tenant)) named(options.tenant)
  const cached = Effect.gen(function* () {
    const persistence = yield* Persistence.Persistence
    const store = yield* persistence.make({ storeId: "kintsugi_replies", timeToLive: () => timeToLive })
    return Model.around(yield* Model.Model, surrounding(store, options))
  })
  return Layer.provide(Layer.effect(Model.Model, cached), model)
}

const lifeOf = (given: Duration.Input = Duration.days(1)): Duration.Duration => {
  const life = Duration.fromInputUnsafe(given)
  if (Duration.isGreaterThan(life, Duration.zero)) return life
  throw new RangeError(`ReplyCache: timeToLive must be a duration above 0, got ${Duration.format(life)}`)
}

/** The name of a tenant. Requests without one, such as those whose header is missing, would share their replies. */
const named = (tenant: unknown): string => {
  if (Predicate.isString(tenant) && tenant !== "") return tenant
  throw new TypeError(
    `ReplyCache: tenant must be a text that is not empty, got ${Predicate.isString(tenant) ? "an empty one" : typeof tenant}`
  )
}

type Surrounding = Exclude<Parameters<typeof Model.around>[1], (...given: ReadonlyArray<never>) => unknown>

const surrounding = (
  store: Persistence.PersistenceStore,
  { afterTools = false, options: ofLayer = null, tenant }: CacheOptions
): Surrounding => {
  /** The key of a request; `undefined` for one that is not cached. */
  const keyOf = (request: Model.Request, { name, provider }: Model.Service): Effect.Effect<CachedReply | undefined> =>
    request.background !== undefined || !mayRepeat(request.uncompacted ?? request.messages, afterTools)
      ? Effect.undefined
      : Effect.gen(function* () {
          const whose = named(Predicate.isString(tenant) ? tenant : yield* tenant)
          const { messages, options, output, providerCalls, toolChoice, tools } = request
          const asked = { messages, options, output, providerCalls, toolChoice, tools }
          // a request is what a codec writes as JSON
          const json = JSON.parse(JSON.stringify([provider, name, ofLayer, whose, asked])) as Schema.Json
          return new CachedReply({ key: yield* Tool.digestOf(json) })
        })
  const find = (key: CachedReply): Effect.Effect<Message.Reply | undefined> =>
    Effect.map(quietly(store.get(key)), (exit) =>
      exit !== undefined && Exit.isSuccess(exit) ? free(exit.value) : undefined
    )
  const keep = (key: CachedReply, reply: Message.Reply | undefined): Effect.Effect<void> =>
    reply !== undefined && (reply.finish === "stop" || reply.finish === "tool-calls") && isWhole(reply)
      ? Effect.asVoid(quietly(store.set(key, Exit.succeed(reply))))
      : Effect.void
  return {
    generate: (reply, request, model) =>
      Effect.flatMap(keyOf(request, model), (key) =>
        key === undefined
          ? reply
          : Effect.flatMap(find(key), (found) =>
              found === undefined ? Effect.tap(reply, (made) => keep(key, made)) : Effect.succeed(found)
            )
      ),
    stream: (parts, request, model) =>
      Stream.unwrap(
        Effect.flatMap(keyOf(request, model), (key) =>
          key === undefined
            ? Effect.succeed(parts)
            : Effect.map(find(key), (found) =>
                found === undefined ? kept(parts, (reply) => keep(key, reply)) : Stream.fromArray(Model.partsOf(found))
              )
        )
      )
  }
}

/** The parts of a stream, whose reply is kept before its last part goes on: later parts are not read. */
const kept = (
  parts: Stream.Stream<Model.Part, LlmError.LlmError>,
  keep: (reply: Message.Reply | undefined) => Effect.Effect<void>
): Stream.Stream<Model.Part, LlmError.LlmError> =>
  Stream.suspend(() => {
    const collector = new Model.Collector()
    return Stream.tap(parts, (part) => {
      collector.push(part)
      return part.type === "finish" ? keep(collector.reply()) : Effect.void
    })
  })

/**
 * Whether a reply may stand for another one: it says something, and no work of the provider is in it, which was done once and belongs to one
 * conversation.
 */
const isWhole = ({ content }: Message.Reply): boolean =>
  content.some((part) => part.type === "tool-call" || (part.type === "text" && part.text !== "")) &&
  content.every((part) => part.type !== "provider-item")

/** Whether the calls in a conversation allow that a reply comes from a cache. */
const mayRepeat = (messages: Message.Transcript, afterTools: NonNullable<CacheOptions["afterTools"]>): boolean =>
  afterTools === true ||
  messages.every(
    (message) =>
      message.role === "system" ||
      (message.role === "user"
        ? message.lateResult === undefined || isAmong(message.lateResult.tool, afterTools)
        : message.content.every((part) => mayFollow(part, afterTools)))
  )

/** Whether a reply behind this part may come from a cache. Work of a provider is a call of a tool whose name is its kind. */
const mayFollow = (part: Message.Assistant["content"][number], afterTools: Admitted): boolean =>
  (part.type !== "settled-call" && part.type !== "provider-item") ||
  isAmong(part.type === "provider-item" ? part.kind : Tool.callOf(part.call).name, afterTools)

type Admitted = Exclude<CacheOptions["afterTools"], true | undefined>

const isAmong = (name: string, afterTools: Admitted): boolean => afterTools !== false && afterTools.includes(name)

/** A reply as it is booked when it comes from the cache: nothing was used, and no request was made. */
const free = ({ content, finish, model }: Message.Reply): Message.Reply => ({
  content,
  finish,
  usage: Usage.empty,
  cost: 0,
  ...(model === undefined ? {} : { model })
})

/** The store is a help: if it fails, the model is asked. */
const quietly = <A, E>(step: Effect.Effect<A, E>): Effect.Effect<A | undefined> =>
  Effect.matchEffect(step, {
    onSuccess: (found) => Effect.succeed(found),
    onFailure: (error) =>
      Effect.as(
        Effect.logWarning("The cache of replies cannot be used", { error: Redaction.foreign(String(error)) }),
        undefined
      )
  })
