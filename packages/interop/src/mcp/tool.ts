/** A tool of an MCP server as one of ours. */
import * as Bounds from "@kintsugi/core/Bounds"
import { InputTooLargeError } from "@kintsugi/core/DoorError"
import * as Issue from "@kintsugi/core/Issue"
import * as RawSchema from "@kintsugi/core/RawSchema"
import type * as Recovery from "@kintsugi/core/Recovery"
import * as Tool from "@kintsugi/core/Tool"
import { ExecutionError } from "@kintsugi/core/ToolError"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Failure from "./failure.ts"
import { fromResult, misfit } from "./failure.ts"
import { OnProgress } from "./notices.ts"
import { dataOf, fromWire, masked, McpResult, textOf } from "./result.ts"

/** A tool of an MCP server. Its parameters are plain JSON: the server's own schema is all that is known of them. */
export type McpTool = Tool.Tool<string, Schema.Json, McpResult, ExecutionError, never, {}, Recovery.SideEffects>

/** What a server says that running a tool does, as booleans that may be missing. */
export interface Hints {
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

/**
 * What running a tool twice would do, by the hints of its server and, where they are missing, by the defaults of the protocol:
 * a tool that says nothing changes things, and not only once. Read-only wins over the others. What is not destructive but adds
 * something would add it twice.
 */
export const sideEffectsOf = (hints: Hints = {}): Exclude<Recovery.SideEffects, "undeclared"> =>
  hints.readOnlyHint === true ? "none" : hints.idempotentHint === true ? "idempotent" : "unsafe"

export interface Calling {
  /** The name that models read; the server knows the tool by its own. */
  readonly name: string
  readonly where: Failure.Where
  readonly sideEffects: Recovery.SideEffects
  readonly maxResultChars: number | undefined
  readonly bounds: Bounds.Bounds
  readonly call: (
    tool: McpSchema.Tool,
    params: Readonly<Record<string, unknown>>
  ) => Effect.Effect<McpSchema.CallToolResult, Failure.McpError>
}

/** What of a tool is beyond a bound, if something is. */
export const tooLarge = (
  { inputSchema, name, outputSchema }: McpSchema.Tool,
  where: Failure.Where,
  bounds: Bounds.Bounds
): InputTooLargeError | undefined => {
  const check = (schema: Readonly<Record<string, unknown>>, which: string) =>
    RawSchema.tooLarge(asJson(schema), { bounds, what: `The ${which} schema of ${called(where, name)}` })
  return check(inputSchema, "input") ?? (outputSchema === undefined ? undefined : check(outputSchema, "output"))
}

const called = ({ mask, server }: Failure.Where, tool: string) => `tool '${mask(tool)}' of MCP server '${server}'`

/** Throws an `InputTooLargeError` for a tool beyond a bound. */
export const make = (tool: McpSchema.Tool, calling: Calling): McpTool => {
  const { bounds, call, maxResultChars, name, sideEffects } = calling
  const refused = tooLarge(tool, calling.where, bounds)
  if (refused !== undefined) throw refused
  const where = { ...calling.where, tool: tool.name }
  // what takes the place of a secret may be longer
  const reading = { bounds: { ...bounds, bytes: Number.MAX_SAFE_INTEGER } }
  const check = checking(tool, reading)
  return Tool.make(name, {
    foreignName: where.mask(tool.name),
    server: calling.where.server,
    description: where.mask(tool.description ?? tool.title ?? ""),
    kind: "mcp-tool",
    sideEffects,
    // a schema stays one: what is masked are texts and keys of an object
    parameters: RawSchema.make(masked(asJson(tool.inputSchema), where.mask) as RawSchema.RawSchema, reading),
    success: McpResult,
    ...(maxResultChars === undefined ? {} : { maxResultChars }),
    run: (params, context): Effect.Effect<McpResult, ExecutionError> => {
      const failing = Effect.mapError((error: Failure.McpError | InputTooLargeError) =>
        ExecutionError.wrap(
          { tool: name, kind: "mcp-tool", category: "mcp", callId: context.callId, args: params },
          error
        )
      )
      return call(tool, isObject(params) ? params : {}).pipe(
        Effect.provideService(OnProgress, ({ message, ...progress }) =>
          context.progress({ ...progress, ...(message === undefined ? {} : { message: where.mask(message) }) })
        ),
        Effect.flatMap((wire): Effect.Effect<McpResult, Failure.McpError | InputTooLargeError> => {
          if (Bounds.isDeeper(wire.structuredContent, bounds.depth)) {
            const exceeded = { bound: "depth", limit: bounds.depth } as const
            const what = `The data that ${called(calling.where, tool.name)} gave`
            return Effect.fail(InputTooLargeError.beyond(what, exceeded))
          }
          const result = fromWire(wire, where.mask)
          if (wire.isError === true) return Effect.fail(fromResult(where, textOf(result)))
          // a secret that is masked need not fit any more
          if (check(dataOf(wire)) === undefined) return Effect.succeed(result)
          return Effect.fail(misfit(where, check(result.structured) ?? "it may not be shown"))
        }),
        failing
      )
    }
  })
}

const isObject = Schema.is(Schema.JsonObject)

/** What is wrong with the data of a result by the schema that the server gave for it. */
const checking = (
  { outputSchema }: McpSchema.Tool,
  reading: RawSchema.Options
): ((data: Schema.Json | undefined) => string | undefined) => {
  if (outputSchema === undefined) return () => undefined
  const decode = Schema.decodeUnknownResult(RawSchema.make(asJson(outputSchema), reading), { errors: "all" })
  return (data) => {
    if (data === undefined) return undefined
    const decoded = decode(data)
    return decoded._tag === "Success" ? undefined : Issue.formatAll(Issue.fromSchema(decoded.failure.issue, data))
  }
}

// it came as JSON
const asJson = (schema: Readonly<Record<string, unknown>>) => schema as RawSchema.RawSchema
