/** Schemas for outputs, and for parameters in JSON Schema. */
import type * as Model from "@kintsugi/core/Model"
import * as RawSchema from "@kintsugi/core/RawSchema"
import type * as Schema from "effect/Schema"
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
