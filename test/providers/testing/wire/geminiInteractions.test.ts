/** Gemini's Interactions, which no model of this package speaks: requests, replies, streams and jobs as Google documents them. */
import { assert, describe, it } from "@effect/vitest"
import { Message, Usage } from "@kintsugi/core"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Ref } from "effect"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"
import { asked, dataIn } from "./_support/asked.ts"

const usage = Usage.make({ inputTokens: 62, outputTokens: 468, reasoningTokens: 297 })

const reply: Wire.BrainReply = {
  content: [
    { type: "reasoning", text: "It may be sunny." },
    Message.text("I look."),
    { type: "tool-call", id: "un6k8t18", name: "get_weather", arguments: { location: "San Francisco, CA" } }
  ],
  usage
}

const serving = (of: Wire.BrainReply = reply, rules: Wire.Rules = {}, faults: ReadonlyArray<Fault.Fault> = []) =>
  Effect.gen(function* () {
    const heard = yield* Ref.make<Wire.BrainRequest | undefined>(undefined)
    const brain: Wire.Brain = (request) => Effect.as(Ref.set(heard, request), of)
    const { url } = yield* LoopbackServer.make(Fault.inFront(faults, AnyWire.handler(brain, rules)))
    return {
      heard: Effect.map(Ref.get(heard), (request) => {
        assert.isDefined(request)
        return request
      }),
      create: (body: object, version = "v1beta") => asked(`${url}/${version}/interactions`, { model: "m", ...body }),
      look: (id: unknown, query = "") => asked(`${url}/v1beta/interactions/${String(id)}${query}`),
      cancel: (id: unknown) => asked(`${url}/v1beta/interactions/${String(id)}/cancel`, {})
    }
  })

const tools = [
  {
    type: "function",
    name: "get_weather",
    description: "Gets the weather.",
    parameters: { type: "object", properties: { location: { type: "string" } } }
  },
  { type: "google_search" }
]

describe("a reply", () => {
  it.live("is an interaction with steps, which waits for the result of its call", () =>
    Effect.gen(function* () {
      const { create } = yield* serving()
      const { body } = yield* create({ input: "How is the weather?", tools })
      const { created, id, updated, ...rest } = body
      assert.match(String(id), /^v1_/)
      assert.match(String(created), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      assert.strictEqual(updated, created)
      const { signature } = (body["steps"] as ReadonlyArray<{ readonly signature?: string }>)[0] ?? {}
      assert.deepStrictEqual(rest, {
        object: "interaction",
        status: "requires_action",
        model: "m",
        steps: [
          { type: "thought", signature, summary: [{ text: "It may be sunny.", type: "text" }] },
          { type: "model_output", content: [{ text: "I look.", type: "text" }] },
          { type: "function_call", id: "un6k8t18", name: "get_weather", arguments: { location: "San Francisco, CA" } }
        ],
        usage: {
          total_tokens: 530,
          total_input_tokens: 62,
          total_output_tokens: 171,
          total_thought_tokens: 297,
          total_cached_tokens: 0
        }
      })
    })
  )

  it.live("has the items of Gemini as they are, and none of other providers", () =>
    Effect.gen(function* () {
      const search = { type: "google_search_call", id: "g", arguments: { queries: ["q"] } }
      const item = (provider: string, data: Message.Opaque["data"]) =>
        ({ type: "provider-item", kind: "google_search_call", opaque: { provider, data } }) as const
      const { create } = yield* serving({
        content: [item("gemini", search), item("gemini", null), item("openai", search), Message.text("fine")]
      })
      const { body } = yield* create({ input: "Hi" })
      assert.deepStrictEqual(body["steps"], [
        search,
        { type: "model_output", content: [{ type: "text", text: "fine" }] }
      ])
    })
  )

  it.live("ends as the docs name it", () =>
    Effect.gen(function* () {
      const content = [Message.text("fine")]
      for (const [finish, status] of [
        ["stop", "completed"],
        ["length", "incomplete"]
      ] as const) {
        const { create } = yield* serving({ content, finish })
        assert.include((yield* create({ input: "Hi" }, "v1")).body, { status })
      }
    })
  )
})

/** As the guides on streaming, thinking and function calling show them, but for ids and words. */
const documented = [
  `{"interaction":{"id":"v1_1","status":"in_progress","object":"interaction","model":"m"},"event_type":"interaction.created"}`,
  `{"interaction_id":"v1_1","status":"in_progress","event_type":"interaction.status_update"}`,
  `{"index":0,"step":{"type":"thought"},"event_type":"step.start"}`,
  `{"index":0,"delta":{"content":{"text":"It may","type":"text"},"type":"thought_summary"},"event_type":"step.delta"}`,
  `{"index":0,"delta":{"signature":"…","type":"thought_signature"},"event_type":"step.delta"}`,
  `{"index":0,"event_type":"step.stop"}`,
  `{"index":1,"step":{"type":"model_output"},"event_type":"step.start"}`,
  `{"index":1,"delta":{"text":"I look","type":"text"},"event_type":"step.delta"}`,
  `{"index":1,"event_type":"step.stop"}`,
  `{"index":2,"step":{"type":"function_call","id":"un6k8t18","name":"get_weather","arguments":{}},"event_type":"step.start"}`,
  `{"index":2,"delta":{"type":"arguments_delta","arguments":"{\\"loca"},"event_type":"step.delta"}`,
  `{"index":2,"event_type":"step.stop"}`
].map((text) => JSON.parse(text) as unknown)

describe("a stream", () => {
  it.live("has the events of the docs, in their order", () =>
    Effect.gen(function* () {
      const { create } = yield* serving()
      const { text } = yield* create({ input: "How is the weather?", tools, stream: true })
      const events = dataIn(text).map((event) =>
        JSON.parse(JSON.stringify({ ...event, event_id: undefined }).replace(/"signature":"[^"]+"/, '"signature":"…"'))
      )
      assert.deepInclude(events.at(-1), { event_type: "interaction.completed" })
      assert.deepNestedInclude(events.at(-1), {
        "interaction.status": "requires_action",
        "interaction.usage.total_thought_tokens": 297
      })
      assert.notDeepNestedInclude(events.at(-1), { "interaction.steps": [] })
      let at = -1
      for (const event of documented) {
        const found = events.findIndex(
          (one, index) => index > at && JSON.stringify(sorted(one)) === JSON.stringify(sorted(event))
        )
        assert.isAbove(found, at, JSON.stringify(event))
        at = found
      }
      const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)
      assert.deepStrictEqual(
        names.slice(0, -1),
        events.map((event) => event["event_type"])
      )
      assert.match(text, /\n\nevent: done\ndata: \[DONE\]\n\n$/)
      const parts = events.flatMap((event) =>
        event["delta"]?.type === "arguments_delta" ? [event["delta"].arguments] : []
      )
      assert.deepStrictEqual(JSON.parse(parts.join("")), { location: "San Francisco, CA" })
    })
  )

  it.live("of a job goes on after an event, by its id", () =>
    Effect.gen(function* () {
      const { create, look } = yield* serving()
      const { text } = yield* create({ input: "Hi", background: true, stream: true })
      const ids = (of: string) => dataIn(of).map(({ event_id }) => event_id)
      assert.deepStrictEqual(ids(text).slice(0, 2), ["event_0", "event_1"])
      const { text: rest } = yield* look("v1_1", "?stream=true&last_event_id=event_3")
      assert.deepStrictEqual(ids(rest), ids(text).slice(4))
      assert.strictEqual((yield* look("v1_1", "?stream=true")).text, text)
    })
  )

  it.live("breaks off with an error event", () =>
    Effect.gen(function* () {
      const failing = { failure: { type: "overloaded" } } as const
      const { create } = yield* serving(reply, { jobs: failing })
      const { text } = yield* create({ input: "Hi", background: true, stream: true })
      assert.deepStrictEqual(dataIn(text).at(-1), {
        event_type: "error",
        error: { message: "The model is overloaded. Please try again later.", code: "unavailable" },
        event_id: "event_2"
      })
    })
  )
})

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, field]) => [name, sorted(field)])
  )
}

