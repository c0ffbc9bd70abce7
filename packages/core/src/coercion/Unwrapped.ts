/** Reads the call of a tool on demand out of a call of `call_tool`. Providers see one tool, and the run settles another. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Message from "../data/Message.ts"
import * as Coercion from "./Coercion.ts"
import { memberOf } from "./member.ts"
import { spelling } from "./Spelling.ts"

/** The name of the tool that calls tools on demand. */
export const callTool = "call_tool"

/** A call that was passed on, and what had to be mended to read it. */
export interface PassedOn {
  readonly call: Message.ToolCall
  readonly changes: Result.Result.Success<ReturnType<typeof Coercion.parse>>["changes"]
}

/** How many calls of `call_tool` within each other are read. A deeper one stays a call of `call_tool`, so reading is linear. */
const deepest = 3

/**
 * The call of `unwrapped`, and what had to be mended to read it. Reading ends at a call for which `isOwn` holds: one of a tool of the agent
 * whose name is like `call_tool`.
 */
export const passedOn = (written: Message.ToolCall, isOwn: (call: Message.ToolCall) => boolean): PassedOn => {
  let made: PassedOn = { call: written, changes: [] }
  for (let depth = 0; depth < deepest && !isOwn(made.call); depth++) {
    const inner = within(made.call)
    if (inner === undefined) break
    made = { call: inner.call, changes: [...made.changes, ...inner.changes] }
  }
  return made
}

/**
 * The call that a call of `call_tool` makes: it has the same id, and the name and the arguments that were passed on, as the model wrote
 * them. Any other call stays as it is, and so does one that names no tool. `call_tool` may be misspelt as any other name.
 */
export const unwrapped = (written: Message.ToolCall): Message.ToolCall => passedOn(written, () => false).call

/** A call, and each call that is written within it. Which of them is made depends on the tools of the agent. */
export const madeFrom = (written: Message.ToolCall): ReadonlyArray<Message.ToolCall> => {
  const outer: Array<Message.ToolCall> = []
  const { call } = passedOn(written, (made) => {
    outer.push(made)
    return false
  })
  return [...outer, call]
}

const within = (call: Message.ToolCall): PassedOn | undefined => {
  // Mutant `true` for `call.name !== callTool` survives: speed only. A name is a spelling of itself
  if (call.name !== callTool && !spelling(call.name)(callTool)) return undefined
  const parsed = Coercion.parse(call.arguments)
  if (Result.isFailure(parsed)) return undefined
  const { changes, text, value } = parsed.success
  if (!Predicate.isObject(value)) return undefined
  // the parsed text is JSON
  const { arguments: args, name } = value as Schema.JsonObject
  if (!Predicate.isString(name)) return undefined
  // numbers keep the digits that the model wrote
  const written = text === undefined || !Predicate.isObject(args) ? args : memberOf(text, "arguments")
  return { call: { ...call, name, arguments: written ?? null }, changes }
}
