/** One brain behind every wire format, read by the clients of this library. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, type LlmError, Message, type Model, Recovery, Skill, Tool, Usage } from "@kintsugi/core"
import { Anthropic, Gemini, Ollama, OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Layer, Redacted, Ref, Schema, Stream } from "effect"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"
import { collect, generate } from "../../_support/replay.ts"
import { failureOf, streamText } from "../../../_support/network.ts"

const model = "m"
const apiKey = Redacted.make("sk-the-right-one")

const transport = { retry: false } as const

/** The client of each format, sending everything once. */
const clients: Record<Wire.ClientFormat, ClientAt> = {
  "anthropic-messages": (baseUrl) => Anthropic.layer({ model, apiKey, baseUrl, transport }),
  "openai-chat": (url) => OpenAi.layer({ model, apiKey, baseUrl: `${url}/v1`, transport }),
  "openai-responses": (url) => OpenAi.layerResponses({ model, apiKey, baseUrl: `${url}/v1`, transport }),
  "gemini-content": (url) => Gemini.layer({ model, apiKey, baseUrl: `${url}/v1beta`, transport }),
  "ollama-chat": (baseUrl) => Ollama.layer({ model, apiKey, baseUrl, transport })
}

const usage = Usage.make({ inputTokens: 30, outputTokens: 9, cachedInputTokens: 5 })

const called: Wire.BrainReply = {
  content: [
    Message.text("grüße 🙂, five words and more"),
    { type: "tool-call", id: "call_1", name: "search", arguments: { q: "折り鶴" } },
    { type: "tool-call", id: "call_2", name: "look", arguments: null }
  ],
  usage
}

const thought: Wire.BrainReply = {
  content: [{ type: "reasoning", text: "Let me think: 折り鶴." }, Message.text("a crane")],
  usage
}

const cut: Wire.BrainReply = { content: [Message.text("half a sen")], finish: "length", usage }

const splits: ReadonlyArray<Parameters<typeof Fault.split>[0]> = [
  "whole",
  "event",
  "line",
  "byte",
  "inside-characters",
  "inside-crlf"
]

const parsed = (args: Schema.Json): unknown => {
  if (args === null || args === "") return {}
  return typeof args === "string" ? JSON.parse(args) : args
}

