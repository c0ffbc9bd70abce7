/** What a run reads of the rows that its engine stores. */
import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { PersistenceError } from "effect/cluster/ClusterError"
import * as MessageStorage from "effect/cluster/MessageStorage"
import { rowsOf } from "../../packages/durable/src/rows.ts"
import { workflow } from "./_support/rows.ts"

const away = Effect.fail(new PersistenceError({ cause: new Error("Connection closed") }))

/** The rows of a run in a storage that answers so. */
const rowsIn = (storage: object) =>
  Effect.flatMap(rowsOf(workflow, "run"), (rows) =>
    rows === undefined ? Effect.die("no rows") : Effect.succeed(rows)
  ).pipe(
    // a storage with only what is read
    Effect.provideService(MessageStorage.MessageStorage, storage as MessageStorage.MessageStorage["Service"])
  )

it.effect("a message is in a storage that has its id, and in none that cannot be read [P1398]", () =>
  Effect.gen(function* () {
    const asked: Array<unknown> = []
    const has = yield* rowsIn({
      requestIdForPrimaryKey: (key: { readonly id: string }) =>
        Effect.sync(() => {
          asked.push(key)
          return key.id === "there" ? Option.some(1n) : Option.none()
        })
    })
    assert.deepStrictEqual([yield* has.has("activity", "there"), yield* has.has("run", "gone")], [true, false])
    const address = { entityType: "Workflow/story", entityId: "run" }
    assert.deepStrictEqual(asked, [
      { address, tag: "activity", id: "there" },
      { address, tag: "run", id: "gone" }
    ])
    const cannot = yield* rowsIn({ requestIdForPrimaryKey: () => away })
    assert.isFalse(yield* cannot.has("activity", "there"))
    assert.isFalse(yield* cannot.isLost("activity", "there"))
    assert.isUndefined(yield* rowsOf(workflow, "run"))
  })
)
