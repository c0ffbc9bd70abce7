/** Reads streamed answers event by event or line by line, and watches for silence. */
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

/** Parts, one or more at a time. */
export type Parts<Part, E = Failure> = Pull.Pull<Arr.NonEmptyReadonlyArray<Part>, E>

/** How a body is read. */
export interface Reading<Part> {
  readonly limits: Limits
  /** The bytes of a part. */
  readonly sizeOf: (part: Part) => number
  /** Whether a reader has got something: a text, a thought or a finished call. */
  readonly hasShown: () => boolean
  /** Reads a whole answer. Without it, a whole answer is the only event of its stream. */
  readonly whole: Whole<Part> | undefined
  readonly silence: Silence
  /** The failure of a stream that is silent for too long. */
  readonly silent: (limit: Duration.Duration, kind: Silent) => Failure
}

/**
 * The parts of a body, pulled from the network on demand.
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
        // a reply that has its end is a reply, however the connection ends
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

/** So often as long as between two parts a stream may send nothing but keep-alives. */
const patience = 10

/**
 * Fails after too long a silence. Every received byte ends the silence, even a comment or a ping; an event that says
 * something ends the time of keep-alives, and bytes of an unfinished one do not count towards it. Only the wait for the
 * network counts: while the reader does not pull, the clock stands still.
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
  /** How long the stream was waited for since its last event, and how long for its last bytes, in milliseconds. */
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
    const orElse = () => Effect.fail(isAlive ? silent(most, "kept alive") : silent(duration, "silent"))
    return Effect.tap(Effect.timeoutOrElse(bytes, { duration: limit, orElse }), () =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        last = now - start
      })
    )
  })
}

/**
 * The parts of a stream up to the first text, thought or finished call; all parts of a stream without any. Until then
 * no reader has got anything, and a failure, which has the usage so far, can be resent. `counted` gets the usage at once: a
 * stream may be interrupted while its parts are held.
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

/** The first parts and the rest of a stream whose reply a row gave. */
export const given = (
  reply: Message.Reply
): { readonly first: ReadonlyArray<Model.Part>; readonly parts: Parts<Model.Part> } => ({
  first: Model.partsOf(reply),
  parts: Cause.done()
})

/** The error alone, for callers that cannot resend. */
export const bare = <Part>(self: Parts<Part>): Parts<Part, LlmError.LlmError> =>
  Effect.mapError(self, (error) => (Cause.isDone(error) ? error : error.error))

/** Runs one attempt in a scope of its own. The scope closes with the attempt if it fails, else with `scope`. */
export const inChild = <A, E>(attempt: Effect.Effect<A, E, Scope.Scope>, scope: Scope.Scope): Effect.Effect<A, E> =>
  Effect.flatMap(Scope.fork(scope), (child) =>
    Effect.onError(Scope.provide(attempt, child), (cause) => Scope.close(child, Exit.failCause(cause)))
  )

/** The beginning of a line with data, which does not count. */
const longestField = "data: ".length

/** A parser that throws is slow: after this many invalid JSON texts, text between events is ignored. */
const maxUnreadable = 100

/** Reads a body that is one whole answer, though a stream was requested. */
export type Whole<Part> = (body: string) => Result.Result<ReadonlyArray<Part>, LlmError.LlmError>

/** Turns bytes into parts. Parts decoded before a failure are emitted before it. */
class Reader<Part> {
  readonly #exchange: Exchange
  readonly #decoder: Decoder<Part>
  readonly #limits: Limits
  readonly #sizeOf: (part: Part) => number
  // The decoder's own handling of the byte order mark depends on how bytes are cut.
  readonly #utf8 = new TextDecoder("utf-8", { ignoreBOM: true })
  readonly #lines: Lines
  /** Absent if each line is one JSON. */
  readonly #events: Events | undefined
  readonly #whole: Whole<Part>
  #ready: Array<Part> = []
  /** The bytes of all parts. */
  #size = 0
  /** Whether any text has arrived. */
  #hasBegun = false
  /** Whether an event or a line has arrived. */
  #hasSeen = false
  /** The lines of a JSON answer that is spread over several lines instead of one. */
  #laidOut: Pieces | undefined
  #laidOutSize = 0
  /** How many texts between events began like JSON and were not. */
  #unreadable = 0
  /** Whether the body has ended. */
  #isOver = false
  /** The bytes of all parts, and of what the decoder holds. */
  #taken = 0
  /** The last parts without bytes, such as counts. */
  #light = "[]"
  /** How many events and lines said something: others only keep the connection alive. */
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
        "lf",
        (bytes) => this.#admits(bytes, this.#laidOut !== undefined)
      )
      return
    }
    const events = new Events(
      {
        // Some servers keep a connection alive with events without data.
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
      (line) => events.line(line),
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
    this.#lines.feed(this.#textOf(chunk))
  }

  /** The bytes of the unfinished event or line, without comments. */
  get begun(): number {
    return this.#lines.begun + this.#laidOutSize + (this.#events?.size ?? 0)
  }

  /** Whether the reply has its end, though more may come. */
  get isComplete(): boolean {
    return !this.ended && this.#decoder.state() === "complete"
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

  /** Decodes text, without a byte order mark at the beginning. */
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

  /** Whether an event or a line, or a whole answer, may have so many bytes. */
  #admits(bytes: number, isWhole: boolean): boolean {
    const option = isWhole ? "maxBodyBytes" : "maxEventBytes"
    if (bytes <= this.#limits[option]) return true
    this.#fail(this.#exchange.oversized(option))
    return false
  }

  /** Reads a line of JSON, or of a JSON answer spread over several lines. */
  #line(line: string): void {
    if (line === "") return
    if (!this.#hasSeen && /^[{[\s]*$/.test(line)) this.#laidOut ??= new Pieces()
    if (this.#laidOut !== undefined) {
      this.#laidOutSize += Size.ofText(line) + 1
      if (this.#admits(this.#laidOutSize, true)) this.#laidOut.add(`${line}\n`)
      return
    }
    // An invalid last line that begins like JSON was cut off.
    const isCut = this.#isOver && line.startsWith("{") && Result.isFailure(Json.parse(line))
    if (!isCut) this.#push(line)
  }

  /** Reads the last line, which has no line end. Returns the bare JSON at the end and the data of an unfinished event. */
  #end(): ReturnType<Events["end"]> {
    const rest = this.#lines.rest()
    if (this.#events !== undefined) return this.#events.end(rest)
    this.#line(rest.trim())
    return { bare: this.#laidOut?.take(), begun: "" }
  }

  /** Reads bare JSON at the end: an answer that is not a stream, or an error after events. Truncated JSON is ignored. */
  #readBare(json: string | undefined): void {
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

  /** Whether parts without bytes differ from the last ones: the same counts once more are no sign of work. */
  #isNew(parts: ReadonlyArray<Part>): boolean {
    if (parts.length === 0) return false
    const before = this.#light
    this.#light = JSON.stringify(parts)
    return this.#light !== before
  }

  #fail(failure: Failure): void {
    if (this.failure === undefined && !this.ended) this.failure = failure
    this.ended = true
  }
}

/** Whether the data of an event is truncated. A truncated `[DONE]` loses nothing. */
const isCut = (begun: string): boolean => !"[DONE]".startsWith(begun.trim()) && Result.isFailure(Json.parse(begun))
