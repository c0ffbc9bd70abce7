/** Which items of a reply wait for an answer that no tool of the agent gives. */
import { assert, describe, it } from "@effect/vitest"
import type * as Provider from "@kintsugi/providers/Provider"
import { waitingIn } from "../../../../packages/providers/src/codec/openai-responses/waiting.ts"
import { call, type Item, message, source } from "./_support/responses.ts"

const of = (kind: string, more: Item = {}): Item => ({ type: kind, id: "i1", call_id: "c1", ...more })
const text = message("Done.")
const grok: Provider.Source = { provider: "azure", model: "grok-4", secrets: [] }

const waiting = (items: ReadonlyArray<Item>, from = source) => waitingIn(from, items, undefined)

describe("an item of a reply", () => {
  it("waits before a text if only the client can answer it", () => {
    for (const kind of [
      "mcp_approval_request",
      "custom_tool_call",
      "computer_call",
      "local_shell_call",
      "shell_call",
      "apply_patch_call"
    ]) {
      assert.strictEqual(waiting([of(kind), text]), kind)
      assert.strictEqual(waiting([text, of(kind)]), kind)
      assert.isUndefined(waiting([of(kind, { status: "incomplete" }), text]))
    }
    assert.isUndefined(waiting([of("mystery_call"), text]))
  })

  it("waits for nothing if it is a result, or an item of the provider itself, in any status", () => {
    for (const kind of [
      "message",
      "reasoning",
      "compaction",
      "function_call",
      "web_search_call",
      "file_search_call",
      "code_interpreter_call",
      "image_generation_call",
      "mcp_call",
      "mcp_list_tools",
      "shell_call_output",
      "search_result",
      "fetch_url_results",
      "sandbox_results",
      "sandbox_call",
      "share_file"
    ]) {
      assert.isUndefined(waiting([text, of(kind, { status: "in_progress" })]), kind)
      assert.isUndefined(waiting([of(kind, { status: "in_progress" })]), kind)
    }
    for (const kind of ["web_output_call", "share_file_call", "my_sandbox_call", "my_share_file", "search_resultset"]) {
      assert.strictEqual(waiting([text, of(kind)]), kind)
    }
  })

  it("of an unknown kind waits behind the text if it has the id of a call or a status that is no end", () => {
    const bare = (status?: string): Item => ({ type: "mystery", ...(status === undefined ? {} : { status }) })
    assert.strictEqual(waiting([text, of("mystery")]), "mystery")
    assert.strictEqual(waiting([text, bare("in_progress")]), "mystery")
    assert.isUndefined(waiting([bare("in_progress"), text]))
    for (const status of [undefined, "completed", "incomplete", "failed", "cancelled", "canceled", "expired"]) {
      assert.isUndefined(waiting([text, bare(status)]), status)
      // in a reply without text and calls it always waits
      assert.strictEqual(waiting([bare(status)]), "mystery", status)
    }
    assert.isUndefined(waiting([call("a", "{}"), bare()]))
    assert.isUndefined(waiting([text, of("mystery", { execution: "server" })]))
  })

  it("waits no longer once its answer has come", () => {
    const output = (call_id: string): Item => ({ type: "computer_call_output", call_id })
    assert.isUndefined(waiting([of("computer_call"), output("c1")]))
    assert.strictEqual(waiting([of("computer_call"), output("c2")]), "computer_call")
    const response = (approval_request_id: string): Item => ({ type: "mcp_approval_response", approval_request_id })
    assert.isUndefined(waiting([of("mcp_approval_request"), response("i1"), text]))
    assert.strictEqual(waiting([of("mcp_approval_request"), response("c1"), text]), "mcp_approval_request")
  })

  it("waits as a program only if the program itself has called nothing", () => {
    const program = of("program", { status: "in_progress" })
    const called = (type: string) => call("a", "{}", { caller: { type, caller_id: "p1" } })
    assert.isUndefined(waiting([program, called("program")]))
    assert.strictEqual(waiting([program, called("direct")]), "program")
    assert.strictEqual(waiting([program, call("a", "{}")]), "program")
    assert.strictEqual(waiting([program, of("mystery"), called("program")]), "mystery")
  })

  it("of xAI's own tools waits only behind the text", () => {
    const custom = of("custom_tool_call")
    for (const from of [grok, { ...source, provider: "xai" }]) {
      assert.isUndefined(waiting([custom, text], from))
      assert.strictEqual(waiting([text, custom], from), "custom_tool_call")
      assert.strictEqual(waiting([of("shell_call"), text], from), "shell_call")
    }
  })
})
