import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { completion, fakeNetwork, generate, openAi, respond } from "../../_support/network.ts"

describe("a body", () => {
  /** A client that reads each answer as text, and passes it on. */
  const logging = (sent: string, logged: Array<string>) => {
    const reading = HttpClient.transformResponse(
      Effect.tap((response) => Effect.map(response.text, (text) => logged.push(text)))
    )
    return Layer.provide(
      Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, reading)),
      fakeNetwork([respond(200, sent)]).layer
    )
  }
  const text = JSON.stringify(completion("ok"))

  it.effect("that a client around fetch has read as text is not read twice [A812]", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const reply = yield* generate.pipe(
        Effect.provide(openAi({ retry: false })),
        Effect.provide(logging(text, logged))
      )
      assert.strictEqual(Message.textOf(reply), "ok")
      assert.deepStrictEqual(logged, [text])
    })
  )

  it.effect("that is absent is an empty one, also where a client around fetch has replaced the stream [T8]", () =>
    Effect.gen(function* () {
      const bare = fakeNetwork(() => Effect.sync(() => new Response(null, { status: 400 }))).layer
      const replacing = HttpClient.transformResponse(
        Effect.map((response) => Object.create(response, { stream: { value: response.stream } }) as typeof response)
      )
      const replaced = Layer.provide(
        Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, replacing)),
        bare
      )
      for (const layer of [bare, replaced]) {
        const error = yield* Effect.flip(generate.pipe(Effect.provide(openAi({ retry: false })), Effect.provide(layer)))
        assert.strictEqual(error._tag, "InvalidRequestError")
      }
    })
  )

  it.effect("that a client around fetch has read as text has the same limit [P1401]", () =>
    Effect.gen(function* () {
      const within = openAi({ retry: false, maxBodyBytes: text.length })
      assert.strictEqual(
        Message.textOf(yield* generate.pipe(Effect.provide(within), Effect.provide(logging(text, [])))),
        "ok"
      )
      const beyond = openAi({ retry: false, maxBodyBytes: text.length - 1 })
      const error = yield* Effect.flip(generate.pipe(Effect.provide(beyond), Effect.provide(logging(text, []))))
      assert.strictEqual(error._tag, "ReplyTooLargeError")
    })
  )
})
