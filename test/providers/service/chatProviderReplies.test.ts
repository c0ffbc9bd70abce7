/** What is special in the answers of those who speak chat completions. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import { DeepSeek, Kimi, OpenRouter, Perplexity, type Transport } from "@kintsugi/providers"
import { Clock, Duration, Effect, Exit, type Layer, Redacted, Stream } from "effect"
import { collect } from "../_support/replay.ts"
import {
  body,
  done,
  event,
  failsWith,
  fakeNetwork,
  finished,
  key,
  ok,
  type Reaction,
  respond,
  respondWith
} from "../../_support/network.ts"

type ModelLayer = Layer.Layer<Model.Model, never, Transport.HttpClient>

const chosen = { model: "m", apiKey: Redacted.make(key), transport: { retry: false } } as const

const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

const generate = Effect.flatMap(Model.Model, (model) => model.generate(request))

/** How a request ends that is answered like this, and the network that it went over. */
const reading = <A, E>(
  layer: ModelLayer,
  effect: Effect.Effect<A, E, Model.Model>,
  ...script: ReadonlyArray<Reaction>
) => {
  const network = fakeNetwork(script)
  return Effect.map(finished(effect.pipe(Effect.provide(layer), Effect.provide(network.layer))), (exit) => ({
    exit,
    sent: network.sent
  }))
}

const events = (...chunks: ReadonlyArray<string>): Reaction => respondWith(200, () => body(chunks))

const chunk = (delta: object, more: object = {}, top: object = {}) =>
  event({ model: "m-1", choices: [{ index: 0, delta, ...more }], ...top })

const replyOf = (exit: Exit.Exit<Message.Reply, LlmError.LlmError>): Message.Reply => {
  assert(Exit.isSuccess(exit), String(exit))
  return exit.value
}

const usage = { prompt_tokens: 10, completion_tokens: 5 }

describe("OpenRouter", () => {
  const layer = OpenRouter.layer(chosen)
  const processing = ": OPENROUTER PROCESSING\n\n"

  it.effect("an error with the status 200 is an error, whole and streamed [T8]", () =>
    Effect.gen(function* () {
      const error = { error: { code: 502, message: "Provider failed" } }
      const answers: ReadonlyArray<readonly [Effect.Effect<unknown, LlmError.LlmError, Model.Model>, Reaction]> = [
        [generate, respond(200, error)],
        [collect, respond(200, error)],
        [collect, events(processing, processing, event(error))]
      ]
      for (const [effect, answer] of answers) {
        failsWith((yield* reading(layer, effect, answer)).exit, LlmError.ServerError)
      }
    })
  )

  it.effect(
    "an error after the end of a reply is an error, with what had been used up; a missing [DONE] is none [T8 P504]",
    () =>
      Effect.gen(function* () {
        const start = [processing, chunk({ content: "x" }), chunk({}, { finish_reason: "length" }, { usage })]
        const late = chunk({}, { finish_reason: null }, { error: { code: 400, message: "Token limit reached" } })
        const { exit } = yield* reading(layer, collect, events(...start, late, done))
        const error = failsWith(exit, LlmError.InvalidRequestError)
        assert.strictEqual(error.usage?.inputTokens, 10)
        for (const answer of [events(...start), events(...start, done)]) {
          assert.strictEqual(replyOf((yield* reading(layer, collect, answer)).exit).finish, "length")
        }
      })
  )

  it.effect("a spent budget of requests in flight passes, and is waited for; spent credit does not [T8]", () =>
    Effect.gen(function* () {
      const spent = (limit: string) =>
        respond(
          402,
          { error: { code: 402, message: "Spent", metadata: { limit_source: limit } } },
          { "retry-after": "7" }
        )
      const inFlight = yield* reading(layer, generate, spent("openrouter_in_flight_budget"))
      const error = failsWith(inFlight.exit, LlmError.RateLimitError)
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(7))
      failsWith((yield* reading(layer, generate, spent("openrouter_credits"))).exit, LlmError.QuotaExhaustedError)
    })
  )

  it.effect("thoughts in details alone are read from them [A114]", () =>
    Effect.gen(function* () {
      const message = { content: "4", reasoning_details: [{ type: "reasoning.text", text: "hm", index: 0 }] }
      const whole = respond(200, { choices: [{ message, finish_reason: "stop" }] })
      const streamed = events(chunk(message), chunk({}, { finish_reason: "stop" }), done)
      for (const [effect, answer] of [
        [generate, whole],
        [collect, streamed]
      ] as const) {
        const [thought, text] = replyOf((yield* reading(layer, effect, answer)).exit).content
        assert.deepStrictEqual(thought, { type: "reasoning", text: "hm" })
        assert.deepStrictEqual(text, Message.text("4"))
      }
    })
  )

  it.effect("streamed reasoning goes back in one piece, with its signature [P1002]", () =>
    Effect.gen(function* () {
      const detail = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 }
      const call = { index: 0, id: "t", function: { name: "f", arguments: "{}" } }
      const answer = events(
        chunk({ reasoning: "let me", reasoning_details: [{ ...detail, text: "let me" }] }),
        chunk({ reasoning: " see", reasoning_details: [{ ...detail, text: " see" }] }),
        chunk({ reasoning_details: [{ ...detail, signature: "sig" }] }),
        chunk({ content: "so:" }),
        chunk({ tool_calls: [call] }),
        chunk({}, { finish_reason: "tool_calls" }, { usage: { ...usage, cost: 0.25 } }),
        done
      )
      const reply = replyOf((yield* reading(layer, collect, answer)).exit)
      assert.strictEqual(reply.cost, 0.25)
      const messages = [Message.user("hi"), Message.settle(reply, [{ kind: "result", text: "rain" }])]
      const next = Effect.flatMap(Model.Model, (model) => model.generate({ ...request, messages }))
      const { sent } = yield* reading(layer, next, ok)
      assert.deepStrictEqual(JSON.parse(sent[0]?.body ?? "").messages[1], {
        role: "assistant",
        content: "so:",
        reasoning: "let me see",
        reasoning_details: [{ ...detail, text: "let me see", signature: "sig" }],
        tool_calls: [{ id: "t", type: "function", function: { name: "f", arguments: "{}" } }]
      })
    })
  )
})

