/**
 * What Azure's content filters tell: typed fields of the error, of a refused prompt and of a reply that was cut off. The
 * bodies are those of Microsoft's pages and of public reports (openai-agents-python#806), looked up on 2026-11-26.
 */
import { assert, describe, it } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import * as LlmError from "@kintsugi/core/LlmError"
import { OpenAi } from "@kintsugi/providers"
import { Effect, type Exit, Redacted, Schema, Stream } from "effect"
import {
  body,
  event,
  failsWith,
  fakeNetwork,
  finished,
  generate,
  type Reaction,
  respond,
  respondWith,
  streamText,
  textChunk
} from "../../_support/network.ts"

const azure = { baseUrl: "https://x.openai.azure.com/openai/v1", model: "gpt-x", apiKey: Redacted.make("k") } as const

const chat = OpenAi.layer(azure)
const responses = OpenAi.layerResponses(azure)

const refusedPrompt = {
  error: {
    message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    type: null,
    param: "prompt",
    code: "content_filter",
    status: 400,
    innererror: {
      code: "ResponsibleAIPolicyViolation",
      content_filter_result: {
        hate: { filtered: true, severity: "high" },
        jailbreak: { filtered: false, detected: false },
        self_harm: { filtered: false, severity: "safe" },
        custom_blocklists: [{ filtered: true, id: "names" }]
      }
    }
  }
}

const ofPrompt: LlmError.ContentFilteredError["filters"] = [
  { of: "prompt", category: "hate", isFiltered: true, severity: "high" },
  { of: "prompt", category: "jailbreak", isFiltered: false, isDetected: false },
  { of: "prompt", category: "self_harm", isFiltered: false, severity: "safe" },
  { of: "prompt", category: "custom_blocklists", isFiltered: true, id: "names" }
]

const safe = { violence: { filtered: false, severity: "safe" } }
const violent = {
  violence: { filtered: true, severity: "medium" },
  protected_material_code: { filtered: false, detected: true, citation: { URL: "u", license: "MIT" } },
  custom_blocklists: { filtered: true, details: [{ filtered: true, id: "names" }] }
}

const ofReply: LlmError.ContentFilteredError["filters"] = [
  { of: "prompt", category: "violence", isFiltered: false, severity: "safe" },
  { of: "reply", category: "violence", isFiltered: true, severity: "medium" },
  { of: "reply", category: "protected_material_code", isFiltered: false, isDetected: true },
  { of: "reply", category: "custom_blocklists", isFiltered: true, id: "names" }
]

const prompt_filter_results = [{ prompt_index: 0, content_filter_results: safe }]

const chunk = (finish_reason: string | null, content_filter_results: object, delta: object = {}, more: object = {}) =>
  event({ choices: [{ index: 0, delta, finish_reason, content_filter_results }], ...more })

const filtered = (exit: Exit.Exit<unknown, LlmError.LlmError>) => failsWith(exit, LlmError.ContentFilteredError)

const over = <A, E, R>(layer: typeof chat, call: Effect.Effect<A, E, R>, reaction: Reaction) =>
  Effect.asVoid(call).pipe(Effect.provide(layer), Effect.provide(fakeNetwork([reaction]).layer))

describe("a refused prompt", () => {
  for (const [name, layer] of Object.entries({ chat, responses })) {
    it.effect(`has what the filters found, whole and streamed, in ${name} [P1405]`, () =>
      Effect.gen(function* () {
        const streamed = Effect.flatMap(streamText, ({ exit }) => exit)
        for (const call of [Effect.asVoid(generate), Effect.asVoid(streamed)]) {
          const error = filtered(yield* finished(over(layer, call, respond(400, refusedPrompt))))
          assert.deepInclude(error, { kind: "filter", status: 400, isRetryable: false })
          assert.deepStrictEqual(error.filters, ofPrompt)
        }
      })
    )
  }

  it("is written and read without a loss, and so is an error without filters [P1405 L1101]", () => {
    const codec = Schema.toCodecJson(LlmError.LlmError)
    for (const filters of [ofPrompt, undefined]) {
      const given = filters === undefined ? {} : { filters }
      const error = LlmError.ContentFilteredError.make({ model: "m", ...given })
      const back = Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeSync(codec)(error))))
      assert.deepStrictEqual(back instanceof LlmError.ContentFilteredError ? back.filters : null, filters)
    }
  })
})

