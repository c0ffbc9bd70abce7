/** The rows of verdicts, and their code. */
import { assert, describe, it } from "@effect/vitest"
import { Code } from "../../../packages/view/src/replay/code.ts"
import type { Row, Rung, Script } from "../../../packages/view/src/replay/parts.ts"
import { budgetCode, tableCode } from "../../../packages/view/src/replay/recovery.ts"
import { Refused, reasons } from "../../../packages/view/src/replay/refusing.ts"
import { Rows, Treated } from "../../../packages/view/src/replay/rows.ts"
import { event, thrownBy } from "./_support/reading.ts"

const script: Script = {
  input: "",
  at: 0,
  lasted: 0,
  agents: [],
  decisions: [],
  isStreamed: false,
  end: { type: "completed", text: "" }
}

/** The code of one row with these rungs. */
const coded = (...rungs: ReadonlyArray<Rung>): string => {
  const table = tableCode([{ tag: "Busy", rungs, byCall: new Map() }], [], new Code(script))
  return /^\{\n(?: {2}\/\/ prettier-ignore\n)? {2}Busy: ([^]*)\n\}$/.exec(table)?.[1] ?? table
}

const treated = (...events: ReadonlyArray<object>) => {
  const made = new Treated()
  for (const one of events) made.take(event(one))
  return made
}

describe("the rungs of a row", () => {
  it("are retries with the waits of those that did not give up [P1270]", () => {
    assert.deepStrictEqual(
      treated(
        { verdict: "retry", delay: 5 },
        { verdict: "retry" },
        { verdict: "retry", delay: 9, gaveUp: true },
        { verdict: "fallback", delay: 1, rung: 1 }
      ).rungs(),
      [
        { kind: "retry", delays: [5, 0] },
        { kind: "retry", delays: [1] }
      ]
    )
  })

  it("are in the order of the row, each of its kind [P1270]", () => {
    const made = treated(
      { verdict: "tell", rung: 3 },
      { verdict: "escalate", rung: 4 },
      { verdict: "raise", rung: 5 },
      { verdict: "rethrow", rung: 6 },
      { verdict: "fix", rung: 0 },
      { verdict: "respondWith", rung: 1 }
    )
    made.answer = "instead"
    made.isResult = true
    made.fixed({ after: 1, answer: "x" })
    assert.deepStrictEqual(made.rungs(), [
      { kind: "fix", answers: [{ after: 1, answer: "x" }], isResult: true },
      { kind: "respondWith", text: "instead" },
      { kind: "tell" },
      { kind: "escalate" },
      { kind: "raise" },
      { kind: "rethrow" }
    ])
  })

  it("give an answer to the last fixer, and to none if there is none [P1270]", () => {
    const made = treated({ verdict: "fix" }, { verdict: "fix", rung: 1 }, { verdict: "tell", rung: 2 })
    made.fixed({ after: 1, cut: "never" })
    assert.deepStrictEqual(made.rungs().slice(0, 2), [
      { kind: "fix", answers: [], isResult: false },
      { kind: "fix", answers: [{ after: 1, cut: "never" }], isResult: false }
    ])
    const read = treated({ verdict: "tell" })
    read.fixed({ after: 1, answer: "x" })
    assert.deepStrictEqual(read.rungs(), [{ kind: "tell" }])
  })

  it("are refused if a verdict cannot be played [P1271]", () => {
    for (const verdict of ["ask", "compact", undefined]) {
      const one = event({ verdict })
      assert.deepStrictEqual(
        thrownBy(() => new Treated().take(one)),
        new Refused(one, `the verdict '${verdict ?? ""}' is not played again`)
      )
    }
  })
})

