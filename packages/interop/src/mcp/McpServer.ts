/**
 * Serves tools of this library to MCP clients. Agents are among them (`Agent.asTool`). Each call passes the gates and tables of its tool,
 * as a model's call does. A text for the model about a failure is a result with `isError` for the client. Effect implements the protocol
 * (`effect/ai`).
 */
import * as Bounds from "@kintsugi/core/Bounds"
import type * as Budget from "@kintsugi/core/Budget"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import type * as Message from "@kintsugi/core/Message"
import * as MessageOf from "@kintsugi/core/Message"
import type * as Tool from "@kintsugi/core/Tool"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effects from "effect/ai/McpServer"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Stdio } from "effect/Stdio"
import { hintsOf } from "./hints.ts"
import * as Call from "./serverCall.ts"

/** The tools to serve, and how the server describes itself to clients. */
interface Options<T extends Tool.AnyTool> {
  /** The name of the server, as clients see it. */
  readonly name: string
  readonly version: string
  /** The server's instructions for a model. */
  readonly instructions?: string
  readonly tools: ReadonlyArray<T>
  /** The limits of one call, including all work that the call starts. */
  readonly budget?: Budget.Limits
}

/** The tools to serve over HTTP, and the path. */
interface HttpOptions<T extends Tool.AnyTool> extends Options<T> {
  /** The path of the router that serves the requests. */
  readonly path: HttpRouter.PathInput
  /** The origins from which browsers may send requests; none by default. Other clients send no origin. */
  readonly allowedOrigins?: ReadonlyArray<string>
}

/** All protocol versions, newest first. */
const protocols = [
  McpProtocol.v2026_07_28,
  McpProtocol.v2025_11_25,
  McpProtocol.v2025_06_18,
  McpProtocol.v2025_03_26,
  McpProtocol.v2024_11_05
] as const

/**
 * Serves over the standard input and output of this process. Nothing else may write there: Effect's own loggers write
 * to the standard error here. Throws a `TypeError` for two tools of one name and for built-in tools.
 */
export const stdio = <T extends Tool.AnyTool>(
  options: Options<T>
): Layer.Layer<never, never, Stdio | Call.Needs<T>> => {
  const registrations = registering(options)
  const layer = Layer.provide(
    Effects.layerStdio({ ...identityOf(options), protocols, registrations }),
    Layer.succeed(References.LogToStderr, true)
  )
  // cast: this layer has exactly the requirements of the registrations
  return Layer.orDie(layer) as Layer.Layer<never, never, Stdio | Call.Needs<T>>
}

/**
 * Serves streamable HTTP at a path of the router. Put your own authentication around the router: this module has
 * none. Throws a `TypeError` for two tools of one name and for built-in tools.
 */
export const http = <T extends Tool.AnyTool>(
  options: HttpOptions<T>
): Layer.Layer<never, never, HttpRouter.HttpRouter | Call.Needs<T>> => {
  const { allowedOrigins, path } = options
  const registrations = registering(options)
  const layer = Effects.layerHttp({
    ...identityOf(options),
    path,
    protocols,
    registrations,
    allowSessionTermination: true,
    // Mutant `false` survives: `undefined` admits no origin, too
    ...(allowedOrigins === undefined ? {} : { allowedOrigins })
  })
  // cast: this layer has exactly the requirements of the registrations
  return Layer.orDie(layer) as Layer.Layer<never, never, HttpRouter.HttpRouter | Call.Needs<T>>
}

const identityOf = ({ instructions, name, version }: Options<Tool.AnyTool>) => ({
  name,
  version,
  ...(instructions === undefined ? {} : { instructions })
})

