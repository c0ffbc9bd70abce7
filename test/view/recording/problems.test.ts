/** The problems of a recording, each with its words, its line and its number. */
import { assert, describe, it } from "@effect/vitest"
import { Recording } from "@kintsugi/view"
import { countOf } from "../../../packages/view/src/recording/Problem.ts"
import { isTerminal } from "../../../packages/view/src/recording/Recorded.ts"

const own = { runId: "r", agent: "a", turn: 0, at: 5 }
const start = { ...own, type: "run-start" }
const end = { ...own, type: "run-completed" }
const whole = [start, end].map((event) => JSON.stringify(event))
const order = "than what stands before: the clock was set back, or lines have been moved."

const saysOf = (...events: ReadonlyArray<unknown>) => Recording.fromEvents(events).problems.map(({ says }) => says)

describe("what is no event [P1215]", () => {
  it("lacks one of the fields that each event has [P1215]", () => {
    for (const field of ["type", "runId", "agent"])
      assert.deepStrictEqual(saysOf(start, { ...own, type: "turn-start", [field]: 5 }, end), [
        `It is no event: its field '${field}' is missing or is no text.`
      ])
    for (const field of ["at", "turn"])
      assert.deepStrictEqual(saysOf(start, { ...own, type: "turn-start", [field]: NaN }, end), [
        `It is no event: its field '${field}' is missing or is no number.`
      ])
    assert.deepStrictEqual(saysOf(start, [own], end), ["It is no event: it has no fields."])
  })

  it("names a parent without a run, and no line where there is none [P1215]", () => {
    for (const parent of [{}, null, "r", { runId: 5 }])
      assert.deepStrictEqual(Recording.fromEvents([start, { ...own, type: "turn-start", parent }, end]).problems, [
        { kind: "foreign", says: "It is no event: its field 'parent' names no run." }
      ])
  })

  it("is nested deeper than 256 levels, its own included [P1215]", () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
    assert.deepStrictEqual(saysOf(start, { ...own, type: "turn-start", deep: nested(255) }, end), [])
    assert.deepStrictEqual(saysOf(start, { ...own, type: "turn-start", deep: nested(256) }, end), [
      "It is no event: it is nested more than 256 levels deep."
    ])
  })
})

describe("the problems of lines [P1215]", () => {
  it("count empty lines, and know a byte order mark from a blank [P1215]", () => {
    const { events, problems } = Recording.parse(`\n \n\ufeff${whole[0]}\n\t\n{\n${whole[1]}`)
    assert.lengthOf(events, 2)
    assert.deepStrictEqual(problems, [{ line: 5, kind: "broken", says: "It is no JSON." }])
  })

  it("name the last line as cut off while no other line follows [P1215]", () => {
    const cut = {
      line: 3,
      kind: "cut",
      says: "The last line is no JSON: the file was cut off there, or is broken."
    } as const
    assert.deepStrictEqual(Recording.fromLines([...whole, "{"]).problems, [cut])
    assert.deepStrictEqual(Recording.fromLines([...whole, "{", ""]).problems, [cut])
    const recorder = Recording.start()
    for (const line of [...whole, "{"]) recorder.line(line)
    const before = recorder.recording()
    recorder.line("{")
    assert.deepStrictEqual(
      [before, recorder.recording()].map(({ problems }) => problems.map(({ kind, line }) => [kind, line])),
      [
        [["cut", 3]],
        [
          ["broken", 3],
          ["cut", 4]
        ]
      ]
    )
    assert.strictEqual(recorder.recording().events, before.events)
  })

  it("are a thousand at most, and one that counts the others [P1215]", () => {
    const broken = (many: number) =>
      Recording.fromLines([...Array.from({ length: many }, () => "{"), ...whole]).problems
    assert.lengthOf(broken(1000), 1000)
    assert.strictEqual(countOf(broken(1000)), 1000)
    assert.deepStrictEqual(broken(1001).slice(1000), [
      { kind: "more", many: 1, says: "As much is wrong with one more line." }
    ])
    assert.deepStrictEqual(broken(1003).slice(1000), [
      { kind: "more", many: 3, says: "As much is wrong with 3 more lines." }
    ])
    assert.strictEqual(countOf(broken(1003)), 1003)
  })
})

describe("the problems of events [P1215]", () => {
  it("name an unknown type with 60 letters at most [P1215]", () => {
    const type = "x".repeat(61)
    assert.deepStrictEqual(Recording.fromEvents([start, { ...own, type }, end]).problems, [
      { kind: "unknown", says: `Events of the type '${"x".repeat(60)}' are not known here.` }
    ])
  })

  it("count what is earlier than what stands before, and not what is at the same time [P1215]", () => {
    const turn = (at: number) => ({ ...own, at, type: "turn-start" })
    assert.deepStrictEqual(saysOf(start, turn(7), turn(6), { ...end, at: 7 }), [`One event is earlier ${order}`])
    assert.deepStrictEqual(saysOf(start, turn(7), turn(6), turn(6), { ...end, at: 7 }), [
      `2 events are earlier ${order}`
    ])
  })

  it("name the run whose beginning, end or parent is missing [P1215]", () => {
    assert.deepStrictEqual(Recording.fromEvents([{ ...own, type: "turn-start", parent: { runId: "p" } }]).problems, [
      { kind: "beginning", says: "The beginning of run r of 'a' is missing." },
      { kind: "end", says: "The end of run r of 'a' is missing: it is at work, or was cut off." },
      { kind: "parent", says: "Run p, which has started run r of 'a', is missing." }
    ])
  })

  it("know an end of each kind, and what comes after one [P1215]", () => {
    const types = ["run-completed", "run-failed", "run-interrupted", "run-suspended", "run-start", "turn-end"]
    assert.deepStrictEqual(
      types.map((type) => isTerminal({ ...own, type })),
      [true, true, true, true, false, false]
    )
    for (const type of types.slice(0, 4))
      assert.deepStrictEqual(saysOf(start, { ...own, type }, { ...own, type: "tool-compensated" }), [])
  })

  it("name a run that begins once more after it had completed, and not its children [P1215]", () => {
    const child = { runId: "c", agent: "b", parent: { runId: "r" } }
    const twice = [start, { ...start, ...child }, { ...end, ...child }, end]
    assert.deepStrictEqual(saysOf(...twice, ...twice), [
      "The run r of 'a' begins again although it had completed: what is there twice is counted twice."
    ])
    // only the child is there twice
    assert.deepStrictEqual(saysOf(...twice.slice(0, 3), ...twice.slice(1)), [
      "The run c of 'b' begins again although it had completed: what is there twice is counted twice."
    ])
    assert.deepStrictEqual(saysOf(start, { ...own, type: "run-failed" }, start, end), [])
    assert.deepStrictEqual(saysOf(start, { ...own, type: "run-suspended" }, start), [
      "The end of run r of 'a' is missing: it is at work, or was cut off."
    ])
  })
})
