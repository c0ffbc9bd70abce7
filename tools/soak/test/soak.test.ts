/** What the soak is made of: `npm run soak` runs it for as long as one likes. */
import { assert, describe, it } from "@effect/vitest"
import type { Invariants } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { trendOf, verdictOf } from "../src/heap.ts"
import { format, playAll } from "../src/play.ts"
import { scenarioOf } from "../src/scenario.ts"

describe("the soak", () => {
  it.effect(
    "finds no violation among its first seeds, and every kind of fault finds a place",
    () =>
      Effect.gen(function* () {
        const kinds = new Set<string>()
        const shapes = new Set<string>()
        let injected = 0
        for (let seed = 1; seed <= 40; seed++) {
          const scenario = scenarioOf(seed)
          const result = yield* playAll(scenario)
          assert.deepStrictEqual(
            result.violations.flatMap(({ found }) => found),
            [],
            format(scenario, result)
          )
          assert.strictEqual(result.runs, 2 + result.injected)
          injected += result.injected
          shapes.add(scenario.shape)
          for (const { kind } of scenario.faults) kinds.add(kind)
        }
        assert.isAbove(injected, 200)
        assert.strictEqual(kinds.size, 6)
        assert.strictEqual(shapes.size, 7)
      }),
    60_000
  )

  it.effect("prints its findings with the seed and the scenario, which reproduce them", () =>
    Effect.gen(function* () {
      const planted = { planted: (() => ["it is here"]) satisfies Invariants.Invariant }
      const scenario = scenarioOf(7, 2)
      const report = format(scenario, yield* playAll(scenario, planted))
      assert.match(report, /^seed 7: 4 runs go against an invariant\nscenario \{"seed":7,/)
      assert.match(report, /✗ planted: it is here/)
      const printed: unknown = JSON.parse(report.split("\n")[1]?.replace("scenario ", "") ?? "")
      assert.deepStrictEqual<unknown>(printed, scenario)
      assert.strictEqual(format(scenarioOf(7, 2), yield* playAll(scenarioOf(7, 2), planted)), report)
    })
  )

  it("draws another scenario for each seed", () => {
    const drawn = new Set(
      Array.from({ length: 200 }, (_, seed) => JSON.stringify({ ...scenarioOf(seed), seed: undefined }))
    )
    assert.strictEqual(drawn.size, 200)
  })
})

describe("the heap", () => {
  const flat = (count: number) => Array.from({ length: count }, (_, index) => 30 + (index % 3))

  it("is flat when it goes up and down, or has one high sample", () => {
    assert.isTrue(trendOf(flat(30)).isFlat)
    assert.isTrue(trendOf(flat(30).with(29, 300)).isFlat)
    assert.deepStrictEqual(trendOf([10, 11, 12, 12, 11, 10]), { first: 10.5, last: 10.5, isFlat: true })
  })

  it("is not when the last third is more than a tenth above the first", () => {
    assert.isTrue(trendOf([100, 100, 105, 108, 110, 110]).isFlat)
    assert.isFalse(trendOf([100, 100, 105, 108, 110, 112]).isFlat)
    assert.isFalse(trendOf(Array.from({ length: 30 }, (_, minute) => 30 + minute / 2)).isFlat)
  })

  it("reports nothing of fewer than three samples", () => {
    assert.isTrue(trendOf([1, 100]).isFlat)
    assert.strictEqual(verdictOf(trendOf([1, 100])), "too few samples to say whether the heap is flat")
    assert.strictEqual(verdictOf(trendOf(flat(30))), "the heap is flat")
    assert.strictEqual(verdictOf(trendOf([1, 1, 100])), "the heap is NOT flat")
  })
})
