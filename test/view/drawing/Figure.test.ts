/** The elements of a drawing: where they are, how they look and what they say. */
import { assert, describe, it } from "@effect/vitest"
import { broken, fitting, inner, isFaded, shapeOf } from "../../../packages/view/src/drawing/Figure.ts"
import { sheet, type Window } from "../../../packages/view/src/drawing/Layout.ts"
import type { State } from "../../../packages/view/src/scene/Shapes.ts"
import { lane, mark, sceneOf, span } from "./_support/sceneOf.ts"

const window = { start: 0, end: 1000 }

/** The elements, with a pixel per millisecond behind the names. */
const drawn = (given: Parameters<typeof sceneOf>[0], of: Window = window, isTitled = false): string =>
  inner(sheet(sceneOf(given)), 132 + (of.end - of.start) + 14, of, isTitled)

/** The elements that show items. */
const itemsIn = (given: Parameters<typeof sceneOf>[0], isTitled = false): ReadonlyArray<string> =>
  [...drawn(given, window, isTitled).matchAll(/<g data-item="\d+">.*?<\/g>/g)].map(([one]) => one)

const one = (...[from, to, more]: Parameters<typeof span>) => itemsIn({ items: [span(from, to, more)] })[0]

describe("a drawing [P1220]", () => {
  it("names its tracks and their lanes, deeper ones further right [P1220]", () => {
    const layers = ["run", "turn", "model", "transport", "tool", "fixer"] as const
    const lanes = [...layers.map((layer) => lane(layer)), lane("tool", 2, 1), lane("model", 1, 2)]
    const tracks = [
      { kind: "run", agent: "<clerk>", depth: 0 },
      { kind: "agent", agent: "n".repeat(50), depth: 3 },
      { kind: "fixer", agent: "mender", depth: 6 }
    ] as const
    const texts = drawn({ lanes, tracks }).match(
      /<text class="k-(?:text k-name|quiet k-small" x="\d+" y="[\d.]+">).*?<\/text>/g
    )
    assert.deepStrictEqual(texts, [
      '<text class="k-text k-name" x="8" y="46">&lt;clerk&gt;</text>',
      `<text class="k-text k-name" x="38" y="194"><tspan class="k-quiet">sub-agent </tspan>${"n".repeat(32)}…</text>`,
      '<text class="k-text k-name" x="58" y="271"><tspan class="k-quiet">fixer </tspan>mender</text>',
      '<text class="k-quiet k-small" x="20" y="62">run</text>',
      '<text class="k-quiet k-small" x="20" y="78.5">turns</text>',
      '<text class="k-quiet k-small" x="20" y="100.5">model</text>',
      '<text class="k-quiet k-small" x="20" y="121">transport</text>',
      '<text class="k-quiet k-small" x="20" y="141.5">tools</text>',
      '<text class="k-quiet k-small" x="20" y="162.5">fixing</text>',
      '<text class="k-quiet k-small" x="50" y="217.5">tools</text>',
      '<text class="k-quiet k-small" x="70" y="292.5">model</text>'
    ])
  })

  it("has a line and a time for each tick, within the room of the items [P1209]", () => {
    const ticks = (start: number, end: number) =>
      drawn({ lanes: [] }, { start, end }).replace(/<text class="k-text k-name".*/, "")
    const line = (x: number, label: string) =>
      `<path class="k-axis" d="M${x} 24V64"/><text class="k-quiet k-small" x="${x}" y="18" text-anchor="middle">${label}</text>`
    assert.strictEqual(
      ticks(0, 1000),
      [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]
        .map((at) => line(132 + at, at === 0 ? "0" : at === 1000 ? "1 s" : `${at} ms`))
        .join("")
    )
    assert.strictEqual(ticks(0, 1000).split("<path").length - 1, 11)
    // a negative position has no time
    assert.strictEqual(ticks(-50, 150), [0, 100].map((at) => line(182 + at, at === 0 ? "0" : `${at} ms`)).join(""))
  })

  it("has a band for a gap, with the time that it leaves out [P1208]", () => {
    const gaps = [{ from: 400, to: 100_400 }]
    // 800 milliseconds of work are 40 times as long as the gap
    const given = { gaps, to: 100_800, lanes: [lane("tool")] }
    const bands = (of: Window) => drawn(given, of).match(/<rect class="k-raised".*?<\/text>/g)
    assert.deepStrictEqual(bands({ start: 0, end: 820 }), [
      '<rect class="k-raised" x="532" y="24" width="20" height="63"/><text class="k-quiet k-small" text-anchor="middle" transform="translate(545 61.5) rotate(-90)">1 min 40 s later</text>'
    ])
    for (const [start, end] of [
      [420, 820],
      [0, 400]
    ] as const)
      assert.lengthOf(bands({ start, end }) ?? [], 1)
    for (const [start, end] of [
      [421, 820],
      [0, 399]
    ] as const)
      assert.isNull(bands({ start, end }))
  })
})

