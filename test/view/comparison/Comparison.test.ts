import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "@kintsugi/core/testing/FastCheck"
import { Comparison, ComparisonPage, ComparisonText, type Recording } from "@kintsugi/view"
import { Effect } from "effect"
import fc from "fast-check"
import { runs, seed } from "../../_support/cases.ts"
import { align } from "../../../packages/view/src/comparison/aligning.ts"
import { mid } from "../_support/recorded.ts"

type Events = Recording.Recording["events"]

const base = { runId: "r", agent: "a", turn: 1 }

/** A recording of calls, each of a tool with arguments and its result; the text "answer" is an answer. */
const calling = (
  ...steps: ReadonlyArray<readonly [tool: string, args: unknown, result: string] | "answer">
): { events: Events } => ({
  events: steps.flatMap((step, index): Events => {
    const at = index * 10
    const turn = index + 1
    if (step === "answer") {
      const content = [{ type: "text", text: "Done." }]
      return [
        { ...base, turn, at, type: "model-start", model: "m", provider: "p", attempt: 1 },
        { ...base, turn, at: at + 5, type: "model-end", model: "m", attempt: 1, reply: { content } }
      ]
    }
    const [tool, args, result] = step
    const call = { ...base, turn, callId: `c${index}`, tool }
    return [
      { ...call, at, type: "tool-start", arguments: args },
      { ...call, at: at + 5, type: "tool-end", use: { settlement: { kind: "result", text: result } } }
    ]
  })
})

const labels = { first: "a.jsonl", second: "b.jsonl" }
const signs = ({ pairs }: Comparison.Comparison) => pairs.map(({ sign }) => sign).join("")

describe("the comparison of two runs", () => {
  it("pairs steps by tool and arguments, and not by time or id [P1273]", () => {
    const first = calling(
      ["look", { id: 1, deep: { a: 1, b: 2 } }, "x"],
      ["look", { id: 2 }, "y"],
      ["pay", {}, "paid"],
      "answer"
    )
    const second = calling(
      ["pay", {}, "paid"],
      ["look", '{"deep": {"b": 2, "a": 1}, "id": 1}', "x"],
      ["pay", {}, "refused"],
      "answer"
    )
    const comparison = Comparison.make(first, second)
    assert.strictEqual(signs(comparison), "+=-≠=")
    assert.strictEqual(comparison.divergence, 0)
    assert.isTrue(comparison.isExact)
    const text = ComparisonText.format(comparison, labels)
    assert.include(text, "First difference: turn 1. a.jsonl called look")
    assert.include(text, "b.jsonl called pay {}")
  })

  it("says which of both answered where the other called a tool [P1273]", () => {
    const first = calling(["look", { id: 7 }, "x"], ["pay", {}, "paid"], "answer")
    const second = calling(["look", { id: 7 }, "x"], "answer")
    const text = ComparisonText.format(Comparison.make(first, second), labels)
    assert.include(text, "First difference: turn 2. a.jsonl called pay {}, b.jsonl answered.")
  })

  it("compares the failed run with the one that completed [P1273]", () => {
    const comparison = Comparison.make(mid("mid-fail"), mid("mid-ok"))
    assert.strictEqual(comparison.first.outcome?.kind, "failed")
    assert.strictEqual(comparison.second.outcome?.kind, "completed")
    const pair = comparison.pairs[comparison.divergence ?? -1]
    assert.strictEqual(pair?.sign, "≠")
    assert.include(pair?.first?.what, '{"id":"O-3-2"}')
    assert.deepStrictEqual([pair?.first?.end, pair?.second?.end], ["result", "told"])
    const fatal = comparison.pairs.find(({ first }) => first?.end === "failed")
    assert.include(fatal?.first?.what, "refund")
    const text = ComparisonText.format(comparison, labels)
    assert.match(text, /^Outcome +✕ PaymentDeclined · refund-desk +✓ Completed · refund-desk +≠$/m)
    assert.match(text, /^Duration +3 h .* −2 h 59 min$/m)
    assert.include(text, "equal steps")
  })

  it("finds no difference between a run and itself [P1273]", () => {
    const comparison = Comparison.make(mid("mid-ok"), mid("mid-ok"))
    assert.isUndefined(comparison.divergence)
    assert.match(signs(comparison), /^=+$/)
    const text = ComparisonText.format(comparison, labels)
    assert.include(text, "Both runs took the same steps, with the same results.")
    assert.notInclude(text, "System prompts")
  })

  it("shows what differs in prompts, models and tables [P1273]", () => {
    const changed = mid("mid-ok").events.map((event) =>
      JSON.parse(
        JSON.stringify(event)
          .replaceAll("furniture", "music")
          .replaceAll('"gpt-5"', '"gpt-6"')
          .replaceAll('"tell"', '"escalate"')
      )
    )
    const comparison = Comparison.make(mid("mid-ok"), { events: changed })
    const page = ComparisonPage.make(comparison, labels)
    for (const words of [
      "music shop",
      "openai gpt-6",
      "refund-desk › lookupOrder › StaleIndex: retry, retry gave up, escalate"
    ]) {
      assert.include(ComparisonText.format(comparison, labels), words)
      assert.include(page, words)
    }
  })

  it("draws a page without scripts, in which nothing of a run is markup [P1273]", () => {
    const evil = '<img src=x onerror="alert(1)"></style><script>alert(2)</script>'
    const first = calling([evil, { evil }, evil], "answer")
    const page = ComparisonPage.make(Comparison.make(first, calling("answer")), { first: evil, second: "b" })
    assert.notMatch(page, /<script|<img/)
    assert.match(page, /<tr class="first" id="divergence" aria-current="true">/)
    assert.match(page, /<a href="#divergence">/)
    assert.strictEqual(page.split('<rect class="').length - 1, 3)
  })

  it("folds equal steps in the text, and bounds it and the page [P1274]", () => {
    const many = Array.from({ length: 6000 }, (_, id) => ["look", { id }, "x"] as const)
    const other = many.map(([tool, args], id) => [tool, args, id % 7 === 0 ? "y" : "x"] as const)
    const comparison = Comparison.make(calling(...many), calling(...other))
    const text = ComparisonText.format(comparison, labels)
    assert.isBelow(text.split("\n").length, 450)
    assert.match(text, /… and \d+ more/)
    assert.include(ComparisonPage.make(comparison, labels), "1000 more steps are not in this page.")
    const few = ComparisonText.format(Comparison.make(calling(...many), calling(...many, "answer")), labels)
    assert.include(few, "… 5998 equal steps")
  })
})

