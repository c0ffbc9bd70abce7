/** Reading costs what is read, however small its pieces are: the CPU time of this thread, for sixteen times as much. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import { Ollama } from "@kintsugi/providers"
import { Effect, Exit } from "effect"
import {
  done,
  failsWith,
  fakeNetwork,
  finishChunk,
  finished,
  generate,
  openAi,
  type Reaction,
  respondWith,
  streamText,
  textChunk
} from "../../_support/network.ts"

const kibi = 1024

/** A body that comes in pieces of this many bytes. */
const inPieces = (text: string, size: number): Reaction =>
  respondWith(200, () => {
    const bytes = new TextEncoder().encode(text)
    let at = 0
    return new ReadableStream({
      pull(controller) {
        if (at >= bytes.length) return controller.close()
        controller.enqueue(bytes.subarray(at, (at += size)))
      }
    })
  })

/** The CPU time of one of so many rounds, in milliseconds; the least of three tries. */
const costOf = (rounds: number, round: () => Promise<unknown>) =>
  Effect.promise(async () => {
    const times: Array<number> = []
    for (let tries = 3; tries > 0; tries--) {
      const before = process.threadCpuUsage()
      for (let left = rounds; left > 0; left--) await round()
      const { system, user } = process.threadCpuUsage(before)
      times.push((system + user) / 1000 / rounds)
    }
    return Math.min(...times)
  })

const isLinear = (round: (bytes: number) => Promise<unknown>) =>
  Effect.gen(function* () {
    const small = yield* costOf(16, () => round(16 * kibi))
    const large = yield* costOf(1, () => round(256 * kibi))
    assert.isTrue(large <= 5 || large <= 40 * small, `16 KiB: ${small} ms, 256 KiB: ${large} ms`)
  })

const repeated = (unit: string, bytes: number) => unit.repeat(Math.ceil(bytes / unit.length))

/** What stands between the beginning of a stream and its end. */
const streams: Record<string, (bytes: number) => string> = {
  blanks: (bytes) => repeated(" ", bytes),
  "blanks of many lines": (bytes) => repeated(" \t\n", bytes),
  "one event that is long": (bytes) => textChunk(repeated("x", bytes)),
  "one line that never ends": (bytes) => `data: ${repeated("x", bytes)}`,
  "one event of many lines": (bytes) => `data: {\n${repeated("data: \n", bytes)}data: }\n\n`,
  comments: (bytes) => repeated(": \n", bytes),
  "line ends alone": (bytes) => repeated("\r", bytes),
  "many events": (bytes) => repeated(textChunk("x"), bytes),
  "JSON that stands by itself": (bytes) => `{"a":"${repeated("x", bytes)}"`,
  "JSON that stands by itself, many times": (bytes) => repeated("{\n:\n", bytes),
  "one line of JSON before an event": (bytes) => `[${repeated("1,", bytes)}1]\n${textChunk("x")}`
}

describe("a stream of events is read in linear time", () => {
  for (const [what, make] of Object.entries(streams)) {
    for (const size of [16, 64 * kibi]) {
      it.effect(`${what}, in pieces of ${size} bytes [P1404]`, () =>
        isLinear((bytes) => {
          const text = textChunk("a") + make(bytes) + finishChunk() + done
          const { layer } = fakeNetwork(inPieces(text, size))
          return Effect.runPromise(streamText.pipe(Effect.provide(openAi({ retry: false })), Effect.provide(layer)))
        })
      )
    }
  }
})

describe("lines of JSON are read in linear time", () => {
  const line = (content: string) => `${JSON.stringify({ model: "m", message: { content }, done: false })}\n`
  const lines: Record<string, (bytes: number) => string> = {
    blanks: (bytes) => repeated(" ", bytes),
    "empty lines": (bytes) => repeated("\n", bytes),
    "one line that is long": (bytes) => line(repeated("x", bytes)),
    "one line that never ends": (bytes) => `{"a":"${repeated("x", bytes)}`,
    "many lines": (bytes) => repeated(line("x"), bytes)
  }
  for (const [what, make] of Object.entries(lines)) {
    for (const size of [16, 64 * kibi]) {
      it.effect(`${what}, in pieces of ${size} bytes [P1404]`, () =>
        isLinear((bytes) => {
          const { layer } = fakeNetwork(inPieces(line("a") + make(bytes), size))
          const model = Ollama.layer({ model: "m", transport: { retry: false } })
          return Effect.runPromise(streamText.pipe(Effect.provide(model), Effect.provide(layer)))
        })
      )
    }
  }
})

describe("a whole body is read in linear time", () => {
  const bodies: Record<string, (bytes: number) => string> = {
    "a long text": (bytes) => JSON.stringify({ choices: [{ message: { content: repeated("x", bytes) } }] }),
    blanks: (bytes) => repeated(" ", bytes),
    "many items": (bytes) => `[${repeated("{},", bytes)}{}]`
  }
  for (const [what, make] of Object.entries(bodies)) {
    it.effect(`${what}, in pieces of 16 bytes [P1404]`, () =>
      isLinear((bytes) => {
        const { layer } = fakeNetwork(inPieces(make(bytes), 16))
        const asked = generate.pipe(Effect.provide(openAi({ retry: false })), Effect.provide(layer))
        return Effect.runPromise(Effect.exit(asked))
      })
    )
  }
})

it.effect("an endless event is cut off at the limit, without being read anew for each piece [P1404]", () =>
  Effect.gen(function* () {
    for (const endless of [" ", "data: x\n", "x", '{"']) {
      const { layer } = fakeNetwork(inPieces(repeated(endless, 9 * kibi * kibi), kibi))
      const call = streamText.pipe(
        Effect.provide(openAi({ maxResponseBytes: 8 * kibi * kibi, retry: false })),
        Effect.provide(layer)
      )
      const before = process.threadCpuUsage()
      const exit = yield* finished(call)
      const { user } = process.threadCpuUsage(before)
      assert(Exit.isSuccess(exit))
      const error = failsWith(exit.value.exit, LlmError.ServerError)
      assert.include(error.message, `longer than ${8 * kibi * kibi} bytes`)
      assert.isBelow(user / 1000, 5000, JSON.stringify(endless))
    }
  })
)
