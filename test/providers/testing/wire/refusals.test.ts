/** The server sides here refuse what the real services refuse, with the same status and similar words. */
import { assert, describe, it } from "@effect/vitest"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import { brain, checking } from "./_support/refusals.ts"

describe("anthropic-messages refuses", () => {
  const headers = { "x-api-key": "any", "anthropic-version": "2023-06-01" }
  const asked = { role: "user", content: "hello" }
  const call = { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: {} }] }
  const result = { type: "tool_result", tool_use_id: "t1", content: "x", is_error: true }
  const answered = { role: "user", content: [result] }
  const of = (...messages: ReadonlyArray<object>) => ({ model: "m", max_tokens: 9, messages })
  checking("/v1/messages", headers, of(asked, call, answered), [
    {
      why: "a stranger",
      body: of(asked),
      headers: { "anthropic-version": "x" },
      status: 401,
      says: /x-api-key header/
    },
    { why: "no version", body: of(asked), headers: { "x-api-key": "any" }, status: 400, says: /anthropic-version/ },
    { why: "no JSON", body: "nonsense", status: 400, says: /"invalid_request_error".*parse the JSON/ },
    {
      why: "no longest reply",
      body: { model: "m", messages: [asked] },
      status: 400,
      says: /max_tokens: Field required/
    },
    { why: "no message", body: of(), status: 400, says: /at least one message/ },
    { why: "an unknown model", body: { ...of(asked), model: "x" }, status: 404, says: /"not_found_error".*model: x/ },
    {
      why: "a system message among the others",
      body: of(asked, { role: "system", content: "x" }),
      status: 400,
      says: /role/
    },
    {
      why: "a conversation that the model opens",
      body: of(call, answered),
      status: 400,
      says: /must use the \\"user\\" role/
    },
    { why: "an open call", body: of(asked, call), status: 400, says: /immediately after: t1/ },
    {
      why: "a call answered too late",
      body: of(asked, call, asked, answered),
      status: 400,
      says: /immediately after: t1/
    },
    {
      why: "a result after a text",
      body: of(asked, call, { role: "user", content: [{ type: "text", text: "so" }, result] }),
      status: 400,
      says: /immediately after: t1/
    },
    { why: "a result without a call", body: of(asked, answered), status: 400, says: /unexpected `tool_use_id`.*t1/ },
    {
      why: "an id used twice",
      body: of(asked, call, answered, call, answered),
      status: 400,
      says: /ids must be unique/
    },
    {
      why: "an id of another form",
      body: of(asked, { role: "assistant", content: [{ type: "tool_use", id: "f:0", name: "f", input: {} }] }),
      status: 400,
      says: /should match pattern/i
    },
    {
      why: "arguments that are a text",
      body: of(asked, { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: "{}" }] }),
      status: 400,
      says: /invalid_request_error/
    },
    { why: "an empty text", body: of({ role: "user", content: "" }), status: 400, says: /must be non-empty/ },
    {
      why: "a text of blanks",
      body: of({ role: "user", content: [{ type: "text", text: " \n" }] }),
      status: 400,
      says: /non-whitespace/
    },
    {
      why: "a signature that is not its own",
      body: of(asked, { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "forged" }] }),
      status: 400,
      says: /Invalid `signature`/
    },
    {
      why: "a choice without tools",
      body: { ...of(asked), tool_choice: { type: "any" } },
      status: 400,
      says: /providing tools/
    },
    {
      why: "a choice of no tool",
      body: {
        ...of(asked),
        tools: [{ name: "f", input_schema: { type: "object" } }],
        tool_choice: { type: "tool", name: "g" }
      },
      status: 400,
      says: /Tool 'g' not found/
    },
    {
      why: "a tool of another name",
      body: { ...of(asked), tools: [{ name: "f.g", input_schema: { type: "object" } }] },
      status: 400,
      says: /tools\.0\.custom\.name/
    },
    {
      why: "parameters that are no object",
      body: { ...of(asked), tools: [{ name: "f", input_schema: { anyOf: [] } }] },
      status: 400,
      says: /input_schema\.type/
    },
    {
      why: "thinking with a forced call",
      body: {
        ...of(asked),
        thinking: { type: "enabled", budget_tokens: 1024 },
        tool_choice: { type: "tool", name: "f" }
      },
      status: 400,
      says: /Thinking may not be enabled/
    }
  ])
})