describe("the alignment", () => {
  const letters = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 })

  /** The length of a longest common subsequence, by its definition. */
  const longest = ([a, ...first]: ReadonlyArray<string>, [b, ...second]: ReadonlyArray<string>): number => {
    if (a === undefined || b === undefined) return 0
    if (a === b) return 1 + longest(first, second)
    return Math.max(longest(first, [b, ...second]), longest([a, ...first], second))
  }

  it.effect("pairs equal items in order, and as many as possible [P1273]", () =>
    FastCheck.check(
      fc.tuple(letters, letters),
      ([first, second]) =>
        Effect.sync(() => {
          const { isExact, matches } = align(first, second)
          assert.isTrue(isExact)
          assert.strictEqual(matches.length, longest(first, second))
          let [a, b] = [-1, -1]
          for (const [nextA, nextB] of matches) {
            assert.isTrue(nextA > a && nextB > b)
            assert.strictEqual(first[nextA], second[nextB])
            ;[a, b] = [nextA, nextB]
          }
        }),
      { runs, seed }
    )
  )

  it("takes long lists in bounded time, and says when it is not exact [P1274]", () => {
    const numbers = Array.from({ length: 10_000 }, (_, index) => String(index))
    const shifted = [...numbers.slice(5000), ...numbers.slice(0, 5000)]
    const began = performance.now()
    const anchored = align(numbers, shifted)
    assert.isFalse(anchored.isExact)
    assert.lengthOf(anchored.matches, 5000)
    // no item occurs once, and the table would have 100,000,000 cells
    const same = align(
      numbers.map((number) => `a${Number(number) % 2}`),
      numbers.map((number) => `a${Number(number) % 3}`)
    )
    assert.isFalse(same.isExact)
    assert.isAtLeast(same.matches.length, 1)
    assert.isBelow(performance.now() - began, 5000)
    const equal = align([...numbers, "x"], [...numbers, "y"])
    assert.isTrue(equal.isExact)
    assert.lengthOf(equal.matches, 10_000)
  })
})
