/** Schemas that go to the chat completions of OpenAI. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import type { Schema } from "effect"
import { Effect, Layer } from "effect"
import { chat, modelOf } from "../_support/carelessServers.ts"
import { fakeNetwork, respond } from "../../../_support/network.ts"

describe("schemas go in the strict dialect where they fit it [P301]", () => {
  const closed = {
    type: "object",
    properties: { q: { type: "string" } },
    required: ["q"],
    additionalProperties: false
  }
  const optional = { ...closed, required: [] }
  const nullable = { ...closed, properties: { q: { anyOf: [{ type: "string" }, { type: "null" }] } } }
  const loose = { type: "object", properties: { q: { type: "string" } } }
  const sentBy = (of: string, schema: Schema.JsonObject, keepsNulls: boolean) =>
    Effect.gen(function* () {
      const network = fakeNetwork([respond(400)])
      const request: Model.Request = {
        messages: [Message.user("q")],
        tools: [{ name: "w", description: "d", parameters: schema, ...(keepsNulls ? { keepsNulls } : {}) }],
        toolChoice: "auto",
        output: { name: "o", schema }
      }
      const asked = Effect.flatMap(Model.Model, (model) => model.generate(request))
      yield* Effect.exit(Effect.provide(asked, Layer.provide(modelOf(of), network.layer)))
      const { response_format, tools } = JSON.parse(network.sent[0]?.body ?? "")
      return { format: response_format.json_schema, fn: tools[0].function }
    })
  const cases: ReadonlyArray<readonly [string, string, Schema.JsonObject, boolean, object, object]> = [
    ["as it is", chat, closed, false, { schema: closed, strict: true }, { parameters: closed, strict: true }],
    [
      "with null for absence",
      chat,
      optional,
      false,
      { schema: nullable, strict: true },
      { parameters: nullable, strict: true }
    ],
    ["but where null is a value", chat, optional, true, { schema: nullable, strict: true }, { parameters: optional }],
    ["but where it does not fit", chat, loose, false, { schema: loose }, { parameters: loose }],
    ["but not for others", "openrouter/openai-chat", closed, false, { schema: closed }, { parameters: closed }]
  ]
  for (const [title, of, schema, keepsNulls, format, fn] of cases) {
    it.effect(title, () =>
      Effect.gen(function* () {
        const sent = yield* sentBy(of, schema, keepsNulls)
        assert.deepStrictEqual(sent.format, { name: "o", ...format })
        assert.deepStrictEqual(sent.fn, { name: "w", description: "d", ...fn })
      })
    )
  }
})
