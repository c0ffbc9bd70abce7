/** Cuts a body of Amazon's event stream into its messages, and hands them on as server-sent events. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Failure } from "./Failure.ts"

/** The media type of these bodies. */
export const mediaType = "application/vnd.amazon.eventstream"

/** Reads one message, which is whole: the data of its event. Throws if its checksums are wrong. */
export type Decode = (message: Uint8Array) => string

/** The ways in which reading the messages can fail. */
interface Faults {
  readonly maxEventBytes: number
  readonly broken: () => Failure
  readonly oversized: () => Failure
}

/** The server-sent events of a body. */
export const events = (
  bytes: Stream.Stream<Uint8Array, Failure>,
  decode: Decode,
  { broken, maxEventBytes, oversized }: Faults
): Stream.Stream<Uint8Array, Failure> =>
  Stream.suspend(() => {
    const messages = new Messages(maxEventBytes)
    const utf8 = new TextEncoder()
    // a chunk without the end of a message is an empty chunk: it was received all the same
    return Stream.mapEffect(bytes, (chunk) => {
      const read = Result.try(() => messages.feed(chunk).map((message) => `data: ${oneLine(decode(message))}\n\n`))
      if (Result.isFailure(read)) return Effect.fail(broken())
      return messages.isOversized ? Effect.fail(oversized()) : Effect.succeed(utf8.encode(read.success.join("")))
    })
  })

/** Within JSON, line ends stand only between tokens. */
const oneLine = (json: string): string => json.replaceAll(/[\r\n]/g, " ")

/** A message begins with its own length, in four bytes; the least message has two lengths, their checksum and its own. */
const leastBytes = 16

class Messages {
  readonly #most: number
  #held: Array<Uint8Array> = []
  #size = 0
  /** So many bytes are needed for the next step: the length of a message, or the message. */
  #needed = 4
  isOversized = false

  constructor(most: number) {
    this.#most = most
  }

  /** The messages that are complete with this chunk. Throws for a length that no message has. */
  feed(chunk: Uint8Array): ReadonlyArray<Uint8Array> {
    this.#held.push(chunk)
    this.#size += chunk.length
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
