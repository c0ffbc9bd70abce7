/** Schemas for what a model is asked for, and for results that are shown in words of their own. */
import type * as Model from "@kintsugi/core/Model"
import * as RawSchema from "@kintsugi/core/RawSchema"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { remembering } from "../codec/Remembering.ts"

const whole = remembering(RawSchema.whole)

/**
 * What the final text has to be, for a model that can be held to it. `effect/ai` gives up a reply with calls then, for it has no
 * text: so not where there are tools.
 */
export const schemaOf = ({ output, tools }: Model.Request): ObjectSchema | undefined => {
  if (output === undefined || tools.length > 0) return undefined
  // the schema of an output is one of an object or a list, by whoever asked
  return whole(output.schema) as ObjectSchema | undefined
}

type ObjectSchema = Schema.Codec<unknown, Record<string, unknown>>

/** What a tool takes whose parameters are said in JSON Schema: it is told as it is, and checked as far as Effect can. */
export const said = (schema: { readonly [key: string]: unknown }): Schema.Codec<Schema.Json, unknown> =>
  // JSON Schema is JSON
  RawSchema.make(schema as RawSchema.RawSchema)

/** A result that is shown to models in other words than its own; those are no JSON to read it from. */
export const shown = (
  schema: Schema.Codec<unknown, unknown>,
  toModelOutput: ((result: unknown) => ReadonlyArray<Prompt.ToolModelOutputPart>) | undefined
): Schema.Codec<unknown, unknown> => {
  if (toModelOutput === undefined) return schema
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(schema), { errors: "all" })
  return Schema.Json.pipe(
    Schema.decodeTo(
      Schema.toType(schema),
      SchemaTransformation.transformEffect({
        decode: (json: Schema.Json) => {
          const decoded = decode(json)
          return Result.isSuccess(decoded) ? Effect.succeed(decoded.success) : Effect.fail(decoded.failure.issue)
        },
        encode: (value: unknown): Effect.Effect<Schema.Json> =>
          Effect.sync(() => Prompt.toolModelOutputToText(toModelOutput(value)))
      })
    )
  )
}
