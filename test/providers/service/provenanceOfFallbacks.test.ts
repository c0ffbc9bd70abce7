/** Thoughts of a model that the server chose are of that model; what the provider did itself stands before later thoughts, too. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Anthropic, DeepSeek, OpenRouter, type Transport } from "@kintsugi/providers"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { event, fakeNetwork, type Reaction, respond } from "../../_support/network.ts"

const common = { apiKey: Redacted.make("k"), baseUrl: "https://p.test", transport: { retry: false } } as const
const request = (...messages: ReadonlyArray<Message.Message>): Model.Request => ({
  messages: [Message.user("a"), ...messages],
  tools: [],
  toolChoice: "auto"
})

type Mode = "whole" | "streamed"
const modes: ReadonlyArray<Mode> = ["whole", "streamed"]

const modelAt = (layer: Layer.Layer<Model.Model, never, Transport.HttpClient>, script: ReadonlyArray<Reaction>) =>
  Effect.gen(function* () {
    const network = fakeNetwork(script)
    const context = yield* Layer.build(Layer.provide(layer, network.layer))
    return { model: Context.get(context, Model.Model), bodies: () => network.sent.map(({ body }) => body) }
  })

const replyOf = Effect.fnUntraced(function* (mode: Mode, model: Model.Service, asked: Model.Request) {
  if (mode === "whole") return yield* model.generate(asked)
  const collector = new Model.Collector()
  for (const part of yield* Stream.runCollect(model.stream(asked))) collector.push(part)
  const reply = collector.reply()
  assert(reply !== undefined)
  return reply
})

const familiesOf = ({ content }: Message.Reply) =>
  content.flatMap((part) => ("opaque" in part && part.opaque?.family !== undefined ? [part.opaque.family] : []))

/** A reply of a router with the thoughts of a model. */
const routed = (mode: Mode, model: string): Reaction => {
  const details = [{ type: "reasoning.encrypted", data: "secret", format: "f", index: 0 }]
  const said = { role: "assistant", content: "hi", reasoning: "hm", reasoning_details: details }
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
  return mode === "whole"
    ? respond(200, { model, choices: [{ index: 0, message: said, finish_reason: "stop" }], usage })
    : respond(
        200,
        event({ model, choices: [{ index: 0, delta: said }] }) +
          event({ model, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage }) +
          event("[DONE]")
      )
}

/** A reply of Anthropic; of a second model from a mark on. */
const claude = (mode: Mode, model: string, content: ReadonlyArray<Record<string, unknown>>): Reaction => {
  const end = { stop_reason: "end_turn" }
  const usage = { output_tokens: 3 }
  if (mode === "whole") return respond(200, { type: "message", model, content, ...end, usage })
  const events = [
    { type: "message_start", message: { model: "claude-opus-5-5", usage: {} } },
    ...content.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index }
    ]),
    { type: "message_delta", delta: end, usage },
    { type: "message_stop" }
  ]
  return respond(200, events.map(event).join(""))
}

const thought = { type: "thinking", thinking: "hmm", signature: "s" }
const text = { type: "text", text: "So." }
const fallback = { type: "fallback", from: { model: "claude-opus-5-5" }, to: { model: "claude-sonnet-5-5" } }

