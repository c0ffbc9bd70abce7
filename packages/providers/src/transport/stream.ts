/** Reads streamed answers event by event or line by line, and fails if a stream is silent for too long. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Decoder } from "./Decoder.ts"
import * as Json from "./Json.ts"
import { Lines } from "./lines.ts"
import { Events } from "./events.ts"
import { onlyFailure, type Failure } from "./Failure.ts"
import type { Silence as Silent } from "./fault.ts"
import { Pieces } from "./pieces.ts"
import type { Exchange } from "./send.ts"
import type { Limits, Silence } from "./settings.ts"
import { Saying } from "./saying.ts"
import * as Size from "./Size.ts"

/** A pull of parts: each pull gives one or more. */
export type Parts<Part, E = Failure> = Pull.Pull<Arr.NonEmptyReadonlyArray<Part>, E>

/** The options of reading a body: its limits, and how its parts and silences are treated. */
export interface Reading<Part> {
  readonly limits: Limits
  /** The size of a part in bytes. */
  readonly sizeOf: (part: Part) => number
  /** Whether the reader has received a text, a thought or a finished call. */
  readonly hasShown: () => boolean
  /** Reads a whole answer that came instead of a stream. Without it, the decoder reads such an answer like the only event of a stream. */
  readonly whole: Whole<Part> | undefined
  readonly silence: Silence
  /** Makes the failure of a stream that is silent for too long. */
  readonly silent: (limit: Duration.Duration, kind: Silent) => Failure
}

/**
 * The parts of a body. They are read from the network when they are pulled.
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
      onFailure: (cause) => {
        // a reply that is complete stays a reply, even if the connection then fails
        if (!reader.isComplete || onlyFailure(cause) === undefined) return Effect.failCause(cause)
        reader.finish()
        return next
      },
      onDone: () => {
        reader.finish()
        return next
      }
    })
    return next
  })

/** For how many times `betweenParts` a stream may send nothing but keep-alives. */
const patience = 10

/**
 * Fails a pull after too long a silence. Every received byte ends the silence, even that of a comment or a ping. The time of keep-alives
 * ends with an event that has news; the bytes of an unfinished event do not count towards it. Only the wait for the network counts: the
 * clock stands still while the reader does not pull.
 */
const watched = <A, Part>(
  bytes: Pull.Pull<A, Failure>,
  reader: Reader<Part>,
  { hasShown, silence: { betweenParts, firstPart }, silent }: Reading<Part>
): Pull.Pull<A, Failure> => {
  if (!Duration.isFinite(firstPart) && !Duration.isFinite(betweenParts)) return bytes
  const most = Duration.times(betweenParts, patience)
  let heard = 0
  let begun = 0
  /** How long the reader has waited since the last event with news, and how long it waited for the last bytes, in milliseconds. */
  let waited = 0
  let last = 0
  return Effect.flatMap(Clock.currentTimeMillis, (start) => {
    const isGrowing = reader.begun > 0 && reader.begun !== begun
    if (reader.heard > heard) waited = 0
    else if (!isGrowing) waited += last
    heard = reader.heard
    begun = reader.begun
    const duration = hasShown() ? betweenParts : firstPart
    const left = Duration.subtract(Duration.max(most, duration), Duration.millis(waited))
    const isAlive = Duration.isLessThan(left, duration)
    const limit = isAlive ? left : duration
    if (!Duration.isFinite(limit)) return bytes
    // Mutant `""` for `"kept alive"` survives: each value but `silent` means keep-alives
    const orElse = () => Effect.fail(isAlive ? silent(most, "kept alive") : silent(duration, "silent"))
    return Effect.tap(Effect.timeoutOrElse(bytes, { duration: limit, orElse }), () =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        last = now - start
      })
    )
  })
}

/**
 * Reads a stream up to its first text, thought or finished call, or to its end if it has none, and returns the parts. Until then no reader
 * has received a part, so a failure can be resent; the failure has the usage so far. `counted` gets usage parts at once, because a stream
 * may be interrupted while its other parts are held back.
 */
export const first = (
  self: Parts<Model.Part>,
  counted: (part: Model.Part) => void
): Effect.Effect<ReadonlyArray<Model.Part>, Failure> =>
  Effect.suspend(() => {
    const collector = new Model.Collector()
    const held: Array<Model.Part> = []
    const taken = Effect.map(self, (parts) => {
      for (const part of parts) collector.push(part)
      for (const part of parts) {
        if (part.type === "usage" && !collector.isShown) counted(part)
        else held.push(part)
      }
      return collector.isShown
    })
    const shown = Effect.asVoid(Effect.repeat(taken, { until: (isShown) => isShown }))
    return Effect.mapBoth(
      Pull.catchDone(shown, () => Effect.void),
      {
        onSuccess: () => held,
        onFailure: ({ error, resend }) => ({ error: collector.broken(error), resend })
      }
    )
  })