describe("a box [P1220]", () => {
  it("is as long as its span, with its name if there is room [P1220]", () => {
    assert.strictEqual(
      one(100, 300, { label: "<look up>" }),
      '<g data-item="0"><rect class="k-tool" x="232" y="55.5" width="200" height="17" rx="3"/><text class="k-on k-small" x="237" y="67.5">&lt;look up&gt;</text></g>'
    )
    assert.strictEqual(
      one(100, 133, { label: "look up" }),
      '<g data-item="0"><rect class="k-tool" x="232" y="55.5" width="33" height="17" rx="3"/></g>'
    )
    assert.include(one(100, 140, { label: "look up" }), ">look…</text>")
    assert.include(one(100, 104), 'width="4" height="17" rx="2"/></g>')
    // the name begins where the box is seen to begin
    const later = { start: 150, end: 1150 }
    assert.include(
      drawn({ items: [span(100, 300, { label: "look up" })] }, later),
      '<rect class="k-tool" x="130" y="55.5" width="152" height="17" rx="3"/><text class="k-on k-small" x="137" y="67.5">look up</text>'
    )
    assert.include(
      drawn({ items: [span(100, 183, { label: "look up" })] }, later),
      'width="35" height="17" rx="3"/></g>'
    )
    assert.include(drawn({ items: [span(100, 192, { label: "look up" })] }, later), ">look…</text>")
  })

  it("has the name of its item as a title where that is wanted [P1220]", () => {
    const items = [span(100, 102, { label: "<a>" }), mark(500, "tell", { label: "<b>" })]
    assert.deepStrictEqual(
      itemsIn({ items }, true).map((item) => /<title>.*<\/title>/.exec(item)?.[0]),
      ["<title>&lt;a&gt;</title>", "<title>&lt;b&gt;</title>"]
    )
    assert.notInclude(drawn({ items }), "<title>")
    assert.include(inner(sheet(sceneOf({ items })), 1146, window), "<title>&lt;a&gt;</title>")
  })

  it("has no name in a low row or for several items [P1210]", () => {
    const low = itemsIn({ lanes: [lane("transport")], items: [span(0, 500, { part: "send" })] })
    assert.deepStrictEqual(low, [
      '<g data-item="0"><rect class="k-transport" x="132" y="55.5" width="500" height="8" rx="3"/></g>'
    ])
    const high = (rows: number) => itemsIn({ lanes: [lane("tool", rows)], items: [span(0, 500)] })[0]
    assert.include(high(11), 'height="10" rx="3"/><text')
    assert.include(high(12), 'height="9" rx="3"/></g>')
    const narrow = Array.from({ length: 40 }, (_, at) => span(at / 10, at / 10 + 0.1))
    const width = 132 + 100_000 + 14
    const wide = sheet(sceneOf({ items: [...narrow, span(5, 6)] }))
    assert.include(inner(wide, width, { start: 0, end: 1000 }, false), '<text class="k-on k-small" x="637"')
    const joined = itemsIn({ items: narrow.map((item) => ({ ...item, label: "x" })) })
    assert.lengthOf(joined, 2)
    assert.notInclude(joined.join(""), "<text")
  })

  it("is closer to the edges of its row in lanes of turns and in low rows [P1220]", () => {
    const edges = (layer: Parameters<typeof lane>[0], rows = 1) =>
      /y="([\d.]+)" width="500" height="([\d.]+)"/
        .exec(itemsIn({ lanes: [lane(layer, rows)], items: [span(0, 500)] })[0] ?? "")
        ?.slice(1)
    assert.deepStrictEqual(edges("turn"), ["54.5", "13"])
    assert.deepStrictEqual(edges("run"), ["55.5", "6"])
    assert.deepStrictEqual(edges("tool", 18), ["55.5", "5"])
    assert.deepStrictEqual(edges("tool", 20), ["54.5", "6"])
  })

  it("is a thread while it waits, is mended or waits for a person [P1221]", () => {
    const thread = (part: "wait" | "mending" | "approval") => one(100, 300, { part })
    assert.deepStrictEqual(
      [thread("wait"), thread("mending"), thread("approval")],
      [
        '<g data-item="0"><path class="k-thread" d="M232 64H432" stroke-width="1.5" stroke-dasharray="4 3"/></g>',
        '<g data-item="0"><path class="k-thread" d="M232 64H432" stroke-width="3"/></g>',
        '<g data-item="0"><path class="k-thread" d="M232 64H432" stroke-width="1.5" stroke-dasharray="1 4"/></g>'
      ]
    )
    for (const part of ["run", "turn", "attempt", "send", "call", "repair"] as const)
      assert.include(one(100, 300, { part }), "<rect")
  })

  it("is broken where it failed, or of another colour if it is narrow [P1221]", () => {
    assert.strictEqual(
      one(100, 300, { state: "failed", label: "look up" }),
      [
        '<g data-item="0">',
        '<path class="k-failed k-pale" d="M234 55.5H423l3 5.1l-4 6.8l2.5 5.1H234q-2 0 -2 -2V57.5q0 -2 2 -2Z"/>',
        '<path class="k-failed" d="M425 55.5H430q2 0 2 2V70.5q0 2 -2 2H426.5l-2.5 -5.1l4 -6.8Z"/>',
        '<text class="k-text k-small" x="237" y="67.5">look up</text></g>'
      ].join("")
    )
    // the shard takes 10 pixels from the name
    assert.notInclude(one(100, 143, { state: "failed", label: "look up" }), "<text")
    assert.include(one(100, 144, { state: "failed", label: "look up" }), ">loo…</text>")
    assert.include(one(100, 116, { state: "failed" }), "k-pale")
    assert.strictEqual(
      one(100, 115, { state: "failed" }),
      '<g data-item="0"><rect class="k-failed" x="232" y="55.5" width="15" height="17" rx="3"/></g>'
    )
    assert.include(one(100, 300, { state: "refused" }), '<rect class="k-failed" x="232"')
    assert.include(one(100, 300, { state: "refused" }), '<text class="k-on k-small"')
    for (const state of ["ok", "tell"] as const)
      assert.include(one(100, 300, { state }), '<rect class="k-tool" x="232"')
  })

  it("is faded without a good end, with a text that is seen on it [P1212]", () => {
    const states = ["ok", "failed", "tell", "refused", "waited"] as const
    const faded = ["discarded", "interrupted", "suspended", "unfinished"] as const
    assert.deepStrictEqual(
      [...states, ...faded].map((state: State) => isFaded(state)),
      [...states.map(() => false), ...faded.map(() => true)]
    )
    const looks = (layer: "turn" | "run" | "model" | "tool", state: State) => {
      const [made = ""] = itemsIn({ lanes: [lane(layer)], items: [span(0, 500, { state })] })
      return [/<rect class="(.*?)"/.exec(made)?.[1], /<text class="(.*?) k-small"/.exec(made)?.[1]]
    }
    for (const state of faded) assert.deepStrictEqual(looks("tool", state), ["k-tool k-unfinished", "k-text"])
    assert.deepStrictEqual(looks("tool", "ok"), ["k-tool", "k-on"])
    assert.deepStrictEqual(looks("turn", "ok"), ["k-turn", "k-text"])
    assert.deepStrictEqual(looks("turn", "refused"), ["k-failed", "k-text"])
    // the lane of runs is too low for texts
    assert.deepStrictEqual(looks("run", "ok"), ["k-run", undefined])
  })
})

