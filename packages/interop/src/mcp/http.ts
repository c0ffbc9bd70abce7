/** Connects to an MCP server over streamable HTTP: Effect's transport, with a listener for the messages of the server. */
import * as Redaction from "@kintsugi/core/Redaction"
import type * as Bounds from "@kintsugi/core/Bounds"
import * as McpClient from "effect/ai/McpClient"
import * as McpClientError from "effect/ai/McpClientError"
import type * as McpProtocol from "effect/ai/McpProtocol"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Notices } from "./notices.ts"
import * as Session from "./session.ts"
import { Shallow, shallow } from "./shallow.ts"

/** The HTTP endpoint of a server, and the headers for it. */
export interface HttpOptions {
  /** The URL. Make it `Redacted` if it contains a key, so that texts of the server that repeat the key are redacted. */
  readonly url: string | URL | Redacted.Redacted
  /** Headers of every request. Make secrets `Redacted`. */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>>
}

/** The secrets in a `Redacted` URL: its parameters, its user name and password, and the path segments that are not words. */
export const secretsOf = (url: HttpOptions["url"]): ReadonlyArray<string> => {
  if (!Redacted.isRedacted(url)) return []
  const address = addressOf(url)
  const parsed = URL.canParse(address) ? new URL(address) : undefined
  if (parsed === undefined) return []
  const segments = parsed.pathname.split("/").filter((segment) => /\d/.test(segment) && /[a-z]/i.test(segment))
  const secrets = [...parsed.searchParams.values(), parsed.username, parsed.password, ...segments].map(decoded)
  Redaction.know(url, secrets)
  return secrets
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const addressOf = (url: HttpOptions["url"]): string => String(Redacted.isRedacted(url) ? Redacted.value(url) : url)

export interface Opened {
  readonly transport: McpClient.Transport
  /**
   * Receives the server's notifications until the server ends their stream, in the protocol versions with sessions. Gives whether the
   * stream may be opened again. Fails if the server has forgotten the session.
   */
  readonly listen: Effect.Effect<boolean, McpClientError.McpClientError>
}

/** The listener of the server's messages, and the size limits of messages. */
export interface Hearing {
  readonly notices: Notices
  readonly bounds: Bounds.Bounds
}

export const connect = (
  options: HttpOptions,
  protocol: McpProtocol.ProtocolAdapter<McpClient.ProtocolVersion>,
  { bounds, notices }: Hearing
): Effect.Effect<Opened, McpClientError.McpClientError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    let session: string | undefined
    const client = overheard(yield* HttpClient.HttpClient, { bounds, notices }, (id) => {
      session = id
    })
    const url = addressOf(options.url)
    const headers = Object.fromEntries(
      Object.entries(options.headers ?? {}).map(([name, value]) => [
        name,
        Redacted.isRedacted(value) ? Redacted.value(value) : value
      ])
    )
    const transport = yield* McpClient.http({ url, headers, protocol }).pipe(
      Effect.provideService(HttpClient.HttpClient, client)
    )
    const listen = Effect.suspend(() =>
      HttpClientRequest.get(url).pipe(
        HttpClientRequest.setHeaders({
          ...headers,
          accept: "text/event-stream",
          "mcp-protocol-version": protocol.protocolVersion,
          ...(session === undefined ? {} : { "mcp-session-id": session })
        }),
        client.execute,
        Effect.flatMap((response) =>
          // Most servers have no such stream, and give another response. A stream that breaks counts as ended.
          isEvents(response)
            ? Effect.as(Effect.ignore(Stream.runDrain(response.stream)), true)
            : Session.isUnknown(response)
              ? Effect.fail(forgotten)
              : Effect.succeed(false)
        ),
        Effect.scoped,
        // Mutant `true` for `error === forgotten` survives: a failure that is no loss of the session ends the listening, too
        Effect.catch((error) => (error === forgotten ? Effect.fail(forgotten) : Effect.succeed(false)))
      )
    )
    return { transport, listen }
  })

const forgotten = new McpClientError.McpClientError({
  reason: new McpClientError.ClosedError({ sessionExpired: true })
})

const typeOf = ({ headers }: HttpClientResponse.HttpClientResponse): string =>
  // Mutant `(headers["content-type"] ?? "").split(";", 1)[0].trim` survives: a text has a first part
  (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""

const isEvents = (response: HttpClientResponse.HttpClientResponse): boolean =>
  response.status === 200 && typeOf(response) === "text/event-stream"

const overheard = (
  client: HttpClient.HttpClient,
  hearing: Hearing,
  inSession: (id: string) => void
): HttpClient.HttpClient =>
  HttpClient.transformResponse(client, (responding) =>
    Effect.map(
      // No span for the request, because the span of a client may show the headers, which have secrets.
      Effect.provideService(Session.counted(responding), HttpClient.TracerDisabledWhen, () => true),
      (response) => {
        const id = response.headers["mcp-session-id"]
        if (Predicate.isString(id)) inSession(id)
        const read = isEvents(response) ? events : typeOf(response) === "application/json" ? json : undefined
        if (read === undefined) return response
        // The same response with another body. The type is declared, because `Object.create` gives `any`.
        const heard: HttpClientResponse.HttpClientResponse = Object.create(response, {
          stream: { get: () => read(response.stream, hearing) }
        })
        return heard
      }
    )
  )

type Bytes<E> = Stream.Stream<Uint8Array, E>

const json = <E>(stream: Bytes<E>, { bounds }: Hearing): Bytes<E> =>
  Stream.suspend(() => {
    const text = new Shallow(bounds)
    return stream.pipe(
      Stream.decodeText,
      Stream.map((chunk) => text.take(chunk)),
      Stream.encodeText
    )
  })

/** The largest event that Effect's client accepts, in UTF-16 code units. */
const maxEventSize = 16 * 1024 * 1024

/**
 * Reads a stream of server-sent events, and writes each event again. Everything else in the stream is dropped, as the client does not need
 * it.
 */
const events = <E>(stream: Bytes<E>, { bounds, notices }: Hearing): Bytes<E | McpClientError.McpClientError> =>
  Stream.suspend(() => {
    const heard: Array<string> = []
    const parser = Sse.makeParser(
      (event) => {
        if (event._tag === "Event") heard.push(shallow(event.data, bounds))
      },
      { maxEventSize }
    )
    return stream.pipe(
      Stream.decodeText,
      Stream.mapEffect((chunk) => {
        const isTooLarge = parser.feed(chunk) !== undefined
        const texts = heard.splice(0)
        // The events before a too large one are passed on first.
        if (isTooLarge && texts.length === 0) return Effect.fail(tooLarge)
        // Mutant `{}` survives: then it gives an array, which is not read
        return Effect.as(Effect.forEach(texts, notices.hear, { discard: true }), texts)
      }),
      // Mutant `""` survives: no two parts of JSON are kept apart by a break alone
      Stream.map((texts) => texts.map((text) => `data: ${text.replaceAll(/[\r\n]/g, " ")}\n\n`).join("")),
      Stream.encodeText
    )
  })

const tooLarge = new McpClientError.McpClientError({
  reason: new McpClientError.LimitError({ description: "MCP SSE event exceeds maxMessageBytes" })
})
