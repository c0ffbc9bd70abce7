/** Streamed answers, read event by event or line by line as they come, and watched for silence. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Json from "./Json.ts"
import { Lines } from "./lines.ts"
import { Events } from "./events.ts"
import type { Failure } from "./Failure.ts"
import { Pieces } from "./pieces.ts"
import type { Exchange } from "./send.ts"
import type { Silence } from "./settings.ts"

/** Reads a stream event by event; a pure state machine, made afresh for every attempt. */
export interface Decoder<out Part> {
  /** How the body is cut into what is pushed: the data of server-sent events, which is the default, or one JSON a line. */
  readonly framing?: Framing
  /** The parts that the data of one more event completes; `event` is its name, where it has one. */
  readonly push: (data: string, event?: string) => Result.Result<ReadonlyArray<Part>, LlmError.LlmError>
  /** The last parts, when the body ended in a state other than `open`. */
  readonly end: () => Result.Result<ReadonlyArray<Part>, LlmError.LlmError>
  /** `open`: more has to come; `complete`: more may come; `done`: nothing of what comes counts. */
  readonly state: () => "open" | "complete" | "done"
}

export type Framing = "sse" | "ndjson"

/** Parts, one or more at a time. */
export type Parts<Part, E = Failure> = Pull.Pull<Arr.NonEmptyReadonlyArray<Part>, E>

/** How a body is read. */
export interface Reading<out Part> {
  readonly maxBytes: number
  /** Where it is missing, a whole answer is read as the only event of its stream. */
  readonly whole: Whole<Part> | undefined
  readonly silence: Silence
  /** The failure of a stream that was silent for too long. */
  readonly silent: (limit: Duration.Duration) => Failure
}

/**
 * The parts of a body, pulled from the network as they are asked for.
 *
 * @internal
 */