describe("the rows of a tool", () => {
  /** The rows of calls that were treated with these verdicts, one list for each call. */
  const rowsOf = (...calls: ReadonlyArray<ReadonlyArray<object>>) => {
    const rows = new Rows()
    for (const [index, verdicts] of calls.entries())
      for (const one of verdicts) rows.of(`c${index}`, "Busy").take(event(one))
    return rows.made().map(({ byCall, rungs, tag }) => ({ tag, rungs, byCall: [...byCall] }))
  }
  const retry = { verdict: "retry" }
  const gaveUp = { verdict: "retry", gaveUp: true }
  const tell = { verdict: "tell", rung: 1 }
  const retries = (many: number): Rung => ({ kind: "retry", delays: Array.from({ length: many }, () => 0) })

  it("are one row for calls of which each shows a beginning of it [P1270]", () => {
    assert.deepStrictEqual(rowsOf([retry], [retry, retry, gaveUp, tell], [retry, retry]), [
      { tag: "Busy", rungs: [retries(2), { kind: "tell" }], byCall: [] }
    ])
    assert.deepStrictEqual(rowsOf([retry, retry, gaveUp, tell], [retry]), [
      { tag: "Busy", rungs: [retries(2), { kind: "tell" }], byCall: [] }
    ])
  })

  it("are rows of their own for calls that were treated otherwise [P1270]", () => {
    const row: Pick<Row, "rungs" | "tag"> = { tag: "Busy", rungs: [retries(1), { kind: "tell" }] }
    assert.deepStrictEqual(rowsOf([retry, gaveUp, tell], [retry, retry]), [{ ...row, byCall: [["c1", [retries(2)]]] }])
    assert.deepStrictEqual(rowsOf([retry, gaveUp, tell], [{ verdict: "raise" }]), [
      { ...row, byCall: [["c1", [{ kind: "raise" }]]] }
    ])
    // all but the last rung have given up, after as many retries
    assert.deepStrictEqual(rowsOf([retry, retry, gaveUp, tell], [retry, gaveUp, tell]), [
      { tag: "Busy", rungs: [retries(2), { kind: "tell" }], byCall: [["c1", [retries(1), { kind: "tell" }]]] }
    ])
  })

  it("have the answers of fixers by call, and one row for equal texts [P1270]", () => {
    const rows = new Rows()
    for (const [call, text] of [
      ["a", "x"],
      ["b", "x"],
      ["c", "y"]
    ] as const) {
      const one = rows.of(call, "Busy")
      one.take(event({ verdict: "respondWith" }))
      one.answer = text
      rows.of(call, "Other").take(event({ verdict: "fix" }))
    }
    const fix: Rung = { kind: "fix", answers: [], isResult: false }
    assert.deepStrictEqual(
      rows.made().map(({ byCall, rungs, tag }) => ({ tag, rungs, byCall: [...byCall] })),
      [
        {
          tag: "Busy",
          rungs: [{ kind: "respondWith", text: "x" }],
          byCall: [["c", [{ kind: "respondWith", text: "y" }]]]
        },
        {
          tag: "Other",
          rungs: [fix],
          byCall: [
            ["b", [fix]],
            ["c", [fix]]
          ]
        }
      ]
    )
  })
})

