/** Maps a failure of the connection, below HTTP, to one `LlmError`. */
import * as ForeignFailure from "@kintsugi/core/ForeignFailure"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Duration from "effect/Duration"
import * as Source from "./Source.ts"

/** The target of a request, and the time since the request started. */
export interface Attempt extends Asked {
  readonly elapsed: Duration.Duration
}

/** The target of a request: the model and provider, the URL and the HTTP method. */
interface Asked {
  readonly source: Source.Source
  readonly url: URL
  readonly method: string
}

/**
 * Maps the cause of a failed request to an error: a `RequestTimeoutError` if the runtime gave up on a silent server, a `ReplyTooLargeError`
 * if the head of the answer is larger than the HTTP client allows, otherwise a `NetworkError`.
 */
export const fromCause = (
  cause: unknown,
  attempt: Attempt
): LlmError.NetworkError | LlmError.RequestTimeoutError | LlmError.ReplyTooLargeError => {
  const { source, url } = attempt
  const kind = ForeignFailure.connectionOf(cause)
  const common = { provider: source.provider, model: source.model, cause: Source.scrubCause(cause) }
  if (kind === "silent") return timedOut(attempt, attempt.elapsed, common.cause)
  if (kind === "oversized") {
    const what = `The head of the answer from ${url.host} is larger than maxHeaderSize of the HTTP client admits`
    return LlmError.ReplyTooLargeError.make({ option: "maxHeaderSize", what, ...common })
  }
  const port = portOf(url)
  const name = port === undefined ? url.hostname : `${url.hostname}:${port}`
  return LlmError.NetworkError.make({ ...peerOf(url), what: sentences[kind](name), ...common })
}

/** The error of an answer that did not come within `timeout`. */
export const timedOut = (
  { method, source: { model, provider }, url }: Asked,
  timeout: Duration.Duration,
  cause?: unknown
): LlmError.RequestTimeoutError =>
  LlmError.RequestTimeoutError.make({
    operation: `${method} ${url.origin}${url.pathname}`,
    timeout,
    provider,
    model,
    ...(cause === undefined ? {} : { cause })
  })

/** How a stream was silent: nothing arrived at all, or nothing but keep-alives. */
export type Silence = "silent" | "kept alive"

/** The error of a stream of which nothing arrived for `limit`, while a reader waited for it. */
export const silent = (
  { method, source: { model, provider }, url }: Asked,
  limit: Duration.Duration,
  kind: Silence
): LlmError.RequestTimeoutError =>
  LlmError.RequestTimeoutError.make({
    operation: `${method} ${url.origin}${url.pathname}`,
    timeout: limit,
    provider,
    model,
    what:
      kind === "silent"
        ? `The stream from ${url.host} was silent for ${Duration.format(limit)}`
        : `The stream from ${url.host} held nothing but keep-alives for ${Duration.format(limit)}`
  })

/** The error of a connection that ended before the reply was complete. */
export const incomplete = (source: Source.Source, url: URL): LlmError.NetworkError => {
  const what = `The stream from ${Source.quote(`${url.origin}${url.pathname}`)} ended before the reply was complete`
  return LlmError.NetworkError.make({ ...peerOf(url), what, provider: source.provider, model: source.model })
}

const peerOf = (url: URL): { readonly host: string; readonly port?: number } => {
  const port = portOf(url)
  return { host: url.hostname, ...(port === undefined ? {} : { port }) }
}

const sentences: Readonly<
  Record<Exclude<ReturnType<typeof ForeignFailure.connectionOf>, "silent" | "oversized">, (peer: string) => string>
> = {
  refused: (peer) => `Connection to ${peer} was refused`,
  unresolved: (peer) => `The name of ${peer} could not be resolved`,
  unreachable: (peer) => `There is no route to ${peer}`,
  untrusted: (peer) => `The certificate of ${peer} is not trusted`,
  "slow-connect": (peer) => `Connecting to ${peer} took too long`,
  lost: (peer) => `The connection to ${peer} was lost`,
  broken: (peer) => `The connection to ${peer} failed`
}

/** The port of a URL, including the default port of its scheme. */
export const portOf = (url: URL): number | undefined => {
  if (url.port !== "") return Number(url.port)
  return url.protocol === "https:" ? 443 : url.protocol === "http:" ? 80 : undefined
}
