/** Recorded answers of OpenAI, served over a real connection and read through the public interface. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { OpenAi, Transport } from "@kintsugi/providers"
import { Fault, LoopbackServer, type Split } from "@kintsugi/providers/testing"
import { Duration, Effect, Exit, Layer, Redacted, Schema, Stream } from "effect"
import { failureOf, request } from "./support.ts"

const Expected = Schema.Struct({
  outcome: Schema.optionalKey(Schema.String),
  model: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String),
  refusal: Schema.optionalKey(Schema.String),
  toolCalls: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ id: Schema.String, name: Schema.String, args: Schema.Record(Schema.String, Schema.Json) })
    )
  ),
  usage: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        input: Schema.Finite,
        output: Schema.Finite,
        cachedInput: Schema.optionalKey(Schema.Finite),
        reasoning: Schema.optionalKey(Schema.Finite)
      })
    )
  ),
  error: Schema.optionalKey(
    Schema.Struct({
      category: Schema.String,
      acceptable: Schema.optionalKey(Schema.Array(Schema.String)),
      retrySameRequest: Schema.Boolean,
      retryAfterMs: Schema.optionalKey(Schema.Finite),
      quotaExhausted: Schema.optionalKey(Schema.Boolean)
    })
  )
})

const Fixture = Schema.Struct({
  id: Schema.String,
  api: Schema.String,
  streaming: Schema.Boolean,
  status: Schema.Finite,
  headers: Schema.Record(Schema.String, Schema.String),
  bodyFile: Schema.String,
  expected: Expected
})

const folder = new URL("../fixtures/wire/openai/", import.meta.url)

const fixtures = Schema.decodeUnknownSync(Schema.Array(Fixture))(
  JSON.parse(readFileSync(new URL("index.json", folder), "utf8"))
)

type Fixture = typeof Fixture.Type

const tagOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  AUTHENTICATION_FAILED: ["AuthenticationError"],
  MODEL_NOT_FOUND: ["ModelNotFoundError"],
  CAPABILITY_MISMATCH: ["CapabilityMismatchError"],
  INVALID_REQUEST: ["InvalidRequestError"],
  CONTEXT_TOO_LONG: ["ContextTooLongError"],
  RateLimit: ["RateLimitError", "QuotaExhaustedError"],
  SERVER_ERROR: ["ServerError"]
}

/** Runs against a server that gives this answer, cut into pieces in this way. */
const replay = <A, E>(
  fixture: Fixture,
  effect: Effect.Effect<A, E, Model.Model>,
  split: Split.Split = "whole",
  edit = (text: string) => text
) =>
  Effect.gen(function* () {
    const body = edit(readFileSync(new URL(fixture.bodyFile, folder), "utf8"))
    const server = yield* LoopbackServer.make(() =>
      Effect.succeed({ status: fixture.status, headers: fixture.headers, body, split })
    )
    const model = OpenAi.layer({
      model: "gpt-x",
      apiKey: Redacted.make("sk-test-1234"),
      baseUrl: server.url,
      transport: { retry: false }
    })
    return yield* Effect.exit(Effect.provide(effect, Layer.provide(model, Transport.layerFetch)))
  })

const generate = Effect.flatMap(Model.Model, (model) => model.generate(request))

/** The reply that a stream folds to. */
const collect = Effect.gen(function* () {
  const model = yield* Model.Model
  const collector = new Model.Collector()
  yield* Stream.runForEach(model.stream(request), (part) => Effect.sync(() => collector.push(part)))
  const reply = collector.reply()
  assert(reply !== undefined, "the stream had no end")
  return reply
})

const finishOf: Readonly<Record<string, Message.FinishReason>> = {
  stop: "stop",
  "tool-calls": "tool-calls",
  length: "length"
}

const checkReply = (reply: Message.Reply, expected: Fixture["expected"]) => {
  assert.strictEqual(reply.finish, finishOf[expected.outcome ?? ""])
  assert.strictEqual(Message.textOf(reply), expected.text)
  assert.strictEqual(reply.model, expected.model)
  assert.deepStrictEqual<unknown>(
    Message.callsOf(reply).map(({ arguments: args, id, name }) => ({ id, name, args: parsed(args) })),
    expected.toolCalls
  )
  assert.deepStrictEqual(reply.usage, {
    inputTokens: expected.usage?.input ?? 0,
    outputTokens: expected.usage?.output ?? 0,
    cachedInputTokens: expected.usage?.cachedInput ?? 0,
    cacheWriteTokens: 0,
    reasoningTokens: expected.usage?.reasoning ?? 0
  })
}