describe("the code of a row", () => {
  it("is a verdict, or a ladder of several [P1270]", () => {
    assert.strictEqual(coded(), "Recovery.rethrow")
    assert.strictEqual(coded({ kind: "tell" }), "Recovery.tell()")
    assert.strictEqual(
      coded({ kind: "respondWith", text: 'say "no"' }, { kind: "escalate" }, { kind: "raise" }, { kind: "rethrow" }),
      `Recovery.ladder(Recovery.respondWith('say "no"'), Recovery.escalate(), Recovery.raise, Recovery.rethrow)`
    )
  })

  it("has the waits of its retries, as short as they can be written [P1270]", () => {
    const retried = (...delays: ReadonlyArray<number>) => coded({ kind: "retry", delays })
    assert.deepStrictEqual(
      [retried(), retried(0, 0), retried(100), retried(100, 200, 400), retried(100, 200, 300), retried(0, 5)],
      [
        "Recovery.retry({ retries: 0 })",
        "Recovery.retry({ retries: 2 })",
        "Recovery.retry({ retries: 1, initialBackoff: 100 })",
        "Recovery.retry({ retries: 3, initialBackoff: 100 })",
        "Recovery.retry(waits(100, 200, 300))",
        "Recovery.retry(waits(0, 5))"
      ]
    )
  })

  it("has what its fixers have answered, failed with, or not come to [P1270]", () => {
    const fix = { kind: "fix", isResult: false } as const
    assert.strictEqual(coded({ ...fix, answers: [{ after: 5, answer: "{}" }] }), 'Recovery.fix(fixer(gives(5, "{}")))')
    assert.strictEqual(coded({ ...fix, answers: [] }), "Recovery.fix(fixer())")
    assert.strictEqual(
      coded({
        kind: "fix",
        isResult: true,
        answers: [
          { after: 1, failure: { tag: "Busy", message: "later" } },
          { after: 2, cut: "never" },
          { after: 3, cut: "dies" }
        ]
      }),
      'Recovery.fix(fixer(fails(1, new Busy({ message: "later" })), Effect.never, later(3, Effect.die(new Error("The fixer died.")))), { retries: 2, as: "result" })'
    )
  })

  it("is chosen by the call where calls were treated in different ways [P1270]", () => {
    const byCall = new Map<string, ReadonlyArray<Rung>>([
      ["c-1", [{ kind: "raise" }]],
      ["c2", [{ kind: "tell" }, { kind: "raise" }]]
    ])
    assert.strictEqual(
      tableCode([{ tag: "Busy", rungs: [{ kind: "tell" }], byCall }], [], new Code(script)),
      `{
  Busy: byCall({ "c-1": Recovery.raise, c2: Recovery.ladder(Recovery.tell(), Recovery.raise) }, Recovery.tell())
}`
    )
  })
})

describe("the code of a table", () => {
  const row = (tag: string, text = "") => ({ tag, rungs: [{ kind: "respondWith", text } as const], byCall: new Map() })
  const table = (rows: ReadonlyArray<ReturnType<typeof row>>, mark: ReadonlyArray<string> = []) =>
    tableCode(rows, mark, new Code(script))

  it("has a line for each row, with the comment for the reader before them [P1270]", () => {
    assert.strictEqual(table([]), "{}")
    assert.strictEqual(table([], ["Write here:", "A: */ b"]), "{\n  // Write here:\n  // A: *\\/ b\n}")
    assert.strictEqual(
      table([row("A"), row("b-c")], ["Write here:", "D: row"]),
      `{
  // Write here:
  // D: row,
  A: Recovery.respondWith(""),
  "b-c": Recovery.respondWith("")
}`
    )
  })

  it("keeps a formatter from long rows [P1270]", () => {
    // the row has 27 letters around its text
    assert.notInclude(table([row("A", "x".repeat(110 - 27))]), "prettier-ignore")
    assert.include(table([row("A", "x".repeat(111 - 27))]), "{\n  // prettier-ignore\n  A: Recovery")
  })

  it("of a budget has each limit, that of equal failures in its own form [P1270]", () => {
    assert.strictEqual(
      budgetCode({ maxTurns: 2, repeatedFailure: 3 }),
      "budget: { maxTurns: 2, repeatedFailures: { stop: 3 } }"
    )
  })
})

it("each event that is not played has a reason [P1271]", () => {
  assert.deepStrictEqual(
    [...reasons].filter(([type]) => !/^(?:skill|compacted|tool-w|output-r|message-q|guard|run-s)/.test(type)),
    [
      ["turn-prepared", "Agent.prepareTurn has chosen something for the turn"],
      ["not-compacted", "the conversation was to be shortened"],
      ["attempt-continued", "a broken reply was continued"],
      ["tool-result", "a deferred call was settled"],
      ["tool-changed", "the server of a tool has changed it"],
      ["approval-expired", "no decision came in time"],
      ["output-coerced", "the answer was mended to fit the output schema"],
      ["events-lost", "earlier events are gone"]
    ]
  )
})
