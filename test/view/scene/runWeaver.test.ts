/** How the turns and the model calls of a run are drawn, from the events that are there. */
import { assert, describe, it } from "@effect/vitest"
import { linesOf } from "./_support/lines.ts"

const of = { runId: "r", agent: "clerk", turn: 1 }
const error = { _tag: "Busy", message: "busy" }

type Event = readonly [at: number, type: string, fields?: object]

/** The items of a run from 0, without its own span. */
const drawn = (...events: ReadonlyArray<Event>) =>
  linesOf([
    { ...of, turn: 0, at: 0, type: "run-start", input: "go", transcript: [] },
    ...events.map(([at, type, fields]) => ({ ...of, at, type, ...fields }))
  ]).filter((line) => !/^run \S+ run /.test(line))

const completed: Event = [100, "run-completed", { output: "" }]
const answered = { message: { role: "assistant", content: [] } }
const verdict = (layer: string, kind: string, delay: number) => ({ layer, tag: "Busy", verdict: kind, delay, error })

describe("a run", () => {
  it("ends as its last event says, and what is at work then ends with it [P1202]", () => {
    const begun: ReadonlyArray<Event> = [
      [10, "turn-start"],
      [20, "model-start", { model: "m", attempt: 1 }],
      [30, "verdict", verdict("transport", "retry", 5)],
      [40, "tool-start", { callId: "c1", tool: "pay" }]
    ]
    for (const [type, own, rest] of [
      ["run-completed", "ok", "interrupted"],
      ["run-failed", "failed", "interrupted"],
      ["run-suspended", "suspended", "suspended"],
      ["run-interrupted", "interrupted", "interrupted"]
    ] as const) {
      const events = [...begun, [100, type] as const].map(([at, name, fields]) => ({
        ...of,
        at,
        type: name,
        ...fields
      }))
      assert.deepStrictEqual(linesOf([{ ...of, at: 0, type: "run-start", input: "go" }, ...events]), [
        `run 0-100 run ${own}: clerk (0,5; 5)`,
        `turn 10-100 turn ${rest}: turn 1 (1; 1)`,
        `model 20-100 attempt ${rest}: m (2; 2)`,
        "transport 20-30 send failed: send 1 (; 3)",
        "transport 30 mended: Busy → retry in 5 ms (3; 3)",
        "transport 30-35 wait waited: waits before send 2 (; 3)",
        `transport 35-100 send ${rest}: send 2 (; 3)`,
        `tool 40-100 call ${rest}: pay (4; 4)`
      ])
    }
    // without an end, each lasts until the last event
    assert.deepStrictEqual(drawn(...begun).slice(0, 2), [
      "turn 10-40 turn unfinished: turn 1 (1; 1)",
      "model 20-40 attempt unfinished: m (2; 2)"
    ])
  })

  it("that goes on after a decision has a span for each of its parts, as it has after a crash [P1202]", () => {
    const start = { ...of, turn: 0, type: "run-start", input: "go" }
    const anew = { ...start, at: 50 }
    const end = { ...of, at: 100, type: "run-completed", output: "" }
    const asked = { ...of, at: 10, type: "model-start", model: "m" }
    assert.deepStrictEqual(linesOf([{ ...start, at: 0 }, asked, { ...of, at: 20, type: "run-suspended" }, anew, end]), [
      "run 0-20 run suspended: clerk (0,2; 2)",
      "run 50-100 run ok: clerk (3,4; 4)",
      "model 10-20 attempt suspended: m (1; 1)"
    ])
    assert.deepStrictEqual(linesOf([{ ...start, at: 0 }, asked, anew, end]), [
      "run 0-50 run unfinished: clerk (0; 0)",
      "run 50-100 run ok: clerk (2,3; 3)",
      "model 10-50 attempt unfinished: m (1; 1)"
    ])
  })
})

