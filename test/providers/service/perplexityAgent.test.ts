/** Perplexity's agent API: the body by its documentation, and replies in the form of its official client. Nothing of it was recorded. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Perplexity } from "@kintsugi/providers"
import { Cause, Effect, Exit, Redacted } from "effect"
import { agentWith, scripted } from "../../_support/dialogue.ts"
import { event, failsWith, fakeNetwork, finished, respond } from "../../_support/network.ts"
import { it as both } from "../../_support/run.ts"
import { collect } from "../_support/replay.ts"
import { answered, exchangeWith, image, output, said, tool } from "./_support/chatRequests.ts"

const chosen = { apiKey: Redacted.make("k"), transport: { retry: false } } as const

const layer = Perplexity.layer({ ...chosen, model: "openai/gpt-5.6-sol" })

const search = {
  type: "search_results",
  queries: ["rain"],
  results: [{ id: 1, url: "https://a.test", title: "A", snippet: "It rains.", source: "web" }]
}

const message = (text: string) => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }]
})

const call = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "look",
  arguments: '{"n":1}',
  status: "completed",
  thought_signature: "c2ln"
}

const usage = {
  input_tokens: 150,
  output_tokens: 20,
  total_tokens: 170,
  input_tokens_details: { cache_read_input_tokens: 50, cache_creation_input_tokens: 10 },
  cost: { currency: "USD", input_cost: 0.001, output_cost: 0.002, tool_calls_cost: 0.005, total_cost: 0.008 }
}

const response = (...items: ReadonlyArray<object>) => ({
  id: "resp_1",
  object: "response",
  created_at: 1_756_800_000,
  model: "openai/gpt-5.6-sol",
  status: "completed",
  output: items,
  usage
})

/** The events of such a response: what its search did, then each item, then all of it. There is no `[DONE]`. */
const streamed = (...items: ReadonlyArray<object>) => {
  const text = (item: object) => ("content" in item ? "It rains." : undefined)
  return [
    { type: "response.created", response: { ...response(), status: "in_progress", usage: undefined } },
    { type: "response.reasoning.started", thought: "Looking this up." },
    { type: "response.reasoning.search_queries", queries: ["rain"], thought: "Searching." },
    { type: "response.reasoning.search_results", results: search.results, usage: { input_tokens: 1 } },
    { type: "response.reasoning.stopped" },
    ...items.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item: "content" in item ? { ...item, content: [] } : item },
      ...(text(item) === undefined
        ? []
        : [
            { type: "response.output_text.delta", output_index, item_id: "msg_1", content_index: 0, delta: "It " },
            { type: "response.output_text.delta", output_index, item_id: "msg_1", content_index: 0, delta: "rains." }
          ]),
      { type: "response.output_item.done", output_index, item }
    ]),
    { type: "response.completed", response: response(...items) }
  ]
    .map((one, sequence_number) => event({ ...one, sequence_number }))
    .join("")
}

