/** On each wire: what ends the wait for the first part, and what only keeps a stream alive. */
import { assert, it } from "@effect/vitest"
import type * as Model from "@kintsugi/core/Model"
import { Anthropic, Gemini, Ollama, OpenAi, type Transport } from "@kintsugi/providers"
import { Effect, Exit, Fiber, type Layer, Redacted } from "effect"
import { calm, event, fakeNetwork, pass, streamText, textChunk } from "../../_support/network.ts"
import { writing } from "./_support/writing.ts"

const transport = { firstPart: "50 seconds", betweenParts: "2 seconds", retry: false } as const
const common = { apiKey: Redacted.make("k"), model: "m", transport }

type ModelLayer = Layer.Layer<Model.Model, never, Transport.HttpClient>

const anthropic = Anthropic.layer(common)
const responses = OpenAi.layerResponses(common)
const gemini = Gemini.layer(common)
const line = (data: object) => `${JSON.stringify(data)}\n`

const begun = event({ type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } })
const block = (content_block: object) => event({ type: "content_block_start", index: 0, content_block })
const search = { type: "web_search_call", id: "x", status: "completed" }

/** What shows nothing. */
const silent: ReadonlyArray<readonly [string, ModelLayer, string]> = [
  ["the start of a message of Anthropic", anthropic, begun],
  ["the start of a thought of Anthropic", anthropic, begun + block({ type: "thinking", thinking: "" })],
  ["half a call of Anthropic", anthropic, begun + block({ type: "tool_use", id: "c", name: "f", input: {} })],
  ["a search of Responses", responses, event({ type: "response.output_item.done", output_index: 0, item: search })],
  [
    "an empty thought of Gemini",
    gemini,
    event({ candidates: [{ content: { parts: [{ text: "", thought: true }] } }] })
  ],
  ["counts of Gemini", gemini, event({ usageMetadata: { promptTokenCount: 4 } })]
]

/** A stream that is written by hand, being read. */
const reading = (layer: ModelLayer) =>
  Effect.gen(function* () {
    const server = writing()
    const network = fakeNetwork([server.reaction])
    const fiber = yield* Effect.forkChild(streamText.pipe(Effect.provide(layer), Effect.provide(network.layer)))
    yield* calm
    return { fiber, say: server.say }
  })

type Read = Fiber.Fiber<Effect.Success<typeof streamText>, unknown>

const isOver = (fiber: Read) => fiber.pollUnsafe() !== undefined

const failed = (fiber: Read) =>
  Effect.map(Fiber.join(fiber), ({ exit, text }) => {
    assert.isTrue(Exit.isFailure(exit))
    return text
  })

for (const [what, layer, chunk] of silent) {
  it.effect(`firstPart goes on behind ${what} [P1402 P1403]`, () =>
    Effect.gen(function* () {
      const { fiber, say } = yield* reading(layer)
      yield* say(chunk)
      yield* pass(49_999)
      assert.isFalse(isOver(fiber))
      yield* pass(1)
      assert.isTrue(isOver(fiber))
      assert.strictEqual(yield* failed(fiber), "")
    })
  )
}

const text = {
  anthropic:
    begun +
    block({ type: "text", text: "" }) +
    event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a" } }),
  responses: event({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "a" }),
  gemini: event({ candidates: [{ content: { parts: [{ text: "a" }] } }], usageMetadata: { promptTokenCount: 4 } })
}

/** What says nothing. */
const empty: ReadonlyArray<readonly [string, ModelLayer, string, string | ((times: number) => string)]> = [
  ["pings of Anthropic", anthropic, text.anthropic, event({ id: 1, type: "ping" })],
  ["unknown events of Anthropic", anthropic, text.anthropic, event({ type: "message_progress" })],
  ["keep-alives of Responses", responses, text.responses, event({ sequence_number: 7, type: "keepalive" })],
  ["states of Responses", responses, text.responses, event({ type: "response.in_progress", response: { id: "r" } })],
  ["equal counts of Gemini", gemini, text.gemini, event({ usageMetadata: { promptTokenCount: 4 } })],
  [
    "equal counts of Gemini with other ids",
    gemini,
    text.gemini,
    (times) => event({ responseId: "a".repeat(times + 1), usageMetadata: { promptTokenCount: 4 } })
  ],
  [
    "empty lines of Ollama",
    Ollama.layer({ model: "m", transport }),
    line({ message: { content: "a" }, done: false }),
    line({ message: { content: "" }, done: false })
  ],
  [
    "equal counts of chat completions",
    OpenAi.layer(common),
    textChunk("a"),
    event({ choices: [], usage: { prompt_tokens: 4, completion_tokens: 1 } })
  ],
  [
    "heartbeats in turn",
    OpenAi.layer(common),
    textChunk("a"),
    event({ choices: [] }) + "event: heartbeat\ndata: {}\n\n"
  ],
  [
    "empty pieces of Responses",
    responses,
    text.responses,
    event({ type: "response.mcp_call_arguments.delta", delta: "", sequence_number: 7 })
  ]
]

