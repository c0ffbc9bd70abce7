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

  /** As many items as make a part too long for a table, which no other part has. */
  const filled = (many: number, ...names: ReadonlyArray<string>) =>
    Array.from({ length: many }, (_, at) => names[at % names.length] ?? "")

  it("pairs nothing that is equal twice, neither at both ends [P1273]", () => {
    for (const [first, second, matches] of [
      ["x", "xx", [[0, 0]]],
      ["xx", "x", [[0, 0]]],
      ["", "x", []],
      ["ax", "bx", [[1, 1]]],
      [
        "xay",
        "xby",
        [
          [0, 0],
          [2, 2]
        ]
      ],
      ["ab", "bc", [[1, 0]]],
      ["ab", "ca", [[0, 1]]]
    ] as const)
      assert.deepStrictEqual(align([...first], [...second]), {
        isExact: true,
        matches: matches.map(([a, b]) => [a, b] as const)
      })
  })

  it("pairs long lists by the items that occur once, and then what is between them [P1274]", () => {
    const long = filled(1001, "a", "b")
    const other = filled(1001, "c", "d")
    // the parts around the anchors are short, and have repeated items
    const first = ["x", "r", "r", "A", ...long, "B", "s", "s", "s", "C"]
    const second = ["r", "y", "r", "A", ...other, "B", "t", "s", "s", "u", "C"]
    assert.deepStrictEqual(align(first, second), {
      isExact: false,
      matches: [
        [1, 0],
        [2, 2],
        [3, 3],
        [1005, 1005],
        [1007, 1007],
        [1008, 1008],
        [1009, 1010]
      ]
    })
    // the first anchor is the first item behind the equal beginning
    const begun = align(["=", "A", ...long], ["=", "z", "A", ...other])
    assert.deepStrictEqual(begun.matches, [
      [0, 0],
      [1, 2]
    ])
  })

  it("leaves a part between anchors without pairs if it is too long, but for its equal ends [P1274]", () => {
    const part = (one: string, end: string) => [...filled(1001, one, `${one}${one}`), "v", end]
    // "v" occurs twice, and once in each of the parts
    const first = ["x", ...part("a", "e"), "A", ...part("b", "f")]
    const second = ["y", ...filled(3, "z"), ...part("c", "e"), "A", ...filled(2, "w"), ...part("d", "f")]
    assert.deepStrictEqual(align(first, second), {
      isExact: false,
      matches: [
        [1002, 1005],
        [1003, 1006],
        [1004, 1007],
        [2006, 2011],
        [2007, 2012]
      ]
    })
    // without an anchor the equal ends are pairs too
    assert.deepStrictEqual(align([...filled(1001, "a", "b"), "e", "e"], [...filled(1001, "c", "d"), "e", "e"]), {
      isExact: false,
      matches: [
        [1001, 1001],
        [1002, 1002]
      ]
    })
    const inner = (one: string) => [...filled(600, one, `${one}${one}`), "v", ...filled(600, one, `${one}${one}`)]
    const apart = align(["x", ...inner("a"), "A", ...inner("b"), "q"], ["y", ...inner("c"), "A", ...inner("d"), "o"])
    assert.deepStrictEqual(apart, { isExact: false, matches: [[1202, 1202]] })
  })

  it("is exact where the parts that differ have a table of a million cells [P1274]", () => {
    const [first, second] = [filled(1000, "a", "b"), filled(1000, "c", "d")]
    assert.deepStrictEqual(align(first, second), { isExact: true, matches: [] })
    assert.isFalse(align([...first, "a"], second).isExact)
  })

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
    const ends = align(["x", ...numbers], ["y", "z", ...numbers])
    assert.isTrue(ends.isExact)
    assert.deepStrictEqual(
      ends.matches,
      numbers.map((_, at) => [at + 1, at + 2])
    )
  })
})