/** The first parts and the rest of a stream, made from a reply with which a row of the table answered. */
export const given = (
  reply: Message.Reply
): { readonly first: ReadonlyArray<Model.Part>; readonly parts: Parts<Model.Part> } => ({
  first: Model.partsOf(reply),
  parts: Cause.done()
})

/** Drops the flag `resend` of a stream's failures, for callers that cannot resend. */
export const bare = <Part>(self: Parts<Part>): Parts<Part, LlmError.LlmError> =>
  Effect.mapError(self, (error) => (Cause.isDone(error) ? error : error.error))

/** Runs one attempt in a scope of its own. That scope closes at once if the attempt fails, and otherwise together with `scope`. */
export const inChild = <A, E>(attempt: Effect.Effect<A, E, Scope.Scope>, scope: Scope.Scope): Effect.Effect<A, E> =>
  Effect.flatMap(Scope.fork(scope), (child) =>
    Effect.onError(Scope.provide(attempt, child), (cause) => Scope.close(child, Exit.failCause(cause)))
  )

const lengthOf = (text: string): number => text.length

/** The length of the field name before the data of a line. It does not count towards the size of an event. */
const longestField = "data: ".length

/** How many invalid JSON texts between events are tried. Later ones are ignored, because a parser that throws is slow. */
const maxUnreadable = 100

/** Reads the body of a server that sent one whole answer although a stream was requested. */
export type Whole<Part> = (body: string) => Result.Result<ReadonlyArray<Part>, LlmError.LlmError>

/** Turns the bytes of a body into parts. Parts that were decoded before a failure are emitted before it. */
class Reader<Part> {
  readonly #exchange: Exchange
  readonly #decoder: Decoder<Part>
  readonly #limits: Limits
  readonly #sizeOf: (part: Part) => number
  // This class removes the byte order mark itself, because the decoder's own handling depends on where chunks are cut.
  readonly #utf8 = new TextDecoder("utf-8", { ignoreBOM: true })
  readonly #lines: Lines
  /** Reads server-sent events. `undefined` if each line of the body is one JSON text. */
  readonly #events: Events | undefined
  readonly #whole: Whole<Part>
  #ready: Array<Part> = []
  /** The bytes of all parts so far. */
  #size = 0
  /** Whether the last byte so far may be within a character. */
  #isWithin = false
  /** Whether any text of the body has arrived. */
  #hasBegun = false
  /** Whether an event or a line of the body has arrived. */
  #hasSeen = false
  /** The lines so far of one JSON answer that is spread over several lines. */
  #laidOut: Pieces | undefined
  #laidOutSize = 0
  /** How many texts between events began like JSON and were not valid JSON. */
  #unreadable = 0
  /** Whether the body has ended. */
  #isOver = false
  /** The bytes of all parts, and of the data that the decoder holds back. */
  #taken = 0
  /** The last parts without bytes of their own, such as usage, as JSON. */
  #light: string | undefined
  /** How many events and lines had news. All others only keep the connection alive. */
  heard = 0
  readonly #saying = new Saying()
  failure: Failure | undefined
  ended = false

  constructor(exchange: Exchange, decoder: Decoder<Part>, { limits, sizeOf, whole }: Reading<Part>) {
    this.#exchange = exchange
    this.#decoder = decoder
    this.#limits = limits
    this.#sizeOf = sizeOf
    this.#whole = whole ?? ((body) => decoder.push(body))
    if (decoder.framing === "ndjson") {
      this.#lines = new Lines(
        (line) => this.#line(line.trim()),
        // Mutant `""` survives: each value but `any` means LF
        "lf",
        (bytes) => this.#admits(bytes, this.#laidOut !== undefined)
      )
      return
    }
    const events = new Events(
      {
        // Some servers send events without data to keep a connection alive.
        event: (data, name) => {
          if (data.trim() !== "") this.#push(data, name)
        },
        bare: (json) => {
          if (this.#unreadable >= maxUnreadable) return
          if (Result.isSuccess(Json.parse(json))) this.#push(json)
          else this.#unreadable++
        }
      },
      { whole: decoder.whole, admits: (bytes, isWhole) => this.#admits(bytes, isWhole) }
    )
    this.#events = events
    this.#lines = new Lines(
      (line, bytes) => events.line(line, bytes),
      "any",
      (bytes, beginning) => this.#admits(bytes - longestField, events.isWhole(beginning))
    )
  }

  take(): Arr.NonEmptyReadonlyArray<Part> | undefined {
    const ready = this.#ready
    this.#ready = []
    return Arr.isArrayNonEmpty(ready) ? ready : undefined
  }

