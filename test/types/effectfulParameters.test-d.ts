/** Schemas of parameters that need services: the tool needs them, and what is made of it. */
import { type Model, Tool } from "@kintsugi/core"
import { Effect, Schema, SchemaGetter } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import { type BadArgs, call, Db, Mail, type Own } from "./_support/subjects.ts"

const Row = Schema.String.pipe(
  Schema.decodeTo(Schema.Finite, {
    decode: SchemaGetter.transformEffect(() => Effect.map(Db, ({ rows }) => rows)),
    encode: SchemaGetter.transform(String)
  })
)

describe("services of decoding", () => {
  const options = { description: "d", parameters: Schema.Struct({ row: Row }), success: Schema.Finite }
  it("are in the needs of the tool, beside those of run [P1310]", () => {
    const tool = Tool.make("t", { ...options, run: ({ row }) => Effect.map(Mail, ({ sent }) => sent + row) })
    sameType<Tool.Tool<"t", { readonly row: number }, number, never, Db | Mail>>()(tool)
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model | Db | Mail>>()(call(tool))
    const lifted = Tool.fromFunction("t", { ...options, run: ({ row }) => row })
    sameType<Db>()(undefined as never as Tool.ServicesOf<typeof lifted>)
  })
})

describe("the scope of an attempt", () => {
  it("is no need of the tool, and what else its resources need is [P1322]", () => {
    const acquired = Effect.acquireRelease(Mail, () => Effect.asVoid(Db))
    const tool = Tool.make("t", {
      description: "d",
      parameters: Schema.Struct({}),
      success: Schema.Finite,
      run: () => Effect.map(acquired, ({ sent }) => sent)
    })
    sameType<Tool.Tool<"t", {}, number, never, Db | Mail>>()(tool)
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model | Db | Mail>>()(call(tool))
  })
})
