/** `maxEventBytes` and `maxBodyBytes` count the data of an event, a line, or a whole answer to a streamed request. */
import { assert, describe, it } from "@effect/vitest"
import { Ollama } from "@kintsugi/providers"
import { Effect, Exit } from "effect"
import { done, finishChunk, openAi, textChunk } from "../../_support/network.ts"
import { streamed, tooLarge } from "./_support/sizes.ts"

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
    ["blanks", (bytes) => " ".repeat(bytes)],
    ["JSON by itself", (bytes) => `{${"1,\n".repeat(bytes / 2)}`]
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

  it.effect("counts a line, and an answer that is laid out, where each line is one event [P1401]", () =>
    Effect.gen(function* () {
      const ollama = (maxEventBytes: number) =>
        Ollama.layer({ model: "m", baseUrl: "https://api.test", transport: { maxEventBytes, retry: false } })
      const line = JSON.stringify({ message: { content: "é".repeat(50) }, done: true, done_reason: "stop" })
      const size = new TextEncoder().encode(line).length
      assert(Exit.isSuccess((yield* streamed(ollama(size), [`${line}\n`])).exit))
      for (const pieces of [[`${line}\n`], Array.from(line), [`{\n${"1,\n".repeat(size)}`]]) {
        assert.deepStrictEqual(tooLarge((yield* streamed(ollama(size - 1), pieces)).exit), ["maxEventBytes", size - 1])
      }
    })
  )
})
