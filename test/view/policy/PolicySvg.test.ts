/** The drawing of a policy, shape by shape. */
import { type Explanation, Recovery } from "@kintsugi/core"
import { PolicySvg, PolicyView } from "@kintsugi/view"
import { Duration } from "effect"
import { describe, expect, it } from "vitest"
import { textsOf } from "../_support/textsOf.ts"

const steady = Recovery.explain({ Busy: Recovery.retry<unknown>({ retries: 2, initialBackoff: "1 second" }) })
const random = Recovery.explain({
  Busy: Recovery.retry<unknown>({ retries: 1, initialBackoff: "1 second", jitter: "full" })
})
const at = (explanation: Explanation.Explanation, name = "http") => PolicyView.make([{ name, explanation }])

/** The shapes of a drawing but its ticks, each on a line of its own. */
const shapes = (view: PolicyView.View, options?: Parameters<typeof PolicySvg.draw>[1]) =>
  PolicySvg.draw(view, options)
    .replace(/<style>.*<\/style>/, "")
    .replaceAll(/<path class="k-axis"[^>]*\/><text[^>]*>[^<]*<\/text>/g, "")
    .replaceAll("><", ">\n<")
    .split("\n")

describe("the drawing of a policy [P1236]", () => {
  it("has its waits as a thread, and its attempts as beads with their numbers [P1234]", () => {
    const bead = (x: number, number: number) => [
      "<g>",
      `<title>attempt ${number} of http</title>`,
      `<circle class="k-model" cx="${x}" cy="72" r="4"/>`,
      `<text class="k-quiet k-small" x="${x}" y="65" text-anchor="middle">${number}</text>`,
      "</g>"
    ]
    expect(shapes(at(steady))).toEqual([
      '<svg xmlns="http://www.w3.org/2000/svg" class="k-figure" role="img" aria-labelledby="k-title k-desc" viewBox="0 0 960 172" width="960" height="172">',
      '<title id="k-title">http</title>',
      '<desc id="k-desc">http, at worst: 3 attempts, 3 s of waits, 2 min in all if servers ask for it.</desc>',
      '<rect class="k-paper" width="100%" height="100%"/>',
      '<text class="k-text k-name" x="12" y="18">http, if every attempt fails at once</text>',
      '<text class="k-quiet k-small" x="12" y="33">http meets Busy</text>',
      '<text class="k-quiet" x="12" y="52">waits</text>',
      '<text class="k-text" x="24" y="76">http</text>',
      '<path class="k-thread" stroke-width="3" stroke-opacity=".45" fill="none" d="M150 72H410M410 72H930"/>',
      ...bead(150, 1),
      ...bead(410, 2),
      ...bead(930, 3),
      '<text class="k-text" x="12" y="118">at worst: 3 attempts, 3 s of waits, 2 min in all if servers ask for it</text>',
      '<text class="k-text" x="12" y="134">no wait is left to chance</text>',
      "</svg>"
    ])
  })

  it("has both cases where chance decides, with a thread for each attempt between them [P1234]", () => {
    const lines = shapes(at(random))
    expect(lines).toContain('<text class="k-quiet" x="12" y="52">best</text>')
    expect(lines).toContain("<title>attempts 1–2 of http</title>")
    expect(lines).toContain('<text class="k-quiet k-small" x="150" y="65" text-anchor="middle">1–2</text>')
    expect(lines).toContain(
      '<path class="k-thread" stroke-width="1" stroke-opacity=".6" fill="none" d="M150 84L150 120M150 84L930 120"/>'
    )
    expect(lines).toContain('<text class="k-quiet" x="12" y="100">left to chance</text>')
    expect(lines).toContain('<text class="k-quiet" x="12" y="124">worst</text>')
    expect(lines).toContain('<circle class="k-model" cx="930" cy="144" r="4"/>')
  })

  it("has lines for its ticks, fewer in a narrow drawing, and none without waits [P1209]", () => {
    const ticks = (width: number) =>
      [
        ...PolicySvg.draw(at(steady), { width }).matchAll(
          /<path class="k-axis" d="M([\d.]+) 56V88"\/><text class="k-quiet k-small" x="([\d.]+)" y="100" text-anchor="middle">([^<]*)</g
        )
      ].map(([, line, x, label]) => [line === x, label])
    expect(ticks(960)).toEqual(["0", "500 ms", "1 s", "1.5 s", "2 s", "2.5 s", "3 s"].map((label) => [true, label]))
    expect(ticks(600)).toEqual(ticks(960))
    for (const width of [350, 599]) expect(ticks(width).length).toBeLessThan(5)
    const once = shapes(at(Recovery.explain({ Busy: Recovery.tell<unknown>() })))
    expect(once).toContain(
      '<text class="k-quiet k-small" x="150" y="100">no waits: each attempt follows at once</text>'
    )
  })

  it("wraps its lines in a narrow drawing, where names have less room [P1233]", () => {
    const lines = shapes(at(steady, "a-transport-with-a-long-name"), { width: 250 }).filter((line) =>
      line.startsWith("<text")
    )
    const texts = lines.map((line) => line.replaceAll(/<[^>]*>/g, ""))
    expect(texts.slice(0, 2)).toEqual(["a-transport-with-a-long-name, if", "every attempt fails at once"])
    for (const line of texts) expect(line.length).toBeLessThanOrEqual((250 - 24) / 6.2)
    expect(lines.some((line) => line.includes('x="24"') && line.includes("…"))).toBe(true)
    expect(lines.some((line) => line.startsWith('<text class="k-quiet k-small" x="96"'))).toBe(true)
  })

  it("numbers beads that share a pixel in each layer [P1234]", () => {
    const inner = Recovery.explain({ Busy: Recovery.retry<unknown>({ retries: 1 }) })
    const view = PolicyView.make([
      { name: "outer", explanation: inner },
      { name: "inner", explanation: inner }
    ])
    const lines = shapes(view)
    expect(lines.filter((line) => line.startsWith("<title>"))).toEqual([
      "<title>attempts 1–2 of outer</title>",
      "<title>attempts 1–2 of inner</title>"
    ])
    const namesAt = textsOf(PolicySvg.draw(view)).filter(([text]) => text === "outer" || text === "inner")
    expect(namesAt).toEqual([
      ["outer", 24, 76],
      ["inner", 24, 104]
    ])
    expect(lines.at(-2)).toContain("at worst: 2 × 2 = 4 attempts, 0 s of waits")
  })

  it("leaves out the number of a bead that has no room beside the one before [P1234]", () => {
    const { stacks, title } = at(steady)
    // a pixel is a millisecond, and a number needs 9 pixels and 5 for each digit
    const attempts = [
      { at: 0, number: 1 },
      { at: 14, number: 2 },
      { at: 15, number: 3 },
      { at: 34, number: 10 },
      { at: 35, number: 11 },
      { at: 47, number: 12 }
    ]
    const drawn = { lanes: [{ name: "http", row: "Busy", attempts, pauses: [] }], end: 780, isCut: false }
    const view = { title, stacks: stacks.map((stack) => ({ ...stack, best: drawn, worst: drawn })) }
    const numbers = textsOf(PolicySvg.draw(view)).filter(([, , y]) => y === 65)
    expect(numbers.map(([text, x]) => [text, x])).toEqual([
      ["1", 150],
      ["3", 165],
      ["11", 185]
    ])
  })

  it("has one stack below the other, and the bounds of a run at its end [P1236]", () => {
    const [stack] = at(steady).stacks
    if (stack === undefined) throw new Error("there is a stack")
    const run = { modelCalls: 1, requests: 1, time: Duration.seconds(2) }
    const lines = shapes({ title: "desk", stacks: [stack, { ...stack, title: "other" }], run })
    const narrow = textsOf(PolicySvg.draw({ title: "desk", stacks: [], run }, { width: 250 }))
    expect(narrow.map(([text]) => text)).toEqual([
      "a run of desk, at worst",
      "1 model call, 2 s of waits and",
      "timeouts"
    ])
    expect(lines[0]).toContain('viewBox="0 0 960 362"')
    expect(lines).toContain('<text class="k-text k-name" x="12" y="172">other, if every attempt fails at once</text>')
    expect(lines.slice(-3)).toEqual([
      '<text class="k-text k-name" x="12" y="326">a run of desk, at worst</text>',
      '<text class="k-text" x="12" y="344">1 model call, 2 s of waits and timeouts</text>',
      "</svg>"
    ])
    expect(lines[2]).toBe(
      '<desc id="k-desc">http, at worst: 3 attempts, 3 s of waits, 2 min in all if servers ask for it. other, at worst: 3 attempts, 3 s of waits, 2 min in all if servers ask for it. A run of desk, at worst: 1 model call, 2 s of waits and timeouts.</desc>'
    )
  })
})