describe("a mark [P1221]", () => {
  const marked = (tone: Parameters<typeof mark>[1], layer: Parameters<typeof lane>[0] = "tool") =>
    itemsIn({ lanes: [lane(layer)], items: [mark(100, tone)] })[0]

  it("has the shape of its tone, and a seam where a failure was mended [P1212 P1221]", () => {
    const shape = (d: string, tone: string) => `<path class="k-${tone}" stroke-width="1.2" d="${d}"/></g>`
    assert.strictEqual(
      marked("mended"),
      `<g data-item="0"><path class="k-thread" stroke-width="2" d="M232 53V75"/>${shape("M232 59L237 64L232 69L227 64Z", "mended")}`
    )
    assert.strictEqual(marked("lost"), `<g data-item="0">${shape("M227 59H237V69H227Z", "lost")}`)
    assert.strictEqual(marked("asked"), `<g data-item="0">${shape("M232 59L237 69H227Z", "asked")}`)
    assert.strictEqual(marked("tell"), `<g data-item="0">${shape("M227 64a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z", "tell")}`)
    assert.strictEqual(marked("note"), `<g data-item="0">${shape("M229 64a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z", "note")}`)
    assert.strictEqual(shapeOf("lost", 10, 20, 1.234), "M8.77 18.77H11.23V21.23H8.77Z")
    // a third of the row, within 3 and 5 pixels
    assert.include(marked("lost", "run"), '"M229 55.5H235V61.5H229Z"')
    assert.include(marked("lost", "fixer"), '"M228 56H236V64H228Z"')
  })

  it("says how many it stands for [P1210]", () => {
    const items = [mark(100, "tell"), mark(104, "lost", { label: "<lost>" }), mark(500, "note")]
    assert.deepStrictEqual(
      itemsIn({ items }, true).map((item) => /data-item="\d"><title>.*<\/title>/.exec(item)?.[0]),
      ['data-item="1"><title>2 marks, among them: &lt;lost&gt;</title>', 'data-item="2"><title>note at 500</title>']
    )
  })
})

