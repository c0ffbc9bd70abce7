/** The steps of a recording as values, with their ends. */
import { assert, describe, it } from "@effect/vitest"
import { Recording } from "@kintsugi/view"
import { type Step, stepsOf } from "../../../packages/view/src/comparison/steps.ts"

const steps = (...events: ReadonlyArray<object>) =>
  stepsOf(
    Recording.fromEvents(
      events.map((event, index) => ({ runId: "r", agent: "clerk", turn: 1, at: 100 + index * 10, ...event }))
    ).events
  )

const step = (fields: Partial<Step>): Step => ({
  index: 0,
  agent: "clerk",
  turn: 1,
  depth: 0,
  what: "pay {}",
  key: "clerk\npay\n{}",
  began: 0,
  lasted: undefined,
  end: "no end",
  text: "",
  failures: 0,
  ...fields
})

const call = { callId: "c", tool: "pay" }
const start = (args: unknown = {}) => ({ ...call, type: "tool-start", arguments: args })
const ended = (kind?: string, text?: string) => ({ ...call, type: "tool-end", use: { settlement: { kind, text } } })
const asked = (attempt = 1) => ({ type: "model-start", attempt })
const replied = (...content: ReadonlyArray<object>) => ({ type: "model-end", reply: { content } })

describe("the steps of a recording", () => {
  it("are none without events, and none of what has no beginning [P1273]", () => {
    assert.deepStrictEqual(stepsOf([]), [])
    assert.deepStrictEqual(
      steps({ ...call, type: "tool-failed", error: { _tag: "Busy" } }, { type: "model-failed" }),
      []
    )
  })

  it("are as deep as the first event of their run says [P1273]", () => {
    const parent = { runId: "r", callId: "c" }
    const [, , child] = steps(
      { type: "run-start" },
      start(),
      { ...start(), runId: "s", parent },
      { ...start(), runId: "s" }
    )
    assert.strictEqual(child?.depth, 1)
    assert.strictEqual(steps({ ...start(), runId: "s", parent }, { ...start(), runId: "s" })[1]?.depth, 0)
    const deep = steps({ type: "run-start" }, { type: "run-start", runId: "s", parent }, { ...start(), runId: "s" })
    assert.strictEqual(deep[0]?.depth, 1)
  })

  it("have an answer that was cut off once, though the run ends twice [P1273]", () => {
    assert.deepStrictEqual(
      steps(asked(), { type: "run-suspended" }, { type: "run-failed", error: { _tag: "E" } }).map(({ end }) => end),
      ["cut off"]
    )
  })
})

