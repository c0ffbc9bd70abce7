/** Makes Effect schemas from JSON Schema: for the output of a request, and for the parameters of tools. */
import type * as Model from "@kintsugi/core/Model"
import * as RawSchema from "@kintsugi/core/RawSchema"
import type * as Schema from "effect/Schema"
import { remembering } from "../codec/Remembering.ts"

const whole = remembering(RawSchema.whole)

/**
 * The schema of the output, for `generateObject`; `undefined` if the request has tools. `effect/ai` would fail a reply that contains tool
 * calls and no text.
 */
export const schemaOf = ({ output, tools }: Model.Request): ObjectSchema | undefined => {
  if (output === undefined || tools.length > 0) return undefined
  // outputs in this library are always objects or lists
  return whole(output.schema) as ObjectSchema | undefined
}

type ObjectSchema = Schema.Codec<unknown, Record<string, unknown>>

/** A codec for parameters in JSON Schema. The JSON Schema is sent unchanged, and Effect checks the keywords that it knows. */
export const said = (schema: { readonly [key: string]: unknown }): Schema.Codec<Schema.Json, unknown> =>
  // a JSON Schema is itself JSON
  RawSchema.make(schema as RawSchema.RawSchema)
