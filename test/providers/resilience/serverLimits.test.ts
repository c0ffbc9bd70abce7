/** The limiter beneath a provider, fed by the headers of its answers. */
import { assert, describe, it } from "@effect/vitest"
import { LlmError } from "@kintsugi/core"
import { Resilience } from "@kintsugi/providers"
import * as Hints from "../../../packages/providers/src/transport/Hints.ts"
import { Context, Duration, Effect, Exit, Fiber, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import { ways } from "../../_support/guard.ts"
import {
  calm,
  completion,
  done,
  failsWith,
  fakeNetwork,
  finishChunk,
  finished,
  openAi,
  pass,
  type Reaction,
  respond,
  textChunk
} from "../../_support/network.ts"

const bodies = { whole: JSON.stringify(completion("ok")), streamed: `${textChunk("ok")}${finishChunk()}${done}` }

const headers: ReadonlyArray<readonly [string, Readonly<Record<string, string>>, wait: number]> = [
  [
    "OpenAI: no request left",
    {
      "x-ratelimit-limit-requests": "60",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "1m2.5s",
      "x-ratelimit-remaining-tokens": "900",
      "x-ratelimit-reset-tokens": "10m"
    },
    62_500
  ],
  [
    "OpenAI: no token left",
    {
      "x-ratelimit-remaining-requests": "59",
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "120ms"
    },
    120
  ],
  [
    "Anthropic: no output token left",
    {
      "anthropic-ratelimit-requests-remaining": "49",
      "anthropic-ratelimit-requests-reset": "1970-01-01T00:00:10Z",
      "anthropic-ratelimit-output-tokens-remaining": "0",
      "anthropic-ratelimit-output-tokens-reset": "1970-01-01T00:00:05Z"
    },
    5000
  ],
  [
    "OpenRouter: an instant in milliseconds",
    { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "200000000000" },
    2e11
  ],
  [
    "as much left of two, of which the one that resets later counts",
    {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "3s",
      "x-ratelimit-remaining-input-tokens": "0",
      "x-ratelimit-reset-input-tokens": "2s"
    },
    3000
  ],
  ["no request left, and no reset", { "x-ratelimit-remaining-requests": "0" }, 0],
  ["no request left, and a reset at once", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "0" }, 0],
  [
    "a reset at once beside another one",
    {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "0s",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": "4"
    },
    4000
  ],
  ["nothing said", {}, 0],
  ["some left", { "x-ratelimit-remaining-requests": "7", "x-ratelimit-reset-requests": "1m" }, 0],
  ["unreadable headers", { "x-ratelimit-remaining-requests": "few", "x-ratelimit-reset-requests": "soon" }, 0]
]

describe("limits that a server reports in its answers", () => {
  for (const [way, modelCall] of Object.entries(ways)) {
    const body = way === "whole" ? bodies.whole : bodies.streamed
    const using = (script: ReadonlyArray<Reaction>) => {
      const network = fakeNetwork(script)
      const http = Resilience.layerHttp.pipe(Layer.provide(network.layer))
      return { network, model: openAi({ requestTimeout: Infinity }).pipe(Layer.provide(http)) }
    }

    for (const [what, limits, wait] of headers) {
      it.effect(`${what}: the next request is sent after ${wait} ms (${way}) [L803]`, () =>
        Effect.gen(function* () {
          const { model, network } = using([respond(200, body, limits), respond(200, body)])
          const fiber = yield* Effect.forkChild(Effect.andThen(modelCall, modelCall).pipe(Effect.provide(model)))
          yield* calm
          if (wait > 0) yield* pass(wait - 1)
          assert.strictEqual(network.sent.length, wait > 0 ? 1 : 2)
          yield* pass(1)
          assert(Exit.isSuccess(yield* Fiber.await(fiber)))
          assert.deepStrictEqual(network.times(), [0, wait])
        })
      )
    }

    it.effect(`requests on their way count against what was left (${way}) [L803]`, () =>
      Effect.gen(function* () {
        const limits = { "x-ratelimit-remaining-requests": "2", "x-ratelimit-reset-requests": "10s" }
        const slow: Reaction = () => Effect.delay(respond(200, body)(), "1 second")
        const { model, network } = using([respond(200, body, limits), slow, slow, slow])
        const exit = yield* finished(
          Effect.andThen(modelCall, Effect.all([modelCall, modelCall, modelCall], { concurrency: "unbounded" })).pipe(
            Effect.provide(model)
          )
        )
        assert(Exit.isSuccess(exit))
        assert.deepStrictEqual(network.times(), [0, 0, 0, 10_000])
      })
    )

    it.effect(
      `after a 429 no call sends before its wait is over, and the transport alone resends (${way}) [L803 A801]`,
      () =>
        Effect.gen(function* () {
          const limited = respond(429, "{}", { "retry-after": "7" })
          const { model, network } = using([limited, limited, limited, respond(200, body)])
          const exit = yield* finished(Effect.all([Effect.exit(modelCall), modelCall]).pipe(Effect.provide(model)))
          assert(Exit.isSuccess(exit))
          failsWith(exit.value[0], LlmError.RateLimitError)
          // three sends of one call, not three times three; then one of the other, which waits as well
          assert.deepStrictEqual(network.times(), [0, 7000, 14_000, 21_000])
        })
    )

    it.effect(`a 429 that states no wait does not hold back the next call (${way}) [L803]`, () =>
      Effect.gen(function* () {
        const { model, network } = using([respond(429, "{}"), respond(200, body)])
        const exit = yield* finished(modelCall.pipe(Effect.provide(model)))
        assert(Exit.isSuccess(exit))
        assert.deepStrictEqual(network.times(), [0, 250])
      })
    )

    it.effect(`a store that fails is a NetworkError (${way}) [L803]`, () =>
      Effect.gen(function* () {
        const failing = Effect.fail(
          new RateLimiter.RateLimiterError({ reason: new RateLimiter.RateLimitStoreError({ message: "no store" }) })
        )
        const broken = Context.make(RateLimiter.RateLimiterStore, {
          fixedWindow: () => failing,
          tokenBucket: () => failing,
          adaptiveConsume: () => failing,
          adaptiveFeedback: () => failing
        })
        const { model, network } = using([])
        const exit = yield* finished(modelCall.pipe(Effect.provide(model), Effect.provide(broken)))
        failsWith(exit, LlmError.NetworkError)
        assert.strictEqual(network.sent.length, 0)
      })
    )
  }

  it("reads each limit with what is left of it [P801]", () => {
    const answer = (of: Readonly<Record<string, string>>) => ({
      status: 200,
      headers: of,
      body: "",
      at: 0,
      elapsed: Duration.zero
    })
    const [, openAi = {}] = headers[0] ?? []
    assert.deepStrictEqual(Hints.left(answer(openAi)), [
      { of: "requests", remaining: 0, resetAfter: Duration.millis(62_500) },
      { of: "tokens", remaining: 900, resetAfter: Duration.minutes(10) }
    ])
    const [, anthropic = {}] = headers[2] ?? []
    assert.deepStrictEqual(Hints.left(answer(anthropic)), [
      { of: "requests", remaining: 49, resetAfter: Duration.seconds(10) },
      { of: "output-tokens", remaining: 0, resetAfter: Duration.seconds(5) }
    ])
    assert.deepStrictEqual(Hints.left(answer({ "ratelimit-remaining": "3" })), [{ of: "", remaining: 3 }])
    assert.deepStrictEqual(Hints.left(answer({ "x-ratelimit-remaining-requests": "few" })), [])
  })
})
