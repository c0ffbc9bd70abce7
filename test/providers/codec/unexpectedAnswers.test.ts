/** The traps that the wires have in common, each for every provider that it concerns. */
import { assert, describe } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Tool from "@kintsugi/core/Tool"
import { Effect, Schema } from "effect"
import { participants } from "../_support/participants.ts"
import { callers, chatBody, claude, each, generate, response, stream, type Tag, tagOf } from "./_support/spokenWires.ts"

describe("an end that is none", () => {
  each("a stream without its end mark is a failure, after any number of parts [P504]", (participant, wire) =>
    Effect.gen(function* () {
      for (const sent of [wire.text("half"), wire.text("half") + wire.call(false), ""]) {
        const { error } = yield* stream(participant, sent)
        assert.strictEqual(tagOf(error), "NetworkError", sent)
      }
      const whole = yield* stream(participant, wire.text("all") + wire.end("stop"))
      assert.strictEqual(whole.reply?.finish, "stop")
      assert.strictEqual(whole.seen, "all")
    })
  )

  each(
    "a call that was cut off is never one that could run [P403]",
    (participant, wire) =>
      Effect.gen(function* () {
        const reply = yield* generate(participant, wire.calling({ args: {} }, true))
        assert.strictEqual(reply.finish, "length")
        for (const isCut of [true, false]) {
          const cut = yield* stream(participant, wire.text("I look.") + wire.call(isCut) + wire.end("length"))
          assert.strictEqual(cut.reply?.finish, "length")
          const broken = yield* stream(participant, wire.text("I look.") + wire.call(isCut) + wire.error)
          assert.strictEqual(tagOf(broken.error), "ServerError")
        }
      }),
    callers
  )

  each("text before a failure is emitted, and the failure is its own error [A810]", (participant, wire) =>
    Effect.gen(function* () {
      const { error, reply, seen } = yield* stream(participant, wire.text("so ") + wire.text("far") + wire.error)
      assert.strictEqual(tagOf(error), "ServerError")
      assert.strictEqual(seen, "so far")
      assert.isUndefined(reply)
    })
  )
})

describe("absent fields", () => {
  const look = Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed("seen")
  })

  each(
    "arguments that are empty, null or missing are an empty object [A114]",
    (participant, wire) =>
      Effect.gen(function* () {
        for (const given of [{}, { args: null }, { args: "" }, { args: {} }, { args: "{}" }]) {
          const [call] = Message.callsOf(yield* generate(participant, wire.calling(given)))
          assert(call !== undefined)
          assert.strictEqual(yield* Effect.orDie(Tool.call(look, call.arguments)), "seen", JSON.stringify(given))
        }
      }),
    callers
  )

  each("usage that is absent, null or zero counts as nothing [T8]", (participant, wire) =>
    Effect.gen(function* () {
      for (const body of wire.uncounted) {
        const { usage } = yield* generate(participant, body)
        assert.deepStrictEqual(Object.values(usage), [0, 0, 0, 0, 0])
      }
    })
  )
})

describe("unexpected answers", () => {
  const page = "<html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>"

  each("pages and empty bodies are what their status says, with any content type [T8 T35 P1405]", (participant) =>
    Effect.gen(function* () {
      const tags = { 502: "ServerError", 503: "ModelOverloadedError", 403: "AuthenticationError" } as const
      for (const [status, tag] of Object.entries(tags)) {
        for (const body of [page, "", "null", '"no"', "[]"]) {
          // a firewall in front of the server says nothing about the key
          const expected = status === "403" && body === page ? "NetworkError" : tag
          for (const type of ["text/html", "application/json", "text/event-stream"]) {
            const headers = { "content-type": type }
            const error = yield* Effect.flip(generate(participant, body, Number(status), headers))
            assert.strictEqual(tagOf(error), expected, `${status} ${body}`)
            assert.strictEqual(tagOf((yield* stream(participant, body, Number(status), headers)).error), expected)
          }
        }
      }
    })
  )

  each("a success without a reply in it is a typed error [T8]", (participant) =>
    Effect.gen(function* () {
      for (const body of [page, "", "null", "[]", "{}", "\n\n"]) {
        const error = yield* Effect.flip(generate(participant, body))
        assert.isTrue(LlmError.isLlmError(error), body)
        assert.isDefined((yield* stream(participant, body)).error, body)
      }
    })
  )

  each("blank lines and a byte order mark before a reply are no part of it [A114]", (participant) =>
    Effect.gen(function* () {
      const body = participant.says("answer", () => "m", 0)
      const plain = yield* generate(participant, body)
      for (const before of ["\n\n\n", "\r\n", "\uFEFF", " \t"]) {
        assert.deepStrictEqual(yield* generate(participant, before + JSON.stringify(body)), plain)
      }
    })
  )

  each("an error is read with a code of any type, as an object or a text [T8]", (participant) =>
    Effect.gen(function* () {
      for (const error of [
        { message: "no", type: "t", code: "some_code" },
        { message: "no", type: "t", code: 401 },
        { message: "no", type: null, code: null },
        "no",
        { message: { nested: "no" }, code: {} }
      ]) {
        const read = yield* Effect.flip(generate(participant, { error }, 401))
        assert.strictEqual(tagOf(read), "AuthenticationError", JSON.stringify(error))
      }
    })
  )
})

