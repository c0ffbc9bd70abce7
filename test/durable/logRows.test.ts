/** The rows of a log: which events they hold, and what is read of a stored event. */
import { assert, it } from "@effect/vitest"
import type { AgentEvent } from "@kintsugi/core"
import type { Schema } from "effect"
import { decoded, encoded, textOf, undecoded } from "../../packages/durable/src/logRows.ts"

/** Data with so many levels of lists. */
const nested = (levels: number): Schema.Json => {
  let data: Schema.Json = 1
  for (let level = 0; level < levels; level++) data = [data]
  return data
}

const origin = { runId: "r", agent: "a", turn: 1, at: 0 }

const progress = (data: Schema.Json): AgentEvent.AgentEvent => ({
  ...origin,
  type: "tool-progress",
  callId: "1",
  tool: "look",
  data
})

it("an event is stored as JSON and read from it, unless it is nested too deeply or is no event [P1393 P1543]", () => {
  const event = progress("half")
  assert.deepStrictEqual<unknown>(encoded(event), event)
  // an event is JSON
  assert.deepStrictEqual(decoded(event as unknown as Schema.Json), event)
  const asked = (levels: number): AgentEvent.AgentEvent => ({
    ...origin,
    type: "tool-start",
    callId: "1",
    tool: "look",
    arguments: nested(levels)
  })
  // the event is a level too
  assert.isDefined(encoded(asked(1099)))
  assert.strictEqual(encoded(asked(1100)), undefined)
  // what a listener in JavaScript may emit
  assert.strictEqual(encoded({ ...event, turn: "first" } as unknown as AgentEvent.AgentEvent), undefined)
  assert.strictEqual(decoded({ type: "turn-end" }), undefined)
})

it.each([
  [{ type: "turn-end", runId: "r" }, true],
  [{ type: "turn-end" }, false],
  [{ runId: "r" }, false],
  [{ type: "turn-end", runId: "" }, false],
  [{ type: "", runId: "r" }, false],
  [{ type: "turn-end", runId: 7 }, false],
  [{ type: null, runId: "r" }, false],
  ["turn-end", false],
  [null, false]
] as ReadonlyArray<readonly [Schema.Json, boolean]>)(
  "the stored event %j has a run and a type: %s [P1543]",
  (json, isSo) => {
    assert.strictEqual<unknown>(undecoded(json), isSo ? json : undefined)
  }
)

it("a field of a stored event is its text, or empty [P1543]", () => {
  assert.deepStrictEqual(
    [textOf({ text: "a" }, "text"), textOf({ text: 7 }, "text"), textOf({}, "text"), textOf(7, "text")],
    ["a", "", "", ""]
  )
})
