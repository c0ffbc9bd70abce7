/**
 * Reads foreign failures: their names, codes and statuses. It knows those of `fetch`, `effect/http`, sockets, `AbortSignal`,
 * `Effect.timeout`, Node, Bun and Deno. The transports of models and the tools share it. It imports nothing.
 */

/**
 * How a connection failed. `silent`: the peer did not answer. `oversized`: the head of the answer exceeds the client's limit. `broken`: any
 * other failure.
 */
type Connection =
  | "refused"
  | "unresolved"
  | "unreachable"
  | "untrusted"
  | "slow-connect"
  | "silent"
  | "oversized"
  | "lost"
  | "broken"

/**
 * The kind of a foreign failure.
 *
 * @internal
 */
export type ForeignFailure =
  /** The peer answered with a status from 400 to 599. `wait` is the requested wait in seconds, if there is one. */
  | { readonly type: "status"; readonly status: number; readonly retryAfter?: string }
  | { readonly type: "connection"; readonly connection: Connection }
  /** The operating system refused: because of the input (`input`), a missing permission (`access`), or because it is busy (`busy`). */
  | { readonly type: "system"; readonly refused: "input" | "access" | "busy" }

/**
 * The kind of any failure; `undefined` if its structure does not show one. Messages are read only of failures of `fetch`.
 *
 * @internal
 */
export const of = (failure: unknown): ForeignFailure | undefined => {
  const chain = chainOf(failure)
  for (const link of chain) {
    const status = statusOf(link)
    if (status !== undefined) return { type: "status", ...status }
  }
  const signs = signsOf(chain)
  const connection = codedOf(signs)
  if (connection !== undefined) return { type: "connection", connection }
  if (isNamed(signs, ofConnections) || chain.some(isOfFetch)) return { type: "connection", connection: worded(signs) }
  const refused = system.find(({ names }) => isNamed(signs, names))?.refused
  return refused === undefined ? undefined : { type: "system", refused }
}

/** How a connection failed, by codes, and then by messages. The codes and messages are those of the failure and its causes. */
export const connectionOf = (failure: unknown): Connection => {
  const signs = signsOf(chainOf(failure))
  return codedOf(signs) ?? worded(signs)
}

/**
 * A failure and everything behind it, the nearest first. The list has its causes, its reasons and the members of an aggregate: each once,
 * 100 at most.
 */
export const chainOf = (failure: unknown): ReadonlyArray<unknown> => {
  const chain = new Set<unknown>()
  const queue = [failure]
  for (const link of queue) {
    if (link === undefined || link === null || chain.has(link)) continue
    if (chain.add(link).size === longest) break
    const members = propertyOf(link, "errors")
    if (Array.isArray(members)) queue.push(...members.slice(0, longest))
    const reason = propertyOf(link, "reason")
    if (typeof reason === "object") queue.push(reason)
    queue.push(propertyOf(link, "cause"))
  }
  return [...chain]
}

const longest = 100

interface Signs {
  readonly names: ReadonlySet<string>
  readonly words: string
}

/** The codes, names and tags of a failure and its causes, and all their words. */
const signsOf = (chain: ReadonlyArray<unknown>): Signs => {
  const names = new Set<string>()
  const words: Array<string> = []
  for (const link of chain) {
    for (const key of ["code", "name", "_tag"]) {
      const name = propertyOf(link, key)
      if (typeof name === "string") names.add(name === "ETIMEDOUT" && !isConnecting(link) ? noAnswer : name)
    }
    const message = typeof link === "string" ? link : propertyOf(link, "message")
    if (typeof message === "string") words.push(message.slice(0, mostWords))
  }
  return { names, words: words.join("\n") }
}

/** A peer that was connected, and did not answer in time. */
const noAnswer = "ETIMEDOUT after connect"

/**
 * Whether an `ETIMEDOUT` belongs to a connection. The system reports this code for any call, and clients such as axios and got for their
 * own limit.
 */
const isConnecting = (link: unknown): boolean => {
  const call = propertyOf(link, "syscall")
  return typeof call === "string" ? call === "connect" : propertyOf(link, "name") === "Error"
}

/** UTF-16 units of one message. */
const mostWords = 2000

const isNamed = ({ names }: Signs, wanted: ReadonlyArray<string>): boolean => wanted.some((name) => names.has(name))

const codedOf = (signs: Signs): Connection | undefined =>
  connections.find(({ names }) => isNamed(signs, names))?.connection

/** The first match counts: if several connections failed, failures after the request was sent come first. */
const connections: ReadonlyArray<{
  readonly connection: Connection
  readonly names: ReadonlyArray<string>
}> = [
  { connection: "silent", names: ["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", noAnswer] },
  { connection: "oversized", names: ["UND_ERR_HEADERS_OVERFLOW", "HPE_HEADER_OVERFLOW"] },
  {
    connection: "lost",
    names: [
      "ECONNRESET",
      "ECONNABORTED",
      "EPIPE",
      "UND_ERR_SOCKET",
      "ERR_STREAM_PREMATURE_CLOSE",
      "ConnectionClosed",
      "ConnectionReset"
    ]
  },
  {
    connection: "slow-connect",
    names: ["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT", "ConnectionTimeout", "ERR_SOCKET_CONNECTION_TIMEOUT"]
  },
  { connection: "refused", names: ["ECONNREFUSED", "ConnectionRefused"] },
  {
    connection: "unresolved",
    names: ["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME", "DNSException", "DNSLookupFailed"]
  },
  {
    connection: "unreachable",
    names: ["EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENETDOWN", "EADDRNOTAVAIL"]
  },
  {
    // OpenSSL's names of what may be wrong with a certificate, as Node and Bun report them
    connection: "untrusted",
    names: [
      "CERT_HAS_EXPIRED",
      "CERT_NOT_YET_VALID",
      "CERT_REVOKED",
      "CERT_UNTRUSTED",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "ERR_TLS_CERT_ALTNAME_INVALID",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "UNABLE_TO_GET_ISSUER_CERT",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
    ]
  }
]

