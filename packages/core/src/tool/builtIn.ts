/** The calls of built-in tools: each ends the run. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Message from "../data/Message.ts"
import { DeserializationError, EscalationError, type InvalidArgs } from "../errors/ToolError.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Call from "./call.ts"
import type { Outcome } from "./outcome.ts"
import type { ToolContext, ToolDefinition } from "./ToolDefinition.ts"

/** Settles a call of a built-in tool. It ends the run even if its arguments are invalid. */
export const endsRun: NonNullable<ToolDefinition["endsRun"]> = (tool, { call, key, repairing, run }) => {
  const decoded = decodedOf(tool, call)
  const params = Result.isSuccess(decoded) ? decoded.success.params() : salvaged(tool, decoded.failure, call)
  const { agent, done } = run
  const context: ToolContext = {
    attempt: 1,
    callId: call.id,
    idempotencyKey: key,
    agent,
    progress: () => Effect.void,
    runScope: done.scope
  }
  const changes = Result.isSuccess(decoded) ? decoded.success.changes : []
  const emitChanges = Effect.forEach(
    changes,
    (change) => RunContext.emit(run, () => ({ type: "arguments-coerced", callId: call.id, tool: call.name, change })),
    // Mutants `{}`, `false` survive: `andThen` drops the value of its first effect
    { discard: true }
  )
  const running = Effect.match(tool.run(params, context), {
    onFailure: (error): Outcome => ({
      settlement: givenBack,
      failure: { error: error instanceof EscalationError ? error.about(repairing) : error, isOurs: true },
      // Mutant `true` survives: the run ends with this outcome, so no later batch counts it
      record: { tool: tool.name, isError: false }
    }),
    onSuccess: (value): Outcome => ({
      settlement: closed,
      output: { value },
      // Mutants `true`, `{}` survive: the run ends with this output, so no later batch counts it
      record: { tool: tool.name, isError: false }
    })
  })
  return Effect.andThen(emitChanges, running)
}

/** Decodes the arguments of a built-in tool. The schemas of these tools are made by this library, and they decode at once. */
const decodedOf = (tool: ToolDefinition, call: Message.ToolCall): Call.Read => {
  const read = Call.decodeNow(tool, call)
  // Mutants `false`, `` `` `` survive: all of these schemas decode at once
  if (read === undefined) throw new TypeError(`The built-in tool '${tool.name}' has to decode at once`)
  return read
}

/**
 * The parameters of a built-in tool whose arguments are invalid: the fields that are valid alone. If the field for its text is not among
 * them, that field gets the raw arguments.
 */
const salvaged = (
  tool: ToolDefinition,
  error: InvalidArgs | DeserializationError,
  call: Message.ToolCall
): Record<string, unknown> => {
  const value = (error instanceof DeserializationError ? error.rawValue : undefined) ?? {}
  const fitting = Object.entries(value).map(([key, field]) => {
    // the cast is safe: the field comes from arguments that were parsed as JSON
    const alone = decodedOf(tool, { ...call, arguments: { [key]: field as Schema.Json } })
    return Result.isSuccess(alone) ? alone.success.params() : {}
  })
  return Object.assign({ [tool.words]: Call.rawText(call.arguments) }, ...fitting)
}

const givenBack: Message.Settlement = { kind: "result", text: "The task is given back." }
const closed: Message.Settlement = { kind: "result", text: "The task is closed." }
