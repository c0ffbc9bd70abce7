/** How images, files and audio go out, as each wire documents it; what a wire cannot take is refused before it is sent. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import {
  Anthropic,
  DeepSeek,
  Gemini,
  Kimi,
  Ollama,
  OpenAi,
  OpenRouter,
  Perplexity,
  type Transport
} from "@kintsugi/providers"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import { Effect, Exit, Fiber, Layer, Redacted, Stream } from "effect"
import { calm } from "../../_support/dialogue.ts"
import { fakeNetwork, respond, silence } from "../../_support/network.ts"

type Part = Exclude<Message.UserContent[number], Message.Text>
type ModelLayer = Layer.Layer<Model.Model, never, Transport.HttpClient>

const options = { apiKey: Redacted.make("k"), model: "m", transport: { retry: false } } as const

const layers = {
  chat: OpenAi.layer(options),
  responses: OpenAi.layerResponses(options),
  messages: Anthropic.layer(options),
  gemini: Gemini.layer(options),
  ollama: Ollama.layer(options),
  deepSeek: DeepSeek.layer(options),
  kimi: Kimi.layer(options),
  mistralByUrl: OpenAi.layer({ ...options, baseUrl: "https://api.mistral.ai/v1" }),
  mistral: OpenAiCompatible.layer("mistral", options),
  openRouter: OpenRouter.layer(options),
  perplexity: Perplexity.layer({ ...options, api: "chat" }),
  perplexityAgent: Perplexity.layer(options)
} as const

type Wire = keyof typeof layers

const requestOf = (...parts: ReadonlyArray<Part>): Model.Request => ({
  messages: [Message.user([Message.text("see"), ...parts])],
  tools: [],
  toolChoice: "auto"
})

/** Asks, whole and streamed; the server refuses what it gets. */
const asked = (layer: ModelLayer, request: Model.Request) =>
  Effect.gen(function* () {
    const network = fakeNetwork(() => Effect.suspend(respond(400, { error: { message: "no" } })))
    const ask = Effect.flatMap(Model.Model, (model) =>
      Effect.all([Effect.flip(model.generate(request)), Effect.flip(Stream.runDrain(model.stream(request)))])
    )
    const errors = yield* Effect.provide(ask, Layer.provide(layer, network.layer))
    return { errors, sent: network.sent }
  })

/** What is sent of one part, the same whole and streamed. */
const sentOf = (wire: Wire, part: Part) =>
  Effect.map(asked(layers[wire], requestOf(part)), ({ sent }) => {
    const parts = sent.map(({ body }) => partIn(JSON.parse(body)))
    assert.lengthOf(parts, 2)
    assert.deepStrictEqual(parts[1], parts[0])
    return parts[0]
  })

interface Body {
  readonly [name: string]: ReadonlyArray<{
    readonly images?: unknown
    readonly parts?: ReadonlyArray<unknown>
    readonly content?: ReadonlyArray<unknown>
  }>
}

const partIn = ({ contents, input, messages }: Body): unknown => {
  const [message] = messages ?? input ?? contents ?? []
  return message?.images ?? (message?.parts ?? message?.content)?.[1]
}

const data = "AQID"
const png = Message.image("image/png", { data })
const pngAt = Message.image("image/png", { url: "https://a.test/a.png" })
const pdf = Message.file("application/pdf", { data }, "a.pdf")
const pdfAt = Message.file("application/pdf", { url: "https://a.test/a.pdf" }, "a.pdf")
const wav = Message.file("audio/wav", { data }, "a.wav")
const mp3 = Message.file("audio/mpeg", { data })
const flac = Message.file("audio/x-flac", { data })
const openAiFile = Message.file("application/pdf", { url: "file-abc123" }, "a.pdf")
const openAiImage = Message.image("image/png", { url: "file-abc123" })
const anthropicFile = Message.file("application/pdf", { url: "file_011CNha8iCJcU1wXNR6q4V8w" }, "a.pdf")
const anthropicImage = Message.image("image/png", { url: "file_011CNha8iCJcU1wXNR6q4V8w" })
const fileId = "file_011CNha8iCJcU1wXNR6q4V8w"
const geminiUri = "https://generativelanguage.googleapis.com/v1beta/files/abc-123"
/** As a client may write it by hand: the helpers turn it into bytes. */
const inline: Part = { type: "image", mediaType: "image/png", url: `data:image/png;base64,${data}` }
const inlineFile: Part = { type: "file", mediaType: "application/pdf", url: `data:application/pdf;base64,${data}` }

