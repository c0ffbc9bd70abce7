/** Chat-completions requests, as small as they can be, and what the stand-in model makes of them. */
import * as Message from "@kintsugi/core/Message"
import { reply } from "@kintsugi/examples/demo/standIn"
import * as Schema from "effect/Schema"

export const system = (content: string) => ({ role: "system", content })

export const user = (content: string) => ({ role: "user", content })

export const assistantCalls = (id: string, name: string, parameters: object) => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(parameters) } }]
})

export const toolResult = (id: string, content: string) => ({ role: "tool", tool_call_id: id, content })

/** A tool as it looks on the wire, its JSON Schema made by Effect. */
export const tool = (name: string, description: string, fields: Schema.Struct.Fields) => {
  const { schema, definitions } = Schema.toJsonSchemaDocument(Schema.Struct(fields), { onExcessProperty: "error" })
  return { type: "function", function: { name, description, parameters: { ...schema, $defs: definitions } } }
}

/** The calls that the model makes, as name and arguments. */
export const ask = (
  messages: ReadonlyArray<object>,
  tools: ReadonlyArray<object>,
  tool_choice: unknown = "auto"
): ReadonlyArray<readonly [string, unknown]> =>
  Message.callsOf(reply({ messages, tools, tool_choice })).map((call) => [
    call.name,
    JSON.parse(String(call.arguments))
  ])

export const said = (messages: ReadonlyArray<object>, tools: ReadonlyArray<object>): string =>
  Message.textOf(reply({ messages, tools }))
