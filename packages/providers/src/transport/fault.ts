/**
 * From a failure beneath HTTP to one error. Every runtime reports in its own way: Node's fetch with a code in the cause
 * (undici's or the system's), Bun with a code or name of its own, Deno in words only.
 */
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Source from "./Source.ts"

/** Where the request went, and for how long it had been under way. */
export interface Attempt {
  readonly source: Source.Source
  readonly url: URL
  readonly elapsed: Duration.Duration
}

/** A `RequestTimeoutError` where the runtime gave up on a silent server, else a `NetworkError`. */
export const fromCause = (cause: unknown, attempt: Attempt): LlmError.NetworkError | LlmError.RequestTimeoutError => {
  const { source, url } = attempt
  const signs = signsOf(cause)
  const kind = kinds.find(([matches]) => matches(signs))?.[1] ?? "broken"
  const common = { provider: source.provider, model: source.model, cause: Source.scrubCause(cause) }
  if (kind === "silent") return timedOut(source, url, attempt.elapsed, common.cause)
  const port = portOf(url)
  const name = port === undefined ? url.hostname : `${url.hostname}:${port}`
  return LlmError.NetworkError.connectionFailed(peerOf(url), sentences[kind](name), common)
}

/** The answer did not come within `timeout`. */
export const timedOut = (
  { model, provider }: Source.Source,
  url: URL,
  timeout: Duration.Duration,
  cause?: unknown
): LlmError.RequestTimeoutError =>
  LlmError.RequestTimeoutError.timedOut(`POST ${url.origin}${url.pathname}`, timeout, {
    provider,
    model,
    ...(cause === undefined ? {} : { cause })
  })

/** Nothing of the reply came for as long as `limit`, while somebody waited for it. */
export const silent = ({ model, provider }: Source.Source, url: URL, limit: Duration.Duration) =>
  LlmError.RequestTimeoutError.timedOut(`POST ${url.origin}${url.pathname}`, limit, {
    provider,
    model,
    detail: "the stream was silent"
  })

/** The connection ended before the reply was complete. */
export const incomplete = (source: Source.Source, url: URL): LlmError.NetworkError => {
  const what = `The stream from ${url.host} ended before the reply was complete`
  return LlmError.NetworkError.connectionFailed(peerOf(url), what, { provider: source.provider, model: source.model })
}

const peerOf = (url: URL): { readonly host: string; readonly port?: number } => {
  const port = portOf(url)
  return { host: url.hostname, ...(port === undefined ? {} : { port }) }
}

type Kind = "refused" | "unresolved" | "unreachable" | "untrusted" | "slow-connect" | "silent" | "lost" | "broken"

const sentences: Readonly<Record<Exclude<Kind, "silent">, (peer: string) => string>> = {
  refused: (peer) => `Connection to ${peer} was refused`,
  unresolved: (peer) => `The name of ${peer} could not be resolved`,
  unreachable: (peer) => `There is no way to ${peer}`,
  untrusted: (peer) => `The certificate of ${peer} is not trusted`,
  "slow-connect": (peer) => `Connecting to ${peer} took too long`,
  lost: (peer) => `The connection to ${peer} was lost`,
  broken: (peer) => `The connection to ${peer} failed`
}

interface Signs {
  readonly names: ReadonlySet<string>
  readonly words: string
}

/** Codes and names of the whole chain, and all its words. */
const signsOf = (cause: unknown): Signs => {
  const chain = Source.chainOf(cause)
  const names = new Set<string>()
  const words: Array<string> = []
  for (const link of chain) {
    if (!Predicate.isObject(link)) words.push(String(link))
    else {
      if (Predicate.isString(link["code"])) names.add(link["code"])
      if (Predicate.isString(link["name"])) names.add(link["name"])
      if (Predicate.isString(link["message"])) words.push(link["message"])
    }
  }
  return { names, words: words.join("\n") }
}

const named =
  (...codes: ReadonlyArray<string>) =>
  ({ names }: Signs): boolean =>
    codes.some((code) => names.has(code))

const saying =
  (pattern: RegExp) =>
  ({ words }: Signs): boolean =>
    pattern.test(words)

/** Whether a text tells of a time that ran out, and of a connection in the 200 characters before. */
const isSlowToConnect = (words: string): boolean =>
  Array.from(words.matchAll(/timed? ?out|deadline has elapsed/gi)).some(({ index }) => {
    const before = words.slice(Math.max(0, index - 200), index)
    const start = before.search(/connect/i)
    // in one word they are the name of something
    return start >= 0 && /\W/.test(before.slice(start))
  })

/** OpenSSL's names of what may be wrong with a certificate, as Node and Bun report them. */
const certificateCodes = [
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

/** The first that matches; codes come before words. */
const kinds: ReadonlyArray<readonly [(signs: Signs) => boolean, Kind]> = [
  [named("UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"), "silent"],
  [named("UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT", "ConnectionTimeout"), "slow-connect"],
  [named("ECONNREFUSED", "ConnectionRefused"), "refused"],
  [
    named("ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME", "DNSException", "DNSLookupFailed"),
    "unresolved"
  ],
  [named("EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENETDOWN", "EADDRNOTAVAIL"), "unreachable"],
  [named(...certificateCodes), "untrusted"],
  [named("ECONNRESET", "ECONNABORTED", "EPIPE", "UND_ERR_SOCKET", "ConnectionClosed", "ConnectionReset"), "lost"],
  [({ words }) => isSlowToConnect(words), "slow-connect"],
  [saying(/connection refused|actively refused|unable to connect/i), "refused"],
  [saying(/dns error|failed to lookup address|name or service not known|name resolution/i), "unresolved"],
  [saying(/no route to host|(?:network|host) (?:is )?unreachable/i), "unreachable"],
  [saying(/invalid peer certificate|certificate (?:has )?expired|self.signed certificate/i), "untrusted"],
  [named("TimeoutError"), "silent"],
  [saying(/(?:headers|body|read|request) timed? ?out|operation timed out/i), "silent"],
  [saying(/connection (?:was )?(?:closed|reset|aborted|error|lost)|forcibly closed|broken pipe/i), "lost"],
  [saying(/socket|terminated|reading a body|before message|unexpected eof|handshake eof|network error/i), "lost"]
]

/** The port of a URL, also where it is the one of its scheme. */
export const portOf = (url: URL): number | undefined => {
  if (url.port !== "") return Number(url.port)
  return url.protocol === "https:" ? 443 : url.protocol === "http:" ? 80 : undefined
}