const dataUrl = (type: string) => `data:${type};base64,${data}`
const audio = (format: string) => ({ type: "input_audio", input_audio: { data, format } })
const chatFile = { type: "file", file: { filename: "a.pdf", file_data: dataUrl("application/pdf") } }
const chatImage = (url: string) => ({ type: "image_url", image_url: { url } })
const inputImage = { type: "input_image", detail: "auto" }
const documentOf = (source: object, more: object = {}) => ({ type: "document", source, ...more })

const going: ReadonlyArray<readonly [string, Wire, Part, unknown]> = [
  ["an image", "chat", png, chatImage(dataUrl("image/png"))],
  ["an image at an address", "chat", pngAt, chatImage("https://a.test/a.png")],
  ["a file", "chat", pdf, chatFile],
  ["audio", "chat", wav, audio("wav")],
  ["audio by another name of its type", "chat", mp3, audio("mp3")],
  ["a file by its id", "chat", openAiFile, { type: "file", file: { file_id: "file-abc123" } }],
  ["an inline image", "chat", inline, chatImage(dataUrl("image/png"))],
  ["audio", "openRouter", flac, audio("flac")],
  ...[
    ["audio/mpeg3", "mp3"],
    ["audio/x-mpeg3", "mp3"],
    ["audio/wave", "wav"],
    ["audio/vnd.wave", "wav"],
    ["audio/mp4", "m4a"],
    ["Audio/X-WAV; codecs=1", "wav"],
    ["audio/ogg ;codecs=opus", "ogg"]
  ].map(
    ([type = "", format = ""]) =>
      [`audio of the type ${type}`, "openRouter", Message.file(type, { data }), audio(format)] as const
  ),
  [
    "a file whose type only contains audio",
    "gemini",
    Message.file("x-audio/wav", { data }),
    { inlineData: { mimeType: "x-audio/wav", data } }
  ],
  [
    "a file at an address",
    "openRouter",
    pdfAt,
    { type: "file", file: { filename: "a.pdf", file_data: "https://a.test/a.pdf" } }
  ],
  ["a file", "perplexity", pdf, { type: "file_url", file_url: { url: data }, file_name: "a.pdf" }],
  ["an inline file", "perplexity", inlineFile, { type: "file_url", file_url: { url: data } }],
  ["an image", "responses", png, { ...inputImage, image_url: dataUrl("image/png") }],
  ["an image by its id", "responses", openAiImage, { ...inputImage, file_id: "file-abc123" }],
  ["a file by its id", "responses", openAiFile, { type: "input_file", file_id: "file-abc123" }],
  ["a file at an address", "responses", pdfAt, { type: "input_file", file_url: "https://a.test/a.pdf" }],
  [
    "an inline file",
    "responses",
    inlineFile,
    { type: "input_file", filename: "file", file_data: dataUrl("application/pdf") }
  ],
  ["an image by its id", "messages", anthropicImage, { type: "image", source: { type: "file", file_id: fileId } }],
  ["a file by its id", "messages", anthropicFile, documentOf({ type: "file", file_id: fileId }, { title: "a.pdf" })],
  [
    "a text by its id",
    "messages",
    Message.file("text/plain", { url: "file_1" }),
    documentOf({ type: "file", file_id: "file_1" })
  ],
  [
    "a table by its id",
    "messages",
    Message.file("text/csv", { url: "file_1" }, "a.csv"),
    { type: "container_upload", file_id: "file_1" }
  ],
  ["an inline image", "messages", inline, { type: "image", source: { type: "base64", media_type: "image/png", data } }],
  ["an inline file", "messages", inlineFile, documentOf({ type: "base64", media_type: "application/pdf", data })],
  ["audio", "gemini", wav, { inlineData: { mimeType: "audio/wav", data } }],
  [
    "a file by its address there",
    "gemini",
    Message.file("application/pdf", { url: geminiUri }),
    { fileData: { mimeType: "application/pdf", fileUri: geminiUri } }
  ],
  [
    "a file by its name there",
    "gemini",
    Message.file("application/pdf", { url: "files/abc-123" }),
    { fileData: { mimeType: "application/pdf", fileUri: geminiUri } }
  ],
  ["an inline file", "gemini", inlineFile, { inlineData: { mimeType: "application/pdf", data } }],
  ["an inline image", "ollama", inline, [data]],
  ["an inline image", "kimi", inline, chatImage(dataUrl("image/png"))],
  ["an image by its id", "kimi", Message.image("image/png", { url: "abc123" }), chatImage("ms://abc123")],
  ["a file by its id", "mistralByUrl", openAiFile, { type: "file", file_id: "file-abc123" }],
  ["a file by its id", "mistral", openAiFile, { type: "file", file_id: "file-abc123" }],
  [
    "a file at an address",
    "mistral",
    pdfAt,
    { type: "document_url", document_url: "https://a.test/a.pdf", document_name: "a.pdf" }
  ],
  ["an inline file", "mistral", inlineFile, { type: "document_url", document_url: dataUrl("application/pdf") }]
]

