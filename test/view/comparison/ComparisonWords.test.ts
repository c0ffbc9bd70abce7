/** A comparison in words: its sums, the first difference, and the cells of its steps. */
import { assert, describe, it } from "@effect/vitest"
import { type Comparison, ComparisonPage, ComparisonText } from "@kintsugi/view"
import {
  cellOf,
  changed,
  divergenceOf,
  exactness,
  stepOf,
  sums,
  turnsOf
} from "../../../packages/view/src/comparison/ComparisonWords.ts"

import { dark, light } from "../../../packages/view/src/drawing/Colors.ts"

type Pair = Comparison.Comparison["pairs"][number]
type Step = NonNullable<Pair["first"]>
type Side = Comparison.Comparison["first"]

const step = (what: string, fields: Partial<Step> = {}): Step => ({
  index: 0,
  agent: "clerk",
  turn: 1,
  depth: 0,
  what,
  key: `clerk\n${what}\n{}`,
  began: 0,
  lasted: 250,
  end: "result",
  text: "",
  failures: 0,
  ...fields
})

const side = (fields: Partial<Side> = {}): Side => ({
  outcome: undefined,
  lasted: 0,
  steps: 0,
  failures: 0,
  tokens: undefined,
  cost: undefined,
  ...fields
})

const of = (pairs: ReadonlyArray<Pair>, fields: Partial<Comparison.Comparison> = {}): Comparison.Comparison => {
  const divergence = pairs.findIndex(({ sign }) => sign !== "=")
  return {
    first: side(),
    second: side(),
    pairs,
    divergence: divergence < 0 ? undefined : divergence,
    isExact: true,
    settings: { prompts: [], models: [], tables: [] },
    ...fields
  }
}

const labels = { first: "a", second: "b" }
const both = (sign: "=" | "≠", first: Step, second = first): Pair => ({ sign, first, second })
const only = (first: Step): Pair => ({ sign: "-", first })
const added = (second: Step): Pair => ({ sign: "+", second })
const said = (...pairs: ReadonlyArray<Pair>) => divergenceOf(of(pairs), labels)

describe("the sums of a comparison", () => {
  it("have both values and the difference, or say what is unknown [P1273]", () => {
    const rows = sums(
      of([], {
        first: side({ lasted: 1000, steps: 3, failures: 2, tokens: 1500, cost: 0.5 }),
        second: side({ lasted: 3000, steps: 3, failures: 1, tokens: 250 })
      })
    )
    assert.deepStrictEqual(rows, [
      ["Outcome", "none", "none", "same"],
      ["Duration", "1 s", "3 s", "+2 s"],
      ["Steps", "3", "3", "same"],
      ["Failures", "2", "1", "−1"],
      ["Tokens", "1,500", "250", "−1,250"],
      ["Cost", "$0.5", "unknown", "?"]
    ])
    assert.deepStrictEqual(sums(of([], { second: side({ cost: 1 }) })).at(-1), ["Cost", "unknown", "$1.00", "?"])
  })
})

describe("the first difference", () => {
  it("is none if all steps are equal [P1273]", () => {
    assert.strictEqual(said(both("=", step("x"))), "Both runs took the same steps, with the same results.")
  })

  it("is the end of a step that both took, with its failures and its text [P1273]", () => {
    const first = step("pay {}", { turn: 2, failures: 1, text: "p".repeat(70) })
    assert.strictEqual(
      said(both("=", step("x")), both("≠", first, step("pay {}", { turn: 2, end: "told", failures: 2 }))),
      `First difference: turn 2, pay {}. a: result after 1 failure: ${"p".repeat(59)}…. b: told after 2 failures.`
    )
    assert.strictEqual(
      said(both("≠", first, step("pay {}", { turn: 3 }))).slice(0, 48),
      "First difference: turn 2 and turn 3, pay {}. a: "
    )
  })

  it("is what each did between equal steps, or the step behind them, or its end [P1273]", () => {
    const answers = step("answers", { key: "clerk\nanswers", turn: 4 })
    assert.strictEqual(
      said(both("=", step("x")), only(step("y", { turn: 2 })), added(step("z", { turn: 3 }))),
      "First difference: turn 2 and turn 3. a called y, b called z."
    )
    assert.strictEqual(
      said(only(step("y")), only(step("w")), both("=", answers)),
      "First difference: turn 1 and turn 4. a called y, b answered."
    )
    assert.strictEqual(
      said(added(step("z")), both("≠", step("v"))),
      "First difference: turn 1. a called v, b called z."
    )
    assert.strictEqual(said(only(step("y", { turn: 7 }))), "First difference: turn 7. a called y, b had ended.")
    assert.strictEqual(said(added(step("y", { turn: 7 }))), "First difference: turn 7. a had ended, b called y.")
    // what comes behind the next equal step is another difference
    assert.strictEqual(
      said(only(step("y")), both("=", answers), added(step("z"))),
      "First difference: turn 1 and turn 4. a called y, b answered."
    )
  })
})

