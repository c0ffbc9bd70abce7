/**
 * The tools of MCP servers as tools of this library. They have their schemas and hints, and every failure is an `ExecutionError` of
 * category `mcp`. Effect implements the protocol (`effect/ai`); this module negotiates its version, keeps the connection and receives the
 * server's notifications. `McpServer` is the other direction.
 */
import * as Bounds from "@kintsugi/core/Bounds"
import type * as Recovery from "@kintsugi/core/Recovery"
import { type ExecutionError, executionErrorOf } from "@kintsugi/core/ToolError"
import type * as McpClient from "effect/ai/McpClient"
import type * as McpClientError from "effect/ai/McpClientError"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpClient from "effect/http/HttpClient"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as PubSub from "effect/PubSub"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Connection from "./connection.ts"
import * as Failure from "./failure.ts"
import { oneLine } from "./line.ts"
import { sideEffectsOf } from "./hints.ts"
import * as Http from "./http.ts"
import * as Names from "./names.ts"
import { Last } from "./last.ts"
import * as Notices from "./notices.ts"
import { Pinning, type PinnedTool, type Policy } from "./pinning.ts"
import { memory, Pins } from "./pins.ts"
import * as Renewed from "./renewed.ts"
import * as Stdio from "./stdio.ts"
import * as Redaction from "@kintsugi/core/Redaction"
import type * as Tool from "@kintsugi/core/Tool"
import * as McpTool from "./tool.ts"

export { McpError } from "./failure.ts"
export { McpResult } from "./result.ts"
export type { McpTool } from "./tool.ts"
export type { PinnedTool } from "./pinning.ts"
export { layerPins, type Pin, type PinStore, Pins } from "./pins.ts"

/**
 * A way to reach a server; `R` is the services that it requires.
 *
 * @hidden
 */
export interface Way<out R> {
  readonly kind: "stdio" | "http"
  readonly secrets: ReadonlyArray<string>
  readonly opening: (hearing: Stdio.Hearing) => Effect.Effect<Connection.Way, never, R>
}

/**
 * A server that is a program. `connect` starts it, and speaks the protocol over its standard input and output. Its environment has the
 * given variables and those that every program needs, no others: a foreign program must not see the keys of this process.
 */
export const stdio = (options: Stdio.StdioOptions): Way<ChildProcessSpawner> => ({
  kind: "stdio",
  secrets: secretsIn([...Object.values(options.env ?? {}), ...(options.args ?? [])]),
  opening: (hearing) =>
    Effect.map(ChildProcessSpawner, (spawner) => ({
      kind: "stdio",
      connect: () =>
        Stdio.launch(options, hearing).pipe(
          Effect.provideService(ChildProcessSpawner, spawner),
          Effect.map((transport) => ({ transport, listen: Effect.never }))
        )
    }))
})

/** A server at a URL that speaks streamable HTTP. The client in the context decides about redirects: `Transport.layerFetch` follows none. */
export const http = (options: Http.HttpOptions): Way<HttpClient.HttpClient> => ({
  kind: "http",
  secrets: [...secretsIn(Object.values(options.headers ?? {})), ...Http.secretsOf(options.url)],
  opening: (hearing) =>
    Effect.map(HttpClient.HttpClient, (client) => ({
      kind: "http",
      connect: (adapter) =>
        Http.connect(options, adapter, hearing).pipe(Effect.provideService(HttpClient.HttpClient, client))
    }))
})

const secretsIn = (given: ReadonlyArray<string | Redacted.Redacted>): ReadonlyArray<string> =>
  given.flatMap((value) => {
    if (!Redacted.isRedacted(value)) return []
    const secret = String(Redacted.value(value))
    const [scheme = "", ...credentials] = secret.split(" ")
    // In an `Authorization` header, the part after the scheme is a secret too; so is the password in Basic credentials.
    const parts = [...credentials, ...(/^basic$/i.test(scheme) ? credentials.flatMap(passwordIn) : [])]
    Redaction.know(value, [secret, ...parts])
    return [secret, ...parts]
  })

const passwordIn = (credentials: string): ReadonlyArray<string> => {
  const decoded = Result.getOrElse(
    Result.try(() => atob(credentials)),
    () => ""
  )
  return [decoded, decoded.slice(decoded.indexOf(":") + 1)]
}

