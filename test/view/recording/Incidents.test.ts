/** Incidents with all that is known of them: their end, their time, their cost, and the row that was missing. */
import { assert, describe, it } from "@effect/vitest"
import { Recording } from "@kintsugi/view"
import { find, type Incident } from "../../../packages/view/src/recording/Incidents.ts"

const call = { callId: "c", tool: "pay" }
const busy = { _tag: "Busy", message: "later" }
const network = { _tag: "NetworkError", message: "lost" }
const toolFailed = { ...call, type: "tool-failed", attempt: 1, error: busy }
const toolEnd = (kind: string) => ({ ...call, type: "tool-end", use: { settlement: { kind } } })
const verdict = (layer: string, kind: string, fields: object = {}) => ({
  type: "verdict",
  layer,
  tag: "Busy",
  verdict: kind,
  attempt: 1,
  ...(layer === "tool" ? call : {}),
  ...fields
})
const modelFailed = (fields: object = {}) => ({ type: "model-failed", attempt: 1, error: network, ...fields })
const cost = (cost: number, usage = 0) => ({ entry: { cost, usage: { inputTokens: usage } } })
const completed = { type: "run-completed" }

/** What is found in events that are ten milliseconds apart. */
const found = (...events: ReadonlyArray<object>) =>
  find(
    Recording.fromEvents(
      events.map((event, index) => ({ runId: "r", agent: "clerk", turn: 1, at: index * 10, ...event }))
    ).events
  )

const incidents = (...events: ReadonlyArray<object>) => found(...events).incidents

/** An incident of the tool, with what differs from the usual one. */
const ofTool = (fields: Partial<Incident> = {}): Incident => ({
  layer: "tool",
  tag: "Busy",
  agent: "clerk",
  tool: "pay",
  failures: 1,
  verdict: "none",
  gaveUp: false,
  byModel: false,
  isHealed: false,
  wasRead: false,
  millis: 0,
  cost: 0,
  unpriced: 0,
  row: undefined,
  ...fields
})

const tellRow = {
  code: "Tool.onError({ Busy: Recovery.tell() })",
  entry: "Busy: Recovery.tell()",
  page: "guide/tool-recovery#which-verdict-for-which-failure"
}

