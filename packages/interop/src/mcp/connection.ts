/** One connection to an MCP server: which version of the protocol both speak, and a new one when it was lost. */
import * as McpClient from "effect/ai/McpClient"
import * as McpClientError from "effect/ai/McpClientError"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Notices } from "./notices.ts"

type Failure = McpClientError.McpClientError

/** A version of the protocol, by the date of its specification. */
export type Version = McpProtocol.ProtocolVersion

/** All that there are, newest first. */
export const versions = [
  "2026-07-28",
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05"
] as const satisfies ReadonlyArray<Version>

export type Adapter = McpProtocol.ProtocolAdapter<McpClient.ProtocolVersion>

const adapterOf = (version: Version): Adapter => {
  switch (version) {
    case "2026-07-28":
      return McpProtocol.v2026_07_28
    case "2025-11-25":
      return McpProtocol.v2025_11_25
    // Effect's client is typed for the two newest versions; the older ones speak as the second of them does
    case "2025-06-18":
      return McpProtocol.v2025_06_18 as McpProtocol.AnyProtocolAdapter as Adapter
    case "2025-03-26":
      return McpProtocol.v2025_03_26 as McpProtocol.AnyProtocolAdapter as Adapter
    case "2024-11-05":
      return McpProtocol.v2024_11_05 as McpProtocol.AnyProtocolAdapter as Adapter
  }
}

/** A way to a server: made anew for each connection. */
export interface Way {
  /** A process cannot be reached again once it is lost, and speaks any version; an address can, and is told the version at once. */
  readonly kind: "stdio" | "http"
  readonly open: (
    adapter: Adapter
  ) => Effect.Effect<
    { readonly transport: McpClient.Transport; readonly listen: Effect.Effect<boolean> },
    Failure,
    Scope.Scope
  >
}

export interface Settings {
  readonly versions: ReadonlyArray<Version>
  readonly client: { readonly name: string; readonly version: string }
  /** Of the beginning, and of a whole list. */
  readonly timeout: Duration.Duration
}

export interface Connection {
  readonly client: McpClient.McpClient
  readonly version: Version
  /** Hears what the server says by itself, until it says no more; whether it may say more when it is asked again. */
  readonly listen: Effect.Effect<boolean>
}

/** How long a server that may not know the newest version, and may not even say so, has to answer to it. */
const probe = Duration.seconds(5)

/** Tries the versions, newest first, for as long as connecting may take. A server that names another one is taken at its word. */
export const connect = (
  way: Way,
  notices: Notices,
  settings: Settings
): Effect.Effect<Connection, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    let opened: Effect.Success<ReturnType<Way["open"]>> | undefined
    const spoken = new Spoken(notices)
    const attempt = (version: Version) =>
      Effect.gen(function* () {
        const adapter = adapterOf(version)
        if (opened === undefined || way.kind === "http") opened = yield* way.open(adapter)
        const { listen } = opened
        const transport: McpClient.Transport = spoken.through({ ...opened.transport, protocol: adapter }, way.kind)
        const isProbe = version === versions[0] && settings.versions.length > 1
        const { client: identity, timeout } = settings
        const client = yield* McpClient.make({
          ...identity,
          timeout: isProbe ? Duration.min(probe, Duration.times(timeout, 0.5)) : timeout
        }).pipe(Effect.provideService(McpClient.Transport, transport))
        return {
          client,
          version,
          listen: version === "2026-07-28" ? spoken.subscribe(transport) : listen
        }
      })
    const from = (version: Version, rest: ReadonlyArray<Version>): Effect.Effect<Connection, Failure, Scope.Scope> =>
      Effect.matchEffect(attempt(version), {
        onSuccess: Effect.succeed,
        onFailure: (error) => {
          if (isLost(way, error)) {
            // only a server that does not know what it was asked may go away because of that
            if (version !== "2026-07-28" || opened === undefined) return Effect.fail(error)
            opened = undefined
          } else if (!mayKnowAnother(error)) return Effect.fail(error)
          const named = settings.versions.find((other) => other === spoken.answered)
          const next = named !== undefined && rest.includes(named) ? named : rest[0]
          if (next === undefined) return Effect.fail(error)
          return from(
            next,
            rest.filter((other) => other !== next)
          )
        }
      })
    const [first, ...rest] = settings.versions
    return yield* from(first ?? versions[0], rest)
  }).pipe(Effect.timeoutOrElse({ duration: settings.timeout, orElse: () => Effect.fail(late) }))

const late = new McpClientError.McpClientError({
  reason: new McpClientError.TimeoutError({ operation: "initialization" })
})

/** Whether nothing more can be had of a connection. */
export const isLost = (way: Way, { reason }: Failure): boolean => {
  if (reason._tag === "ClosedError") return true
  if (way.kind === "http") return false
  // what a process writes is one stream: when it cannot be read any more, nothing can
  return (
    reason._tag === "TransportError" ||
    reason._tag === "LimitError" ||
    (reason._tag === "ProtocolError" && reason.code === undefined)
  )
}