describe("a request", () => {
  it.live("is read in this library's terms", () =>
    Effect.gen(function* () {
      const { create, heard } = yield* serving()
      const input = [
        {
          type: "user_input",
          content: [
            { type: "text", text: "Look." },
            { type: "image", data: "AAAA", mime_type: "image/png" }
          ]
        },
        { type: "thought", signature: "s", summary: [{ type: "text", text: "Hm." }] },
        { type: "model_output", content: [{ type: "text", text: "I do." }] },
        { type: "google_search_call", id: "g", arguments: { queries: ["q"] } },
        { type: "function_call", id: "c", name: "get_weather", arguments: { location: "x" } },
        {
          type: "function_result",
          call_id: "c",
          name: "get_weather",
          result: [{ type: "text", text: "sunny" }],
          is_error: true
        }
      ]
      const allowed = { allowed_tools: { mode: "any", tools: ["get_weather"] } }
      const more = { system_instruction: "Be kind.", tools, generation_config: { tool_choice: allowed } }
      assert.strictEqual((yield* create({ input, ...more })).status, 200)
      const request = yield* heard
      assert.deepInclude(request, { format: "gemini-interactions", model: "m", toolChoice: { tool: "get_weather" } })
      assert.deepStrictEqual(
        request.tools.map(({ name }) => name),
        ["get_weather"]
      )
      assert.deepStrictEqual(request.messages, [
        Message.system("Be kind."),
        { role: "user", content: [Message.text("Look."), Message.image("image/png", { data: "AAAA" })] },
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "Hm." },
            Message.text("I do."),
            { type: "provider-item", kind: "google_search_call", opaque: { provider: "gemini", data: null } },
            { type: "tool-call", id: "c", name: "get_weather", arguments: { location: "x" } }
          ]
        },
        { role: "tool", callId: "c", text: "sunny", isError: true }
      ])
    })
  )

  it.live("goes on from an earlier interaction, whose instructions it does not inherit", () =>
    Effect.gen(function* () {
      const { create, heard } = yield* serving()
      const { body } = yield* create({ input: "How is the weather?", tools, system_instruction: "Be kind." })
      const result = { type: "function_result", call_id: "un6k8t18", name: "get_weather", result: { sky: "blue" } }
      const next = { input: [result], tools, previous_interaction_id: body["id"], store: false }
      const { body: second } = yield* create(next)
      assert.strictEqual(second["previous_interaction_id"], body["id"])
      assert.deepStrictEqual((yield* heard).messages, [
        Message.user("How is the weather?"),
        { role: "assistant", content: reply.content },
        { role: "tool", callId: "un6k8t18", text: '{"sky":"blue"}', isError: false }
      ])
      // The second was not stored.
      const { status, text } = yield* create({ input: "And now?", previous_interaction_id: second["id"] })
      assert.strictEqual(status, 400)
      assert.include(text, `Interaction ${String(second["id"])} was not found.`)
    })
  )

  const call = { type: "function_call", id: "c", name: "f", arguments: {} }
  const result = { type: "function_result", call_id: "c", result: "x" }
  it.live.each([
    ["no model", { model: undefined, input: "Hi" }, /Either 'model' or 'agent'/],
    ["both a model and an agent", { agent: "a", input: "Hi" }, /Only one of 'model' and 'agent'/],
    ["no input", {}, /input/],
    ["turns of the older form", { input: [{ role: "user", content: "Hi" }] }, /input/],
    ["a call without its result", { input: [call] }, /No function result found for function call c\./],
    ["a result without its call", { input: [result] }, /No function call found for function result with call_id c\./],
    ["a job that is not stored", { input: "Hi", background: true, store: false }, /'background' requires/]
  ] as const)("with %s is refused", ([, body, says]) =>
    Effect.gen(function* () {
      const { create } = yield* serving()
      const { body: refusal, status, text } = yield* create(body)
      assert.strictEqual(status, 400)
      assert.deepNestedInclude(refusal, { "error.code": "invalid_request" })
      assert.match(text, says)
    })
  )

  it.live("needs a key and a model that exists", () =>
    Effect.gen(function* () {
      const { create } = yield* serving(reply, { apiKey: "another" })
      assert.strictEqual((yield* create({ input: "Hi" })).status, 400)
      const other = yield* serving(reply, { models: ["n"] })
      const { body, status } = yield* other.create({ input: "Hi" })
      assert.deepStrictEqual([status, (body["error"] as { readonly code: string }).code], [404, "not_found"])
    })
  )
})