describe("what goes out", () => {
  for (const [what, wire, part, expected] of going) {
    it.effect(`has the form that its wire documents: ${what}, ${wire} [P1408]`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* sentOf(wire, part), expected)
      })
    )
  }
})

const refused: ReadonlyArray<readonly [string, Wire, Part, LlmError.Capability, string]> = [
  ["audio in another format", "chat", flac, "files", "audio of the format 'flac' cannot be sent"],
  [
    "audio at an address",
    "openRouter",
    Message.file("audio/wav", { url: "https://a.test/a.wav" }),
    "files",
    "only the bytes of audio can be sent, not its address"
  ],
  ["an image by its id", "chat", openAiImage, "vision", "only its bytes or its address can be sent, not its file id"],
  ["a file at an address", "chat", pdfAt, "files", "only its bytes or its file id can be sent, not its address"],
  ["audio", "responses", wav, "files", "audio of the format 'wav' cannot be sent"],
  ["audio", "messages", wav, "files", "PDF and texts are taken, not audio/wav"],
  ["audio", "perplexity", wav, "files", "audio of the format 'wav' cannot be sent"],
  [
    "a file by the id of another provider",
    "gemini",
    openAiFile,
    "files",
    "only its bytes or its address can be sent, not its file id"
  ],
  ["a file by its id", "openRouter", openAiFile, "files", "only its bytes or its address can be sent, not its file id"],
  [
    "an image by its id",
    "perplexityAgent",
    openAiImage,
    "vision",
    "only its bytes or its address can be sent, not its file id"
  ],
  ["audio", "perplexityAgent", wav, "files", "its bytes cannot be sent"],
  ["an image by its id", "ollama", openAiImage, "vision", "only its bytes can be sent, not its file id"],
  ["audio", "ollama", wav, "files", "its bytes cannot be sent"],
  ["a file by its id", "deepSeek", openAiFile, "files", "its file id cannot be sent"],
  ["an image at an address", "kimi", pngAt, "vision", "only its bytes or its file id can be sent, not its address"]
]

