/** The limits of a budget as data: their defaults, what they admit, and the decisions about them. */
import { assert, it } from "@effect/vitest"
import { Budget } from "@kintsugi/core"

it("each limit has a default [A901]", () => {
  assert.deepStrictEqual(Budget.make(), {
    maxTurns: 8,
    maxToolCalls: 32,
    maxDuration: 300_000,
    maxTokens: Infinity,
    maxCost: Infinity,
    maxConsecutiveSameTool: Infinity,
    maxDepth: 16,
    maxArgsBytes: 1_048_576,
    maxUnread: 64,
    maxBufferedEvents: 4096,
    maxBufferedBytes: 4_194_304,
    toolConcurrency: Infinity,
    warnAt: 0.8,
    prices: undefined,
    repeatedFailures: { hint: 3, withhold: 4, stop: 5 }
  })
})

it("counts are whole numbers, amounts are above 0, and what must end is finite [A901]", () => {
  const mustEnd = [
    "maxTurns",
    "maxToolCalls",
    "maxDepth",
    "maxUnread",
    "maxBufferedEvents",
    "maxBufferedBytes"
  ] as const
  const counts = [...mustEnd, "maxTokens", "maxConsecutiveSameTool", "maxArgsBytes", "toolConcurrency"] as const
  const made = (limits: Budget.Limits) => () => Budget.make(limits)
  for (const name of counts) {
    for (const wrong of [0, 1.5, -1, Number.NaN])
      assert.throws(made({ [name]: wrong }), `Budget: ${name} must be a whole number of at least 1, got ${wrong}`)
    assert.strictEqual(Budget.make({ [name]: 1 })[name], 1)
  }
  for (const name of mustEnd)
    assert.throws(made({ [name]: Infinity }), `Budget: ${name} must be a whole number of at least 1, got Infinity`)
  for (const name of counts.slice(mustEnd.length)) assert.strictEqual(Budget.make({ [name]: Infinity })[name], Infinity)
  assert.throws(made({ maxCost: 0 }), "Budget: maxCost must be above 0, got 0")
  assert.strictEqual(Budget.make({ maxCost: 0.001 }).maxCost, 0.001)
  assert.throws(made({ maxDuration: 0 }), "Budget: maxDuration must be a duration above 0, got 0")
  for (const warnAt of [0, 1.1, Number.NaN]) assert.throws(made({ warnAt }), RangeError)
  assert.strictEqual(Budget.make({ warnAt: 1 }).warnAt, 1)
})

it("a decision about a limit is data [A909]", () => {
  const { answer, checkpoint, extend, stop } = Budget
  assert.deepStrictEqual(
    [stop, extend(0.5), checkpoint, answer],
    [{ type: "stop" }, { type: "extend", limit: 0.5 }, { type: "checkpoint" }, { type: "answer" }]
  )
  for (const limit of [0, -1, Number.NaN])
    assert.throws(() => extend(limit), RangeError, `Budget.extend: the new limit must be above 0, got ${limit}`)
})
