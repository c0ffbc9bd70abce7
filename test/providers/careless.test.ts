/** What servers get wrong though they mean well, each as a table of bodies and what is read from them. */
import { assert, describe, it } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import type { Schema } from "effect"
import { Effect, Layer, Redacted } from "effect"
import { collect, generate, models } from "./replay.ts"
import { body as streamOf, done, event, fakeNetwork, respond, respondWith } from "./support.ts"

/** An answer of some provider, and what it is read as: the gist of a reply, or the tag of an error. */
interface Case {
  readonly of: string
  /** Of a whole request; of a streamed one otherwise. */
  readonly isWhole?: boolean
  readonly body: unknown
  readonly reads: unknown
}

const chat = "openai/openai-chat"

const modelOf = (of: string) => {
  const model = models[of]
  assert(model !== undefined, of)
  return model("https://p.test", Redacted.make("k"))
}

const ask = ({ body, isWhole, of }: Case, size?: number): Effect.Effect<Message.Reply, LlmError.LlmError> => {
  const whole = typeof body === "string" ? body : JSON.stringify(body)
  const pieces = () =>
    Array.from({ length: Math.ceil(whole.length / (size ?? 1)) }, (_, at) => pieceOf(whole, at, size))
  const answer = size === undefined ? respond(200, whole) : respondWith(200, () => streamOf(pieces()))
  const layer = Layer.provide(modelOf(of), fakeNetwork([answer]).layer)
  return Effect.provide(isWhole === true ? generate : collect, layer)
}

const pieceOf = (text: string, at: number, size = 1) => text.slice(at * size, (at + 1) * size)

/** The texts and calls of a reply, then how it ended, then how many tokens went in and out, if any. */
const gist = ({ content, finish, usage: { inputTokens, outputTokens } }: Message.Reply): ReadonlyArray<unknown> => [
  ...content.flatMap((part): ReadonlyArray<unknown> => {
    if (part.type === "text") return [part.text]
    return part.type === "tool-call" ? [[part.id, part.name, part.arguments]] : []
  }),
  finish,
  ...(inputTokens + outputTokens === 0 ? [] : [`${inputTokens}/${outputTokens}`])
]

const told = (error: LlmError.LlmError): ReadonlyArray<unknown> => [
  error._tag,
  ...(error.usage === undefined ? [] : [`${error.usage.inputTokens}/${error.usage.outputTokens}`])
]

const reads = (title: string, cases: Readonly<Record<string, Case>>) =>
  describe(title, () => {
    for (const [name, each] of Object.entries(cases)) {
      it.effect(name, () =>
        Effect.gen(function* () {
          const isLong = JSON.stringify(each.body).length > 10_000
          for (const size of [undefined, isLong ? 997 : 1]) {
            const read = yield* Effect.match(ask(each, size), { onFailure: told, onSuccess: gist })
            assert.deepStrictEqual(read, each.reads)
          }
        })
      )
    }
  })

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
  event({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }], ...more })

const completion = (message: object, finish_reason = "stop", more: object = {}) => ({
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason }],
  ...more
})

const fn = (args: unknown, name = "w") => ({ name, arguments: args })

reads("A114 the older `function_call` is a call", {
  "in a whole reply": {
    of: chat,
    isWhole: true,
    body: completion({ function_call: fn('{"a":1}') }, "function_call"),
    reads: [["call_0", "w", '{"a":1}'], "tool-calls"]
  },
  "in the pieces of a stream": {
    of: chat,
    body:
      chunk({ content: "I look" }) +
      chunk({ function_call: fn("") }) +
      chunk({ content: "!", function_call: { arguments: '{"a"' } }) +
      chunk({ function_call: { arguments: ":1}" } }) +
      chunk({}, "function_call") +
      done,
    reads: ["I look!", ["call_0", "w", '{"a":1}'], "tool-calls"]
  },
  "and is none beside `tool_calls`": {
    of: chat,
    isWhole: true,
    body: completion({ function_call: fn("{}"), tool_calls: [{ id: "a", function: fn("{}", "v") }] }, "tool_calls"),
    reads: [["a", "v", "{}"], "tool-calls"]
  }
})