describe("gemini-content refuses", () => {
  const headers = { "x-goog-api-key": "any" }
  const path = "/v1beta/models/m:generateContent"
  const older = "/v1beta/models/gemini-2.5-flash:generateContent"
  const asked = { role: "user", parts: [{ text: "hello" }] }
  const call = { functionCall: { name: "f", args: {} }, thoughtSignature: "skip_thought_signature_validator" }
  const { thoughtSignature: _, ...unsigned } = call
  const response = { functionResponse: { name: "f", response: { output: "x" } } }
  const model = (...parts: ReadonlyArray<object>) => ({ role: "model", parts })
  const user = (...parts: ReadonlyArray<object>) => ({ role: "user", parts })
  const of = (...contents: ReadonlyArray<object>) => ({ contents })
  checking(path, headers, of(asked, model(call), user(response)), [
    { why: "a stranger", body: of(asked), headers: {}, status: 403, says: /PERMISSION_DENIED/ },
    { why: "no JSON", body: "nonsense", status: 400, says: /INVALID_ARGUMENT/ },
    { why: "no contents", body: {}, status: 400, says: /contents is not specified/ },
    { why: "a field that it does not know", body: { ...of(asked), stream: true }, status: 400, says: /Unknown name/ },
    {
      why: "an unknown model",
      body: of(asked),
      path: "/v1beta/models/x:generateContent",
      status: 404,
      says: /models\/x is not found/
    },
    {
      why: "a role of others",
      body: of({ ...asked, role: "assistant" }),
      status: 400,
      says: /valid role: user, model/
    },
    { why: "no parts", body: of(user()), status: 400, says: /parts must not be empty/ },
    { why: "an open call", body: of(asked, model(call)), status: 400, says: /number of function response parts/ },
    {
      why: "fewer responses than calls",
      body: of(asked, model(call, call), user(response)),
      status: 400,
      says: /number of function response parts/
    },
    {
      why: "a response without a call",
      body: of(asked, user(response)),
      status: 400,
      says: /after a function call turn/
    },
    { why: "a response first", body: of(user(response)), status: 400, says: /after a function call turn/ },
    {
      why: "a call that follows no user",
      body: of(model(call), user(response)),
      status: 400,
      says: /immediately after a user turn/
    },
    {
      why: "a call without its signature",
      body: of(asked, model(unsigned), user(response)),
      status: 400,
      says: /missing a thought_signature.*default_api:f/
    },
    {
      why: "a signature that is not its own",
      body: of(asked, model({ ...call, thoughtSignature: "forged" }), user(response)),
      status: 400,
      says: /signature is not valid/
    }
  ])
  it.live("no call without a signature from an older model, nor from an earlier turn", () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(AnyWire.handler(brain))
      const turn = of(asked, model(unsigned), user(response))
      for (const [at, body] of [
        [older, turn],
        [path, of(...turn.contents, model({ text: "so" }), asked)]
      ] as const) {
        const response = yield* Effect.promise(() =>
          fetch(`${server.url}${at}?key=any`, { method: "POST", body: JSON.stringify(body) })
        )
        assert.strictEqual(response.status, 200)
      }
    })
  )
})

describe("ollama-chat refuses", () => {
  const asked = { role: "user", content: "hello" }
  const of = (...messages: ReadonlyArray<object>) => ({ model: "m", messages, stream: false })
  checking("/api/chat", {}, of(asked), [
    { why: "no JSON", body: "nonsense", status: 400, says: /^\{"error":"/ },
    { why: "no model", body: { messages: [asked] }, status: 400, says: /^\{"error":"model is required"\}$/ },
    { why: "an unknown model", body: { ...of(asked), model: "x" }, status: 404, says: /model 'x' not found/ },
    {
      why: "arguments that are a text",
      body: of(asked, { role: "assistant", content: "", tool_calls: [{ function: { name: "f", arguments: "{}" } }] }),
      status: 400,
      says: /arguments/
    }
  ])
})

describe("one server for all", () => {
  it.live("answers 404 to a path of no format, and to one behind that of a format", () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(AnyWire.handler(brain))
      for (const path of ["/v1/embeddings", "/api/chat/more"]) {
        const answer = yield* Effect.promise(async () => {
          const response = await fetch(`${server.url}${path}`, { method: "POST", body: "{}" })
          return [response.status, response.headers.get("content-type"), await response.text()]
        })
        assert.deepStrictEqual(answer, [404, "text/plain", "404 page not found"])
      }
    })
  )

  it.live("streams an array if a request does not ask Gemini for events", () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(AnyWire.handler(brain))
      const response = yield* Effect.promise(async () => {
        const body = JSON.stringify({ contents: [{ parts: [{ text: "hello" }] }] })
        const headers = { "x-goog-api-key": "any" }
        const url = `${server.url}/v1beta/models/m:streamGenerateContent`
        return (await fetch(url, { method: "POST", body, headers })).json()
      })
      assert.deepInclude(response[0].candidates[0], { finishReason: "STOP" })
    })
  )
})
