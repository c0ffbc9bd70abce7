/** The rows of an outline: their names, their badges and their notes. */
import { Recording } from "@kintsugi/view"
import { describe, expect, it } from "vitest"
import * as Outline from "../../../packages/view/src/scene/Outline.ts"
import * as Scene from "../../../packages/view/src/scene/Scene.ts"

/** The rows of these events, which are a second apart: depth, name, badges, note. */
const rows = (...events: ReadonlyArray<object>) => {
  const recording = Recording.fromEvents(
    events.map((event, index) => ({ runId: "r", agent: "desk", turn: 1, at: index * 1000, ...event }))
  )
  return Outline.make(Scene.make(recording), recording.events).branches.map(
    ({ badges, depth, name, note }) =>
      `${"  ".repeat(depth)}${name}${badges.map(({ text, tone }) => ` [${tone} ${text}]`).join("")}${note === "" ? "" : ` | ${note}`}`
  )
}

const start = { turn: 0, type: "run-start", input: "Go." }
const turn = { type: "turn-start" }
const completed = { type: "run-completed", output: "ok" }
const asked = (attempt = 1) => ({ type: "model-start", model: "m", provider: "p", attempt })
const replied = (...content: ReadonlyArray<object>) => ({
  type: "model-end",
  model: "m",
  attempt: 1,
  reply: { content }
})
const modelFailed = (attempt = 1) => ({
  type: "model-failed",
  model: "m",
  attempt,
  error: { _tag: "Busy", message: "later" }
})
const verdict = (layer: string, kind: string, fields: object = {}) => ({
  type: "verdict",
  layer,
  tag: "Busy",
  verdict: kind,
  attempt: 1,
  delay: 0,
  ...fields
})
const call = (id: string, tool = "pay") => ({ callId: id, tool })
const started = (id: string, args: unknown = { id: "O-1", cents: 5 }) => ({
  ...call(id),
  type: "tool-start",
  arguments: args
})
const failed = (id: string, attempt = 1) => ({
  ...call(id),
  type: "tool-failed",
  attempt,
  error: { _tag: "Locked", message: "no" }
})
const ended = (id: string, kind = "result") => ({
  ...call(id),
  type: "tool-end",
  use: { settlement: { kind, text: "t" }, attempts: 1 }
})

describe("the words of a model call [P1275]", () => {
  it("are its model, and its answer or its calls [P1275]", () => {
    expect(
      rows(start, turn, asked(), replied({ type: "text", text: "" }, { type: "text", text: "Hi." }), completed)
    ).toEqual(["desk | Go.", "  turn 1", "    m | “Hi.”"])
    expect(rows(start, turn, asked(), replied({ type: "tool-call" }, { type: "tool-call" }), completed)[2]).toBe(
      "    m | 2 calls"
    )
    expect(rows(start, turn, { ...asked(), model: undefined }, completed)[2]).toMatch(/^ {4}model/)
    expect(rows({ ...start, input: { a: "x".repeat(200) } })[0]).toBe(`desk | { "a": "${"x".repeat(111)}…`)
  })

  it("are what healed it, and each attempt [P1275]", () => {
    expect(
      rows(
        start,
        turn,
        asked(),
        modelFailed(),
        verdict("model", "retry"),
        asked(2),
        replied({ type: "text", text: "Hi." }),
        completed
      )
    ).toEqual([
      "desk [healed 1 healed] | Go.",
      "  turn 1 [healed retried]",
      "    m [healed retried] | “Hi.”",
      "      attempt 1 [lost failed] | Busy",
      "      attempt 2"
    ])
    const lost = rows(start, turn, asked(), modelFailed(), {
      type: "run-failed",
      error: { _tag: "Busy", message: "later" }
    })
    expect(lost).toEqual(["desk [lost Busy] | Go.", "  turn 1 [lost Busy]", "    m [lost Busy]"])
  })
})

