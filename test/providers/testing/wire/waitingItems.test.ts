/** Items of Responses that wait for the client: approvals of MCP calls, and calls of tools of a built-in kind. */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Layer, Redacted, Ref, type Schema } from "effect"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"
import { collect, generate } from "../../_support/replay.ts"
import { asked, dataIn } from "./_support/asked.ts"

const item = (kind: string, data: Schema.JsonObject): Wire.BrainReply["content"][number] => ({
  type: "provider-item",
  kind,
  opaque: { provider: "openai", data: { type: kind, ...data } }
})

/** As the guide on MCP and connectors shows it (developers.openai.com, looked up on 2026-11-26). */
const approvalRequest = {
  id: "mcpr_682d498e3bd4819196a0ce1664f8e77b04ad1e533afccbfa",
  type: "mcp_approval_request",
  arguments: '{"query":"Responses API streaming","limit":1}',
  name: "search_openai_docs",
  server_label: "openai_docs"
}

const user = { role: "user", content: "How do I stream?" }

const serving = Effect.gen(function* () {
  const heard = yield* Ref.make<ReadonlyArray<Message.Foreign>>([])
  const { url } = yield* LoopbackServer.make(
    AnyWire.handler((request) =>
      Effect.as(Ref.set(heard, request.messages), {
        content: [item("mcp_approval_request", approvalRequest), Message.text("One moment.")]
      })
    )
  )
  const ask = (...input: ReadonlyArray<object>) => asked(`${url}/v1/responses`, { model: "m", input })
  return { ask, heard: Ref.get(heard), url }
})

describe("a request for approval", () => {
  it.live("goes out as the docs show it, whole and streamed", () =>
    Effect.gen(function* () {
      const { ask, url } = yield* serving
      const { body } = yield* ask(user)
      assert.deepNestedInclude(body, { "output[0]": approvalRequest, status: "completed" })
      const { text } = yield* asked(`${url}/v1/responses`, { model: "m", input: [user], stream: true })
      const about = dataIn(text).filter(({ output_index }) => output_index === 0)
      assert.deepStrictEqual(
        about.map(({ item, type }) => [type, item]),
        [
          ["response.output_item.added", approvalRequest],
          ["response.output_item.done", approvalRequest]
        ]
      )
    })
  )

  it.live("is refused by name where no approval can be given, whole and streamed [P1406]", () =>
    Effect.gen(function* () {
      const { url } = yield* serving
      const apiKey = Redacted.make("any")
      const layer = Layer.provide(
        OpenAi.layerResponses({ model: "m", apiKey, baseUrl: `${url}/v1`, transport: { retry: false } }),
        Transport.layerFetch
      )
      for (const call of [generate, collect]) {
        const error = yield* Effect.flip(Effect.provide(call, layer))
        assert.strictEqual(error._tag, "CapabilityMismatchError")
        assert.include(error.message, approvalRequest.type)
      }
    })
  )

  it.live("is answered by a decision, which the brain sees as a result", () =>
    Effect.gen(function* () {
      const { ask, heard } = yield* serving
      const decide = (approve: boolean, more: object = {}) => ({
        type: "mcp_approval_response",
        approval_request_id: approvalRequest.id,
        approve,
        ...more
      })
      const results = function* (decision: object) {
        assert.strictEqual((yield* ask(user, approvalRequest, decision)).status, 200)
        return (yield* heard).filter(({ role }) => role === "tool")
      }
      const callId = approvalRequest.id
      assert.deepStrictEqual(yield* Effect.gen(() => results(decide(true))), [
        { role: "tool", callId, text: "approved", isError: false }
      ])
      assert.deepStrictEqual(yield* Effect.gen(() => results(decide(false, { reason: "too dear" }))), [
        { role: "tool", callId, text: "too dear", isError: true }
      ])
      assert.deepStrictEqual(yield* Effect.gen(() => results(decide(false))), [
        { role: "tool", callId, text: "denied", isError: true }
      ])
      const { status, text } = yield* ask(user, decide(true))
      assert.strictEqual(status, 400)
      assert.include(text, `No approval request found for approval response with approval_request_id ${callId}`)
    })
  )
})

describe("a stored reply", () => {
  it.live("waits for a decision on its requests for approval, and on no other item", () =>
    Effect.gen(function* () {
      const search = item("web_search_call", { id: "ws_1", status: "completed" })
      const { url } = yield* LoopbackServer.make(
        AnyWire.handler(() =>
          Effect.succeed({
            content: [item("mcp_approval_request", approvalRequest), search, Message.text("One moment.")]
          })
        )
      )
      const ask = (body: object) => asked(`${url}/v1/responses`, { model: "m", ...body })
      const { body } = yield* ask({ input: [user] })
      const decide = (id: string) =>
        ask({
          previous_response_id: body["id"],
          input: [{ type: "mcp_approval_response", approval_request_id: id, approve: true }]
        })
      assert.strictEqual((yield* decide(approvalRequest.id)).status, 200)
      const { status, text } = yield* decide("ws_1")
      assert.strictEqual(status, 400)
      assert.include(text, "No approval request found for approval response with approval_request_id ws_1")
    })
  )
})

describe("a call of a built-in kind", () => {
  const kinds = [
    ["apply_patch_call", "apply patch call", { operation: { type: "delete_file", path: "a" }, status: "completed" }],
    ["computer_call", "computer call", { action: { type: "screenshot" }, status: "completed" }],
    ["custom_tool_call", "custom tool call", { name: "sql", input: "select 1" }],
    ["local_shell_call", "local shell call", { action: { type: "exec", command: ["ls"], env: {} } }],
    ["shell_call", "shell call", { action: { commands: ["ls"], timeout_ms: null }, status: "completed" }]
  ] as const
  it.live.each(kinds)("%s waits for its output, and is refused without it", ([type, words, fields]) =>
    Effect.gen(function* () {
      const { ask, heard } = yield* serving
      const call = { type, id: "x_1", call_id: "call_1", ...fields }
      const output = { type: `${type}_output`, call_id: "call_1", output: "fine" }
      assert.strictEqual((yield* ask(user, call, output)).status, 200)
      assert.deepInclude(yield* heard, { role: "tool", callId: "call_1", text: "fine" })
      assert.include((yield* ask(user, call)).text, `No tool output found for ${words} call_1.`)
      assert.include((yield* ask(user, output)).text, `No tool call found for ${words} output with call_id call_1.`)
      const seen = { ...output, output: { type: "computer_screenshot", image_url: "data:," } }
      yield* ask(user, call, seen)
      assert.deepInclude(yield* heard, { role: "tool", callId: "call_1", text: JSON.stringify(seen.output) })
    })
  )

  it.live("is left out by other formats, and so is the item of another provider", () =>
    Effect.gen(function* () {
      const foreign = { ...item("mcp_approval_request", approvalRequest), opaque: { provider: "gemini", data: {} } }
      const content = [item("shell_call", { call_id: "c" }), Message.text("fine")]
      const { url } = yield* LoopbackServer.make(
        AnyWire.handler(({ format }) =>
          Effect.succeed({ content: format === "openai-responses" ? [foreign, Message.text("fine")] : content })
        )
      )
      const chat = yield* asked(`${url}/v1/chat/completions`, { model: "m", messages: [user] })
      assert.include(chat.text, "fine")
      assert.notInclude(chat.text, "shell_call")
      const { body } = yield* asked(`${url}/v1/responses`, { model: "m", input: [user] })
      assert.lengthOf(body["output"] as ReadonlyArray<unknown>, 1)
    })
  )
})
