/** Makes one connection to an MCP server: it negotiates the protocol version, and tries another version if the server refuses one. */
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

/** A version of the protocol, named by the date of its specification. */
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
    // Casts: Effect's client has types only for the two newest versions, so older ones use the type of 2025-11-25.
    case "2025-06-18":
      return McpProtocol.v2025_06_18 as McpProtocol.AnyProtocolAdapter as Adapter
    case "2025-03-26":
      return McpProtocol.v2025_03_26 as McpProtocol.AnyProtocolAdapter as Adapter
    case "2024-11-05":
      return McpProtocol.v2024_11_05 as McpProtocol.AnyProtocolAdapter as Adapter
  }
}

/** How to open a transport to a server. */
export interface Way {
  /**
   * `stdio`: a process that is lost cannot be reached again, and accepts any version. `http`: the server can be reached again, and gets the
   * version in each request.
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
  /** The time limit of connecting, and of a whole list of tools. */
  readonly timeout: Duration.Duration
}

export interface Connection {
  readonly client: McpClient.McpClient
  readonly version: Version
  /** Receives the server's notifications until the server ends their stream. Gives whether the stream may be opened again. */
  readonly listen: Effect.Effect<boolean, Failure>
  /** Whether the server declares that it reports changes of its tools. */
  readonly reportsChanges: boolean
}

/**
 * How long a server may take to answer a request of the newest version. A server that does not know the version may not even answer with an
 * error.
 */
const probe = Duration.seconds(5)

/** Tries the versions in their order, within the time limit. If the server names another of the versions, it is tried next. */
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
            // A lost connection is a reason to try an older version only if a server may disconnect because of the unknown request.
            if (version !== "2026-07-28" || opened === undefined) return Effect.fail(error)
            opened = undefined
          } else if (!mayKnowAnother(error)) return Effect.fail(error)
          const named = settings.versions.find((other) => other === spoken.answered)
          // Mutant `true` for `named !== undefined` survives: no version is `undefined`
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

/** Whether a failure means that the connection is lost. */
export const isLost = (way: Way, { reason }: Failure): boolean => {
  if (reason._tag === "ClosedError") return true
  if (way.kind === "http") return false
  // A process has one stream for its output: once it is unreadable, no further message can be read.
  return (
    reason._tag === "TransportError" ||
    reason._tag === "LimitError" ||
    (reason._tag === "ProtocolError" && reason.code === undefined)
  )
}

/** The statuses with which a server refuses the caller in every version. */
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

/**
 * Watches the messages of one connection. It keeps what the server declares at the beginning, and adds fields to requests that Effect's
 * client lacks.
 */
class Spoken {
  readonly #notices: Notices
  /** The answer to the first `initialize`. A process gets that request only once, so later ones get this answer. */
  #initialized: McpSchema.JsonRpcResponse | undefined
  /** The client's metadata, which every request of the newest version needs. */
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
        // Mutant `message.params["_meta"]` survives: each request of Effect's client has parameters
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
      // Mutant `false` survives: an answer without a result names no version either
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

  /** Subscribes to notifications with a request, which is the way of the newest version. */
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

/** Notes what a server asks its client for. In the newest version it does so in the answer to a call. */
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
