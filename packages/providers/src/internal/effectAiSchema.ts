/** JSON Schemas of foreign origin as schemas, and schemas for what a model is asked for. */
import type * as Model from "@kintsugi/core/Model"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import { remembering } from "./remembering.ts"

type JsonSchema = { readonly [key: string]: unknown }

/** A schema that means the same, as far as Effect can say it; nothing where it cannot. */
export const imported = remembering((schema: JsonSchema): Schema.Codec<unknown, unknown> | undefined => {
  const { $defs, definitions, ...root } = schema
  const document = {
    dialect: "draft-2020-12" as const,
    schema: root,
    // definitions are schemas by their names
    definitions: { ...(definitions as object), ...($defs as object) } as Record<string, JsonSchema>
  }
  const made = Result.try(() => SchemaRepresentation.fromJsonSchemaDocument(document, { patterns: "ignore" }))
  // what was imported needs no services
  return Result.isSuccess(made) ? (made.success as Schema.Codec<unknown, unknown>) : undefined
})

/**
 * What the final text has to be, for a model that can be held to it. `effect/ai` gives up a reply with calls then, for it has no
 * text: so not where there are tools.
 */
export const schemaOf = ({ output, tools }: Model.Request): ObjectSchema | undefined => {
  if (output === undefined || tools.length > 0) return undefined
  // the schema of an output is one of an object or a list, by whoever asked
  return imported(output.schema) as ObjectSchema | undefined
}

type ObjectSchema = Schema.Codec<unknown, Record<string, unknown>>
