/** Anthropic as a provider: where its requests go, and what is sent again. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { Anthropic } from "@kintsugi/providers"
import { LoopbackServer } from "@kintsugi/providers/testing"
import { ConfigProvider, Effect, Exit, Redacted } from "effect"
import { type Block, eventsOf, message, start, streamed } from "../_support/anthropicMessages.ts"
import { event, failureOf, fakeNetwork, finished, generate, key, respond, streamText } from "../../_support/network.ts"

const text = (value: string): Block => ({ type: "text", text: value })

describe("Anthropic.layer", () => {
  const sse = (...events: ReadonlyArray<unknown>) => respond(200, events.map(event).join(""))

  const anthropic = (more: Partial<Parameters<typeof Anthropic.layer>[0]> = {}) =>
    Anthropic.layer({ model: "claude-x", apiKey: Redacted.make(` ${key}\n`), ...more })

  it.effect("sends to its own address with its own headers [A814]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork([
        respond(200, message([text("ok")], "end_turn")),
        sse(...streamed([text("ok")], "end_turn"))
      ])
      const options = { betas: ["a-2025-01-01", "b-2025-02-02"], version: "2024-01-01", headers: { "x-own": "1" } }
      const own = { ...options, baseUrl: "https://proxy.test/anthropic/" }
      const reply = yield* generate.pipe(Effect.provide(anthropic()), Effect.provide(network.layer))
      assert.strictEqual(Message.textOf(reply), "ok")
      assert.strictEqual(
        (yield* streamText.pipe(Effect.provide(anthropic(own)), Effect.provide(network.layer))).text,
        "ok"
      )
      const [plain, custom] = network.sent
      assert.strictEqual(plain?.url, "https://api.anthropic.com/v1/messages")
      assert.strictEqual(custom?.url, "https://proxy.test/anthropic/v1/messages")
      assert.deepInclude(plain?.headers, { "x-api-key": key, "anthropic-version": "2023-06-01" })
      assert.notProperty(plain?.headers, "anthropic-beta")
      assert.deepInclude(custom?.headers, {
        "anthropic-version": "2024-01-01",
        "anthropic-beta": "a-2025-01-01,b-2025-02-02",
        "x-own": "1"
      })
    })
  )

  it.effect("an error as the very first event is resent, an error after a part is not [T8]", () =>
    Effect.gen(function* () {
      const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
      const fine = sse(...streamed([text("ok")], "end_turn"))
      const second = fakeNetwork([sse(overloaded), sse(start, overloaded), fine])
      const exit = yield* finished(streamText.pipe(Effect.provide(anthropic()), Effect.provide(second.layer)))
      assert(Exit.isSuccess(exit))
      assert.strictEqual(exit.value.text, "ok")
      assert.strictEqual(second.sent.length, 3)
      const once = fakeNetwork([sse(start, ...eventsOf(text("part"), 0, 9), overloaded)])
      const { exit: end, text: shown } = yield* streamText.pipe(Effect.provide(anthropic()), Effect.provide(once.layer))
      assert.strictEqual(shown, "part")
      assert(Exit.isFailure(end))
      assert.strictEqual(once.sent.length, 1)
    })
  )
})

describe("Anthropic.model", () => {
  const environment = (values: Readonly<Record<string, string>>) =>
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(values))

  it.live("needs nothing but the environment [A814]", () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(() =>
        Effect.succeed({ body: JSON.stringify(message([text("ok")], "end_turn")) })
      )
      const call = Effect.provide(generate, Anthropic.model("claude-x", { maxTokens: 9 }))
      const reply = yield* environment({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: `${server.url}/` })(call)
      assert.strictEqual(Message.textOf(reply), "ok")
      const [sent] = yield* server.requests
      assert.strictEqual(sent?.path, "/v1/messages")
      assert.deepInclude(sent?.body, { model: "claude-x", max_tokens: 9 })
    })
  )

  it.live("fails with a ConfigError without a key", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(environment({})(Effect.provide(generate, Anthropic.model("claude-x"))))
      const error = failureOf(exit)
      assert.strictEqual(error._tag, "ConfigError")
      assert.include(String(error), "ANTHROPIC_API_KEY")
    })
  )
})
