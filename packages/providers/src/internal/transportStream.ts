/** Server-sent events, read as they come, and watched for silence. */
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Exit from "effect/Exit"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Failure } from "./transportRetry.ts"
import type { Exchange } from "./transportSend.ts"
import type { Silence } from "./transportSettings.ts"

/** Reads a stream event by event; a pure state machine, made afresh for every attempt. */
export interface Decoder<out Part> {
  /** The parts that the data of one more event completes. */
  readonly push: (data: string) => Result.Result<ReadonlyArray<Part>, LlmError.LlmError>
  /** The last parts, when the body ended in a state other than `open`. */
  readonly end: () => Result.Result<ReadonlyArray<Part>, LlmError.LlmError>
  /** `open`: more has to come; `complete`: more may come; `done`: nothing of what comes counts. */
  readonly state: () => "open" | "complete" | "done"
  /**
   * How many pieces were read of parts that are given whole, like calls, so that a stream is not taken for silent while one
   * comes in. Without it, only parts are heard.
   */
  readonly pieces?: () => number
}

/** Parts, one or more at a time. */
export type Parts<Part, E = Failure> = Pull.Pull<Arr.NonEmptyReadonlyArray<Part>, E>

/** How a body is read. */
export interface Reading {
  readonly maxBytes: number
  readonly silence: Silence
  /** The failure of a stream that was silent for too long. */
  readonly silent: (limit: Duration.Duration) => Failure
}

/** The parts of a body, pulled from the network as they are asked for. */
export const parts = <Part>(
  exchange: Exchange,
  decoder: Decoder<Part>,
  reading: Reading
): Effect.Effect<Parts<Part>, never, Scope.Scope> =>
  Effect.map(Stream.toPull(exchange.bytes), (unwatched) => {
    const reader = new Reader(exchange, decoder, reading.maxBytes)
    const bytes = watched(unwatched, reader, reading, exchange.answer.elapsed)
    const next: Parts<Part> = Effect.suspend(() => {
      const ready = reader.take()
      if (ready !== undefined) return Effect.succeed(ready)
      if (reader.failure !== undefined) return Effect.fail(reader.failure)
      return reader.ended ? Cause.done() : more
    })
    const more = Pull.matchEffect(bytes, {
      onSuccess: (chunks) => {
        for (const chunk of chunks) reader.feed(chunk)
        return next
      },
      onFailure: Effect.failCause,
      onDone: () => {
        reader.finish()
        return next
      }
    })
    return next
  })

/**
 * Fails when nothing that counts has come for too long. Only waiting for the network counts: while nobody asks for bytes, the
 * clock stands still.
 */
const watched = <A, Part>(
  bytes: Pull.Pull<A, Failure>,
  reader: Reader<Part>,
  { silence: { betweenParts, firstPart }, silent }: Reading,
  elapsed: Duration.Duration
): Pull.Pull<A, Failure> => {
  if (!Duration.isFinite(firstPart) && !Duration.isFinite(betweenParts)) return bytes
  let heard = 0
  let waited = Duration.toMillis(elapsed)
  return Effect.flatMap(Clock.currentTimeMillis, (asked) => {
    if (reader.heard > heard) {
      heard = reader.heard
      waited = 0
    }
    const limit = heard === 0 ? firstPart : betweenParts
    const waiting = Effect.tap(bytes, () =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        waited += now - asked
      })
    )
    if (!Duration.isFinite(limit)) return waiting
    return Effect.timeoutOrElse(waiting, {
      duration: Duration.millis(Math.max(0, Duration.toMillis(limit) - waited)),
      orElse: () => Effect.fail(silent(limit))
    })
  })
}

/** The first parts of a stream; none if it ends without any. */
export const first = <Part>(self: Parts<Part>): Effect.Effect<ReadonlyArray<Part>, Failure> =>
  Pull.catchDone(self, () => Effect.succeed([]))

/** The error alone, for those who cannot send again. */
export const bare = <Part>(self: Parts<Part>): Parts<Part, LlmError.LlmError> =>
  Effect.mapError(self, (error) => (Cause.isDone(error) ? error : error.error))

/** Runs one attempt in a scope of its own, which ends with it if it fails, and with `scope` if it does not. */
export const inChild = <A, E>(attempt: Effect.Effect<A, E, Scope.Scope>, scope: Scope.Scope): Effect.Effect<A, E> =>
  Effect.flatMap(Scope.fork(scope), (child) =>
    Effect.onError(Scope.provide(attempt, child), (cause) => Scope.close(child, Exit.failCause(cause)))
  )

/** From bytes to parts. What was decoded before a failure comes out before it. */
class Reader<Part> {
  readonly #exchange: Exchange
  readonly #decoder: Decoder<Part>
  readonly #maxBytes: number
  readonly #utf8 = new TextDecoder()
  readonly #parser: Sse.Parser
  #ready: Array<Part> = []
  #size = 0
  #given = 0
  failure: Failure | undefined
  ended = false

  constructor(exchange: Exchange, decoder: Decoder<Part>, maxBytes: number) {
    this.#exchange = exchange
    this.#decoder = decoder
    this.#maxBytes = maxBytes
    this.#parser = Sse.makeParser(
      (event) => {
        if (event._tag === "Event" && !this.ended) this.#accept(decoder.push(event.data))
      },
      { maxEventSize: maxBytes }
    )
  }

  /** All that was said so far, in parts and pieces. */
  get heard(): number {
    return this.#given + (this.#decoder.pieces?.() ?? 0)
  }

  take(): Arr.NonEmptyReadonlyArray<Part> | undefined {
    const ready = this.#ready
    this.#ready = []
    return Arr.isArrayNonEmpty(ready) ? ready : undefined
  }

  feed(chunk: Uint8Array): void {
    if (this.ended) return
    this.#size += chunk.length
    const tooLong =
      this.#size > this.#maxBytes || this.#parser.feed(this.#utf8.decode(chunk, { stream: true })) !== undefined
    if (tooLong) this.#fail(this.#exchange.oversized(this.#maxBytes))
  }

  /** The body has ended. */
  finish(): void {
    if (this.ended) return
    if (this.#decoder.state() === "open") return this.#fail(this.#exchange.truncated())
    this.#accept(this.#decoder.end())
    this.ended = true
  }

  #accept(result: Result.Result<ReadonlyArray<Part>, LlmError.LlmError>): void {
    if (Result.isFailure(result)) return this.#fail(this.#exchange.failed(result.failure))
    for (const part of result.success) this.#ready.push(part)
    this.#given += result.success.length
    if (this.#decoder.state() === "done") this.ended = true
  }

  #fail(failure: Failure): void {
    if (this.failure === undefined && !this.ended) this.failure = failure
    this.ended = true
  }
}
