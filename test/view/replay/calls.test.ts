/** The attempts of one call, as its events show them. */
import { assert, describe, it } from "@effect/vitest"
import { Call } from "../../../packages/view/src/replay/calls.ts"
import { failureOf, isSame } from "../../../packages/view/src/replay/failures.ts"
import { Refused } from "../../../packages/view/src/replay/refusing.ts"
import { Rows } from "../../../packages/view/src/replay/rows.ts"
import { event, thrownBy } from "./_support/reading.ts"

const busy = { _tag: "Busy", message: "no line" }

/** A call that began at 10, and the rows of its tool. */
const begun = (fields: object = { tool: "look", callId: "c", arguments: {} }) => {
  const rows = new Rows()
  return { rows, call: new Call(event({ type: "tool-start", at: 10, ...fields }), rows) }
}

const failed = (at: number, error: object = busy) => event({ type: "tool-failed", at, error })
const verdict = (at: number, more: object) => event({ at, tag: "Busy", ...more })
const result = (at: number, text?: string, attempts = 1) =>
  event({ type: "tool-end", at, use: { attempts, settlement: { kind: "result", text } } })
const cutAt = (at: number, more: object = {}) => event({ type: "run-interrupted", at, ...more })
const start = (agent: string, at: number) => event({ type: "run-start", agent, at })

const alone = { runs: [], isInTurn: true } as const

describe("a call", () => {
  it("has the names of its beginning, and none where a file has lost them [P1270]", () => {
    const { call } = begun()
    assert.deepStrictEqual([call.tool, call.callId], ["look", "c"])
    const { call: nameless } = begun({})
    assert.deepStrictEqual([nameless.tool, nameless.callId], ["", ""])
  })

  it("gives the text of its result, after the time since its attempt began [P1270]", () => {
    const { call } = begun()
    call.settle(result(14, "found"))
    assert.deepStrictEqual(call.attempts, [{ after: 4, ...alone, type: "gives", text: "found" }])
    const { call: without } = begun()
    without.settle(result(14))
    assert.deepStrictEqual(without.attempts, [{ after: 4, ...alone, type: "gives", text: "" }])
    const { call: admitted } = begun()
    admitted.admitted(event({ at: 100 }))
    admitted.settle(result(101, "found"))
    assert.strictEqual(admitted.attempts[0]?.after, 1)
  })

  it("fails with the tag that its verdict knows, and begins its next attempt after the wait [P1270]", () => {
    const { call, rows } = begun()
    call.failed(failed(13, { message: "no line" }))
    call.treated(verdict(13, { verdict: "retry", delay: 100 }))
    call.settle(result(120, "found", 2))
    assert.deepStrictEqual(call.attempts, [
      { after: 3, ...alone, type: "fails", failure: { tag: "Busy", message: "no line" } },
      { after: 7, ...alone, type: "gives", text: "found" }
    ])
    assert.deepStrictEqual(rows.made()[0]?.rungs, [{ kind: "retry", delays: [100] }])
  })

  it("has no attempt where its arguments were invalid, and the text of a row is the answer of that row [P1270]", () => {
    const { call, rows } = begun()
    call.failed(failed(13, { _tag: "InvalidArgs", message: "no number" }))
    call.treated(verdict(13, { verdict: "respondWith" }))
    call.settle(result(14, "instead"))
    assert.deepStrictEqual(call.attempts, [])
    assert.deepStrictEqual(rows.made()[0]?.rungs, [{ kind: "respondWith", text: "instead" }])
  })
})

describe("a call that the end of its run cut off", () => {
  it("was at work, or died of a defect [P1270]", () => {
    const { call } = begun()
    assert.isTrue(call.cut(cutAt(15)))
    assert.deepStrictEqual(call.attempts, [{ after: 5, ...alone, type: "never" }])
    const { call: dead } = begun()
    assert.isFalse(dead.cut(cutAt(15, { type: "run-failed", isDefect: true, error: { message: "bug" } })))
    assert.deepStrictEqual(dead.attempts, [{ after: 5, ...alone, type: "dies", message: "bug" }])
    const { call: over } = begun()
    over.settle(result(14, "found"))
    assert.isFalse(over.cut(cutAt(15)))
    assert.lengthOf(over.attempts, 1)
  })

  it.each([
    ["waited for its next attempt", { verdict: "retry", delay: 5 }, true],
    ["waited no more, as its row had given up", { verdict: "retry", gaveUp: true }, false],
    ["waited for nothing, as its row had told the model", { verdict: "tell" }, false]
  ])("%s [P1270]", (_, more, wasAtWork) => {
    const { call } = begun()
    call.failed(failed(13))
    call.treated(verdict(13, more))
    assert.strictEqual(call.cut(cutAt(15)), wasAtWork)
    assert.lengthOf(call.attempts, 1)
  })

  it("had a fixer at work, which never ended, died, or failed with its run, unless that was at a limit [P1270 P1271]", () => {
    const fixing = () => {
      const { call, rows } = begun()
      call.failed(failed(13))
      call.treated(verdict(13, { verdict: "fix" }))
      call.fixing(event({ type: "fix-start", at: 13 }))
      const answers = () => rows.made()[0]?.rungs
      return { call, answers }
    }
    const ends = [
      [cutAt(20), { after: 7, cut: "never" }],
      [cutAt(20, { type: "run-failed", isDefect: true }), { after: 7, cut: "dies" }],
      [cutAt(20, { type: "run-failed", error: busy }), { after: 7, failure: { tag: "Busy", message: "no line" } }]
    ] as const
    for (const [end, answer] of ends) {
      const { answers, call } = fixing()
      assert.isFalse(call.cut(end))
      assert.deepStrictEqual(answers(), [{ kind: "fix", answers: [answer], isResult: false }])
    }
    const limited = cutAt(20, { type: "run-failed", error: { _tag: "BudgetExceededError", message: "over" } })
    assert.deepStrictEqual(
      thrownBy(() => fixing().call.cut(limited)),
      new Refused(limited, "a fixer has reached the limit, and its run is not played again")
    )
  })
})

