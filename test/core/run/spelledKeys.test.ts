/** Idempotency keys of calls whose numbers have more than one spelling, or are no numbers of JavaScript. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema, SchemaGetter } from "effect"
import { agentWith, done } from "../../_support/dialogue.ts"
import { type Runner, it } from "../../_support/run.ts"

const { call, calls, make } = ScriptedModel

/** A text whose schema has to wait. */
const Later = Schema.String.pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transformEffect((text: string) => Effect.as(Effect.yieldNow, text)),
    encode: SchemaGetter.transform(String)
  })
)

/** What the tool gets of each of these arguments, and the keys: each in a run of its own with the same id. */
const paidBy = (
  run: Runner,
  id: Schema.Codec<unknown, unknown>,
  written: ReadonlyArray<string>,
  more: Schema.Codec<unknown, unknown> = Schema.Unknown
) =>
  Effect.gen(function* () {
    const got: Array<unknown> = []
    const keys: Array<string> = []
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ id, more: Schema.optionalKey(more) }),
      success: Schema.String,
      run: ({ id }, { idempotencyKey }) =>
        Effect.sync(() => {
          got.push(id)
          keys.push(idempotencyKey)
          return "paid"
        })
    }).pipe(Tool.onError({ InvalidArgs: Recovery.tell(), DeserializationError: Recovery.tell() }))
    for (const args of written) {
      const model = yield* make(calls(call("pay", args, "c")), done)
      yield* run(agentWith(pay).pipe(Agent.withRunId("order-7")), "go").pipe(Effect.provide(model.layer))
    }
    return { got, keys }
  })

const idOf = (spelled: string) => `{"id":${spelled}}`

it.run("calls have different keys wherever the text that the tool gets of a number differs [P1502]", (run) =>
  Effect.gen(function* () {
    const spellings = [
      "12345678901234567890",
      "12345678901234567891",
      "1e400",
      "1e401",
      "1",
      "1.0",
      "1.1",
      "1.10",
      "1e0"
    ]
    const written = spellings.map((spelled) => `{"id":${spelled},"more":"b"}`)
    for (const more of [Schema.String, Later]) {
      const { got, keys } = yield* paidBy(run, Schema.String, written, more)
      assert.deepStrictEqual(got, spellings)
      assert.strictEqual(new Set(keys).size, spellings.length)
    }
  })
)

it.run("a number that the tool gets as a number has one key in all its spellings [P1502]", (run) =>
  Effect.gen(function* () {
    const { got, keys } = yield* paidBy(run, Schema.Finite, ["5", "5.0", "50e-1", '5 ,"id":5.00'].map(idOf))
    assert.deepStrictEqual(got, [5, 5, 5, 5])
    assert.strictEqual(new Set(keys).size, 1)
    const signed = yield* paidBy(run, Schema.Finite, ["0", "-0"].map(idOf))
    assert.strictEqual(new Set(signed.keys).size, 2)
  })
)

it.run("where a number is counts, the order of the fields and the space between them do not [P1502]", (run) =>
  Effect.gen(function* () {
    const written = [
      '{"id":1e400,"more":12345678901234567890}',
      ' { "more": 12345678901234567890, "id": 1e400 }',
      '{"id":12345678901234567890,"more":1e400}',
      '{"id":"1e400","more":12345678901234567890}',
      '{"id":"1e400","more":"12345678901234567890"}'
    ]
    const { keys } = yield* paidBy(run, Schema.String, written, Schema.String)
    assert.strictEqual(keys[0], keys[1])
    assert.strictEqual(new Set(keys).size, 4)
  })
)

it.run("ordinary arguments keep the keys that they have always had [P1502]", (run) =>
  Effect.gen(function* () {
    const { keys } = yield* paidBy(run, Schema.Unknown, [
      '{"id":"a1.0","more":[1,-2.5,1e+21,0.1,null,true]}',
      '{"id":1.0}'
    ])
    assert.deepStrictEqual(keys, ["c0c288c2d076df8ef33b3ef117e91655-0", "9f087a85bfddcd6827543948ca94ef50-0"])
  })
)
