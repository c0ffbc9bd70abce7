import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { completion, fakeNetwork, generate, openAi, respond } from "../../_support/network.ts"

describe("a body", () => {
  it.effect("that a client around fetch has read as text is not read twice [A812]", () =>
    Effect.gen(function* () {
      const text = JSON.stringify(completion("ok"))
      const { layer } = fakeNetwork([respond(200, text)])
      const logged: Array<string> = []
      const logging = HttpClient.transformResponse(
        Effect.tap((response) => Effect.map(response.text, (text) => logged.push(text)))
      )
      const client = Layer.provide(
        Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, logging)),
        layer
      )
      const reply = yield* generate.pipe(Effect.provide(openAi({ retry: false })), Effect.provide(client))
      assert.strictEqual(Message.textOf(reply), "ok")
      assert.deepStrictEqual(logged, [text])
    })
  )
})