/** The options of a connection to a server. */
export interface Options {
  /** The time limit of one call; 60 seconds by default. A late call fails with an `ExecutionError`, and the server is told to cancel it. */
  readonly timeout?: Duration.Input
  /** The time limit of connecting, for all versions together, and of each list of tools; 60 seconds by default. */
  readonly connectTimeout?: Duration.Input
  /** The protocol versions to try, in this order; all by default, newest first. */
  readonly versions?: ReadonlyArray<Connection.Version>
  /** The name and version with which this client introduces itself to the server. */
  readonly client?: { readonly name: string; readonly version: string }
  /** Whether the names of tools for models include the server's name; `never` by default, because there is only one server. */
  readonly prefix?: Names.Prefix
  /** Selects the tools to include; all by default. */
  readonly include?: (tool: McpSchema.Tool) => boolean
  /** The effect of running a tool twice; by default what the server's hints say. Hints are as trustworthy as the server. */
  readonly sideEffects?: (tool: McpSchema.Tool) => Recovery.SideEffects
  /** The longest text of a result that the model reads, in characters; unlimited by default. */
  readonly maxResultChars?: number
  /** When a long result is put aside, as `Tool.putAside` says. It excludes `maxResultChars`. */
  readonly putAside?: ReturnType<typeof Tool.putAside>
  /**
   * The bounds of a tool's schema and of a result's data: 128 levels, 20,000 nodes of a schema with references followed, and 256 KiB of a
   * schema by default. They are checked before any code expands the data. A tool beyond a bound is left out (see `refused`). A result
   * beyond a bound is an `ExecutionError`.
   */
  readonly bounds?: Partial<Bounds.Bounds>
  /**
   * What happens to a tool whose definition has changed since it was pinned. `refuse` (default): the tool is not offered, and calls of it
   * are denied. `accept`: the new definition is pinned, and runs emit `tool-changed`. `AskOptions` have a third value, `ask`.
   */
  readonly onChange?: "refuse" | "accept"
  /** What happens to a tool that is new since the first list. `offer` by default: it is offered and pinned. */
  readonly onNew?: "offer" | "refuse"
}

/**
 * Options of a connection that asks a person about tools: a call of a changed or new tool needs an approval. The request has both
 * definitions in `change`, and an approval pins the new definition.
 *
 * @hidden
 */
export type AskOptions = Omit<Options, "onChange" | "onNew"> &
  (
    | { readonly onChange: "ask"; readonly onNew?: Policy["onNew"] }
    | { readonly onChange?: Policy["onChange"]; readonly onNew: "ask" }
  )

/**
 * The connection to one server. If it is lost, the next call connects again. If the server has forgotten the session, the call itself gets a
 * new one, and is sent again if the server's answer proves that it has not begun.
 */
