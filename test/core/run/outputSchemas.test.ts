/** What a model is asked for by the root of an output's JSON Schema, where that root refers to a definition. */
import { assert, it } from "@effect/vitest"
import * as RawSchema from "@kintsugi/core/RawSchema"
import { Schema } from "effect"
import * as Output from "../../../packages/core/src/run/Output.ts"

const wantedOf = (schema: Schema.Codec<unknown, unknown>) => {
  const wanted = Output.make("clerk", schema).wanted()
  return wanted.kind === "json" ? wanted.shape : wanted.kind
}

it("a text, a list or an object is wanted, as the definition says to which the root refers [P301]", () => {
  const named = (type: string) => ({ $ref: "#/$defs/It", $defs: { It: { type } } })
  const odd = { $ref: "#/$defs/a~1b%20c", $defs: { "a/b c": { type: "string" } } }
  const shapes: ReadonlyArray<readonly [RawSchema.RawSchema, string]> = [
    [{ type: "string" }, "text"],
    [{ type: "array" }, "list"],
    [{ type: "object" }, "object"],
    [{}, "object"],
    [named("string"), "text"],
    [named("array"), "list"],
    [named("object"), "object"],
    [odd, "text"],
    // what refers to nothing is taken as it is
    [{ $ref: "#/$defs/It" }, "object"],
    [{ type: "string", $ref: "#/$defs/It", $defs: {} }, "text"],
    [{ type: "string", $ref: "#/$defs/It", $defs: { It: null } }, "text"],
    [{ type: "string", $ref: "#/$defs/It", $defs: { It: [] } }, "text"],
    [{ type: "string", $ref: "#/$defs/It", $defs: null }, "text"],
    [{ type: "string", $ref: "#/$defs/0", $defs: [{ type: "array" }] }, "text"]
  ]
  for (const [json, wanted] of shapes)
    assert.strictEqual(wantedOf(RawSchema.shownAs(Schema.Unknown, json)), wanted, JSON.stringify(json))
})
