/** How one tool call is drawn: its attempts, the waits between them, its repairs and its marks, from the events that are there. */
import { assert, describe, it } from "@effect/vitest"
import { reasonsOf } from "../../../packages/view/src/scene/callWeaver.ts"
import { linesOf } from "./_support/lines.ts"

const of = { runId: "r", agent: "clerk", turn: 1 }
const call = { ...of, callId: "c1", tool: "pay" }
const error = { _tag: "Busy", message: "busy" }

/** The items of the call in a run from 0 to 100. */
const drawn = (...events: ReadonlyArray<readonly [at: number, type: string, fields?: object]>) =>
  linesOf([
    { ...of, at: 0, type: "run-start", input: "go" },
    ...events.map(([at, type, fields]) => ({ ...call, at, type, ...fields })),
    { ...of, at: 100, type: "run-completed", output: "" }
  ]).filter((line) => /^(tool|fixer) /.test(line))

const settlement = (kind: string, attempts?: number) => ({ use: { settlement: { kind, text: "" }, attempts } })
const retry = (delay: number) => ({ layer: "tool", tag: "Busy", verdict: "retry", gaveUp: false, delay, error })

describe("a call", () => {
  it("lasts from its start to its end, which says how it was settled [P1202]", () => {
    for (const [kind, state] of [
      ["result", "ok"],
      ["deferred", "ok"],
      ["told", "tell"],
      ["withdrawn", "interrupted"]
    ] as const)
      assert.deepStrictEqual(drawn([10, "tool-start"], [30, "tool-end", settlement(kind)]).slice(0, 1), [
        kind === "deferred" ? "tool 10-100 call unfinished: pay (1; 1)" : `tool 10-30 call ${state}: pay (1,2; 2)`
      ])
    assert.deepStrictEqual(drawn([10, "tool-start"], [30, "tool-end"]), ["tool 10-30 call tell: pay (1,2; 2)"])
    assert.deepStrictEqual(drawn([10, "tool-start"], [30, "tool-end", settlement("deferred")]), [
      "tool 10-100 call unfinished: pay (1; 1)",
      "tool 30 note: the run goes on (2; 2)"
    ])
    assert.deepStrictEqual(drawn([30, "tool-end", settlement("deferred")]), ["tool 30-30 call ok: pay, settled (1; 1)"])
  })

  it("has an attempt behind each wait, and the event of its settlement at its last piece [P1203]", () => {
    assert.deepStrictEqual(
      drawn(
        [10, "tool-start"],
        [20, "tool-failed", { attempt: 1, error }],
        [20, "verdict", retry(15)],
        [40, "tool-progress", { message: "half" }],
        [50, "tool-end", settlement("result", 2)]
      ),
      [
        "tool 10-20 call failed: pay (1,2; 2)",
        "tool 20 mended: Busy → retry in 15 ms (3; 3)",
        "tool 20-35 wait waited: waits before attempt 2 (; 3)",
        "tool 35-50 call ok: pay, attempt 2 (4,5; 5)"
      ]
    )
    // without an event of its own, the second attempt is still drawn if its run ends behind its beginning
    const cut = (delay: number) =>
      drawn([10, "tool-start"], [20, "tool-failed", { attempt: 1, error }], [20, "verdict", retry(delay)])
    assert.deepStrictEqual(cut(15).at(-1), "tool 35-100 call interrupted: pay, attempt 2 (; 3)")
    assert.deepStrictEqual(cut(80).at(-1), "tool 20-100 wait waited: waits before attempt 2 (; 3)")
    assert.deepStrictEqual(
      drawn(
        [10, "tool-start"],
        [20, "tool-failed", { attempt: 1, error }],
        [20, "verdict", { ...retry(0), verdict: "tell" }],
        [20, "tool-end", settlement("told", 1)]
      ),
      ["tool 10-20 call failed: pay (1,2,4; 4)", "tool 20 tell: Busy → tell (3; 3)"]
    )
  })

  it("is drawn from what is left of its events [P1215]", () => {
    assert.deepStrictEqual(drawn([20, "tool-failed", { attempt: 1, error }]), ["tool 20-20 call failed: pay (1; 1)"])
    assert.deepStrictEqual(drawn([20, "tool-progress", {}]), ["tool 20-100 call interrupted: pay (1; 1)"])
    assert.deepStrictEqual(drawn([20, "tool-waiting", {}]), [
      "tool 20-20 call ok: pay (1; 1)",
      "tool 20-100 call interrupted: pay waits for its settlement (; 1)"
    ])
    assert.deepStrictEqual(drawn([10, "tool-start"], [20, "tool-failed", { error }], [40, "tool-failed", { error }]), [
      "tool 10-20 call failed: pay (1,2; 2)",
      "tool 20-40 call failed: pay, attempt 2 (3; 3)"
    ])
    // an attempt begins no earlier than its first event
    assert.deepStrictEqual(drawn([12, "arguments-coerced", {}], [20, "tool-progress", {}]), [
      "tool 12 mended: arguments read by ? (1; 1)",
      "tool 20-100 call interrupted: pay (2; 2)"
    ])
    assert.deepStrictEqual(drawn([30, "tool-end", settlement("result", 1)]), ["tool 30-30 call ok: pay (1; 1)"])
    assert.deepStrictEqual(drawn([30, "tool-end", settlement("result", 0)]), [
      "tool 30-30 call ok: pay, settled (1; 1)"
    ])
  })

  it("that a grant has admitted does not wait, and one that has failed waits for a person [P1221]", () => {
    const approve = { decision: { type: "approve" } }
    assert.deepStrictEqual(
      drawn(
        [10, "tool-start"],
        [12, "approval-decided", { ...approve, by: "grant" }],
        [30, "tool-end", settlement("result", 1)]
      ),
      ["tool 10-30 call ok: pay (1,3; 3)", "tool 12 asked: approved by a grant (2; 2)"]
    )
    const asked = (request: object) =>
      drawn(
        [10, "tool-start"],
        [20, "approval-requested", { request }],
        [40, "approval-decided", approve],
        [50, "tool-end", settlement("result", 1)]
      )
    assert.deepStrictEqual(asked({ reason: "money" }), [
      "tool 10-20 call ok: pay (1; 1)",
      "tool 20 asked: approval asked: money (2; 2)",
      "tool 20-40 approval ok: pay waits for approval (; 2)",
      "tool 40 asked: decided: approve (3; 3)",
      "tool 40-50 call ok: pay (4; 4)"
    ])
    assert.deepStrictEqual(asked({ reason: "money", failed: { tag: "Busy" } }).slice(1, 3), [
      "tool 20 asked: a person is asked: money (2; 2)",
      "tool 20-40 approval ok: pay waits for a person (; 2)"
    ])
  })

  it("that never ran is refused or not run [P1221]", () => {
    assert.deepStrictEqual(drawn([10, "tool-denied", { settlement: { kind: "told", text: "" } }]), [
      "tool 10-10 call refused: pay, refused (1; 1)"
    ])
    assert.deepStrictEqual(drawn([10, "tool-skipped", { settlement: { kind: "told", text: "" } }]), [
      "tool 10-10 call refused: pay, not run (1; 1)"
    ])
  })

  it("has a mark for what became of its arguments and its result [P1221]", () => {
    const marks = drawn(
      [10, "tool-start"],
      [12, "arguments-coerced", { change: { step: "unquote" } }],
      [13, "arguments-coerced", {}],
      [20, "result-put-aside", { characters: 9000 }],
      [21, "result-put-aside", {}],
      [22, "result-cut", {}],
      [30, "tool-end", settlement("result")]
    )
    assert.deepStrictEqual(marks, [
      "tool 10-30 call ok: pay (1,7; 7)",
      "tool 12 mended: arguments read by unquote (2; 2)",
      "tool 13 mended: arguments read by ? (3; 3)",
      "tool 20 note: result put aside: 9000 characters (4; 4)",
      "tool 21 note: result put aside: ? characters (5; 5)",
      "tool 22 lost: result cut: it could not be put aside (6; 6)"
    ])
  })

  it("has the repairs of its fixers beside it [P1221]", () => {
    const verdict = { ...retry(0), verdict: "fix" }
    assert.deepStrictEqual(
      drawn(
        [10, "tool-start"],
        [20, "tool-failed", { attempt: 1, error }],
        [20, "verdict", verdict],
        [20, "fix-start", { repair: 1 }],
        [30, "fix-failed", { repair: 1, error }],
        [30, "fix-start", { repair: 2 }],
        [40, "fix-end", { repair: 2 }],
        [50, "tool-end", settlement("result", 2)]
      ),
      [
        "tool 10-20 call failed: pay (1,2; 2)",
        "tool 20 mended: Busy → fix (3; 3)",
        "tool 20-30 mending failed: pay is being mended (; 4)",
        "tool 30-40 mending ok: pay is being mended (; 6)",
        "tool 40-50 call ok: pay, attempt 2 (8; 8)",
        "fixer 20-30 repair failed: fixes pay, repair 1 (4,5; 5)",
        "fixer 30-40 repair ok: fixes pay, repair 2 (6,7; 7)"
      ]
    )
    // a repair whose end is missing
    assert.deepStrictEqual(
      drawn(
        [10, "tool-start"],
        [20, "tool-failed", { error }],
        [20, "fix-start", { repair: 1 }],
        [30, "fix-start", { repair: 2 }],
        [40, "fix-end", { repair: 2 }]
      ).slice(-2),
      [
        "fixer 20-20 repair unfinished: fixes pay, repair 1 (3; 3)",
        "fixer 30-40 repair ok: fixes pay, repair 2 (4,5; 5)"
      ]
    )
    // a repair without its beginning
    assert.deepStrictEqual(
      drawn(
        [10, "tool-start"],
        [20, "tool-failed", { error }],
        [30, "fix-end", {}],
        [50, "tool-end", settlement("result", 2)]
      ),
      [
        "tool 10-20 call failed: pay (1,2; 2)",
        "tool 30-50 call ok: pay, attempt 2 (4; 4)",
        "fixer 30-30 repair ok: fixes pay, repair 1 (3; 3)"
      ]
    )
    assert.deepStrictEqual(drawn([10, "tool-start"], [20, "tool-failed", { error }], [20, "fix-start", {}]), [
      "tool 10-20 call failed: pay (1,2; 2)",
      "tool 20-100 mending interrupted: pay is being mended (; 3)",
      "fixer 20-100 repair interrupted: fixes pay, repair 1 (3; 3)"
    ])
  })
})

it("the errors of a failed run are its own and those of its parts [P1700]", () => {
  const event = { ...of, at: 0, type: "run-failed", error, reasons: [{ _tag: "A", message: "a" }, "text"] }
  assert.strictEqual(reasonsOf(event), "Busy: busy; A: a; Error: text")
})