describe("one status, several meanings", () => {
  const quota = (quotaId: string) => [
    { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" }
  ]
  const exhausted = (details: ReadonlyArray<object>) => ({
    error: { code: 429, message: "You exceeded your current quota", status: "RESOURCE_EXHAUSTED", details }
  })
  const openAi = [
    [
      { error: { message: "Rate limit. Try again in 2s", type: "tokens", code: "rate_limit_exceeded" } },
      "RateLimitError"
    ],
    [{ error: { message: "no money", type: "insufficient_quota", code: "insufficient_quota" } }, "QuotaExhaustedError"]
  ] as const
  const cases: Readonly<Record<string, ReadonlyArray<readonly [object, Tag]>>> = {
    "openai-chat": openAi,
    "openai-responses": openAi,
    kimi: [
      [{ error: { message: "please try again after 1 seconds", type: "rate_limit_reached_error" } }, "RateLimitError"],
      [{ error: { message: "overloaded", type: "engine_overloaded_error" } }, "ModelOverloadedError"],
      [{ error: { message: "no money", type: "exceeded_current_quota_error" } }, "QuotaExhaustedError"]
    ],
    gemini: [
      [exhausted(quota("GenerateRequestsPerMinutePerProjectPerModel")), "RateLimitError"],
      [exhausted(quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")), "QuotaExhaustedError"]
    ]
  }
  each(
    "429 is a wait, a load or an empty account, by its words [P801 T35]",
    (participant) =>
      Effect.gen(function* () {
        for (const [body, tag] of cases[participant.name] ?? []) {
          assert.strictEqual(tagOf(yield* Effect.flip(generate(participant, body, 429))), tag)
        }
      }),
    participants.filter(({ name }) => name in cases)
  )
})

describe("errors within a success", () => {
  const refusedWords = "I cannot help with that"
  const cases: Readonly<Record<string, ReadonlyArray<readonly [object, Tag]>>> = {
    openrouter: [[{ error: { code: 502, message: "Provider failed" } }, "ServerError"]],
    anthropic: [
      [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "ModelOverloadedError"],
      [claude([], "refusal"), "ContentFilteredError"]
    ],
    gemini: [
      [{ promptFeedback: { blockReason: "SAFETY" } }, "ContentFilteredError"],
      [{ candidates: [{ content: {}, finishReason: "SAFETY" }] }, "ContentFilteredError"]
    ],
    deepseek: [[chatBody({ content: "hal" }, "insufficient_system_resource"), "ModelOverloadedError"]],
    ollama: [[{ error: "llama runner process has terminated" }, "ServerError"]],
    "openai-chat": [[chatBody({ content: null, refusal: refusedWords }, "stop"), "ContentFilteredError"]],
    "openai-responses": [
      [response([{ type: "message", content: [{ type: "refusal", refusal: refusedWords }] }]), "ContentFilteredError"],
      [{ status: "failed", output: [], error: { code: "server_error", message: "no" } }, "ServerError"]
    ]
  }
  each(
    "an answer with the status 200 may be an error, whole or as the first event of a stream [T8]",
    (participant, wire) =>
      Effect.gen(function* () {
        for (const [body, tag] of cases[participant.name] ?? []) {
          assert.strictEqual(tagOf(yield* Effect.flip(generate(participant, body))), tag)
        }
        assert.strictEqual(tagOf((yield* stream(participant, wire.error)).error), "ServerError")
      }),
    participants.filter(({ name }) => name in cases)
  )
})
