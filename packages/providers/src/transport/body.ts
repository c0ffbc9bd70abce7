/** Reads the body of an answer up to the size limit of whole bodies. */
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import type { Failure } from "./Failure.ts"
import { Pieces } from "./pieces.ts"

/** The ways in which reading a body can fail. */
export interface Faults {
  readonly failed: (error: HttpClientError.HttpClientError) => Failure
  readonly oversized: () => Failure
}

type Response = HttpClientResponse.HttpClientResponse

/** The chunks of a body; none if the answer has no body. */
export const bytes = (response: Response, failed: Faults["failed"]): Stream.Stream<Uint8Array, Failure> =>
  response.stream.pipe(
    Stream.catchIf(isEmpty, () => Stream.empty),
    Stream.mapError(failed)
  )

/**
 * A body as text. A body with a declared length within the limit is read at once: HTTP enforces the length. Any other
 * body is counted chunk by chunk.
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

/** The declared length of a compressed body does not bound the unpacked length. */
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
