/** Requests for the number of tokens: which fields they may have, and what answers them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { received, served, textOf } from "./_support/served.ts"

const anthropic = { "x-api-key": "k", "anthropic-version": "2023-06-01" }
const gemini = { "x-goog-api-key": "k" }

const hello = { role: "user", content: "hello" }

const tokens = { tokens: () => 42 }

interface Counted {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
  readonly answer: object
  readonly refused: ReadonlyArray<string>
  readonly says: (field: string) => string
}

const formats: Readonly<Record<string, Counted>> = {
  anthropic: {
    path: "/v1/messages/count_tokens",
    headers: anthropic,
    body: { model: "m", messages: [hello] },
    answer: { input_tokens: 42 },
    refused: ["max_tokens", "metadata", "stop_sequences", "stream", "temperature", "top_k", "top_p"],
    says: (field) => `${field}: Extra inputs are not permitted`
  },
  gemini: {
    path: "/v1beta/models/m:countTokens",
    headers: gemini,
    body: { contents: [{ parts: [{ text: "hello" }] }] },
    answer: { totalTokens: 42 },
    refused: ["generationConfig", "systemInstruction", "toolConfig", "tools"],
    says: (field) => `Invalid JSON payload received. Unknown name "${field}": Cannot find field.`
  },
  openAi: {
    path: "/v1/responses/input_tokens",
    headers: {},
    body: { model: "m", input: "hello" },
    answer: { object: "response.input_tokens", input_tokens: 42 },
    refused: ["background", "include", "max_output_tokens", "store", "stream", "temperature", "top_p"],
    says: (field) => `Unknown parameter: '${field}'.`
  }
}

describe("a request for the number of tokens", () => {
  for (const [name, { answer, body, headers, path, refused, says }] of Object.entries(formats)) {
    it.effect(`is answered with it, and with no other field of a usual request: ${name}`, () =>
      Effect.gen(function* () {
        const authorization = Redacted.make("Bearer k")
        const sent = (more: object = {}) =>
          served({ ...received(path, { ...body, ...more }, headers), authorization }, undefined, tokens)
        const counted = yield* sent()
        assert.deepStrictEqual(JSON.parse(textOf(counted.answer)), answer)
        assert.isUndefined(counted.asked)
        for (const field of refused) {
          const { answer } = yield* sent({ [field]: {} })
          assert.strictEqual(answer.status, 400, field)
          assert.strictEqual(JSON.parse(textOf(answer)).error.message, says(field))
        }
      })
    )
  }
})
