/** Which events of a replay are new, and what becomes of a text that a crash has cut off. */
import { assert, it } from "@effect/vitest"
import type { AgentEvent } from "@kintsugi/core"
import { Marks } from "../../packages/durable/src/marks.ts"

const event = (type: string, parts: object = {}): AgentEvent.AgentEvent =>
  // the fields of the type are in the parts
  ({ type, runId: "r", agent: "a", turn: 1, attempt: 1, at: 0, ...parts }) as unknown as AgentEvent.AgentEvent

const start = event("model-start")
const text = (text: string, runId = "r") => event("text-delta", { text, runId })
const thought = (text: string) => event("reasoning-delta", { text })

/** What is new of the events of a replay: their types, or the texts of deltas. */
const replayed = (marks: Marks, ...events: ReadonlyArray<AgentEvent.AgentEvent>) => {
  marks.begin()
  return more(marks, ...events)
}
const more = (marks: Marks, ...events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.map((one) => {
    const fresh = marks.newOf(one)
    return fresh !== undefined && "text" in fresh && fresh.type.endsWith("delta") ? fresh.text : fresh?.type
  })

const none = undefined

it("an event is new once for each run, call and type, and as often as it comes [P1543]", () => {
  const marks = new Marks()
  const one = event("tool-start", { callId: "1" })
  assert.deepStrictEqual(replayed(marks, one, one), ["tool-start", "tool-start"])
  assert.deepStrictEqual(replayed(marks, one, one, one), [none, none, "tool-start"])
  const others = [
    event("tool-start", { callId: "2" }),
    event("tool-start", { callId: "1", runId: "other" }),
    event("tool-end", { callId: "1" }),
    event("turn-end")
  ]
  for (const other of others) {
    assert.strictEqual(replayed(marks, other)[0], other.type)
    assert.strictEqual(replayed(marks, other)[0], none)
  }
})

it("progress is always new, because no replay repeats it [P1543]", () => {
  const marks = new Marks()
  const progress = event("tool-progress", { callId: "1" })
  assert.deepStrictEqual(replayed(marks, progress), ["tool-progress"])
  assert.deepStrictEqual(replayed(marks, progress), ["tool-progress"])
})

it.each([
  ["text", text],
  ["thoughts", thought]
] as const)("of a delta of %s, the characters are new that no replay has emitted [P1371 P1543]", (_, delta) => {
  const marks = new Marks()
  assert.deepStrictEqual(replayed(marks, start, delta("Hel"), delta("lo")), ["model-start", "Hel", "lo"])
  assert.deepStrictEqual(replayed(marks, start, delta("Hello")), [none, none])
  assert.deepStrictEqual(replayed(marks, start, delta("He"), delta("llo"), delta(" w")), [none, none, none, " w"])
  assert.deepStrictEqual(replayed(marks, start, delta("Hello world")), [none, "orld"])
})

it("text and thoughts are counted apart, and those of each run [P1543]", () => {
  const marks = new Marks()
  assert.deepStrictEqual(replayed(marks, start, thought("hm"), text("Hello")), ["model-start", "hm", "Hello"])
  assert.deepStrictEqual(replayed(marks, start, thought("hm!"), text("Hello!")), [none, "!", "!"])
  assert.deepStrictEqual(more(marks, text("Hello", "other")), ["Hello"])
})

it("no delta is new of an attempt that has ended, or that another one has followed [P1543]", () => {
  const ended = new Marks()
  replayed(ended, start, text("abc"), event("model-end"))
  assert.deepStrictEqual(replayed(ended, start, text("abcd"), event("model-end")), [none, none, none])
  const followed = new Marks()
  replayed(followed, start, text("abc"), start)
  assert.deepStrictEqual(replayed(followed, start, text("abc"), start, text("x")), [none, none, none, "x"])
  assert.deepStrictEqual(replayed(followed, start, text("abc"), start, text("xy")), [none, none, none, "y"])
})

it("a text that was discarded is not counted with the one after it [P1371 P1543]", () => {
  const marks = new Marks()
  const discarded = event("attempt-discarded", { text: "ab" })
  assert.deepStrictEqual(replayed(marks, start, text("ab"), discarded, text("cd")), [
    "model-start",
    "ab",
    "attempt-discarded",
    "cd"
  ])
  assert.deepStrictEqual(replayed(marks, start, text("ab"), discarded, text("cd"), text("ef")), [
    none,
    none,
    none,
    none,
    "ef"
  ])
})

const at = 7
const never = () => false

it("the text of an attempt without an end is retracted, with the place of that attempt [P1371 P1543]", () => {
  const marks = new Marks()
  const parent = { runId: "p", callId: "1" }
  replayed(marks, event("model-start", { attempt: 2, parent }), thought("hm"), text("ab"))
  const retracted = { type: "attempt-discarded", runId: "r", agent: "a", turn: 1, attempt: 2, parent, at, text: "ab" }
  assert.deepStrictEqual(
    marks.cutOff(at, (runId) => runId === "r"),
    []
  )
  assert.deepStrictEqual<ReadonlyArray<unknown>>(marks.cutOff(at, never), [retracted])
  const thoughts = new Marks()
  replayed(thoughts, start, thought("hm"))
  assert.deepStrictEqual<ReadonlyArray<unknown>>(thoughts.cutOff(at, never), [
    { ...start, type: "attempt-discarded", at, text: "" }
  ])
})

it.each(["model-end", "model-failed", "model-interrupted", "attempt-discarded"])(
  "nothing is retracted after %s, nor before the first delta [P1371 P1543]",
  (type) => {
    const marks = new Marks()
    replayed(marks, start)
    assert.deepStrictEqual(marks.cutOff(at, never), [])
    more(marks, thought("hm"), text("ab"))
    assert.lengthOf(marks.cutOff(at, never), 1)
    more(marks, event(type))
    assert.deepStrictEqual(marks.cutOff(at, never), [])
  }
)

it("a run that continues its text keeps it until its replay comes to that attempt, which decides [P1371 P1543]", () => {
  const cut = () => {
    const marks = new Marks()
    replayed(marks, start, event("model-failed"), start, text("ab"))
    marks.continues("r", true)
    assert.deepStrictEqual(marks.cutOff(at, never), [])
    replayed(marks, start)
    assert.deepStrictEqual([marks.cutOffOf("r"), marks.settlement("r", at, "ab")], [none, []])
    more(marks, event("model-failed"), start)
    assert.strictEqual(marks.cutOffOf("r"), "ab")
    return marks
  }
  const kept = cut()
  const [continued, ...rest] = kept.settlement("r", at, "xab")
  assert(continued !== undefined)
  assert.deepStrictEqual<unknown>([continued, rest], [{ ...start, type: "attempt-continued", at, kept: "xab" }, []])
  kept.settle(continued)
  assert.strictEqual(kept.cutOffOf("r"), none)
  assert.deepStrictEqual(more(kept, text("abc")), ["c"])

  const anew = cut()
  const [discarded] = anew.settlement("r", at, none)
  assert(discarded !== undefined)
  assert.deepStrictEqual<unknown>(discarded, { ...start, type: "attempt-discarded", at, text: "ab" })
  anew.settle(discarded)
  assert.strictEqual(anew.cutOffOf("r"), none)
  assert.deepStrictEqual(more(anew, text("abc")), ["abc"])

  const next = cut()
  more(next, start)
  assert.strictEqual(next.cutOffOf("r"), none)
})

it("the runs that continue their text are known by their deltas [P1543]", () => {
  const marks = new Marks()
  marks.continues("r", true)
  marks.continues("s", false)
  const events = [text("a"), text("b"), text("c", "s"), text("d", "unknown"), event("turn-end", { runId: "t" })]
  marks.continues("t", true)
  assert.deepStrictEqual(marks.continuing(events), ["r"])
})
