import { assert, describe, it } from "@effect/vitest"
import { Search, textOf } from "../../../packages/view/src/scene/Search.ts"
import { mid } from "../_support/recorded.ts"

const { events } = mid("mid-fail")

const found = (query: string, texts: Array<string> = []) => {
  const search = new Search(events, query, texts)
  search.step(() => false)
  return search.matches
}

describe("a search over events [P1278]", () => {
  it("finds texts, tools, errors and run ids, in any case [P1278]", () => {
    assert.deepStrictEqual(found("paymentDECLINED"), [133, 135])
    assert.strictEqual(found("askPolicyResearcher").length, 5)
    assert.strictEqual(found("insufficient merchant balance").length, 3)
    assert.strictEqual(found("run-4ityxx").length, events.filter(({ agent }) => agent === "policy-researcher").length)
    assert.deepStrictEqual(found("nowhere in it"), [])
  })

  it("finds quotes as they are shown, and nothing of repeated sums [P1278]", () => {
    assert.isAbove(found('"O-11",}').length, 0)
    const end = events.at(-1)
    assert.isDefined(end)
    assert.notInclude(textOf(end), "ledger")
  })

  it("looks at the time behind each 64 events, and ends with the last one [P1278]", () => {
    const many = Array.from({ length: 130 }, (_, at) => ({ type: "x", runId: "r", agent: "a", turn: 1, at }))
    const search = new Search(many, "x", [])
    const counts: Array<number> = []
    let asked = 0
    const isLate = () => ++asked > 0
    while (!search.isDone) {
      search.step(isLate)
      counts.push(search.matches.length)
    }
    assert.deepStrictEqual([counts, asked], [[64, 128, 130], 2])
    search.step(isLate)
    assert.deepStrictEqual([search.matches.length, asked], [130, 2])
    const exact = new Search(many.slice(0, 64), "x", [])
    exact.step(isLate)
    assert.isTrue(exact.isDone)
    assert.isTrue(new Search([], "x", []).isDone)
  })

  it("goes on where it paused, and reads each text once [P1278]", () => {
    const texts: Array<string> = []
    const search = new Search(events, "refund", texts)
    let steps = 0
    while (!search.isDone) {
      search.step(() => true)
      steps++
    }
    assert.isAbove(steps, 1)
    assert.deepStrictEqual(search.matches, found("refund"))
    texts[0] = "another text"
    assert.notInclude(found("refund", texts), 0)
  })
})