  feed(chunk: Uint8Array): void {
    if (this.ended) return
    const text = this.#textOf(chunk)
    // without a character that an earlier chunk has begun, as many characters as bytes are ASCII
    const isAscii = text.length === chunk.length && !this.#isWithin
    this.#isWithin = (chunk.at(-1) ?? 0) >= 0x80
    this.#lines.feed(text, isAscii ? lengthOf : Size.ofText)
  }

  /** The bytes of the event or line that is not complete yet, without comments. */
  get begun(): number {
    return this.#lines.begun + this.#laidOutSize + (this.#events?.size ?? 0)
  }

  /** Whether the reply is complete although the body may go on. */
  get isComplete(): boolean {
    return !this.ended && this.#decoder.state() === "complete"
  }

  /** Reads the end of the body. */
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

  /** Decodes a chunk of the body as text, without a byte order mark at the beginning of the body. */
  #textOf(chunk: Uint8Array): string {
    const text = this.#utf8.decode(chunk, { stream: true })
    const isMarked = !this.#hasBegun && text.startsWith("\uFEFF")
    this.#hasBegun ||= text !== ""
    return isMarked ? text.slice(1) : text
  }

  #push(data: string, event?: string): void {
    this.#hasSeen = true
    if (this.ended) return
    const before = this.heard
    const step = this.#decoder.push(data, event)
    this.#accept(step)
    const isIgnored = Result.isSuccess(step) && step.success.length === 0 && this.heard === before
    if (isIgnored && this.#saying.isNew(data, event)) this.heard++
  }

  /** Whether an event or line, or a whole answer, may have so many bytes. If not, the reading fails. */
  #admits(bytes: number, isWhole: boolean): boolean {
    const option = isWhole ? "maxBodyBytes" : "maxEventBytes"
    if (bytes <= this.#limits[option]) return true
    this.#fail(this.#exchange.oversized(option))
    return false
  }

  /** Reads a line that is one JSON text, or belongs to one JSON answer that is spread over several lines. */
  #line(line: string): void {
    if (line === "") return
    if (!this.#hasSeen && /^[{[\s]*$/.test(line)) this.#laidOut ??= new Pieces()
    if (this.#laidOut !== undefined) {
      this.#laidOutSize += Size.ofText(line) + 1
      if (this.#admits(this.#laidOutSize, true)) this.#laidOut.add(`${line}\n`)
      return
    }
    // An invalid last line that begins like JSON was cut off with the connection.
    const isCut = this.#isOver && line.startsWith("{") && Result.isFailure(Json.parse(line))
    if (!isCut) this.#push(line)
  }

  /**
   * Reads the last line of the body, which has no line end. Returns the bare JSON at the end, and the data of an event that is not
   * complete.
   */
  #end(): ReturnType<Events["end"]> {
    const rest = this.#lines.rest()
    if (this.#events !== undefined) return this.#events.end(rest)
    this.#line(rest.trim())
    return { bare: this.#laidOut?.take(), begun: "" }
  }

  /** Reads bare JSON at the end of the body: an answer that is not a stream, or an error after the events. Truncated JSON is ignored. */
  #readBare(json: string | undefined): void {
    // Mutant `false` for `json === undefined` survives: `undefined` is no JSON
    if (this.ended || json === undefined || Result.isFailure(Json.parse(json))) return
    if (this.#hasSeen) return this.#accept(this.#decoder.push(json))
    this.#accept(this.#whole(json))
    this.ended = true
  }

  #accept(result: Result.Result<ReadonlyArray<Part>, LlmError.LlmError>): void {
    if (Result.isFailure(result)) return this.#fail(this.#exchange.failed(result.failure))
    const parts = result.success
    const before = this.#size
    for (const part of parts) this.#size += this.#sizeOf(part)
    const taken = this.#size + (this.#decoder.held?.() ?? 0)
    if (taken > this.#limits.maxReplyBytes) return this.#fail(this.#exchange.oversized("maxReplyBytes"))
    if (this.#size > before || taken !== this.#taken || this.#isNew(parts)) this.heard++
    this.#taken = taken
    for (const part of parts) this.#ready.push(part)
    if (this.#decoder.state() === "done") this.ended = true
  }

  /** Whether parts without bytes differ from the last such parts. The same usage twice is no sign that the server works. */
  #isNew(parts: ReadonlyArray<Part>): boolean {
    if (parts.length === 0) return false
    const before = this.#light
    this.#light = JSON.stringify(parts)
    return this.#light !== before
  }

  #fail(failure: Failure): void {
    if (!this.ended) this.failure = failure
    this.ended = true
  }
}

/** Whether the data of the last event was cut off. A truncated `[DONE]` does not count, because nothing is lost. */
const isCut = (begun: string): boolean => !"[DONE]".startsWith(begun.trim()) && Result.isFailure(Json.parse(begun))