/** What is left of a reply when a format has gone over it: marks of the provider are its own business. */
const gist = ({ content, finish, usage }: Message.Reply | Wire.BrainReply) => ({
  content: content.flatMap((part) => {
    if (part.type === "tool-call") return [[part.id, part.name, parsed(part.arguments)]]
    return part.type === "provider-item" ? [] : [[part.type, part.text]]
  }),
  finish: finish ?? (content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop"),
  usage
})

/** A reply without the number of its request, which the server puts into its ids and signs. */
const unnumbered = ({ requestId: _id, responseId: _response, ...reply }: Message.Reply): unknown =>
  JSON.parse(
    JSON.stringify(reply)
      .replaceAll(/\b(fc|msg|rs)_\d+_/g, "$1_")
      .replaceAll(/"encrypted_content":"[^"]+"/g, '"encrypted_content":"…"')
  )

class Odd extends Schema.TaggedError<Odd>()("Odd", { n: Schema.Int }) {
  override get message() {
    return `${this.n} is odd`
  }
}

for (const { format } of AnyWire.wires) {
  describe(format, () => checkFormat(format, clients[format]))
}

type ClientAt = (url: string) => Layer.Layer<Model.Model, never, Transport.HttpClient>

function checkFormat(format: Wire.ClientFormat, clientAt: ClientAt): void {
  // Ollama tells of no cache, and has no filter
  const isOllama = format === "ollama-chat"
  const expected = (reply: Wire.BrainReply): Wire.BrainReply =>
    isOllama ? { ...reply, usage: { ...Usage.empty, ...reply.usage, cachedInputTokens: 0 } } : reply
  const layerAt = (url: string) => Layer.provide(clientAt(url), Transport.layerFetch)

  const saying = (reply: Wire.BrainReply, script: Parameters<typeof Fault.inFront>[0] = []) =>
    Effect.map(
      LoopbackServer.make(
        Fault.inFront(
          script,
          AnyWire.handler(() => Effect.succeed(reply))
        )
      ),
      ({ url }) => layerAt(url)
    )

  for (const split of splits) {
    it.live(`writes the reply of the brain, whole and streamed alike, cut ${split} [A114]`, () =>
      Effect.gen(function* () {
        for (const reply of [called, thought, cut]) {
          const layer = yield* saying(reply, () => Fault.split(split))
          const [whole, streamed] = yield* Effect.provide(Effect.all([generate, collect]), layer)
          assert.deepStrictEqual(unnumbered(streamed), unnumbered(whole))
          assert.deepStrictEqual(gist(whole), gist(expected(reply)))
          assert.strictEqual(whole.model, model)
        }
      })
    )
  }

  it.live("writes broken arguments as the brain does, whole and streamed alike [A114]", () =>
    Effect.gen(function* () {
      const call = { type: "tool-call", id: "call_1", name: "search", arguments: '{"q": "折り鶴",}' } as const
      const layer = yield* saying({ content: [call] })
      const [whole, streamed] = yield* Effect.provide(Effect.all([generate, collect]), layer)
      assert.deepStrictEqual(unnumbered(streamed), unnumbered(whole))
      assert.strictEqual(Message.callsOf(whole)[0]?.arguments, call.arguments)
    })
  )

  it.live("cuts a call off at the longest reply, and lets a filter take a reply away [A114]", () =>
    Effect.gen(function* () {
      const half = { type: "tool-call", id: "call_1", name: "search", arguments: '{"q": "折' } as const
      const [whole, streamed] = yield* Effect.provide(
        Effect.all([generate, collect]),
        yield* saying({ content: [half], finish: "length" })
      )
      assert.deepStrictEqual(unnumbered(streamed), unnumbered(whole))
      assert.strictEqual(whole.finish, "length")
      const filtered = yield* saying({ content: [Message.text("no")], finish: "filtered" })
      // Ollama has no filter
      const endOf = (ask: typeof generate) =>
        Effect.match(Effect.provide(ask, filtered), {
          onFailure: ({ _tag }) => _tag,
          onSuccess: ({ finish }) => finish
        })
      const end = yield* endOf(generate)
      assert.strictEqual(end, isOllama ? "stop" : "ContentFilteredError")
      assert.strictEqual(yield* endOf(collect), end)
    })
  )

  it.live("accepts an agent's next request: results, a told error, and thoughts with their marks", () =>
    Effect.gen(function* () {
      const asked = yield* Ref.make<ReadonlyArray<Wire.BrainRequest>>([])
      const brain: Wire.Brain = (request) =>
        Effect.as(
          Ref.update(asked, (before) => [...before, request]),
          request.messages.at(-1)?.role === "tool"
            ? { content: [Message.text("done")] }
            : {
                content: [
                  { type: "reasoning", text: "Both at once." },
                  { type: "tool-call", id: "call_1", name: "half", arguments: { n: 4 } },
                  { type: "tool-call", id: "call_2", name: "half", arguments: { n: 3 } }
                ]
              }
        )
      const half = Tool.make("half", {
        description: "Half of an even number",
        parameters: Schema.Struct({ n: Schema.Int }),
        success: Schema.String,
        run: ({ n }) => (n % 2 === 0 ? Effect.succeed(String(n / 2)) : Effect.fail(new Odd({ n })))
      }).pipe(Tool.onError({ Odd: Recovery.tell() }))
      const skills = [Skill.make("halves", { description: "Knows halves", tools: [half] })]
      const agent = Agent.make("halver", { prompt: "Halve.", skills })
      const server = yield* LoopbackServer.make(AnyWire.handler(brain))
      for (const isStreamed of [false, true]) {
        yield* Ref.set(asked, [])
        const run = isStreamed ? Stream.runDrain(agent.stream("4 and 3")) : Effect.asVoid(agent("4 and 3"))
        yield* Effect.provide(run, layerAt(server.url))
        const [first, second] = yield* Ref.get(asked)
        assert.deepInclude(first, { format, model, isStreamed, toolChoice: "auto" })
        assert.deepStrictEqual(
          first?.tools.map(({ description, name }) => ({ description, name })),
          [{ name: "half", description: "Half of an even number" }]
        )
        assert.deepStrictEqual(first?.messages, [Message.system("Halve."), Message.user("4 and 3")])
        const transcript = Message.repair(second?.messages ?? [])
        const callParts = transcript.flatMap((message) =>
          message.role === "assistant" ? message.content.filter((part) => part.type === "settled-call") : []
        )
        assert.deepStrictEqual(
          callParts.map(({ call: { arguments: args, id } }) => [id, parsed(args)]),
          [
            ["call_1", { n: 4 }],
            ["call_2", { n: 3 }]
          ]
        )
        assert.strictEqual(callParts[0]?.settlement.text, "2")
        assert.match(callParts[1]?.settlement.text ?? "", /3 is odd/)
      }
    })
  )

  it.live("breaks a stream off with a typed error, after its text", () =>
    Effect.gen(function* () {
      const layer = yield* saying(called, () => AnyWire.breakingOff({ type: "overloaded" }, 5))
      const { exit, text } = yield* Effect.provide(streamText, layer)
      assert.include(["ModelOverloadedError", "ServerError"], failureOf(exit)._tag)
      assert.match(text, /^grüße /)
      assert.strictEqual(failureOf(yield* Effect.exit(Effect.provide(generate, layer)))._tag, "ModelOverloadedError")
    })
  )

  const tags: ReadonlyArray<readonly [Wire.Failure, LlmError.LlmError["_tag"]]> = [
    [{ type: "rate-limited", retryAfter: "2 seconds" }, "RateLimitError"],
    [{ type: "quota-exhausted" }, "QuotaExhaustedError"],
    [{ type: "overloaded" }, "ModelOverloadedError"],
    [{ type: "server-error" }, "ServerError"],
    [{ type: "unauthorized", isKeyGiven: true }, "AuthenticationError"],
    [{ type: "unknown-model", model }, "ModelNotFoundError"],
    [{ type: "invalid-request", message: "no" }, "InvalidRequestError"]
  ]
  it.live("fails in its own words, which are classified correctly [T8]", () =>
    Effect.gen(function* () {
      for (const [failure, tag] of tags) {
        const layer = yield* saying(called, () => AnyWire.failing(failure))
        const error = failureOf(yield* Effect.exit(Effect.provide(generate, layer)))
        assert.strictEqual(error._tag, tag)
      }
    })
  )

  it.live("accepts only the given key and models", () =>
    Effect.gen(function* () {
      const ask = (rules: Wire.Rules) =>
        Effect.gen(function* () {
          const server = yield* LoopbackServer.make(AnyWire.handler(() => Effect.succeed(called), rules))
          return yield* Effect.exit(Effect.provide(generate, layerAt(server.url)))
        })
      assert.strictEqual((yield* ask({ apiKey: Redacted.value(apiKey), models: [model] }))._tag, "Success")
      assert.strictEqual(failureOf(yield* ask({ apiKey: "another" }))._tag, "AuthenticationError")
      assert.strictEqual(failureOf(yield* ask({ models: ["another"] }))._tag, "ModelNotFoundError")
    })
  )
}
