/** `maxReplyBytes` counts what is kept of a reply, and nothing of its framing. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, LlmError, type Model, Recovery } from "@kintsugi/core"
import { DeepSeek, Perplexity, type Transport } from "@kintsugi/providers"
import { Effect, Exit, Stream } from "effect"
import {
  body,
  completion,
  done,
  event,
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
import {
  anthropic,
  callChunk,
  chat,
  common,
  gemini,
  item,
  named,
  ollama,
  type Provided,
  responses,
  streamed,
  thoughtChunk,
  tooLarge
} from "./_support/sizes.ts"

/** A stream for each way to keep something, by the wire that keeps it, and the bytes that it keeps. */
const kept: ReadonlyArray<
  readonly [string, (transport: Transport.Options) => Provided, ReadonlyArray<string>, number]
> = [
  [
    "texts and thoughts",
    (transport) => DeepSeek.layer({ ...common, transport }),
    [thoughtChunk("12"), thoughtChunk("34"), textChunk("5ä"), textChunk("890"), finishChunk(), done],
    10 + "reasoning_content".length
  ],
  [
    "arguments in pieces",
    chat,
    [callChunk('{"a":'), callChunk('"bc'), callChunk('"}'), finishChunk("tool_calls"), done],
    10 + "cf".length
  ],
  [
    "arguments in pieces of Anthropic",
    anthropic,
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
    ],
    10 + "cf".length
  ],
  [
    "arguments in pieces of responses",
    responses,
    [
      item("added", 0, { type: "function_call", id: "i", call_id: "c", name: "f", arguments: "" }),
      ...['{"a":', '"bc', '"}'].map((delta) =>
        named({ type: "response.function_call_arguments.delta", output_index: 0, item_id: "i", delta })
      ),
      item("done", 0, { type: "function_call", id: "i", call_id: "c", name: "f", arguments: '{"a":"bc"}' }),
      named({ type: "response.completed", response: { status: "completed", output: [] } })
    ],
    10 + "icf".length
  ],
  [
    "arguments of Gemini",
    gemini,
    [
      event({
        candidates: [{ content: { parts: [{ text: "1234" }, { functionCall: { name: "f", args: { a: "bcdef" } } }] } }]
      }),
      event({ candidates: [{ content: { parts: [] }, finishReason: "STOP" }] })
    ],
    10 + "call_0f".length
  ],
  [
    "arguments of Ollama",
    ollama,
    [
      `${JSON.stringify({ message: { content: "1234" }, done: false })}\n`,
      `${JSON.stringify({ message: { tool_calls: [{ function: { name: "f", arguments: { a: "bcdef" } } }] }, done: false })}\n`,
      `${JSON.stringify({ message: { content: "" }, done: true, done_reason: "stop" })}\n`
    ],
    10 + "call_0f".length
  ]
]

const big = "x".repeat(500)

/** Streams without end, by the index of a chunk: each chunk brings 500 bytes that the wire holds back. */
const unfinished: ReadonlyArray<
  readonly [string, (transport: Transport.Options) => Provided, (index: number) => string]
> = [
  [
    "blocks of Anthropic",
    anthropic,
    (index) =>
      index === 0
        ? named({ type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } })
        : named({
            type: "content_block_start",
            index,
            content_block: { type: "tool_use", id: `c${index}`, name: "f", input: { big } }
          })
  ],
  [
    "items of responses that begin",
    responses,
    (index) => item("added", index, { type: "custom_tool_call", id: `i${index}`, call_id: `c${index}`, input: big })
  ],
  [
    "items of responses that wait for an earlier one",
    responses,
    (index) =>
      index === 0
        ? item("added", 0, { type: "reasoning", id: "r", summary: [] })
        : item("done", index, { type: "function_call", id: `i${index}`, call_id: "c", name: "f", arguments: big })
  ],
  [
    "names of chat completions",
    chat,
    (index) => {
      const call = { index, id: `c${index}`, function: { name: big, arguments: "" } }
      return event({ choices: [{ index: 0, delta: { tool_calls: [call] } }] })
    }
  ],
  [
    "names of Ollama",
    ollama,
    () => `${JSON.stringify({ message: { tool_calls: [{ function: { name: big, arguments: {} } }] }, done: false })}\n`
  ],
  [
    "blanks that may stand before thoughts",
    (transport) => Perplexity.layer({ ...common, transport, api: "chat" }),
    () => textChunk(" ".repeat(500))
  ]
]

