/**
 * The tools of MCP servers as ours: with their schemas, their hints, and every failure as an `ExecutionError` of category `mcp`.
 * The protocol is Effect's (`effect/ai`); this module chooses its version, keeps the connection, and hears what a server says by
 * itself. `McpServer` is the other direction.
 */
import * as Bounds from "@kintsugi/core/Bounds"
import type * as Recovery from "@kintsugi/core/Recovery"
import { ExecutionError } from "@kintsugi/core/ToolError"
import type * as McpClient from "effect/ai/McpClient"
import type * as McpClientError from "effect/ai/McpClientError"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as PubSub from "effect/PubSub"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Connection from "./connection.ts"
import * as Failure from "./failure.ts"
import * as Http from "./http.ts"
import * as Names from "./names.ts"
import * as Notices from "./notices.ts"
import * as Stdio from "./stdio.ts"
import * as Redaction from "@kintsugi/core/Redaction"
import * as McpTool from "./tool.ts"

export { versions, type Version } from "./connection.ts"
export { McpError, type Reason } from "./failure.ts"
export type { HttpOptions } from "./http.ts"
export type { Prefix } from "./names.ts"
export type { Progress } from "./notices.ts"
export { McpResult } from "./result.ts"
export type { StdioOptions } from "./stdio.ts"
export { sideEffectsOf, type Hints, type McpTool } from "./tool.ts"

/** How a server is reached; `R` is what that takes. */
export interface Way<out R> {
  readonly kind: "stdio" | "http"
  readonly secrets: ReadonlyArray<string>
  readonly opening: (hearing: Stdio.Hearing) => Effect.Effect<Connection.Way, never, R>
}

/**
 * A program that is started, and speaks the protocol over its standard input and output. It gets the variables that are given
 * and what a program needs to run at all, no others: a stranger's program has no business with the keys of this process.
 */
export const stdio = (options: Stdio.StdioOptions): Way<ChildProcessSpawner> => ({
  kind: "stdio",
  secrets: secretsIn([...Object.values(options.env ?? {}), ...(options.args ?? [])]),
  opening: (hearing) =>
    Effect.map(ChildProcessSpawner, (spawner) => ({
      kind: "stdio",
      open: () =>
        Stdio.open(options, hearing).pipe(
          Effect.provideService(ChildProcessSpawner, spawner),
          Effect.map((transport) => ({ transport, listen: Effect.never }))
        )
    }))
})

/** An address that speaks streamable HTTP. Redirects are followed as the client of the context does: `Transport.layerFetch` does not. */
export const http = (options: Http.HttpOptions): Way<HttpClient.HttpClient> => ({
  kind: "http",
  secrets: [...secretsIn(Object.values(options.headers ?? {})), ...Http.secretsOf(options.url)],
  opening: (hearing) =>
    Effect.map(HttpClient.HttpClient, (client) => ({
      kind: "http",
      open: (adapter) => Http.open(options, adapter, hearing).pipe(Effect.provideService(HttpClient.HttpClient, client))
    }))
})