const pieces = (...calls: ReadonlyArray<object>) =>
  calls.map((call) => chunk({ tool_calls: [call] })).join("") + chunk({}, "tool_calls") + done

reads("A114 calls are told apart", {
  "by their ids, where all have one index": {
    of: chat,
    body: pieces(
      { index: 0, id: "a", function: fn('{"a":') },
      { index: 0, function: { arguments: "1}" } },
      { index: 0, id: "b", function: fn('{"b":') },
      { index: 0, id: "b", function: { arguments: "2}" } }
    ),
    reads: [["a", "w", '{"a":1}'], ["b", "w", '{"b":2}'], "tool-calls"]
  },
  "by their names, where they have neither index nor id": {
    of: chat,
    body: pieces({ id: "", function: fn('{"a":1}') }, { id: "", function: fn('{"b":2}') }, { function: fn("{}", "v") }),
    reads: [["call_0", "w", '{"a":1}'], ["call_1", "w", '{"b":2}'], ["call_2", "v", "{}"], "tool-calls"]
  },
  "but not where a name is only said again": {
    of: chat,
    body: pieces({ function: fn('{"a":') }, { function: fn("1}") }, { function: fn("") }),
    reads: [["call_0", "w", '{"a":1}'], "tool-calls"]
  },
  "by their place, where all have one id": {
    of: chat,
    isWhole: true,
    body: completion({ tool_calls: [0, 1].map((a) => ({ id: "x", function: fn(`{"a":${a}}`) })) }, "tool_calls"),
    reads: [["x", "w", '{"a":0}'], ["x_1", "w", '{"a":1}'], "tool-calls"]
  },
  "by their place, where all items have one id": {
    of: "openai/openai-responses",
    isWhole: true,
    body: {
      status: "completed",
      output: ["v", "w"].map((name) => ({ type: "function_call", call_id: "x", name, arguments: "{}" }))
    },
    reads: [["x", "v", "{}"], ["x_1", "w", "{}"], "tool-calls"]
  },
  "by their index, where all have one id": {
    of: chat,
    body: pieces({ index: 1, id: "x", function: fn("{}", "v") }, { index: 0, id: "x", function: fn("{}") }),
    reads: [["x", "w", "{}"], ["x_1", "v", "{}"], "tool-calls"]
  }
})

describe("A114 calls of one id in one turn", () => {
  const look = (text: string): Message.SettledCall => ({
    type: "settled-call",
    call: { type: "tool-call", id: "x", name: "w", arguments: "{}" },
    settlement: { kind: "result", text }
  })
  const messages: Message.Transcript = [
    Message.user("q"),
    { role: "assistant", content: [look("r1"), look("r2")] },
    { role: "assistant", content: [look("r3")] }
  ]
  const cases: Readonly<Record<string, ReadonlyArray<string>>> = {
    "openai/openai-chat": ["x", "x_1", "x"],
    "openai/openai-responses": ["x", "x_2", "x_3"]
  }
  for (const [of, expected] of Object.entries(cases)) {
    it.effect(`go back with their own results: ${of}`, () =>
      Effect.gen(function* () {
        const network = fakeNetwork([respond(400)])
        const layer = Layer.provide(modelOf(of), network.layer)
        const asked = Effect.flatMap(Model.Model, (model) =>
          model.generate({ messages, tools: [], toolChoice: "auto" })
        )
        yield* Effect.exit(Effect.provide(asked, layer))
        const sent = network.sent[0]?.body ?? ""
        const listed = [...sent.matchAll(/"(?:tool_call_id|id|call_id)":"(x[^"]*)"/g)].map(([, id]) => id ?? "")
        const [first, second, third] = expected
        assert.deepStrictEqual(listed, [first, second, first, second, third, third])
      })
    )
  }
})

const compact = (body: unknown) => JSON.stringify(body)
const pretty = (body: unknown) => JSON.stringify(body, null, 2)

const gemini = "gemini/gemini"
const anthropic = "anthropic/anthropic"
const responses = "openai/openai-responses"
const ollama = "ollama/ollama"

