/** Stores and caches in memory, and durable runs on an engine in memory. */
import { Agent, Message, Model } from "@kintsugi/core"
import { Conversations, Durable, ReplyCache, SharedBudget } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Context, Effect, Layer, Schema } from "effect"
import { KeyValueStore, Persistence } from "effect/persistence"
import type { Around, Feature } from "../measure.ts"
import { call, calling, look } from "./models.ts"

const of = { conversation: "c", subject: "ann" }

const conversations: Feature = {
  name: "a conversation that is written, forked and removed",
  prepare: () =>
    Effect.gen(function* () {
      const services = yield* Layer.build(
        Layer.provideMerge(Conversations.layerKeyValueStoreOfProcess(), KeyValueStore.layerMemory)
      )
      const store = Context.get(services, Conversations.Conversations)
      const rows = Context.get(services, KeyValueStore.KeyValueStore)
      const use = Effect.gen(function* () {
        yield* store.append({ ...of, expected: 0, messages: [Message.user("a"), Message.user("b")] })
        yield* store.documents.put({ owner: "c", kind: "k", name: "x", value: 1 })
        yield* store.fork({ ...of, as: "d" })
        yield* store.load(of)
        yield* store.remove(of)
        yield* store.removeSubject("ann")
      })
      return { use, entries: Effect.orDie(Effect.map(rows.size, (size) => ({ rows: size }))) }
    })
}

/** One of 50 inputs. */
const inputs = () => {
  let asked = 0
  return () => `question ${asked++ % 50}`
}

const cached: Feature = {
  name: "a cache of replies",
  prepare: () =>
    Effect.gen(function* () {
      const services = yield* Layer.build(Persistence.layerMemory)
      const next = inputs()
      const agent = Agent.make("clerk", { model: ReplyCache.layer(calling(), { tenant: "acme" }) })
      return {
        use: Effect.provide(
          Effect.suspend(() => agent(next())),
          services
        )
      }
    })
}

const budgeted: Feature = {
  name: "a shared budget",
  prepare: () =>
    Effect.gen(function* () {
      const services = yield* Layer.build(SharedBudget.layerMemory)
      const limit = { key: "acme", tokens: 1e9, reserve: 100 }
      const agent = Agent.make("clerk", { model: SharedBudget.layer(calling(), limit) })
      return { use: Effect.provide(agent("go"), services) }
    })
}

/** Durable runs with names of their own. Their engine has each of them for ever. */
const durable = (name: string, isLeft: boolean): Feature => ({
  name,
  isStore: true,
  prepare: (around: Around) =>
    Effect.gen(function* () {
      const agent = Agent.make("clerk", { model: calling(call("look")), tools: [look(around)] })
      const runs = Durable.workflow(agent, { name: "clerk", input: Schema.String, output: Schema.String })
      const services = yield* Layer.build(Layer.provideMerge(runs.layer, Durable.layerMemory))
      let nth = 0
      const use = Effect.suspend(() => {
        const payload = { id: `${nth++}`, input: "go" }
        const asked = Effect.asVoid(runs.workflow.execute(payload))
        return isLeft ? Effect.asVoid(Effect.timeoutOption(asked, 1)) : asked
      })
      return { use: Effect.provide(use, services) }
    })
})

const entity: Feature = {
  name: "a conversation as an entity",
  isStore: true,
  most: 500,
  prepare: (around: Around) =>
    Effect.gen(function* () {
      const agent = Agent.make("clerk", { model: calling(call("look")), tools: [look(around)] })
      const runs = Durable.workflow(Agent.resume(agent), {
        name: "clerk",
        input: ConversationEntity.turn(Schema.String),
        output: Schema.String,
        inbox: true
      })
      const clerks = ConversationEntity.make(runs, { name: "clerks" })
      const services = yield* Layer.build(
        clerks.layer.pipe(
          Layer.provideMerge(ConversationEntity.layerMemory),
          Layer.provideMerge(Conversations.layerMemory())
        )
      )
      let nth = 0
      const use = Effect.suspend(() => {
        const of = { conversation: `c-${nth++}`, subject: "ann", id: "1" }
        return Effect.andThen(
          ConversationEntity.send(clerks, { ...of, message: "hello" }),
          ConversationEntity.answer(clerks, of)
        )
      })
      return { use: Effect.provide(use, services) }
    })
}

/** A layer of a model that is built for each run, and closed with it. */
const provided: Feature = {
  name: "a model that is provided for each run",
  prepare: ({ resource }) =>
    Effect.sync(() => {
      const model = Layer.effect(
        Model.Model,
        Effect.flatMap(resource, () => Effect.map(Layer.build(calling()), Context.get(Model.Model)))
      )
      return { use: Effect.provide(Agent.make("clerk", {})("go"), model) }
    })
}

export const stores: ReadonlyArray<Feature> = [
  conversations,
  cached,
  budgeted,
  durable("a durable run", false),
  durable("a durable run whose caller leaves", true),
  entity,
  provided
]
