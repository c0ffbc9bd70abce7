/** Calls as careless servers number them, in thousands and in pieces; odd texts and counts. */
import * as Message from "@kintsugi/core/Message"
import { type Answer, both, each, eventStream, fixed, isStreamed, changed, shapeOf, sse } from "./answers.ts"
import type { Holds, Scenario } from "./scenario.ts"

const callsAre =
  (...all: ReadonlyArray<unknown>): Holds =>
  (reply) =>
    shapeOf({ ...reply, content: Message.callsOf(reply) }) === JSON.stringify(["", all.map((args) => ["look", args])])

/** A delta of a call in OpenAI's chat. */
const piece = (index: unknown, id: unknown, name: string | undefined, args: string) => ({
  choices: [
    {
      index: 0,
      delta: {
        tool_calls: [
          {
            ...(index === undefined ? {} : { index }),
            ...(id === undefined ? {} : { id }),
            function: { ...(name === undefined ? {} : { name }), arguments: args }
          }
        ]
      },
      finish_reason: null
    }
  ]
})

const stopped = { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }

const chat = (...events: ReadonlyArray<unknown>): Answer => eventStream(sse(...events, stopped, "[DONE]"))

/** A block of Anthropic with a call, from its start to its end. */
const block = (index: unknown, id: unknown, pieces: ReadonlyArray<string>) => [
  { type: "content_block_start", index, content_block: { type: "tool_use", id, name: "look", input: {} } },
  ...pieces.map((partial_json) => ({
    type: "content_block_delta",
    index,
    delta: { type: "input_json_delta", partial_json }
  })),
  { type: "content_block_stop", index }
]

const anthropic = (...events: ReadonlyArray<unknown>): Answer =>
  eventStream(
    sse(
      { type: "message_start", message: { model: "m", usage: { input_tokens: 3, output_tokens: 1 } } },
      ...events,
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } },
      { type: "message_stop" }
    )
  )

/** A call of Responses, as its item in pieces. */
const item = (index: unknown, id: unknown, pieces: ReadonlyArray<string>) => {
  const call = { type: "function_call", id, call_id: id, name: "look" }
  const args = pieces.join("")
  return [
    { type: "response.output_item.added", output_index: index, item: { ...call, arguments: "" } },
    ...pieces.map((delta) => ({
      type: "response.function_call_arguments.delta",
      output_index: index,
      item_id: id,
      delta
    })),
    { type: "response.output_item.done", output_index: index, item: { ...call, arguments: args } }
  ]
}

const responses = (output: ReadonlyArray<unknown>, ...events: ReadonlyArray<unknown>): Answer =>
  eventStream(
    sse(...events, {
      type: "response.completed",
      response: { status: "completed", model: "m", output, usage: { input_tokens: 3, output_tokens: 5 } }
    })
  )

type Rest = Pick<Scenario, "expected"> & { readonly answer: () => Answer }

const one = (name: string, api: Scenario["api"], { answer, expected }: Rest): ReadonlyArray<Scenario> =>
  each("calls", name, () => ({ modes: ["streamed"], serve: fixed(answer), expected }), [api])

const two = callsAre({ n: 1 }, { n: 2 })

const indices = [undefined, 0, 2 ** 32 - 1, -1, "__proto__", "1", null, 1.5, 1e300]

const oddIds = [undefined, "", null, "same", "__proto__", 7]

const many = Array.from({ length: 10_000 }, (_, at) => at)

const spread = (from: string): ReadonlyArray<string> => [...from]

const long = JSON.stringify({ text: "x".repeat(99_988) })