export interface McpConnection<Table = {}> {
  readonly name: string
  /** The negotiated protocol version. */
  readonly version: Connection.Version
  /** The server's instructions for a model. */
  readonly instructions: string | undefined
  /**
   * The tools as the server describes them, from all pages. A tool beyond a bound is left out with a warning. So is a changed or new tool,
   * if the options refuse it.
   */
  readonly list: Effect.Effect<ReadonlyArray<McpSchema.Tool>, ExecutionError>
  /**
   * The reasons why tools are left out: one failure for each tool. Its cause is an `InputTooLargeError`, which names the server, the tool
   * and the bound, or an `McpError` with the reason `changed`.
   */
  readonly refused: Effect.Effect<ReadonlyArray<ExecutionError>, ExecutionError>
  /** The current tools, as tools of this library. Each use of this effect asks the server. */
  readonly tools: Effect.Effect<ReadonlyArray<McpTool.McpTool<Table>>, ExecutionError>
  /** The tools after each change that the server reports. */
  readonly changes: Stream.Stream<ReadonlyArray<McpTool.McpTool<Table>>, ExecutionError>
  /** Makes tools of this library from tools of a list, under the given names. */
  readonly bind: (tools: ReadonlyArray<Names.Named<McpSchema.Tool>>) => ReadonlyArray<McpTool.McpTool<Table>>
  /** The state of each tool: its current definition compared with the pinned one. */
  readonly pins: Effect.Effect<ReadonlyArray<PinnedTool>, ExecutionError>
  /** Pins the current definitions of these tools, or of all tools. Gives the names of the tools whose pins have changed. */
  readonly acceptPins: (tools?: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, ExecutionError>
}

const connecting = <R>(
  name: string,
  way: Way<R>,
  options: Options | AskOptions = {}
): Effect.Effect<McpConnection, ExecutionError, R | Scope.Scope> => {
  const settings: Connection.Settings = {
    versions: options.versions ?? Connection.versions,
    client: options.client ?? { name: "kintsugi", version: "0.0.0" },
    timeout: limit("connectTimeout", options.connectTimeout)
  }
  const timeout = limit("timeout", options.timeout)
  const bounds = Bounds.resolve(options.bounds)
  return Effect.gen(function* () {
    const redact = Redaction.of(way.secrets)
    const { onChange = "refuse", onNew = "offer" } = options
    const pinning = new Pinning(name, redact, { onChange, onNew }, (yield* Pins) ?? memory())
    const stale = () => {
      pinning.isStale = true
    }
    const notices = yield* Notices.make(stale)
    const last = new Last("the last text that it wrote is")
    const printed = new Last("it printed a line that is not a message")
    const opened = yield* way.opening({
      notices,
      bounds,
      wrote: (text) => last.add(text),
      printed: (line) => printed.add(line)
    })
    const where: Failure.Where = { server: name, redact }
    const translate =
      (tool?: string) =>
      <A>(effect: Effect.Effect<A, McpClientError.McpClientError>): Effect.Effect<A, Failure.McpError> =>
        Effect.matchEffect(effect, {
          onSuccess: Effect.succeed,
          onFailure: (error) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) =>
              Effect.fail(
                // Mutant `false` for `tool === undefined` survives: a failure without a tool names none
                Failure.fromClient(tool === undefined ? where : { ...where, tool }, error, {
                  now,
                  also: isSilent(opened, error) ? [last, printed].flatMap((heard) => heard.words()) : []
                })
              )
            )
        })
    const failureOf = (tool: string, error: unknown) =>
      executionErrorOf({ tool, kind: "mcp-tool", category: "mcp", callId: "", args: null }, error)
    const ofServer = Effect.mapError((error: Failure.McpError) => failureOf(name, error))
    // after a reconnection, the server may be another version with other tools
    const renewing = Effect.tap(Connection.connect(opened, notices, settings), () => Effect.sync(stale))
    const renewed = yield* Renewed.renewed(opened, renewing, notices.changed)
    const { client, version } = yield* renewed.current.pipe(translate(), ofServer)
    const listed = Effect.suspend(() => {
      // reset before the request, so that a change during the list leads to another list
      pinning.isStale = false
      return renewed.use(({ client }) => client.listTools())
    }).pipe(
      translate(),
      ofServer,
      Effect.flatMap((all) => {
        const tools: Array<McpSchema.Tool> = []
        const refused: Array<ExecutionError> = []
        for (const tool of all.filter((tool) => options.include?.(tool) ?? true)) {
          const error = McpTool.tooLarge(tool, where, bounds)
          if (error === undefined) tools.push(tool)
          else refused.push(failureOf(tool.name, error))
        }
        return Effect.map(pinning.take(tools), ({ leftOut, offered }) => ({
          tools: offered,
          refused: [
            ...refused,
            ...leftOut.map(({ tool, why }) =>
              failureOf(tool.name, Failure.notPinned({ ...where, tool: tool.name }, why))
            )
          ]
        }))
      }),
      // `pinning.take` fails if its store of pins fails
      Effect.mapError((error) => failureOf(name, error)),
      Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Effect.sync(stale)))
    )
    const list = Effect.flatMap(listed, ({ refused, tools }) =>
      Effect.as(
        // Mutant `false` survives: then it gives an array, which is not read
        Effect.forEach(refused, ({ message }) => Effect.logWarning(oneLine(message)), { discard: true }),
        tools
      )
    )
    const call: McpTool.Calling["call"] = (tool, params, requested) =>
      notices
        .inCall(
          requested,
          renewed.use(({ client }) => called(client, tool, params, timeout), timeout)
        )
        .pipe(translate(tool.name))
    const relist = listed.pipe(Effect.catch((error) => Effect.logWarning(oneLine(error.message))))
    // Mutant `""` survives: no other text is a prefix either
    const { maxResultChars, prefix = "never", putAside } = options
    const { sideEffects = ({ annotations }) => sideEffectsOf(annotations) } = options
    const bind: McpConnection["bind"] = (tools) =>
      tools.map(({ name, tool }) =>
        McpTool.make(tool, {
          name,
          where,
          call,
          sideEffects,
          maxResultChars,
          putAside,
          bounds,
          current: (name) => pinning.currentOf(name),
          pin: (tool, make) => pinning.sourceOf(tool, relist, make)
        })
      )
    const tools = Effect.map(list, (found) =>
      bind(
        Names.resolve(
          found.map((tool) => ({ server: name, name: tool.name, tool })),
          prefix
        )
      )
    )
    const changes = Stream.unwrap(
      Effect.gen(function* () {
        const heard = yield* PubSub.subscribe(notices.changes)
        yield* renewed.listen.pipe(translate(), ofServer)
        return Stream.mapEffect(Stream.fromSubscription(heard), () => tools)
      })
    )
    const { instructions } = client
    return {
      name,
      version,
      instructions: instructions === undefined ? undefined : redact(instructions),
      list,
      refused: Effect.map(listed, ({ refused }) => refused),
      tools,
      changes,
      bind,
      pins: Effect.map(listed, () => pinning.states),
      acceptPins: (tools) =>
        Effect.flatMap(listed, () => Effect.mapError(pinning.acceptAll(tools), (error) => failureOf(name, error)))
    }
  })
}