const candidate = (text: string, finishReason?: string) => ({
  candidates: [{ content: { parts: [{ text }] }, ...(finishReason === undefined ? {} : { finishReason }) }]
})

const long = "x".repeat(20_000)

/** Whole bodies of every format, and what they hold. */
const wholes: Readonly<Record<string, readonly [object, string]>> = {
  [chat]: [completion({ content: long, tool_calls: [{ id: "a", function: fn("{}") }] }, "tool_calls"), "tool-calls"],
  "kimi/openai-chat": [completion({ content: long, tool_calls: [{ id: "a", function: fn("{}") }] }), "tool-calls"],
  [anthropic]: [
    {
      type: "message",
      content: [
        { type: "text", text: long },
        { type: "tool_use", id: "a", name: "w", input: "{}" }
      ],
      stop_reason: "tool_use"
    },
    "tool-calls"
  ],
  [responses]: [
    {
      status: "completed",
      output: [
        { type: "message", content: [{ type: "output_text", text: long }] },
        { type: "function_call", call_id: "a", name: "w", arguments: "{}" }
      ]
    },
    "tool-calls"
  ],
  [ollama]: [
    { message: { content: long, tool_calls: [{ id: "a", function: fn("{}") }] }, done: true, done_reason: "stop" },
    "tool-calls"
  ]
}

for (const [layout, text] of Object.entries({
  compact,
  pretty,
  "after blanks": (body: unknown) => `\r\n ${pretty(body)}`
})) {
  reads(
    `A114 a whole answer to a streamed request is read, ${layout}`,
    Object.fromEntries(
      Object.entries(wholes).map(([of, [body, finish]]) => [
        of,
        { of, body: text(body), reads: [long, ["a", "w", "{}"], finish] }
      ])
    )
  )
}

reads("A114 a list in the place of a stream is read", {
  compact: {
    of: gemini,
    body: `[${compact(candidate("he"))}\n,\r\n${compact(candidate("llo", "STOP"))}\n]`,
    reads: ["hello", "stop"]
  },
  pretty: { of: gemini, body: pretty([candidate("he"), candidate("llo", "STOP")]), reads: ["hello", "stop"] },
  "of one error": {
    of: gemini,
    body: pretty([{ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }]),
    reads: ["ModelOverloadedError"]
  },
  "and fails where it was cut off": { of: gemini, body: `[${compact(candidate("he"))},`, reads: ["NetworkError"] }
})

const boom = { error: { message: "boom", type: "server_error", code: 500 } }
const said = chunk({ content: "he" })

reads("T8 an error that is no event fails", {
  "on a line before [DONE]": { of: chat, body: `${said}${compact(boom)}\n\n${done}`, reads: ["ServerError"] },
  "first, before [DONE]": { of: chat, body: `${compact(boom)}\n\n${done}`, reads: ["ServerError"] },
  "after a finish reason": {
    of: chat,
    body: `${chunk({ content: "x" }, "stop")}${compact(boom)}`,
    reads: ["ServerError"]
  },
  "after a blank": { of: chat, body: `${said}  ${compact(boom)}\n\n${done}`, reads: ["ServerError"] },
  "over several lines": { of: chat, body: `${said}${pretty(boom)}\r\n${done}`, reads: ["ServerError"] },
  "longer than a few kilobytes": {
    of: chat,
    body: said + pretty({ error: { ...boom.error, message: long, more: Array.from({ length: 9 }, () => long) } }),
    reads: ["ServerError"]
  },
  "by itself": {
    of: anthropic,
    body: pretty({ type: "error", error: { type: "overloaded_error" } }),
    reads: ["ModelOverloadedError"]
  }
})

reads("P504 an event with blank data says nothing", {
  [anthropic]: {
    of: anthropic,
    body:
      "event: ping\ndata: \n\n" +
      event({ type: "message_start", message: { usage: { input_tokens: 3, output_tokens: 1 } } }) +
      "data:   \n\n" +
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "hi" } }) +
      event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }) +
      event({ type: "message_stop" }),
    reads: ["hi", "stop", "3/2"]
  },
  [chat]: { of: chat, body: `data:\n\n${said}data:  \n\n${done}`, reads: ["he", "stop"] },
  [gemini]: { of: gemini, body: `data: \n\n${event(candidate("hi", "STOP"))}`, reads: ["hi", "stop"] }
})