const registering = <T extends Tool.AnyTool>(
  options: Options<T>
): Layer.Layer<never, never, Effects.McpServer | Call.Needs<T>> => {
  const { budget, name } = options
  const names = new Set<string>()
  for (const tool of options.tools) {
    if (tool.definition.isBuiltIn) throw new TypeError(`McpServer: the built-in tool '${tool.name}' cannot be served`)
    if (names.has(tool.name)) throw new TypeError(`McpServer: there are two tools named '${tool.name}'`)
    names.add(tool.name)
  }
  return Layer.effectDiscard(
    Effect.gen(function* () {
      const server = yield* Effects.McpServer
      const context = yield* Effect.context<Call.Needs<T>>()
      for (const tool of options.tools) {
        yield* server.addTool({
          tool: described(tool),
          annotations: Context.empty(),
          handle: (params: unknown) =>
            Effect.gen(function* () {
              const progress = yield* progressing(server)
              const settlement = yield* Call.settle(
                { name, tool, budget },
                isJson(params) ? params : {},
                progress
              ).pipe(Effect.updateContext((here: Context.Context<never>) => Context.merge(context, here)))
              return resultOf(settlement)
            }).pipe(redacting(tool.name))
        })
      }
    })
  )
}

/** Redacts the defects of a call, because Effect's server logs and reports them unchanged. The client does not see them. */
const redacting = (tool: string) =>
  Effect.catchCauseIf(
    (cause: Cause.Cause<never>) => Cause.hasDies(cause),
    (cause) => {
      const error = new Error(`Tool '${tool}' died in the call of a client: ${ErrorCause.logged(cause)}`)
      // The message has the stack of the defect already. This error's own stack would only point here.
      error.stack = error.message
      // A call that was interrupted stays so: the server logs nothing of it.
      return Effect.failCause(
        Cause.fromReasons<never>([...cause.reasons.filter(Cause.isInterruptReason), Cause.makeDieReason(error)])
      )
    }
  )

const isJson = Schema.is(Schema.Json)

/** Describes a tool to clients. If its side effects are undeclared, it has no hints, and the protocol's defaults hold. */
const described = ({ definition }: Tool.AnyTool): McpSchema.Tool => {
  const { description, name, parameters } = definition.spec()
  const hints = hintsOf(definition.sideEffects)
  return new McpSchema.Tool({
    name,
    description,
    // Cast: the protocol wants an object at the root. A schema without one has no parameters that a client could name.
    inputSchema: { ...parameters, type: "object" } as McpSchema.ToolJson,
    ...(hints === undefined ? {} : { annotations: { ...hints, openWorldHint: true } })
  })
}

const resultOf = (settlement: Message.Settlement): McpSchema.CallToolResult => {
  const content = [{ type: "text" as const, text: settlement.text }]
  if (MessageOf.isError(settlement)) return new McpSchema.CallToolResult({ content, isError: true })
  const data = Result.try((): unknown => JSON.parse(settlement.text))
  // Deeply nested data is sent as text alone, because the protocol's encoder recurses.
  return Result.isSuccess(data) && Predicate.isReadonlyObject(data.success) && !Bounds.isDeeper(data.success)
    ? new McpSchema.CallToolResult({ content, structuredContent: data.success })
    : new McpSchema.CallToolResult({ content })
}

/** Makes the function that reports the progress of a call to the client. It reports nothing if the client did not ask for progress. */
const progressing = (server: typeof Effects.McpServer.Service) =>
  Effect.map(McpSchema.McpRequestContext, (request) => {
    const token = request.requestMetadata?.["progressToken"]
    let last = 0
    return (data: unknown): Effect.Effect<void> => {
      if (!Predicate.isString(token) && !Predicate.isNumber(token)) return Effect.void
      const said = Predicate.isReadonlyObject(data) ? data : {}
      last = Predicate.isNumber(said["progress"]) ? said["progress"] : last + 1
      const { message = Predicate.isString(data) ? data : undefined, total } = said
      return server.notifications["notifications/progress"]({
        progressToken: token,
        progress: last,
        ...(Predicate.isNumber(total) ? { total } : {}),
        ...(Predicate.isString(message) ? { message } : {})
      }).pipe(Effect.provideService(McpSchema.McpRequestContext, request), Effect.ignore)
    }
  })