describe("Perplexity's agent API", () => {
  it.effect("is sent to its own path, with a search and no field that it does not know [A814]", () =>
    Effect.gen(function* () {
      const { exit, sent } = yield* exchangeWith(
        Perplexity.layer({ ...chosen, model: "perplexity/sonar", maxTokens: 100, reasoning: "low", temperature: 1 })
      )
      assert(Exit.isFailure(exit) && sent !== undefined)
      assert.strictEqual(sent.url, "https://api.perplexity.ai/v1/agent")
      assert.strictEqual(sent.headers["authorization"], "Bearer k")
      assert.deepStrictEqual(JSON.parse(sent.body), {
        model: "perplexity/sonar",
        store: false,
        temperature: 1,
        max_output_tokens: 100,
        reasoning: { effort: "low" },
        input: [{ type: "message", role: "user", content: "hi" }],
        tools: [{ type: "web_search" }]
      })
      const paths = {
        "https://p.test": "https://p.test/v1/agent",
        "https://p.test/v1": "https://p.test/v1/agent",
        "https://p.test/beta/v12/?k=v": "https://p.test/v1/agent?k=v",
        "https://p.test/to/it/v1?k=v&l=w": "https://p.test/to/it/v1/agent?k=v&l=w",
        "https://p.test/v1/mybeta": "https://p.test/v1/mybeta/v1/agent"
      }
      for (const [baseUrl, url] of Object.entries(paths)) {
        const other = yield* exchangeWith(Perplexity.layer({ ...chosen, model: "m", baseUrl }))
        assert.strictEqual(other.sent?.url, url)
      }
    })
  )

  it.effect("takes a preset instead of a model, and a number of tokens for models of Anthropic [A814]", () =>
    Effect.gen(function* () {
      const sentFor = (model: string) =>
        Effect.map(exchangeWith(Perplexity.layer({ ...chosen, model })), ({ sent }) => JSON.parse(sent?.body ?? ""))
      const presets =
        "fast low medium high xhigh wide-research fast-search pro-search deep-research advanced-deep-research"
      for (const name of presets.split(" ")) {
        const { input: _i, ...preset } = yield* sentFor(name)
        assert.deepStrictEqual(preset, { preset: name, store: false })
      }
      assert.strictEqual((yield* sentFor("anthropic/claude-opus-5-5")).max_output_tokens, 8192)
      assert.isUndefined((yield* sentFor("openai/gpt-5.6-sol")).max_output_tokens)
    })
  )

  it.effect("takes calls and results, images, a tool of choice and a schema; files are refused [A814]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork(respond(200, response(message("ok"))))
      const model = yield* Effect.provide(Model.Model, layer).pipe(Effect.provide(network.layer))
      const found: Message.ProviderItem = {
        type: "provider-item",
        kind: "search_results",
        opaque: { provider: "perplexity", data: search }
      }
      const messages = [
        Message.system("be brief"),
        Message.user([Message.text("look"), image({ url: "https://a.test/a.png" })]),
        said(found, Message.text("let me see"), answered("c1"), answered("c2", "denied", "not allowed")),
        Message.user("sure?")
      ]
      yield* model.generate({ messages, tools: [tool], toolChoice: { tool: "search" }, output })
      const body = JSON.parse(network.sent[0]?.body ?? "")
      const called = { type: "function_call", name: "get_weather", arguments: '{"city":"Oslo"}' }
      const result = { type: "function_call_output", name: "get_weather" }
      assert.deepStrictEqual(body.input, [
        { type: "message", role: "system", content: "be brief" },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            { type: "input_image", image_url: "https://a.test/a.png" }
          ]
        },
        { type: "message", role: "assistant", content: "let me see" },
        { ...called, call_id: "c1" },
        { ...called, call_id: "c2" },
        { ...result, call_id: "c1", output: "rain" },
        { ...result, call_id: "c2", output: "ERROR: not allowed" },
        { type: "message", role: "user", content: "sure?" }
      ])
      assert.deepStrictEqual(body.tool_choice, { name: "search" })
      assert.strictEqual(body.response_format.type, "json_schema")
      assert.strictEqual(body.response_format.json_schema.name, "report")
      assert.notProperty(body, "text")
      const file = Message.user([Message.file("application/pdf", { data: "aGk=" })])
      const { exit, sent } = yield* exchangeWith(layer, { messages: [file] })
      assert.strictEqual(failsWith(exit, LlmError.CapabilityMismatchError).capability, "files")
      assert.isUndefined(sent)
    })
  )

  it.effect("leaves the format of the answer to the user's own [A814]", () =>
    Effect.gen(function* () {
      const response_format = { type: "json_schema", json_schema: { name: "mine", schema: { type: "object" } } }
      const own = Perplexity.layer({ ...chosen, model: "m", extra: { response_format, max_steps: 3 } })
      const { sent } = yield* exchangeWith(own, { output })
      const body = JSON.parse(sent?.body ?? "")
      assert.deepStrictEqual(body.response_format, response_format)
      assert.strictEqual(body.max_steps, 3)
    })
  )

  it.effect("waits for no result of Perplexity's own tools beside a call [P1406]", () =>
    Effect.gen(function* () {
      const ran = {
        type: "sandbox_results",
        call_id: "c",
        code: "1",
        language: "python",
        results: [],
        status: "completed"
      }
      const shared = { type: "share_file", call_id: "d", filename: "a.txt" }
      const network = fakeNetwork(respond(200, response(search, ran, shared, call)))
      const reply = yield* Effect.flatMap(Model.Model, (model) =>
        model.generate({ messages: [Message.user("hi")], tools: [tool], toolChoice: "auto" })
      ).pipe(Effect.provide(layer), Effect.provide(network.layer))
      assert.deepStrictEqual(
        reply.content.map((part) => (part.type === "provider-item" ? part.kind : part.type)),
        ["search_results", "sandbox_results", "share_file", "tool-call"]
      )
    })
  )

  both.run("calls tools, and gets its signature back with the call [A114 P1002]", (run) =>
    Effect.gen(function* () {
      const replies = [[search, call], [message("It rains.")]] as const
      const network = fakeNetwork(
        replies.map((items) => respond(200, run.isStreamed ? streamed(...items) : response(...items)))
      )
      const { runs, tool } = scripted("look", Effect.succeed("seen"))
      const text = yield* run(agentWith(tool), "go").pipe(Effect.provide(layer), Effect.provide(network.layer))
      assert.strictEqual(text, "It rains.")
      assert.lengthOf(runs, 1)
      assert.deepStrictEqual(JSON.parse(network.sent[1]?.body ?? "").input.slice(1), [
        { type: "function_call", call_id: "call_1", name: "look", arguments: '{"n":1}', thought_signature: "c2ln" },
        { type: "function_call_output", call_id: "call_1", name: "look", output: "seen" }
      ])
    })
  )

  it.effect("has its sources as an item, its usage and its cost, whole and streamed alike [A114 P703]", () =>
    Effect.gen(function* () {
      const items = [search, message("It rains.")]
      const network = fakeNetwork([respond(200, response(...items)), respond(200, streamed(...items))])
      const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }
      const whole = yield* Effect.flatMap(Model.Model, (model) => model.generate(request)).pipe(
        Effect.provide(layer),
        Effect.provide(network.layer)
      )
      assert.deepStrictEqual(whole.content, [
        { type: "provider-item", kind: "search_results", opaque: { provider: "perplexity", data: search } },
        { type: "text", text: "It rains." }
      ])
      assert.strictEqual(whole.cost, 0.008)
      assert.deepInclude(whole.usage, { inputTokens: 150, cachedInputTokens: 50, cacheWriteTokens: 10 })
      const exit = yield* finished(collect.pipe(Effect.provide(layer), Effect.provide(network.layer)))
      assert(Exit.isSuccess(exit))
      assert.deepStrictEqual(exit.value, whole)
    })
  )

  it.effect("fails with its own error, by status, within a success, and at the end of a stream [A810]", () =>
    Effect.gen(function* () {
      const error = (type: string, code: number, message: string) => ({ error: { message, type, code } })
      const failed = event({ type: "response.failed", sequence_number: 1, ...error("internal_error", 500, "it broke") })
      const cases = [
        [respond(400, error("invalid_model", 400, "no such model")), LlmError.ModelNotFoundError],
        [respond(403, error("forbidden", 403, "the key is blocked")), LlmError.AuthenticationError],
        [respond(429, error("request_rate_limit_exceeded", 429, "slow")), LlmError.RateLimitError],
        [respond(400, error("invalid_request", 400, 'unknown field "stop"')), LlmError.InvalidRequestError],
        [
          respond(200, { ...response(), status: "failed", ...error("internal_error", 500, "it broke") }),
          LlmError.ServerError
        ]
      ] as const
      for (const [reaction, expected] of cases) {
        const network = fakeNetwork([reaction, reaction])
        const exit = yield* finished(
          Effect.flatMap(Model.Model, (model) =>
            model.generate({ messages: [Message.user("hi")], tools: [], toolChoice: "auto" })
          ).pipe(Effect.provide(layer), Effect.provide(network.layer))
        )
        assert(Exit.isFailure(exit))
        assert.isTrue(Cause.squash(exit.cause) instanceof expected, String(exit))
      }
      const network = fakeNetwork(respond(200, failed))
      const exit = yield* finished(collect.pipe(Effect.provide(layer), Effect.provide(network.layer)))
      assert.include(failsWith(exit, LlmError.ServerError).message, "it broke")
    })
  )
})
