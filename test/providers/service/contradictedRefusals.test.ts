/** A provider that refuses what the table or the layer allows: the error says so, and says it of nothing else. */
import { assert, describe, it } from "@effect/vitest"
import { Message, Model } from "@kintsugi/core"
import { Anthropic, OpenAi } from "@kintsugi/providers"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"
import { event, fakeNetwork, type Reaction, respond } from "../../_support/network.ts"
import { specOf } from "../_support/toolSpecs.ts"

const chosen = { apiKey: Redacted.make("k"), transport: { retry: false } } as const
const plain: Model.Request = {
  messages: [Message.user("hi")],
  tools: [specOf("search", Schema.Struct({}))],
  toolChoice: "auto"
}

type AnyLayer = ReturnType<typeof OpenAi.layer>

const failing = (layer: AnyLayer, reaction: Reaction, asked = plain) =>
  Effect.flip(Effect.flatMap(Model.Model, (model) => model.generate(asked))).pipe(
    Effect.provide(Layer.provide(layer, fakeNetwork(reaction).layer))
  )
const failingStreamed = (layer: AnyLayer, reaction: Reaction, asked = plain) =>
  Effect.flip(Effect.flatMap(Model.Model, (model) => Stream.runDrain(model.stream(asked)))).pipe(
    Effect.provide(Layer.provide(layer, fakeNetwork(reaction).layer))
  )

const claude = (options: Partial<Parameters<typeof Anthropic.layer>[0]>) =>
  Anthropic.layer({ ...chosen, model: "claude-sonnet-4-6", ...options })
const refusing = (message: string, status = 400) =>
  respond(status, { type: "error", error: { type: "invalid_request_error", message } })

const inTable = "which the table of capabilities allows"
const inLayer = "which the option capabilities of the layer allows: correct it there"

describe("a refusal of what the capabilities allow", () => {
  it.effect("is contradicted in the error, which keeps its class and facts [P1410]", () =>
    Effect.gen(function* () {
      const capabilities = { toolChoice: ["required"] } as const
      const cases: ReadonlyArray<readonly [string, string, Parameters<typeof claude>[0]]> = [
        ["sampling", "`temperature` is not supported for this model", { temperature: 0 }],
        ["sampling", "Bad request. `top_p` is deprecated for this model.", { topP: 0.5 }],
        ["sampling", "top_k: Extra inputs are not permitted", { topK: 5 }],
        ["sampling", "Unknown parameter: 'temperature'.", { temperature: 0 }],
        ["sampling", "Unrecognized request argument supplied: temperature", { temperature: 0 }],
        ["sampling", "temperature is not supported with claude-sonnet-4-6", { temperature: 0 }],
        ["toolChoice", 'tool_choice: type "any" is not supported', { toolChoice: "required", capabilities }],
        ["reasoning", "effort 'high' is not supported", { reasoning: "high" }],
        ["reasoning", '"thinking.type.enabled" is not supported for this model', { reasoning: { maxTokens: 2000 } }],
        ["reasoning", "This model does not support thinking.type: disabled", { reasoning: "none" }]
      ]
      for (const [option, text, asked] of cases) {
        const error = yield* failing(claude(asked), refusing(text))
        assert.include(["InvalidRequestError", "CapabilityMismatchError"], error._tag)
        const what =
          asked.capabilities === undefined
            ? `${inTable} for claude-4.6: override it with the option capabilities of the layer`
            : inLayer
        assert.include(
          error.message,
          `Model 'claude-sonnet-4-6' of anthropic refuses its ${option}, ${what}`,
          error.message
        )
        assert.include(error.message, text.replace(/^Bad.*?\. /, ""))
        assert.deepInclude(error, { status: 400, model: "claude-sonnet-4-6", provider: "anthropic" })
      }
    })
  )

  it.effect("is contradicted within a body of 200, in a stream, and of a reply in the background [P1410]", () =>
    Effect.gen(function* () {
      const message = "Unsupported parameter: 'temperature' is not supported with this model."
      const body = {
        error: { message, type: "invalid_request_error", param: "temperature", code: "unsupported_parameter" }
      }
      const asked = { ...chosen, model: "gpt-5.2", temperature: 0 }
      const chat = OpenAi.layer(asked)
      const background = OpenAi.layerResponses({ ...asked, background: true })
      const job: Message.Assistant = {
        role: "assistant",
        content: [
          { type: "provider-item", kind: "background_job", opaque: { provider: "openai", data: { id: "resp_1" } } }
        ],
        paused: true
      }
      const going = { ...plain, messages: [...plain.messages, job] }
      const streamed = respond(200, event(body), { "content-type": "text/event-stream" })
      for (const error of [
        yield* failing(chat, respond(200, body)),
        yield* failingStreamed(chat, respond(400, body)),
        yield* failingStreamed(chat, streamed),
        yield* failing(background, respond(400, body), going),
        yield* failingStreamed(background, respond(400, body), going)
      ]) {
        assert.include(error.message, `refuses its sampling, ${inTable} for gpt-5.2`)
      }
    })
  )
})