const nested = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`

const isLong = callsAre(JSON.parse(long))

const isCalled: Holds = (reply) => Message.callsOf(reply).length === 1

export const calls: ReadonlyArray<Scenario> = [
  ...indices.flatMap((index) => [
    ...one(`index ${JSON.stringify(index)}`, "openai-chat", {
      answer: () => chat(piece(index, "a", "look", '{"n"'), piece(index, undefined, undefined, ":1}")),
      expected: { reply: callsAre({ n: 1 }), sends: 1 }
    }),
    ...one(`index ${JSON.stringify(index)}`, "anthropic", {
      answer: () => anthropic(...block(index, "a", ['{"n"', ":1}"])),
      expected: { reply: callsAre({ n: 1 }), sends: 1 }
    }),
    ...one(`index ${JSON.stringify(index)}`, "openai-responses", {
      answer: () =>
        responses(
          item(index, "a", ['{"n":1}']).flatMap((event) =>
            "item" in event && event.type.endsWith("done") ? [event.item] : []
          ),
          ...item(index, "a", ['{"n"', ":1}"])
        ),
      expected: { reply: callsAre({ n: 1 }), sends: 1 }
    })
  ]),
  ...oddIds.flatMap((id) => [
    ...one(`two calls with the id ${JSON.stringify(id)}`, "openai-chat", {
      answer: () => chat(piece(0, id, "look", '{"n":1}'), piece(1, id, "look", '{"n":2}')),
      expected: { reply: two, sends: 1 }
    }),
    ...one(`two calls with the id ${JSON.stringify(id)}`, "anthropic", {
      answer: () => anthropic(...block(0, id, ['{"n":1}']), ...block(1, id, ['{"n":2}'])),
      expected: { reply: two, sends: 1 }
    })
  ]),
  ...one("two calls whose pieces alternate", "openai-chat", {
    answer: () =>
      chat(
        piece(0, "a", "look", '{"n"'),
        piece(1, "b", "look", '{"n"'),
        piece(0, undefined, undefined, ":1}"),
        piece(1, undefined, undefined, ":2}")
      ),
    expected: { reply: two, sends: 1 }
  }),
  ...one("10,000 calls", "openai-chat", {
    answer: () => chat(...many.map((at) => piece(at, `c${at}`, "look", "{}"))),
    expected: { reply: (reply) => Message.callsOf(reply).length === 10_000, sends: 1 }
  }),
  ...one("10,000 calls", "anthropic", {
    answer: () => anthropic(...many.flatMap((at) => block(at, `c${at}`, ["{}"]))),
    expected: { reply: (reply) => Message.callsOf(reply).length === 10_000, sends: 1 }
  }),
  ...one("arguments in 100,000 pieces", "openai-chat", {
    answer: () => {
      const pieces = spread(long).map((args) => sse(piece(0, undefined, undefined, args)))
      return eventStream(sse(piece(0, "a", "look", "")) + pieces.join("") + sse(stopped, "[DONE]"))
    },
    expected: { reply: isLong, sends: 1 }
  }),
  ...one("arguments in 100,000 pieces", "anthropic", {
    answer: () => {
      const { body, headers } = anthropic(...block(0, "a", ["?"]))
      const [before = "", after = ""] = String(body).split(/data: [^\n]*\?[^\n]*\n\n/)
      const pieces = block(0, "a", spread(long)).slice(1, -1)
      return { headers: headers ?? {}, body: before + pieces.map((event) => sse(event)).join("") + after }
    },
    expected: { reply: isLong, sends: 1 }
  }),
  ...one("arguments in 100,000 levels", "openai-chat", {
    answer: () => chat(piece(0, "a", "look", nested)),
    expected: { reply: isCalled, sends: 1 }
  }),
  ...one("arguments in 100,000 levels", "anthropic", {
    answer: () => anthropic(...block(0, "a", [nested])),
    expected: { reply: isCalled, sends: 1 }
  }),
  ...each("calls", "arguments with the keys of prototypes", () => ({
    modes: both,
    serve: changed(
      () => ({}),
      [
        {
          type: "tool-call",
          id: "c",
          name: "look",
          arguments: JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as never
        }
      ]
    ),
    expected: { reply: isCalled, sends: 1 }
  }))
]

const halves = ["\\ud83d", "\\ude42"]

const chatText = (...pieces: ReadonlyArray<string>): Answer =>
  eventStream(
    `${pieces.map((text) => `data: {"choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`).join("")}${sse(
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      "[DONE]"
    )}`
  )

const counts = ["1e999", "-5", "null", '"7"', "1.5", "{}", "[]"]

/** Each number of tokens in the body is replaced. */
const counted = (body: string, count: string): string =>
  body.replaceAll(/("\w*(?:[tT]okens?|[cC]ount)\w*":)\s*\d+/g, `$1${count}`)

export const texts: ReadonlyArray<Scenario> = [
  ...each(
    "texts",
    "a pair of surrogates in two pieces",
    () => ({ modes: ["streamed"], serve: fixed(chatText(...halves)), expected: { sends: 1, reply: says("🙂") } }),
    ["openai-chat"]
  ),
  ...each(
    "texts",
    "half a pair of surrogates, and NUL",
    () => ({
      modes: ["streamed"],
      serve: fixed(chatText("\\ud83d", "\\u0000x")),
      expected: { sends: 1, reply: says("\ud83d\u0000x") }
    }),
    ["openai-chat"]
  ),
  ...counts.flatMap((count) =>
    each("usage", `counts of ${count}`, () => ({
      modes: both,
      serve: changed((good) => ({
        body: counted(new TextDecoder().decode(Buffer.from(good.body)), count),
        ...(isStreamed(good) ? {} : {})
      })),
      expected: { sends: 1, reply: (reply) => Message.callsOf(reply).length === 1 }
    }))
  )
]

function says(text: string): Holds {
  return (reply) => Message.textOf(reply) === text
}
