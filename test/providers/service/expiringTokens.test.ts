/** A key that is an effect: asked with each send, and never shown. */
import { assert, describe, it } from "@effect/vitest"
import { Anthropic, Gemini, OpenAi } from "@kintsugi/providers"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import { Data, Effect, Exit, type Layer, Redacted } from "effect"
import type { Model } from "@kintsugi/core"
import type { Transport } from "@kintsugi/providers"
import { fakeNetwork, failureOf, finished, generate, key, ok, respond, streamParts } from "../../_support/network.ts"
import { keeps, seen, texts } from "../_support/observers.ts"

class Expired extends Data.TaggedError("Expired")<{ readonly message: string }> {}

const model = "m"

/** Gives another token each time. */
const tokens = () => {
  let count = 0
  return Effect.sync(() => Redacted.make(` ${key}-${++count}\n`))
}

type Key = Parameters<typeof OpenAi.layer>[0]["apiKey"]

const wires: Readonly<
  Record<
    string,
    readonly [header: string, before: string, (apiKey: Key) => Layer.Layer<Model.Model, never, Transport.HttpClient>]
  >
> = {
  "OpenAi.layer": ["authorization", "Bearer ", (apiKey) => OpenAi.layer({ model, apiKey })],
  "OpenAi.layerResponses": ["authorization", "Bearer ", (apiKey) => OpenAi.layerResponses({ model, apiKey })],
  "OpenAiCompatible.layer": ["authorization", "Bearer ", (apiKey) => OpenAiCompatible.layer("groq", { model, apiKey })],
  "Anthropic.layer": ["x-api-key", "", (apiKey) => Anthropic.layer({ model, apiKey })],
  "Anthropic.layer, bearer": ["authorization", "Bearer ", (apiKey) => Anthropic.layer({ model, apiKey, bearer: true })],
  "Gemini.layer": ["x-goog-api-key", "", (apiKey) => Gemini.layer({ model, apiKey })],
  "Gemini.layer, bearer": ["authorization", "Bearer ", (apiKey) => Gemini.layer({ model, apiKey, bearer: true })]
}

describe("a token that expires", () => {
  for (const [name, [header, before, layerOf]] of Object.entries(wires)) {
    for (const [way, call] of [
      ["whole", Effect.asVoid(generate)],
      ["streamed", Effect.asVoid(streamParts)]
    ] as const) {
      it.effect(`is asked with each send of ${name}, each resend included (${way}) [P1414]`, () =>
        Effect.gen(function* () {
          const network = fakeNetwork(respond(503, "busy"))
          const layer = layerOf(tokens())
          for (let calls = 0; calls < 2; calls++) {
            yield* finished(call.pipe(Effect.provide(layer), Effect.provide(network.layer)))
          }
          assert.deepStrictEqual(
            network.sent.map(({ headers }) => headers[header]),
            [1, 2, 3, 4, 5, 6].map((count) => `${before}${key}-${count}`)
          )
          const others = ["authorization", "x-api-key", "x-goog-api-key"].filter((other) => other !== header)
          for (const other of others) assert.notProperty(network.sent[0]?.headers, other)
        })
      )

      it.effect(`that cannot be had is an AuthenticationError of ${name}, and nothing is sent (${way}) [P1414]`, () =>
        Effect.gen(function* () {
          const network = fakeNetwork(ok)
          const layer = layerOf(Effect.fail(new Expired({ message: "the session is over" })))
          const exit = yield* Effect.exit(call.pipe(Effect.provide(layer), Effect.provide(network.layer)))
          const error = failureOf(exit)
          assert.strictEqual(error._tag, "AuthenticationError")
          assert.include(error.message, `The effect of the header '${header}' failed`)
          // its stack may have a path that looks like a key: then it is a copy
          assert.include(String(error.cause), "Expired: the session is over")
          assert.lengthOf(network.sent, 0)
        })
      )

      it.effect(`is in no error of ${name} (${way}) [P1414]`, () =>
        Effect.gen(function* () {
          const network = fakeNetwork(respond(401, `no access with ${key}-1`))
          const found = yield* seen(call.pipe(Effect.provide(layerOf(tokens())), Effect.provide(network.layer)))
          assert.isTrue(Exit.isFailure(found.exit))
          keeps(texts(found), key, name)
        })
      )
    }
  }

  it.effect("with a character that HTTP does not admit is an AuthenticationError [P1414]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork(ok)
      const layer = OpenAi.layer({ model, apiKey: Effect.succeed(Redacted.make("key\nof two lines")) })
      const exit = yield* Effect.exit(generate.pipe(Effect.provide(layer), Effect.provide(network.layer)))
      assert.strictEqual(failureOf(exit)._tag, "AuthenticationError")
      assert.lengthOf(network.sent, 0)
    })
  )

  it.effect("may be any header [P1414]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork(ok)
      const headers = { "cf-aig-authorization": tokens() }
      const layer = OpenAi.layer({ model, apiKey: Redacted.make(key), headers })
      yield* generate.pipe(Effect.provide(layer), Effect.provide(network.layer))
      assert.strictEqual(network.sent[0]?.headers["cf-aig-authorization"], `${key}-1`)
    })
  )

  it.effect("that is still on its way is interrupted with the call [P1414]", () =>
    Effect.gen(function* () {
      let interrupted = 0
      const network = fakeNetwork(ok)
      const token = Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
      const layer = OpenAi.layer({ model, apiKey: token, transport: { requestTimeout: "1 second" } })
      for (const call of [Effect.asVoid(generate), Effect.asVoid(streamParts)]) {
        const exit = yield* finished(call.pipe(Effect.provide(layer), Effect.provide(network.layer)))
        assert.strictEqual(failureOf(exit)._tag, "RequestTimeoutError")
      }
      assert.strictEqual(interrupted, 2)
      assert.lengthOf(network.sent, 0)
    })
  )
})
