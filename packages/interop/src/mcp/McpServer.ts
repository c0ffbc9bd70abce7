/**
 * Tools of ours, agents among them (`Agent.asTool`), served to MCP clients. Each call goes through the gates and the tables of its
 * tool as the call of a model does, and what a model would be told the client gets as a result with `isError`. The protocol is
 * Effect's (`effect/ai`).
 */
import * as Bounds from "@kintsugi/core/Bounds"
import type * as Budget from "@kintsugi/core/Budget"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import type * as Message from "@kintsugi/core/Message"
import * as MessageOf from "@kintsugi/core/Message"
import type * as Recovery from "@kintsugi/core/Recovery"
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
import * as Call from "./serverCall.ts"

export type { Needs } from "./serverCall.ts"

/** What is served, and what clients are told of it. */
export interface Options<T extends Tool.AnyTool> {
  /** Who the clients are told that they talk to. */
  readonly name: string
  readonly version: string
  /** What a model should know of this server. */
  readonly instructions?: string
  readonly tools: ReadonlyArray<T>
  /** Limits of one call, and of all that it starts. */
  readonly budget?: Budget.Limits
}

/** What is served, and where. */
export interface HttpOptions<T extends Tool.AnyTool> extends Options<T> {
  /** Where clients post to. */
  readonly path: HttpRouter.PathInput
  /** The origins from which browsers may call; none by default. Other clients send no origin. */
  readonly allowedOrigins?: ReadonlyArray<string>
}

/** All versions of the protocol that there are, newest first. */
const protocols = [
  McpProtocol.v2026_07_28,
  McpProtocol.v2025_11_25,
  McpProtocol.v2025_06_18,
  McpProtocol.v2025_03_26,
  McpProtocol.v2024_11_05
] as const

/**
 * Serves over the standard input and output of this process, to which nothing else may write: Effect's own loggers write to the
 * standard error here. Throws a `TypeError` for two tools of one name and for built-in tools.
 */
export const stdio = <T extends Tool.AnyTool>(
  options: Options<T>
): Layer.Layer<never, never, Stdio | Call.Needs<T>> => {
  const registrations = registering(options)
  const layer = Layer.provide(
    Effects.layerStdio({ ...identityOf(options), protocols, registrations }),
    Layer.succeed(References.LogToStderr, true)
  )
  // what the registrations need, and no more, is in this type
  return Layer.orDie(layer) as Layer.Layer<never, never, Stdio | Call.Needs<T>>
}

/**
 * Serves streamable HTTP at a path of the router. Whoever may call is for the router to decide: put your authentication around it.
 * Throws a `TypeError` for two tools of one name and for built-in tools.
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
    ...(allowedOrigins === undefined ? {} : { allowedOrigins })
  })
  // what the registrations need, and no more, is in this type
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

/** Effect's server logs and reports a defect as it is: what it gets here shows no key. The client learns nothing of either. */
const redacting = (tool: string) =>
  Effect.catchCauseIf(
    (cause: Cause.Cause<never>) => Cause.hasDies(cause) && !Cause.hasInterrupts(cause),
    (cause) => {
      const error = new Error(`Tool '${tool}' died in the call of a client: ${ErrorCause.logged(cause)}`)
      // that of the defect is in the message; this one would say where it was redacted
      error.stack = error.message
      return Effect.die(error)
    }
  )

const isJson = Schema.is(Schema.Json)

/** A tool as a client sees it. What is not known of its effects is left to the defaults of the protocol. */
const described = ({ definition }: Tool.AnyTool): McpSchema.Tool => {
  const { description, name, parameters } = definition.spec()
  const hints = hintsOf(definition.sideEffects)
  return new McpSchema.Tool({
    name,
    description,
    // what is no object at its root takes no parameters that a client could name
    inputSchema: { ...parameters, type: "object" } as McpSchema.ToolJson,
    ...(hints === undefined ? {} : { annotations: { ...hints, openWorldHint: true } })
  })
}

/** The hints of the protocol for what running a tool twice would do. */
export const hintsOf = (sideEffects: Recovery.SideEffects) => {
  switch (sideEffects) {
    case "none":
      return { readOnlyHint: true, destructiveHint: false, idempotentHint: true }
    case "idempotent":
      return { readOnlyHint: false, destructiveHint: true, idempotentHint: true }
    case "unsafe":
      return { readOnlyHint: false, destructiveHint: true, idempotentHint: false }
    case "undeclared":
      return undefined
  }
}

const resultOf = (settlement: Message.Settlement): McpSchema.CallToolResult => {
  const content = [{ type: "text" as const, text: settlement.text }]
  if (MessageOf.isError(settlement)) return new McpSchema.CallToolResult({ content, isError: true })
  const data = Result.try((): unknown => JSON.parse(settlement.text))
  // what is deeper is text only: the protocol's encoder recurses
  return Result.isSuccess(data) &&
    Predicate.isReadonlyObject(data.success) &&
    !Bounds.isDeeper(data.success, Bounds.deepest)
    ? new McpSchema.CallToolResult({ content, structuredContent: data.success })
    : new McpSchema.CallToolResult({ content })
}

/** Tells the client how far its call is, if it wants to know. */
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