const zeros = { a: Array.from({ length: 400 }, () => 0) }

/** A call whose arguments have 807 bytes, on each wire. */
const numbers: ReadonlyArray<readonly [string, (transport: Transport.Options) => Provided, ReadonlyArray<string>]> = [
  ["chat completions", chat, [callChunk(JSON.stringify(zeros)), finishChunk("tool_calls"), done]],
  [
    "responses",
    responses,
    [
      item("done", 0, { type: "function_call", id: "i", call_id: "c", name: "f", arguments: JSON.stringify(zeros) }),
      named({ type: "response.completed", response: { status: "completed", output: [] } })
    ]
  ],
  [
    "Anthropic",
    anthropic,
    [
      named({ type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } }),
      named({
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "c", name: "f", input: zeros }
      }),
      named({ type: "content_block_stop", index: 0 }),
      named({ type: "message_stop" })
    ]
  ],
  [
    "Gemini",
    gemini,
    [
      event({
        candidates: [{ content: { parts: [{ functionCall: { name: "f", args: zeros } }] }, finishReason: "STOP" }]
      })
    ]
  ],
  [
    "Ollama",
    ollama,
    [
      `${JSON.stringify({
        message: { tool_calls: [{ function: { name: "f", arguments: zeros } }] },
        done: true,
        done_reason: "stop"
      })}\n`
    ]
  ]
]

describe("maxReplyBytes", () => {
  for (const [what, layer, chunks, size] of kept) {
    it.effect(`counts ${what} in bytes, in any pieces, and nothing else [P1401]`, () =>
      Effect.gen(function* () {
        const bytes = Array.from(new TextEncoder().encode(chunks.join("")), (byte) => Uint8Array.of(byte))
        for (const pieces of [chunks, [chunks.join("")], bytes]) {
          const within = yield* streamed(layer({ maxReplyBytes: size, retry: false }), pieces)
          assert(Exit.isSuccess(within.exit))
          const beyond = yield* streamed(layer({ maxReplyBytes: size - 1 }), pieces)
          assert.deepStrictEqual(tooLarge(beyond.exit), ["maxReplyBytes", size - 1])
        }
      })
    )
  }

  for (const [what, layer, chunk] of unfinished) {
    it.effect(`counts ${what} before they end [P1401]`, () =>
      Effect.gen(function* () {
        let pulled = 0
        const endless = new ReadableStream<Uint8Array>({
          // without the limit it ends too, so that the test fails
          pull: (controller) =>
            pulled < 1000 ? controller.enqueue(new TextEncoder().encode(chunk(pulled++))) : controller.close()
        })
        const network = fakeNetwork([respondWith(200, () => endless)])
        const call = streamText.pipe(Effect.provide(layer({ maxReplyBytes: 2000 })), Effect.provide(network.layer))
        const exit = yield* finished(call, 0)
        assert(Exit.isSuccess(exit))
        assert.deepStrictEqual(tooLarge(exit.value.exit), ["maxReplyBytes", 2000])
        assert.isAtMost(pulled, 6)
      })
    )
  }

  for (const [what, layer, chunk] of numbers) {
    it.effect(`counts the arguments of ${what} once, and no place of a list [P1401]`, () =>
      Effect.gen(function* () {
        const { exit } = yield* streamed(layer({ maxReplyBytes: 1000, retry: false }), chunk)
        assert(Exit.isSuccess(exit))
      })
    )
  }

  it.effect("ends a stream at the part that is too much, and gives what came before it [P1401]", () =>
    Effect.gen(function* () {
      let pulled = 0
      const endless = () =>
        new ReadableStream<Uint8Array>({
          pull: (controller) => {
            if (++pulled > 1000) controller.close()
            else controller.enqueue(new TextEncoder().encode(textChunk("x")))
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

  it.effect("holds for whole replies too, with the ids and names of their calls [P1401]", () =>
    Effect.gen(function* () {
      const call = { id: "c".repeat(500), type: "function", function: { name: "f".repeat(500), arguments: "{}" } }
      const message = { role: "assistant", content: null, tool_calls: [call] }
      const calling = fakeNetwork([respond(200, { choices: [{ index: 0, message, finish_reason: "tool_calls" }] })])
      const long = generate.pipe(Effect.provide(openAi({ maxReplyBytes: 999 })), Effect.provide(calling.layer))
      assert.deepStrictEqual(tooLarge(yield* finished(long, 0)), ["maxReplyBytes", 999])
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