describe("a turn", () => {
  it("lasts from its start to its end, and says that it is there to answer [P1202]", () => {
    assert.deepStrictEqual(
      drawn(
        [10, "turn-start"],
        [20, "turn-end", answered],
        [30, "turn-start", { turn: 2, answerTurn: true }],
        [40, "turn-end", { turn: 2, ...answered }],
        completed
      ),
      ["turn 10-20 turn ok: turn 1 (1,2; 2)", "turn 30-40 turn ok: turn 2, to answer (3,4; 4)"]
    )
  })

  it("without an end has none, and without a start begins with its run [P1215]", () => {
    assert.deepStrictEqual(
      drawn([10, "turn-start"], [30, "turn-start", { turn: 2 }], [40, "turn-end", { turn: 2, ...answered }], completed),
      ["turn 10-30 turn unfinished: turn 1 (1; 1)", "turn 30-40 turn ok: turn 2 (2,3; 3)"]
    )
    assert.deepStrictEqual(drawn([40, "turn-end", { turn: 3, ...answered }], completed), [
      "turn 0-40 turn ok: turn 3 (1; 1)"
    ])
    // after another turn, it begins at the end of that turn
    assert.deepStrictEqual(
      drawn(
        [10, "turn-start"],
        [20, "turn-end", answered],
        [40, "turn-end", { turn: 2, ...answered }],
        [60, "turn-end", { turn: 3, ...answered }],
        completed
      ),
      ["turn 10-20 turn ok: turn 1 (1,2; 2)", "turn 20-40 turn ok: turn 2 (3; 3)", "turn 40-60 turn ok: turn 3 (4; 4)"]
    )
  })

  it("that waited for a decision goes on where its run does [P1202]", () => {
    assert.deepStrictEqual(
      drawn(
        [10, "turn-start"],
        [20, "run-suspended"],
        [500, "run-start"],
        [530, "turn-end", answered],
        [530, "turn-start", { turn: 2 }],
        [600, "run-completed", { output: "" }]
      ),
      [
        "turn 10-20 turn suspended: turn 1 (1; 1)",
        "turn 500-530 turn ok: turn 1 (4; 4)",
        "turn 530-600 turn interrupted: turn 2 (5; 5)"
      ]
    )
  })

  it("ends its calls that have no end of their own, as its message has settled them [P1221]", () => {
    const ended = (id: string, kind: string) => ({ call: { id }, settlement: { kind, text: "" } })
    assert.deepStrictEqual(
      drawn(
        [10, "turn-start"],
        [20, "tool-start", { callId: "a", tool: "pay" }],
        [20, "tool-start", { callId: "b", tool: "look" }],
        [40, "turn-end", { message: { content: [ended("a", "result"), ended("b", "withdrawn"), { type: "text" }] } }],
        [50, "turn-start", { turn: 2 }],
        // the ids of a turn may be those of the turn before
        [60, "tool-start", { turn: 2, callId: "a", tool: "pay" }],
        [70, "tool-end", { turn: 2, callId: "a", use: { settlement: { kind: "result", text: "" } } }],
        completed
      ).filter((line) => line.startsWith("tool")),
      ["tool 20-40 call ok: pay (2; 2)", "tool 60-70 call ok: pay (6,7; 7)", "tool 20-40 call interrupted: look (3; 3)"]
    )
  })
})