/** The server refuses the caller, in every version. */
const refused: ReadonlySet<number> = new Set([401, 403, 407, 429])

const mayKnowAnother = ({ reason }: Failure): boolean => {
  switch (reason._tag) {
    case "HttpError":
      return !refused.has(reason.status) && !(reason.status >= 300 && reason.status < 400)
    case "ProtocolError":
    case "UnsupportedError":
    case "ValidationError":
    case "TimeoutError":
      return true
    default:
      return false
  }
}

/** What was said at the beginning, and what has to be added to what Effect's client says. */
class Spoken {
  readonly #notices: Notices
  /** The answer to the first `initialize`: a process is not to be asked twice. */
  #initialized: McpSchema.JsonRpcResponse | undefined
  /** What a client of the newest version says of itself in every request. */
  #meta: unknown
  answered: string | undefined

  constructor(notices: Notices) {
    this.#notices = notices
  }

  through(inner: McpClient.Transport, kind: Way["kind"]): McpClient.Transport {
    return {
      ...inner,
      request: (message, tool) => {
        this.#meta = message.params?.["_meta"] ?? this.#meta
        if (message.method === "tools/call") return this.#call(inner, message, tool)
        if (message.method !== "initialize") return inner.request(message, tool)
        return this.#initialized === undefined || kind === "http"
          ? Effect.tap(inner.request(message, tool), (answer) => this.#hear(answer))
          : Effect.succeed({ ...this.#initialized, id: message.id })
      }
    }
  }

  #call(inner: McpClient.Transport, message: McpSchema.JsonRpcRequest, tool: McpSchema.Tool | undefined) {
    return Effect.flatMap(this.#notices.expect, (token) =>
      token === undefined
        ? inner.request(message, tool)
        : Effect.ensuring(
            inner.request(withToken(message, token), tool),
            Effect.sync(() => this.#notices.forget(token))
          )
    )
  }

  #hear(answer: McpSchema.JsonRpcResponse): Effect.Effect<void> {
    return Effect.sync(() => {
      if (!("result" in answer)) return
      const { result } = answer
      const version = Predicate.isReadonlyObject(result) ? result["protocolVersion"] : undefined
      if (!Predicate.isString(version)) return
      this.#initialized = answer
      this.answered = version
    })
  }

  /** The newest version asks for what it wants to hear. */
  subscribe(transport: McpClient.Transport): Effect.Effect<boolean> {
    return Effect.suspend(() =>
      transport.request({
        jsonrpc: "2.0",
        id: "listen",
        method: "subscriptions/listen",
        params: { _meta: this.#meta, notifications: { toolsListChanged: true } }
      })
    ).pipe(
      Effect.map((answer) => "result" in answer),
      Effect.orElseSucceed(() => false)
    )
  }
}

const withToken = (message: McpSchema.JsonRpcRequest, token: number): McpSchema.JsonRpcRequest => {
  const meta = message.params?.["_meta"]
  return {
    ...message,
    params: {
      ...message.params,
      _meta: { ...(Predicate.isReadonlyObject(meta) ? meta : {}), progressToken: token }
    }
  }
}

/** A connection that is made anew once it was lost; all that was of the old one is closed. */
export interface Renewed {
  readonly current: Effect.Effect<Connection, Failure>
  /** Uses the connection; notices when it is lost. */
  readonly use: <A>(f: (connection: Connection) => Effect.Effect<A, Failure>) => Effect.Effect<A, Failure>
}

export const renewed = (
  way: Way,
  connecting: Effect.Effect<Connection, Failure, Scope.Scope>
): Effect.Effect<Renewed, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const one = Semaphore.makeUnsafe(1)
    let live: { readonly connection: Connection; readonly scope: Scope.Closeable } | undefined
    const open = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const own = yield* Scope.fork(scope)
        const connection = yield* restore(Scope.provide(connecting, own)).pipe(
          // what was begun is closed meanwhile: a process may take its time
          Effect.onExit((exit) =>
            Exit.isSuccess(exit) ? Effect.void : Effect.asVoid(Effect.forkIn(Scope.close(own, exit), scope))
          )
        )
        live = { connection, scope: own }
        return connection
      })
    )
    const current = one.withPermits(1)(
      Effect.suspend(() => (live === undefined ? open : Effect.succeed(live.connection)))
    )
    const lose = (connection: Connection) =>
      Effect.suspend(() => {
        if (live?.connection !== connection) return Effect.void
        const { scope: old } = live
        live = undefined
        return Effect.asVoid(Effect.forkIn(Scope.close(old, Exit.void), scope))
      })
    return {
      current,
      use: (f) =>
        Effect.flatMap(current, (connection) =>
          Effect.tapError(f(connection), (error) => (isLost(way, error) ? lose(connection) : Effect.void))
        )
    }
  })
