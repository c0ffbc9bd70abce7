/** Deferred calls whose run goes on: their work is drawn until its end, beside the turns of the run. */
import { Recording, Scene } from "@kintsugi/view"
import { expect, it } from "vitest"

const of = { runId: "r", agent: "clerk" }
const call = { ...of, callId: "c1", tool: "order" }

/** What is drawn of the tools of a run whose work begins at 10, and whose last events these are. */
const drawn = (...events: ReadonlyArray<object>) => {
  const use = { arguments: {}, settlement: { kind: "deferred", text: "later" }, attempts: 1 }
  const recording = Recording.fromEvents([
    { ...of, turn: 0, at: 0, type: "run-start", input: "go", transcript: [] },
    { ...of, turn: 1, at: 0, type: "turn-start" },
    { ...call, turn: 1, at: 5, type: "tool-start", arguments: {} },
    { ...call, turn: 1, at: 10, type: "tool-waiting", handle: 1, expiresAt: 90 },
    { ...call, turn: 1, at: 10, type: "tool-end", use },
    { ...of, turn: 1, at: 10, type: "turn-end", message: { role: "assistant", content: [] } },
    { ...of, turn: 2, at: 20, type: "turn-start" },
    ...events
  ])
  expect(recording.problems).toEqual([])
  const { items } = Scene.make(recording)
  return items.flatMap((one) =>
    one.shape === "span" && one.part === "call" ? [`${one.label}: ${one.from} to ${one.to}, ${one.state}`] : []
  )
}

const message = { role: "user", content: [{ type: "text", text: "it is over" }] }
const result = { ...call, turn: 2, type: "tool-result", handle: 1, settlement: { kind: "result", text: "7" }, message }
const completed = { ...of, turn: 2, at: 60, type: "run-completed", output: "done", usage: {}, ledger: [] }
const begun = "order: 5 to 10, ok"

it("the work of a call is drawn until its result comes [P1524]", () => {
  expect(drawn({ ...result, at: 50 }, completed)).toEqual([begun, "order waits for its settlement: 10 to 50, ok"])
})

it("the work of each of two calls is drawn until its own result comes [P1524]", () => {
  const other = { ...call, turn: 2, callId: "c2", tool: "ship" }
  const use = { arguments: {}, settlement: { kind: "deferred", text: "later" }, attempts: 1 }
  const spans = drawn(
    { ...other, at: 20, type: "tool-start", arguments: {} },
    { ...other, at: 25, type: "tool-waiting", handle: 2, expiresAt: 90 },
    { ...other, at: 25, type: "tool-end", use },
    { ...result, at: 50 },
    { ...result, ...other, at: 55, handle: 2 },
    completed
  )
  expect(new Set(spans)).toEqual(
    new Set([
      begun,
      "order waits for its settlement: 10 to 50, ok",
      "ship: 20 to 25, ok",
      "ship waits for its settlement: 25 to 55, ok"
    ])
  )
})

it("its failure and the next attempt are those of the call [P1524]", () => {
  const error = { _tag: "Busy", message: "busy" }
  const retried = { tag: "Busy", verdict: "retry", gaveUp: false, rung: 0, attempt: 1, delay: 0, error, layer: "tool" }
  const spans = drawn(
    { ...call, turn: 2, at: 30, type: "tool-failed", attempt: 1, error },
    { ...call, ...retried, turn: 2, at: 30, type: "verdict" },
    { ...call, turn: 2, at: 40, type: "tool-waiting", handle: 2, expiresAt: 90, replaces: 1 },
    { ...result, at: 50, handle: 2 },
    completed
  )
  expect(spans.slice(0, 2)).toEqual([begun, "order waits for its settlement: 10 to 30, failed"])
  expect(spans.at(-1)).toBe("order waits for its settlement: 40 to 50, ok")
})

it("work that its run leaves has no end [P1524]", () => {
  expect(drawn(completed)).toEqual([begun, "order waits for its settlement: 10 to 60, unfinished"])
})