reads("A114 a message in the place of its pieces is read", {
  "with its end": {
    of: chat,
    body: event({ choices: [{ index: 0, message: { content: "hi" }, finish_reason: "stop" }] }) + done,
    reads: ["hi", "stop"]
  },
  "before its end": {
    of: chat,
    body:
      event({ choices: [{ index: 0, message: { content: "hi", tool_calls: [{ id: "a", function: fn("{}") }] } }] }) +
      chunk({}, "tool_calls") +
      done,
    reads: ["hi", ["a", "w", "{}"], "tool-calls"]
  },
  "with the last event alone": {
    of: "perplexity/openai-chat",
    body:
      event({ choices: [{ index: 0, delta: { role: "assistant", content: "" }, message: { content: "" } }] }) +
      event({
        object: "chat.completion.done",
        choices: [{ index: 0, delta: { content: "" }, message: { content: "all" }, finish_reason: "stop" }]
      }),
    reads: ["all", "stop"]
  },
  "and not where the pieces came": {
    of: "perplexity/openai-chat",
    body:
      event({ choices: [{ index: 0, delta: { role: "assistant", content: "" }, message: { content: "" } }] }) +
      event({ choices: [{ index: 0, delta: { content: "all" }, message: { content: "all" } }] }) +
      event({ choices: [{ index: 0, delta: {}, message: { content: "all" }, finish_reason: "stop" }] }),
    reads: ["all", "stop"]
  }
})

const chats = ["openai", "deepseek", "kimi", "openrouter"].map((name) => `${name}/openai-chat`)

const each = (all: ReadonlyArray<string>, of: (name: string) => Omit<Case, "of">) =>
  Object.fromEntries(all.map((name) => [name, { of: name, ...of(name) }]))

const usage = { prompt_tokens: 5, completion_tokens: 6 }

reads(
  "P504 a finish reason is an end, also without [DONE]",
  each(chats, () => ({ body: said + chunk({}, "stop", { usage }), reads: ["he", "stop", "5/6"] }))
)

reads(
  "P504 a finish reason is no end of a stream that breaks off within an event",
  each(chats, () => ({
    body: said + chunk({}, "stop") + chunk({}, null, { usage }).slice(0, -9),
    reads: ["NetworkError"]
  }))
)

reads(
  "T8 an error after a finish reason is an error, also before [DONE]",
  each(chats, () => ({
    body: said + chunk({}, "length", { usage }) + chunk({}, null, boom) + done,
    reads: ["ServerError", "5/6"]
  }))
)

reads(
  "P504 [DONE] is no end of a stream that said nothing",
  each(chats, () => ({ body: chunk({ role: "assistant", content: "" }) + done, reads: ["UnknownLlmError"] }))
)

reads("T8 a content filter is an error, with what was used up", {
  ...each(chats, () => ({
    isWhole: true,
    body: completion({ content: "he" }, "content_filter", { usage }),
    reads: ["ContentFilteredError", "5/6"]
  })),
  streamed: {
    of: chat,
    body: said + chunk({}, "content_filter", { usage }) + done,
    reads: ["ContentFilteredError", "5/6"]
  }
})

const counted = (promptTokenCount: number, candidatesTokenCount: number) => ({
  usageMetadata: { promptTokenCount, candidatesTokenCount }
})

reads("T8 a zero takes no count back", {
  [chat]: {
    of: chat,
    body:
      chunk({ content: "he" }, "stop", { usage }) +
      event({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } }) +
      done,
    reads: ["he", "stop", "5/6"]
  },
  [anthropic]: {
    of: anthropic,
    body:
      event({ type: "message_start", message: { usage: { input_tokens: 50, output_tokens: 1 } } }) +
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "hi" } }) +
      event({
        type: "message_delta",
        delta: { stop_reason: "end_turn" },
        usage: { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 9 }
      }) +
      event({ type: "message_stop" }),
    reads: ["hi", "stop", "50/9"]
  },
  [gemini]: {
    of: gemini,
    body: event({ ...candidate("hi"), ...counted(7, 2) }) + event({ ...candidate("", "STOP"), ...counted(0, 3) }),
    reads: ["hi", "stop", "7/3"]
  }
})