const parsed = (args: unknown): unknown => {
  assert(typeof args === "string")
  try {
    return JSON.parse(args)
  } catch {
    return { __invalid_json__: args }
  }
}

const checkError = (error: LlmError.LlmError, expected: NonNullable<Fixture["expected"]["error"]>) => {
  const admitted = [expected.category, ...(expected.acceptable ?? [])].flatMap((category) => tagOf[category] ?? [])
  assert.include(admitted, error._tag)
  assert.strictEqual(error.isRetryable, expected.retrySameRequest)
  assert.strictEqual(error._tag === "QuotaExhaustedError", expected.quotaExhausted ?? false)
  const asked = expected.retryAfterMs
  if (asked !== undefined) {
    // the server also says it in whole seconds, and the largest value wins
    assert(error.retryAfter !== undefined)
    const hint = Duration.toMillis(error.retryAfter)
    assert.isAtLeast(hint, asked)
    assert.isBelow(hint, asked + 1000)
  }
}

const isFailure = ({ expected, status }: Fixture) => status !== 200 && expected.error !== undefined

describe("whole answers", () => {
  for (const fixture of fixtures.filter((fixture) => !fixture.streaming && !isFailure(fixture))) {
    it.live(`A114 T8 reads ${fixture.id}`, () =>
      Effect.gen(function* () {
        const exit = yield* replay(fixture, generate)
        if (fixture.expected.outcome === "filtered") {
          const error = failureOf(exit)
          assert(error instanceof LlmError.ContentFilteredError)
          assert.strictEqual(error.detail, fixture.expected.refusal)
          return
        }
        assert(Exit.isSuccess(exit))
        checkReply(exit.value, fixture.expected)
      })
    )
  }
})

describe("failures", () => {
  for (const fixture of fixtures.filter(isFailure)) {
    for (const [how, effect] of [
      ["whole", generate],
      ["streamed", collect]
    ] as const) {
      it.live(`T8 T35 A811 classifies ${fixture.id} (${how})`, () =>
        Effect.gen(function* () {
          const error = failureOf(yield* replay(fixture, effect))
          assert(fixture.expected.error !== undefined)
          checkError(error, fixture.expected.error)
          assert.strictEqual(error.status, fixture.status)
        })
      )
    }
  }
})

describe("streams", () => {
  const splits: ReadonlyArray<Split.Split> = ["whole", "event", "byte", "inside-characters", { every: 7 }]
  for (const fixture of fixtures.filter(({ api, streaming }) => streaming && api === "openai-chat")) {
    for (const split of splits) {
      it.live(`A114 reads ${fixture.id}, cut ${JSON.stringify(split)}`, () =>
        Effect.gen(function* () {
          const exit = yield* replay(fixture, collect, split)
          assert(Exit.isSuccess(exit))
          checkReply(exit.value, fixture.expected)
        })
      )
    }

    it.live(`A114 reads ${fixture.id} with CRLF, cut inside of it`, () =>
      Effect.gen(function* () {
        const exit = yield* replay(fixture, collect, "inside-crlf", (text) => text.replaceAll("\n", "\r\n"))
        assert(Exit.isSuccess(exit))
        checkReply(exit.value, fixture.expected)
      })
    )

    it.live(`P504 ${fixture.id} without its end is a NetworkError`, () =>
      Effect.gen(function* () {
        const body = readFileSync(new URL(fixture.bodyFile, folder))
        // before the last but one event, which has the finish reason
        const end = body.indexOf('"finish_reason":"') === -1 ? body.length / 2 : body.indexOf('"finish_reason":"')
        const server = yield* LoopbackServer.make(
          Fault.inFront([Fault.endedAfter(Math.floor(end))], () =>
            Effect.succeed({ headers: { "content-type": "text/event-stream" }, body })
          )
        )
        const model = OpenAi.layer({
          model: "m",
          apiKey: Redacted.make("sk-test-1234"),
          baseUrl: server.url,
          transport: { retry: false }
        })
        const exit = yield* Effect.exit(Effect.provide(collect, Layer.provide(model, Transport.layerFetch)))
        assert(failureOf(exit) instanceof LlmError.NetworkError)
      })
    )
  }

  it.live("A114 reads a stream with wider characters, cut inside of them", () =>
    Effect.gen(function* () {
      const wide = (text: string) => text.replaceAll("World", "Wörld 🙂")
      const fixture = fixtures.find(({ id }) => id === "openai-chat-stream-text-1")
      assert(fixture !== undefined)
      const exit = yield* replay(fixture, collect, "inside-characters", wide)
      assert(Exit.isSuccess(exit))
      assert.strictEqual(Message.textOf(exit.value), "The Los Angeles Dodgers won the Wörld 🙂 Series in 2020.")
    })
  )
})
