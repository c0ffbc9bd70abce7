/** For which call a message waits, of those that no tool of the agent answers. */
import { assert, it } from "@effect/vitest"
import type { Schema } from "effect"
import { Unanswered, unansweredNames } from "../../../../packages/providers/src/codec/anthropic/waiting.ts"

type Block = Schema.JsonObject

const none: ReadonlySet<string> = new Set()

const kindOf = (
  blocks: ReadonlyArray<Schema.Json>,
  reason: string | undefined,
  { calls = false, names = none }: { readonly calls?: boolean; readonly names?: ReadonlySet<string> } = {}
) => {
  const unanswered = new Unanswered(names)
  for (const block of blocks) unanswered.note(block)
  return unanswered.kind(reason, calls)
}

const search: Block = { type: "server_tool_use", id: "s1", name: "web_search" }
const found: Block = { type: "web_search_tool_result", tool_use_id: "s1", content: [] }
const other: Block = { type: "mcp_tool_use", id: "s2", name: "look" }
const text: Block = { type: "text", text: "so" }

it("a call waits until its own result came, and beside calls of tools or words only as far as the stop reason says", () => {
  assert.strictEqual(kindOf([search], "tool_use"), "server_tool_use")
  assert.isUndefined(kindOf([search, found], "tool_use"))
  assert.strictEqual(kindOf([search, other], "tool_use"), "server_tool_use")
  assert.strictEqual(kindOf([search, other, found], "tool_use"), "mcp_tool_use")
  assert.strictEqual(kindOf([search, { ...found, tool_use_id: "s2" }], "tool_use"), "server_tool_use")
  assert.isUndefined(kindOf([null, 7, {}, { type: "tool_used", id: "s3" }], "tool_use"))
  // two calls without an id are one
  const { id: _, ...nameless } = search
  assert.strictEqual(kindOf([nameless, { ...other, type: "x_tool_use", id: "" }], "tool_use"), "x_tool_use")
  assert.isUndefined(kindOf([search], "tool_use", { calls: true }))
  const endings = [undefined, "end_turn", "stop_sequence", "never_seen"]
  for (const reason of endings) {
    assert.strictEqual(kindOf([search], reason), "server_tool_use", reason)
    for (const silent of [{ ...text, text: "" }, { type: "text" }, { type: "thinking", text: "hm" }]) {
      assert.strictEqual(kindOf([search, silent], reason), "server_tool_use", `${reason} ${JSON.stringify(silent)}`)
    }
    assert.isUndefined(kindOf([search, text], reason), reason)
    assert.isUndefined(kindOf([search, { type: "tool_use", id: "c1", name: "f" }], reason), reason)
    const unanswered = new Unanswered(none)
    unanswered.note(search)
    unanswered.answered()
    assert.isUndefined(unanswered.kind(reason, false), reason)
  }
  assert.strictEqual(kindOf([search, text], "tool_use"), "server_tool_use")
  for (const reason of ["pause_turn", "compaction", "max_tokens", "model_context_window_exceeded"]) {
    assert.isUndefined(kindOf([search], reason), reason)
  }
})

it("a call of a provider's tool that the client answers waits under its name, unless the agent answers it", () => {
  const tools = [{ type: "bash_20250124", name: "bash" }, { type: "memory_20250818", name: "memory" }, { name: "" }, {}]
  const names = unansweredNames(tools, ["memory"])
  assert.deepStrictEqual([...names], ["bash"])
  assert.deepStrictEqual([...unansweredNames(tools, undefined)], ["bash", "memory"])
  assert.deepStrictEqual([...unansweredNames(undefined, ["memory"])], [])
  const use = (name: string): Block => ({ type: "tool_use", id: name, name })
  for (const reason of ["tool_use", "end_turn", undefined]) {
    assert.strictEqual(kindOf([text, use("bash")], reason, { calls: true, names }), "bash")
    assert.isUndefined(kindOf([text, use("memory")], reason, { calls: true, names }))
    assert.isUndefined(kindOf([text, { ...search, name: "bash" }, found], reason, { names }))
  }
  const both = new Set(["bash", "memory"])
  assert.strictEqual(kindOf([use("memory"), use("bash")], "tool_use", { names: both }), "memory")
  assert.isUndefined(kindOf([use("bash")], "max_tokens", { names }))
})