for (const [what, layer, first, alive] of empty) {
  it.effect(`ten times betweenParts of nothing but ${what} end a stream [P1402]`, () =>
    Effect.gen(function* () {
      const { fiber, say } = yield* reading(layer)
      const piece = (times: number) => (typeof alive === "string" ? alive : alive(times))
      yield* say(first)
      // the first counts are news
      yield* say(piece(0))
      for (let times = 0; times < 10; times++) {
        yield* pass(1900)
        assert.isFalse(isOver(fiber))
        yield* say(piece(times + 1))
      }
      yield* pass(1000)
      assert.isTrue(isOver(fiber))
      assert.strictEqual(yield* failed(fiber), "a")
    })
  )
}

const written = (item: string) => (piece: string) =>
  event({ type: `response.${item}.delta`, output_index: 0, item_id: "x", delta: piece })

/** What says something every 1.9 seconds, of which nothing is kept before its end. */
const working: ReadonlyArray<readonly [string, ModelLayer, string, (times: number) => string]> = [
  ["code that an interpreter gets", responses, text.responses, () => written("code_interpreter_call_code")("x = 1")],
  ["input of a custom call", responses, text.responses, () => written("custom_tool_call_input")("  ")],
  ["arguments of a call of MCP", responses, text.responses, () => written("mcp_call_arguments")("1")],
  [
    "an image that becomes clearer",
    responses,
    text.responses,
    (times) => event({ type: "response.image_generation_call.partial_image", partial_image_b64: `A${times}` })
  ],
  ["unknown events that differ", anthropic, text.anthropic, (times) => event({ type: "x", step: "a".repeat(times) })],
  ["one event in pieces", gemini, text.gemini, (times) => (times === 0 ? "data: {" : `"p${times}": "AAAA",`)],
  ["one event in lines", gemini, text.gemini, (times) => `data: ${times === 0 ? "{" : `"p${times}": "AAAA",`}\n`],
  [
    "one line in pieces",
    Ollama.layer({ model: "m", transport }),
    line({ message: { content: "a" }, done: false }),
    (times) => (times === 0 ? "{" : `"p${times}": "AAAA",`)
  ]
]

for (const [what, layer, first, piece] of working) {
  it.effect(`a stream goes on with ${what} [P1402]`, () =>
    Effect.gen(function* () {
      const { fiber, say } = yield* reading(layer)
      yield* say(first)
      for (let times = 0; times < 30; times++) {
        yield* pass(1900)
        yield* say(piece(times))
      }
      assert.isFalse(isOver(fiber))
    })
  )
}

it.effect("keep-alives that come in pieces, within an event or behind a whole answer, end a stream [P1402]", () =>
  Effect.gen(function* () {
    const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      [text.anthropic, ["data: {", '"type": "ping"}\n\n']],
      [`${text.anthropic}data: {`, [": keep-alive\n"]],
      [`${text.anthropic}data: {\n`, [": keep-", "alive\n"]],
      ["{}\n", ["\n"]]
    ]
    for (const [first, pieces] of cases) {
      const { fiber, say } = yield* reading(anthropic)
      yield* say(first)
      for (let times = 0; times < 60; times++) {
        yield* pass(1000)
        if (isOver(fiber)) break
        yield* say(pieces[times % pieces.length] ?? "")
      }
      assert.isTrue(isOver(fiber), pieces.join())
    }
  })
)

it.effect("half a call, and counts that grow, keep a stream from its end [P1402]", () =>
  Effect.gen(function* () {
    const { fiber, say } = yield* reading(anthropic)
    yield* say(text.anthropic)
    yield* say(
      event({ type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "c", name: "f" } })
    )
    const delta = { type: "input_json_delta", partial_json: "1" }
    for (let times = 0; times < 20; times++) {
      yield* pass(1900)
      yield* say(event({ type: "content_block_delta", index: 1, delta }))
    }
    assert.isFalse(isOver(fiber))
    const counting = yield* reading(gemini)
    yield* counting.say(text.gemini)
    for (let times = 0; times < 20; times++) {
      yield* pass(1900)
      yield* counting.say(event({ usageMetadata: { promptTokenCount: 4, thoughtsTokenCount: times } }))
    }
    assert.isFalse(isOver(counting.fiber))
  })
)
