/** Policies over time, as `explain` knows them. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Backoff, Compaction, Explanation, Recovery } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { Schedule } from "effect"

const patient = Recovery.explain({ NetworkError: Recovery.retry({ maxAttempts: 3, initialBackoff: "500 millis" }) })
const transport = Transport.explain()

describe("Timeline", () => {
  it("is drawn with a column for each attempt of the innermost layer [L508]", () => {
    const timeline = Explanation.timeline([
      { name: "onLlmError", explanation: patient },
      { name: "transport", explanation: transport }
    ])
    assert.strictEqual(timeline.end, 3750)
    assert.deepStrictEqual(Explanation.formatTimeline(timeline).split("\n"), [
      "ms             0   250   750  1250  1500  2000  3000  3250  3750",
      "onLlmError     1                 2                 3",
      "transport      1     2     3     1     2     3     1     2     3"
    ])
    assert.deepStrictEqual(timeline.lanes[0]?.pauses, [
      { from: 750, to: 1250, verdict: "retry" },
      { from: 2000, to: 3000, verdict: "retry" }
    ])
    assert.deepStrictEqual(Explanation.formatTimeline(timeline, { width: 30 }).split("\n").slice(0, 5), [
      "ms             0   250   750",
      "onLlmError     1",
      "transport      1     2     3",
      "",
      "ms          1250  1500  2000"
    ])
  })

  it("each of three layers begins anew within each attempt of the outer one [L508]", () => {
    const twice = (initialBackoff: number) =>
      Recovery.explain({ A: Recovery.retry({ maxAttempts: 2, initialBackoff }) })
    const text = Explanation.formatTimeline(
      Explanation.timeline([
        { name: "tool", explanation: twice(100) },
        { name: "agent", explanation: twice(10) },
        { name: "send", explanation: twice(1) }
      ])
    )
    assert.deepStrictEqual(text.split("\n"), [
      "ms       0    1   11   12  112  113  123  124",
      "tool     1                   2",
      "agent    1         2         1         2",
      "send     1    2    1    2    1    2    1    2"
    ])
  })

  it("takes the row that is named, or the one with the most attempts; without rows there is one attempt [L508]", () => {
    const explanation = Recovery.explain({
      A: Recovery.retry({ maxAttempts: 2 }),
      B: Recovery.retry({ maxAttempts: 4 }),
      C: Recovery.rethrow
    })
    const drawn = (row?: string) => {
      const [lane] = Explanation.timeline([{ name: "x", explanation, ...(row === undefined ? {} : { row }) }]).lanes
      return [lane?.row, lane?.attempts.length]
    }
    assert.deepStrictEqual(
      [drawn(), drawn("A"), drawn("C")],
      [
        ["B", 4],
        ["A", 2],
        ["C", 1]
      ]
    )
    assert.throws(() => drawn("D"), /layer 'x' has no row 'D', but A, B, C/)
    assert.deepStrictEqual(Explanation.timeline([{ name: "none", explanation: Recovery.explain({}) }]), {
      lanes: [{ name: "none", attempts: [{ at: 0, number: 1 }], pauses: [] }],
      end: 0,
      isCut: false
    })
  })

  it("draws either bound of waits that are drawn at random [L508]", () => {
    const explanation = Recovery.explain({
      A: Recovery.retry({ maxAttempts: 2, initialBackoff: 1000, jitter: "equal" })
    })
    const end = (waits: "least" | "most") => Explanation.timeline([{ name: "x", explanation }], { waits }).end
    assert.deepStrictEqual([end("least"), end("most")], [500, 1000])
  })

  it("fixers that rerun their tool, and compactions, lead to attempts too, and take no time [L508]", () => {
    const cleanup = Agent.make("cleanup", { budget: { maxTurns: 1 } })
    const fixed = Recovery.explain({
      A: Recovery.ladder(
        Recovery.retry({ retries: 1, initialBackoff: "3 seconds" }),
        Recovery.fix(cleanup, { retries: 2 }),
        Recovery.tell()
      )
    })
    assert.deepStrictEqual(
      Explanation.timeline([{ name: "x", explanation: fixed }]).lanes[0]?.attempts.map(({ at }) => at),
      [0, 3000, 3000, 3000]
    )
    const compacting = Recovery.explain({
      A: Recovery.compact(Compaction.dropOldest({ keepLast: 2 }))
    })
    const { lanes } = Explanation.timeline([{ name: "x", explanation: compacting }])
    assert.strictEqual(lanes[0]?.attempts.length, compacting.worst.attempts)
    assert.include(lanes[0]?.pauses[0]?.verdict ?? "", "compact")
  })

  it("marks unknown rows, and its cut [L508]", () => {
    const unknown = Explanation.timeline([
      { name: "x", explanation: Recovery.explain({ A: Recovery.when(() => Recovery.tell()) }) }
    ])
    assert.match(Explanation.formatTimeline(unknown), /^ms {2}0\nx {3}1\n\nx: chosen at each failure/)
    const many = Recovery.explain({ A: Recovery.retry(Backoff.make({ retries: 99, initialBackoff: 1 })) })
    const cut = Explanation.timeline([{ name: "x", explanation: many }], { maxAttempts: 3 })
    assert.isTrue(cut.isCut)
    assert.strictEqual(cut.lanes[0]?.attempts.length, 3)
    assert.match(Explanation.formatTimeline(cut), /… and more attempts$/)
    assert.isFalse(Explanation.timeline([{ name: "x", explanation: many }], { maxAttempts: 100 }).isCut)
    for (const maxAttempts of [0, 1.5, Number.NaN]) {
      assert.throws(
        () => Explanation.timeline([{ name: "x", explanation: many }], { maxAttempts }),
        RangeError,
        `Explanation.timeline: maxAttempts must be a whole number of at least 1, got ${maxAttempts}`
      )
    }
  })

  it("a schedule is drawn like options [L508]", () => {
    const explanation = Recovery.explain({
      A: Recovery.retry(Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(2)]))
    })
    assert.strictEqual(Explanation.timeline([{ name: "x", explanation }]).end, 2000)
  })
})
