/** An MCP server over streamable HTTP: Effect's transport, with an ear at what it streams. */
import * as McpClient from "effect/ai/McpClient"
import type * as McpClientError from "effect/ai/McpClientError"
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

/** Where a server is reached over HTTP. */
export interface HttpOptions {
  /** `Redacted` where the key is part of it: nothing that the server says repeats the key then. */
  readonly url: string | URL | Redacted.Redacted
  /** Sent with every request; secrets are `Redacted`. */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>>
}

/** What is secret of an address that is: the whole, and its parameters, by which a key is known again. */
export const secretsOf = (url: HttpOptions["url"]): ReadonlyArray<string> => {
  if (!Redacted.isRedacted(url)) return []
  const address = addressOf(url)
  const parsed = URL.canParse(address) ? new URL(address) : undefined
  return [address, ...(parsed?.searchParams.values() ?? [])]
}

const addressOf = (url: HttpOptions["url"]): string => String(Redacted.isRedacted(url) ? Redacted.value(url) : url)

export interface Opened {
  readonly transport: McpClient.Transport
  /** Hears what the server says by itself, until it says no more, for the versions that have sessions; whether it may say more. */
  readonly listen: Effect.Effect<boolean>
}

export const open = (
  options: HttpOptions,
  protocol: McpProtocol.ProtocolAdapter<McpClient.ProtocolVersion>,
  notices: Notices
): Effect.Effect<Opened, McpClientError.McpClientError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    let session: string | undefined
    const client = overheard(yield* HttpClient.HttpClient, notices, (id) => {
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
          // most servers offer no such stream; one that was cut off is as good as one that ended
          isEvents(response) ? Effect.as(Effect.ignore(Stream.runDrain(response.stream)), true) : Effect.succeed(false)
        ),
        Effect.scoped,
        Effect.orElseSucceed(() => false)
      )
    )
    return { transport, listen }
  })

const isEvents = ({ headers, status }: HttpClientResponse.HttpClientResponse): boolean =>
  status === 200 && (headers["content-type"] ?? "").startsWith("text/event-stream")

const overheard = (
  client: HttpClient.HttpClient,
  notices: Notices,
  inSession: (id: string) => void
): HttpClient.HttpClient =>
  HttpClient.transformResponse(client, (responding) =>
    Effect.map(
      // a span of the client may quote a header
      Effect.provideService(responding, HttpClient.TracerDisabledWhen, () => true),
      (response) => {
        const id = response.headers["mcp-session-id"]
        if (Predicate.isString(id)) inSession(id)
        if (!isEvents(response)) return response
        // the same response but for its body; `Object.create` is typed as `any`
        const heard: HttpClientResponse.HttpClientResponse = Object.create(response, {
          stream: { get: () => tapped(response.stream, notices) }
        })
        return heard
      }
    )
  )

const tapped = <E>(stream: Stream.Stream<Uint8Array, E>, notices: Notices): Stream.Stream<Uint8Array, E> => {
  const heard: Array<string> = []
  const decoder = new TextDecoder()
  const parser = Sse.makeParser((event) => {
    if (event._tag === "Event") heard.push(event.data)
  })
  return Stream.tap(stream, (bytes) => {
    parser.feed(decoder.decode(bytes, { stream: true }))
    return Effect.forEach(heard.splice(0), notices.hear, { discard: true })
  })
}
