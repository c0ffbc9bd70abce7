/** Counts over many runs. */
import { Recording, Stats, StatsPage, StatsSvg, StatsText } from "@kintsugi/view"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { byFrequency, neverHealed } from "../../../packages/view/src/stats/words.ts"
import { root } from "../../../scripts/files.ts"
import { call, ended, entry, eventsOf, failed, gaveUp, statsOf, verdict } from "./_support/events.ts"

const healedBy = (...events: ReadonlyArray<object>) =>
  statsOf(...events).errors.map(({ failures, healed, healedBy, incidents, lostAfter, tag }) => ({
    tag,
    failures,
    incidents,
    healed,
    by: [...healedBy, ...lostAfter]
  }))

/** One incident that ended with this. */
const once = (verdict: string, how: { readonly gaveUp?: boolean; readonly byModel?: boolean } = {}) => [
  { verdict, gaveUp: false, byModel: false, ...how, count: 1 }
]

/** Drawn events: in any order, and with fractions that a machine writes down exactly. */
const ms = fc.integer({ min: 0, max: 10_000_000 }).map((micros) => micros / 1000)
const cost = fc.integer({ min: 0, max: 1_000_000 }).map((nanos) => nanos / 1e9)
const name = fc.constantFrom("A", "B", "__proto__", "constructor")
const drawnCall = fc.record({ callId: fc.constantFrom("c1", "c2"), tool: name })
const spent = fc.record({
  purpose: fc.constantFrom("agent", "fixer", "compaction"),
  outcome: fc.constantFrom("used", "failed", "discarded"),
  usage: fc.record({ inputTokens: fc.nat(1000), outputTokens: fc.nat(1000) }),
  cost: fc.option(cost, { nil: undefined })
})
const said: fc.Arbitrary<object> = fc.oneof(
  fc.record({
    type: fc.constant("verdict"),
    layer: fc.constantFrom("transport", "model", "tool", "effect"),
    tag: name,
    verdict: fc.constantFrom("retry", "fix", "tell", "raise"),
    gaveUp: fc.boolean(),
    attempt: fc.integer({ min: 1, max: 4 }),
    delay: ms,
    rung: fc.constant(0)
  }),
  fc
    .tuple(drawnCall, fc.constantFrom<object>({ type: "tool-start" }, failed, ended("result"), ended("told")))
    .map(([call, event]) => ({ ...call, ...event })),
  fc.record({ type: fc.constantFrom("model-end", "model-failed"), attempt: fc.constant(1), entry: spent }),
  fc.constantFrom<object>(
    { type: "run-start" },
    { type: "turn-start" },
    { type: "turn-end" },
    { type: "output-rejected", text: "", message: {} },
    { type: "run-completed" },
    { type: "run-failed" },
    { type: "run-suspended" }
  )
)
const recordings = fc
  .array(fc.array(fc.tuple(fc.constantFrom("r1", "r2"), said), { maxLength: 25 }), { maxLength: 6 })
  .map((files) => files.map((file, index) => file.flatMap(([run, event]) => eventsOf(`${run} of ${index}`, event))))