describe("a call that starts runs", () => {
  it("ends as its last run did, if that has the same text or the same failure [P1270]", () => {
    const asked = { agent: "b", input: "why?", after: 2 }
    const withRun = (end: { readonly text: string } | { readonly failure: ReturnType<typeof failureOf> }) => {
      const { call } = begun()
      call.started(start("b", 12), "why?")
      call.ended({ at: 20, ...end })
      return call
    }
    const same = withRun({ text: "found" })
    same.settle(result(23, "found"))
    assert.deepStrictEqual(same.attempts, [{ after: 3, runs: [asked], isInTurn: true, type: "run" }])
    const other = withRun({ text: "found" })
    other.settle(result(23, "found it"))
    assert.deepStrictEqual(other.attempts, [
      { after: 3, runs: [asked], isInTurn: true, type: "gives", text: "found it" }
    ])
    const failing = withRun({ failure: failureOf(busy) })
    failing.failed(failed(20))
    failing.treated(verdict(20, { verdict: "tell" }))
    assert.strictEqual(failing.attempts[0]?.type, "run")
    // the run of this agent has ended with that run, and at once
    const together = withRun({ failure: failureOf(busy) })
    together.cut(cutAt(20, { type: "run-failed" }))
    assert.strictEqual(together.attempts[0]?.type, "run")
    const later = withRun({ failure: failureOf(busy) })
    later.cut(cutAt(21, { type: "run-failed" }))
    assert.strictEqual(later.attempts[0]?.type, "never")
    const answered = withRun({ text: "found" })
    answered.cut(cutAt(20, { type: "run-failed" }))
    assert.strictEqual(answered.attempts[0]?.type, "never")
  })

  it("starts each run after the end of the one before it, and counts its own time from the last one [P1270]", () => {
    const { call } = begun()
    call.started(start("b", 12), "one")
    call.ended({ at: 20, text: "1" })
    call.started(start("c", 25), "two")
    call.ended({ at: 30, text: "2" })
    call.settle(result(31, "both"))
    assert.deepStrictEqual(call.attempts, [
      {
        after: 1,
        runs: [
          { agent: "b", input: "one", after: 2 },
          { agent: "c", input: "two", after: 5 }
        ],
        isInTurn: true,
        type: "gives",
        text: "both"
      }
    ])
  })

  it("starts runs that are at work at once after the beginning of the attempt [P1270]", () => {
    const { call } = begun()
    call.started(start("b", 12), "one")
    call.started(start("c", 15), "two")
    call.ended({ at: 20, text: "1" })
    call.ended({ at: 30, text: "2" })
    call.settle(result(31, "both"))
    assert.deepStrictEqual(call.attempts, [
      {
        after: 21,
        runs: [
          { agent: "b", input: "one", after: 2 },
          { agent: "c", input: "two", after: 5 }
        ],
        isInTurn: false,
        type: "gives",
        text: "both"
      }
    ])
    // the next attempt knows nothing of these runs
    call.admitted(event({ at: 40 }))
    call.started(start("b", 41), "three")
    call.ended({ at: 42, text: "3" })
    call.settle(result(43, "third", 2))
    assert.deepInclude(call.attempts[1], { after: 1, isInTurn: true, runs: [{ agent: "b", input: "three", after: 1 }] })
  })

  it("counts its time from its beginning while a run is at work [P1270]", () => {
    const { call } = begun()
    call.started(start("b", 12), "one")
    call.ended({ at: 20, text: "1" })
    call.started(start("c", 25), "two")
    call.cut(cutAt(40))
    assert.strictEqual(call.attempts[0]?.after, 30)
  })
})

describe("a failure", () => {
  it("is another one's if tag and message are the same [P1270]", () => {
    const one = { tag: "Busy", message: "no line" }
    assert.isTrue(isSame(one, { ...one }))
    assert.isFalse(isSame(one, { ...one, tag: "Down" }))
    assert.isFalse(isSame(one, { ...one, message: "no power" }))
  })

  it("of this library is kept whole, and of others the tag and the message are [P1270]", () => {
    const ours = { _tag: "RateLimitError", message: "slow down", service: "m" }
    assert.deepStrictEqual(failureOf(ours), { tag: "RateLimitError", message: "slow down", json: ours })
    assert.deepStrictEqual(failureOf(busy, "Other"), { tag: "Other", message: "no line" })
    for (const error of ["RateLimitError", null]) assert.isFalse("json" in failureOf(error))
  })
})
