/** JSON Schemas of foreign origin as schemas, and schemas for what a model is asked for. */
import type * as Model from "@kintsugi/core/Model"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import * as SchemaTransformation from "effect/SchemaTransformation"
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

/** What a tool takes whose parameters are said in JSON Schema: it is told as it is, and checked as far as Effect can. */
export const said = (schema: JsonSchema): Schema.Codec<unknown, unknown> => {
  const known = imported(schema)
  const decode = known === undefined ? undefined : Schema.decodeUnknownResult(known, { errors: "all" })
  return Schema.Json.check(
    Schema.makeFilter(
      (value) => {
        const decoded = decode?.(value)
        return decoded === undefined || Result.isSuccess(decoded) ? undefined : decoded.failure.issue
      },
      { toJsonSchema: () => schema }
    )
  )
}

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