describe("a model call", () => {
  it("has its attempts, which end as their events say, in one row [P1202]", () => {
    assert.deepStrictEqual(
      drawn(
        [10, "model-start", { model: "m", attempt: 1 }],
        [20, "model-failed", { attempt: 1, error }],
        [20, "model-start", { model: "m", attempt: 2 }],
        [30, "model-interrupted", { attempt: 2 }],
        [30, "model-start", { model: "n", attempt: 3 }],
        [40, "model-end", { attempt: 3, entry: { outcome: "discarded" } }],
        [40, "model-start", {}],
        [50, "model-end", { entry: { outcome: "counted" } }],
        completed
      ),
      [
        "model 10-20 attempt failed: m (1,2; 2)",
        "model 20-30 attempt interrupted: m, attempt 2 (3,4; 4)",
        "model 30-40 attempt discarded: n, attempt 3 (5,6; 6)",
        "model 40-50 attempt ok: model (7,8; 8)"
      ]
    )
  })

  it("has the pieces of its streamed text, which is a mark if nothing else of the call is left [P1200 P1215]", () => {
    for (const type of ["text-delta", "reasoning-delta"]) {
      assert.deepStrictEqual(
        drawn([10, "model-start", { model: "m" }], [15, type, { text: "a" }], [20, "model-end"], completed),
        ["model 10-20 attempt ok: m (1,2,3; 3)"]
      )
      assert.deepStrictEqual(drawn([15, type, { text: "a" }], completed), ["run 15 note: streamed text (1; 1)"])
      assert.deepStrictEqual(
        drawn([10, "model-start", { model: "m" }], [20, "model-end"], [25, type, { text: "a" }], completed),
        ["run 25 note: streamed text (3; 3)", "model 10-20 attempt ok: m (1,2; 2)"]
      )
    }
  })

  it("without its start is drawn at its end [P1215]", () => {
    assert.deepStrictEqual(drawn([20, "model-failed", { model: "m", attempt: 2, error }], completed), [
      "model 20-20 attempt failed: m, attempt 2 (1; 1)"
    ])
  })

  it("waits as long as a verdict says, until it is called again or its turn ends [P1203]", () => {
    const failed: ReadonlyArray<Event> = [
      [10, "turn-start"],
      [10, "model-start", { model: "m", attempt: 1 }],
      [20, "model-failed", { attempt: 1, error }]
    ]
    const lines = [
      "model 10-20 attempt failed: m (2,3; 3)",
      "model 20 mended: Busy → retry in 20 ms (4; 4)",
      "model 20-40 wait waited: waits before it asks again (; 4)"
    ]
    assert.deepStrictEqual(
      drawn(
        ...failed,
        [20, "verdict", verdict("model", "retry", 20)],
        [40, "model-start", { model: "m", attempt: 2 }],
        [50, "model-end", { attempt: 2 }],
        [50, "turn-end", answered],
        completed
      ),
      ["turn 10-50 turn ok: turn 1 (1,7; 7)", ...lines, "model 40-50 attempt ok: m, attempt 2 (5,6; 6)"]
    )
    assert.deepStrictEqual(
      drawn(...failed, [20, "verdict", verdict("model", "retry", 20)], [30, "turn-end", answered], completed).at(-1),
      "model 20-30 wait waited: waits before it asks again (; 4)"
    )
    // the turn that has begun meanwhile does not end the wait of its model call with the end of the turn before
    assert.deepStrictEqual(
      drawn(
        [5, "turn-start", { turn: 0 }],
        ...failed,
        [20, "verdict", verdict("model", "retry", 20)],
        [30, "turn-end", { turn: 0, ...answered }],
        completed
      ).at(-1),
      "model 20-40 wait waited: waits before it asks again (; 5)"
    )
    // no wait, no span of it
    assert.deepStrictEqual(drawn(...failed, [20, "verdict", verdict("model", "retry", 0)], completed).slice(2), [
      "model 20 mended: Busy → retry (4; 4)"
    ])
    // a call at work goes on, also while another one waits
    assert.deepStrictEqual(
      drawn(...failed.slice(0, 2), [20, "verdict", verdict("model", "retry", 20)], [50, "model-end"], completed).slice(
        1
      ),
      ["model 10-50 attempt ok: m (2,4; 4)", "model 20 mended: Busy → retry in 20 ms (3; 3)"]
    )
    // no wait of a run is drawn: what it waits with is below it
    assert.deepStrictEqual(drawn([20, "verdict", verdict("agent", "retry", 20)], completed), [
      "run 20 mended: Busy → retry in 20 ms (1; 1)"
    ])
  })

  it("beside others at once has a row of its own, and an event belongs to the one that began last [P1201]", () => {
    assert.deepStrictEqual(
      drawn(
        [10, "turn-start"],
        [10, "model-start", { model: "m" }],
        [20, "model-start", { model: "n" }],
        [25, "text-delta", { text: "a" }],
        [30, "model-end", { model: "n" }],
        [35, "text-delta", { text: "b" }],
        // the turn that ends does not end a call at work
        [40, "turn-end", answered],
        [50, "model-end", { model: "m" }],
        [60, "model-start", { model: "o" }],
        [70, "model-end", { model: "o" }],
        completed
      ).slice(1),
      [
        "model 10-50 attempt ok: m (2,6,8; 8)",
        "model 60-70 attempt ok: o (9,10; 10)",
        "model 20-30 attempt ok: n (3,4,5; 5)"
      ]
    )
  })

  it("has what the transport sends below it, counted anew for each attempt [P1203]", () => {
    assert.deepStrictEqual(
      drawn(
        [10, "model-start", { model: "m", attempt: 1 }],
        [15, "verdict", verdict("transport", "retry", 5)],
        [25, "verdict", verdict("transport", "retry", 0)],
        [30, "verdict", { ...verdict("transport", "retry", 5), gaveUp: true }],
        [30, "model-failed", { attempt: 1, error }],
        [40, "model-start", { model: "m", attempt: 2 }],
        [45, "verdict", verdict("transport", "retry", 5)],
        [60, "model-end", { attempt: 2 }],
        [70, "model-start", { model: "m", attempt: 1 }],
        [80, "model-end", { attempt: 1 }],
        completed
      ).filter((line) => line.startsWith("transport")),
      [
        "transport 10-15 send failed: send 1 (; 2)",
        "transport 15 mended: Busy → retry in 5 ms (2; 2)",
        "transport 15-20 wait waited: waits before send 2 (; 2)",
        "transport 20-25 send failed: send 2 (; 3)",
        "transport 25 mended: Busy → retry (3; 3)",
        "transport 25-30 send failed: send 3 (; 4)",
        "transport 30 lost: Busy → retry gave up in 5 ms (4; 4)",
        "transport 40-45 send failed: send 1 (; 7)",
        "transport 45 mended: Busy → retry in 5 ms (7; 7)",
        "transport 45-50 wait waited: waits before send 2 (; 7)",
        "transport 50-60 send ok: send 2 (; 7)"
      ]
    )
    // a send without its model call is a mark
    assert.deepStrictEqual(drawn([15, "verdict", verdict("transport", "retry", 5)], completed), [
      "run 15 note: Busy → retry in 5 ms (1; 1)"
    ])
  })
})
