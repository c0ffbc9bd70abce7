/** Reads the call of a tool on demand out of a call of `call_tool`. Providers see one tool, and the run settles another. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Message from "../data/Message.ts"
import * as Coercion from "./Coercion.ts"
import { memberOf } from "./member.ts"

/** The name of the tool that calls tools on demand. */
export const callTool = "call_tool"

/**
 * The call that a call of `call_tool` makes: it has the same id, and the name and the arguments that were passed on, as the model wrote
 * them. Any other call stays as it is, and so does one that names no tool.
 */
export const unwrapped = (call: Message.ToolCall): Message.ToolCall => {
  if (call.name !== callTool) return call
  const parsed = Coercion.parse(call.arguments)
  if (Result.isFailure(parsed)) return call
  const { text, value } = parsed.success
  if (!Predicate.isObject(value)) return call
  // the parsed text is JSON
  const { arguments: args, name } = value as Schema.JsonObject
  if (!Predicate.isString(name)) return call
  // numbers keep the digits that the model wrote
  const written = text === undefined || !Predicate.isObject(args) ? args : memberOf(text, "arguments")
  return { ...call, name, arguments: written ?? null }
}
