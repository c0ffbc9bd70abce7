/** Reads the body of an answer, up to the limit `maxBodyBytes`. */
import * as Effect from "effect/Effect"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Failure } from "./Failure.ts"
import { Pieces } from "./pieces.ts"

/** Makes the failures of reading a body: the connection failed, or the body is too large. */
export interface Faults {
  readonly failed: (error: HttpClientError.HttpClientError) => Failure
  readonly oversized: () => Failure
}

type Response = HttpClientResponse.HttpClientResponse

/** The chunks of a body. An answer without a body has none. */
export const bytes = (response: Response, failed: Faults["failed"]): Stream.Stream<Uint8Array, Failure> =>
  response.stream.pipe(
    Stream.catchIf(isEmpty, () => Stream.empty),
    Stream.mapError(failed)
  )

/** Reads a body as text. Its bytes are counted as they are read, unpacked, so that a body above the limit is not kept. */
export const text = (
  response: Response,
  maxBytes: number,
  { failed, oversized }: Faults
): Effect.Effect<string, Failure> =>
  Effect.suspend(() => {
    const counted = new Counted(maxBytes)
    const web = webOf(response)
    return Effect.matchEffect(web === undefined ? streamed(response, counted) : read(response, web, counted), {
      onSuccess: (text) => (text === undefined ? Effect.fail(oversized()) : Effect.succeed(text)),
      onFailure: (error) => (isEmpty(error) ? Effect.succeed("") : Effect.fail(failed(error)))
    })
  })

const isEmpty = ({ reason }: HttpClientError.HttpClientError): boolean => reason._tag === "EmptyBodyError"

/** The text of a body so far. It takes no more bytes than the limit. */
class Counted {
  readonly #decoder = new TextDecoder()
  readonly #text = new Pieces()
  #left: number

  constructor(maxBytes: number) {
    this.#left = maxBytes
  }

  /** Adds a chunk. Returns whether the body is still within the limit. */
  add(chunk: Uint8Array): boolean {
    this.#left -= chunk.length
    if (this.#left < 0) return false
    this.#text.add(this.#decoder.decode(chunk, { stream: true }))
    return true
  }

  end(): string {
    return this.#text.take() + this.#decoder.decode()
  }
}

/** The text of a body; `undefined` if the body is too large. */
type Read = Effect.Effect<string | undefined, HttpClientError.HttpClientError>

const tooLarge = Symbol("too large")

const streamed = (response: Response, counted: Counted): Read => {
  const all = Stream.runForEachArray(response.stream, (chunks) =>
    chunks.every((chunk) => counted.add(chunk)) ? Effect.void : Effect.fail(tooLarge)
  )
  return Effect.matchEffect(all, {
    onSuccess: () => Effect.succeed(counted.end()),
    onFailure: (error) => (error === tooLarge ? Effect.undefined : Effect.fail(error))
  })
}

/**
 * Reads the body of a web response. It takes a few steps of a fiber where a `Stream` takes dozens, and ends without the abortion of the
 * request with which the streams of Effect's client end.
 */
const read = (response: Response, web: globalThis.Response, counted: Counted): Read => {
  const { body } = web
  if (body === null) return Effect.succeed("")
  // a client around Effect's has read the body, which Effect keeps then
  if (web.bodyUsed || body.locked) {
    return Effect.map(response.text, (text) =>
      counted.add(new TextEncoder().encode(text)) ? counted.end() : undefined
    )
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  const leave = () => void reader.cancel().catch(() => {})
  const all = async (): Promise<string | undefined> => {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one chunk after the other
      const { done, value } = await reader.read()
      if (done) return counted.end()
      if (counted.add(value)) continue
      leave()
      return undefined
    }
  }
  const { request } = response
  const reading = Effect.tryPromise({
    try: all,
    catch: (cause) =>
      new HttpClientError.HttpClientError({ reason: new HttpClientError.DecodeError({ request, response, cause }) })
  })
  return Effect.onInterrupt(reading, () => Effect.sync(leave))
}

/**
 * The web response beneath a response of `fetch`. It is `undefined` for other clients, and if a client around `fetch` has replaced the
 * stream of the response: then the web response does not have the bytes that are to be read.
 */
const webOf = (response: Response): globalThis.Response | undefined => {
  let owner: object | null = response
  while (owner !== null && !Object.hasOwn(owner, "stream")) owner = Object.getPrototypeOf(owner)
  // the classes of Effect's client have the stream in their prototype, which has a constructor
  return owner !== null && Object.hasOwn(owner, "constructor")
    ? Option.getOrUndefined(HttpClientResponse.toWeb(response))
    : undefined
}
