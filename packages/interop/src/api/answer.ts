/** Reads the body of an answer within a bound. */
import type { InputTooLargeError } from "@kintsugi/core/DoorError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ApiError } from "./ApiError.ts"
import * as Failure from "./failure.ts"

/** The default bound of an answer: 1 MiB. */
const usual = 1024 * 1024

/** Throws a `RangeError` for a bound that is no positive integer. */
export const boundOf = (maxResponseBytes = usual): number => {
  if (Number.isSafeInteger(maxResponseBytes) && maxResponseBytes >= 1) return maxResponseBytes
  throw new RangeError(`maxResponseBytes must be an integer of at least 1, got ${maxResponseBytes}`)
}

/** Throws a `RangeError` for a time that is no positive duration. */
export const timeOf = (timeout: Duration.Input = Duration.seconds(60)): Duration.Duration => {
  const time = Duration.fromInput(timeout)
  if (time._tag === "Some" && Duration.isGreaterThan(time.value, Duration.zero)) return time.value
  throw new RangeError(`timeout must be a positive duration, got ${String(timeout)}`)
}

/** Stops an effect that takes longer, and fails with an `ApiError`. */
export const inTime =
  (where: Failure.Where, timeout: Duration.Duration) =>
  <A, E, R>(answering: Effect.Effect<A, E, R>): Effect.Effect<A, E | ApiError, R> =>
    Effect.timeoutOrElse(answering, {
      duration: timeout,
      orElse: () => Effect.fail(Failure.late(where, timeout))
    })

/** The bytes of a body that are kept of an answer that is no success. */
const ofFailure = 16 * 1024

interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly isWhole: boolean
}

/** Reads at most `limit` bytes, and stops the transfer after them. */
const read = (
  response: HttpClientResponse.HttpClientResponse,
  limit: number
): Effect.Effect<Body, HttpClientError.HttpClientError> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let length = 0
    return response.stream.pipe(
      Stream.takeUntil((chunk) => {
        chunks.push(chunk)
        length += chunk.length
        return length > limit
      }),
      Stream.runDrain,
      // an answer without a body, such as 204
      Effect.catchIf(
        (error) => error.reason._tag === "EmptyBodyError",
        () => Effect.void
      ),
      Effect.map(() => {
        const bytes = new Uint8Array(Math.min(length, limit))
        let at = 0
        for (const chunk of chunks) {
          const kept = chunk.subarray(0, bytes.length - at)
          bytes.set(kept, at)
          at += kept.length
        }
        return { bytes, isWhole: length <= limit }
      })
    )
  })

/** Reads the whole body. Fails with an `InputTooLargeError` if it is longer than `limit`. */
export const within = (
  response: HttpClientResponse.HttpClientResponse,
  limit: number,
  where: Failure.Where
): Effect.Effect<Uint8Array<ArrayBuffer>, HttpClientError.HttpClientError | InputTooLargeError> =>
  Effect.flatMap(read(response, limit), ({ bytes, isWhole }) =>
    isWhole ? Effect.succeed(bytes) : Effect.fail(Failure.tooLarge(where, "bytes", limit))
  )

/** Reads the beginning of a body as text. A body that breaks off counts as empty. */
export const beginning = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<string> =>
  Effect.match(read(response, ofFailure), { onSuccess: ({ bytes }) => textOf(bytes), onFailure: () => "" })

/** How many bytes the JSON of a value has. */
export const bytesOf = (json: Schema.Json): number => new TextEncoder().encode(JSON.stringify(json)).length

/** The text of UTF-8 bytes; bytes that are no UTF-8 become replacement characters. */
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
