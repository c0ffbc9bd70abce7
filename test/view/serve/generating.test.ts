/** Values that are made of schemas, and the stand-in that calls tools with them. */
import { Agent, Tool } from "@kintsugi/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { fitting, randomOf, tagsIn, valueOf } from "../../../packages/view/src/serve/generating.ts"
import { jsonSchemaOf } from "../../../packages/view/src/serve/faults.ts"
import { recordedIn } from "../../../packages/view/src/serve/summary.ts"
import { schemaKinds } from "../../_support/schemaKinds.ts"
import { Locked, StaleIndex } from "./_support/desk.ts"
import { choice, folder, playgroundIn, until } from "./_support/serving.ts"

describe("a value of a schema", () => {
  for (const [kind, [schema]] of Object.entries(schemaKinds)) {
    it(`fits the schema: ${kind} [P1282]`, () => {
      const decode = Schema.decodeUnknownResult(Schema.toCodecJson(schema))
      for (let seed = 0; seed < 20; seed++) {
        const value = fitting(schema, jsonSchemaOf(schema), seed, "value")
        assert.isTrue(Result.isSuccess(decode(value)), JSON.stringify(value))
      }
    })
  }

  it("is the same for the same seed [P1282]", () => {
    const schema = jsonSchemaOf(Schema.Struct({ id: Schema.String, many: Schema.Int, at: Schema.Date }))
    assert.deepStrictEqual(valueOf(schema, randomOf(5)), valueOf(schema, randomOf(5)))
    const numbers = new Set(Array.from({ length: 50 }, (_, seed) => JSON.stringify(valueOf(schema, randomOf(seed)))))
    assert.isAbove(numbers.size, 5)
  })

  it("ends for a schema that refers to itself [P1282]", () => {
    const schema = {
      $ref: "#/$defs/Node",
      $defs: { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } } } }
    }
    assert.isBelow(JSON.stringify(valueOf(schema, randomOf(1))).length, 1000)
    for (const A of [{ $ref: "#/$defs/A" }, { allOf: [{ $ref: "#/$defs/A" }] }])
      assert.deepStrictEqual(valueOf({ $ref: "#/$defs/A", $defs: { A } }, randomOf(1), "a"), "a 63")
  })

  it("has the tags of a union of errors [P1281]", () => {
    assert.deepStrictEqual(tagsIn(jsonSchemaOf(Schema.Union([StaleIndex, Locked]))), ["StaleIndex", "Locked"])
    assert.deepStrictEqual(tagsIn(jsonSchemaOf(Locked)), ["Locked"])
    assert.deepStrictEqual(tagsIn({ properties: { name: { const: "x" } } }), [])
  })
})

describe("the stand-in", () => {
  it.live("calls a tool of each kind of parameters with arguments that fit [P1282]", () =>
    Effect.gen(function* () {
      for (const [kind, [schema]] of Object.entries(schemaKinds)) {
        const got: Array<unknown> = []
        const tool = Tool.make("take", {
          description: kind,
          parameters: Schema.Struct({ value: schema }),
          success: Schema.String,
          run: ({ value }) => Effect.sync(() => String(got.push(value)))
        })
        const playground = yield* playgroundIn(yield* folder, {
          found: { agent: Agent.make("taker", { tools: [tool] }) }
        })
        const id = yield* playground.start(choice())
        const run = yield* until(playground, id, "completed")
        assert.strictEqual(run.healed, 0, kind)
        assert.lengthOf(got, 1, kind)
      }
    }).pipe(Effect.scoped)
  )

  it.live("answers by the schema of an output [P1282]", () =>
    Effect.gen(function* () {
      const agent = Agent.make("teller", { output: Schema.Struct({ cents: Schema.Int, isPaid: Schema.Boolean }) })
      const playground = yield* playgroundIn(yield* folder, { found: { agent } })
      const id = yield* playground.start(choice())
      yield* until(playground, id, "completed")
      const output: unknown = recordedIn(playground.lines(id) ?? []).at(-1)?.["output"]
      assert.hasAllKeys(output, ["cents", "isPaid"])
    }).pipe(Effect.scoped)
  )
})
