import { assert, it } from "@effect/vitest"
import { type CallCap, CallCounts } from "../../../packages/core/src/budget/callCounts.ts"

const cap = (max: number, tool = "look"): CallCap => ({ tool, max })

it("copies of a tool share its count, and another tool of that name has its own [P1508]", () => {
  const counts = new CallCounts()
  assert.isUndefined(counts.data)
  const [one, other] = [cap(2), cap(1)]
  assert.deepStrictEqual(
    [counts.take(one, ["a"]), counts.take(one, ["b", "a"]), counts.take(one, ["a"])],
    [true, true, false]
  )
  assert.deepStrictEqual([counts.admits(one, ["c"]), counts.admits(other, ["a"])], [false, true])
  assert.isTrue(counts.take(other, ["a"]))
  assert.isFalse(counts.take(other, ["a"]))
  assert.deepStrictEqual(counts.data, {
    cappedCalls: { look: 2 },
    cappedTools: [
      { tool: "look", agents: [["a"], ["b", "a"]], calls: 2 },
      { tool: "look", agents: [["a"]], calls: 1 }
    ]
  })
})

const restored = () => {
  const counts = new CallCounts()
  const cappedTools = [
    { tool: "look", agents: [["a"], ["b", "a"]], calls: 2 },
    { tool: "look", agents: [["c"]], calls: 1 },
    { tool: "pay", agents: [["a"]], calls: 4 }
  ]
  counts.restore({ cappedCalls: { look: 2, pay: 4 }, cappedTools }, () => undefined)
  return counts
}

it("a run that goes on counts a tool from where its agent was, whose names all fit [P1508]", () => {
  const counts = restored()
  const [one, other, third] = [cap(3), cap(3), cap(3)]
  assert.isTrue(counts.take(one, ["b", "a"]))
  assert.isFalse(counts.admits(one, ["b", "a"]))
  assert.isTrue(counts.take(other, ["c"]))
  assert.isTrue(counts.take(other, ["c"]))
  assert.isFalse(counts.take(other, ["c"]))
  // no agent of this name has called such a tool, and no such count is left
  assert.isTrue(counts.take(third, ["a", "b"]))
  assert.deepStrictEqual(counts.data, {
    cappedCalls: { look: 3, pay: 4 },
    cappedTools: [
      { tool: "pay", agents: [["a"]], calls: 4 },
      { tool: "look", agents: [["a"], ["b", "a"]], calls: 3 },
      { tool: "look", agents: [["c"]], calls: 3 },
      { tool: "look", agents: [["a", "b"]], calls: 1 }
    ]
  })
})

it("an agent that is not known takes the highest count of the name [P1508]", () => {
  for (const agents of [["b"], ["a", "b"], ["x", "a"], ["b", "a", "a"], ["c", "x"], []]) {
    const counts = restored()
    assert.isFalse(counts.admits(cap(2), agents), agents.join())
    assert.isTrue(counts.admits(cap(3), agents), agents.join())
  }
  const counts = new CallCounts()
  counts.restore({ cappedCalls: { look: 2 } }, () => undefined)
  assert.deepStrictEqual([counts.admits(cap(2), ["a"]), counts.admits(cap(2, "pay"), ["a"])], [false, true])
})