describe("a tool call", () => {
  it("is a step from its start to its settlement, with its failures [P1273]", () => {
    const failed = { ...call, type: "tool-failed", error: { _tag: "Busy" } }
    assert.deepStrictEqual(steps(start()), [step({})])
    assert.deepStrictEqual(steps(start(), failed), [step({ failures: 1, text: "Busy" })])
    assert.deepStrictEqual(steps(start(), failed, failed, ended("told", "no")), [
      step({ failures: 2, lasted: 30, end: "told", text: "no" })
    ])
    assert.deepStrictEqual(steps(start(), ended()), [step({ lasted: 10, end: "tool-end" })])
  })

  it("ends too if it was denied or skipped [P1273]", () => {
    for (const type of ["tool-denied", "tool-skipped"])
      assert.deepStrictEqual(
        steps(start(), { ...call, type, settlement: { kind: "denied", text: "no" } }, ended("result")),
        [
          step({ lasted: 10, end: "denied", text: "no" }),
          step({ index: 2, began: 20, lasted: 0, what: "pay", key: "clerk\npay\n", end: "result" })
        ]
      )
  })

  it("of an unknown tool has no beginning, and is a step all the same [P1273]", () => {
    assert.deepStrictEqual(steps({ type: "turn-start" }, ended("told", "unknown")), [
      step({ index: 1, began: 10, lasted: 0, what: "pay", key: "clerk\npay\n", end: "told", text: "unknown" })
    ])
    assert.strictEqual(steps({ type: "tool-start", callId: "c" })[0]?.what, "?")
    assert.strictEqual(steps({ type: "tool-end", callId: "c" })[0]?.what, "?")
  })

  it("has the same key for the same arguments, as JSON text or not, in any order of keys [P1273]", () => {
    const key = (args: unknown) => steps(start(args))[0]?.key
    const args = { b: [{ d: 1, c: null }], a: "x" }
    assert.strictEqual(key(args), 'clerk\npay\n{"a":"x","b":[{"c":null,"d":1}]}')
    assert.strictEqual(key('{"b": [{"d": 1, "c": null}], "a": "x"}'), key(args))
    assert.strictEqual(key("no JSON"), "clerk\npay\nno JSON")
    assert.strictEqual(steps({ ...call, type: "tool-start" })[0]?.key, "clerk\npay\n")
    assert.deepStrictEqual([key([2, 1]), key("5")], ["clerk\npay\n[2,1]", "clerk\npay\n5"])
    assert.strictEqual(steps(start("x".repeat(200)))[0]?.what, `pay ${"x".repeat(95)}…`)
  })

  it("that is at work when its run ends was cut off, or has failed with it [P1273]", () => {
    const failed = { ...call, type: "tool-failed", error: { _tag: "Busy" } }
    const ends = (...events: ReadonlyArray<object>) => steps(start(), ...events).map(({ end, lasted }) => [end, lasted])
    assert.deepStrictEqual(ends(failed, { type: "run-failed" }), [["failed", 20]])
    assert.deepStrictEqual(ends({ type: "run-failed" }), [["cut off", 10]])
    assert.deepStrictEqual(ends(failed, { type: "run-interrupted" }), [["cut off", 20]])
    assert.deepStrictEqual(ends({ type: "run-failed", runId: "other" }), [["no end", undefined]])
    // the call has ended: a later settlement is of another one
    assert.lengthOf(ends({ type: "run-failed" }, ended("result")), 2)
  })
})

describe("an answer", () => {
  const answer = (fields: Partial<Step>) => step({ what: "answers", key: "clerk\nanswers", ...fields })

  it("is a step of the model call from its first attempt, without tool calls [P1273]", () => {
    const text = (text: string) => ({ type: "text", text })
    assert.deepStrictEqual(
      steps(
        asked(),
        { type: "model-failed" },
        asked(2),
        replied(text("a"), { type: "reasoning", text: "no" }, text("b"))
      ),
      [answer({ lasted: 30, end: "answered", text: "ab", failures: 1 })]
    )
    assert.deepStrictEqual(steps(asked(), replied(text("I look."), { type: "tool-call" })), [])
    assert.deepStrictEqual(steps(asked(), replied({ type: "text" })), [answer({ lasted: 10, end: "answered" })])
    assert.deepStrictEqual(steps(replied(text("a"))), [])
    assert.deepStrictEqual(steps(asked(2), replied()), [answer({ lasted: 10, end: "answered" })])
  })

  it("begins anew with each first attempt [P1273]", () => {
    assert.deepStrictEqual(steps(asked(), { type: "model-failed" }, asked(), replied()), [
      answer({ index: 2, began: 20, lasted: 10, end: "answered" })
    ])
    assert.deepStrictEqual(steps({ type: "model-failed" }, asked(), replied())[0]?.failures, 0)
  })

  it("that did not come is a step with the failure of the run [P1273]", () => {
    const error = { _tag: "NetworkError" }
    assert.deepStrictEqual(steps(asked(), { type: "model-failed" }, { type: "run-failed", error }), [
      answer({ lasted: 20, end: "failed", text: "NetworkError", failures: 1 })
    ])
    assert.deepStrictEqual(steps(asked(), { type: "run-interrupted", error }), [answer({ lasted: 10, end: "cut off" })])
    assert.deepStrictEqual(steps(asked(), replied(), { type: "run-failed", error }), [
      answer({ lasted: 10, end: "answered" })
    ])
  })
})

it("a step is as deep as there are runs around its own [P1273]", () => {
  const within = (runId: string, parent: string) => ({ ...start(), runId, parent: { runId: parent } })
  const made = steps(start(), within("a", "r"), within("b", "a"), within("c", "gone"), start())
  assert.deepStrictEqual(
    made.map(({ depth }) => depth),
    [0, 1, 2, 0, 0]
  )
})
