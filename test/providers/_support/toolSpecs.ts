/** Specs of tools, as a tool of this schema sends them. */
import type * as Message from "@kintsugi/core/Message"
import { Schema } from "effect"

export const specOf = (name: string, parameters: Schema.Codec<unknown, unknown>): Message.ToolSpec => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(parameters, { onExcessProperty: "error" })
  // JSON Schema is JSON
  const json = schema as Message.ToolSpec["parameters"]
  const all = Object.keys(definitions).length === 0 ? json : { ...json, $defs: definitions as Schema.Json }
  return { name, description: `${name}.`, parameters: all }
}
