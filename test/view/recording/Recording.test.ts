/** Files that are whole, and files that are not. */
import { assert, describe, it } from "@effect/vitest"
import { Page, Recording, Scene, Svg } from "@kintsugi/view"
import { Effect } from "effect"
import fc from "fast-check"
import * as Totals from "../../../packages/view/src/recording/Totals.ts"
import * as Details from "../../../packages/view/src/scene/Details.ts"
import { endOf, startOf } from "../../../packages/view/src/scene/Shapes.ts"
import { duration, moment, money } from "../../../packages/view/src/text/Words.ts"
import { references, written } from "../_support/references.ts"

const lines = written("mended").events.map((event) => JSON.stringify(event))

const said = ({ problems }: Recording.Recording) =>
  problems.map(({ kind, line, says }) => `${line ?? "-"} ${kind}: ${says}`)

describe("a recording [P1215]", () => {
  it("of a whole file has no problems, with any line ends [P1215]", () => {
    for (const end of ["\n", "\r\n"]) {
      const recording = Recording.parse(`\ufeff${lines.join(end)}${end}${end}`)
      assert.deepStrictEqual(recording.problems, [])
      assert.deepStrictEqual(recording.events, written("mended").events)
    }
  })

  it("reports where a line is broken, foreign or unknown, and keeps the others [P1215]", () => {
    const own = { runId: "r", agent: "a", turn: 0, at: 5 }
    const recording = Recording.fromLines([
      lines[0] ?? "",
      "{ broken",
      '"text"',
      '{"type":"turn-start"}',
      JSON.stringify({ ...own, at: "5", type: "turn-start" }),
      JSON.stringify({ ...own, type: "turn-start", parent: {} }),
      "null",
      ...lines.slice(1),
      JSON.stringify({ ...own, at: 1e15, type: "novelty" })
    ])
    assert.strictEqual(recording.events.length, lines.length + 1)
    assert.deepStrictEqual(said(recording), [
      "2 broken: It is no JSON.",
      "3 foreign: It is no event: it has no fields.",
      "4 foreign: It is no event: its field 'runId' is missing or is no text.",
      "5 foreign: It is no event: its field 'at' is missing or is no number.",
      "6 foreign: It is no event: its field 'parent' names no run.",
      "7 foreign: It is no event: it has no fields.",
      `${lines.length + 7} unknown: Events of the type 'novelty' are not known here.`,
      "- beginning: The beginning of run r of 'a' is missing.",
      "- end: The end of run r of 'a' is missing: it is at work, or was cut off."
    ])
  })

  it("reports a last line that was cut off, and runs that have no end [P1215]", () => {
    const text = lines.slice(0, 12).join("\n")
    const recording = Recording.parse(text.slice(0, -20))
    assert.deepStrictEqual(
      recording.problems.map(({ kind, line }) => [kind, line]),
      [
        ["cut", 12],
        ["end", undefined],
        ["end", undefined]
      ]
    )
    assert.include(Page.make(recording), "was cut off there, or is broken")
  })

  it("reports a beginning and a parent that are missing, and time that goes back [P1215]", () => {
    const inner = written("mended").events.filter(({ parent }) => parent !== undefined)
    assert.deepStrictEqual(
      said(Recording.fromEvents(inner)).map((line) => line.replaceAll(/run-\w+/g, "X")),
      ["- parent: Run X, which has started run X of 'json-fixer', is missing."]
    )
    const tail = Recording.parse(lines.slice(3).join("\n"))
    assert.deepStrictEqual(
      tail.problems.map(({ kind }) => kind),
      ["beginning"]
    )
    const turned = Recording.parse(lines.toReversed().join("\n"))
    assert.include(said(turned).join("\n"), "order: 33 events are earlier")
  })

  it("reports a run that is there twice, once, and not one that was suspended and goes on [P1215]", () => {
    const twice = Recording.parse([...lines, ...lines].join("\n")).problems.filter(({ kind }) => kind === "repeated")
    assert.deepStrictEqual(
      twice.map(({ says }) => says.replaceAll(/run-\w+/g, "X")),
      ["The run X of 'json-analyst' begins again although it had completed: what is there twice is counted twice."]
    )
    const run = (type: string) => ({ runId: "r", agent: "a", turn: 0, at: 5, type })
    const types = ["run-start", "run-suspended", "run-start", "run-completed"]
    assert.deepStrictEqual(Recording.fromEvents(types.map(run)).problems, [])
    const repeated = Recording.fromEvents([...types, ...types, ...types].map(run)).problems
    assert.deepStrictEqual(
      repeated.map(({ kind }) => kind),
      ["repeated"]
    )
  })

  it("reports each unknown type once, with the first line of it [P1215]", () => {
    const own = { runId: "r", agent: "a", turn: 0, at: 1e15 }
    const strange = ["novelty", "other", "novelty", "novelty"].map((type) => JSON.stringify({ ...own, type }))
    const { problems } = Recording.fromLines([...lines, ...strange])
    assert.deepStrictEqual(
      problems.slice(0, 2).map(({ line, says }) => [line, says]),
      [
        [lines.length + 1, "Events of the type 'novelty' are not known here: there are 3, and this is the first."],
        [lines.length + 2, "Events of the type 'other' are not known here."]
      ]
    )
    assert.strictEqual(problems.filter(({ kind }) => kind === "unknown").length, 2)
  })

  it("is made of any lines at all [P1215]", () => {
    const line = fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom(...lines),
      fc.constantFrom(...lines).map((text) => text.slice(0, text.length / 2)),
      fc
        .record({ type: fc.string(), runId: fc.string(), agent: fc.string(), at: fc.double(), turn: fc.double() })
        .map((value) => JSON.stringify(value))
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (some) => {
        const recording = Recording.fromLines(some)
        assert.isAtMost(recording.events.length, some.length)
        for (const { line, says } of recording.problems) {
          assert.isTrue(line === undefined || (line >= 1 && line <= some.length))
          assert.match(says, /\.$/)
        }
        assert.strictEqual(Scene.make(recording).itemOf.length, recording.events.length)
      })
    )
  })
})

