/** For each wire: which images and files it carries in the result of a tool, and which it describes. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Anthropic, DeepSeek, Gemini, Kimi, Ollama, OpenAi, OpenRouter, Perplexity } from "@kintsugi/providers"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import { Effect, Layer, Redacted } from "effect"
import { fakeNetwork, respond } from "../../_support/network.ts"
import { layer as bedrock } from "../_support/bedrock.ts"

const data = Buffer.from("MARKERmarker").toString("base64")

/** What a tool may give, each of its own kind. */
const kinds = {
  png: Message.image("image/png", { data }),
  gif: Message.image("image/gif", { data }),
  "png at an address": Message.image("image/png", { url: "https://a.test/MARKER.png" }),
  "png in a store": Message.image("image/png", { url: "file_MARKER" }),
  pdf: Message.file("application/pdf", { data }, "a.pdf"),
  "pdf at an address": Message.file("application/pdf", { url: "https://a.test/MARKER.pdf" }),
  text: Message.file("text/plain", { data }, "a.txt"),
  csv: Message.file("text/csv", { data }, "a.csv"),
  zip: Message.file("application/zip", { data }),
  audio: Message.file("audio/wav", { data })
} as const

type Kind = keyof typeof kinds
type Made = ReturnType<typeof OpenAi.layer>

const of = (model: string) => ({ model, apiKey: Redacted.make("k"), transport: { retry: false } }) as const

const web = ["png", "gif", "png at an address", "png in a store", "pdf", "pdf at an address"] as const
const documents = ["pdf", "text", "csv"] as const

/** Each wire, and what it carries. `docs/guide/input-and-output.md` says it to users. */
const wires: Readonly<Record<string, readonly [Made, ReadonlyArray<Kind>]>> = {
  "Anthropic's Messages": [Anthropic.layer(of("claude-opus-5-5")), [...web, "text", "csv"]],
  "OpenAI's Responses": [OpenAi.layerResponses(of("gpt-5.6-sol")), web],
  "the Responses of a host": [
    OpenAiCompatible.layerResponses("azure", { ...of("m"), baseUrl: "https://a.test/v1" }),
    web
  ],
  "Gemini 3": [Gemini.layer(of("gemini-3.8-flash")), ["png", "pdf", "text"]],
  "Gemini 2.5": [Gemini.layer(of("gemini-2.5-pro")), []],
  "Claude on Bedrock": [bedrock(of("anthropic.claude-sonnet-4-6")), ["png", "gif", ...documents]],
  "Nova on Bedrock": [bedrock(of("us.amazon.nova-2-lite-v1:0")), ["png", "gif", ...documents]],
  "Llama on Bedrock": [bedrock(of("us.meta.llama4-scout-17b-instruct-v1:0")), documents],
  "OpenAI's chat": [OpenAi.layer(of("gpt-5.6-sol")), []],
  Kimi: [Kimi.layer(of("kimi-k3")), ["png"]],
  "an older Kimi": [Kimi.layer(of("kimi-k2-0905-preview")), []],
  xAI: [OpenAiCompatible.layer("xai", of("grok-4.20")), ["png", "png at an address"]],
  "GLM with eyes": [OpenAiCompatible.layer("zai", of("glm-4.6v")), ["png", "png at an address"]],
  "GLM without": [OpenAiCompatible.layer("zai", of("glm-5")), []],
  Groq: [OpenAiCompatible.layer("groq", of("m")), []],
  "a host of one's own": [
    OpenAiCompatible.layer(
      { provider: "own", baseUrl: "https://own.test", variables: { baseUrl: "OWN" }, dialect: { resultImages: /vl/g } },
      of("qwen3-vl")
    ),
    ["png", "png at an address"]
  ],
  DeepSeek: [DeepSeek.layer(of("deepseek-v4-pro")), []],
  OpenRouter: [OpenRouter.layer(of("anthropic/claude-haiku-4.5")), []],
  // the server takes images of a model without eyes for an error
  Ollama: [Ollama.layer(of("qwen3-vl")), []],
  "Perplexity's agent": [Perplexity.layer(of("openai/gpt-5.6-sol")), []],
  "Perplexity's chat": [Perplexity.layer({ ...of("m"), api: "chat" }), []]
}

/** The body of a request whose last result has this part. */
const bodyWith = (layer: Made, part: (typeof kinds)[Kind]) =>
  Effect.gen(function* () {
    const network = fakeNetwork(respond(500))
    const settlement: Message.Settlement = { kind: "result", text: "described", parts: [Message.text("Here"), part] }
    const call = { type: "tool-call", id: "c1", name: "shot", arguments: {} } as const
    const messages: Message.Transcript = [
      Message.user("look"),
      { role: "assistant", content: [{ type: "settled-call", call, settlement }] }
    ]
    const shows = yield* Effect.gen(function* () {
      const model = yield* Model.Model
      yield* Effect.exit(model.generate({ messages, tools: [], toolChoice: "auto" }))
      return model.showsInResults?.(part) ?? false
    }).pipe(Effect.provide(Layer.provide(layer, network.layer)))
    return { body: network.sent[0]?.body ?? "", shows }
  })

describe("the result of a tool", () => {
  for (const [name, [layer, carried]] of Object.entries(wires)) {
    it.effect(`has on the wire of ${name} what it documents, and a description of the rest [P1538]`, () =>
      Effect.gen(function* () {
        for (const [kind, part] of Object.entries(kinds)) {
          const { body, shows } = yield* bodyWith(layer, part)
          const isCarried = carried.some((one) => one === kind)
          // Anthropic and texts: their bytes are sent as they are read
          const isThere = [data, "MARKER"].some((mark) => body.includes(mark))
          assert.deepStrictEqual(
            { kind, shows, isThere, isDescribed: body.includes("described") },
            { kind, shows: isCarried, isThere: isCarried, isDescribed: !isCarried }
          )
          assert.strictEqual(body.includes("Here"), isCarried, kind)
        }
      })
    )
  }

  it.effect("is described for models of Kimi that read no images there, by their names [P1538]", () =>
    Effect.gen(function* () {
      const read: Array<string> = []
      const names = [
        "kimi-k2",
        "kimi-k2.4",
        "kimi-k2.5",
        "kimi-k2.9-fast",
        "kimi-k3",
        "kimi-k9",
        "kimi-k1",
        "my-kimi-k3"
      ]
      for (const name of names) if ((yield* bodyWith(Kimi.layer(of(name)), kinds.png)).shows) read.push(name)
      assert.deepStrictEqual(read, ["kimi-k2.5", "kimi-k2.9-fast", "kimi-k3", "kimi-k9"])
    })
  )

  it.effect("is a list of texts and images where a dialect has them in its tool messages [P1538]", () =>
    Effect.gen(function* () {
      const { body } = yield* bodyWith(Kimi.layer(of("kimi-k3")), kinds.png)
      assert.deepInclude(JSON.parse(body).messages.at(-1), {
        role: "tool",
        content: [
          { type: "text", text: "Here" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }
        ]
      })
    })
  )
})
