/** A picture in words: its title and its description. */
import { Recording, Scene, Svg } from "@kintsugi/view"
import { describe, expect, it } from "vitest"

const sceneOf = (...events: ReadonlyArray<object>) =>
  Scene.make(
    Recording.fromEvents(
      events.map((event, index) => ({ runId: "r", agent: "desk", turn: 1, at: index * 1000, ...event }))
    )
  )

const run = (id: string, agent = id) => [
  { runId: id, agent, type: "run-start", input: "" },
  { runId: id, agent, type: "run-completed", output: "" }
]

describe("the title of a picture [P1222]", () => {
  it("names three agents at most, briefly [P1222]", () => {
    const title = (...events: ReadonlyArray<object>) => Svg.titleOf(sceneOf(...events))
    expect(title()).toBe("No run")
    expect(title(...run("a"))).toBe("A run of a")
    expect(title(...run("a"), ...run("b"), ...run("c"))).toBe("3 runs of a, b, c")
    expect(title(...run("a"), { runId: "b", agent: "b", parent: { runId: "a" }, type: "run-start" })).toBe("A run of a")
    expect(title(...["a", "b", "c", "d", "e"].flatMap((id) => run(id)))).toBe("5 runs of a, b, c and 2 more")
    expect(title(...run("r", "x".repeat(41)))).toBe(`A run of ${"x".repeat(39)}…`)
    expect(Svg.draw(sceneOf(...run("a")), { title: "<Mine>" })).toContain('<title id="k-title">&lt;Mine&gt;</title>')
    expect(Svg.draw(sceneOf(...run("a")))).toContain('<title id="k-title">A run of a</title>')
  })

  it("is that of a picture 1,000 pixels wide, or as wide as was asked, 320 at least [P1211]", () => {
    const width = (options?: object) =>
      /viewBox="0 0 (\d+) \d+" width="(\d+)"/.exec(Svg.draw(sceneOf(...run("a")), options))?.slice(1)
    expect([width(), width({ width: 500 }), width({ width: 100 })]).toEqual([
      ["1000", "1000"],
      ["500", "500"],
      ["320", "320"]
    ])
  })
})

describe("the description of a picture [P1211]", () => {
  it("has the outcome, the sums, and five problems [P1211]", () => {
    const scene = sceneOf(
      { type: "run-start", input: "Go." },
      { type: "turn-start" },
      { type: "model-failed", entry: { outcome: "failed", usage: { inputTokens: 10, outputTokens: 0 } } },
      { type: "verdict", layer: "transport", delay: 1500 },
      { type: "model-end", entry: { usage: { inputTokens: 20, outputTokens: 1 } } },
      { type: "tool-start", callId: "c", tool: "pay" },
      { type: "run-completed", output: "ok" }
    )
    expect(Svg.describe(scene)).toBe(
      "✓ Completed: desk answered “ok” (6 s; 1 failure, healed; 31 tokens, cost unknown). 6 s from beginning to end. 1 turn, 2 attempts of models, 1 tool call. 1 failure, 1 failed send, 1 verdict, 1.5 s of waits. Spent on recovery: 10 tokens. Spent on work: 21 tokens."
    )
    const none = sceneOf()
    expect(Svg.describe(none)).toBe(
      "0 ms from beginning to end. 0 turns, 0 attempts of models, 0 tool calls. 0 failures, 0 verdicts, 0 ms of waits. Spent on recovery: 0 tokens. Spent on work: 0 tokens."
    )
    const problems = Array.from({ length: 6 }, (_, index) => ({
      kind: "broken" as const,
      says: `Problem ${index}.`,
      ...(index === 0 ? {} : { line: index })
    }))
    expect(Svg.describe({ ...none, problems })).toMatch(
      / tokens\. Problem 0\. Line 1: Problem 1\. Line 2: Problem 2\. Line 3: Problem 3\. Line 4: Problem 4\.$/
    )
  })
})
