import { assert, describe, it } from "@effect/vitest"
import { ToolError } from "@kintsugi/core"
import { stackless } from "../../../packages/core/src/errors/stackless.ts"

const framesOf = (error: Error): number => (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line)).length

describe("errors about what a model has sent", () => {
  it("have no stack trace, as Effect's own SchemaError", () => {
    const errors = [
      ToolError.InvalidArgs.make({ tool: "add", callId: "c1", rawArgs: "{", parseError: "it ends too early" }),
      ToolError.DeserializationError.make({
        tool: "add",
        callId: "c1",
        rawValue: {},
        targetType: "add parameters",
        issues: []
      }),
      ToolError.UnknownToolError.make({ tool: "sub", callId: "c1", available: ["add"] })
    ]
    assert.deepStrictEqual(
      errors.map((error) => [framesOf(error), error.stack?.includes(error.message)]),
      errors.map(() => [0, true])
    )
  })

  it("are made as any other where the runtime has no limit", () => {
    const { stackTraceLimit } = Error
    Reflect.deleteProperty(Error, "stackTraceLimit")
    try {
      assert.isUndefined(stackless(() => Error.stackTraceLimit))
      assert.notProperty(Error, "stackTraceLimit")
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
    assert.strictEqual(
      stackless(() => Error.stackTraceLimit),
      0
    )
  })

  it("leave all other errors as they are, also where making one throws", () => {
    const { stackTraceLimit } = Error
    assert.strictEqual(
      stackless(() => 1),
      1
    )
    assert.throws(
      () =>
        stackless(() => {
          throw new TypeError("no")
        }),
      "no"
    )
    assert.strictEqual(Error.stackTraceLimit, stackTraceLimit)
    assert.isAbove(framesOf(new Error("here")), 0)
  })
})