describe("an incident of a tool", () => {
  it("without a verdict has the row that was missing, from the failure to the end of its run [P1703]", () => {
    assert.deepStrictEqual(found(toolFailed, { type: "turn-end" }, { type: "run-failed", error: busy }), {
      incidents: [ofTool({ millis: 20, row: tellRow })],
      troubles: [{ tool: "pay", isHealed: false }]
    })
    assert.deepStrictEqual(incidents(toolFailed), [ofTool({ row: tellRow })])
    const later = { runId: "later", type: "run-start" }
    assert.deepStrictEqual(incidents(toolFailed, { type: "run-interrupted" }, later), [
      ofTool({ millis: 10, row: tellRow })
    ])
    assert.deepStrictEqual(incidents(toolFailed, toolEnd("result"), later), [
      ofTool({ isHealed: true, millis: 10, row: tellRow })
    ])
  })

  it("is healed by the result of its call, and by a deferred one [P1231]", () => {
    for (const kind of ["result", "deferred"])
      assert.deepStrictEqual(found(toolFailed, verdict("tool", "retry"), toolEnd(kind)), {
        incidents: [ofTool({ verdict: "retry", isHealed: true, millis: 10 })],
        troubles: [{ tool: "pay", isHealed: true }]
      })
  })

  it("was read by the model if its call ended otherwise, and is healed by the next result of the tool [P1231]", () => {
    const calls = [toolFailed, verdict("tool", "tell"), toolEnd("told")]
    const read = ofTool({ verdict: "tell", millis: 20 })
    assert.deepStrictEqual(found(...calls, { type: "run-failed" }), {
      incidents: [{ ...read, wasRead: true }],
      troubles: [{ tool: "pay", isHealed: false }]
    })
    assert.deepStrictEqual(found(...calls, { ...toolEnd("result"), callId: "d" }), {
      incidents: [{ ...read, isHealed: true, byModel: true, wasRead: true }],
      troubles: [{ tool: "pay", isHealed: true }]
    })
    const otherTool = { ...toolEnd("result"), callId: "d", tool: "look" }
    assert.isFalse(incidents(...calls, otherTool, completed)[0]?.isHealed)
  })

  it("counts each attempt once, though several rungs decide about it [P1231]", () => {
    const events = [
      toolFailed,
      verdict("tool", "retry", { attempt: 1 }),
      { ...toolFailed, attempt: 2 },
      verdict("tool", "retry", { attempt: 2, gaveUp: true }),
      verdict("tool", "raise", { attempt: 2 })
    ]
    assert.deepStrictEqual(incidents(...events, completed), [ofTool({ failures: 2, verdict: "raise", millis: 40 })])
    assert.deepStrictEqual(incidents(...events.slice(0, 4), toolEnd("result")), [
      ofTool({ failures: 2, verdict: "retry", gaveUp: true, millis: 30 })
    ])
  })

  it("is another one for each tag and each call [P1231]", () => {
    const other = { ...toolFailed, callId: "d", error: network }
    const all = incidents(toolFailed, other, { ...toolFailed, attempt: 2, error: network }, completed)
    assert.deepStrictEqual(
      all.map(({ failures, tag }) => [tag, failures]),
      [
        ["Busy", 1],
        ["NetworkError", 1],
        ["NetworkError", 1]
      ]
    )
  })

  it("has a row to retry it if the start of its call admits that [P1702]", () => {
    const rowOf = (sideEffects?: string) =>
      incidents({ ...call, type: "tool-start", sideEffects }, { ...toolFailed, error: network })[0]?.row?.entry
    assert.strictEqual(rowOf("idempotent"), "NetworkError: Recovery.retry(Backoff.suggested())")
    assert.deepStrictEqual([rowOf("unsafe"), rowOf()], [undefined, undefined])
    // a verdict has been given: a row is there
    assert.isUndefined(incidents(toolFailed, verdict("tool", "raise"))[0]?.row)
  })

  it("needs a call and a tool, and a failure that has an error [P1703]", () => {
    assert.deepStrictEqual(found({ type: "tool-failed", error: busy }, { ...toolFailed, tool: undefined }), {
      incidents: [],
      troubles: []
    })
    assert.deepStrictEqual(found({ ...toolFailed, error: undefined }, toolEnd("result")), {
      incidents: [],
      troubles: [{ tool: "pay", isHealed: true }]
    })
    assert.deepStrictEqual(found(toolEnd("told"), { ...toolEnd("result"), callId: undefined }), {
      incidents: [],
      troubles: [{ tool: "pay", isHealed: false }]
    })
  })
})

