/** The traps that the wires have in common, each for every provider that it concerns. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Tool from "@kintsugi/core/Tool"
import { Effect, Layer, Schema, Stream } from "effect"
import { type Participant, participants } from "../_support/participants.ts"
import { event, fakeNetwork, respond } from "../../_support/network.ts"

type Tag = LlmError.LlmError["_tag"]

/** One wire, as text: what a stream is made of, and whole bodies. */
interface Wire {
  readonly text: (text: string) => string
  /** A call whose arguments were cut off, or that is whole, as far as the wire shows calls before they are. */
  readonly call: (isCut: boolean) => string
  readonly end: (reason: "stop" | "length") => string
  readonly error: string
  readonly calling: (call: { readonly args?: Schema.Json }, isCut?: boolean) => object
  /** A reply that says nothing of what it used, and one that says nothing with words. */
  readonly uncounted: ReadonlyArray<object>
}

const chatCall = (call: { readonly args?: Schema.Json }) => ({
  index: 0,
  id: "c1",
  type: "function",
  function: { name: "look", ...("args" in call ? { arguments: call.args } : {}) }
})

const chatBody = (message: object, finish_reason: string, more: object = {}) => ({
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "x", ...message }, finish_reason }],
  ...more
})

const chunk = (delta: object, finish_reason: string | null = null) =>
  event({ choices: [{ index: 0, delta, finish_reason }] })

const chat: Wire = {
  text: (content) => chunk({ content }),
  call: (isCut) => chunk({ tool_calls: [chatCall({ args: isCut ? '{"at": ' : "{}" })] }),
  end: (reason) => chunk({}, reason) + event("[DONE]"),
  error: event({ error: { message: "The server had an error", type: "server_error", code: 500 } }),
  calling: (call, isCut = false) =>
    chatBody({ content: null, tool_calls: [chatCall(call)] }, isCut ? "length" : "tool_calls"),
  uncounted: [
    chatBody({}, "stop"),
    chatBody({}, "stop", { usage: null }),
    chatBody({}, "stop", { usage: { prompt_tokens: null, completion_tokens: 0, completion_tokens_details: null } })
  ]
}

const typed = (data: { readonly type: string; readonly [key: string]: unknown }) =>
  `event: ${data.type}\n${event(data)}`

const block = (index: number, content_block: object, ...deltas: ReadonlyArray<object>) =>
  typed({ type: "content_block_start", index, content_block }) +
  deltas.map((delta) => typed({ type: "content_block_delta", index, delta })).join("")

const claude = (content: ReadonlyArray<object>, stop_reason: string, more: object = {}) => ({
  type: "message",
  role: "assistant",
  model: "m",
  content,
  stop_reason,
  ...more
})

const toolUse = { type: "tool_use", id: "c1", name: "look" }

const anthropic: Wire = {
  text: (text) => block(0, { type: "text", text: "" }, { type: "text_delta", text }),
  call: (isCut) =>
    block(1, { ...toolUse, input: {} }, { type: "input_json_delta", partial_json: isCut ? '{"at": ' : "" }),
  end: (reason) =>
    typed({ type: "message_delta", delta: { stop_reason: reason === "stop" ? "end_turn" : "max_tokens" } }) +
    typed({ type: "message_stop" }),
  error: typed({ type: "error", error: { type: "api_error", message: "Internal server error" } }),
  calling: (call, isCut = false) =>
    claude([{ ...toolUse, ...("args" in call ? { input: call.args } : {}) }], isCut ? "max_tokens" : "tool_use"),
  uncounted: [{}, { usage: null }, { usage: { input_tokens: null, output_tokens: 0 } }].map((more) =>
    claude([{ type: "text", text: "x" }], "end_turn", more)
  )
}

const candidate = (parts: ReadonlyArray<object>, finishReason?: string, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, ...(finishReason === undefined ? {} : { finishReason }) }],
  ...more
})