/** Names of connection failures that say nothing more: of `effect`, axios and `AbortSignal`. */
const ofConnections: ReadonlyArray<string> = [
  "TransportError",
  "SocketError",
  "ERR_NETWORK",
  "TimeoutError",
  "AbortError"
]

/** A `TypeError` with the words of `fetch`: of Node, of Deno, of Chrome, of Firefox, of Safari. */
const isOfFetch = (link: unknown): boolean => {
  const message = propertyOf(link, "message")
  return propertyOf(link, "name") === "TypeError" && typeof message === "string" && fetchWords.test(message)
}

const fetchWords = /^(?:fetch failed|error sending request|failed to fetch|networkerror when attempting|load failed)/i

const worded = (signs: Signs): Connection => sayings.find(([says]) => says(signs))?.[1] ?? "broken"

const saying =
  (pattern: RegExp) =>
  ({ words }: Signs): boolean =>
    pattern.test(words)

/** Whether a text mentions a timeout, and a connection in the 200 characters before it. */
const isSlowToConnect = ({ words }: Signs): boolean =>
  Array.from(words.matchAll(/timed? ?out|deadline has elapsed/gi)).some(({ index }) => {
    const before = words.slice(Math.max(0, index - 200), index)
    const start = before.search(/connect/i)
    // without a space the words are part of a name
    return start >= 0 && /\W/.test(before.slice(start))
  })

/** The first that matches. */
const sayings: ReadonlyArray<readonly [(signs: Signs) => boolean, Connection]> = [
  [isSlowToConnect, "slow-connect"],
  [saying(/connection refused|actively refused|unable to connect/i), "refused"],
  [saying(/dns error|failed to lookup address|name or service not known|name resolution/i), "unresolved"],
  [saying(/no route to host|(?:network|host) (?:is )?unreachable/i), "unreachable"],
  [saying(/invalid peer certificate|certificate (?:has )?expired|self.signed certificate/i), "untrusted"],
  [(signs) => isNamed(signs, ["TimeoutError"]), "silent"],
  [saying(/(?:headers|body|read|request) timed? ?out|operation timed out/i), "silent"],
  [saying(/connection (?:was )?(?:closed|reset|aborted|error|lost)|forcibly closed|broken pipe/i), "lost"],
  [saying(/socket|terminated|reading a body|before message|unexpected eof|handshake eof|network error/i), "lost"]
]

const system: ReadonlyArray<{
  readonly refused: "input" | "access" | "busy"
  readonly names: ReadonlyArray<string>
}> = [
  {
    refused: "input",
    names: ["ENOENT", "ENOTDIR", "EISDIR", "EEXIST", "ENOTEMPTY", "ENAMETOOLONG", "ERR_INVALID_URL", "InvalidUrlError"]
  },
  { refused: "access", names: ["EACCES", "EPERM", "EROFS"] },
  { refused: "busy", names: ["EAGAIN", "EBUSY", "EMFILE", "ENFILE"] }
]

/** The HTTP status of a failure, from the field in which `effect/http`, axios, got, ky, model SDKs or the AWS SDK keep it. */
const statusOf = (link: unknown): { readonly status: number; readonly retryAfter?: string } | undefined => {
  const response = propertyOf(link, "response")
  for (const [holder, key] of [
    [link, "status"],
    [link, "statusCode"],
    [response, "status"],
    [response, "statusCode"],
    [propertyOf(link, "$metadata"), "httpStatusCode"]
  ] as const) {
    const status = propertyOf(holder, key)
    if (typeof status !== "number" || !Number.isInteger(status) || status < 400 || status > 599) continue
    const retryAfter = retryAfterOf(propertyOf(response, "headers")) ?? retryAfterOf(propertyOf(link, "headers"))
    return retryAfter === undefined ? { status } : { status, retryAfter }
  }
  return undefined
}

const retryAfterOf = (headers: unknown): string | undefined => {
  const get = propertyOf(headers, "get")
  const value =
    propertyOf(headers, "retry-after") ??
    (typeof get === "function" ? quietly(() => get.call(headers, "retry-after")) : undefined)
  return typeof value === "string" ? value : undefined
}

const propertyOf = (value: unknown, key: string): unknown =>
  // Mutant `true` for `value !== null` survives: what throws has no properties either
  typeof value === "object" && value !== null ? quietly(() => Reflect.get(value, key)) : undefined

/** Foreign objects may throw when they are looked at. */
const quietly = (look: () => unknown): unknown => {
  try {
    return look()
  } catch {
    return undefined
  }
}
