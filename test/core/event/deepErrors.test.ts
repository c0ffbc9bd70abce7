/** Errors in events that hold what is nested too deeply. */
import { assert, it } from "@effect/vitest"
import { AgentEvent, ToolError } from "@kintsugi/core"
import { Schema } from "effect"

const text = Schema.fromJsonString(AgentEvent.AgentEvent)
const origin = { runId: "r", agent: "a", turn: 1, at: 5 }

it("an error that holds a value of any depth is written, the value down to 500 levels [P1393]", () => {
  for (const levels of [400, 6000, 50_000]) {
    const rawValue: Schema.Json = JSON.parse("[".repeat(levels) + "]".repeat(levels))
    const error = new ToolError.DeserializationError({
      tool: "t",
      callId: "c",
      message: "m",
      rawValue,
      targetType: "T",
      issues: []
    })
    const written = Schema.encodeSync(text)({
      ...origin,
      type: "tool-failed",
      callId: "c",
      tool: "t",
      attempt: 1,
      error
    })
    assert.strictEqual(written.includes("…"), levels > 500)
    const back = Schema.decodeUnknownSync(text)(written)
    assert(back.type === "tool-failed" && back.error instanceof ToolError.DeserializationError)
    assert.strictEqual(back.error.message, "m")
  }
})
