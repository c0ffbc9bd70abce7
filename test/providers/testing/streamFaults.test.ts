/** Streams that are held, and streams that break, after a number of parts. */
import { assert, describe, it } from "@effect/vitest"
import { Model } from "@kintsugi/core"
import { Anthropic, Ollama, OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Fiber, Layer, Redacted, Ref, Stream } from "effect"
import { failureOf, key, request, streamText } from "../../_support/network.ts"
import { content, generate } from "../_support/loopback.ts"

const options = { model: "m", apiKey: Redacted.make(key), transport: { retry: false } } as const

/** Per format: its client, and a number of parts after which a part of the text has come, but not all. */
const formats = [
  ["anthropic-messages", (baseUrl: string) => Anthropic.layer({ ...options, baseUrl }), 5],
  ["openai-chat", (url: string) => OpenAi.layer({ ...options, baseUrl: `${url}/v1` }), 3],
  ["ollama-chat", (baseUrl: string) => Ollama.layer({ ...options, baseUrl }), 2]
] as const

const brain = AnyWire.handler(() => Effect.succeed({ content }))

const serving = (fault: Fault.Fault) => LoopbackServer.make(Fault.inFront([fault], brain))

describe.each(formats)("a stream of %s", (_, clientAt, parts) => {
  const layerAt = (url: string) => Layer.provide(clientAt(url), Transport.layerFetch)

  it.live("is held after some parts, and goes on when it is released", () =>
    Effect.gen(function* () {
      const gate = yield* Fault.gate(parts)
      const { url } = yield* serving(gate.fault)
      const heard = yield* Ref.make("")
      const model = yield* Effect.provide(Model.Model, layerAt(url))
      const reading = Stream.runForEach(model.stream(request), (part) =>
        part.type === "text-delta" ? Ref.update(heard, (before) => before + part.text) : Effect.void
      )
      const fiber = yield* Effect.forkChild(reading)
      yield* gate.reached
      assert.isUndefined(fiber.pollUnsafe())
      yield* gate.release
      yield* Fiber.join(fiber)
      assert.strictEqual(yield* Ref.get(heard), content[0]?.type === "text" ? content[0].text : "")
    })
  )

  it.live("breaks after some parts, whose words have come", () =>
    Effect.gen(function* () {
      for (const how of ["reset", "end"] as const) {
        const { url } = yield* serving(Fault.cut({ parts }, how))
        const { exit, text } = yield* Effect.provide(streamText, layerAt(url))
        assert.strictEqual(failureOf(exit)._tag, "NetworkError")
        assert.match("grüße 🙂, five words and more", new RegExp(`^${text}`))
        assert.isNotEmpty(text)
      }
    })
  )

  it.live("breaks before its first part", () =>
    Effect.gen(function* () {
      const { url } = yield* serving(Fault.cut({ parts: 0 }, "reset"))
      const { exit, text } = yield* Effect.provide(streamText, layerAt(url))
      assert.deepStrictEqual([failureOf(exit)._tag, text], ["NetworkError", ""])
    })
  )
})

describe("a whole body", () => {
  it.live("is one part", () =>
    Effect.gen(function* () {
      const gate = yield* Fault.gate(0)
      const { url } = yield* serving(gate.fault)
      const layer = Layer.provide(OpenAi.layer({ ...options, baseUrl: url }), Transport.layerFetch)
      const fiber = yield* Effect.forkChild(Effect.provide(generate, layer))
      yield* gate.reached
      yield* gate.release
      assert.deepStrictEqual((yield* Fiber.join(fiber)).content, content)
    })
  )
})

describe("a fault that cannot be", () => {
  it.live("is refused by name, with the number of parts", () =>
    Effect.gen(function* () {
      const gate = yield* Fault.gate(1)
      const faults = [
        [gate.fault, "Fault.gate: the answer has no part 2, only 1"],
        [Fault.cut({ parts: 4 }, "reset"), "Fault.cut: the answer has no part 4, only 1"]
      ] as const
      for (const [fault, text] of faults) {
        const { url } = yield* serving(fault)
        const layer = Layer.provide(OpenAi.layer({ ...options, baseUrl: url }), Transport.layerFetch)
        const error = failureOf(yield* Effect.exit(Effect.provide(generate, layer)))
        assert.strictEqual(error._tag, "ServerError")
        assert.include(error.message, text)
      }
    })
  )

  it.effect("is refused by name, if its number counts nothing", () =>
    Effect.gen(function* () {
      for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        assert.throws(() => Fault.cut(bad, "reset"), RangeError, `Fault.cut: the number of bytes must be`)
        assert.throws(() => Fault.cut({ parts: bad }, "reset"), RangeError, `Fault.cut: the number of parts must be`)
        const exit = yield* Effect.exit(Fault.gate(bad))
        assert.include(String(exit), "Fault.gate: the number of parts must be")
      }
    })
  )
})