describe("a reply that a filter cut off", () => {
  it.effect("has what the filters found, from all chunks, behind the text before it [P1405]", () =>
    Effect.gen(function* () {
      const chunks = [
        event({ choices: [], prompt_filter_results }),
        chunk(null, safe, { role: "assistant", content: "" }),
        chunk(null, {}, { content: "The " }),
        textChunk("end"),
        // the filters of a stream that is not held back come late, and once more
        chunk(null, violent, {}),
        chunk("content_filter", safe)
      ]
      const { exit, text } = yield* streamText.pipe(
        Effect.provide(chat),
        Effect.provide(fakeNetwork([respondWith(200, () => body([...chunks, event("[DONE]")]))]).layer)
      )
      assert.strictEqual(text, "The end")
      assert.deepStrictEqual(filtered(exit).filters, ofReply)
    })
  )

  it.effect("has them in a whole reply, and in a response, whole and streamed [P1405]", () =>
    Effect.gen(function* () {
      const message = { role: "assistant", content: "" }
      const choice = { index: 0, finish_reason: "content_filter", message, content_filter_results: violent }
      const whole = respond(200, { choices: [choice], prompt_filter_results })
      assert.deepStrictEqual(filtered(yield* finished(over(chat, generate, whole))).filters, ofReply)
      const response = {
        status: "incomplete",
        incomplete_details: { reason: "content_filter" },
        output: [],
        content_filters: [
          { blocked: false, source_type: "prompt", content_filter_results: safe },
          { blocked: true, source_type: "completion", content_filter_results: violent }
        ]
      }
      assert.deepStrictEqual(
        filtered(yield* finished(over(responses, generate, respond(200, response)))).filters,
        ofReply
      )
      const ended = event({ type: "response.incomplete", response })
      const streamed = Effect.flatMap(streamText, ({ exit }) => exit)
      const reaction = respondWith(200, () => body([ended]))
      assert.deepStrictEqual(filtered(yield* finished(over(responses, streamed, reaction))).filters, ofReply)
    })
  )

  it.effect("has none if the provider tells none, and odd results are passed over [P1405]", () =>
    Effect.gen(function* () {
      const odd = { hate: null, violence: { filtered: "yes" }, error: { code: "content_filter_error" }, x: [1, null] }
      for (const results of [undefined, {}, odd, [], "no"]) {
        const message = { role: "assistant", content: "" }
        const choice = { index: 0, finish_reason: "content_filter", message, content_filter_results: results }
        const error = filtered(yield* finished(over(chat, generate, respond(200, { choices: [choice] }))))
        assert.isFalse("filters" in error && error.filters !== undefined)
      }
    })
  )

  it.effect("ends a run with the same fields, streamed too [P1405]", () =>
    Effect.gen(function* () {
      const agent = Agent.make("worker", { model: chat })
      for (const run of [Effect.asVoid(agent("go")), Stream.runDrain(agent.stream("go"))]) {
        const network = fakeNetwork([respond(400, refusedPrompt)])
        const error = yield* Effect.flip(Effect.provide(run, network.layer))
        assert.deepStrictEqual("filters" in error ? error.filters : undefined, ofPrompt)
      }
    })
  )
})

it.effect("what the filters tell repeats no secret, and is short [P1405 P202]", () =>
  Effect.gen(function* () {
    const secret = `sk-${"abcdefgh01234567".repeat(3)}`
    const results = {
      [secret]: { filtered: true, severity: secret },
      custom_blocklists: [{ filtered: true, id: secret }]
    }
    const long = { ["x".repeat(5_000)]: { filtered: true, severity: "y".repeat(5_000) } }
    const reaction = respond(400, {
      error: { code: "content_filter", innererror: { content_filter_result: { ...results, ...long } } }
    })
    const error = filtered(yield* finished(over(chat, generate, reaction)))
    assert.strictEqual(error.filters?.length, 3)
    assert.notInclude(JSON.stringify(error), "abcdefgh")
    assert.isBelow(JSON.stringify(error.filters).length, 1_000)
  })
)

it.effect("a server of ever new categories fills no memory, and takes no time that grows with them [P1405 P1390]", () =>
  Effect.gen(function* () {
    const chunks = Array.from({ length: 2_000 }, (_, at) => chunk(null, { [`category ${at}`]: { filtered: true } }))
    const { exit } = yield* streamText.pipe(
      Effect.provide(chat),
      Effect.provide(fakeNetwork([respondWith(200, () => body([...chunks, chunk("content_filter", {})]))]).layer)
    )
    assert.strictEqual(filtered(exit).filters?.length, 100)
  })
)
