/** Reads the body of an answer, up to the limit `maxBodyBytes`. */
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
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

/**
 * Reads a body as text. A body whose declared length is within the limit is read at once, because HTTP enforces that length. Any other body
 * is counted chunk by chunk.
 */
export const text = (
  response: Response,
  headers: Response["headers"],
  maxBytes: number,
  { failed, oversized }: Faults
): Effect.Effect<string, Failure> => {
  const reading = isWithin(headers, maxBytes) ? response.text : counted(response, maxBytes)
  return Effect.matchEffect(reading, {
    onSuccess: Effect.succeed,
    onFailure: (error) => {
      if (error === tooLong) return Effect.fail(oversized())
      return isEmpty(error) ? Effect.succeed("") : Effect.fail(failed(error))
    }
  })
}

const tooLong = "too long" as const

const isEmpty = ({ reason }: HttpClientError.HttpClientError): boolean => reason._tag === "EmptyBodyError"

/**
 * Whether the declared length of a body is within the limit. A compressed body has no such length: its declared one does not bound the
 * unpacked text.
 */
const isWithin = (headers: Response["headers"], maxBytes: number): boolean => {
  const length = headers["content-length"] ?? ""
  return /^\d+$/.test(length) && Number(length) <= maxBytes && headers["content-encoding"] === undefined
}

const counted = (
  response: Response,
  maxBytes: number
): Effect.Effect<string, HttpClientError.HttpClientError | typeof tooLong> =>
  Effect.suspend(() => {
    const decoder = new TextDecoder()
    const text = new Pieces()
    let size = 0
    const read = Stream.runForEachArray(response.stream, (chunks) => {
      for (const chunk of chunks) {
        size += chunk.length
        if (size > maxBytes) return Effect.fail(tooLong)
        text.add(decoder.decode(chunk, { stream: true }))
      }
      return Effect.void
    })
    return Effect.map(read, () => text.take() + decoder.decode())
  })
