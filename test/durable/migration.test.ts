/** What becomes of the arguments of one recorded call. */
import { assert, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Result, Schema } from "effect"
import { migratedArguments, migratedCalls } from "../../packages/durable/src/migrating.ts"
import { processOfReplays, spendingRun } from "./_support/replays.ts"

const endorse = Tool.make("endorse", {
  description: "Signs.",
  parameters: Schema.Struct({ ids: Schema.Array(Schema.String) }),
  success: Schema.String,
  run: () => Effect.succeed("signed")
})

const Old = Schema.Struct({ id: Schema.optionalKey(Schema.String), sum: Schema.optionalKey(Schema.Finite) })

const sign = Durable.migrateCall({
  from: { tool: "sign", parameters: Old },
  to: endorse,
  migrate: ({ id = "none" }) => {
    if (id === "throw") throw new Error("no such id")
    // what a migration in JavaScript may give
    return { ids: id === "bad" ? ([7] as never) : [id] }
  }
})

it.each([
  [{ id: "A" }, { ids: ["A"] }, []],
  ['{"id":"A"}', { ids: ["A"] }, []],
  ["", { ids: ["none"] }, []],
  [null, { ids: ["none"] }, []],
  // a number that the earlier tool took as a text, and one that it took as a number from a text
  ['{"id":7.10}', { ids: ["7.10"] }, ["7.10"]],
  [{ id: "A", sum: "5" }, { ids: ["A"] }, []],
  // neither tool can read these
  ["{", "{", []],
  [{ id: [1] }, { id: [1] }, []]
] as ReadonlyArray<readonly [Schema.Json, Schema.Json, ReadonlyArray<string>]>)(
  "the arguments %j become %j [P1714]",
  (given, args, numbers) => {
    assert.deepStrictEqual(sign.migrate(given), Result.succeed({ arguments: args, numbers }))
  }
)

it.each([
  [{ ids: ["A"] }, "ids", "Expected no excess property"],
  [{ id: "bad" }, "ids.0", "Expected string"],
  [{ id: "throw" }, "", "migrate threw: no such id"]
] as ReadonlyArray<readonly [Schema.Json, string, string]>)(
  "the arguments %j do not fit at '%s' [P1714]",
  (given, field, expected) => {
    const made = sign.migrate(given)
    assert.isTrue(Result.isFailure(made) && made.failure.field === field, JSON.stringify(made))
    assert.isTrue(Result.isFailure(made) && made.failure.expected.startsWith(expected), JSON.stringify(made))
  }
)

const migrations = [{ calls: [sign] }, {}]

it.effect("calls of a reply that was recorded before a migration are migrated once, and recorded [P1714]", () =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    const { run } = spendingRun()
    const calls = [
      { type: "tool-call", id: "1", name: "sign", arguments: { id: "A" } },
      { type: "tool-call", id: "2", name: "look", arguments: {} }
    ] as const
    const on = (replies: object) => migratedCalls(replay({ migrations, replies }))(run, calls)
    assert.deepStrictEqual(yield* on(new Map()), [])
    // the reply came after the migration of this tool
    assert.deepStrictEqual(yield* on(new Map([["r", { step: "s", revision: 1 }]])), [])
    assert.deepStrictEqual(stored(), {})
    const signed = { name: "endorse", arguments: { ids: ["A"] }, numbers: [] }
    for (let nth = 0; nth < 2; nth++) {
      assert.deepStrictEqual(yield* on(new Map([["r", { step: "s", revision: 0 }]])), [signed, undefined])
    }
    assert.deepStrictEqual(stored(), { "s/migrated/2": { calls: [signed, null] } })
  })
)

it.effect("arguments that a person has edited are migrated with the reply of their call, or stay [P1714]", () =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    const of = { runId: "r", step: "decided", tool: "sign" }
    const replies = new Map([["r", { step: "s", revision: 0 }]])
    const edited = { id: "B" }
    assert.deepStrictEqual<unknown>(yield* migratedArguments(replay({ migrations, replies }), of, edited), {
      ids: ["B"]
    })
    assert.deepStrictEqual(Object.keys(stored()), ["decided/migrated/2"])
    const other = { ...of, step: "other", tool: "look" }
    assert.strictEqual<unknown>(yield* migratedArguments(replay({ migrations, replies }), other, edited), edited)
    assert.strictEqual<unknown>(
      yield* migratedArguments(replay({ migrations }), { ...of, step: "late" }, edited),
      edited
    )
    assert.deepStrictEqual(Object.keys(stored()), ["decided/migrated/2"])
  })
)
