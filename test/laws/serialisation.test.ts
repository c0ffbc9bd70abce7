import { assert, describe } from "@effect/vitest"
import { Approval, Completion, KintsugiError, LlmError, RunError, ToolError } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import { Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { classes, instances, isMisread, jsonOf, lawOf, readAs, shape, shapeOf } from "../_support/errors.ts"

const unions: ReadonlyArray<Schema.Codec<unknown, unknown>> = [
  LlmError.LlmError,
  ToolError.ToolError,
  ToolError.AroundToolError,
  RunError.RunError,
  DoorError.DoorError,
  KintsugiError.KintsugiError
]

describe("[L1101]", () => {
  for (const tag of RecoveryAdvice.tags) {
    lawOf(
      `${tag} comes back from JSON text as it was, with any fields and causes [L1101 T6]`,
      Arbitrary.filter(instances(tag), (error) => !isMisread(jsonOf(classes[tag] ?? Schema.Never, error))),
      (error) => {
        const schema = classes[tag] ?? Schema.Never
        const text = jsonOf(schema, error)
        const back = readAs(schema, text)
        assert.deepStrictEqual(shapeOf(back as typeof error), shapeOf(error))
        assert.strictEqual(jsonOf(schema, back), text)
        const members = unions.filter((union) => Schema.is(union)(error))
        assert.isAtLeast(members.length, 2)
        for (const union of members) {
          assert.strictEqual(jsonOf(union, error), text)
          assert.deepStrictEqual(shapeOf(readAs(union, text) as typeof error), shapeOf(error))
        }
        // what a log writes can be read again
        const logged = readAs(KintsugiError.KintsugiError, JSON.stringify(error))
        assert.deepStrictEqual(shapeOf(logged as typeof error), shapeOf(error))
      }
    )
  }

  for (const [name, schema] of [
    ["Completion", Completion.Completion],
    ["Approval.ApprovalRequest", Approval.ApprovalRequest],
    ["Problem", KintsugiError.Problem]
  ] as const) {
    lawOf(
      `${name} comes back from JSON text as it was [L1101 T6]`,
      Arbitrary.filter(Arbitrary.schema(schema as Schema.Codec<object>), (value) => !isMisread(jsonOf(schema, value))),
      (value) => {
        const text = jsonOf(schema, value)
        const back = readAs(schema, text)
        assert.deepStrictEqual(shape({ ...(back as object) }), shape({ ...value }))
        assert.strictEqual(jsonOf(schema, back), text)
      }
    )
  }
})