describe("a refusal is told as it is", () => {
  it.effect("of an option that was not sent [P1410]", () =>
    Effect.gen(function* () {
      const temperature = "`temperature` is not supported for this model"
      const choice = { capabilities: { toolChoice: ["required"] } } as const
      const errors = [
        yield* failing(claude({}), refusing(temperature)),
        yield* failing(claude(choice), refusing("tool_choice is not supported")),
        yield* failing(claude({ ...choice, toolChoice: "auto" }), refusing("tool_choice is not supported")),
        yield* failing(claude({}), refusing("thinking is not supported")),
        // asked for and left out: the table does not allow it
        yield* failing(claude({ model: "claude-opus-5-5", temperature: 0 }), refusing(temperature)),
        yield* failing(claude({ extra: { temperature: 0 } }), refusing(temperature))
      ]
      for (const { message } of errors) {
        assert.notInclude(message, inTable)
        assert.notInclude(message, inLayer)
      }
    })
  )

  it.effect("of what neither the table nor the layer knows [P1410]", () =>
    Effect.gen(function* () {
      const asked = { temperature: 0, toolChoice: "required", reasoning: "extreme" } as const
      for (const layer of [
        claude({ ...asked, model: "claude-x" }),
        claude({ ...asked, model: "claude-x", capabilities: { contextWindow: 9000 } })
      ]) {
        for (const option of ["temperature", "tool_choice", "effort"]) {
          const { message } = yield* failing(layer, refusing(`${option} is not supported for this model`))
          assert.notInclude(message, "allows")
        }
      }
      const word = yield* failing(claude({ reasoning: "extreme" }), refusing("effort 'extreme' is not supported"))
      assert.notInclude(word.message, "allows")
    })
  )

  it.effect("that is about a value, a transcript or something else, and with another status [P1410]", () =>
    Effect.gen(function* () {
      const asked = { model: "claude-sonnet-4-5", reasoning: { maxTokens: 2000 } } as const
      const texts = [
        "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation",
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        // the words of a refusal stand in another sentence
        "The image is not supported. See the page about thinking",
        "messages: too few",
        // it is refused beside something else
        "thinking.budget_tokens is not supported with thinking type adaptive",
        "This model does not support extended thinking with images; images are not allowed beside thinking"
      ]
      for (const text of texts) {
        const { message } = yield* failing(claude(asked), refusing(text))
        assert.notInclude(message, inTable, text)
      }
      const sampling = { temperature: 0 }
      for (const reaction of [
        refusing("temperature: range: 0..1"),
        respond(401, { type: "error", error: { type: "authentication_error", message: "temperature not supported" } })
      ]) {
        assert.notInclude((yield* failing(claude(sampling), reaction)).message, inTable)
      }
    })
  )
})