export const parts = <Part>(
  exchange: Exchange,
  decoder: Decoder<Part>,
  reading: Reading<Part>
): Effect.Effect<Parts<Part>, never, Scope.Scope> =>
  Effect.map(Stream.toPull(exchange.bytes), (unwatched) => {
    const reader = new Reader(exchange, decoder, reading)
    const bytes = watched(unwatched, reader, reading)
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
 * Fails when nothing has come for too long. Whatever comes is a sign of life, be it only a comment or a ping. Only waiting for
 * the network counts: while nobody asks for bytes, the clock stands still.
 */
const watched = <A, Part>(
  bytes: Pull.Pull<A, Failure>,
  reader: Reader<Part>,
  { silence: { betweenParts, firstPart }, silent }: Reading<Part>
): Pull.Pull<A, Failure> => {
  if (!Duration.isFinite(firstPart) && !Duration.isFinite(betweenParts)) return bytes
  return Effect.suspend(() => {
    const duration = reader.hasGiven ? betweenParts : firstPart
    if (!Duration.isFinite(duration)) return bytes
    return Effect.timeoutOrElse(bytes, { duration, orElse: () => Effect.fail(silent(duration)) })
  })
}

/** The first parts of a stream; none if it ends without any. */
export const first = <Part>(self: Parts<Part>): Effect.Effect<ReadonlyArray<Part>, Failure> =>
  Pull.catchDone(self, () => Effect.succeed([]))

/** The beginning of a stream that no server gave, and the rest of it. */
export const given = (
  reply: Message.Reply
): { readonly first: ReadonlyArray<Model.Part>; readonly parts: Parts<Model.Part> } => ({
  first: Model.partsOf(reply),
  parts: Cause.done()
})

/** The error alone, for those who cannot send again. */
export const bare = <Part>(self: Parts<Part>): Parts<Part, LlmError.LlmError> =>
  Effect.mapError(self, (error) => (Cause.isDone(error) ? error : error.error))

/** Runs one attempt in a scope of its own, which ends with it if it fails, and with `scope` if it does not. */
export const inChild = <A, E>(attempt: Effect.Effect<A, E, Scope.Scope>, scope: Scope.Scope): Effect.Effect<A, E> =>
  Effect.flatMap(Scope.fork(scope), (child) =>
    Effect.onError(Scope.provide(attempt, child), (cause) => Scope.close(child, Exit.failCause(cause)))
  )

/** A parser that throws is slow: after so many texts that are no JSON, no other text between events is read. */
const maxUnreadable = 100

/** Reads a body that is one whole answer, where a stream was asked for. */
export type Whole<Part> = (body: string) => Result.Result<ReadonlyArray<Part>, LlmError.LlmError>

/** From bytes to parts. What was decoded before a failure comes out before it. */
class Reader<Part> {
  readonly #exchange: Exchange
  readonly #decoder: Decoder<Part>
  readonly #maxBytes: number
  // its own way with the mark at the beginning depends on how bytes are cut
  readonly #utf8 = new TextDecoder("utf-8", { ignoreBOM: true })
  readonly #lines: Lines
  /** Nothing where each line is one JSON. */
  readonly #events: Events | undefined
  readonly #whole: Whole<Part>
  #ready: Array<Part> = []
  #size = 0
  /** Whether any text has come. */
  #hasBegun = false
  /** Whether an event or a line has come. */
  #hasSeen = false
  /** The lines of an answer that is laid out over several, where each should be one. */
  #laidOut: Pieces | undefined
  /** How many texts between events have begun like JSON, and were none. */
  #unreadable = 0
  /** Whether the body has ended. */
  #isOver = false
  /** Whether a part has come. */
  hasGiven = false
  failure: Failure | undefined
  ended = false

  constructor(exchange: Exchange, decoder: Decoder<Part>, { maxBytes, whole }: Reading<Part>) {
    this.#exchange = exchange
    this.#decoder = decoder
    this.#maxBytes = maxBytes
    this.#whole = whole ?? ((body) => decoder.push(body))
    if (decoder.framing === "ndjson") {
      this.#lines = new Lines((line) => this.#line(line.trim()))
      return
    }
    const events = new Events({
      // some keep a connection alive with events that say nothing
      event: (data, name) => {
        if (data.trim() !== "") this.#push(data, name)
      },
      bare: (json) => {
        if (this.#unreadable >= maxUnreadable) return
        if (Result.isSuccess(Json.parse(json))) this.#push(json)
        else this.#unreadable++
      }
    })
    this.#events = events
    this.#lines = new Lines((line) => events.line(line), "any")
  }

  take(): Arr.NonEmptyReadonlyArray<Part> | undefined {
    const ready = this.#ready
    this.#ready = []
    return Arr.isArrayNonEmpty(ready) ? ready : undefined
  }

  feed(chunk: Uint8Array): void {
    if (this.ended) return
    this.#size += chunk.length
    if (this.#size > this.#maxBytes) return this.#fail(this.#exchange.oversized())
    this.#lines.feed(this.#textOf(chunk))
  }

  /** The body has ended. */
  finish(): void {
    if (this.ended) return
    this.#isOver = true
    const { bare, begun } = this.#end()
    this.#readBare(bare)
    if (this.ended) return
    if (this.#decoder.state() === "open" || isCut(begun)) return this.#fail(this.#exchange.truncated())
    this.#accept(this.#decoder.end())
    this.ended = true
  }

  /** Without a mark at the very beginning. */
  #textOf(chunk: Uint8Array): string {
    const text = this.#utf8.decode(chunk, { stream: true })
    const isMarked = !this.#hasBegun && text.startsWith("\uFEFF")
    this.#hasBegun ||= text !== ""
    return isMarked ? text.slice(1) : text
  }

  #push(data: string, event?: string): void {
    this.#hasSeen = true
    if (!this.ended) this.#accept(this.#decoder.push(data, event))
  }

  /** A line of JSON, or of an answer that is laid out. */
  #line(line: string): void {
    if (line === "") return
    if (!this.#hasSeen && /^[{[\s]*$/.test(line)) this.#laidOut ??= new Pieces()
    if (this.#laidOut !== undefined) return this.#laidOut.add(`${line}\n`)
    // what begins like the others and is no JSON, at the end, is one that was cut off
    const isCut = this.#isOver && line.startsWith("{") && Result.isFailure(Json.parse(line))
    if (!isCut) this.#push(line)
  }

  /** Reads the last line, which has no end. What stands by itself there, and the data of an event that has not ended. */
  #end(): ReturnType<Events["end"]> {
    const rest = this.#lines.rest()
    if (this.#events !== undefined) return this.#events.end(rest)
    this.#line(rest.trim())
    return { bare: this.#laidOut?.take(), begun: "" }
  }

  /** JSON at the end: an answer that is no stream at all, or an error after events. What was cut off is neither. */
  #readBare(json: string | undefined): void {
    if (this.ended || json === undefined || Result.isFailure(Json.parse(json))) return
    if (this.#hasSeen) return this.#accept(this.#decoder.push(json))
    this.#accept(this.#whole(json))
    this.ended = true
  }

  #accept(result: Result.Result<ReadonlyArray<Part>, LlmError.LlmError>): void {
    if (Result.isFailure(result)) return this.#fail(this.#exchange.failed(result.failure))
    for (const part of result.success) this.#ready.push(part)
    this.hasGiven ||= result.success.length > 0
    if (this.#decoder.state() === "done") this.ended = true
  }

  #fail(failure: Failure): void {
    if (this.failure === undefined && !this.ended) this.failure = failure
    this.ended = true
  }
}

/** Whether the data of an event was broken off; where it would have been the mark of the end, nothing is missing. */
const isCut = (begun: string): boolean => !"[DONE]".startsWith(begun.trim()) && Result.isFailure(Json.parse(begun))
