/** Calls of chat completions that came in the older way, and calls of one id. */
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
    body: completion({ function_call: fn('{"a":1}'), tool_calls: [] }, "function_call"),
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
    body: completion(
      { function_call: fn("{}"), tool_calls: ["u", "v"].map((name) => ({ id: name, function: fn("{}", name) })) },
      "tool_calls"
    ),
    reads: [["u", "u", "{}"], ["v", "v", "{}"], "tool-calls"]
  }
})

reads("calls of one id in a whole reply stay distinct by their position [A114]", {
  "openai/openai-chat": {
    of: chat,
    isWhole: true,
    body: completion({ tool_calls: [0, 1].map((a) => ({ id: "x", function: fn(`{"a":${a}}`) })) }, "tool_calls"),
    reads: [["x", "w", '{"a":0}'], ["x_1", "w", '{"a":1}'], "tool-calls"]
  },
  "openai/openai-responses": {
    of: "openai/openai-responses",
    isWhole: true,
    body: {
      status: "completed",
      output: ["v", "w"].map((name) => ({ type: "function_call", call_id: "x", name, arguments: "{}" }))
    },
    reads: [["x", "v", "{}"], ["x_1", "w", "{}"], "tool-calls"]
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
