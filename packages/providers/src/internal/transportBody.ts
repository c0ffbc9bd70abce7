/** The body of an answer, read whole, and no more of it than is allowed. */
import * as Effect from "effect/Effect"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** In which ways a body may not be had. */
export interface Faults<E> {
  /** The client says so. */
  readonly failed: (error: HttpClientError.HttpClientError) => E
  /** The connection says so. */
  readonly broken: (cause: unknown) => E
  readonly oversized: () => E
}

/** The chunks of a body; none where there is no body. */
export const bytes = <E>(
  response: HttpClientResponse.HttpClientResponse,
  { failed }: Pick<Faults<E>, "failed">
): Stream.Stream<Uint8Array, E> =>
  response.stream.pipe(
    Stream.catchIf(
      ({ reason }) => reason._tag === "EmptyBodyError",
      () => Stream.empty
    ),
    Stream.mapError(failed)
  )

/** A body as text. */
export const text = <E>(
  response: HttpClientResponse.HttpClientResponse,
  maxBytes: number,
  faults: Faults<E>
): Effect.Effect<string, E> =>
  Effect.suspend(() => {
    const text = new Text(maxBytes)
    const web = Option.getOrUndefined(HttpClientResponse.toWeb(response))
    if (web === undefined) return streamed(bytes(response, faults), text, faults)
    // a client that shows bodies has read it, and keeps it
    if (web.bodyUsed) return Effect.mapError(response.text, faults.failed)
    return web.body === null ? Effect.succeed("") : pulled(web.body.getReader(), text, faults)
  })

/** As the platform gives it, chunk by chunk, without a stream of Effect around it. */
const pulled = <E>(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  text: Text,
  { broken, oversized }: Faults<E>
): Effect.Effect<string, E> =>
  Effect.callback<string, E>((resume) => {
    const cancel = Effect.promise(() => reader.cancel().catch(() => undefined))
    const read = (): void =>
      void reader.read().then(
        ({ done, value }) => {
          if (done) return resume(Effect.succeed(text.end()))
          return text.add(value) ? read() : resume(Effect.andThen(cancel, Effect.fail(oversized())))
        },
        (cause: unknown) => resume(Effect.fail(broken(cause)))
      )
    read()
    return cancel
  })

const streamed = <E>(
  chunks: Stream.Stream<Uint8Array, E>,
  text: Text,
  { oversized }: Faults<E>
): Effect.Effect<string, E> =>
  Effect.map(
    Stream.runForEachArray(chunks, (some) =>
      some.every((chunk) => text.add(chunk)) ? Effect.void : Effect.fail(oversized())
    ),
    () => text.end()
  )

/** Text of bytes that come in pieces. */
class Text {
  readonly #decoder = new TextDecoder()
  readonly #maxBytes: number
  #text = ""
  #size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Takes one more piece; `false` where that is too much. */
  add(chunk: Uint8Array): boolean {
    this.#size += chunk.length
    if (this.#size > this.#maxBytes) return false
    this.#text += this.#decoder.decode(chunk, { stream: true })
    return true
  }

  end(): string {
    return this.#text + this.#decoder.decode()
  }
}
