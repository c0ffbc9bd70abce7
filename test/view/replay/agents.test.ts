/** What an agent did in its runs, as their events show it. */
import { assert, describe, it } from "@effect/vitest"
import { AgentReader } from "../../../packages/view/src/replay/agents.ts"
import { Refused } from "../../../packages/view/src/replay/refusing.ts"
import { event, thrownBy } from "./_support/reading.ts"

const begin = { type: "run-start", input: "Hi", transcript: [] }

/** The reader after these events of a run that has begun. */
const readerOf = (...events: ReadonlyArray<object>) => {
  const reader = new AgentReader(event(begin))
  for (const one of [begin, ...events]) reader.take(event(one))
  return reader
}

const scriptOf = (...events: ReadonlyArray<object>) => readerOf(...events).made()

/** The reason why these events cannot be played again; the last one is to blame. */
const refusalOf = (...events: ReadonlyArray<object>) => {
  const last = event(events.at(-1) ?? {})
  const reader = readerOf(...events.slice(0, -1))
  const refused = thrownBy(() => reader.take(last))
  assert.instanceOf(refused, Refused)
  assert.strictEqual(refused.event, last)
  return refused.why
}

const toolStart = (callId: string, tool = "look", more: object = {}) => ({ type: "tool-start", callId, tool, ...more })
const toolEnd = (callId: string, text = "found") => ({
  type: "tool-end",
  callId,
  use: { attempts: 1, settlement: { kind: "result", text } }
})
const asked = { type: "model-start" }
const replied = { type: "model-end", reply: { content: [] } }
const modelFailed = { type: "model-failed", error: { _tag: "RateLimitError", message: "slow down" } }
const completed = { type: "run-completed", output: "done" }
const busy = { _tag: "Busy", message: "no line" }

describe("an agent", () => {
  it("has the prompt of the system, if its transcript begins with one [P1270]", () => {
    const promptOf = (role: string) => {
      const start = event({ ...begin, transcript: [{ role, text: "Be kind." }] })
      return new AgentReader(start).made().prompt
    }
    assert.strictEqual(promptOf("system"), "Be kind.")
    assert.strictEqual(promptOf("user"), undefined)
  })

  it("has the limits of turns, calls and time that it has warned of or reached, and no others [P1270]", () => {
    const limits = ["budget-warning", "budget-exceeded"].flatMap((type) =>
      ["maxTurns", "maxToolCalls", "maxDuration", "maxTokens", undefined].map((reason) => ({ type, reason, limit: 3 }))
    )
    assert.deepStrictEqual(scriptOf(...limits).budget, { maxTurns: 3, maxToolCalls: 3, maxDuration: 3 })
    for (const limit of limits.slice(0, 3))
      assert.deepStrictEqual(scriptOf(limit).budget, { [String(limit.reason)]: 3 })
    for (const limit of limits.slice(5, 8))
      assert.deepStrictEqual(scriptOf(limit).budget, { [String(limit.reason)]: 3 })
    assert.deepStrictEqual(scriptOf({ type: "tool-progress", reason: "maxTurns", limit: 3 }).budget, {})
    assert.deepStrictEqual(scriptOf({ type: "budget-warning", reason: "maxTurns" }).budget, {})
  })

  it("has room for what it has done, where nothing is known of its limits [P1270]", () => {
    const turns = (many: number) => Array.from({ length: many }, () => ({ type: "turn-start" }))
    const calls = (many: number) =>
      Array.from({ length: many }, (_, nth) => [toolStart(`c${nth}`), toolEnd(`c${nth}`)]).flat()
    const ended = (at: number) => ({ ...completed, at })
    assert.deepStrictEqual(scriptOf(...turns(7), ...calls(31), ended(299_999)).budget, {})
    assert.deepStrictEqual(scriptOf(...turns(8), ...calls(32), ended(300_000)).budget, {
      maxTurns: 16,
      maxToolCalls: 64,
      maxDuration: 600_000
    })
    const warned = ["maxTurns", "maxToolCalls", "maxDuration"].map((reason) => ({
      type: "budget-warning",
      reason,
      limit: 99
    }))
    assert.deepStrictEqual(scriptOf(...turns(8), ...calls(32), ...warned, ended(300_000)).budget, {
      maxTurns: 99,
      maxToolCalls: 99,
      maxDuration: 99
    })
  })
})

