/** What OpenAI's Responses API reads of a request, from the server's side. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { AnyWire } from "@kintsugi/providers/testing"
import { Effect, Redacted } from "effect"
import { signatureOf } from "../../../../packages/providers/src/testing/wire/parts.ts"
import { received, served, textOf } from "./_support/served.ts"

const sent = (body: object) => ({ ...received("/v1/responses", body), authorization: Redacted.make("bearer  k ") })

const schema = { type: "object" }

describe("a request", () => {
  it.effect("is read with its texts, files, thoughts, calls, outputs and tools", () =>
    Effect.gen(function* () {
      const serverItems = [
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "compaction"
      ]
      const approval = { type: "mcp_approval_request", id: "a1", server_label: "s", name: "n", arguments: "{}" }
      const { asked } = yield* served(
        sent({
          model: "m",
          instructions: "Be brief.",
          input: [
            { role: "system", content: "In French." },
            { type: "message", role: "developer", content: [{ type: "input_text", text: "Or not." }] },
            {
              role: "user",
              content: [
                { type: "input_text", text: "see" },
                { type: "input_image", image_url: "data:image/png;base64,AQID" },
                { type: "input_image", file_id: "f1", image_url: "https://a.test/i" },
                { type: "input_image" },
                { type: "input_file", filename: "a.pdf", file_data: "data:text/plain;base64,AQID" },
                { type: "input_file", file_url: "https://a.test/f", file_data: "data:text/plain;base64,AQID" },
                { type: "input_file", file_id: "f2", file_url: "https://a.test/f" }
              ]
            },
            {
              type: "reasoning",
              id: "rs",
              summary: [{ text: "h" }, { text: "m" }],
              encrypted_content: signatureOf("rs")
            },
            {
              type: "message",
              role: "assistant",
              content: [
                { type: "output_text", text: "I " },
                { type: "refusal", refusal: "look" }
              ]
            },
            { type: "function_call", call_id: "c1", name: "f", arguments: '{"n":1}' },
            ...serverItems.map((type) => ({ type, id: "i", status: "completed" })),
            approval,
            { type: "shell_call", call_id: "c2" },
            { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "one" }] },
            { type: "shell_call_output", call_id: "c2", output: [{ a: 1 }] },
            { type: "mcp_approval_response", approval_request_id: "a1", approve: true },
            { type: "reasoning", summary: [], encrypted_content: null },
            { role: "assistant", content: "yes" }
          ],
          tools: [
            { type: "function", name: "f", description: "F.", parameters: schema, strict: null },
            { type: "function", name: "g", description: null, parameters: null }
          ],
          tool_choice: { type: "function", name: "g" },
          stream: true
        })
      )
      const item = (kind: string) => ({ type: "provider-item", kind, opaque: { provider: "openai", data: null } })
      assert.deepStrictEqual<unknown>(asked, {
        format: "openai-responses",
        model: "m",
        messages: [
          Message.system("Be brief."),
          Message.system("In French."),
          Message.system("Or not."),
          Message.user([
            Message.text("see"),
            Message.image("image/png", { data: "AQID" }),
            Message.image("image/*", { url: "f1" }),
            Message.image("image/*", { url: "" }),
            Message.file("text/plain", { data: "AQID" }, "a.pdf"),
            Message.file("application/pdf", { url: "https://a.test/f" }),
            Message.file("application/pdf", { url: "f2" })
          ]),
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "hm" },
              Message.text("I look"),
              { type: "tool-call", id: "c1", name: "f", arguments: '{"n":1}' },
              ...[...serverItems, "mcp_approval_request", "shell_call"].map(item)
            ]
          },
          { role: "tool", callId: "c1", text: "one" },
          { role: "tool", callId: "c2", text: '[{"a":1}]' },
          { role: "tool", callId: "a1", text: "approved", isError: false },
          { role: "assistant", content: [{ type: "reasoning", text: "" }, Message.text("yes")] }
        ],
        tools: [
          { name: "f", description: "F.", parameters: schema },
          { name: "g", description: "", parameters: {} }
        ],
        toolChoice: { tool: "g" },
        isStreamed: true
      })
    })
  )

  it.effect("may have one text alone, and any choice among its tools", () =>
    Effect.gen(function* () {
      const { asked } = yield* served(sent({ model: "m", input: "hello", instructions: null }))
      assert.deepStrictEqual<unknown>(asked, {
        format: "openai-responses",
        model: "m",
        messages: [Message.user("hello")],
        tools: [],
        toolChoice: "auto",
        isStreamed: false
      })
      const own = { type: "function", name: "f" }
      const search = { type: "web_search" }
      for (const [tools, choice, expected] of [
        [[own], "none", "none"],
        [[own], "auto", "auto"],
        [[own], "required", "required"],
        [[own], { name: "f" }, { tool: "f" }],
        [[own, search], search, "auto"],
        [[search], "required", "required"]
      ] as const) {
        const { asked } = yield* served(sent({ model: "m", input: "hello", tools, tool_choice: choice }))
        assert.deepStrictEqual(asked?.toolChoice, expected)
      }
    })
  )

  it.effect("is refused with an item of another form, without a pair, or with a choice among no tools", () =>
    Effect.gen(function* () {
      const said = (part: object) => ({ input: [{ role: "user", content: [part] }] })
      const reasoning = (encrypted_content: string) => ({ type: "reasoning", id: "rs", summary: [], encrypted_content })
      const unfollowed = "Item 'rs' of type 'reasoning' was provided without its required following item."
      const valid = signatureOf("rs")
      const approval = { type: "mcp_approval_request", id: "a1", server_label: "s", name: "n", arguments: "{}" }
      for (const [body, words] of [
        [said({ type: "refusal" }), undefined],
        [said({ type: "input_text" }), undefined],
        [{ input: [{ role: "other", content: "x" }] }, undefined],
        [{ input: [{ type: "odd_call" }] }, undefined],
        [{ input: [{ type: "shell_call" }] }, undefined],
        [{ input: [{ type: "shell_call_output" }] }, undefined],
        [{ input: [{ ...approval, id: 5 }] }, undefined],
        [{ input: [approval, { type: "mcp_approval_response", approval_request_id: "a1" }] }, undefined],
        [
          { input: [{ type: "function_call", call_id: "c1", name: "f", arguments: "" }] },
          "No tool output found for function call c1."
        ],
        [{ input: [{ type: "local_shell_call", call_id: "c1" }] }, "No tool output found for local shell call c1."],
        [
          { input: [{ type: "function_call_output", call_id: "c1", output: "" }] },
          "No tool call found for function call output with call_id c1."
        ],
        [
          { input: [{ type: "mcp_approval_response", approval_request_id: "a1", approve: true }] },
          "No approval request found for approval response with approval_request_id a1."
        ],
        [{ input: [reasoning(valid)] }, unfollowed],
        [{ input: [reasoning(valid), { role: "user", content: "x" }] }, unfollowed],
        [
          {
            input: [
              approval,
              reasoning(valid),
              { type: "mcp_approval_response", approval_request_id: "a1", approve: true }
            ]
          },
          unfollowed
        ],
        [
          {
            input: [
              { type: "shell_call", call_id: "c1" },
              reasoning(valid),
              { type: "shell_call_output", call_id: "c1" }
            ]
          },
          unfollowed
        ],
        [
          { input: [reasoning("foreign"), { role: "assistant", content: "x" }] },
          "The encrypted content for item rs could not be verified."
        ],
        [
          { input: [reasoning(signatureOf("rt")), { role: "assistant", content: "x" }] },
          "The encrypted content for item rs could not be verified."
        ],
        [
          { input: "x", tool_choice: "auto" },
          "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        ],
        [
          { input: "x", tools: [{ type: "function", name: "f" }], tool_choice: { name: "g" } },
          "Tool choice 'g' not found in 'tools' parameter."
        ],
        [{ input: "x", background: true, store: false }, "Background mode requires 'store' to be true."],
        [{ input: "x", previous_response_id: "resp_0" }, "Previous response with id 'resp_0' not found."]
      ] as const) {
        const { answer, asked } = yield* served(sent({ model: "m", ...body }))
        assert.deepStrictEqual([answer.status, asked], [400, undefined], JSON.stringify(body))
        if (words !== undefined) assert.strictEqual(JSON.parse(textOf(answer)).error.message, words)
      }
    })
  )
})

describe("an earlier response", () => {
  const call = { type: "tool-call", id: "c1", name: "f", arguments: {} } as const

  it.effect("is part of the next request, without its instructions", () =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const handler = AnyWire.handler(({ messages }) =>
        Effect.sync(() => {
          asked.push(messages)
          return { content: asked.length === 1 ? [call] : [Message.text("so")] }
        })
      )
      const next = { model: "m", previous_response_id: "resp_7" }
      const output = { type: "function_call_output", call_id: "c1", output: "one" }
      assert.isUndefined((yield* handler(sent({ model: "m", input: "hello", instructions: "Be brief." }))).status)
      const refused = yield* handler(sent({ ...next, input: "and?" }))
      assert.strictEqual(refused.status, 400)
      assert.strictEqual(JSON.parse(textOf(refused)).error.message, "No tool output found for function call c1.")
      yield* handler({ ...sent({ ...next, input: [output] }), number: 8 })
      const last = { ...next, previous_response_id: "resp_8", input: "and?", instructions: "Be long." }
      yield* handler({ ...sent(last), number: 9 })
      const before = [Message.user("hello"), { role: "assistant", content: [call] }]
      const answered = { role: "tool", callId: "c1", text: "one" }
      assert.deepStrictEqual(asked, [
        [Message.system("Be brief."), Message.user("hello")],
        [...before, answered],
        [
          Message.system("Be long."),
          ...before,
          answered,
          { role: "assistant", content: [Message.text("so")] },
          Message.user("and?")
        ]
      ])
    })
  )

  it.effect("that is unknown is refused", () =>
    Effect.gen(function* () {
      const error = (message: string, code: string | null) => ({
        error: { message, type: "invalid_request_error", param: null, code }
      })
      const { answer } = yield* served(sent({ model: "m", input: "x", previous_response_id: "resp_0" }))
      assert.deepStrictEqual(
        JSON.parse(textOf(answer)),
        error("Previous response with id 'resp_0' not found.", "previous_response_not_found")
      )
      const polled = {
        ...received("/v1/responses/resp_0", undefined),
        method: "GET",
        authorization: Redacted.make("k")
      }
      const { answer: missing } = yield* served(polled)
      assert.strictEqual(missing.status, 404)
      assert.deepStrictEqual(JSON.parse(textOf(missing)), error("Response with id 'resp_0' not found.", null))
    })
  )
})

it.effect("a key is read without its scheme and blanks, and a scheme alone is none", () =>
  Effect.gen(function* () {
    for (const [authorization, status] of [
      ["Bearer k", 200],
      ["bearer   k ", 200],
      ["k", 200],
      ["Bearer k2", 401],
      ["Bearer ", 401]
    ] as const) {
      const request = { ...sent({ model: "m", input: "hello" }), authorization: Redacted.make(authorization) }
      const { answer } = yield* served(request, undefined, { apiKey: "k" })
      assert.strictEqual(answer.status ?? 200, status, authorization)
    }
    const { answer } = yield* served({
      ...sent({ model: "m", input: "hello" }),
      authorization: Redacted.make("Bearer ")
    })
    assert.strictEqual(JSON.parse(textOf(answer)).error.message, "You didn't provide an API key.")
  })
)
