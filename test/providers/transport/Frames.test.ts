/** Messages of Amazon's event stream, whose decoding is that of the test. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import { Effect, Exit, Stream } from "effect"
import * as Frames from "../../../packages/providers/src/transport/Frames.ts"

/** A message with this text: its length in four bytes, eight bytes, the text, and four bytes. */
const message = (text: string): Uint8Array => {
  const data = new TextEncoder().encode(text)
  const bytes = new Uint8Array(data.length + 16)
  new DataView(bytes.buffer).setUint32(0, bytes.length)
  bytes.set(data, 12)
  return bytes
}

const decode = (bytes: Uint8Array): string => {
  const text = new TextDecoder().decode(bytes.subarray(12, -4))
  if (text === "bad") throw new Error("the checksum is wrong")
  return text
}

const failure = (message: string) => ({ error: new LlmError.UnknownLlmError({ model: "m", message }), resend: false })
const broken = failure("broken")
const oversized = failure("oversized")

const binary = "application/vnd.amazon.eventstream"

const read = (chunks: ReadonlyArray<Uint8Array>, maxEventBytes: number, contentType: string | undefined = binary) => {
  const faults = { maxEventBytes, broken: () => broken, oversized: () => oversized }
  const texts = Stream.map(Frames.framing(decode)(contentType, Stream.fromIterable(chunks), faults), (bytes) =>
    new TextDecoder().decode(bytes)
  )
  return Effect.exit(Stream.runCollect(texts))
}

const joined = (...messages: ReadonlyArray<Uint8Array>): Uint8Array =>
  Uint8Array.from(messages.flatMap((one) => [...one]))

const everyByte = (bytes: Uint8Array) => Array.from(bytes, (byte) => Uint8Array.of(byte))

describe("a body in Amazon's event stream format", () => {
  const all = joined(message("one"), message(""), message("two\r\nlines"))
  const said = ["data: one\n\n", "data: \n\n", "data: two  lines\n\n"]
  const [first = "", ...others] = said

  it.effect("becomes server-sent events, in one chunk, in chunks with gaps, or byte by byte", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read([all], 26), Exit.succeed([said.join("")]))
      assert.deepStrictEqual(
        yield* read([all.subarray(0, 20), new Uint8Array(), all.subarray(20)], 26, `${binary}; charset=utf-8`),
        Exit.succeed([first, "", others.join("")])
      )
      const exit = yield* read(everyByte(all), 26)
      assert(Exit.isSuccess(exit))
      assert.lengthOf(exit.value, all.length)
      assert.deepStrictEqual(
        exit.value.flatMap((text, at) => (text === "" ? [] : [[at, text]])),
        [
          [18, said[0]],
          [34, said[1]],
          [all.length - 1, said[2]]
        ]
      )
    })
  )

  it.effect("fails at a message that is larger than the limit, as soon as its length is known [P1401]", () =>
    Effect.gen(function* () {
      assert(Exit.isSuccess(yield* read([message("1234")], 20)))
      for (const chunks of [[message("12345")], everyByte(message("12345")), [message("12345").subarray(0, 4)]]) {
        assert.deepStrictEqual(yield* read(chunks, 20), Exit.fail(oversized))
      }
    })
  )

  it.effect("fails at a message that cannot be decoded, or is shorter than its frame", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read([message("bad")], 100), Exit.fail(broken))
      assert.deepStrictEqual(yield* read([Uint8Array.of(0, 0, 0, 15)], 100), Exit.fail(broken))
      assert.deepStrictEqual(yield* read([Uint8Array.of(0, 0, 0, 16)], 100), Exit.succeed([""]))
    })
  )
})

it.effect("a body of another type stays as it is", () =>
  Effect.gen(function* () {
    for (const type of ["text/event-stream", "", `x-${binary}`]) {
      assert.deepStrictEqual(
        yield* read([message("one")], 1, type),
        Exit.succeed([new TextDecoder().decode(message("one"))])
      )
    }
    const faults = { maxEventBytes: 1, broken: () => broken, oversized: () => oversized }
    const bytes = Stream.make(message("one"))
    assert.strictEqual(Frames.framing(decode)(undefined, bytes, faults), bytes)
  })
)