describe("its model", () => {
  it("has replied, failed or died, after what a reader had seen [P1270]", () => {
    const shown = [
      { ...asked, at: 1 },
      { type: "text-delta", text: "Good " },
      { type: "text-delta", text: "mor" }
    ]
    assert.deepStrictEqual(
      scriptOf(
        ...shown,
        { ...modelFailed, at: 4 },
        { ...asked, at: 5 },
        { type: "model-failed", error: busy, at: 7 },
        { ...asked, at: 8 },
        { ...replied, at: 9 },
        asked,
        { type: "model-interrupted" }
      ).models,
      [
        {
          after: 3,
          type: "fails",
          failure: { tag: "RateLimitError", message: "slow down", json: modelFailed.error },
          shown: "Good mor"
        },
        { after: 2, type: "dies", message: "no line" },
        { after: 1, type: "reply", reply: { content: [] } },
        { after: 0, type: "never" }
      ]
    )
  })

  it("begins anew after a discarded attempt, but no part of a composition does [P1270 P1271]", () => {
    assert.isFalse(scriptOf(asked).restarts)
    assert.isTrue(scriptOf(asked, { type: "attempt-discarded" }).restarts)
    assert.strictEqual(
      refusalOf(asked, { type: "attempt-discarded", discardedRunId: "other" }),
      "a part of a composition was discarded"
    )
  })

  it("is answered for by its row, unless a later row decided otherwise [P1270]", () => {
    const verdict = { type: "verdict", layer: "model", tag: "RateLimitError" }
    const rowsOf = (...events: ReadonlyArray<object>) => scriptOf(asked, modelFailed, ...events).rows
    assert.deepStrictEqual(
      rowsOf({ ...verdict, verdict: "respondWith" }, completed).map(({ rungs }) => rungs),
      [[{ kind: "respondWith", text: "done" }]]
    )
    const failed = { type: "run-failed", error: busy, output: "done" }
    assert.deepStrictEqual(
      rowsOf({ ...verdict, verdict: "respondWith" }, failed).map(({ rungs }) => rungs),
      [[{ kind: "respondWith", text: "" }]]
    )
    const [first, second] = [
      { ...verdict, verdict: "respondWith", turn: 1 },
      { ...verdict, verdict: "tell", turn: 2, tag: "Other" }
    ]
    assert.deepStrictEqual(
      rowsOf(first, second, completed).map(({ rungs }) => rungs),
      [[{ kind: "respondWith", text: "" }], [{ kind: "tell" }]]
    )
  })
})

describe("its tools", () => {
  const requested = { type: "approval-requested" }

  it("need approval for all calls, or for those that a person was asked about [P1270]", () => {
    const toolsOf = (...events: ReadonlyArray<object>) => scriptOf(...events).tools.map(({ approval }) => approval)
    const first = [toolStart("c1", "pay", { arguments: { n: 1 } }), { ...requested, callId: "c1" }, toolEnd("c1")]
    const second = (middle: ReadonlyArray<object>) => [
      toolStart("c2", "pay", { arguments: '{"n": 2}' }),
      ...middle,
      toolEnd("c2")
    ]
    assert.deepStrictEqual(toolsOf(...second([])), [undefined])
    assert.deepStrictEqual(toolsOf(...first, ...second([{ ...requested, callId: "c2" }])), [[]])
    assert.deepStrictEqual(toolsOf(...first, ...second([])), [['{"n":1}']])
    // a call without an attempt says nothing
    const unread = [
      toolStart("c2", "pay"),
      { type: "tool-failed", callId: "c2", error: { _tag: "InvalidArgs", message: "no" } },
      { type: "tool-end", callId: "c2", use: { settlement: { kind: "failed", text: "no" } } }
    ]
    assert.deepStrictEqual(toolsOf(...first, ...unread), [[]])
  })

  it("have calls that a policy has denied, but none that a person has [P1270]", () => {
    const denied = (text: string) => ({ type: "tool-denied", callId: "c1", tool: "pay", settlement: { text } })
    const policy = denied("The call of tool 'pay' was denied and not run: too\ndear")
    assert.deepStrictEqual([...scriptOf(toolStart("c1", "pay"), policy).denied], [["c1", "too\ndear"]])
    assert.deepStrictEqual([...scriptOf(policy).denied], [["c1", "too\ndear"]])
    assert.deepStrictEqual([...scriptOf(toolStart("c1", "pay"), denied("no")).denied], [])
    assert.deepStrictEqual([...scriptOf(toolStart("c1", "pay"), { ...requested, callId: "c1" }, policy).denied], [])
  })

  it("are unknown if all of their calls were refused as such [P1270]", () => {
    const unknown = (callId: string, text = "unknown tool: pya") => ({
      type: "tool-denied",
      callId,
      tool: "pya",
      settlement: { text }
    })
    const namesOf = (...events: ReadonlyArray<object>) => scriptOf(...events).tools.map(({ name }) => name)
    assert.deepStrictEqual(namesOf(toolStart("c1", "pya"), unknown("c1")), [])
    assert.deepStrictEqual(namesOf(toolStart("c1", "pya"), unknown("c1", "not an unknown tool: ")), ["pya"])
    const found = [toolStart("c2", "pya"), toolEnd("c2")]
    assert.deepStrictEqual(namesOf(toolStart("c1", "pya"), unknown("c1"), ...found), ["pya"])
    const [tag, verdict] = ["UnknownTool", { type: "verdict", layer: "tool", verdict: "tell" }]
    const rowsOf = (...events: ReadonlyArray<object>) => {
      const { tools, unknown } = scriptOf(...events)
      return [unknown, tools.flatMap(({ rows }) => rows)].map((rows) => rows.map(({ tag }) => tag))
    }
    assert.deepStrictEqual(rowsOf({ ...verdict, tag, callId: "c1" }), [[tag], []])
    assert.deepStrictEqual(rowsOf(toolStart("c1"), { ...verdict, tag, callId: "c1" }), [[], [tag]])
  })

  it("give no images and no files, and skip no malformed call at a limit [P1271]", () => {
    const end = toolEnd("c1")
    assert.strictEqual(
      refusalOf(toolStart("c1"), { ...end, use: { ...end.use, settlement: { ...end.use.settlement, parts: [] } } }),
      "the result has images or files, and events have no bytes"
    )
    const skipped = { type: "tool-skipped", callId: "c1" }
    const malformed = "a malformed call was skipped at a limit"
    assert.strictEqual(refusalOf(asked, replied, asked, modelFailed, skipped), malformed)
    assert.lengthOf(scriptOf(asked, modelFailed, asked, replied, skipped).models, 2)
    assert.deepStrictEqual(scriptOf(skipped).models, [])
  })
})