describe("statistics", () => {
  it("add up in any order and grouping [P1230]", () => {
    fc.assert(
      fc.property(recordings, fc.func(fc.integer()), fc.nat(), (files, key, cut) => {
        const all = files.map((events) => Stats.of(Recording.fromEvents(events)))
        const shuffled = all.toSorted((a, b) => key(a) - key(b))
        const at = cut % (all.length + 1)
        expect(Stats.sum(shuffled)).toEqual(Stats.sum(all))
        expect(Stats.add(Stats.sum(all.slice(0, at)), Stats.sum(all.slice(at)))).toEqual(Stats.sum(all))
        expect(Stats.add(Stats.empty, Stats.sum(all))).toEqual(Stats.sum(all))
      })
    )
  })

  it("are those of all files as one, but for what is counted by the file [P1230]", () => {
    fc.assert(
      fc.property(recordings, (files) => {
        const { problems: _, recordings: count, unpriced, ...one } = Stats.of(Recording.fromEvents(files.flat()))
        const {
          problems: _p,
          recordings: many,
          unpriced: _u,
          ...sum
        } = Stats.sum(files.map((events) => Stats.of(Recording.fromEvents(events))))
        expect(sum).toEqual(one)
        expect([count, many]).toEqual([1, files.length])
        expect(unpriced).toBeLessThanOrEqual(1)
      })
    )
  })

  it("heal no more than there was, and lose the rest [P1230]", () => {
    fc.assert(
      fc.property(recordings, (files) => {
        const { errors, tools } = Stats.sum(files.map((events) => Stats.of(Recording.fromEvents(events))))
        const sum = (all: Stats.Stats["errors"][number]["healedBy"]) =>
          all.reduce((total, { count }) => total + count, 0)
        for (const { failures, healed, healedBy, incidents, lostAfter } of errors) {
          expect(sum(healedBy)).toBe(healed)
          expect(sum(lostAfter)).toBe(incidents - healed)
          expect(failures).toBeGreaterThanOrEqual(incidents)
        }
        for (const { healed, withFailures } of tools) expect(healed).toBeLessThanOrEqual(withFailures)
      })
    )
  })

  it("credit what was decided last before the good end [P1231]", () => {
    const retried = [verdict("transport", "Busy", "retry", 1, 250), verdict("transport", "Busy", "retry", 2, 500)]
    expect(healedBy(...retried, { type: "model-end" })).toEqual([
      { tag: "Busy", failures: 2, incidents: 1, healed: 1, by: once("retry") }
    ])
    expect(healedBy(...retried, gaveUp(verdict("transport", "Busy", "retry", 3)), { type: "model-failed" })).toEqual([
      { tag: "Busy", failures: 3, incidents: 1, healed: 0, by: once("retry", { gaveUp: true }) }
    ])
    // one failure that climbs two rungs is one failure
    const climbed = [
      gaveUp(verdict("tool", "NoKeys", "retry", 1)),
      verdict("tool", "NoKeys", "fix", 1),
      ended("result")
    ]
    expect(healedBy(...climbed.map((one) => ({ ...call("c"), ...one })))).toEqual([
      { tag: "NoKeys", failures: 1, incidents: 1, healed: 1, by: once("fix") }
    ])
  })

  it("what the transport could not heal may be healed above it [P1231]", () => {
    const events = [
      gaveUp(verdict("transport", "Busy", "retry", 1)),
      { type: "model-failed" },
      verdict("model", "Busy", "retry", 1),
      { type: "model-end" }
    ]
    expect(statsOf(...events).errors.map(({ healed, layer }) => [layer, healed])).toEqual([
      ["model", 1],
      ["transport", 0]
    ])
  })

  it("a model that read a failure heals by a second call, in the same run [P1231]", () => {
    const failedCall = [
      { ...call("c1"), ...verdict("tool", "NoKeys", "tell", 1) },
      { ...call("c1"), ...ended("told") }
    ]
    const retried = { ...call("c2"), ...ended("result") }
    expect(healedBy(...failedCall, retried)).toEqual([
      { tag: "NoKeys", failures: 1, incidents: 1, healed: 1, by: once("tell", { byModel: true }) }
    ])
    expect(healedBy(...failedCall, { ...call("c2", "other"), ...ended("result") })).toMatchObject([{ healed: 0 }])
    expect(healedBy(...failedCall, { type: "run-completed" }, retried)).toMatchObject([{ healed: 0 }])
  })

  it("answers that did not fit are healed by the run that completes [P1231]", () => {
    const rejected = { type: "output-rejected", text: "", message: {} }
    expect(healedBy(rejected, rejected, { type: "run-completed" })).toEqual([
      { tag: "InvalidOutputError", failures: 2, incidents: 1, healed: 1, by: once("output-retry") }
    ])
    expect(healedBy({ type: "output-rejected", text: "" }, { type: "run-failed" })).toMatchObject([
      { healed: 0, by: once("output-retry", { gaveUp: true }) }
    ])
  })

  it("giving up heals nothing, though the run completes without it [P1231]", () => {
    const ends = [
      ...["retry", "fix", "compact"].map((last) => ({ last, how: { gaveUp: true } })),
      ...["raise", "rethrow", "escalate"].map((last) => ({ last, how: {} }))
    ]
    for (const { how, last } of ends) {
      const lost = { tag: "Busy", failures: 2, incidents: 1, healed: 0, by: once(last, how) }
      const givenUp = (layer: string) => [
        verdict(layer, "Busy", "retry", 1),
        { ...verdict(layer, "Busy", last, 2), ...how }
      ]
      expect(healedBy(...givenUp("effect"), { type: "run-completed" })).toEqual([lost])
      // another model answered
      expect(healedBy(...givenUp("model"), { type: "model-end" }, { type: "run-completed" })).toEqual([lost])
      // the model was told what became of the call, and called again
      const failedCall = [...givenUp("tool"), ended("told")].map((one) => ({ ...call("c1"), ...one }))
      expect(healedBy(...failedCall, { ...call("c2"), ...ended("result") })).toEqual([
        { ...lost, healed: 1, by: once(last, { ...how, byModel: true }) }
      ])
    }
    expect(healedBy({ type: "output-rejected", text: "" }, { type: "run-completed" })).toMatchObject([{ healed: 0 }])
  })

  it("nothing is healed twice [P1231]", () => {
    const retried = { ...call("c"), ...verdict("tool", "Busy", "retry", 1) }
    const result = { ...call("c"), ...ended("result") }
    const healed = [{ tag: "Busy", failures: 1, incidents: 1, healed: 1, by: once("retry") }]
    expect(healedBy(retried, result, result, { type: "run-completed" }, { type: "run-completed" })).toEqual(healed)
    const asked = verdict("model", "Busy", "retry", 1)
    expect(healedBy(asked, { type: "model-end" }, { type: "model-end" }, { type: "run-completed" })).toEqual(healed)
    const around = verdict("effect", "Busy", "retry", 1)
    expect(healedBy(around, { type: "run-completed" }, { type: "run-completed" })).toEqual(healed)
    const failedCall = [verdict("tool", "Busy", "tell", 1), ended("told")].map((one) => ({ ...call("c1"), ...one }))
    const repeated = { ...call("c2"), ...ended("result") }
    const { errors, tools } = statsOf({ ...call("c1"), ...failed }, ...failedCall, repeated, repeated, {
      type: "run-completed"
    })
    expect(errors).toMatchObject([{ incidents: 1, healed: 1 }])
    expect(tools).toMatchObject([{ withFailures: 1, healed: 1 }])
  })

  it("name the tools that never heal, and no others [P1232]", () => {
    const start = (id: string, tool: string) => ({ ...call(id, tool), type: "tool-start" })
    const stats = statsOf(
      start("1", "fine"),
      { ...call("1", "fine"), ...ended("result") },
      start("2", "mended"),
      { ...call("2", "mended"), ...failed },
      { ...call("2", "mended"), ...ended("result") },
      start("3", "broken"),
      { ...call("3", "broken"), ...failed },
      { type: "run-failed" }
    )
    expect(neverHealed(stats)).toEqual([{ tool: "broken", calls: 1, withFailures: 1, healed: 0 }])
    expect(stats.tools).toEqual([
      { tool: "broken", calls: 1, withFailures: 1, healed: 0 },
      { tool: "fine", calls: 1, withFailures: 0, healed: 0 },
      { tool: "mended", calls: 1, withFailures: 1, healed: 1 }
    ])
    expect(stats.runs).toEqual({ completed: 0, failed: 1, interrupted: 0, suspended: 0, unfinished: 0, children: 0 })
  })

  it("count each run by the end of its last part, and an attempt without a price once a recording [P1232]", () => {
    const runsOf = (...types: ReadonlyArray<string>) =>
      Object.entries(statsOf(...types.map((type) => ({ type }))).runs).filter(([, many]) => many > 0)
    expect(runsOf("run-start", "run-interrupted")).toEqual([["interrupted", 1]])
    // a compensation comes after the end of its run
    expect(runsOf("run-start", "run-failed", "tool-compensated")).toEqual([["failed", 1]])
    expect(runsOf("run-start", "run-suspended", "run-start")).toEqual([["unfinished", 1]])
    const asked = { type: "model-end", attempt: 1, entry: entry("used", 100) }
    expect([statsOf({ type: "run-completed" }), statsOf(asked, asked)].map(({ unpriced }) => unpriced)).toEqual([0, 1])
  })

  it("tell work from recovery in a real run [P1232]", () => {
    const text = readFileSync(join(root, "docs/guide/pictures/events.jsonl"), "utf8")
    const stats = Stats.of(Recording.parse(text))
    expect(stats.runs).toMatchObject({ completed: 1, children: 1, unfinished: 0 })
    expect(stats.work).toMatchObject({ attempts: 2, tokens: 340 })
    expect(stats.recovery).toMatchObject({ attempts: 2, tokens: 294 })
    expect(stats.waitMillis).toBe(1300)
    expect(stats.unpriced).toBe(1)
    expect(stats.errors.map(({ healed, incidents, layer, tag }) => [layer, tag, incidents, healed])).toEqual([
      ["model", "ModelOverloadedError", 1, 1],
      ["tool", "NoKeys", 1, 1],
      ["transport", "ModelOverloadedError", 2, 1]
    ])
  })

  it("are the same as text, drawing and page, and nothing of a run becomes markup [P1233]", () => {
    const evil = '<script>alert("1")</script>\u001b[31m'
    const stats = statsOf(
      { ...call("1", evil), type: "tool-start" },
      { ...call("1", evil), ...verdict("tool", evil, evil, 1) },
      { ...call("1", evil), ...ended("told") }
    )
    const text = StatsText.format(stats)
    const page = StatsPage.make(stats)
    const drawing = StatsSvg.draw(stats)
    expect(text).not.toContain("\u001b")
    for (const markup of [page, drawing]) {
      for (const never of ["<script", "\u001b"]) expect(markup).not.toContain(never)
      expect(markup).toContain("&lt;script&gt;")
    }
    for (const all of [text, page, drawing]) expect(all).toContain("Never healed:")
    expect(text).toContain("0 (0 %)")
    expect(StatsText.format(Stats.empty)).toContain("Nothing has failed.")
    expect(StatsSvg.draw(Stats.empty)).toMatch(/^<svg .*<\/svg>$/)
  })

  it("count money where all prices are known, else tokens [P1233]", () => {
    const asked = (outcome: string, cost?: number) => ({
      type: outcome === "failed" ? "model-failed" : "model-end",
      attempt: 1,
      entry: {
        purpose: "agent",
        outcome,
        usage: { inputTokens: 100, outputTokens: 0 },
        ...(cost === undefined ? {} : { cost })
      }
    })
    expect(StatsText.format(statsOf(asked("failed", 1), asked("used", 3)))).toContain("25 % of all money")
    expect(StatsText.format(statsOf(asked("failed", 1), asked("used")))).toContain("50 % of all tokens")
  })

  it("list errors by how often they came, and verdicts too [P1233]", () => {
    const around = (tag: string, ...verdicts: ReadonlyArray<string>) =>
      verdicts.flatMap((one) => [verdict("effect", tag, one, 1), { type: "run-completed" }])
    const stats = statsOf(
      ...around("Rare", "retry"),
      ...around("Often", "fix", "retry", "retry"),
      ...around("Also", "retry", "fix", "fix"),
      verdict("effect", "Twice", "retry", 1),
      verdict("effect", "Twice", "retry", 2)
    )
    // by name where machines read it, by frequency where people do
    expect(stats.errors.map(({ tag }) => tag)).toEqual(["Also", "Often", "Rare", "Twice"])
    const expected = ["Also", "Often", "Twice", "Rare"]
    expect(byFrequency(stats).map(({ tag }) => tag)).toEqual(expected)
    expect(stats.errors.slice(0, 2).map(({ healedBy }) => healedBy)).toMatchObject([
      [
        { verdict: "fix", count: 2 },
        { verdict: "retry", count: 1 }
      ],
      [
        { verdict: "retry", count: 2 },
        { verdict: "fix", count: 1 }
      ]
    ])
    const trouble = (id: string, tool: string) => ({ ...call(id, tool), ...failed })
    const never = statsOf(trouble("1", "once"), trouble("2", "twice"), trouble("3", "twice"), { type: "run-failed" })
    expect(neverHealed(never).map(({ tool }) => tool)).toEqual(["twice", "once"])
    for (const all of [StatsText.format(stats), StatsSvg.draw(stats), StatsPage.make(stats)]) {
      const positions = expected.map((tag) => all.lastIndexOf(tag))
      expect(positions).not.toContain(-1)
      expect(positions).toEqual(positions.toSorted((a, b) => a - b))
    }
  })

  it("list no more bars than their option admits, and count the rest [P1233]", () => {
    const many = Array.from({ length: 20 }, (_, index) => verdict("effect", `E${index}`, "retry", 1))
    expect(StatsSvg.draw(statsOf(...many), { maxBars: 5 })).toContain("and 15 more")
  })
})