reads("T8 an error with its fields at the top fails", {
  "by its object": {
    of: chat,
    body: said + event({ object: "error", message: "boom", code: 500 }) + done,
    reads: ["ServerError"]
  },
  "by the name of its event": {
    of: chat,
    body: `${said}event: error\n${event({ message: "boom", code: 500 })}${done}`,
    reads: ["ServerError"]
  },
  "as a whole answer": {
    of: chat,
    isWhole: true,
    body: { object: "error", message: "boom", code: 500 },
    reads: ["ServerError"]
  }
})

reads("T8 a refusal among the parts of a content is one", {
  whole: {
    of: chat,
    isWhole: true,
    body: completion({ content: [{ type: "refusal", refusal: "no" }] }),
    reads: ["ContentFilteredError", "0/0"]
  },
  streamed: {
    of: chat,
    body: chunk({ content: [{ type: "refusal", refusal: "no" }] }) + chunk({}, "stop") + done,
    reads: ["ContentFilteredError", "0/0"]
  }
})

reads("A114 the first choice is the one of the index 0", {
  whole: {
    of: chat,
    isWhole: true,
    body: {
      choices: [
        { index: 1, message: { content: "other" }, finish_reason: "length" },
        { index: 0, message: { content: "first" }, finish_reason: "stop" }
      ]
    },
    reads: ["first", "stop"]
  },
  streamed: {
    of: chat,
    body:
      said +
      event({ choices: [{ index: 1, delta: { content: "other" } }] }) +
      event({ choices: [{ index: 1, delta: {}, finish_reason: "length" }] }) +
      chunk({ content: "llo" }) +
      chunk({}, "stop") +
      done,
    reads: ["hello", "stop"]
  },
  "or the only one": {
    of: chat,
    isWhole: true,
    body: { choices: [{ index: 1, message: { content: "only" }, finish_reason: "stop" }] },
    reads: ["only", "stop"]
  }
})

const completed = event({ type: "response.completed", response: { output: [] } })

const refusing = (delta: string) => event({ type: "response.refusal.delta", item_id: "m", output_index: 0, delta })

const textDone = (content_index: number, text: string) =>
  event({ type: "response.output_text.done", item_id: "m", output_index: 0, content_index, text })

const textDelta = (content_index: number, delta: string) =>
  event({ type: "response.output_text.delta", item_id: "m", output_index: 0, content_index, delta })

reads("T8 what only the pieces or only the whole of a response say counts", {
  "the pieces of a refusal": {
    of: responses,
    body: refusing("I ") + refusing("can't") + completed,
    reads: ["ContentFilteredError"]
  },
  "the whole of a text": { of: responses, body: textDone(0, "hi") + completed, reads: ["hi", "stop"] },
  "the rest of a text": {
    of: responses,
    body: textDelta(0, "he") + textDone(0, "hello") + textDone(1, ", you") + completed,
    reads: ["hello, you", "stop"]
  },
  "a text once": {
    of: responses,
    body: textDelta(0, "a") + textDone(0, "a") + textDelta(1, "a") + textDone(1, "a") + completed,
    reads: ["aa", "stop"]
  }
})

describe("P301 schemas go in the strict dialect where they fit it", () => {
  const closed = {
    type: "object",
    properties: { q: { type: "string" } },
    required: ["q"],
    additionalProperties: false
  }
  const optional = { ...closed, required: [] }
  const nullable = { ...closed, properties: { q: { anyOf: [{ type: "string" }, { type: "null" }] } } }
  const open = { type: "object", properties: { q: { type: "string" } } }
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
    ["but where it does not fit", chat, open, false, { schema: open }, { parameters: open }],
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
