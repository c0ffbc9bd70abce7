/** Mends the JSON of a model before `effect/ai` decodes it, because `effect/ai` accepts only exact values. */
import * as Coercion from "@kintsugi/core/Coercion"
import type * as Message from "@kintsugi/core/Message"
import * as Tool from "effect/ai/Tool"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import { said } from "./schema.ts"
import { remembering } from "../codec/Remembering.ts"

type Decode = (value: Schema.Json) => Result.Result<unknown, SchemaIssue.Issue>

/** Mends the arguments of a call. Arguments that cannot be mended stay as the model wrote them, so that `effect/ai` refuses them. */
export const mendedParams = ({ arguments: written }: Message.ToolCall, tool: Tool.Any | undefined): Schema.Json => {
  if (written === null) return {}
  const parsed = Coercion.parse(written)
  if (Result.isFailure(parsed)) return written
  return fitting(parsed.success, tool === undefined ? undefined : decoderOf(tool).decode).value
}

/** Mends the JSON text of an object; returns it unchanged if it needs no mending or cannot be mended. */
export const mendedText = (text: string, schema: Schema.Top): string => {
  const parsed = Coercion.parse(text)
  if (Result.isFailure(parsed)) return text
  const { changes, value } = fitting(parsed.success, decoder(schema))
  return changes.length === 0 ? text : JSON.stringify(value)
}

type Parsed = Parameters<typeof Coercion.decode>[0]

const fitting = (parsed: Parsed, decode: Decode | undefined): Parsed => {
  if (decode === undefined) return parsed
  return Result.getOrElse(Coercion.decode(parsed, decode), () => parsed)
}

const decoderOf = remembering((tool: Tool.Any): { readonly decode: Decode | undefined } => ({
  decode: decoder(Tool.isDynamic(tool) && tool.jsonSchema !== undefined ? said(tool.jsonSchema) : tool.parametersSchema)
}))

/** Makes the decoder of a schema. A schema that needs services gets a decoder that accepts every value. */
const decoder = (schema: Schema.Top | undefined): Decode | undefined => {
  if (schema === undefined) return undefined
  // such a schema ends in a defect here, which is no `SchemaError`: then the value passes as it is
  const decode = Schema.decodeUnknownExit(schema as Schema.Codec<unknown, unknown>, { errors: "all" })
  return (value) => {
    const exit = decode(value)
    if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
    const error = Cause.squash(exit.cause)
    return Schema.isSchemaError(error) ? Result.fail(error.issue) : Result.succeed(value)
  }
}
