/** `maxEventBytes` and `maxBodyBytes` count the data of an event, a line, or a whole answer to a streamed request. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { completion, done, finishChunk, openAi, textChunk } from "../../_support/network.ts"
import * as ResponseEvents from "../codec/openai-responses/_support/responses.ts"
import { chat, ollama, responses, streamed, tooLarge } from "./_support/sizes.ts"

describe("maxEventBytes", () => {
  const layer = (maxEventBytes: number) => openAi({ maxEventBytes, retry: false })
  const ofSize = (size: number) => {
    const empty = JSON.stringify({ choices: [{ index: 0, delta: { content: "" } }] })
    return empty.replace('""', `"${"é".repeat((size - empty.length) / 2)}"`)
  }
  const data = ofSize(1000)
  const end = [finishChunk(), done]

  it.effect("counts the data of one event, in one line or in several, wherever it is cut [P1401]", () =>
    Effect.gen(function* () {
      assert.strictEqual(new TextEncoder().encode(data).length, 1000)
      const lines = `${data.slice(0, 1)}\ndata: ${data.slice(1)}`
      for (const [sent, size] of [
        [data, 1000],
        [lines, 1001]
      ] as const) {
        const chunk = `event: message\nid: 7\n: ${"x".repeat(500)}\ndata: ${sent}\n\n`
        const bytes = new TextEncoder().encode([textChunk("a"), chunk, ...end].join(""))
        for (const pieces of [[bytes], Array.from(bytes, (byte) => Uint8Array.of(byte))]) {
          const within = yield* streamed(layer(size), pieces)
          assert(Exit.isSuccess(within.exit))
          const beyond = yield* streamed(layer(size - 1), pieces)
          assert.deepStrictEqual(tooLarge(beyond.exit), ["maxEventBytes", size - 1])
          assert.strictEqual(beyond.text, "a")
        }
      }
    })
  )

  const endless: ReadonlyArray<readonly [string, (bytes: number) => string]> = [
    ["an event that never ends", (bytes) => `data: ${"x".repeat(bytes)}`],
    ["an event of endless lines", (bytes) => "data:\n".repeat(bytes)],
    ["a comment that never ends", (bytes) => `: ${"x".repeat(bytes)}`],
    ["blanks", (bytes) => " ".repeat(bytes)]
  ]
  for (const [what, text] of endless) {
    it.effect(`ends ${what}, in one piece or in many [P1401]`, () =>
      Effect.gen(function* () {
        for (const pieces of [[text(3000)], Array.from(text(3000))]) {
          const { exit } = yield* streamed(layer(2000), [textChunk("a"), ...pieces])
          assert.deepStrictEqual(tooLarge(exit), ["maxEventBytes", 2000])
        }
      })
    )
  }

  it.effect("bounds nothing behind the end of a reply [P1401]", () =>
    Effect.gen(function* () {
      const { exit, text } = yield* streamed(layer(2000), [`${textChunk("a")}${end.join("")}data: ${"x".repeat(3000)}`])
      assert(Exit.isSuccess(exit))
      assert.strictEqual(text, "a")
    })
  )

  it.effect("counts a line where each line is one event [P1401]", () =>
    Effect.gen(function* () {
      const line = JSON.stringify({ message: { content: "é".repeat(50) }, done: true, done_reason: "stop" })
      const size = new TextEncoder().encode(line).length
      assert(Exit.isSuccess((yield* streamed(ollama({ maxEventBytes: size, retry: false }), [`${line}\n`])).exit))
      for (const pieces of [[`${line}\n`], Array.from(line)]) {
        const { exit } = yield* streamed(ollama({ maxEventBytes: size - 1, retry: false }), pieces)
        assert.deepStrictEqual(tooLarge(exit), ["maxEventBytes", size - 1])
      }
    })
  )
})

describe("text between events that begins like JSON", () => {
  it.effect("is tried a hundred times, and later texts are ignored, even valid ones [P1404]", () =>
    Effect.gen(function* () {
      const error = '{"error":{"message":"boom"}}\n:\n'
      for (const [times, isRead] of [
        [0, true],
        [99, true],
        [100, false]
      ] as const) {
        const chunks = ["[nope\n:\n".repeat(times), error, textChunk("a"), finishChunk(), done]
        const { exit, text } = yield* streamed(openAi({ retry: false }), chunks)
        assert.deepStrictEqual([Exit.isFailure(exit), text], [isRead, isRead ? "" : "a"])
      }
    })
  )
})

describe("maxBodyBytes", () => {
  const reply = completion("a".repeat(500))
  const laidOut = (reply: object) => JSON.stringify(reply, null, 1).replaceAll(/\n */g, "\n")
  const said = JSON.stringify(ResponseEvents.response([ResponseEvents.message("a".repeat(500))]))
  const last = `{"type":"response.completed","response":${said}}`
  const ofOllama = { message: { content: "a".repeat(500) }, done: true, done_reason: "stop" }

  /** Whole answers that come in a stream, the bytes that count, and what comes before. */
  const wholes: ReadonlyArray<readonly [string, typeof chat, string, string]> = [
    ["JSON by itself", chat, JSON.stringify(reply), ""],
    ["JSON by itself, behind blanks", chat, `   ${JSON.stringify(reply)}`, ""],
    ["JSON that is laid out", chat, laidOut(reply), ""],
    ["JSON that is laid out, where each line is one event", ollama, `${laidOut(ofOllama)}\n`, ""],
    ["the last event of responses, which repeats all", responses, last, "event: response.completed\ndata: "]
  ]
  for (const [what, layer, text, before] of wholes) {
    it.effect(`bounds ${what} [P1401]`, () =>
      Effect.gen(function* () {
        const whole = before + text + (before === "" ? "" : "\n\n")
        for (const pieces of [[whole], Array.from(whole)]) {
          const limits = { maxEventBytes: 100, retry: false } as const
          const within = yield* streamed(layer({ ...limits, maxBodyBytes: text.length }), pieces)
          assert(Exit.isSuccess(within.exit))
          const beyond = yield* streamed(layer({ ...limits, maxBodyBytes: text.length - 20 }), pieces)
          assert.deepStrictEqual(tooLarge(beyond.exit), ["maxBodyBytes", text.length - 20])
        }
      })
    )
  }

  it.effect("gives nothing of an answer whose last line is too much [P1401]", () =>
    Effect.gen(function* () {
      const whole = laidOut(reply)
      for (const pieces of [[whole], Array.from(whole)]) {
        const { exit, text } = yield* streamed(chat({ maxBodyBytes: whole.length - 1, retry: false }), pieces)
        assert.deepStrictEqual(tooLarge(exit), ["maxBodyBytes", whole.length - 1])
        assert.strictEqual(text, "")
      }
    })
  )

  it.effect("bounds JSON that never ends, in one piece or in many [P1401]", () =>
    Effect.gen(function* () {
      const text = `{\n${"1,\n".repeat(1000)}`
      for (const layer of [chat, ollama]) {
        for (const pieces of [[text], Array.from(text)]) {
          const { exit } = yield* streamed(layer({ maxBodyBytes: 2000, maxEventBytes: 100, retry: false }), pieces)
          assert.deepStrictEqual(tooLarge(exit), ["maxBodyBytes", 2000])
        }
      }
    })
  )
})