describe("totals [P1216]", () => {
  it("of the mended run: the fixer and the failed attempt are recovery [P1216]", () => {
    const { recovery, work, ...rest } = Totals.make(written("mended").events)
    assert.deepStrictEqual(work, { attempts: 3, tokens: 478, cost: 0, unknown: 0 })
    assert.deepStrictEqual(recovery, { attempts: 2, tokens: 353, cost: 0, unknown: 1 })
    assert.deepStrictEqual(rest, {
      runs: 1,
      nested: 1,
      turns: 4,
      nestedTurns: 1,
      toolCalls: 3,
      toolFailures: 1,
      modelFailures: 1,
      sendFailures: 4,
      verdicts: 6,
      waited: 1300,
      isPriced: false
    })
  })

  const attempt = (runId: string, fields: object, purpose = "agent", outcome = "used", parent?: string) => ({
    runId,
    agent: "a",
    turn: 1,
    at: 0,
    type: "model-end",
    ...(parent === undefined ? {} : { parent: { runId: parent } }),
    entry: { outcome, purpose, usage: { inputTokens: 10, outputTokens: 1 }, cost: 0.5, ...fields }
  })

  it("takes as recovery what failed or does not count, fixers, summaries and repeated model calls [P1216]", () => {
    const own = { runId: "r", agent: "a", turn: 1, at: 0 }
    const sums = (...events: ReadonlyArray<unknown>) => {
      const { recovery, work } = Totals.make(Recording.fromEvents(events).events)
      return [work.attempts, recovery.attempts]
    }
    assert.deepStrictEqual(sums(attempt("r", {}), attempt("r", {}, "routing")), [2, 0])
    assert.deepStrictEqual(sums(attempt("r", {}, "fixer"), attempt("r", {}, "compaction")), [0, 2])
    assert.deepStrictEqual(sums(attempt("r", {}, "agent", "failed"), attempt("r", {}, "agent", "discarded")), [0, 2])
    assert.deepStrictEqual(sums(attempt("r", {}, "agent", "interrupted")), [1, 0])
    const rejected = { ...own, type: "output-rejected", text: "", issues: [], message: { role: "user", content: [] } }
    const { message: _, ...last } = rejected
    const turn = { ...own, type: "turn-end", message: { role: "assistant", content: [] } }
    assert.deepStrictEqual(sums(attempt("r", {}), rejected, attempt("r", {}), turn, attempt("r", {})), [2, 1])
    assert.deepStrictEqual(sums(attempt("r", {}), last, attempt("r", {})), [2, 0])
    // of a composition, the part that lost, with what it has started
    const lost = { ...own, type: "attempt-discarded", attempt: 1, text: "", discardedRunId: "part" }
    const nested = [attempt("part", {}, "agent", "used", "r"), attempt("deep", {}, "agent", "used", "part")]
    assert.deepStrictEqual(sums(attempt("r", {}), ...nested, lost, attempt("other", {}, "agent", "used", "r")), [2, 2])
  })

  it("takes nothing off for amounts below nothing, and stays finite for any [P1216]", () => {
    const hostile = (usage: object, cost: number) => attempt("r", { usage, cost })
    const verdict = (delay: number) => ({
      runId: "r",
      agent: "a",
      turn: 1,
      at: 0,
      type: "verdict",
      layer: "tool",
      delay
    })
    const huge = { inputTokens: 1e308, outputTokens: 1e308 }
    const recording = Recording.fromEvents([
      attempt("r", {}),
      hostile({ inputTokens: -500, outputTokens: -7 }, -3),
      verdict(-1e308)
    ])
    const { verdicts, waited, work } = Totals.make(recording.events)
    assert.deepStrictEqual([work, verdicts, waited], [{ attempts: 2, tokens: 11, cost: 0.5, unknown: 0 }, 1, 0])
    const large = Recording.fromEvents([hostile(huge, 1e308), hostile(huge, 1e308), verdict(1e308), verdict(1e308)])
    const sums = Totals.make(large.events)
    for (const sum of [sums.waited, sums.work.tokens, sums.work.cost]) assert.isTrue(Number.isFinite(sum) && sum > 1e15)
    assert.notMatch(Svg.describe(Scene.make(large)), /\?|∞|Infinity|NaN/)
    const wait = Scene.make(Recording.fromEvents([verdict(1e308), verdict(-1)]))
    assert.isTrue(wait.items.every((item) => startOf(item) === 0 && endOf(item) === 0))
  })

  it("has money only if every price is known [P1216]", () => {
    const priced = Totals.make(Recording.fromEvents([attempt("r", {}), attempt("r", {}, "fixer")]).events)
    assert.deepStrictEqual([priced.isPriced, priced.work.cost, priced.recovery.cost], [true, 0.5, 0.5])
    assert.isFalse(
      Totals.make(Recording.fromEvents([attempt("r", {}), attempt("r", { cost: undefined })]).events).isPriced
    )
    assert.isFalse(Totals.make([]).isPriced)
  })
})