describe("the end of its run", () => {
  const failing = (more: object = {}) => ({ type: "run-failed", at: 5, error: busy, ...more })
  const failed = (callId: string) => ({ type: "tool-failed", callId, error: busy })

  it("is all that is known of a run without a model [P1270]", () => {
    assert.deepStrictEqual(scriptOf({ ...completed, at: 5 }).answers, [{ after: 5, text: "done" }])
    assert.deepStrictEqual(scriptOf(failing()).answers, [{ after: 5, failure: { tag: "Busy", message: "no line" } }])
    const limit = { _tag: "BudgetExceededError", reason: "maxDuration", message: "over" }
    for (const events of [[asked, replied, completed], [{ type: "run-interrupted" }], [failing({ error: limit })]])
      assert.deepStrictEqual(scriptOf(...events).answers, [])
  })

  it("interrupts the calls beside the one that has failed, unless that was a defect or an interruption [P1270]", () => {
    const two = [toolStart("c1"), toolStart("c2"), failed("c1")]
    assert.isTrue(scriptOf(...two, failing()).interruptsSiblings)
    assert.isFalse(scriptOf(...two, failing({ isDefect: true })).interruptsSiblings)
    assert.isFalse(scriptOf(...two, { type: "run-interrupted" }).interruptsSiblings)
    assert.isFalse(scriptOf(toolStart("c1"), failed("c1"), failing()).interruptsSiblings)
  })

  it("is refused where it is not known which call has died, or what a limit of a sub-agent cut off [P1271]", () => {
    const two = [toolStart("c1"), toolStart("c2")]
    assert.strictEqual(refusalOf(...two, failing({ isDefect: true })), "it is not known which call has died")
    assert.deepStrictEqual(
      scriptOf(...two, failed("c1"), failing({ isDefect: true }))
        .tools[0]?.calls.get("c2")
        ?.map(({ type }) => type),
      ["dies"]
    )
    const error = (reason: string) => ({ _tag: "BudgetExceededError", reason, message: "over" })
    assert.strictEqual(
      refusalOf(...two, failing({ error: error("maxTurns") })),
      "other calls were at work when a sub-agent reached the limit"
    )
    for (const events of [[...two, failing({ error: error("maxDuration") })], [failing({ error: error("maxTurns") })]])
      assert.deepStrictEqual(scriptOf(...events).answers, [])
  })

  it("ends the model call that was at work, and each run has its own [P1270]", () => {
    const next = { runId: "r2" }
    const { models } = scriptOf(
      asked,
      { type: "run-interrupted", at: 5 },
      { ...replied, at: 6 },
      { ...begin, ...next },
      {
        ...asked,
        ...next,
        at: 8
      },
      { ...replied, ...next, at: 9 }
    )
    assert.deepStrictEqual(models, [
      { after: 0, type: "never" },
      { after: 1, type: "reply", reply: { content: [] } }
    ])
  })
})
