/** Calls of chat completions that came in the older way, or under one id. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Effect, Layer } from "effect"
import { chat, chunk, completion, fn, modelOf, reads } from "./_support/carelessServers.ts"
import { done, fakeNetwork, respond } from "../../_support/network.ts"

reads("the older `function_call` is a call [A114]", {
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

reads("calls stay distinct [A114]", {
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
  "but not where a name is only repeated": {
    of: chat,
    body: pieces({ function: fn('{"a":') }, { function: fn("1}") }, { function: fn("") }),
    reads: [["call_0", "w", '{"a":1}'], "tool-calls"]
  },
  "by their position, where all have one id": {
    of: chat,
    isWhole: true,
    body: completion({ tool_calls: [0, 1].map((a) => ({ id: "x", function: fn(`{"a":${a}}`) })) }, "tool_calls"),
    reads: [["x", "w", '{"a":0}'], ["x_1", "w", '{"a":1}'], "tool-calls"]
  },
  "by their position, where all items have one id": {
    of: "openai/openai-responses",
    isWhole: true,
    body: {
      status: "completed",
      output: ["v", "w"].map((name) => ({ type: "function_call", call_id: "x", name, arguments: "{}" }))
    },
    reads: [["x", "v", "{}"], ["x_1", "w", "{}"], "tool-calls"]
  },
  "though an id, a name or nothing at all comes after their arguments": {
    of: chat,
    body: pieces(
      { index: 0, function: { arguments: '{"a":' } },
      { index: 0, id: "a", function: { arguments: "1}" } },
      { index: 0, function: { name: "w" } },
      { index: 0 }
    ),
    reads: [["a", "w", '{"a":1}'], "tool-calls"]
  },
  "though their name comes after arguments without an index": {
    of: chat,
    body: pieces({ function: { arguments: '{"a":' } }, { function: fn("1}") }),
    reads: [["call_0", "w", '{"a":1}'], "tool-calls"]
  },
  "and not by a name repeated with index and id, after arguments that were whole": {
    of: chat,
    body: pieces({ index: 0, id: "a", function: fn('{"a":1}') }, { index: 0, id: "a", function: fn(" ") }),
    reads: [["a", "w", '{"a":1} '], "tool-calls"]
  },
  "where the first has no id, and pieces without an id belong to the last": {
    of: chat,
    body: pieces({ function: fn("{}", "v") }, { id: "b", function: fn('{"b"') }, { function: { arguments: ":1}" } }),
    reads: [["call_0", "v", "{}"], ["b", "w", '{"b":1}'], "tool-calls"]
  },
  "and one without an index comes after those before it": {
    of: chat,
    body: pieces(
      { index: 1, id: "b", function: fn("{}") },
      { id: "c", function: fn("{}") },
      { index: 0, id: "a", function: fn("{}") }
    ),
    reads: [["a", "w", "{}"], ["b", "w", "{}"], ["c", "w", "{}"], "tool-calls"]
  },
  "by their index, where all have one id": {
    of: chat,
    body: pieces({ index: 1, id: "x", function: fn("{}", "v") }, { index: 0, id: "x", function: fn("{}") }),
    reads: [["x", "w", "{}"], ["x_1", "v", "{}"], "tool-calls"]
  }
})

describe("calls of one id in one turn [A114]", () => {
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