describe("details [P1218]", () => {
  it.effect("of a failure: its error, the verdict with its wait, and what the model reads [P1218]", () =>
    Effect.gen(function* () {
      const { events } = written("mended")
      const scene = Scene.make(written("mended"))
      const verdict = events.findIndex((event) => event.type === "verdict" && event["layer"] === "tool")
      const item = scene.items[scene.itemOf[verdict] ?? -1]
      if (item === undefined) return yield* Effect.die("the verdict is not drawn")
      const { facts, texts } = Details.make(scene, events, item)
      assert.deepInclude(facts, ["Verdict", "fix"])
      assert.deepInclude(facts, ["Rung", "1"])
      assert.deepInclude(facts, ["Left", "9 turns, 31 calls"])
      assert.match(texts.find(([name]) => name === "Error: NoKeys")?.[1] ?? "", /no keys to count/)
      assert.match(texts.find(([name]) => name === "What the model was told")?.[1] ?? "", /^ERROR: Tool 'calculate/)
      const waits = scene.items.filter((one) => one.shape === "span" && one.part === "wait")
      const wait = waits.map((one) => Details.make(scene, events, one).facts.find(([name]) => name === "Waits")?.[1])
      assert.deepStrictEqual(wait.toSorted(), ["250 ms", "250 ms", "300 ms", "500 ms"])
      const failed = yield* references["failed"] ?? Effect.die("it is gone")
      const end = Scene.make(failed).items.find((one) => one.shape === "span" && one.part === "run")
      if (end === undefined) return yield* Effect.die("the run is not drawn")
      const spent = Details.make(Scene.make(failed), failed.events, end).facts.find(([name]) => name === "Spent")
      assert.match(spent?.[1] ?? "", /tokens/)
    })
  )

  it("has the begin of items to the millisecond, however long the run was [P1218]", () => {
    const run = (at: number, type: string) => ({ runId: "r", agent: "a", turn: 0, at, type })
    const far = 10_561_204
    const recording = Recording.fromEvents([
      run(0, "run-start"),
      ...[far, far + 3].map((at) => ({ ...run(at, "skill-chosen"), skill: "s" })),
      run(far + 9, "run-completed")
    ])
    const scene = Scene.make(recording)
    const marks = scene.items.filter(({ shape }) => shape === "mark")
    const begins = marks.map(
      (item) => Details.make(scene, recording.events, item).facts.find(([name]) => name === "Begins")?.[1]
    )
    assert.deepStrictEqual(begins, ["2 h 56 min 1.204 s after the start", "2 h 56 min 1.207 s after the start"])
  })

  it("durations and amounts read well [P1218]", () => {
    const of = [0, 0.4, 12.4, 999, 999.7, 1500, 59_900, 60_000, 61_000, 3_600_000, 11_160_000, 86_400_000, -250]
    assert.deepStrictEqual(of.map(duration), [
      "0 ms",
      "0.4 ms",
      "12 ms",
      "999 ms",
      "1 s",
      "1.5 s",
      "59.9 s",
      "1 min",
      "1 min 1 s",
      "1 h",
      "3 h 6 min",
      "1 d",
      "-250 ms"
    ])
    assert.deepStrictEqual([0, 0.25, 999, 1250, 59_912, 60_000, 10_561_204, 86_400_001, -250, NaN].map(moment), [
      "0 ms",
      "0.25 ms",
      "999 ms",
      "1.25 s",
      "59.912 s",
      "1 min",
      "2 h 56 min 1.204 s",
      "1 d 0.001 s",
      "-250 ms",
      "?"
    ])
    assert.deepStrictEqual([0, 0.000_012_3, 0.0456, 1.2, 1234.5].map(money), [
      "$0",
      "$0.000012",
      "$0.046",
      "$1.20",
      "$1234.50"
    ])
  })
})
