/** Time in which nothing is at work is drawn short. */
import { assert, describe, it } from "@effect/vitest"
import { Recording, Scene } from "@kintsugi/view"
import * as Axis from "../../../packages/view/src/drawing/Axis.ts"
import * as Details from "../../../packages/view/src/scene/Details.ts"
import { mid } from "../_support/recorded.ts"

const hour = 3_600_000
const gapsOf = (...events: ReadonlyArray<object>) =>
  Scene.make(Recording.fromEvents(events.map((event) => ({ runId: "r", agent: "a", turn: 1, ...event })))).gaps
const child = { runId: "child", agent: "b", parent: { runId: "r", callId: "c" } }
const call = (callId: string, tool: string) => ({ callId, tool })
const pay = call("p", "pay")

describe("a wait for a person", () => {
  it("is folded under the run and the turn that wait [P1208]", () => {
    const scene = Scene.make(mid("mid-fail"))
    assert.deepStrictEqual(
      scene.gaps.map(({ from, to }) => to - from),
      [3 * hour]
    )
    assert.isBelow(Axis.make(scene).length, 65_000)
  })

  it("is folded under a call whose sub-agent waits, but not the work around it [P1208]", () => {
    const gaps = gapsOf(
      { at: 0, type: "run-start", input: "" },
      { at: 0, type: "tool-start", ...call("c", "ask"), arguments: {} },
      { ...child, at: 20_000, type: "run-start", input: "" },
      { ...child, at: 20_000, type: "tool-start", ...pay, arguments: {} },
      { ...child, at: 20_000, type: "approval-requested", ...pay, request: {} },
      { ...child, at: 20_000 + hour, type: "approval-decided", ...pay, decision: { type: "approve" } },
      { ...child, at: 30_000 + hour, type: "tool-end", ...pay, use: { settlement: { kind: "result", text: "" } } },
      { ...child, at: 30_000 + hour, type: "run-completed", output: "" },
      { at: 50_000 + hour, type: "tool-end", ...call("c", "ask"), use: { settlement: { kind: "result", text: "" } } },
      { at: 50_000 + hour, type: "run-completed", output: "" }
    )
    assert.deepStrictEqual(gaps, [{ from: 20_000, to: 20_000 + hour }])
  })

  /** A run within the call of "c" that waits for a person, and may get a decision at the end. */
  const waiting = (runId: string, from: number, to: number, isDecided = true) =>
    [
      { at: from, type: "run-start", input: "" },
      { at: from, type: "tool-start", ...pay, arguments: {} },
      { at: from, type: "approval-requested", ...pay, request: {} },
      ...(isDecided
        ? [
            { at: to, type: "approval-decided", ...pay, decision: { type: "approve" } },
            { at: to, type: "tool-end", ...pay, use: { settlement: { kind: "result", text: "" } } }
          ]
        : []),
      { at: to, type: "run-completed", output: "" }
    ].map((event) => ({ ...child, runId, agent: runId, ...event }))
  const within = (to: number, ...events: ReadonlyArray<object>) =>
    gapsOf(
      { at: 0, type: "run-start", input: "" },
      { at: 0, type: "tool-start", ...call("c", "ask"), arguments: {} },
      ...events,
      { at: to, type: "tool-end", ...call("c", "ask"), use: { settlement: { kind: "result", text: "" } } },
      { at: to, type: "run-completed", output: "" }
    )

  it("is each wait of a call with several sub-agents, also if a file has a later one first [P1208]", () => {
    const [one, other] = [waiting("one", 1000, 1000 + hour), waiting("other", 2000 + hour, 2000 + 2 * hour)]
    for (const events of [
      [...one, ...other],
      [...other, ...one]
    ])
      assert.deepStrictEqual(within(3000 + 2 * hour, ...events), [
        { from: 1000, to: 1000 + hour },
        { from: 2000 + hour, to: 2000 + 2 * hour }
      ])
  })

  it("is not folded if the call around it has worked for longer [P1208]", () => {
    assert.deepStrictEqual(within(4 * hour, ...waiting("one", 3 * hour, 4 * hour)), [])
  })

  it("ends with the call whose sub-agent waits, also if another sub-agent goes on waiting later [P1208]", () => {
    const gaps = within(hour, ...waiting("one", 0, hour, false), ...waiting("other", 3 * hour, 4 * hour))
    assert.deepStrictEqual(gaps, [
      { from: 0, to: hour },
      { from: hour, to: 3 * hour },
      { from: 3 * hour, to: 4 * hour }
    ])
  })

  it("is no time in which a model, a tool or an agent without turns works [P1208]", () => {
    assert.deepStrictEqual(
      gapsOf(
        { at: 0, type: "run-start", input: "" },
        { at: 0, type: "model-start", model: "m", attempt: 1 },
        { at: hour, type: "model-end", model: "m", attempt: 1 },
        { at: hour, type: "tool-start", ...pay, arguments: {} },
        { at: 3 * hour, type: "tool-end", ...pay, use: { settlement: { kind: "result", text: "" } } },
        { at: 3 * hour, type: "run-completed", output: "" }
      ),
      []
    )
    assert.deepStrictEqual(
      gapsOf({ at: 0, type: "run-start", input: "" }, { at: hour, type: "run-completed", output: "" }),
      []
    )
  })
})

describe("words about items", () => {
  it("call a result a result, and no text that a model was told [P1218]", () => {
    const recording = mid("mid-fail")
    const scene = Scene.make(recording)
    const healed = recording.events.findIndex(({ type }) => type === "tool-failed")
    const item = scene.items[scene.itemOf[healed] ?? -1]
    assert(item !== undefined)
    const names = Details.make(scene, recording.events, item).texts.map(([name]) => name)
    assert.include(names, "Result")
    assert.notInclude(names, "What the model was told")
  })

  it("say of an approval that it is decided, or that it waits [P1218]", () => {
    const outcomes = (recording: Recording.Recording) =>
      Scene.make(recording).items.flatMap((item) =>
        item.shape === "span" && item.part === "approval" ? [Details.outcomeOf(item)] : []
      )
    assert.deepStrictEqual(outcomes(mid("mid-fail")), ["decided"])
    const { events } = mid("mid-fail")
    const asked = events.findIndex(({ type }) => type === "approval-requested")
    assert.deepStrictEqual(outcomes(Recording.fromEvents(events.slice(0, asked + 1))), ["waiting for approval"])
  })
})
