/** What a tool is as a value, for other copies of this library too. */
import { assert, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import { TypeId } from "../../../packages/core/src/tool/shape.ts"

it("a tool is known by a symbol that all copies of this library share, and shows what it is [P301]", () => {
  const tool = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects: "unsafe",
    run: () => Effect.succeed("paid")
  })
  assert.strictEqual(Symbol.keyFor(TypeId), "~@kintsugi/core/Tool")
  const shown = { _id: "Tool", name: "pay", description: "Pays.", kind: "local", sideEffects: "unsafe" }
  assert.deepStrictEqual<unknown>(JSON.parse(JSON.stringify(tool)), shown)
})