describe("the cells of a step", () => {
  it("have its time, its failures and an unusual end [P1273]", () => {
    const cells = [
      undefined,
      step("x"),
      step("x", { end: "answered", failures: 1 }),
      step("x", { lasted: undefined, end: "no end" }),
      step("x", { failures: 2, end: "told" })
    ]
    assert.deepStrictEqual(cells.map(cellOf), [
      "",
      "250 ms",
      "250 ms, 1 failure",
      "no end, no end",
      "250 ms, 2 failures, told"
    ])
  })

  it("have a mark for each run around it, and its turns [P1273]", () => {
    assert.deepStrictEqual([only(step("x")), added(step("y", { depth: 2 }))].map(stepOf), ["x", "› › y"])
    const [one, two] = [step("x", { turn: 1 }), step("x", { turn: 2 })]
    assert.deepStrictEqual([only(one), added(two), both("=", one), both("=", one, two)].map(turnsOf), [
      "1",
      "2",
      "1",
      "1/2"
    ])
  })
})

describe("what else a comparison says", () => {
  it("are settings with a line that differs, and that some steps may be equal [P1273 P1274]", () => {
    const same = { sign: " ", text: "same" } as const
    const settings = {
      prompts: [same, { sign: "-", text: "x" } as const],
      models: [same],
      tables: [{ sign: "+", text: "y" } as const]
    }
    assert.deepStrictEqual(changed(of([], { settings })), [
      ["System prompts", settings.prompts],
      ["Tables, as their verdicts show", settings.tables]
    ])
    assert.deepStrictEqual(changed(of([], { settings: { ...settings, models: [{ sign: "-", text: "m" }] } })).length, 3)
    assert.deepStrictEqual(
      [exactness(of([])), exactness(of([], { isExact: false }))],
      ["", "The runs are long and differ much: some equal steps may be shown as different."]
    )
  })
})

describe("the text of a comparison", () => {
  const equal = (many: number) => Array.from({ length: many }, (_, index) => both("=", step(`e${index}`)))
  const text = (pairs: ReadonlyArray<Pair>, fields: Partial<Comparison.Comparison> = {}) =>
    ComparisonText.format(of(pairs, fields), { ...labels, emphasise: (line) => `*${line}*` })

  it("lists two equal steps before and behind a step that differs, and folds the others [P1273]", () => {
    const pairs = [
      ...equal(4),
      only(step("gone\nfor good")),
      ...equal(3),
      added(step("new", { failures: 1 })),
      ...equal(4)
    ]
    assert.strictEqual(
      text(pairs).split("\n\n")[2],
      `*   turn  step           a       b*
  … 2 equal steps
=  1     e2             250 ms  250 ms
=  1     e3             250 ms  250 ms
*-  1     gone for good  250 ms*
=  1     e0             250 ms  250 ms
=  1     e1             250 ms  250 ms
=  1     e2             250 ms  250 ms
+  1     new                    250 ms, 1 failure
=  1     e0             250 ms  250 ms
=  1     e1             250 ms  250 ms
  … 2 equal steps`
    )
    assert.include(text([...equal(3), only(step("x"))]), "  … 1 equal step\n")
  })

  it("has the sums, the first difference and the settings that differ, without equal lines [P1273]", () => {
    const settings = {
      prompts: [{ sign: " ", text: "same" } as const, { sign: "-", text: "x\t\n y" } as const],
      models: [],
      tables: []
    }
    assert.strictEqual(ComparisonText.format(of([], { settings }), labels), text([], { settings }).replaceAll("*", ""))
    assert.strictEqual(
      text([], { settings, isExact: false }),
      `*          a        b        difference*
Outcome   none     none     same
Duration  0 ms     0 ms     same
Steps     0        0        same
Failures  0        0        same
Tokens    unknown  unknown  ?
Cost      unknown  unknown  ?

Both runs took the same steps, with the same results.
The runs are long and differ much: some equal steps may be shown as different.

*  turn  step  a  b*

*System prompts*
- x y`
    )
  })

  it("ends after 400 lines of steps, and says how many follow [P1274]", () => {
    const different = Array.from({ length: 402 }, (_, index) => only(step(`d${index}`)))
    const lines = text(different).split("\n\n")[2]?.split("\n") ?? []
    assert.lengthOf(lines, 402)
    assert.match(lines[400] ?? "", /d399/)
    assert.strictEqual(lines[401], "  … and 2 more")
    assert.notInclude(text(different.slice(0, 400)), "more")
  })
})

