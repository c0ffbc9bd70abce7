/** From the raw arguments of a call to the parameters of its tool. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Coercion from "../coercion/Coercion.ts"
import { freeze } from "../data/Foreign.ts"
import type * as Message from "../data/Message.ts"
import { DeserializationError, InvalidArgs } from "../errors/ToolError.ts"
import { issuesOf } from "../coercion/Issues.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

/**
 * Decoded arguments. What a policy, a predicate or an approver has read is what runs, and what each attempt runs with: plain objects
 * and arrays are frozen, and parameters that hold anything else are decoded anew for each reader. To freeze is cheaper than to decode
 * for each reader, and the reader that writes hears of it.
 */
export class Decoded {
  /** The JSON from which they were decoded. */
  readonly json: Schema.Json
  readonly changes: ReadonlyArray<Coercion.Change>
  readonly #tool: ToolDefinition
  readonly #params: unknown
  /** Whether the next reader may have `#params`: nobody can change them, or nobody has read them. */
  #isOpen = true
  readonly #isFrozen: boolean

  constructor(tool: ToolDefinition, params: unknown, json: Schema.Json, changes: ReadonlyArray<Coercion.Change>) {
    this.json = json
    this.changes = changes
    this.#tool = tool
    this.#params = params
    freeze(json)
    this.#isFrozen = freeze(params)
  }

  /** The parameters, for one reader. Throws a `TypeError` where the schema refuses now what it has taken before. */
  params(): unknown {
    if (this.#isOpen) {
      this.#isOpen = this.#isFrozen
      return this.#params
    }
    const again = Result.getOrThrowWith(
      this.#tool.decode(this.json),
      () => new TypeError(`Tool '${this.#tool.name}': the same arguments decode once and not again`)
    )
    freeze(again)
    return again
  }
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
    return Result.succeed(new Decoded(tool, params, json, changes))
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