const secretsIn = (given: ReadonlyArray<string | Redacted.Redacted>): ReadonlyArray<string> =>
  given.flatMap((value) => {
    if (!Redacted.isRedacted(value)) return []
    const secret = String(Redacted.value(value))
    const [scheme = "", ...credentials] = secret.split(" ")
    // what stands after the scheme of an authorization is a secret by itself; of that of a name, its password
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

/** How a server is asked, and what its tools are called. */
export interface Options {
  /** Of one call; 60 s by default. It ends as `ExecutionError`, and the server is told that nobody waits any more. */
  readonly timeout?: Duration.Input
  /** Of the beginning, with all versions that are tried, and of one whole list of tools; 60 s by default. */
  readonly connectTimeout?: Duration.Input
  /** The versions of the protocol that are tried, in this order; all by default, newest first. */
  readonly versions?: ReadonlyArray<Connection.Version>
  /** Who the server is told that it talks to. */
  readonly client?: { readonly name: string; readonly version: string }
  /** Whether models know the tools by the name of the server too; `never` by default, as this is one server. */
  readonly prefix?: Names.Prefix
  /** Which tools there are, by the server's own names of them; all by default. */
  readonly include?: (tool: McpSchema.Tool) => boolean
  /** What running a tool twice would do. By the server's hints by default, which are to be trusted as far as the server is. */
  readonly sideEffects?: (tool: McpSchema.Tool) => Recovery.SideEffects
  /** The longest text of a result that the model reads, in characters; unlimited by default. */
  readonly maxResultChars?: number
  /**
   * How large the schema of a tool and the data of a result may be, before anything expands them: 128 levels, 20,000 nodes of a
   * schema with its references followed, and 256 KiB of a schema by default. A tool beyond a bound is left out (`refused`). A result
   * beyond one is an `ExecutionError`.
   */
  readonly bounds?: Partial<Bounds.Bounds>
}

/** A server that is connected. A connection that is lost is made anew by the next call. */
export interface Server {
  readonly name: string
  /** The version of the protocol that both speak. */
  readonly version: Connection.Version
  /** What the server says that a model should know of it. */
  readonly instructions: string | undefined
  /** The tools as the server describes them, all pages of them, word for word. A tool beyond a bound is left out, with a warning. */
  readonly list: Effect.Effect<ReadonlyArray<McpSchema.Tool>, ExecutionError>
  /** Why tools are left out: one failure for each, with an `InputTooLargeError` that names server, tool and bound as its cause. */
  readonly refused: Effect.Effect<ReadonlyArray<ExecutionError>, ExecutionError>
  /** The tools as they are now: the server is asked each time. */
  readonly tools: Effect.Effect<ReadonlyArray<McpTool.McpTool>, ExecutionError>
  /** The tools each time that the server says that they have changed. */
  readonly changes: Stream.Stream<ReadonlyArray<McpTool.McpTool>, ExecutionError>
  /** The tools of a list under names of their own. */
  readonly bind: (tools: ReadonlyArray<Names.Named<McpSchema.Tool>>) => ReadonlyArray<McpTool.McpTool>
}

/**
 * Connects to a server, and stays connected until the scope ends: then its process is stopped, its session ended. Fails with an
 * `ExecutionError` of category `mcp` that names the server. Throws a `RangeError` for senseless limits and bounds.
 */
export const connect = <R>(
  name: string,
  way: Way<R>,
  options: Options = {}
): Effect.Effect<Server, ExecutionError, R | Scope.Scope> => {
  const settings: Connection.Settings = {
    versions: options.versions ?? Connection.versions,
    client: options.client ?? { name: "kintsugi", version: "0.0.0" },
    timeout: limit("connectTimeout", options.connectTimeout)
  }
  const timeout = limit("timeout", options.timeout)
  const bounds = Bounds.resolve(options.bounds)
  return Effect.gen(function* () {
    const notices = yield* Notices.make
    const last = new Last("at last it wrote")
    const printed = new Last("it printed what is no message")
    const opened = yield* way.opening({
      notices,
      bounds,
      wrote: (text) => last.add(text),
      printed: (line) => printed.add(`${line}\n`)
    })
    const mask = Redaction.of(way.secrets)
    const where: Failure.Where = { server: name, mask }
    const translate =
      (tool?: string) =>
      <A>(effect: Effect.Effect<A, McpClientError.McpClientError>): Effect.Effect<A, Failure.McpError> =>
        Effect.matchEffect(effect, {
          onSuccess: Effect.succeed,
          onFailure: (error) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) =>
              Effect.fail(
                Failure.fromClient(tool === undefined ? where : { ...where, tool }, error, {
                  now,
                  also: isSilent(opened, error) ? [last, printed].flatMap((heard) => heard.words()) : []
                })
              )
            )
        })
    const failureOf = (tool: string, error: unknown) =>
      ExecutionError.wrap({ tool, kind: "mcp-tool", category: "mcp", callId: "", args: null }, error)
    const ofServer = Effect.mapError((error: Failure.McpError) => failureOf(name, error))
    const renewed = yield* Connection.renewed(opened, Connection.connect(opened, notices, settings))
    const { client, version } = yield* renewed.current.pipe(translate(), ofServer)
    const listed = renewed
      .use(({ client }) => client.listTools())
      .pipe(
        translate(),
        Effect.map((all) => {
          const tools: Array<McpSchema.Tool> = []
          const refused: Array<ExecutionError> = []
          for (const tool of all.filter((tool) => options.include?.(tool) ?? true)) {
            const error = McpTool.tooLarge(tool, where, bounds)
            if (error === undefined) tools.push(tool)
            else refused.push(failureOf(tool.name, error))
          }
          return { tools, refused }
        }),
        ofServer
      )
    const list = Effect.flatMap(listed, ({ refused, tools }) =>
      Effect.as(
        Effect.forEach(refused, ({ message }) => Effect.logWarning(message), { discard: true }),
        tools
      )
    )
    const call: McpTool.Calling["call"] = (tool, params) =>
      renewed.use(({ client }) => called(client, tool, params, timeout)).pipe(translate(tool.name))
    const {
      maxResultChars,
      prefix = "never",
      sideEffects = ({ annotations }) => McpTool.sideEffectsOf(annotations)
    } = options
    const bind: Server["bind"] = (tools) =>
      tools.map(({ name, tool }) =>
        McpTool.make(tool, { name, where, call, sideEffects: sideEffects(tool), maxResultChars, bounds })
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
        yield* renewed.current.pipe(translate(), ofServer)
        const listen = Effect.flatMap(renewed.current, ({ listen }) => listen).pipe(Effect.orElseSucceed(() => false))
        // a server may end its stream at any time, and is listened to again
        yield* Effect.forkScoped(
          Effect.repeat(listen, { while: (more) => more, schedule: Schedule.spaced("1 second") })
        )
        return Stream.mapEffect(Stream.fromSubscription(heard), () => tools)
      })
    )
    const { instructions } = client
    return {
      name,
      version,
      instructions: instructions === undefined ? undefined : mask(instructions),
      list,
      refused: Effect.map(listed, ({ refused }) => refused),
      tools,
      changes,
      bind
    }
  })
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