describe("DeepSeek", () => {
  const layer = DeepSeek.layer(chosen)

  it.effect("reads over the blank lines and comments of a request that waits", () =>
    Effect.gen(function* () {
      const text = JSON.stringify({ choices: [{ message: { content: "4" }, finish_reason: "stop" }] })
      const whole = yield* reading(
        layer,
        generate,
        respondWith(200, () => body(["\n", "\n\n", text]))
      )
      assert.strictEqual(Message.textOf(replyOf(whole.exit)), "4")
      const alive = ": keep-alive\n\n"
      const answer = events(alive, alive, chunk({ content: "4" }), alive, chunk({}, { finish_reason: "stop" }), done)
      assert.strictEqual(Message.textOf(replyOf((yield* reading(layer, collect, answer)).exit)), "4")
    })
  )

  it.effect("an answer that load broke off is a ModelOverloadedError, with what it had used up [T8]", () =>
    Effect.gen(function* () {
      const reason = { finish_reason: "insufficient_system_resource" }
      const whole = respond(200, { choices: [{ message: { content: "4" }, ...reason }], usage })
      const streamed = events(chunk({ content: "4" }), chunk({}, reason, { usage }), done)
      for (const [effect, answer] of [
        [generate, whole],
        [collect, streamed]
      ] as const) {
        const error = failsWith((yield* reading(layer, effect, answer)).exit, LlmError.ModelOverloadedError)
        assert.strictEqual(error.usage?.outputTokens, 5)
      }
    })
  )

  it.effect("counts what came from the cache", () =>
    Effect.gen(function* () {
      const reported = { ...usage, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 2 }
      const answer = respond(200, { choices: [{ message: { content: "4" }, finish_reason: "stop" }], usage: reported })
      const reply = replyOf((yield* reading(layer, generate, answer)).exit)
      assert.strictEqual(reply.usage.cachedInputTokens, 8)
      assert.strictEqual(reply.usage.inputTokens, 10)
    })
  )
})

describe("Kimi", () => {
  it.effect("reads usage from the choice, and ids as they are", () =>
    Effect.gen(function* () {
      const call = { index: 0, id: "get_weather:0", function: { name: "get_weather", arguments: "" } }
      const answer = events(
        chunk({ tool_calls: [call] }),
        chunk({ tool_calls: [{ index: 0, id: null, function: { name: null, arguments: "{}" } }] }),
        chunk({}, { finish_reason: "tool_calls", usage: { ...usage, cached_tokens: 4 } }),
        done
      )
      const reply = replyOf((yield* reading(Kimi.layer(chosen), collect, answer)).exit)
      assert.deepStrictEqual(reply.content, [
        { type: "tool-call", id: "get_weather:0", name: "get_weather", arguments: "{}" }
      ])
      assert.strictEqual(reply.usage.inputTokens, 10)
      assert.strictEqual(reply.usage.cachedInputTokens, 4)
    })
  )
})

