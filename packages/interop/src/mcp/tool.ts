/** An MCP tool as a tool of this library. */
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
 * A tool of an MCP server. Its parameters are plain JSON: only the server's schema describes them. `Table` marks the tools of a connection that
 * asks about changed tools.
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
  /** The tool's name for models; the server has its own. */
  readonly name: string
  readonly where: Failure.Where
  readonly sideEffects: (tool: McpSchema.Tool) => Recovery.SideEffects
  readonly maxResultChars: number | undefined
  readonly putAside: ReturnType<typeof Tool.putAside> | undefined
  readonly bounds: Bounds.Bounds
  /** The tool as its server has it now; `undefined` if there is none. */
  readonly current?: (name: string) => McpSchema.Tool | undefined
  /** The pin of the tool; without it, the tool is not pinned. */
  readonly pin?: (tool: McpSchema.Tool, make: (tool: McpSchema.Tool) => McpTool) => Tool.PinSource | undefined
  /** `requested` gets what the server asks its client for. */
  readonly call: (
    tool: McpSchema.Tool,
    params: Readonly<Record<string, unknown>>,
    requested: Requested
  ) => Effect.Effect<McpSchema.CallToolResult, Failure.McpError>
}

/** Which part of a tool exceeds a bound, if any. */
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

/** Throws an `InputTooLargeError` for a tool beyond a bound. */
export const make = (tool: McpSchema.Tool, calling: Calling): McpTool => {
  const { bounds, call, maxResultChars, name, putAside, sideEffects } = calling
  const refused = tooLarge(tool, calling.where, bounds)
  if (refused !== undefined) throw refused
  const where = { ...calling.where, tool: tool.name }
  // The replacement of a secret may be longer.
  const reading = { bounds: { ...bounds, bytes: Number.MAX_SAFE_INTEGER } }
  const check = checking(tool, reading)
  const made: McpTool = Tool.make(name, {
    foreignName: where.redact(tool.name),
    server: calling.where.server,
    description: where.redact(tool.description ?? tool.title ?? ""),
    kind: "mcp-tool",
    sideEffects: sideEffects(tool),
    // A redacted schema is still a schema: only texts and keys change.
    parameters: RawSchema.make(redacted(asJson(tool.inputSchema), where.redact) as RawSchema.RawSchema, reading),
    success: McpResult,
    // of both options, the tool refuses one
    ...({
      ...(maxResultChars === undefined ? {} : { maxResultChars }),
      ...(putAside === undefined ? {} : { putAside })
    } as { readonly maxResultChars?: number }),
    run: (params, context): Effect.Effect<McpResult, ExecutionError> => {
      const failing = Effect.mapError((error: Failure.McpError | InputTooLargeError) =>
        executionErrorOf({ tool: name, kind: "mcp-tool", category: "mcp", callId: context.callId, args: params }, error)
      )
      const requested = new Requested()
      // The server checks a call against the definition that it has now.
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
          // A redacted value may no longer fit the schema.
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

/** The issues of a result's data under the server's schema. */
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

// received as JSON
const asJson = (schema: Readonly<Record<string, unknown>>) => schema as RawSchema.RawSchema
