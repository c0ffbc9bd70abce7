/** Schemas for outputs, and for results with a text of their own. */
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
 * The schema of the final text, for a model that supports it. Only for requests without tools: with a schema,
 * `effect/ai` fails a reply with calls, because it has no text.
 */
export const schemaOf = ({ output, tools }: Model.Request): ObjectSchema | undefined => {
  if (output === undefined || tools.length > 0) return undefined
  // The caller passes only schemas of objects and lists.
  return whole(output.schema) as ObjectSchema | undefined
}

type ObjectSchema = Schema.Codec<unknown, Record<string, unknown>>

/** Parameters in JSON Schema: sent unchanged, and checked as far as Effect can. */
export const said = (schema: { readonly [key: string]: unknown }): Schema.Codec<Schema.Json, unknown> =>
  // JSON Schema is JSON
  RawSchema.make(schema as RawSchema.RawSchema)

/** A result whose text for models is not JSON, so it cannot be decoded from that text. */
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