describe("Perplexity", () => {
  const layer = Perplexity.layer({ ...chosen, api: "chat" })
  const found = {
    citations: ["https://a.test"],
    search_results: [{ title: "A", url: "https://a.test" }],
    images: [{ image_url: "https://a.test/a.png" }],
    ...Object.fromEntries([["related_questions", ["why?"]]])
  }
  const cumulative = (text: string, soFar: string, more: object = {}, top: object = {}) =>
    chunk({ content: text }, { message: { content: soFar }, ...more }, { ...found, usage, ...top })
  const expected: Message.Reply["content"] = [
    { type: "text", text: "1 2" },
    { type: "provider-item", kind: "sources", opaque: { provider: "perplexity", data: found } }
  ]

  it.effect("keeps the sources once, and reads a text that every event repeats once [A114]", () =>
    Effect.gen(function* () {
      const answer = events(
        cumulative("1", "1", {}, { citations: ["https://b.test"] }),
        cumulative(" 2", "1 2"),
        cumulative("", "1 2", { finish_reason: "stop" })
      )
      const reply = replyOf((yield* reading(layer, collect, answer)).exit)
      assert.deepStrictEqual(reply.content, expected)
      const message = { message: { content: "1 2" }, delta: { content: "" }, finish_reason: "stop" }
      const whole = yield* reading(layer, generate, respond(200, { choices: [message], ...found, usage }))
      assert.deepStrictEqual(replyOf(whole.exit).content, expected)
    })
  )

  it.effect("keeps no sources where there are none [A114]", () =>
    Effect.gen(function* () {
      const message = { message: { content: "1" }, delta: { content: "1" }, finish_reason: "stop" }
      for (const [sources, expected] of [
        [{ citations: [], search_results: [] }, []],
        [{ citations: [], search_results: found.search_results }, [{ search_results: found.search_results }]]
      ] as const) {
        const whole = yield* reading(layer, generate, respond(200, { choices: [message], ...sources }))
        const streamed = yield* reading(layer, collect, events(event({ choices: [message], ...sources })))
        for (const { exit } of [whole, streamed]) {
          const items = replyOf(exit).content.flatMap((part) =>
            part.type === "provider-item" ? [part.opaque.data] : []
          )
          assert.deepStrictEqual<unknown>(items, expected)
        }
      }
    })
  )

  it.effect("emits the usage so far with each piece, for a stream that is cut off [P703]", () =>
    Effect.gen(function* () {
      const parts = Effect.gen(function* () {
        const model = yield* Model.Model
        const seen: Array<Model.Part> = []
        yield* Effect.exit(Stream.runForEach(model.stream(request), (part) => Effect.sync(() => seen.push(part))))
        return seen
      })
      const { exit } = yield* reading(layer, parts, events(cumulative("1", "1"), cumulative(" 2", "1 2")))
      const reported = { type: "usage", usage: Usage.make({ inputTokens: 10, outputTokens: 5 }) }
      assert(Exit.isSuccess(exit))
      assert.deepStrictEqual<ReadonlyArray<unknown>>(exit.value, [
        { type: "text-delta", text: "1" },
        reported,
        { type: "text-delta", text: " 2" },
        reported
      ])
    })
  )

  it.effect("has the whole reply with its last event, though the connection stays open", () =>
    Effect.gen(function* () {
      const last = cumulative("", "1 2", { finish_reason: "stop" }, { object: "chat.completion.done" })
      const endless = respondWith(200, () => {
        let left = [cumulative("1 2", "1 2"), last]
        return new ReadableStream({
          pull(controller) {
            const [next, ...rest] = left
            left = rest
            if (next !== undefined) controller.enqueue(new TextEncoder().encode(next))
            return next === undefined ? new Promise<void>(() => undefined) : undefined
          }
        })
      })
      assert.deepStrictEqual(replyOf((yield* reading(layer, collect, endless)).exit).content, expected)
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
    })
  )

  it.effect("takes thoughts out of the text, whole and streamed [A114]", () =>
    Effect.gen(function* () {
      const text = "<think>\nhm\n</think>\n\n4"
      const expected: Message.Reply["content"] = [
        { type: "reasoning", text: "\nhm\n" },
        { type: "text", text: "4" }
      ]
      const whole = respond(200, { choices: [{ message: { content: text }, finish_reason: "stop" }] })
      assert.deepStrictEqual(replyOf((yield* reading(layer, generate, whole)).exit).content, expected)
      const streamed = events(
        ...Array.from(text, (character) => chunk({ content: character })),
        chunk({}, { finish_reason: "stop" })
      )
      assert.deepStrictEqual(replyOf((yield* reading(layer, collect, streamed)).exit).content, expected)
      const parts = Effect.flatMap(Model.Model, (model) => Stream.runCollect(model.stream(request)))
      const { exit } = yield* reading(layer, parts, streamed)
      assert(Exit.isSuccess(exit))
      assert.strictEqual(exit.value.filter(({ type }) => type === "reasoning-delta").length, 4)
    })
  )
})
