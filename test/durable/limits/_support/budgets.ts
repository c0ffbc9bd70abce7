/** The storages of shared budgets, each on its own. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SharedBudget } from "@kintsugi/durable"
import { Context, Effect, Layer } from "effect"
import { sqlite } from "../../_support/sqlite.ts"

/** The path of a database, which is removed with the scope. */
export const database = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "kintsugi-limits-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  ),
  (folder) => join(folder, "limits.db")
)

/** The storage of one more connection to a database. */
const connectionTo = (path: string) =>
  Effect.map(Layer.build(Layer.provide(SharedBudget.layerSql, sqlite(path))), (context) =>
    Context.get(context, SharedBudget.SharedBudgets)
  )

/** Makes the storage of three processes: those of SQLite have a connection each. */
export const storages = {
  memory: Effect.map(Layer.build(SharedBudget.layerMemory), (context) => {
    const store = Context.get(context, SharedBudget.SharedBudgets)
    return [store, store, store] as const
  }),
  SQLite: Effect.flatMap(database, (path) =>
    Effect.all([connectionTo(path), connectionTo(path), connectionTo(path)] as const)
  )
}
