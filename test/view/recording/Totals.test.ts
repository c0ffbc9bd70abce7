/** What was spent, in words, and on which side of the sums an attempt is. */
import { assert, describe, it } from "@effect/vitest"
import { Recording } from "@kintsugi/view"
import { amount, make, type Spending } from "../../../packages/view/src/recording/Totals.ts"

const spending = (fields: Partial<Spending>): Spending => ({ attempts: 2, tokens: 0, cost: 0, unknown: 0, ...fields })

const totals = (...events: ReadonlyArray<object>) =>
  make(Recording.fromEvents(events.map((event, at) => ({ runId: "r", agent: "clerk", turn: 1, at, ...event }))).events)

describe("an amount in words", () => {
  it("is money if all prices are known, else tokens [P1704]", () => {
    const priced = spending({ tokens: 1200, cost: 1.5 })
    assert.deepStrictEqual([amount(priced, true), amount(priced, false)], ["$1.50", "1,200 tokens"])
    const none = spending({ attempts: 0 })
    assert.deepStrictEqual([amount(none, true), amount(none, false)], ["$0", "0 tokens"])
  })

  it("is unknown, or the least, if attempts have reported nothing [P1704]", () => {
    assert.strictEqual(amount(spending({ tokens: 5, cost: 1, unknown: 2 }), true), "unknown")
    const some = spending({ tokens: 5, cost: 1, unknown: 1 })
    assert.deepStrictEqual([amount(some, true), amount(some, false)], ["at least $1.00", "at least 5 tokens"])
    assert.strictEqual(amount(spending({ tokens: 5, unknown: 1 }), true), "unknown")
    assert.strictEqual(amount(spending({ cost: 5, unknown: 1 }), false), "unknown")
  })
})

describe("the sums of a recording", () => {
  it("count each kind of event by itself [P1216]", () => {
    const verdict = { type: "verdict", delay: 5 }
    const parent = { runId: "child", parent: { runId: "r" } }
    assert.deepStrictEqual(
      totals(
        { type: "turn-start" },
        { type: "turn-start", ...parent },
        { type: "tool-start" },
        { type: "tool-start" },
        { type: "tool-failed" },
        { ...verdict, layer: "transport" },
        { ...verdict, layer: "tool" },
        { type: "verdict" },
        { type: "tool-end" }
      ),
      {
        runs: 1,
        nested: 1,
        turns: 2,
        nestedTurns: 1,
        toolCalls: 2,
        toolFailures: 1,
        modelFailures: 0,
        sendFailures: 1,
        verdicts: 3,
        waited: 10,
        work: { attempts: 0, tokens: 0, cost: 0, unknown: 0 },
        recovery: { attempts: 0, tokens: 0, cost: 0, unknown: 0 },
        isPriced: false
      }
    )
  })

  it("take an attempt without an entry as its event says, and its usage as unknown [P1704]", () => {
    const { isPriced, modelFailures, recovery, work } = totals(
      { type: "model-end" },
      { type: "model-failed" },
      { type: "model-interrupted" }
    )
    assert.deepStrictEqual([modelFailures, isPriced], [1, false])
    assert.deepStrictEqual(work, { attempts: 2, tokens: 0, cost: 0, unknown: 2 })
    assert.deepStrictEqual(recovery, { attempts: 1, tokens: 0, cost: 0, unknown: 1 })
  })

  it("know that a reply has used nothing, if its usage says so [P1704]", () => {
    const none = { entry: { usage: { inputTokens: 0, outputTokens: 0 } } }
    assert.strictEqual(totals({ type: "model-end", ...none }).work.unknown, 0)
    assert.strictEqual(totals({ type: "model-interrupted", ...none }).work.unknown, 1)
    assert.strictEqual(totals({ type: "model-interrupted", entry: { usage: { outputTokens: 1 } } }).work.unknown, 0)
    // attempts that have used nothing need no price
    assert.isTrue(totals({ type: "model-end", ...none }, { type: "model-end", entry: { cost: 0 } }).isPriced)
    assert.isFalse(totals({ type: "model-end", entry: { usage: { inputTokens: 1 } } }).isPriced)
  })

  it("take a part that was discarded, with all its descendants, as recovery [P1216]", () => {
    const used = (runId: string, parent?: string) => ({
      runId,
      type: "model-end",
      entry: { usage: { inputTokens: 1 } },
      ...(parent === undefined ? {} : { parent: { runId: parent } })
    })
    const discarded = { type: "attempt-discarded", discardedRunId: "part" }
    const runs = [used("r"), used("deep", "child"), used("child", "part"), used("part", "r"), used("other", "r")]
    const { recovery, work } = totals(...runs, used("deep", "child"), discarded)
    assert.deepStrictEqual([work.attempts, recovery.attempts], [2, 4])
    assert.strictEqual(totals(...runs, { type: "attempt-discarded" }).recovery.attempts, 0)
    // a broken file may name runs as parents of each other
    assert.strictEqual(totals(used("a", "b"), used("b", "a"), discarded).work.attempts, 2)
  })
})
