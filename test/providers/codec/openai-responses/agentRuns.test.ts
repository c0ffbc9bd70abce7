/** Agents on OpenAI's responses, from the first request to the answer. */
import { assert } from "@effect/vitest"
import { Agent, Skill, Tool } from "@kintsugi/core"
import { OpenAi } from "@kintsugi/providers"
import type * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import { ConfigProvider, Effect, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { it } from "../../../_support/run.ts"
import { call, events, type Item, message, reasoning, response } from "./_support/responses.ts"
import { event, fakeNetwork, failureOf, generate, key, respond } from "../../../_support/network.ts"

/** A model that gives these responses, and what it was sent. */
const playing = (
  isStreamed: boolean,
  responses: ReadonlyArray<Item>,
  options: Parameters<typeof OpenAiResponses.make>[1] = {}
) => {
  const network = fakeNetwork(
    responses.map((whole) => respond(200, isStreamed ? events(whole).map(event).join("") : whole))
  )
  const layer = OpenAi.layerResponses({ model: "gpt-x", apiKey: Redacted.make(key), ...options })
  const bodies = () => network.sent.map(({ body }) => JSON.parse(body))
  return { ...network, bodies, model: Layer.provide(layer, network.layer) }
}

const Found = Schema.Struct({ count: Schema.Finite, note: Schema.optionalKey(Schema.String) })

const search = Tool.make("search", {
  description: "Searches.",
  parameters: Schema.Struct({ q: Schema.String, limit: Schema.optionalKey(Schema.Finite) }),
  success: Schema.String,
  run: ({ limit, q }) => Effect.succeed(limit === undefined ? `all of ${q}` : `${limit} of ${q}`)
})

const agent = Agent.make("finder", {
  output: Found,
  skills: [Skill.make("find", { description: "Finds.", tools: [search] })]
})

it.run(
  "an agent thinks, calls tools, and answers: its thoughts go back before their calls, and a call that was cut off is not run [P1002]",
  (run) =>
    Effect.gen(function* () {
      const thought = reasoning("rs_1", "I look.")
      const calls = [call("a", '{"q":"cranes","limit":null}'), call("b", '{"q":"frogs","limit":2}')]
      const answer = message('{"count":3,"note":null}')
      const cut = response([call("c", '{"q":"cra', { status: "incomplete" })], {
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" }
      })
      const { bodies, model, sent } = playing(run.isStreamed, [cut, response([thought, ...calls]), response([answer])])
      assert.deepStrictEqual(yield* run(agent, "go").pipe(Effect.provide(model)), { count: 3 })
      assert.deepStrictEqual(
        sent.map(({ url }) => url),
        Array.from({ length: 3 }, () => "https://api.openai.com/v1/responses")
      )
      const [first, second, third] = bodies()
      assert.isTrue(first.tools[0].strict)
      assert.deepStrictEqual(first.tools[0].parameters.required, ["q", "limit"])
      assert.isTrue(first.text.format.strict)
      const [called, { output, ...result }, ...none] = second.input.slice(first.input.length)
      assert.deepStrictEqual(
        [called, result, ...none],
        [
          { type: "function_call", id: "fc_c", call_id: "call_c", name: "search", arguments: '{"q":"cra' },
          { type: "function_call_output", call_id: "call_c" }
        ]
      )
      assert.match(output, /^ERROR: .*was not run/)
      assert.deepStrictEqual(third.input.slice(second.input.length), [
        thought,
        {
          type: "function_call",
          id: "fc_a",
          call_id: "call_a",
          name: "search",
          arguments: '{"q":"cranes","limit":null}'
        },
        { type: "function_call", id: "fc_b", call_id: "call_b", name: "search", arguments: '{"q":"frogs","limit":2}' },
        { type: "function_call_output", call_id: "call_a", output: "all of cranes" },
        { type: "function_call_output", call_id: "call_b", output: "2 of frogs" }
      ])
    })
)

it.effect("a model by its name needs nothing but the environment", () =>
  Effect.gen(function* () {
    const sent: Array<{ readonly url: string; readonly headers: Headers; readonly body: Item }> = []
    const serving: typeof fetch = (input, init) => {
      const body = new TextDecoder().decode(init?.body as Uint8Array)
      sent.push({ url: String(input), headers: new Headers(init?.headers), body: JSON.parse(body) })
      return Promise.resolve(Response.json(response([message("hello")])))
    }
    const generateWith = (values: Readonly<Record<string, string>>) =>
      generate.pipe(
        Effect.provide(OpenAi.responses("gpt-5", { reasoning: "low", organization: "org" })),
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(values)),
        Effect.provideService(FetchHttpClient.Fetch, serving)
      )
    yield* generateWith({ OPENAI_API_KEY: key, OPENAI_BASE_URL: "https://proxy.test/v1/" })
    yield* generateWith({ OPENAI_API_KEY: key })
    assert.deepStrictEqual(
      sent.map(({ url }) => url),
      ["https://proxy.test/v1/responses", "https://api.openai.com/v1/responses"]
    )
    assert.deepInclude(sent[0]?.body, { model: "gpt-5", reasoning: { effort: "low" }, store: false })
    assert.strictEqual(sent[0]?.headers.get("authorization"), `Bearer ${key}`)
    assert.strictEqual(sent[0]?.headers.get("openai-organization"), "org")
    const error = failureOf(yield* Effect.exit(generateWith({})))
    assert.strictEqual(error._tag, "ConfigError")
  })
)