describe("thoughts of a model that the server chose", () => {
  it.effect("are of the fallback that the reply names, and do not go to the model that is asked [P1410]", () =>
    Effect.gen(function* () {
      for (const mode of modes) {
        const layer = OpenRouter.layer({
          ...common,
          model: "anthropic/claude-opus-5.5",
          fallbacks: ["openai/gpt-5.6-sol"]
        })
        const script = [routed(mode, "openai/gpt-5.6-sol"), routed(mode, "anthropic/claude-opus-5.5")]
        const { bodies, model } = yield* modelAt(layer, script)
        const reply = yield* replyOf(mode, model, request())
        assert.strictEqual(reply.model, "openai/gpt-5.6-sol")
        assert.deepStrictEqual(new Set(familiesOf(reply)), new Set(["gpt-5.6-sol"]), mode)
        yield* replyOf(mode, model, request(Message.settle(reply, []), Message.user("b")))
        assert.notInclude(bodies()[1] ?? "", "secret", mode)
        const gpt = OpenRouter.layer({ ...common, model: "openai/gpt-5.6-sol" })
        const other = yield* modelAt(gpt, [routed(mode, "openai/gpt-5.6-sol")])
        yield* replyOf(mode, other.model, request(Message.settle(reply, []), Message.user("b")))
        assert.include(other.bodies()[0] ?? "", "secret", mode)
      }
    })
  )

  it.effect("are of the fallback of one request alone, too [P1410]", () =>
    Effect.gen(function* () {
      for (const mode of modes) {
        const layer = OpenRouter.layer({ ...common, model: "anthropic/claude-opus-5.5" })
        const { model } = yield* modelAt(layer, [routed(mode, "openai/gpt-5.6-sol")])
        const reply = yield* replyOf(mode, model, { ...request(), options: { models: ["openai/gpt-5.6-sol"] } })
        assert.deepStrictEqual(new Set(familiesOf(reply)), new Set(["gpt-5.6-sol"]), mode)
      }
    })
  )

  it.effect("are of the model that a router has chosen, and go to no other one that it may choose [P1410]", () =>
    Effect.gen(function* () {
      for (const mode of modes) {
        for (const fallbacks of [undefined, ["anthropic/claude-opus-5.5"]]) {
          const options = { ...common, ...(fallbacks === undefined ? {} : { fallbacks }) }
          const layer = OpenRouter.layer({ ...options, model: "openrouter/auto" })
          const script = [routed(mode, "openai/gpt-5.6-sol"), routed(mode, "anthropic/claude-opus-5.5")]
          const { bodies, model } = yield* modelAt(layer, script)
          const reply = yield* replyOf(mode, model, request())
          assert.deepStrictEqual(new Set(familiesOf(reply)), new Set(["gpt-5.6-sol"]), mode)
          yield* replyOf(mode, model, request(Message.settle(reply, []), Message.user("b")))
          assert.notInclude(bodies()[1] ?? "", "secret", mode)
          const gpt = yield* modelAt(OpenRouter.layer({ ...common, model: "openai/gpt-5.6-sol" }), [routed(mode, "x")])
          yield* replyOf(mode, gpt.model, request(Message.settle(reply, []), Message.user("b")))
          assert.include(gpt.bodies()[0] ?? "", "secret", mode)
        }
      }
    })
  )

  it.effect("are of the model that is asked under another name of it, without a fallback or beside one [P1410]", () =>
    Effect.gen(function* () {
      const layers = [
        OpenRouter.layer({ ...common, model: "~anthropic/claude-opus-latest" }),
        OpenRouter.layer({ ...common, model: "~anthropic/claude-opus-latest", fallbacks: ["openai/gpt-5.6-sol"] }),
        DeepSeek.layer({ ...common, model: "deepseek-flash" })
      ]
      for (const mode of modes) {
        for (const layer of layers) {
          const { bodies, model } = yield* modelAt(layer, [routed(mode, "claude-opus-5.5"), routed(mode, "x")])
          const reply = yield* replyOf(mode, model, request())
          assert.isNotEmpty(familiesOf(reply))
          yield* replyOf(mode, model, request(Message.settle(reply, []), Message.user("b")))
          assert.match(bodies()[1] ?? "", /secret|"reasoning_content":"hm"/, mode)
        }
      }
    })
  )

  it.effect("are left out with those before them in one message of two models [P1410]", () =>
    Effect.gen(function* () {
      for (const mode of modes) {
        for (const fallbacks of ["default", [{ model: "claude-sonnet-5-5" }]]) {
          const layer = Anthropic.layer({ ...common, model: "claude-opus-5-5", extra: { fallbacks } })
          const content = [thought, fallback, thought, text]
          const script = [claude(mode, "claude-sonnet-5-5", content), claude(mode, "claude-opus-5-5", [text])]
          const { bodies, model } = yield* modelAt(layer, script)
          const reply = yield* replyOf(mode, model, request())
          assert.strictEqual(reply.model, "claude-sonnet-5-5", mode)
          assert.strictEqual(familiesOf(reply).at(-1), "claude-sonnet-5-5", mode)
          yield* replyOf(mode, model, request(Message.settle(reply, []), Message.user("b")))
          assert.include(bodies()[1] ?? "", '"type":"fallback"')
          assert.notInclude(bodies()[1] ?? "", '"signature"', mode)
        }
      }
    })
  )
})

const search = { type: "web_search_20260209", name: "web_search" }

describe("before thoughts", () => {
  const searched = [
    { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "rain" } },
    {
      type: "web_search_tool_result",
      tool_use_id: "srv_1",
      content: [{ type: "web_search_result", url: "https://a" }]
    },
    { type: "text", text: "It rains." }
  ]

  it.effect(
    "the calls and results of the provider count: without them, or with others, thoughts are left out [P1410]",
    () =>
      Effect.gen(function* () {
        for (const mode of modes) {
          const layer = Anthropic.layer({ ...common, model: "claude-opus-5-5", providerTools: [search] })
          const plain = claude(mode, "claude-opus-5-5", [text])
          const { bodies, model } = yield* modelAt(layer, [
            claude(mode, "claude-opus-5-5", searched),
            claude(mode, "claude-opus-5-5", [thought, text]),
            plain,
            plain,
            plain
          ])
          const first = Message.settle(yield* replyOf(mode, model, request()), [])
          const second = yield* replyOf(mode, model, request(first, Message.user("b")))
          const later = [Message.user("b"), Message.settle(second, []), Message.user("c")]
          const having = (content: Message.Assistant["content"]): Message.Assistant => ({ ...first, content })
          yield* replyOf(mode, model, request(first, ...later))
          yield* replyOf(mode, model, request(having(first.content.filter(({ type }) => type === "text")), ...later))
          const changed = first.content.map((part) =>
            part.type === "provider-item" && part.kind === "web_search_tool_result"
              ? { ...part, opaque: { ...part.opaque, data: { ...Object(part.opaque.data), content: [] } } }
              : part
          )
          yield* replyOf(mode, model, request(having(changed), ...later))
          const [, , same, without, other] = bodies().map((body) => body.includes('"signature":"s"'))
          assert.deepStrictEqual([same, without, other], [true, false, false], mode)
        }
      })
  )

  it.effect("the tools of the provider count where thoughts are bound to tools [P1410]", () =>
    Effect.gen(function* () {
      for (const mode of modes) {
        const of = (
          tools: ReadonlyArray<typeof search & { readonly max_uses?: number }>,
          content: ReadonlyArray<Record<string, unknown>>
        ) =>
          modelAt(Anthropic.layer({ ...common, model: "claude-opus-5-5", providerTools: tools }), [
            claude(mode, "claude-opus-5-5", content)
          ])
        const before = yield* of([search], [thought, text])
        const reply = yield* replyOf(mode, before.model, request())
        for (const [tools, isSent] of [
          [[search], true],
          [[], false],
          [[{ ...search, max_uses: 1 }], false]
        ] as const) {
          const after = yield* of(tools, [text])
          yield* replyOf(mode, after.model, request(Message.settle(reply, []), Message.user("b")))
          assert.strictEqual(after.bodies()[0]?.includes('"signature":"s"'), isSent, mode)
        }
      }
    })
  )
})