describe("the page of a comparison", () => {
  const page = (pairs: ReadonlyArray<Pair>, fields: Partial<Comparison.Comparison> = {}) =>
    ComparisonPage.make(of(pairs, fields), labels)

  it("has a row for each step, with bars on one axis [P1273]", () => {
    const pairs = [
      both("=", step("x", { began: 0, lasted: 500 }), step("x", { began: 500, lasted: undefined, failures: 1 })),
      only(step("<y>", { turn: 2 }))
    ]
    const made = page(pairs, { first: side({ lasted: 1000 }), second: side({ lasted: 400 }) })
    assert.include(
      made,
      [
        '<tr class="same"><td class="sign" aria-label="same">=</td><td class="number">1</td><th scope="row">x</th>',
        '<td><svg viewBox="0 0 240 16" width="240" height="16" aria-hidden="true">',
        '<rect class="first" x="0.0" y="1" width="120.0" height="6"/>',
        '<rect class="second failed" x="120.0" y="9" width="2.0" height="6"/></svg></td>',
        "<td>500 ms</td><td>no end, 1 failure</td></tr>"
      ].join("")
    )
    assert.include(
      made,
      '<tr class="first" id="divergence" aria-current="true"><td class="sign" aria-label="only in the first">-</td><td class="number">2</td><th scope="row">&lt;y&gt;</th>'
    )
    assert.include(made, "<title>a and b</title>")
    assert.match(
      made,
      /\n<p class="divergence">.*<\/p>\n<h2>Steps<\/h2>\n<div class="scroll" tabindex="0" role="region" aria-label="The steps of both runs, paired by tool and arguments"><table class="steps"><caption>.*<\/caption>\n<thead><tr><td><\/td><th scope="col">Turn<\/th><th scope="col">Step<\/th><th scope="col">Time<\/th><th scope="col">a<\/th><th scope="col">b<\/th><\/tr><\/thead><tbody>\n<tr .*<\/tr>\n<tr .*<\/tr>\n<\/tbody><\/table><\/div>\n?<\/main>/
    )
    assert.include(
      made,
      '<svg viewBox="0 0 240 16" width="240" height="16" aria-hidden="true"><rect class="first" x="0.0" y="1" width="60.0" height="6"/></svg>'
    )
    assert.include(
      made,
      '<p class="divergence">First difference: turn 2. a called &lt;y&gt;, b had ended. <a href="#divergence">Go to it</a></p>'
    )
    assert.include(
      made,
      "<caption>The steps of both runs, paired by tool and arguments. Upper bar: a; lower bar: b.</caption>"
    )
    assert.notInclude(made, "more steps")
  })

  it("has the colours of drawings, light and dark, and marks what differs [P1212 P1273]", () => {
    const made = page([])
    for (const rule of [
      `:root{--first:${light.model};--second:${light.tool};--failed:${light.failed}}`,
      `@media screen and (prefers-color-scheme:dark){:root{--first:${dark.model};--second:${dark.tool};--failed:${dark.failed}}}`,
      ".divergence{font-weight:600}",
      "rect.first{fill:var(--first)}rect.second{fill:var(--second)}rect.failed{stroke:var(--failed);stroke-width:1.5}",
      "tr.first,tr.second,tr.changed{background:var(--raised)}",
      "tr[aria-current]{outline:3px solid var(--failed);outline-offset:-3px}",
      "span.first{color:var(--failed)}span.second{color:var(--second)}"
    ])
      assert.include(made, rule)
  })

  it("has the word of each sign, and no link without a difference [P1273]", () => {
    const rows = page([both("≠", step("x")), added(step("y"))])
    assert.include(
      rows,
      '<tr class="changed" id="divergence" aria-current="true"><td class="sign" aria-label="different">≠</td>'
    )
    assert.include(rows, '<tr class="second"><td class="sign" aria-label="only in the second">+</td>')
    const same = page([both("=", step("x"))])
    assert.include(same, '<p class="divergence">Both runs took the same steps, with the same results.</p>')
    assert.notInclude(same, "#divergence")
    // a time of no length is an axis all the same
    assert.notInclude(same, "NaN")
  })

  it("has the settings with their equal lines, its own title, and the note about long runs [P1273]", () => {
    const settings = {
      prompts: [{ sign: " ", text: "<same>" } as const, { sign: "+", text: "x" } as const],
      models: [],
      tables: []
    }
    const made = ComparisonPage.make(of([], { settings, isExact: false }), { ...labels, title: "Two <runs>" })
    assert.include(made, "<title>Two &lt;runs&gt;</title>")
    assert.include(
      made,
      '<h2>System prompts</h2>\n<pre tabindex="0"><span class="same">  &lt;same&gt;</span>\n<span class="second">+ x</span></pre>'
    )
    assert.include(made, "<p>The runs are long and differ much: some equal steps may be shown as different.</p>")
    assert.notInclude(page([]), "<h2>System prompts</h2>")
    assert.notInclude(page([]), "differ much")
  })
})