/** Whether a server said nothing that would tell why: what its process wrote may. */
const isSilent = (way: Connection.Way, error: McpClientError.McpClientError): boolean =>
  Connection.isLost(way, error) || (way.kind === "stdio" && error.reason._tag === "TimeoutError")

/** The last that a process wrote to one of its outputs: why it went away, most often. */
class Last {
  readonly #how: string
  #text = ""

  constructor(how: string) {
    this.#how = how
  }

  add(text: string): void {
    const all = `${this.#text}${text}`
    // a word that is cut may be half a secret, and half of one is not known again
    this.#text = all.length > most ? all.slice(-most).replace(/^\S+/, "") : all
  }

  words(): ReadonlyArray<string> {
    const text = this.#text.trim()
    this.#text = ""
    return text === "" ? [] : [`${this.#how}: ${text}`]
  }
}

const most = 500

/**
 * The tools of several servers. Where two have one of the same name, both get the name of their server before it
 * (`github_search`), so that none hides another; `prefix` says when else.
 */
export const toolsOf = (
  servers: ReadonlyArray<Server>,
  { prefix = "when-needed" }: { readonly prefix?: Names.Prefix } = {}
): Effect.Effect<ReadonlyArray<McpTool.McpTool>, ExecutionError> =>
  Effect.map(
    Effect.forEach(servers, (server) => server.list, { concurrency: "unbounded" }),
    (lists) => {
      const all = servers.flatMap((server, index) =>
        (lists[index] ?? []).map((tool) => ({ server: server.name, name: tool.name, tool: { server, tool } }))
      )
      return Names.resolve(all, prefix).flatMap(({ name, tool: { server, tool } }) =>
        server.bind([{ server: server.name, name, tool }])
      )
    }
  )
