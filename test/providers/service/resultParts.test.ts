/** Images and files in results of tools, on each wire. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Agent, Tool } from "@kintsugi/core"
import { Anthropic, Gemini, Kimi, Ollama, OpenAi, type Transport } from "@kintsugi/providers"
import { Effect, Layer, Redacted, Schema } from "effect"
import { fakeNetwork, silence } from "../../_support/network.ts"
import { deepAt } from "./_support/deepAt.ts"

const options = { model: "m", apiKey: Redacted.make("k") }

const png = Message.image("image/png", { data: "AAAA" })
const pdf = Message.file("application/pdf", { data: "AAAA" }, "a.pdf")

type Parts = NonNullable<Message.Settlement["parts"]>

const bodyOf = (layer: Layer.Layer<Model.Model, never, Transport.HttpClient>, parts: Parts, kind: "result" | "told") =>
  Effect.gen(function* () {
    const network = fakeNetwork(silence)
    yield* Effect.gen(function* () {
      const model = yield* Model.Model
      const settlement: Message.Settlement = { kind, text: "described", parts }
      const messages: Message.Transcript = [
        Message.user("look"),
        {
          role: "assistant",
          content: [
            { type: "settled-call", call: { type: "tool-call", id: "c1", name: "shot", arguments: {} }, settlement }
          ]
        }
      ]
      const fiber = yield* Effect.forkChild(model.generate({ messages, tools: [], toolChoice: "auto" }))
      for (let i = 0; i < 60; i++) yield* Effect.yieldNow
      fiber.interruptUnsafe()
    }).pipe(Effect.provide(Layer.provide(layer, network.layer)))
    return JSON.parse(network.sent.at(-1)?.body ?? "{}") as unknown
  })

const wires = {
  anthropic: {
    layer: Anthropic.layer(options),
    at: ["messages", 2, "content", 0, "content"],
    shown: [
      { type: "text", text: "Here" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" }, title: "a.pdf" }
    ],
    stored: [
      { type: "image", source: { type: "file", file_id: "file_1" } },
      { type: "document", source: { type: "file", file_id: "file_2" } }
    ],
    described: "described",
    failed: "described"
  },
  responses: {
    layer: OpenAi.layerResponses(options),
    at: ["input", 2, "output"],
    shown: [
      { type: "input_text", text: "Here" },
      { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" }
    ],
    stored: [
      { type: "input_image", file_id: "file_1", detail: "auto" },
      { type: "input_file", file_id: "file_2" }
    ],
    described: "described",
    failed: "ERROR: described"
  },
  gemini: {
    layer: Gemini.layer({ ...options, model: "gemini-3-pro" }),
    at: ["contents", 2, "parts", 0, "functionResponse"],
    shown: {
      name: "shot",
      response: { output: "Here" },
      parts: [
        { inlineData: { mimeType: "image/png", data: "AAAA" } },
        { inlineData: { mimeType: "application/pdf", data: "AAAA" } }
      ]
    },
    stored: { name: "shot", response: { output: "described" } },
    described: { name: "shot", response: { output: "described" } },
    failed: { name: "shot", response: { error: "described" } }
  }
} as const

const blind = {
  openai: OpenAi.layer(options),
  kimi: Kimi.layer(options),
  ollama: Ollama.layer(options),
  "gemini 2.5": Gemini.layer({ ...options, model: "gemini-2.5-pro" })
}

describe("images and files in results", () => {
  for (const [name, { at, described, failed, layer, shown }] of Object.entries(wires)) {
    it.effect(`go to ${name} as parts of the result [P1538]`, () =>
      Effect.gen(function* () {
        const found = yield* bodyOf(layer, [Message.text("Here"), png, pdf], "result")
        assert.deepStrictEqual(deepAt(found, at), shown)
        const audio = Message.file("audio/wav", { data: "AAAA" })
        const local = Message.file("application/pdf", { url: "file:///a.pdf" })
        const withheld = { type: "image", mediaType: "image/png", bytes: 3 } as const
        const empty = Message.image("image/png", { data: "" })
        for (const other of [audio, local, withheld, empty]) {
          assert.deepStrictEqual(deepAt(yield* bodyOf(layer, [png, other], "result"), at), described)
        }
        assert.deepStrictEqual(deepAt(yield* bodyOf(layer, [png], "told"), at), failed)
      })
    )
  }

  for (const [name, { at, layer, stored }] of Object.entries(wires)) {
    it.effect(`that ${name} stores go there by their ids, or as their description where none is taken [P1408]`, () =>
      Effect.gen(function* () {
        const parts = [
          Message.image("image/png", { url: "file_1" }),
          Message.file("application/pdf", { url: "file_2" })
        ]
        assert.deepStrictEqual(deepAt(yield* bodyOf(layer, parts, "result"), at), stored)
      })
    )
  }

  for (const [name, layer] of Object.entries(blind)) {
    it.effect(`go to ${name} as their description, and no byte of them [P1538]`, () =>
      Effect.gen(function* () {
        const text = JSON.stringify(yield* bodyOf(layer, [png, pdf], "result"))
        assert.include(text, "described")
        assert.notInclude(text, "AAAA")
        const { showsInResults } = yield* Effect.provide(Model.Model, Layer.provide(layer, fakeNetwork([]).layer))
        assert.isFalse(showsInResults?.(png) ?? false)
      })
    )
  }

  it.effect("are refused by name where the tool says so and the wire carries none [P1538]", () =>
    Effect.gen(function* () {
      const shot = Tool.make("shot", {
        description: "Takes a picture.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.succeed("AAAA")
      }).pipe(Tool.parts((data) => [Message.image("image/png", { data })], { unsupported: "refuse" }))
      const network = fakeNetwork([
        () =>
          Effect.succeed(
            Response.json({
              choices: [
                {
                  index: 0,
                  message: {
                    role: "assistant",
                    content: null,
                    tool_calls: [{ id: "c1", type: "function", function: { name: "shot", arguments: "{}" } }]
                  },
                  finish_reason: "tool_calls"
                }
              ],
              usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
            })
          )
      ])
      const agent = Agent.make("clerk", { tools: [shot] })
      const error = yield* Effect.flip(agent("go").pipe(Effect.provide(Layer.provide(blind.openai, network.layer))))
      assert(error instanceof LlmError.CapabilityMismatchError)
      assert.deepInclude(error, { capability: "vision", provider: "openai" })
      assert.lengthOf(network.sent, 1)
    })
  )
})
