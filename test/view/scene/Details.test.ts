/** The details of an item, whole. */
import { Recording, Scene } from "@kintsugi/view"
import { describe, expect, it } from "vitest"
import * as Details from "../../../packages/view/src/scene/Details.ts"
import type { Mark, Span } from "../../../packages/view/src/scene/Shapes.ts"
import { settlementWord, spentLine, toneOf, verdictLine, verdictWords } from "../../../packages/view/src/scene/words.ts"

const recorded = (...events: ReadonlyArray<object>) =>
  Recording.fromEvents(
    events.map((event, index) => ({ runId: "r", agent: "desk", turn: 1, at: index * 1000, ...event }))
  )

/** The details of a mark for these events, of which the first is the subject. */
const details = (events: ReadonlyArray<object>, item: Partial<Mark> = {}) => {
  const recording = recorded(...events)
  const mark: Mark = {
    shape: "mark",
    id: 0,
    lane: 99,
    row: 0,
    strand: 0,
    label: "label",
    events: [0],
    subject: 0,
    tone: "note",
    at: 0,
    ...item
  }
  return Details.make(Scene.make(recording), recording.events, mark)
}

const factsOf = (event: object, item?: Partial<Mark>) => details([event], item).facts
const textsOf = (...events: ReadonlyArray<object>) => details(events).texts

describe("the facts of an item [P1218]", () => {
  it("are its end, its place, its time and its run [P1218]", () => {
    const recording = recorded(
      { type: "run-start" },
      { type: "turn-start" },
      { type: "turn-end" },
      { type: "run-completed" }
    )
    const scene = Scene.make(recording)
    const item = scene.items.find((one) => one.shape === "span" && one.part === "turn")
    if (item === undefined) throw new Error("the turn is drawn")
    expect(Details.make(scene, recording.events, item)).toEqual({
      title: "turn 1",
      facts: [
        ["Outcome", "completed"],
        ["Layer", "turn"],
        ["Begins", "1 s after the start"],
        ["Duration", "1 s"],
        ["Agent", "desk"],
        ["Run", "r"],
        ["Turn", "1"]
      ],
      texts: [],
      events: [1, 2]
    })
  })

  it("have what the event says of the call, its start and its spending [P1218]", () => {
    expect(
      factsOf({ type: "tool-start", tool: "pay", startedIn: { runId: "s" }, usage: { inputTokens: 1 } }, { at: 2000 })
    ).toEqual([
      ["Outcome", "note"],
      ["Begins", "2 s after the start"],
      ["Agent", "desk"],
      ["Run", "r"],
      ["Started in", "s"],
      ["Turn", "1"],
      ["Tool", "pay"],
      ["Spent", "1 token"]
    ])
    expect(factsOf({ type: "model-end", entry: { usage: { outputTokens: 2 }, cost: 1 } }).at(-1)).toEqual([
      "Spent",
      "2 tokens, $1.00"
    ])
    // an item that no event is in has its subject
    expect(details([{ type: "turn-start" }], { events: [] }).events).toEqual([0])
    expect(details([{ type: "turn-start" }], { events: [], subject: 7 })).toEqual({
      title: "label",
      facts: [
        ["Outcome", "note"],
        ["Begins", "0 ms after the start"]
      ],
      texts: [],
      events: [7]
    })
  })

  it("of a verdict have its rung from 1, its waits and what is left [P1218]", () => {
    const verdict = { type: "verdict", tag: "Busy", verdict: "retry" }
    const facts = (fields: object) => factsOf({ ...verdict, ...fields }).slice(5)
    expect(facts({})).toEqual([["Verdict", "retry"]])
    expect(
      facts({
        gaveUp: true,
        rung: 0,
        attempt: 2,
        delay: 1500,
        hint: 250,
        hintFrom: "server",
        left: { turns: 3, toolCalls: 4 }
      })
    ).toEqual([
      ["Verdict", "retry gave up"],
      ["Rung", "1"],
      ["Attempt", "2"],
      ["Waits", "1.5 s"],
      ["Hint", "wait 250 ms, by server"],
      ["Left", "3 turns, 4 calls"]
    ])
    expect(facts({ delay: 0, hint: 0, left: {} })).toEqual([
      ["Verdict", "retry"],
      ["Hint", "wait 0 ms"],
      ["Left", "any turns, any calls"]
    ])
    expect(factsOf({ ...verdict, type: "turn-start", rung: 1 }).slice(5)).toEqual([])
  })
})