describe("the words of a tool call [P1275]", () => {
  it("are its arguments, in short [P1275]", () => {
    const note = (args: unknown) => rows(start, turn, started("a", args), ended("a"), completed)[2]
    expect(note({ id: "O-1", cents: 5 })).toBe('    pay | {id: "O-1", cents: 5}')
    expect(note('{"a":1,"b":2}')).toBe("    pay | {a: 1, b: 2}")
    expect(note({ "a-b": [1, 2] })).toBe('    pay | {"a-b":[1, 2]}')
    expect(note(null)).toBe("    pay")
    expect(note("x".repeat(300))).toBe(`    pay | ${"x".repeat(199)}…`)
  })

  it("are the arguments about which a person is asked, if its beginning is missing [P1275]", () => {
    const asked = { ...call("a"), type: "approval-requested", request: { arguments: { cents: 5 } } }
    expect(rows(start, turn, failed("a"), asked, ended("a"), completed)[2]).toBe(
      "    pay [healed healed] [asked 1 s] | {cents: 5}"
    )
  })

  it("are what healed it: retries, a fixer, or repaired arguments [P1275]", () => {
    const retry = (attempt: number) => ({ ...verdict("tool", "retry", { attempt }), ...call("a") })
    const healed = (...events: ReadonlyArray<object>) =>
      rows(start, turn, started("a"), ...events, ended("a"), completed).slice(0, 3)
    expect(healed(failed("a"), retry(1), failed("a", 2), retry(2))[2]).toBe(
      '    pay [healed retried 2×] | {id: "O-1", cents: 5}'
    )
    expect(healed(failed("a"), { ...verdict("tool", "fix"), ...call("a") })[2]).toContain("[healed fix]")
    expect(healed({ ...call("a"), type: "arguments-coerced", change: { step: "fence" } })).toEqual([
      "desk [healed 1 healed] | Go.",
      "  turn 1 [healed JSON repaired] | pay",
      '    pay [healed JSON repaired] | {id: "O-1", cents: 5}'
    ])
    expect(healed(failed("a"))[2]).toContain("[healed healed]")
  })

  it("are what the model has read, or the failure that was lost [P1275]", () => {
    const tell = { ...verdict("tool", "tell", { tag: "Locked" }), ...call("a") }
    expect(rows(start, turn, started("a"), failed("a"), tell, ended("a", "told"), completed)).toEqual(
      ["desk | Go.", "  turn 1 [tell Locked] | pay", '    pay [tell Locked] | {id: "O-1", cents: 5}'].map(
        (line, index) => (index === 0 ? expect.stringMatching(/^desk/) : line)
      )
    )
    expect(
      rows(
        start,
        turn,
        started("a"),
        { ...call("a"), type: "tool-denied", settlement: { kind: "denied", text: "no" } },
        completed
      )[2]
    ).toContain("[tell not run]")
    expect(rows(start, turn, started("a"), ended("a", "deferred"), completed)[2]).toBe(
      '    pay | {id: "O-1", cents: 5}'
    )
  })
})

describe("the words of a turn and a group [P1275]", () => {
  it("count the calls of each tool, and those that went well as one [P1275]", () => {
    const look = { ...call("d", "look") }
    expect(
      rows(
        start,
        turn,
        started("a"),
        ended("a"),
        started("b"),
        ended("b"),
        { ...look, type: "tool-start" },
        { ...look, type: "tool-end", use: { settlement: { kind: "result" } } },
        completed
      )
    ).toEqual(
      [
        "desk | Go.",
        "  turn 1 | look, 2 × pay",
        "    look",
        "    2 × pay | went well",
        '      pay | {id: "O-1", cents: 5}',
        '      pay | {id: "O-1", cents: 5}'
      ].map((line) => line)
    )
  })

  it("say what each run was given, and that the tool of a call is not known [P1275]", () => {
    const second = { runId: "s", agent: "clerk" }
    expect(
      rows({ ...start, ...completed }, { ...start, ...second, input: "Pay." }, { ...completed, ...second })[1]
    ).toBe("clerk | Pay.")
    expect(rows(start, turn, { callId: "a", type: "tool-start" }, completed)[1]).toBe("  turn 1 | ?")
  })

  it("count a part of a composition that was healed once, however much of it was [P1275]", () => {
    const part = { runId: "p", agent: "clerk", parent: { runId: "r" } }
    const retried = (id: string) =>
      [started(id), failed(id), { ...verdict("tool", "retry"), ...call(id) }, ended(id)].map((one) => ({
        ...one,
        ...part
      }))
    expect(
      rows(
        start,
        { ...start, ...part },
        { ...turn, ...part },
        ...retried("a"),
        ...retried("b"),
        { ...completed, ...part },
        completed
      ).slice(0, 2)
    ).toEqual(["desk [healed 1 healed] | Go.", "  clerk [healed 2 healed] | Go."])
  })

  it("say how many calls were healed, and that a run has ended badly by itself [P1275]", () => {
    const retried = (id: string) => [started(id), failed(id), { ...verdict("tool", "retry"), ...call(id) }, ended(id)]
    expect(rows(start, turn, ...retried("a"), ...retried("b"), completed).slice(0, 2)).toEqual([
      "desk [healed 2 healed] | Go.",
      "  turn 1 [healed 2 healed] | 2 × pay"
    ])
    expect(rows(start, { type: "run-interrupted" })[0]).toBe("desk [lost ended] | Go.")
    expect(rows(start, { type: "run-failed", error: { _tag: "Busy" } })[0]).toBe("desk [lost Busy] | Go.")
  })
})