/**
 * Connects to a server until the scope closes. Then its process stops, or its session ends. Fails with an `ExecutionError` of category
 * `mcp` that names the server. Throws a `RangeError` for invalid limits and bounds.
 */
export const connect = connecting as {
  <R>(name: string, way: Way<R>, options?: Options): Effect.Effect<McpConnection, ExecutionError, R | Scope.Scope>
  // the overload for `AskOptions` differs only in the type: its tools are marked as `NeedsApproval`
  <R>(
    name: string,
    way: Way<R>,
    options: AskOptions
  ): Effect.Effect<McpConnection<Tool.NeedsApproval>, ExecutionError, R | Scope.Scope>
}

const called = (
  client: McpClient.McpClient,
  tool: McpSchema.Tool,
  params: Readonly<Record<string, unknown>>,
  timeout: Duration.Duration
) => client.callTool({ tool, arguments: params }, { timeout })

const limit = (option: string, input: Duration.Input = "60 seconds"): Duration.Duration => {
  const limit = Duration.fromInputUnsafe(input)
  if (Duration.isFinite(limit) && Duration.isGreaterThan(limit, Duration.zero)) return limit
  throw new RangeError(`Mcp: ${option} must be a finite duration above 0, got ${String(input)}`)
}

/** Whether the error has no explanation by the server. Then the output of its process may have one. */
const isSilent = (way: Connection.Way, error: McpClientError.McpClientError): boolean =>
  Connection.isLost(way, error) || (way.kind === "stdio" && error.reason._tag === "TimeoutError")

/**
 * The tools of several servers. If two servers have a tool of the same name, both tools get their server's name as a
 * prefix (`github_search`). `prefix` sets other cases.
 */
export const toolsOf = <Server extends McpConnection | McpConnection<Tool.NeedsApproval>>(
  servers: ReadonlyArray<Server>,
  { prefix = "when-needed" }: { readonly prefix?: Names.Prefix } = {}
): Effect.Effect<ReadonlyArray<ReturnType<Server["bind"]>[number]>, ExecutionError> =>
  Effect.map(
    Effect.forEach(servers, (server) => server.list, { concurrency: "unbounded" }),
    (lists) => {
      const all = servers.flatMap((server, index) =>
        (lists[index] ?? []).map((tool) => ({ server: server.name, name: tool.name, tool: { server, tool } }))
      )
      return Names.resolve(all, prefix).flatMap(
        ({ name, tool: { server, tool } }) =>
          // cast: each server binds only its own tools
          server.bind([{ server: server.name, name, tool }]) as ReadonlyArray<ReturnType<Server["bind"]>[number]>
      )
    }
  )
