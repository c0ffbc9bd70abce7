/** What was decided, put into words and tones when it is drawn. */
import { Recording, Scene } from "@kintsugi/view"
import { describe, expect, it } from "vitest"
import * as Details from "../../../packages/view/src/scene/Details.ts"

const origin = { runId: "r", agent: "clerk", turn: 1, at: 0 }

/** The mark of one decision about a call, and what its details and the transcript say. */
const drawn = (verdict: string, gaveUp?: boolean) => {
  const call = { callId: "c1", tool: "search" }
  const error = { _tag: "Busy", message: "busy" }
  const recording = Recording.fromEvents([
    { ...origin, type: "run-start", input: "go", transcript: [] },
    { ...origin, ...call, type: "tool-start", arguments: {} },
    { ...origin, ...call, type: "tool-failed", attempt: 1, error },
    {
      ...origin,
      ...call,
      type: "verdict",
      layer: "tool",
      tag: "Busy",
      verdict,
      gaveUp,
      rung: 0,
      attempt: 1,
      delay: 0,
      error
    }
  ])
  const scene = Scene.make(recording)
  const mark = scene.items[scene.itemOf[3] ?? -1]
  if (mark?.shape !== "mark") throw new Error("the verdict is no mark")
  const { facts } = Details.make(scene, recording.events, mark)
  const said = scene.transcript.find(({ event }) => event === 3)
  return [mark.tone, mark.label, facts.find(([name]) => name === "Verdict")?.[1], said?.heading, said?.tone]
}

describe("a decision", () => {
  it("has its tone by its kind and by whether its rung gave up, and its words from nothing else [P1366]", () => {
    const all = (tone: string, words: string) => [tone, `Busy → ${words}`, words, `tool: Busy → ${words}`, tone]
    for (const verdict of ["retry", "fix", "compact", "respondWith", "fallback"]) {
      expect(drawn(verdict, false)).toEqual(all("mended", verdict))
      expect(drawn(verdict, true)).toEqual(all("lost", `${verdict} gave up`))
    }
    for (const verdict of ["raise", "rethrow", "escalate"]) expect(drawn(verdict, false)).toEqual(all("lost", verdict))
    expect(drawn("tell", false)).toEqual(all("tell", "tell"))
    // a text that reads like an end is none
    for (const text of ["retry gave up", "tells", "raised"]) expect(drawn(text)).toEqual(all("mended", text))
  })
})

describe("an answer at a limit", () => {
  it("is a turn with a name of its own, of what the model was told, and of an end that names the limit [P1594]", () => {
    const said = { role: "user", content: [{ type: "text", text: "Answer now." }] }
    const spent = { usage: { inputTokens: 10, outputTokens: 5 }, ledger: [] }
    const recording = Recording.fromEvents([
      { ...origin, type: "run-start", input: "go", transcript: [] },
      { ...origin, type: "turn-start" },
      { ...origin, type: "budget-exceeded", reason: "maxTurns", limit: 1, spent: 1, action: "answer" },
      { ...origin, turn: 2, type: "turn-start", answerTurn: true, message: said },
      { ...origin, turn: 2, type: "run-completed", output: "so", endedBy: { reason: "maxTurns", limit: 1 }, ...spent }
    ])
    const scene = Scene.make(recording)
    const labels = scene.items.map(({ label }) => label)
    expect(labels).toContain("turn 1")
    expect(labels).toContain("turn 2, to answer")
    expect(labels).toContain("budget: maxTurns 1 of 1 is reached: answer")
    expect(scene.transcript.slice(-2).map(({ heading, text }) => [heading, text])).toEqual([
      ["The run asks for its answer", "Answer now."],
      ["clerk answers at its limit of maxTurns (15 tokens)", "so"]
    ])
  })
})