const gemini: Wire = {
  text: (text) => event(candidate([{ text }])),
  call: () => event(candidate([{ functionCall: { name: "look", args: {} } }])),
  end: (reason) => event(candidate([], reason === "stop" ? "STOP" : "MAX_TOKENS")),
  error: event({ error: { code: 500, message: "Internal error encountered.", status: "INTERNAL" } }),
  calling: (call, isCut = false) =>
    candidate([{ functionCall: { name: "look", ...call } }], isCut ? "MAX_TOKENS" : "STOP"),
  uncounted: [{}, { usageMetadata: null }, { usageMetadata: { promptTokenCount: 0, candidatesTokenCount: null } }].map(
    (more) => candidate([{ text: "x" }], "STOP", more)
  )
}

const line = (fields: object) => `${JSON.stringify({ model: "m", created_at: "2026", done: false, ...fields })}\n`

const ollamaCall = (call: { readonly args?: Schema.Json }) => ({
  function: { name: "look", ...("args" in call ? { arguments: call.args } : {}) }
})

const ollama: Wire = {
  text: (content) => line({ message: { content } }),
  call: () => line({ message: { content: "", tool_calls: [ollamaCall({ args: {} })] } }),
  end: (done_reason) => line({ message: { content: "" }, done: true, done_reason }),
  error: '{"error":"llama runner process has terminated"}\n',
  calling: (call, isCut = false) => ({
    message: { content: "", tool_calls: [ollamaCall(call)] },
    done: true,
    done_reason: isCut ? "length" : "stop"
  }),
  uncounted: [{}, { prompt_eval_count: null, eval_count: 0 }].map((more) => ({
    message: { content: "x" },
    done: true,
    done_reason: "stop",
    ...more
  }))
}

const responseCall = (call: { readonly args?: Schema.Json }, isCut = false) => ({
  type: "function_call",
  id: "fc_1",
  call_id: "c1",
  name: "look",
  status: isCut ? "incomplete" : "completed",
  ...("args" in call ? { arguments: call.args } : {})
})

const response = (output: ReadonlyArray<object>, isCut = false, more: object = {}) => ({
  model: "m",
  status: isCut ? "incomplete" : "completed",
  ...(isCut ? { incomplete_details: { reason: "max_output_tokens" } } : {}),
  output,
  ...more
})

const responses: Wire = {
  text: (delta) =>
    typed({ type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "m", delta }),
  call: (isCut) =>
    typed({
      type: "response.output_item.done",
      output_index: 1,
      item: responseCall({ args: isCut ? '{"at": ' : "{}" }, isCut)
    }),
  end: (reason) =>
    typed({
      type: reason === "stop" ? "response.completed" : "response.incomplete",
      response: response([], reason === "length")
    }),
  error: typed({ type: "error", code: "server_error", message: "The server had an error", param: null }),
  calling: (call, isCut = false) => response([responseCall(call, isCut)], isCut),
  uncounted: [
    {},
    { usage: null },
    { usage: { input_tokens: null, output_tokens: 0, output_tokens_details: null } }
  ].map((more) => response([{ type: "message", content: [{ type: "output_text", text: "x" }] }], false, more))
}

const wireOf = ({ name }: Participant): Wire =>
  ({ anthropic, gemini, ollama, "openai-responses": responses })[name] ?? chat

const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

const answering = (participant: Participant, status: number, body: unknown, headers = {}) =>
  Layer.provide(participant.layer, fakeNetwork([respond(status, body, headers)]).layer)

const generate = (participant: Participant, body: unknown, status = 200, headers = {}) =>
  Effect.flatMap(Model.Model, (model) => model.generate(request)).pipe(
    Effect.provide(answering(participant, status, body, headers))
  )

/** The reply or the error of a stream, and what was seen until then. */
const stream = (participant: Participant, body: string, status = 200, headers = {}) => {
  const collector = new Model.Collector()
  return Effect.flatMap(Model.Model, (model) =>
    Stream.runForEach(model.stream(request), (part) => Effect.sync(() => collector.push(part)))
  ).pipe(
    Effect.match({
      onFailure: (error) => ({ error, reply: undefined, seen: collector.partial }),
      onSuccess: () => ({ error: undefined, reply: collector.reply(), seen: collector.partial })
    }),
    Effect.provide(answering(participant, status, body, headers))
  )
}

/** Those who can be called for, or everybody. */
const each = (
  title: string,
  test: (participant: Participant, wire: Wire) => Effect.Effect<void, LlmError.LlmError | Message.Reply>,
  all = participants
) => {
  for (const participant of all) {
    it.effect(`${title}: ${participant.name}`, () => test(participant, wireOf(participant)))
  }
}