describe("an incident of a model call", () => {
  const ofModel = (fields: Partial<Incident> = {}) =>
    ofTool({ layer: "model", tag: "NetworkError", tool: undefined, ...fields })
  const retried = verdict("model", "retry", { tag: "NetworkError" })
  const row = {
    code: "Agent.onLlmError({ NetworkError: Recovery.retry(Backoff.suggested()) })",
    entry: "NetworkError: Recovery.retry(Backoff.suggested())",
    page: "guide/model-recovery#retry-failed-model-calls"
  }

  it("has what its failed attempts have cost, until the model answers [P1231]", () => {
    const used = { type: "model-end", ...cost(8, 1) }
    assert.deepStrictEqual(
      incidents(modelFailed(cost(1, 5)), retried, modelFailed(cost(2, 5)), { ...retried, attempt: 2 }, used, used),
      [ofModel({ verdict: "retry", failures: 2, isHealed: true, millis: 30, cost: 3 })]
    )
  })

  it("without a verdict is lost, but if the model answers after all [P1703]", () => {
    assert.deepStrictEqual(incidents(modelFailed(cost(1, 5)), { type: "run-failed" }), [
      ofModel({ millis: 10, cost: 1, row })
    ])
    assert.deepStrictEqual(incidents(modelFailed(), { type: "model-end" }), [
      ofModel({ millis: 10, isHealed: true, unpriced: 1, row })
    ])
    assert.deepStrictEqual(incidents(modelFailed({ error: undefined }), { type: "run-failed" }), [])
  })

  it("counts each failed attempt without a verdict, and leaves its cost to no call of a tool [P1231]", () => {
    assert.deepStrictEqual(incidents(modelFailed(), modelFailed({ attempt: 2 }), { type: "run-failed" }), [
      ofModel({ failures: 2, millis: 20, unpriced: 2, row })
    ])
    const paid = incidents(modelFailed(cost(1, 5)), verdict("tool", "retry"), toolEnd("result"), completed)
    assert.deepStrictEqual(
      paid.map(({ cost, layer }) => [layer, cost]),
      [
        ["tool", 0],
        ["model", 1]
      ]
    )
  })

  it("counts the attempts whose cost no provider has reported [P1704]", () => {
    const unpriced = (...fields: ReadonlyArray<object>) =>
      incidents(...fields.map(modelFailed), retried).map(({ cost, unpriced }) => [cost, unpriced])
    assert.deepStrictEqual(unpriced({}, {}), [[0, 2]])
    assert.deepStrictEqual(unpriced(cost(0)), [[0, 1]])
    assert.deepStrictEqual(unpriced(cost(0, 5)), [[0, 0]])
    assert.deepStrictEqual(unpriced({ entry: { usage: { inputTokens: 5 } } }), [[0, 1]])
  })

  it("is beside the incidents of its transport, which end with the call [P1231]", () => {
    const sends = [verdict("transport", "retry"), verdict("transport", "retry", { attempt: 2 })]
    const ofSends = ofTool({ layer: "transport", tool: undefined, verdict: "retry", failures: 2 })
    assert.deepStrictEqual(incidents(...sends, { type: "model-end" }), [{ ...ofSends, isHealed: true, millis: 20 }])
    for (const type of ["model-failed", "model-interrupted"])
      assert.deepStrictEqual(incidents(...sends, { type }, completed), [{ ...ofSends, millis: 20 }])
    const ends = (...events: ReadonlyArray<object>) =>
      incidents(retried, ...events).map(({ isHealed, millis }) => [isHealed, millis])
    assert.deepStrictEqual(ends({ type: "model-interrupted" }, { type: "model-end" }), [[true, 20]])
    assert.deepStrictEqual(ends({ type: "run-interrupted" }, { runId: "later", type: "run-start" }), [[false, 10]])
  })
})

describe("what a fixer has cost", () => {
  const fixer = (type: string, entry: object, parent: object = { runId: "r", callId: "c" }) => ({
    runId: "fixer",
    parent,
    type,
    entry: { purpose: "fixer", ...entry }
  })
  const costs = (...events: ReadonlyArray<object>) =>
    incidents(toolFailed, verdict("tool", "fix"), ...events, toolEnd("result")).map(({ cost, unpriced }) => [
      cost,
      unpriced
    ])

  it("belongs to the incident of its call [P1231]", () => {
    assert.deepStrictEqual(costs(fixer("model-end", { cost: 2 }), fixer("model-failed", { cost: 1 })), [[3, 1]])
    assert.deepStrictEqual(costs(fixer("model-failed", { cost: 1, usage: { inputTokens: 3 } })), [[1, 0]])
    assert.deepStrictEqual(costs(fixer("model-interrupted", {})), [[0, 1]])
    assert.deepStrictEqual(costs(fixer("model-end", {})), [[0, 1]])
    assert.deepStrictEqual(costs(fixer("run-completed", { cost: 2 })), [[0, 0]])
  })

  it("belongs to no other call, and to no other purpose [P1231]", () => {
    assert.deepStrictEqual(costs(fixer("model-end", { cost: 2 }, { runId: "r", callId: "d" })), [[0, 0]])
    assert.deepStrictEqual(costs(fixer("model-end", { cost: 2 }, { runId: "s", callId: "c" })), [[0, 0]])
    assert.deepStrictEqual(costs(fixer("model-end", { cost: 2 }, { runId: "r" })), [[0, 0]])
    assert.deepStrictEqual(costs({ ...fixer("model-end", {}), entry: { purpose: "agent", cost: 2 } }), [[0, 0]])
  })
})

