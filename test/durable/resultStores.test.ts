/** Long results, in stores that outlive a process. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Agent, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { ResultStores } from "@kintsugi/durable"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { layerMemory } from "effect/persistence/KeyValueStore"
import { SqlClient } from "effect/sql/SqlClient"
import { batch, done, read, settlements } from "../_support/dialogue.ts"
import { sqlite } from "./_support/sqlite.ts"

/** A database in a file, which is removed with the scope. */
const file = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "kintsugi-results-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  ),
  (folder) => join(folder, "results.db")
)

/** The store of one process that has the database open. */
const processOn = (path: string, options?: Parameters<typeof ResultStores.layerSql>[0]) =>
  Effect.map(Layer.build(ResultStores.layerSql(options).pipe(Layer.provideMerge(sqlite(path)))), (context) => ({
    store: Context.get(context, Tool.ResultStore),
    sql: Context.get(context, SqlClient)
  }))

/** What a store has to do: the first text of a handle stays, and each owner has its own. */
const holds = (store: Tool.ResultStore | undefined) =>
  Effect.gen(function* () {
    assert(store !== undefined)
    const key = { owner: "run 'a'/ü\uD800", handle: "h-0" }
    assert.isUndefined(yield* store.get(key))
    yield* store.put({ ...key, text: "long 😀" })
    yield* store.put({ ...key, text: "long 😀" })
    assert.strictEqual(yield* store.get(key), "long 😀")
    assert.isUndefined(yield* store.get({ ...key, owner: "run" }))
    assert.isUndefined(yield* store.get({ ...key, handle: "h-1" }))
  })

it.effect("a table has results for all processes, under a name that can be chosen [P1537]", () =>
  Effect.gen(function* () {
    const path = yield* file
    const { sql, store } = yield* processOn(path, { table: "long" })
    yield* holds(store)
    const rows = yield* sql`SELECT handle, text, put_at FROM long`
    assert.deepStrictEqual(
      rows.map((row) => ({ ...row })),
      [{ handle: "h-0", text: "long 😀", put_at: yield* Clock.currentTimeMillis }]
    )
    const other = yield* processOn(path, { table: "long" })
    yield* other.store?.put({ owner: "b", handle: "h", text: "t" }) ?? Effect.void
    assert.strictEqual(yield* store?.get({ owner: "b", handle: "h" }) ?? Effect.void, "t")
  })
)

it.effect("a key-value store has results too, and a run reads them from there [P1537]", () =>
  Effect.gen(function* () {
    yield* holds(yield* Tool.ResultStore)
    const tool = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      putAside: Tool.putAside({ above: 10 }),
      run: () => Effect.succeed("0123456789abcdef")
    })
    const model = yield* ScriptedModel.make(
      batch("look"),
      ScriptedModel.answers(({ messages }) => {
        const handle = /handle: "([^"]+)"/.exec(settlements(messages).join())?.[1] ?? ""
        return Effect.succeed(
          ScriptedModel.reply({ content: [ScriptedModel.call("read_result", { handle, from: 10 }, "r")] })
        )
      }),
      done
    )
    yield* Agent.make("clerk", { tools: [tool] })("go").pipe(Effect.provide(model.layer))
    assert.include(read(model)[1], "result: abcdef")
  }).pipe(Effect.provide(ResultStores.layerKeyValueStore), Effect.provide(layerMemory))
)