const callers = participants.filter(({ capabilities }) => capabilities.tools)

const tagOf = (error: LlmError.LlmError | undefined): Tag | undefined => error?._tag

describe("an end that is none", () => {
  each("a stream without its mark of an end is no success, however much of it came [P504]", (participant, wire) =>
    Effect.gen(function* () {
      for (const sent of [wire.text("half"), wire.text("half") + wire.call(false), ""]) {
        const { error } = yield* stream(participant, sent)
        assert.strictEqual(tagOf(error), "NetworkError", sent)
      }
      const whole = yield* stream(participant, wire.text("all") + wire.end("stop"))
      assert.strictEqual(whole.reply?.finish, "stop")
      assert.strictEqual(whole.seen, "all")
    })
  )

  each(
    "a call that was cut off is never one that could run [P403]",
    (participant, wire) =>
      Effect.gen(function* () {
        const reply = yield* generate(participant, wire.calling({ args: {} }, true))
        assert.strictEqual(reply.finish, "length")
        for (const isCut of [true, false]) {
          const cut = yield* stream(participant, wire.text("I look.") + wire.call(isCut) + wire.end("length"))
          assert.strictEqual(cut.reply?.finish, "length")
          const broken = yield* stream(participant, wire.text("I look.") + wire.call(isCut) + wire.error)
          assert.strictEqual(tagOf(broken.error), "ServerError")
        }
      }),
    callers
  )

  each("what was said before a failure was seen, and the failure is its own error [A810]", (participant, wire) =>
    Effect.gen(function* () {
      const { error, reply, seen } = yield* stream(participant, wire.text("so ") + wire.text("far") + wire.error)
      assert.strictEqual(tagOf(error), "ServerError")
      assert.strictEqual(seen, "so far")
      assert.isUndefined(reply)
    })
  )
})

describe("what is not told", () => {
  const look = Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed("seen")
  })

  each(
    "arguments that are empty, null or missing are an empty object [A114]",
    (participant, wire) =>
      Effect.gen(function* () {
        for (const told of [{}, { args: null }, { args: "" }, { args: {} }, { args: "{}" }]) {
          const [call] = Message.callsOf(yield* generate(participant, wire.calling(told)))
          assert(call !== undefined)
          assert.strictEqual(yield* Effect.orDie(Tool.call(look, call.arguments)), "seen", JSON.stringify(told))
        }
      }),
    callers
  )

  each("usage that is absent, null or zero counts as nothing [T8]", (participant, wire) =>
    Effect.gen(function* () {
      for (const body of wire.uncounted) {
        const { usage } = yield* generate(participant, body)
        assert.deepStrictEqual(Object.values(usage), [0, 0, 0, 0, 0])
      }
    })
  )
})

describe("answers that nobody expects", () => {
  const page = "<html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>"

  each("pages and empty bodies are what their status says, whatever they say they are [T8 T35]", (participant) =>
    Effect.gen(function* () {
      const tags = { 502: "ServerError", 503: "ModelOverloadedError", 403: "AuthenticationError" } as const
      for (const [status, tag] of Object.entries(tags)) {
        for (const body of [page, "", "null", '"no"', "[]"]) {
          for (const type of ["text/html", "application/json", "text/event-stream"]) {
            const headers = { "content-type": type }
            const error = yield* Effect.flip(generate(participant, body, Number(status), headers))
            assert.strictEqual(tagOf(error), tag, `${status} ${body}`)
            assert.strictEqual(tagOf((yield* stream(participant, body, Number(status), headers)).error), tag)
          }
        }
      }
    })
  )

  each("a success without a reply in it is a typed error [T8]", (participant) =>
    Effect.gen(function* () {
      for (const body of [page, "", "null", "[]", "{}", "\n\n"]) {
        const error = yield* Effect.flip(generate(participant, body))
        assert.isTrue(LlmError.isLlmError(error), body)
        assert.isDefined((yield* stream(participant, body)).error, body)
      }
    })
  )

  each("blank lines and a byte order mark before a reply are no part of it [A114]", (participant) =>
    Effect.gen(function* () {
      const body = participant.says("answer", () => "m", 0)
      const plain = yield* generate(participant, body)
      for (const before of ["\n\n\n", "\r\n", "\uFEFF", " \t"]) {
        assert.deepStrictEqual(yield* generate(participant, before + JSON.stringify(body)), plain)
      }
    })
  )

  each("an error is read whatever its code is made of, as an object or a text [T8]", (participant) =>
    Effect.gen(function* () {
      for (const error of [
        { message: "no", type: "t", code: "some_code" },
        { message: "no", type: "t", code: 401 },
        { message: "no", type: null, code: null },
        "no",
        { message: { nested: "no" }, code: {} }
      ]) {
        const read = yield* Effect.flip(generate(participant, { error }, 401))
        assert.strictEqual(tagOf(read), "AuthenticationError", JSON.stringify(error))
      }
    })
  )
})