describe("an interaction in the background", () => {
  it.live("is in progress, completed, or cancelled", () =>
    Effect.gen(function* () {
      const { cancel, create, look } = yield* serving(
        { content: [Message.text("fine")] },
        { jobs: { polls: ["queued"] } }
      )
      const { body: job } = yield* create({ model: undefined, agent: "deep-research", input: "Hi", background: true })
      assert.deepInclude(job, { status: "in_progress", steps: [], agent: "deep-research" })
      assert.include((yield* look(job["id"])).body, { status: "in_progress" })
      assert.include((yield* look(job["id"])).body, { status: "completed" })
      const { body: other } = yield* create({ input: "Hi", background: true })
      assert.include((yield* cancel(other["id"])).body, { status: "cancelled" })
      assert.include((yield* look(other["id"])).body, { status: "cancelled" })
    })
  )

  it.live("has no further events after it was cancelled amid its stream, and is over behind its last event", () =>
    Effect.gen(function* () {
      const { cancel, create, look } = yield* serving({ content: [Message.text("fine")] }, {}, [Fault.cut(600, "end")])
      const idIn = (text: string) => (dataIn(text)[0]?.["interaction"] as { readonly id: string } | undefined)?.id
      const id = idIn((yield* create({ input: "Hi", background: true, stream: true })).text)
      yield* cancel(id)
      const { text: rest } = yield* look(id, "?stream=true")
      assert.strictEqual(dataIn(rest).length, 2)
      const other = idIn((yield* create({ input: "Hi", background: true, stream: true })).text)
      assert.include((yield* cancel(other)).body, { status: "completed" })
    })
  )

  it.live("has events only if it was created as a stream", () =>
    Effect.gen(function* () {
      const { create, look } = yield* serving({ content: [Message.text("fine")] })
      const { body: job } = yield* create({ input: "Hi", background: true })
      const { body, status } = yield* look(job["id"], "?stream=true")
      assert.strictEqual(status, 400)
      assert.deepNestedInclude(body, {
        "error.code": "invalid_request",
        "error.message": `Interaction ${String(job["id"])} was not created as a stream.`
      })
    })
  )

  it.live("is looked up like each that is stored, and no other", () =>
    Effect.gen(function* () {
      const { create, look } = yield* serving(reply, {
        jobs: { polls: () => "in_progress", failure: { type: "server-error" } }
      })
      const { body } = yield* create({ input: "Hi" })
      assert.deepStrictEqual((yield* look(body["id"])).body, body)
      const { body: unstored } = yield* create({ input: "Hi", store: false })
      assert.strictEqual((yield* look(unstored["id"])).status, 404)
    })
  )
})
