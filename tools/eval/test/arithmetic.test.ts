/** The arithmetic of `npm run eval`. */
import { assert, describe, it } from "vitest"
import { reportOf } from "../src/report.ts"
import { mean, share } from "../src/statistics.ts"
import { format } from "../src/format.ts"
import type { Outcome } from "../src/play.ts"

it("the mean of nothing is none", () => {
  assert.deepStrictEqual([mean([]), mean([1, 2, 6])], [undefined, 3])
})

const outcome = (given: Partial<Outcome>): Outcome => ({
  scenario: "a",
  policy: undefined,
  isMet: false,
  isHealed: true,
  isWrong: false,
  isClaimed: false,
  turns: 2,
  modelCalls: 2,
  tokens: 100,
  cost: 1,
  waited: 0,
  failure: undefined,
  message: undefined,
  ...given
})

const names = {
  scenarios: [
    { name: "a", of: "tools" },
    { name: "b", of: "network" }
  ],
  policies: [{ name: "p" }]
} as const

const evaluation = {
  planned: 20,
  spent: { tokens: 1, cost: 2 },
  outcomes: [
    outcome({}),
    outcome({ tokens: 300, cost: 3 }),
    outcome({ scenario: "b", turns: 4 }),
    // without a fault, and yet not done: nothing is measured beside it
    outcome({ scenario: "b", turns: 40, tokens: 9000, isHealed: false, failure: "NetworkError" }),
    outcome({ policy: "p", isMet: true, turns: 3, modelCalls: 5, tokens: 500, cost: 5, waited: 2000 }),
    outcome({ policy: "p", scenario: "b", isMet: true, turns: 6, modelCalls: 6, tokens: 50, cost: 0.5 }),
    outcome({ policy: "p", scenario: "b", isMet: true, isHealed: false, tokens: 50, cost: 2.5, failure: "Busy" }),
    outcome({ policy: "p", isMet: true, isHealed: false, isWrong: true, tokens: 0, cost: 0 }),
    // its fault has not happened
    outcome({ isWrong: true, policy: "p", tokens: 70_000, cost: 700, waited: 70_000 })
  ]
}

describe("the report", () => {
  const report = reportOf(evaluation, names)
  const [row] = report.policies

  it("counts what was healed among the runs in which the fault has happened", () => {
    assert.deepStrictEqual(row?.healed, share(2, 4))
    assert.strictEqual(row?.runs, 5)
    assert.deepStrictEqual([row?.silent, row?.claimed, row?.wrong, row?.failures], [1, 0, 1, { Busy: 1 }])
    assert.deepStrictEqual([row?.classes.tools, row?.classes.network], [share(1, 2), share(1, 2)])
    assert.strictEqual(row?.classes.output.of, 0)
    assert.deepStrictEqual(report.scenarios, [
      { scenario: "a", healed: [share(1, 2)], wrong: [1] },
      { scenario: "b", healed: [share(1, 2)], wrong: [0] }
    ])
  })

  it("measures healed runs beside their own scenario without a fault", () => {
    // beside a: 2 turns, 2 calls, 200 tokens, 2; beside b: 4 turns, 2 calls, 100 tokens, 1
    assert.deepStrictEqual(row?.extra, { turns: 1.5, modelCalls: 3.5, tokens: 125, cost: 1.25 })
    assert.strictEqual(row?.waited, 1000)
    assert.deepStrictEqual(report.sound, share(3, 4))
  })

  it("lets failed runs count in what a healed one costs", () => {
    assert.deepStrictEqual([row?.tokensPerHealed, row?.costPerHealed], [300, 4])
  })

  it("reports nothing of failures that never healed", () => {
    const failed = [outcome({}), outcome({ policy: "p", isMet: true, isHealed: false, failure: "Busy" })]
    const [row] = reportOf({ ...evaluation, outcomes: failed }, names).policies
    assert.deepStrictEqual(
      [row?.extra, row?.waited, row?.tokensPerHealed, row?.costPerHealed],
      [undefined, undefined, undefined, undefined]
    )
  })

  it("counts claims apart from other silent runs", () => {
    const claimed = outcome({ policy: "p", isMet: true, isHealed: false, isClaimed: true })
    const silent = outcome({ policy: "p", isMet: true, isHealed: false })
    const failed = outcome({ policy: "p", isMet: true, isHealed: false, isClaimed: false, failure: "Busy" })
    const healed = outcome({ policy: "p", isMet: true, isClaimed: true })
    const [row] = reportOf({ ...evaluation, outcomes: [claimed, silent, failed, healed] }, names).policies
    assert.deepStrictEqual([row?.claimed, row?.silent, row?.healed.count], [1, 1, 1])
  })

  it("reports that it stopped at the limit", () => {
    assert.match(format(report), /stopped at the limit of spending, after 9 of 20 runs/)
    assert.notMatch(format(reportOf({ ...evaluation, planned: 9 }, names)), /limit of spending/)
  })
})
