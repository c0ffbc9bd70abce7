/** The layers of the store of conversations, each on a storage of its own. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Message } from "@kintsugi/core"
import { Conversations } from "@kintsugi/durable"
import { Context, Effect, Layer } from "effect"
import { layerMemory } from "effect/persistence/KeyValueStore"
import { sqlite } from "../../_support/sqlite.ts"

export const textOf = (message: Message.Message): string =>
  message.role === "system" ? message.text : Message.textOf(message)

/** A database in a file, which is removed with the scope. */
export const file = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "kintsugi-conversations-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  ),
  (folder) => join(folder, "conversations.db")
)

/** The store of a connection of its own to this file. */
export const connectionTo = (path: string, limits?: Conversations.StoreLimits) =>
  Effect.map(Layer.build(Layer.provideMerge(Conversations.layerSql(limits), sqlite(path))), (context) =>
    Context.get(context, Conversations.Conversations)
  )

const built = (layer: Layer.Layer<Conversations.Conversations>) =>
  Effect.map(Layer.build(layer), (context) => Context.get(context, Conversations.Conversations))

/** Makes the store of a storage, which is gone with the scope. */
export const stores = {
  memory: (limits?: Conversations.StoreLimits) =>
    Effect.map(built(Conversations.layerMemory(limits)), (store) => store),
  "a key-value store": (limits?: Conversations.StoreLimits) =>
    Effect.map(built(Layer.provide(Conversations.layerKeyValueStoreOfProcess(limits), layerMemory)), (store) => store),
  SQLite: (limits?: Conversations.StoreLimits) =>
    Effect.flatMap(file, (path) => Effect.map(connectionTo(path, limits), (store) => store))
}