describe("one status, several meanings", () => {
  const quota = (quotaId: string) => [
    { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" }
  ]
  const exhausted = (details: ReadonlyArray<object>) => ({
    error: { code: 429, message: "You exceeded your current quota", status: "RESOURCE_EXHAUSTED", details }
  })
  const openAi = [
    [
      { error: { message: "Rate limit. Try again in 2s", type: "tokens", code: "rate_limit_exceeded" } },
      "RateLimitError"
    ],
    [{ error: { message: "no money", type: "insufficient_quota", code: "insufficient_quota" } }, "QuotaExhaustedError"]
  ] as const
  const cases: Readonly<Record<string, ReadonlyArray<readonly [object, Tag]>>> = {
    "openai-chat": openAi,
    "openai-responses": openAi,
    kimi: [
      [{ error: { message: "please try again after 1 seconds", type: "rate_limit_reached_error" } }, "RateLimitError"],
      [{ error: { message: "overloaded", type: "engine_overloaded_error" } }, "ModelOverloadedError"],
      [{ error: { message: "no money", type: "exceeded_current_quota_error" } }, "QuotaExhaustedError"]
    ],
    gemini: [
      [exhausted(quota("GenerateRequestsPerMinutePerProjectPerModel")), "RateLimitError"],
      [exhausted(quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")), "QuotaExhaustedError"]
    ]
  }
  each(
    "429 is a wait, a load or an empty account, by its words [P801 T35]",
    (participant) =>
      Effect.gen(function* () {
        for (const [body, tag] of cases[participant.name] ?? []) {
          assert.strictEqual(tagOf(yield* Effect.flip(generate(participant, body, 429))), tag)
        }
      }),
    participants.filter(({ name }) => name in cases)
  )
})

describe("errors within a success", () => {
  const refusedWords = "I cannot help with that"
  const cases: Readonly<Record<string, ReadonlyArray<readonly [object, Tag]>>> = {
    openrouter: [[{ error: { code: 502, message: "Provider failed" } }, "ServerError"]],
    anthropic: [
      [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "ModelOverloadedError"],
      [claude([], "refusal"), "ContentFilteredError"]
    ],
    gemini: [
      [{ promptFeedback: { blockReason: "SAFETY" } }, "ContentFilteredError"],
      [{ candidates: [{ content: {}, finishReason: "SAFETY" }] }, "ContentFilteredError"]
    ],
    deepseek: [[chatBody({ content: "hal" }, "insufficient_system_resource"), "ModelOverloadedError"]],
    ollama: [[{ error: "llama runner process has terminated" }, "ServerError"]],
    "openai-chat": [[chatBody({ content: null, refusal: refusedWords }, "stop"), "ContentFilteredError"]],
    "openai-responses": [
      [response([{ type: "message", content: [{ type: "refusal", refusal: refusedWords }] }]), "ContentFilteredError"],
      [{ status: "failed", output: [], error: { code: "server_error", message: "no" } }, "ServerError"]
    ]
  }
  each(
    "an answer with the status 200 may be an error, whole or as the first event of a stream [T8]",
    (participant, wire) =>
      Effect.gen(function* () {
        for (const [body, tag] of cases[participant.name] ?? []) {
          assert.strictEqual(tagOf(yield* Effect.flip(generate(participant, body))), tag)
        }
        assert.strictEqual(tagOf((yield* stream(participant, wire.error)).error), "ServerError")
      }),
    participants.filter(({ name }) => name in cases)
  )
})