describe("an incident of a run", () => {
  it("is the failure that ended it, if no other incident explains it [P1703]", () => {
    const ended = { type: "run-failed", error: busy }
    assert.deepStrictEqual(incidents(ended), [ofTool({ layer: "run", tool: undefined })])
    assert.deepStrictEqual(
      incidents(toolFailed, ended).map(({ layer }) => layer),
      ["tool"]
    )
    assert.deepStrictEqual(
      incidents({ ...toolFailed, error: network }, ended).map(({ layer }) => layer),
      ["tool", "run"]
    )
    // a failure that was healed explains nothing
    assert.deepStrictEqual(
      incidents(toolFailed, verdict("tool", "retry"), toolEnd("result"), ended).map(({ layer }) => layer),
      ["tool", "run"]
    )
    assert.deepStrictEqual(incidents({ type: "run-failed" }), [])
    assert.deepStrictEqual(incidents({ type: "run-interrupted", error: busy }), [])
  })

  it("is not that of a child, whose failure goes on in the run around it [P1703]", () => {
    const child = { runId: "child", parent: { runId: "r", callId: "c" } }
    const ended = { type: "run-failed", error: busy }
    const around = { type: "run-failed", error: { _tag: "Outer", message: "", cause: busy } }
    assert.deepStrictEqual(incidents({ ...ended, ...child }), [])
    assert.deepStrictEqual(
      incidents({ ...toolFailed, ...child }, { ...ended, ...child }, around).map(({ layer }) => layer),
      ["tool"]
    )
    assert.deepStrictEqual(
      incidents({ ...ended, ...child }, around).map(({ layer, tag }) => [layer, tag]),
      [["run", "Outer"]]
    )
  })

  it("of answers that did not fit counts them, and ends with the run [P1231]", () => {
    const rejected = { type: "output-rejected", text: "", message: {} }
    const ofOutput = ofTool({ layer: "output", tag: "InvalidOutputError", tool: undefined, verdict: "output-retry" })
    assert.deepStrictEqual(incidents(rejected, rejected, completed), [
      { ...ofOutput, failures: 2, isHealed: true, millis: 20 }
    ])
    assert.deepStrictEqual(incidents(rejected, { ...rejected, message: undefined }, completed), [
      { ...ofOutput, failures: 2, gaveUp: true, millis: 20 }
    ])
  })

  it("around an effect has the words of its verdict, or says that they are not there [P1231]", () => {
    const bare = { type: "verdict" }
    assert.deepStrictEqual(incidents(bare, completed), [
      ofTool({ layer: "effect", tag: "unknown", tool: undefined, verdict: "unknown", isHealed: true, millis: 10 })
    ])
    // an answer of the model is none of the effect
    const answered = incidents(verdict("effect", "retry"), { type: "model-end" }, { type: "run-failed" })
    assert.deepStrictEqual(
      answered.map(({ isHealed, millis }) => [isHealed, millis]),
      [[false, 20]]
    )
    // time that goes back takes none
    assert.deepStrictEqual(
      incidents(verdict("effect", "retry"), { ...completed, at: -50 }).map(({ isHealed, millis }) => [
        isHealed,
        millis
      ]),
      [[true, 0]]
    )
  })
})
