/** The definition that the options of a tool make. */
import { assert, it } from "@effect/vitest"
import { type Coercion, Tool } from "@kintsugi/core"
import { Effect, Result, Schema } from "effect"

const options = {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("seen")
}

it("an option that is no number, or no duration, is refused with the tool and the option", () => {
  const refused: ReadonlyArray<readonly [given: object, message: string]> = [
    [{ timeout: 0 }, "Tool 'look': timeout must be a finite duration above 0, got 0"],
    [{ callTimeout: "0 seconds" }, "Tool 'look': callTimeout must be a finite duration above 0, got 0 seconds"],
    [{ callTimeout: Infinity }, "Tool 'look': callTimeout must be a finite duration above 0, got Infinity"],
    [{ maxCalls: 0 }, "Tool 'look': maxCalls must be a whole number of at least 1, got 0"],
    [{ maxCalls: 1.5 }, "Tool 'look': maxCalls must be a whole number of at least 1, got 1.5"],
    [{ maxResultChars: -1 }, "Tool 'look': maxResultChars must be a whole number of at least 0, got -1"],
    [{ maxResultChars: 0.5 }, "Tool 'look': maxResultChars must be a whole number of at least 0, got 0.5"]
  ]
  for (const [given, message] of refused)
    assert.throws(() => Tool.make("look", { ...options, ...given }), RangeError, message)
  assert.strictEqual(Tool.make("look", { ...options, maxResultChars: 0 }).definition.maxResultChars, 0)
  assert.throws(
    () => Tool.make("look", options).pipe(Tool.requireApproval({ validFor: 0 })),
    RangeError,
    "Tool 'look': validFor must be a finite duration above 0, got 0"
  )
})

it("a tool that does not drop empty arguments says so to the wire", () => {
  const keepsNulls = (coercion?: ReadonlyArray<Coercion.CoercionStep>) =>
    Tool.make("look", { ...options, ...(coercion === undefined ? {} : { coercion }) }).definition.spec().keepsNulls
  assert.deepStrictEqual(
    [keepsNulls(), keepsNulls(["drop-empty"]), keepsNulls([]), keepsNulls(["unwrap-json"])],
    [undefined, undefined, true, true]
  )
})

it("a text that replaces a result is read as JSON, and as bare text where JSON does not fit", () => {
  const read = (success: Schema.Codec<unknown, unknown>, text: string) =>
    Result.match(Tool.make("look", { ...options, success, run: () => Effect.never }).definition.decodeResult(text), {
      onSuccess: (value) => ({ value }),
      onFailure: (issues) => issues
    })
  assert.deepStrictEqual(read(Schema.String, '"seen"'), { value: "seen" })
  assert.deepStrictEqual(read(Schema.String, "seen"), { value: "seen" })
  assert.deepStrictEqual(read(Schema.String, "5"), { value: "5" })
  assert.deepStrictEqual(read(Schema.Struct({ a: Schema.Finite }), '{"a":1}'), { value: { a: 1 } })
  assert.deepStrictEqual(read(Schema.Struct({ a: Schema.Finite }), '{"a":"x"}'), [
    { path: ["a"], expected: "Expected number", actual: 'string "x"' }
  ])
  assert.deepStrictEqual(read(Schema.Finite, "x"), [{ path: [], expected: "Expected number", actual: 'string "x"' }])
})

it("a tool needs approval for the reason that is given, or for one that names it", () => {
  const reason = (given?: string) =>
    Tool.make("look", options).pipe(Tool.requireApproval(given === undefined ? {} : { reason: given })).definition
      .approval?.reason
  assert.deepStrictEqual([reason(), reason("it costs")], ["Tool 'look' runs only with approval", "it costs"])
})
