/** Makes a tool of this library from an MCP tool. */
import * as Bounds from "@kintsugi/core/Bounds"
import { InputTooLargeError } from "@kintsugi/core/DoorError"
import * as Issue from "@kintsugi/core/Issue"
import * as RawSchema from "@kintsugi/core/RawSchema"
import type * as Recovery from "@kintsugi/core/Recovery"
import * as Tool from "@kintsugi/core/Tool"
import { type ExecutionError, executionErrorOf } from "@kintsugi/core/ToolError"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Failure from "./failure.ts"
import { fromResult, misfit, withoutInput } from "./failure.ts"
import { OnProgress, Requested } from "./notices.ts"
import { dataOf, fromWire, partsOf, redacted, McpResult, textOf } from "./result.ts"

/**
 * A tool of an MCP server. Its parameters are plain JSON, because only the server's schema describes them. `Table` marks the tools of a
 * connection that asks about changed tools.
 */
export type McpTool<Table = {}> = Tool.Tool<
  string,
  Schema.Json,
  McpResult,
  ExecutionError,
  never,
  Table,
  Recovery.SideEffects
>

export interface Calling {
  /** The tool's name for models. The server may have another name for it. */
  readonly name: string
  readonly where: Failure.Where
  readonly sideEffects: (tool: McpSchema.Tool) => Recovery.SideEffects
  readonly maxResultChars: number | undefined
  readonly putAside: ReturnType<typeof Tool.putAside> | undefined
  readonly bounds: Bounds.Bounds
  /** The tool of this name as its server defines it now; `undefined` if the server has none. */
  readonly current?: (name: string) => McpSchema.Tool | undefined
  /** The source of the tool's pin; without it, the tool has no pin. */
  readonly pin?: (tool: McpSchema.Tool, make: (tool: McpSchema.Tool) => McpTool) => Tool.PinSource | undefined
  /** Calls the tool on the server. `requested` collects what the server asks its client for meanwhile. */
  readonly call: (
    tool: McpSchema.Tool,
    params: Readonly<Record<string, unknown>>,
    requested: Requested
  ) => Effect.Effect<McpSchema.CallToolResult, Failure.McpError>
}

/** The error for the schema of a tool that exceeds a bound; `undefined` if none does. */
export const tooLarge = (
  { inputSchema, name, outputSchema }: McpSchema.Tool,
  where: Failure.Where,
  bounds: Bounds.Bounds
): InputTooLargeError | undefined => {
  const check = (schema: Readonly<Record<string, unknown>>, which: string) =>
    RawSchema.tooLarge(asJson(schema), { bounds, what: `The ${which} schema of ${called(where, name)}` })
  return check(inputSchema, "input") ?? (outputSchema === undefined ? undefined : check(outputSchema, "output"))
}

const called = ({ redact, server }: Failure.Where, tool: string) => `tool '${redact(tool)}' of MCP server '${server}'`

/** Makes the tool. Throws an `InputTooLargeError` if one of its schemas exceeds a bound. */
export const make = (tool: McpSchema.Tool, calling: Calling): McpTool => {
  const { bounds, call, maxResultChars, name, putAside, sideEffects } = calling
  const refused = tooLarge(tool, calling.where, bounds)
  if (refused !== undefined) throw refused
  const where = { ...calling.where, tool: tool.name }
  // The bytes are not bounded again: the text that replaces a secret may be longer than the secret.
  const reading = { bounds: { ...bounds, bytes: Number.MAX_SAFE_INTEGER } }
  const check = checking(tool, reading)
  const made: McpTool = Tool.make(name, {
    foreignName: where.redact(tool.name),
    server: calling.where.server,
    description: where.redact(tool.description ?? tool.title ?? ""),
    kind: "mcp-tool",
    sideEffects: sideEffects(tool),
    // Redaction changes only texts and keys, so the result is still a schema.
    parameters: RawSchema.make(redacted(asJson(tool.inputSchema), where.redact) as RawSchema.RawSchema, reading),
    success: McpResult,
    // cast: `Tool.make` refuses one of these options if both are given
    ...({
      ...(maxResultChars === undefined ? {} : { maxResultChars }),
      ...(putAside === undefined ? {} : { putAside })
    } as { readonly maxResultChars?: number }),
    run: (params, context): Effect.Effect<McpResult, ExecutionError> => {
      const failing = Effect.mapError((error: Failure.McpError | InputTooLargeError) =>
        executionErrorOf({ tool: name, kind: "mcp-tool", category: "mcp", callId: context.callId, args: params }, error)
      )
      const requested = new Requested()
      // The server checks a call against the current definition of the tool, so the call uses that definition.
      const wire = calling.current?.(tool.name) ?? tool
      const checkNow = wire === tool ? check : checking(wire, reading)
      const refused = (error: Failure.McpError, said = error.message) =>
        requested.methods.length === 0 ? error : withoutInput(where, requested.methods, said)
      return call(wire, isObject(params) ? params : {}, requested).pipe(
        Effect.mapError(refused),
        Effect.provideService(OnProgress, ({ message, ...progress }) =>
          context.progress({ ...progress, ...(message === undefined ? {} : { message: where.redact(message) }) })
        ),
        Effect.flatMap((answer): Effect.Effect<McpResult, Failure.McpError | InputTooLargeError> => {
          if (Bounds.isDeeper(answer.structuredContent, bounds.depth)) {
            const exceeded = { bound: "depth", limit: bounds.depth } as const
            const what = `The data that ${called(calling.where, tool.name)} gave`
            return Effect.fail(InputTooLargeError.make({ what, ...exceeded }))
          }
          const result = fromWire(answer, where.redact)
          if (answer.isError === true) return Effect.fail(refused(fromResult(where, textOf(result)), textOf(result)))
          // The data is checked as received, because redacted data may no longer fit the schema.
          if (checkNow(dataOf(answer)) === undefined) return Effect.succeed(result)
          return Effect.fail(misfit(where, checkNow(result.structured) ?? "it may not be shown"))
        }),
        failing
      )
    }
  }).pipe(Tool.parts(partsOf))
  const { pin: _, ...unpinned } = calling
  const source = calling.pin?.(tool, (tool) => make(tool, unpinned))
  return source === undefined ? made : Tool.pinned(made, source)
}

const isObject = Schema.is(Schema.JsonObject)

/** Makes the check of a result's data against the tool's output schema. The check gives the issues as a text, or `undefined`. */
const checking = (
  { outputSchema }: McpSchema.Tool,
  reading: Parameters<typeof RawSchema.make>[1]
): ((data: Schema.Json | undefined) => string | undefined) => {
  if (outputSchema === undefined) return () => undefined
  const decode = Schema.decodeUnknownResult(RawSchema.make(asJson(outputSchema), reading), { errors: "all" })
  return (data) => {
    if (data === undefined) return undefined
    const decoded = decode(data)
    return decoded._tag === "Success" ? undefined : Issue.formatAll(Issue.fromSchema(decoded.failure.issue, data))
  }
}

// cast: schemas were received as JSON
const asJson = (schema: Readonly<Record<string, unknown>>) => schema as RawSchema.RawSchema
