/** One connection to an MCP server: negotiates the protocol version, and reconnects after a loss. */
import * as McpClient from "effect/ai/McpClient"
import * as McpClientError from "effect/ai/McpClientError"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { InCall, type Notices, type Requested } from "./notices.ts"

type Failure = McpClientError.McpClientError

/** A version of the protocol, by the date of its specification. */
export type Version = McpProtocol.ProtocolVersion

/** All versions, newest first. */
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
    // Effect's client has types for the two newest versions; older ones use that of the second.
    case "2025-06-18":
      return McpProtocol.v2025_06_18 as McpProtocol.AnyProtocolAdapter as Adapter
    case "2025-03-26":
      return McpProtocol.v2025_03_26 as McpProtocol.AnyProtocolAdapter as Adapter
    case "2024-11-05":
      return McpProtocol.v2024_11_05 as McpProtocol.AnyProtocolAdapter as Adapter
  }
}

/** A way to reach a server, for one connection. */
export interface Way {
  /**
   * A lost process cannot be reached again, and accepts any version. An HTTP server can, and gets the version in each
   * request.
   */
  readonly kind: "stdio" | "http"
  readonly connect: (
    adapter: Adapter
  ) => Effect.Effect<
    { readonly transport: McpClient.Transport; readonly listen: Effect.Effect<boolean, Failure> },
    Failure,
    Scope.Scope
  >
}

export interface Settings {
  readonly versions: ReadonlyArray<Version>
  readonly client: { readonly name: string; readonly version: string }
  /** The time limit of connecting, and of a whole list. */
  readonly timeout: Duration.Duration
}

export interface Connection {
  readonly client: McpClient.McpClient
  readonly version: Version
  /** Receives the server's notifications until it ends their stream. Returns whether the stream may be opened again. */
  readonly listen: Effect.Effect<boolean, Failure>
  /** Whether the server says that it reports changes of its tools. */
  readonly reportsChanges: boolean
}

/** How long a server has to answer to the newest version: it may not know it, and not even reply with an error. */
const probe = Duration.seconds(5)

/** Tries the versions, newest first, within the time limit. If the server names another version, it is used. */
export const connect = (
  way: Way,
  notices: Notices,
  settings: Settings
): Effect.Effect<Connection, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    let opened: Effect.Success<ReturnType<Way["connect"]>> | undefined
    const spoken = new Spoken(notices)
    const attempt = (version: Version) =>
      Effect.gen(function* () {
        const adapter = adapterOf(version)
        if (opened === undefined || way.kind === "http") opened = yield* way.connect(adapter)
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
          reportsChanges: spoken.reportsChanges,
          listen: version === "2026-07-28" ? spoken.subscribe(transport) : listen
        }
      })
    const from = (version: Version, rest: ReadonlyArray<Version>): Effect.Effect<Connection, Failure, Scope.Scope> =>
      Effect.matchEffect(attempt(version), {
        onSuccess: Effect.succeed,
        onFailure: (error) => {
          if (isLost(way, error)) {
            // Only a server that does not know the request may disconnect because of it.
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

/** Whether a connection is lost. */
export const isLost = (way: Way, { reason }: Failure): boolean => {
  if (reason._tag === "ClosedError") return true
  if (way.kind === "http") return false
  // The output of a process is one stream: once it is unreadable, nothing more follows.
  return (
    reason._tag === "TransportError" ||
    reason._tag === "LimitError" ||
    (reason._tag === "ProtocolError" && reason.code === undefined)
  )
}

/** Statuses that refuse the caller in every version. */
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

/** The initial messages, and the fields that Effect's client lacks. */
class Spoken {
  readonly #notices: Notices
  /** The answer to the first `initialize`: a process must not get it twice. */
  #initialized: McpSchema.JsonRpcResponse | undefined
  /** The client metadata that the newest version demands in every request. */
  #meta: unknown
  answered: string | undefined
  /** Whether the server declares that it reports changes of its tools. */
  reportsChanges = false

  constructor(notices: Notices) {
    this.#notices = notices
  }

  through(inner: McpClient.Transport, kind: Way["kind"]): McpClient.Transport {
    return {
      ...inner,
      request: (message, tool) => {
        this.#meta = message.params?.["_meta"] ?? this.#meta
        if (message.method === "tools/call") return this.#call(inner, message, tool)
        if (message.method === "server/discover") {
          return Effect.tap(inner.request(message, tool), (answer) => Effect.sync(() => this.#declared(answer)))
        }
        if (message.method !== "initialize") return inner.request(message, tool)
        return this.#initialized === undefined || kind === "http"
          ? Effect.tap(inner.request(message, tool), (answer) => this.#hear(answer))
          : Effect.succeed({ ...this.#initialized, id: message.id })
      }
    }
  }

  #call(inner: McpClient.Transport, message: McpSchema.JsonRpcRequest, tool: McpSchema.Tool | undefined) {
    const answer = Effect.flatMap(this.#notices.expect, (token) =>
      token === undefined
        ? inner.request(message, tool)
        : Effect.ensuring(
            inner.request(withToken(message, token), tool),
            Effect.sync(() => this.#notices.forget(token))
          )
    )
    return Effect.tap(answer, (answer) => Effect.map(InCall, (requested) => addRequests(answer, requested)))
  }

  #hear(answer: McpSchema.JsonRpcResponse): Effect.Effect<void> {
    return Effect.sync(() => {
      this.#declared(answer)
      if (!("result" in answer)) return
      const { result } = answer
      const version = Predicate.isReadonlyObject(result) ? result["protocolVersion"] : undefined
      if (!Predicate.isString(version)) return
      this.#initialized = answer
      this.answered = version
    })
  }

  #declared(answer: McpSchema.JsonRpcResponse): void {
    const result = "result" in answer ? answer.result : undefined
    const capabilities = Predicate.isReadonlyObject(result) ? result["capabilities"] : undefined
    const tools = Predicate.isReadonlyObject(capabilities) ? capabilities["tools"] : undefined
    this.reportsChanges = Predicate.isReadonlyObject(tools) && tools["listChanged"] === true
  }

  /** Subscribes to notifications, as the newest version demands. */
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

/** In the newest version a server asks its client for something by its answer. */
const addRequests = (answer: McpSchema.JsonRpcResponse, requested: Requested | undefined): void => {
  const result = "result" in answer ? answer.result : undefined
  if (requested === undefined || !Predicate.isReadonlyObject(result) || result["resultType"] !== "input_required")
    return
  const { inputRequests } = result
  const requests = Predicate.isReadonlyObject(inputRequests) ? Object.values(inputRequests) : []
  if (requests.length === 0) requested.add("input")
  for (const request of requests) if (Predicate.isReadonlyObject(request)) requested.add(request["method"])
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
