/** The limits of size count what is kept of an answer, and nothing of its framing. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, LlmError, type Model, Recovery } from "@kintsugi/core"
import { Anthropic, DeepSeek, Gemini, Ollama, OpenAi, type Transport } from "@kintsugi/providers"
import { Effect, Exit, type Layer, Redacted, Stream } from "effect"
import {
  body,
  completion,
  done,
  event,
  failsWith,
  fakeNetwork,
  finishChunk,
  finished,
  generate,
  openAi,
  respond,
  respondWith,
  streamText,
  textChunk
} from "../../_support/network.ts"

type Provided = Layer.Layer<Model.Model, never, Transport.HttpClient>

const common = { apiKey: Redacted.make("k"), baseUrl: "https://api.test", model: "m" }

/** How a stream with these chunks ends, and its text. */
const streamed = (layer: Provided, chunks: ReadonlyArray<string | Uint8Array>) => {
  const network = fakeNetwork([respondWith(200, () => body(chunks))])
  return Effect.map(finished(streamText.pipe(Effect.provide(layer), Effect.provide(network.layer)), 0), (exit) => {
    assert(Exit.isSuccess(exit))
    assert.strictEqual(network.sent.length, 1)
    return exit.value
  })
}

/** The option that a failure names, with its limit. */
const tooLarge = (exit: Exit.Exit<unknown, LlmError.LlmError>) => {
  const error = failsWith(exit, LlmError.ReplyTooLargeError)
  assert.isFalse(error.isRetryable)
  assert.strictEqual(error.recovery, "none")
  assert.include(error.message, `${error.option} admits, ${error.limit} bytes`)
  return [error.option, error.limit]
}

const thoughtChunk = (reasoning_content: string) => event({ choices: [{ index: 0, delta: { reasoning_content } }] })

const callChunk = (args: string) =>
  event({
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: args } }] } }]
  })

const named = (data: { readonly type: string; readonly [key: string]: unknown }) =>
  `event: ${data.type}\n${event(data)}`

/** The endings of a stream that kept 10 bytes, for each way to keep them, by the wire that keeps them. */
const kept: ReadonlyArray<readonly [string, (transport: Transport.Options) => Provided, ReadonlyArray<string>]> = [
  [
    "texts and thoughts",
    (transport) => DeepSeek.layer({ ...common, transport }),
    [thoughtChunk("12"), thoughtChunk("34"), textChunk("5ä"), textChunk("890"), finishChunk(), done]
  ],
  [
    "arguments in pieces",
    (transport) => OpenAi.layer({ ...common, transport }),
    [callChunk('{"a":'), callChunk('"bc'), callChunk('"}'), finishChunk("tool_calls"), done]
  ],
  [
    "arguments in pieces of Anthropic",
    (transport) => Anthropic.layer({ ...common, transport }),
    [
      named({ type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } }),
      named({
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "c", name: "f", input: {} }
      }),
      ...['{"a":', '"bc', '"}'].map((partial_json) =>
        named({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json } })
      ),
      named({ type: "content_block_stop", index: 0 }),
      named({ type: "message_delta", delta: { stop_reason: "tool_use" } }),
      named({ type: "message_stop" })
    ]
  ],
  [
    "arguments in pieces of responses",
    (transport) => OpenAi.layerResponses({ ...common, transport }),
    [
      named({
        type: "response.output_item.added",
        output_index: 0,
        item: { type: "function_call", id: "i", call_id: "c", name: "f", arguments: "" }
      }),
      ...['{"a":', '"bc', '"}'].map((delta) =>
        named({ type: "response.function_call_arguments.delta", output_index: 0, item_id: "i", delta })
      ),
      named({
        type: "response.output_item.done",
        output_index: 0,
        item: { type: "function_call", id: "i", call_id: "c", name: "f", arguments: '{"a":"bc"}' }
      }),
      named({ type: "response.completed", response: { status: "completed", output: [] } })
    ]
  ],
  [
    "arguments of Gemini",
    (transport) => Gemini.layer({ ...common, transport }),
    [
      event({
        candidates: [{ content: { parts: [{ text: "1234" }, { functionCall: { name: "f", args: { a: "bcdef" } } }] } }]
      }),
      event({ candidates: [{ content: { parts: [] }, finishReason: "STOP" }] })
    ]
  ],
  [
    "arguments of Ollama",
    (transport) => Ollama.layer({ model: "m", baseUrl: "https://api.test", transport }),
    [
      `${JSON.stringify({ message: { content: "1234" }, done: false })}\n`,
      `${JSON.stringify({ message: { tool_calls: [{ function: { name: "f", arguments: { a: "bcdef" } } }] }, done: false })}\n`,
      `${JSON.stringify({ message: { content: "" }, done: true, done_reason: "stop" })}\n`
    ]
  ]
]

