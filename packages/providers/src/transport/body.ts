/** The body of an answer, and no more of it than is allowed. */
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import type { Failure } from "./Failure.ts"
import { Pieces } from "./pieces.ts"

/** In which ways a body may not be had. */
export interface Faults {
  readonly failed: (error: HttpClientError.HttpClientError) => Failure
  readonly oversized: () => Failure
}

type Response = HttpClientResponse.HttpClientResponse

/** The chunks of a body; none where there is no body. */
export const bytes = (response: Response, failed: Faults["failed"]): Stream.Stream<Uint8Array, Failure> =>
  response.stream.pipe(
    Stream.catchIf(isEmpty, () => Stream.empty),
    Stream.mapError(failed)
  )

/**
 * A body as text. One that says how long it is, and is not longer than allowed, is read at once: HTTP holds it to its word. Any
 * other is counted chunk by chunk.
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

/** What is compressed is as long as it says before it is unpacked. */
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
