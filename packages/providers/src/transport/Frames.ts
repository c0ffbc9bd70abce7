/** Cuts a body in Amazon's event stream format into its messages, and passes them on as server-sent events. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Failure } from "./Failure.ts"

/** The media type of bodies in Amazon's event stream format. */
const mediaType = "application/vnd.amazon.eventstream"

/** Decodes one whole message of Amazon's event stream, and returns the data of its event. Throws if the checksums are wrong. */
type Decode = (message: Uint8Array) => string

/** Turns the bytes of a body of this media type into server-sent events, or lines of JSON. */
export type Framing = (
  contentType: string | undefined,
  bytes: Stream.Stream<Uint8Array, Failure>,
  faults: Faults
) => Stream.Stream<Uint8Array, Failure>

/** Turns bodies in Amazon's event stream format into server-sent events. Other bodies stay as they are. */
export const framing =
  (decode: Decode): Framing =>
  (contentType = "", bytes, faults) =>
    contentType.startsWith(mediaType) ? events(bytes, decode, faults) : bytes

/** The size limit of a message, and the failures of reading messages. */
interface Faults {
  readonly maxEventBytes: number
  readonly broken: () => Failure
  readonly oversized: () => Failure
}

/** Turns a body in Amazon's event stream format into server-sent events. */
const events = (
  bytes: Stream.Stream<Uint8Array, Failure>,
  decode: Decode,
  { broken, maxEventBytes, oversized }: Faults
): Stream.Stream<Uint8Array, Failure> =>
  Stream.suspend(() => {
    const messages = new Messages(maxEventBytes)
    const utf8 = new TextEncoder()
    // a chunk that ends no message becomes an empty chunk, so that the watch for silence sees that bytes arrived
    return Stream.mapEffect(bytes, (chunk) => {
      const read = Result.try(() => messages.feed(chunk).map((message) => `data: ${oneLine(decode(message))}\n\n`))
      if (Result.isFailure(read)) return Effect.fail(broken())
      return messages.isOversized ? Effect.fail(oversized()) : Effect.succeed(utf8.encode(read.success.join("")))
    })
  })

/** Puts JSON on one line. This is safe because line ends occur in JSON only between tokens. */
const oneLine = (json: string): string => json.replaceAll(/[\r\n]/g, " ")

/**
 * The size of the smallest message in bytes: its own length, the length of its headers, the checksum of these two, and its own checksum,
 * four bytes each.
 */
const leastBytes = 16

class Messages {
  readonly #most: number
  #held: Array<Uint8Array> = []
  #size = 0
  /** How many bytes the next step needs: four for the length of a message, then all bytes of the message. */
  #needed = 4
  isOversized = false

  constructor(most: number) {
    this.#most = most
  }

  /** Adds a chunk, and returns the messages that it completes. Throws for a length below that of the smallest message. */
  feed(chunk: Uint8Array): ReadonlyArray<Uint8Array> {
    this.#held.push(chunk)
    this.#size += chunk.length
    // Mutant `false` survives: only speed
    if (this.#size < this.#needed) return []
    const messages: Array<Uint8Array> = []
    let rest = joined(this.#held, this.#size)
    while (rest.length >= 4) {
      const length = new DataView(rest.buffer, rest.byteOffset).getUint32(0)
      if (length < leastBytes) throw new Error("a message is shorter than its frame")
      this.isOversized ||= length > this.#most
      this.#needed = length
      if (this.isOversized || rest.length < length) break
      messages.push(rest.subarray(0, length))
      rest = rest.subarray(length)
      this.#needed = 4
    }
    this.#held = [rest]
    this.#size = rest.length
    return messages
  }
}

const joined = (chunks: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  const all = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}