describe("what a wire cannot take", () => {
  for (const [what, wire, part, capability, detail] of refused) {
    it.effect(`is refused before it is sent: ${what}, ${wire} [P1408]`, () =>
      Effect.gen(function* () {
        const { errors, sent } = yield* asked(layers[wire], requestOf(part))
        assert.deepStrictEqual(sent, [])
        for (const error of errors) {
          assert(error instanceof LlmError.CapabilityMismatchError)
          assert.strictEqual(error.capability, capability)
          assert.include(error.message, detail)
        }
      })
    )
  }
})

describe("the beta of Anthropic's stored files", () => {
  const beta = "files-api-2025-04-14"

  /** A request with these parts in the result of a call. */
  const resultOf = (kind: "result" | "told", ...parts: ReadonlyArray<Part>): Model.Request => {
    const call = { type: "tool-call", id: "c1", name: "shot", arguments: {} } as const
    const content = [{ type: "settled-call", call, settlement: { kind, text: "described", parts } }] as const
    return { ...requestOf(), messages: [Message.user("look"), { role: "assistant", content }] }
  }

  const betasOf = (layer: ModelLayer, ...parts: ReadonlyArray<Part>) =>
    Effect.map(asked(layer, requestOf(...parts)), ({ sent }) => sent.map(({ headers }) => headers["anthropic-beta"]))

  it.effect("is in the head of requests that name such a file, whole and streamed, and of no others [P1408]", () =>
    Effect.gen(function* () {
      const layer = layers.messages
      assert.deepStrictEqual(yield* betasOf(layer, png, anthropicFile), [beta, beta])
      assert.deepStrictEqual(yield* betasOf(layer, anthropicImage), [beta, beta])
      assert.deepStrictEqual(yield* betasOf(layer, png, pdfAt), [undefined, undefined])
    })
  )

  it.effect("is in the head of requests whose results name such a file [P1408]", () =>
    Effect.gen(function* () {
      const sent = (request: Model.Request) =>
        Effect.map(asked(layers.messages, request), ({ sent: all }) =>
          all.map(({ headers }) => headers["anthropic-beta"])
        )
      assert.deepStrictEqual(yield* sent(resultOf("result", png, anthropicFile)), [beta, beta])
      assert.deepStrictEqual(yield* sent(resultOf("result", png)), [undefined, undefined])
      // what is sent as its description names no file
      assert.deepStrictEqual(yield* sent(resultOf("told", anthropicFile)), [undefined, undefined])
      assert.deepStrictEqual(yield* sent(resultOf("result", anthropicFile, wav)), [undefined, undefined])
    })
  )

  it.effect("stands beside the betas of the layer, once; a header of the user stays as it is [P1408]", () =>
    Effect.gen(function* () {
      const own = Anthropic.layer({ ...options, betas: ["a-2025-01-01"] })
      assert.deepStrictEqual(yield* betasOf(own, png), ["a-2025-01-01", "a-2025-01-01"])
      const both = `a-2025-01-01,${beta}`
      assert.deepStrictEqual(yield* betasOf(own, anthropicFile), [both, both])
      assert.deepStrictEqual(yield* betasOf(Anthropic.layer({ ...options, betas: [beta] }), anthropicFile), [
        beta,
        beta
      ])
      const theirs = Anthropic.layer({ ...options, headers: { "anthropic-beta": "mine" } })
      assert.deepStrictEqual(yield* betasOf(theirs, anthropicFile), ["mine", "mine"])
    })
  )

  it.effect("a request with a file that is interrupted is sent once [P1408]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork([silence])
      const modelCall = Effect.flatMap(Model.Model, (model) => model.generate(requestOf(anthropicFile)))
      const running = yield* Effect.forkChild(Effect.provide(modelCall, Layer.provide(layers.messages, network.layer)))
      yield* calm
      const exit = yield* Effect.andThen(Fiber.interrupt(running), Fiber.await(running))
      assert(Exit.isFailure(exit))
      assert.deepStrictEqual(
        network.sent.map(({ headers }) => headers["anthropic-beta"]),
        [beta]
      )
    })
  )
})