describe("the texts of an item [P1218]", () => {
  it.each<readonly [object, ReadonlyArray<readonly [string, string]>]>([
    [{ type: "tool-failed", error: { _tag: "Busy", message: "later" } }, [["Error: Busy", "later"]]],
    [{ type: "tool-start", arguments: { cents: 5 } }, [["Arguments", '{"cents":5}']]],
    [{ type: "fix-start", input: "mend" }, [["What the fixer was given", "mend"]]],
    [{ type: "fix-end", answer: "{}" }, [["What the fixer answered", "{}"]]],
    [{ type: "tool-end", use: { settlement: { kind: "result", text: "paid" } } }, [["Result", "paid"]]],
    [{ type: "tool-end", use: { settlement: { kind: "deferred", text: "wait" } } }, [["Result", "wait"]]],
    [{ type: "tool-denied", settlement: { kind: "denied", text: "no" } }, [["What the model was told", "no"]]],
    [
      { type: "output-rejected", message: { content: [{ text: "mend" }, { text: "x" }] } },
      [["What the model was told", "mend"]]
    ],
    [{ type: "message-read", message: { content: [{ text: "mend" }] } }, []],
    [
      { type: "approval-requested", request: { reason: "money", arguments: [1] } },
      [
        ["Why it is asked", "money"],
        ["Arguments to decide on", "[1]"]
      ]
    ],
    [{ type: "approval-decided", decision: { reason: "no" } }, [["Reason", "no"]]],
    [
      { type: "arguments-coerced", change: { before: "{,}", after: {} } },
      [
        ["Before", "{,}"],
        ["After", "{}"]
      ]
    ],
    [
      {
        type: "model-end",
        reply: { content: [{ text: "a" }, { name: "pay", arguments: [1] }, { type: "opaque" }, {}] }
      },
      [["Reply", "a\npay [1]\nopaque \n "]]
    ],
    [{ type: "model-end", reply: {} }, []],
    [{ type: "model-start", reply: { content: [{ text: "a" }] } }, []],
    [{ type: "run-start", input: { a: 1 } }, [["Input", '{"a":1}']]],
    [{ type: "message-queued", input: "a" }, []],
    [{ type: "run-completed", output: "done" }, [["Output", "done"]]],
    [{ type: "run-completed", output: "" }, []]
  ])("are read from %j [P1218]", (event, expected) => {
    expect(textsOf(event)).toEqual(expected)
  })

  it("end with what the model read of the call later, once [P1218]", () => {
    const failed = { type: "tool-failed", callId: "c", error: { _tag: "Busy", message: "later" } }
    const ended = (fields: object = {}, kind = "told") => ({
      type: "tool-end",
      callId: "c",
      use: { settlement: { kind, text: "no" } },
      ...fields
    })
    const later = (...events: ReadonlyArray<object>) => textsOf(failed, ...events).slice(1)
    expect(later({ type: "turn-start" }, ended(), ended({}, "result"))).toEqual([["What the model was told", "no"]])
    expect(later(ended({}, "result"))).toEqual([["Result", "no"]])
    expect(later(ended({ runId: "s" }), ended({ callId: "d" }), { ...ended(), type: "tool-denied" })).toEqual([])
    expect(later({ type: "run-suspended" }, ended())).toHaveLength(1)
    expect(later({ type: "run-failed" }, ended())).toEqual([])
    expect(later({ type: "run-failed", runId: "s" }, ended())).toHaveLength(1)
    expect(later(ended({ use: {} }), ended())).toEqual([])
    expect(textsOf({ type: "turn-start" }, ended())).toEqual([])
    // the item has the end of the call itself
    expect(details([failed, ended()], { events: [0, 1] }).texts).toEqual([
      ["Error: Busy", "later"],
      ["What the model was told", "no"]
    ])
  })

  it("are those of a thousand events at most [P1218]", () => {
    const many = Array.from({ length: 1001 }, (_, index) => ({ type: "fix-end", answer: `answer ${index}` }))
    expect(details(many, { events: many.map((_, index) => index) }).texts).toHaveLength(1000)
  })
})

describe("words for the end of an item [P1218]", () => {
  it("are those of its state, its tone, or of a decision [P1218]", () => {
    const span = (part: Span["part"], state: Span["state"]): Span => ({
      shape: "span",
      part,
      state,
      id: 0,
      lane: 0,
      row: 0,
      strand: 0,
      label: "",
      events: [],
      subject: 0,
      from: 0,
      to: 0
    })
    const states = [
      "ok",
      "failed",
      "tell",
      "discarded",
      "interrupted",
      "suspended",
      "refused",
      "waited",
      "unfinished"
    ] as const
    expect(states.map((state) => Details.outcomeOf(span("call", state)))).toEqual([
      "completed",
      "failed",
      "failed, told to the model",
      "discarded",
      "interrupted",
      "suspended",
      "not run",
      "waited",
      "no end recorded"
    ])
    expect(states.map((state) => Details.outcomeOf(span("approval", state)))).toEqual([
      "decided",
      "failed",
      "failed, told to the model",
      "discarded",
      "interrupted",
      "waiting for approval",
      "not run",
      "waited",
      "waiting for approval"
    ])
    const all: ReadonlyArray<Mark["tone"]> = ["mended", "tell", "lost", "asked", "note"]
    const tones = all.map((tone) => details([{ type: "turn-start" }], { tone }).facts[0]?.[1])
    expect(tones).toEqual(["recovered", "told to the model", "given up", "approval", "note"])
  })

  it("are those of a verdict, a settlement and a spending [P1218]", () => {
    const verdict = (fields: object) => ({ type: "verdict", runId: "r", agent: "a", turn: 1, at: 0, ...fields })
    const kinds = ["raise", "rethrow", "escalate", "tell", "retry", "fix", undefined]
    expect(kinds.map((kind) => toneOf(verdict({ verdict: kind })))).toEqual([
      "lost",
      "lost",
      "lost",
      "tell",
      "mended",
      "mended",
      "mended"
    ])
    expect(toneOf(verdict({ verdict: "retry", gaveUp: true }))).toBe("lost")
    expect([verdictWords(verdict({})), verdictWords(verdict({ verdict: "fix", gaveUp: true }))]).toEqual([
      "?",
      "fix gave up"
    ])
    expect([verdictLine(verdict({})), verdictLine(verdict({ tag: "T", verdict: "fix", delay: 1 }))]).toEqual([
      "? → ?",
      "T → fix in 1 ms"
    ])
    expect(["result", "told", undefined, "denied"].map(settlementWord)).toEqual([
      "result",
      "told an error",
      "settled",
      "denied"
    ])
    expect([spentLine({}), spentLine({ usage: { inputTokens: 1, outputTokens: 2 }, cost: 0 })]).toEqual([
      "0 tokens",
      "3 tokens, $0"
    ])
  })
})
