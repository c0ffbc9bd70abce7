/** From the raw arguments of a call to the parameters of its tool. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Coercion from "../coercion/Coercion.ts"
import type * as Message from "../data/Message.ts"
import { DeserializationError, InvalidArgs } from "../errors/ToolError.ts"
import { issuesOf } from "../coercion/Issues.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

export interface Decoded {
  readonly params: unknown
  /** The JSON from which they were decoded. */
  readonly json: Schema.Json
  readonly changes: ReadonlyArray<Coercion.Change>
}

/** Absent and blank arguments mean `{}`; an object is used as it is; text is parsed. Both are coerced if they fit nothing. */
export const decode = (
  tool: ToolDefinition,
  call: Message.ToolCall
): Result.Result<Decoded, InvalidArgs | DeserializationError> => {
  const parsed = parse(tool, call.arguments)
  if (Result.isFailure(parsed)) {
    return Result.fail(InvalidArgs.of(tool.name, call.id, rawText(call.arguments), parsed.failure))
  }
  const decoded = Coercion.decode(parsed.success, tool.decode, tool.coercion)
  if (Result.isSuccess(decoded)) {
    const { changes, decoded: params, value: json } = decoded.success
    return Result.succeed({ params, json, changes })
  }
  // about what the model sent, not about a half-mended value
  const { value } = parsed.success
  const issues = issuesOf(decoded.failure, value, tool.coercion)
  return Result.fail(DeserializationError.of(tool.name, call.id, value, tool.targetType, issues))
}

/** The arguments as text: what the model wrote, or the JSON of what it sent as an object. */
export const rawText = (raw: Message.ToolCall["arguments"]): string =>
  Predicate.isString(raw) ? raw : raw === null ? "" : JSON.stringify(raw)

const noChanges: ReadonlyArray<Coercion.Change> = []

const parse = (tool: ToolDefinition, raw: Message.ToolCall["arguments"]): Result.Result<Coercion.Parsed, string> => {
  if (raw === null) return Result.succeed({ value: {}, changes: noChanges })
  if (!Predicate.isString(raw)) return Result.succeed({ value: raw, changes: noChanges })
  const parsed: Result.Result<Coercion.Parsed, string> =
    raw.trim() === "" ? Result.succeed({ value: {}, changes: noChanges }) : Coercion.parse(raw, tool.coercion)
  return Result.isSuccess(parsed) && parsed.success.value === null
    ? Result.succeed({ value: {}, changes: noChanges })
    : parsed
}

/** Whether a failure is about the arguments themselves: the tool has not run. */
export const isArgumentError = (error: unknown): error is InvalidArgs | DeserializationError =>
  error instanceof InvalidArgs || error instanceof DeserializationError