describe("maxReplyBytes", () => {
  for (const [what, layer, chunks] of kept) {
    it.effect(`counts ${what} in bytes, in any pieces, and nothing else [P1401]`, () =>
      Effect.gen(function* () {
        const bytes = Array.from(new TextEncoder().encode(chunks.join("")), (byte) => Uint8Array.of(byte))
        for (const pieces of [chunks, [chunks.join("")], bytes]) {
          const within = yield* streamed(layer({ maxReplyBytes: 10, retry: false }), pieces)
          assert(Exit.isSuccess(within.exit))
          const beyond = yield* streamed(layer({ maxReplyBytes: 9 }), pieces)
          assert.deepStrictEqual(tooLarge(beyond.exit), ["maxReplyBytes", 9])
        }
      })
    )
  }

  it.effect("ends a stream at the part that is too much, and gives what came before it [P1401]", () =>
    Effect.gen(function* () {
      let pulled = 0
      const endless = () =>
        new ReadableStream<Uint8Array>({
          pull: (controller) => {
            pulled++
            controller.enqueue(new TextEncoder().encode(textChunk("x")))
          }
        })
      const network = fakeNetwork([respondWith(200, endless)])
      const exit = yield* finished(
        streamText.pipe(Effect.provide(openAi({ maxReplyBytes: 20 })), Effect.provide(network.layer)),
        0
      )
      assert(Exit.isSuccess(exit))
      assert.deepStrictEqual(tooLarge(exit.value.exit), ["maxReplyBytes", 20])
      assert.strictEqual(exit.value.text, "x".repeat(20))
      assert.isAtMost(pulled, 25)
      assert.strictEqual(network.sent.length, 1)
    })
  )

  it.effect("holds for whole replies too [P1401]", () =>
    Effect.gen(function* () {
      const of = (maxReplyBytes: number) => {
        const network = fakeNetwork([respond(200, completion("grüße"))])
        return finished(generate.pipe(Effect.provide(openAi({ maxReplyBytes })), Effect.provide(network.layer)), 0)
      }
      assert(Exit.isSuccess(yield* of(7)))
      assert.deepStrictEqual(tooLarge(yield* of(6)), ["maxReplyBytes", 6])
    })
  )

  it.effect("lets a long answer through whose framing is larger than all limits [P1401]", () =>
    Effect.gen(function* () {
      const padded = (content: string) =>
        event({ id: "x".repeat(300), choices: [{ index: 0, delta: { content }, finish_reason: null }] })
      const chunks = [...Array.from({ length: 100 }, () => `: keep-alive\n\n${padded("ab")}`), finishChunk(), done]
      const layer = openAi({ maxReplyBytes: 200, maxEventBytes: 500, maxBodyBytes: 200 })
      const { exit, text } = yield* streamed(layer, chunks)
      assert(Exit.isSuccess(exit))
      assert.strictEqual(text.length, 200)
    })
  )

  it.effect("a run has the text so far, and asks no second time unless a row says so [P1401]", () =>
    Effect.gen(function* () {
      const large = respondWith(200, () => body([textChunk("1234"), textChunk("56789"), finishChunk(), done]))
      const small = respondWith(200, () => body([textChunk("ok"), finishChunk(), done]))
      const running = <A, E>(network: ReturnType<typeof fakeNetwork>, events: Stream.Stream<A, E, Model.Model>) =>
        finished(
          Stream.runCollect(events).pipe(Effect.provide(openAi({ maxReplyBytes: 8 })), Effect.provide(network.layer)),
          10
        )
      const plain = fakeNetwork([large])
      const careful = Agent.make("a", {}).pipe(Agent.onLlmError({ ServerError: Recovery.retry({ retries: 2 }) }))
      const exit = yield* running(plain, careful.stream("go"))
      const reason = Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined
      assert(reason?._tag === "Fail" && reason.error instanceof LlmError.ReplyTooLargeError)
      assert.strictEqual(reason.error.partial, "1234")
      assert.strictEqual(plain.sent.length, 1)
      const patient = Agent.make("a", {}).pipe(
        Agent.onLlmError({ ReplyTooLargeError: Recovery.retry({ retries: 1 }) }, { onPartial: "restart" })
      )
      assert(Exit.isSuccess(yield* running(fakeNetwork([large, small]), patient.stream("go"))))
    })
  )
})

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