describe("shapes and texts [P1210]", () => {
  it("a text has 6 pixels for a letter and 11 for a sign of an Asian script, or ends early [P1220]", () => {
    assert.deepStrictEqual(
      [42, 41, 24, 23, 0].map((width) => fitting("look up", width)),
      ["look up", "look …", "loo…", "", ""]
    )
    assert.deepStrictEqual(
      [fitting("调用工具", 44), fitting("调用工具", 43), fitting("调用工具们", 44)],
      ["调用工具", "", "调用工…"]
    )
    assert.strictEqual(fitting("\u2e7f".repeat(4), 24), "\u2e7f".repeat(4))
    assert.strictEqual(fitting("\u2e80".repeat(4), 24), "")
    assert.strictEqual(fitting("", 0), "")
  })

  it("a broken box has its crack 9 pixels before its end [P1221]", () => {
    assert.deepStrictEqual(broken(10, 20, 30, 10), {
      body: "M12 20H31l3 3l-4 4l2.5 3H12q-2 0 -2 -2V22q0 -2 2 -2Z",
      shard: "M33 20H38q2 0 2 2V28q0 2 -2 2H34.5l-2.5 -3l4 -4Z",
      room: 20
    })
    assert.strictEqual(
      broken(0.001, 0.123, 20.123, 1.111).body,
      "M2 0.12H11.12l3 0.33l-4 0.44l2.5 0.33H2q-2 0 -2 -2V2.12q0 -2 2 -2Z"
    )
  })
})
