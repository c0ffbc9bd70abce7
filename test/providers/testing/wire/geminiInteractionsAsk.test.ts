/** How Gemini's Interactions are read, and how their replies end. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { AnyWire } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import { numberOf } from "../../../../packages/providers/src/testing/wire/geminiInteractionsTell.ts"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"
import { received, served, textOf } from "./_support/served.ts"

const headers = { "x-goog-api-key": "k" }
const sent = (body: object) => received("/v1beta/interactions", { model: "m", ...body }, headers)
const text = (words: string) => ({ type: "text", text: words })

describe("the input of an interaction", () => {
  const messagesOf = (input: unknown) => Effect.map(served(sent({ input })), ({ asked }) => asked?.messages)

  it.effect("is a text, a content, or contents and steps; contents and steps of the model are joined", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* messagesOf("hello"), [Message.user("hello")])
      assert.deepStrictEqual(yield* messagesOf(text("hello")), [Message.user([Message.text("hello")])])
      const step = (type: string, ...content: ReadonlyArray<object>) => ({ type, content })
      const input = [
        text("a"),
        { type: "image", data: "AQID", mime_type: "image/png" },
        step("user_input", text("b")),
        { type: "audio", uri: "https://a.test/a", mime_type: "audio/mpeg" },
        { type: "video", uri: "https://a.test/b" },
        { type: "document", data: "AQID", mime_type: "application/pdf" },
        { type: "thought" },
        step("model_output", text("c"), { type: "image", data: "AQID" }, text("d")),
        { type: "google_maps_result" },
        step("user_input", text("e")),
        step("user_input")
      ]
      assert.deepStrictEqual<unknown>(yield* messagesOf(input), [
        Message.user([Message.text("a"), Message.image("image/png", { data: "AQID" })]),
        Message.user([
          Message.text("b"),
          Message.file("audio/mpeg", { url: "https://a.test/a" }),
          Message.file("application/octet-stream", { url: "https://a.test/b" }),
          Message.file("application/pdf", { data: "AQID" })
        ]),
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "" },
            Message.text("cd"),
            { type: "provider-item", kind: "google_maps_result", opaque: { provider: "gemini", data: null } }
          ]
        },
        Message.user([Message.text("e")]),
        Message.user([])
      ])
    })
  )

  it.effect("has steps of each tool that the service runs, and of no other", () =>
    Effect.gen(function* () {
      const kinds = ["code_execution", "url_context", "mcp_server_tool", "google_search", "file_search", "google_maps"]
      for (const kind of kinds.flatMap((name) => [`${name}_call`, `${name}_result`])) {
        assert.deepStrictEqual<unknown>(yield* messagesOf([{ type: kind }]), [
          {
            role: "assistant",
            content: [{ type: "provider-item", kind, opaque: { provider: "gemini", data: null } }]
          }
        ])
      }
      assert.isUndefined(yield* messagesOf([{ type: "web_search_call" }]))
    })
  )

  it.effect("has results as a text, as contents, or as any other JSON", () =>
    Effect.gen(function* () {
      const call = { type: "function_call", id: "c", name: "f", arguments: {} }
      for (const [result, words] of [
        ["sunny", "sunny"],
        [[text("a"), { type: "image", data: "AQID" }, text("b")], "ab"],
        [{ sky: ["blue"] }, '{"sky":["blue"]}'],
        [[1], "[1]"]
      ] as const) {
        const messages = yield* messagesOf([call, { type: "function_result", call_id: "c", result }])
        assert.deepStrictEqual(messages?.[1], { role: "tool", callId: "c", text: words, isError: false })
      }
    })
  )

  it.effect(
    "is refused without a name, with two names, in the background without a store, and with a stray result",
    () =>
      Effect.gen(function* () {
        const named = { model: "m", input: "hi" }
        const of = (body: object) => served(received("/v1beta/interactions", body, headers))
        for (const [body, message] of [
          [{ input: "hi" }, "Either 'model' or 'agent' must be specified."],
          [{ ...named, agent: "a" }, "Only one of 'model' and 'agent' can be specified."],
          [{ ...named, background: true, store: false }, "'background' requires 'store' to be true."],
          [{ ...named, previous_interaction_id: "v1_0" }, "Interaction v1_0 was not found."],
          [
            { ...named, input: [{ type: "function_result", call_id: "c", result: "x" }] },
            "No function call found for function result with call_id c."
          ]
        ] as const) {
          const { answer, asked } = yield* of(body)
          assert.isUndefined(asked)
          assert.deepStrictEqual(JSON.parse(textOf(answer)), { error: { message, code: "invalid_request" } })
        }
        assert.strictEqual((yield* of({ ...named, store: false })).asked?.model, "m")
        assert.strictEqual((yield* of({ input: "hi", agent: "a" })).asked?.model, "a")
      })
  )

  it.effect("is refused if a call behind a text has no result", () =>
    Effect.gen(function* () {
      const input = [
        { type: "model_output", content: [text("I look")] },
        { type: "function_call", id: "c", name: "f", arguments: {} }
      ]
      const { answer, asked } = yield* served(sent({ input }))
      assert.isUndefined(asked)
      assert.deepStrictEqual(JSON.parse(textOf(answer)), {
        error: { message: "No function result found for function call c.", code: "invalid_request" }
      })
    })
  )
})

it.effect("the choice of tools is a word, or a mode and the tools that are allowed", () =>
  Effect.gen(function* () {
    const allowed = (allowed_tools?: object) => (allowed_tools === undefined ? {} : { allowed_tools })
    for (const [tool_choice, expected] of [
      ["auto", "auto"],
      ["validated", "auto"],
      ["any", "required"],
      ["none", "none"],
      [allowed(), "auto"],
      [allowed({ tools: ["f"] }), "auto"],
      [allowed({ mode: "validated", tools: ["f"] }), "auto"],
      [allowed({ mode: "none", tools: ["f"] }), "none"],
      [allowed({ mode: "any" }), "required"],
      [allowed({ mode: "any", tools: ["f", "g"] }), "required"],
      [allowed({ mode: "any", tools: ["f"] }), { tool: "f" }]
    ] as const) {
      const { asked } = yield* served(sent({ input: "hi", generation_config: { tool_choice } }))
      assert.deepStrictEqual(asked?.toolChoice, expected)
    }
    assert.strictEqual((yield* served(sent({ input: "hi" }))).asked?.toolChoice, "auto")
    for (const tool_choice of ["some", allowed({ mode: 5 }), allowed({ tools: "f" })]) {
      assert.isUndefined((yield* served(sent({ input: "hi", generation_config: { tool_choice } }))).asked)
    }
  })
)

describe("an interaction", () => {
  it.effect("has its end in the words of Gemini, and its instant in whole seconds", () =>
    Effect.gen(function* () {
      const states = {
        stop: "completed",
        "tool-calls": "requires_action",
        length: "incomplete",
        filtered: "failed",
        paused: "completed",
        other: "completed"
      }
      for (const [finish, status] of Object.entries(states)) {
        // the keys of an object are known as texts alone
        const reply = { content: [Message.text("so")], finish: finish as keyof typeof states }
        const { answer } = yield* served(sent({ input: "hi" }), reply)
        const instant = "2026-01-05T10:00:01Z"
        assert.deepInclude(JSON.parse(textOf(answer)), { id: "v1_7", status, created: instant, updated: instant })
      }
    })
  )

  it.effect("streams arguments of a call that has none as an empty object", () =>
    Effect.gen(function* () {
      const reply: Wire.BrainReply = { content: [{ type: "tool-call", id: "c", name: "f", arguments: null }] }
      const { answer } = yield* served(sent({ input: "hi", stream: true }), reply)
      const deltas = textOf(answer)
        .split("\n")
        .filter((line) => line.includes('"event_type":"step.delta"'))
        .map((line) => JSON.parse(line.slice("data: ".length)).delta)
      assert.deepStrictEqual(deltas, [{ arguments: "{}", type: "arguments_delta" }])
    })
  )

  it.effect("is refused without a key, and may break off between two events", () =>
    Effect.gen(function* () {
      const { answer } = yield* served(received("/v1beta/interactions", { model: "m", input: "hi" }))
      assert.strictEqual(answer.status, 403)
      const stream = { headers: { "content-type": "text/event-stream" }, body: "event: a\n\nevent: b\n\n" }
      const broken = AnyWire.breakingOff({ type: "overloaded" }, 1)(Effect.succeed(stream), sent({ input: "hi" }))
      assert.match(textOf(yield* broken), /^event: a\n\nevent: error\ndata: .*"event_id":"event_1"\}\n\n$/)
    })
  )
})

it("the number of an event is that of its id", () => {
  assert.deepStrictEqual(
    ["event_0", "event_12", "my_event_3", "event_3x", "event_", ""].map(numberOf),
    [0, 12, -1, -1, -1, -1]
  )
})
