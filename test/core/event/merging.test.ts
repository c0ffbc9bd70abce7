/** Adjacent deltas become one, and a reader at any number still gets the same text. */
import { assert, it } from "@effect/vitest"
import type { AgentEvent } from "@kintsugi/core"
import { behind, merge, type Numbered } from "../../../packages/core/src/event/merging.ts"

/** An event with the parts that count here. */
const event = (type: AgentEvent.AgentEvent["type"], parts: object = {}) =>
  ({ type, runId: "r", agent: "a", turn: 1, at: 0, ...parts }) as unknown as AgentEvent.AgentEvent

const numbered = (...events: ReadonlyArray<AgentEvent.AgentEvent>): ReadonlyArray<Numbered> =>
  events.map((one, index) => ({ number: index + 1, event: one }))

const delta = (text: string, parts: object = {}) => event("text-delta", { text, ...parts })
const reasoning = (text: string) => event("reasoning-delta", { text })

/** The number, the text if there is one, and where its parts end. */
const short = (events: ReadonlyArray<Numbered>) =>
  events.map(({ ends, event: one, number }) => [number, "text" in one ? one.text : one.type, ends])

it("deltas of a model call are merged once the call has ended, each way that it may end [P1542]", () => {
  const texts = [delta("ab"), delta("c"), delta("def")]
  const apart = ["ab", "c", "def"].map((text, index) => [index + 1, text, undefined])
  assert.deepStrictEqual(short(merge(numbered(...texts))), apart)
  assert.deepStrictEqual(short(merge(numbered(...texts), { all: true })), [[3, "abcdef", [2, 3, 6]]])
  for (const type of [
    "model-end",
    "model-failed",
    "model-interrupted",
    "attempt-discarded",
    "turn-end",
    "run-completed",
    "run-failed",
    "run-interrupted"
  ] as const) {
    const found = merge(numbered(...texts, event(type)))
    assert.deepStrictEqual(short(found).slice(0, 1), [[3, "abcdef", [2, 3, 6]]], type)
    // the end of another run does not count
    assert.lengthOf(merge(numbered(...texts, event(type, { runId: "s" }))), 4, type)
  }
  assert.lengthOf(merge(numbered(...texts, event("tool-start"))), 4)
})

it("only deltas of one text are merged: of one type, run, agent and turn, at any instants [P1542]", () => {
  const merged = (...events: ReadonlyArray<AgentEvent.AgentEvent>) =>
    short(merge(numbered(...events), { all: true })).map(([, text]) => text)
  assert.deepStrictEqual(merged(delta("a"), reasoning("b"), reasoning("c"), delta("d")), ["a", "bc", "d"])
  assert.deepStrictEqual(merged(delta("a"), delta("b", { at: 9 }), delta("c", { turn: 2 })), ["ab", "c"])
  assert.deepStrictEqual(merged(delta("a"), delta("b", { runId: "s" }), delta("c", { agent: "x" })), ["a", "b", "c"])
  assert.deepStrictEqual(merged(delta("a"), delta("b", { cursor: "c" }), delta("c")), ["a", "b", "c"])
  // the parent of a run is always the same, but not always the same object
  const under = (text: string) => delta(text, { parent: { runId: "p" } })
  assert.deepStrictEqual(merged(under("a"), under("b"), delta("c")), ["ab", "c"])
  assert.deepStrictEqual(merged(delta("a"), event("tool-start"), delta("b")), ["a", "tool-start", "b"])
})

it("a merged delta has the instant of its last, and one with a gap before it stays apart [P1542]", () => {
  const [one] = merge(numbered(delta("a"), delta("b", { at: 9 })), { all: true })
  assert.deepStrictEqual(one?.event, delta("ab", { at: 9 }))
  const gap = [
    { number: 1, event: delta("a") },
    { number: 3, event: delta("b") }
  ]
  assert.deepStrictEqual(short(merge(gap, { all: true })), [
    [1, "a", undefined],
    [3, "b", undefined]
  ])
})

it("behind any number a merged delta has the rest of its text, and merging again changes nothing [P1542]", () => {
  const events = numbered(delta("ab"), delta("c"), delta("def"), delta("g"), event("model-end"))
  const [merged] = merge(events)
  assert(merged !== undefined)
  const rests = [0, 1, 2, 3, 4].map((after) => {
    const rest = behind(merged, after)
    return rest && short([rest])[0]
  })
  assert.deepStrictEqual(rests, [
    [4, "abcdefg", [2, 3, 6, 7]],
    [4, "cdefg", [1, 4, 5]],
    [4, "defg", [3, 4]],
    [4, "g", undefined],
    undefined
  ])
  for (const after of [0, 1, 2, 3]) {
    assert.deepStrictEqual(merge(merge(events), { after }), merge(events, { after }), `${after}`)
  }
  // what was merged before is merged with what comes behind it
  const [first, second] = [merge(events.slice(0, 2), { all: true }), merge(events.slice(2, 4), { all: true })]
  assert.deepStrictEqual(merge([...first, ...second], { all: true }), [merged])
  const [single] = numbered(event("model-end"))
  assert(single !== undefined)
  assert.deepStrictEqual([behind(single, 0), behind(single, 1)], [single, undefined])
})
