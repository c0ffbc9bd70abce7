/** The script of a recording: what it reads of each event, and which events it refuses. */
import { assert, describe, it } from "@effect/vitest"
import type { AgentScript } from "../../../packages/view/src/replay/parts.ts"
import * as Scripts from "../../../packages/view/src/replay/Script.ts"
import {
  type Event,
  recordingOf,
  scriptOf,
  refusalOf,
  start,
  asked,
  reply,
  replied,
  done,
  error,
  run,
  agentOf,
  call,
  begun,
  ended
} from "./_support/scripts.ts"

describe("the script of a run", () => {
  it("has its input, its times, its replies and its end [P1270]", () => {
    const plain: AgentScript = {
      name: "desk",
      prompt: undefined,
      models: [{ after: 5, type: "reply", reply }],
      answers: [],
      tools: [],
      builtIn: [],
      rows: [],
      unknown: [],
      denied: new Map(),
      budget: {},
      interruptsSiblings: false,
      restarts: false
    }
    assert.deepStrictEqual(scriptOf(...run(done)), {
      input: "go",
      at: 1000,
      lasted: 50,
      agents: [plain],
      decisions: [],
      isStreamed: false,
      end: { type: "completed", text: "Done." }
    })
    for (const type of ["text-delta", "reasoning-delta"])
      assert.isTrue(scriptOf(start, asked, [2, type, { text: "Do" }], replied, done).isStreamed)
    assert.deepStrictEqual(scriptOf(...run([30, "run-interrupted"])).end, { type: "interrupted", after: 30 })
  })

  it("has the input that its model has read, and its prompt [P1270]", () => {
    const from = (input: unknown, transcript?: ReadonlyArray<object>) => {
      const { agents, input: text } = scriptOf([0, "run-start", { input, transcript }], asked, replied, done)
      return [text, agents[0]?.prompt]
    }
    const system = { role: "system", text: "Be brief." }
    const user = (...content: ReadonlyArray<object>) => ({ role: "user", content })
    assert.deepStrictEqual(from("go", [system, user({ type: "text", text: "other" })]), ["go", "Be brief."])
    assert.deepStrictEqual(from({ a: 1 }), ['{"a":1}', undefined])
    assert.deepStrictEqual(from({ a: 1 }, [system]), ['{"a":1}', "Be brief."])
    assert.deepStrictEqual(from({ a: 1 }, [user({ type: "text", text: "A: " }, { type: "text", text: "1" }), system]), [
      "A: 1",
      undefined
    ])
    const refused = (...transcript: ReadonlyArray<object>) =>
      refusalOf([0, "run-start", { input: {}, transcript }], asked, replied, done)
    assert.strictEqual(
      refused(user({ type: "text", text: "a" }, { type: "image" })),
      "event 1 (run-start of 'desk', turn 1): the input has images or files, and events have no bytes"
    )
    assert.strictEqual(
      refused(system, user(), user()),
      "event 1 (run-start of 'desk', turn 1): the run begins with an earlier conversation"
    )
  })

  it("is that of the last run without a parent that failed, or of the last one, or of one by its id [P1270]", () => {
    const events = ["a", "b", "c"].flatMap((runId): ReadonlyArray<Event> => [
      [0, "run-start", { runId, input: runId }],
      [0, "model-start", { runId, attempt: 1 }],
      [5, "model-end", { runId, reply }]
    ])
    const ends = (...types: ReadonlyArray<string>) =>
      [...events, ...types.map((type, at): Event => [50, type, { runId: "abc"[at], output: "", error }])] as const
    const completed = "run-completed"
    assert.strictEqual(scriptOf(...ends(completed, completed, completed)).input, "c")
    assert.strictEqual(scriptOf(...ends("run-failed", "run-failed", completed)).input, "b")
    const child: Event = [0, "run-start", { runId: "d", input: "d", parent: { runId: "x", callId: "y" } }]
    assert.strictEqual(scriptOf(...ends(completed, completed, completed), child).input, "c")
    const byId = Scripts.of(recordingOf(...ends(completed, completed, completed)), { runId: "a" })
    assert.isTrue(Scripts.isScript(byId) && byId.input === "a")
    assert.deepStrictEqual(Scripts.of(recordingOf(...events), { runId: "z" }), {
      _tag: "NotReplayable",
      index: -1,
      event: undefined,
      message: "the events have no beginning of the run 'z' without a parent"
    })
    assert.strictEqual(refusalOf(), "the events have no beginning of a run without a parent")
  })

  it("has nothing of what comes behind its end [P1270]", () => {
    assert.deepStrictEqual(scriptOf(...run(done, [60, "guardrail"])), scriptOf(...run(done)))
  })

  it("has failed in the first of two sub-agents that failed with it [P1270]", () => {
    const parts = ["clerk", "bank"].map((agent) => ({ runId: agent, agent, parent: { runId: "r", callId: agent } }))
    const { end } = scriptOf(
      ...run(
        ...parts.flatMap((part): ReadonlyArray<Event> => [
          [10, "tool-start", { callId: part.agent, tool: part.agent, arguments: {} }],
          [12, "run-start", { ...part, input: "" }],
          [12, "model-start", { ...part, attempt: 1 }],
          [60, "model-failed", { ...part, error }]
        ]),
        ...parts.map((part): Event => [60, "run-failed", { ...part, error }]),
        [60, "run-failed", { error }]
      )
    )
    assert.deepInclude(end, { type: "failed", agent: "clerk" })
  })

  it("is refused with the event that cannot be played again [P1271]", () => {
    const refused = Scripts.of(recordingOf(...run([20, "guardrail"], done)))
    assert.isFalse(Scripts.isScript(refused))
    // a mistake of this program is none of the recording
    // @ts-expect-error -- null is no event
    assert.throws(() => Scripts.of({ events: [null], problems: [] }), TypeError)
    assert.deepInclude(refused, {
      _tag: "NotReplayable",
      index: 3,
      message: "event 4 (guardrail of 'desk', turn 1): a guardrail has decided"
    })
    for (const [events, why] of [
      [[start, asked, replied], "event 3 (model-end of 'desk', turn 1): the run has no end after this event"],
      [[start, done], "event 1 (run-start of 'desk', turn 1): the run has asked no model"],
      [run(start, done), "event 4 (run-start of 'desk', turn 1): the run begins once more"],
      [[start, asked, [5, "model-end", { reply: "x" }], done], "a reply of its model cannot be read"],
      [[start, asked, [5, "model-end", { reply: { content: ["x"] } }], done], "a reply of its model cannot be read"],
      [run([6, "attempt-discarded", { discardedRunId: "x" }], done), "a part of a composition was discarded"],
      [
        run(begun, [20, "tool-end", { ...call, use: { settlement: { kind: "result", text: "", parts: [] } } }], done),
        "the result has images or files, and events have no bytes"
      ],
      [
        [
          start,
          asked,
          [5, "model-failed", { error: { _tag: "NetworkError", message: "m" } }],
          begun,
          [20, "tool-skipped", call],
          done
        ],
        "a malformed call was skipped at a limit"
      ],
      [run([20, "approval-decided", { ...call, decision: { type: "approve" } }], done), "no person was asked"],
      [run([20, "run-start", { runId: "s", parent: { runId: "r", callId: "x" } }], done), "was not started by a tool"],
      [
        run(begun, [20, "run-start", { runId: "s", agent: "desk", parent: { runId: "r", callId: "c" } }], done),
        "the agent has started itself"
      ]
    ] as const) {
      assert.include(refusalOf(...events), why)
    }
  })
})

describe("the steps of a model", () => {
  it("are its replies, its failures with what was shown, and what never came [P1270]", () => {
    const ours = { _tag: "NetworkError", message: "lost", url: "u" }
    const { agents, end } = scriptOf(
      start,
      asked,
      [2, "text-delta", { text: "Do" }],
      [3, "text-delta", { text: "ne" }],
      [5, "model-failed", { error: ours }],
      [5, "attempt-discarded", {}],
      [6, "model-start", { attempt: 2 }],
      [8, "model-failed", { error: ours }],
      [9, "model-start", { attempt: 3 }],
      [10, "model-interrupted"],
      [11, "model-start", { attempt: 4 }],
      [15, "model-failed", { error: { _tag: "TypeError", message: "broken" } }],
      [20, "run-failed", { error: { _tag: "TypeError", message: "broken" }, isDefect: true }]
    )
    const failure = { tag: "NetworkError", message: "lost", json: ours }
    assert.deepStrictEqual(agents[0]?.models, [
      { after: 5, type: "fails", failure, shown: "Done" },
      { after: 2, type: "fails", failure },
      { after: 0, type: "never" },
      { after: 4, type: "dies", message: "broken" }
    ])
    assert.isTrue(agents[0]?.restarts)
    assert.deepInclude(end, { type: "failed", isDefect: true, agent: "desk", tool: undefined })
  })

  it("have the text with which a row has answered [P1270]", () => {
    const failing: ReadonlyArray<Event> = [
      start,
      asked,
      [5, "model-failed", { error: { _tag: "NetworkError", message: "m" } }]
    ]
    const model = (verdict: string): Event => [
      5,
      "verdict",
      { layer: "model", tag: "NetworkError", verdict, gaveUp: false, rung: 0, attempt: 1, delay: 0, error }
    ]
    const rows = (verdict: string) => scriptOf(...failing, model(verdict), done).agents[0]?.rows
    assert.deepStrictEqual(rows("respondWith")?.[0]?.rungs, [{ kind: "respondWith", text: "Done." }])
    assert.deepStrictEqual(rows("escalate")?.[0]?.rungs, [{ kind: "escalate" }])
  })
})

describe("the limits of a script", () => {
  const limited = (reason: string, fields: object = {}): Event => [
    60,
    "run-failed",
    { error: { _tag: "BudgetExceededError", message: "m", reason, limit: 5, agent: "desk", ...fields } }
  ]
  const budget = (...events: ReadonlyArray<Event>) => agentOf(...events, done).budget

  it("are those of its warnings, and room enough for what it did [P1270]", () => {
    for (const type of ["budget-warning", "budget-exceeded"])
      assert.deepStrictEqual(budget([20, type, { reason: "maxTurns", limit: 9 }]), { maxTurns: 9 })
    assert.deepStrictEqual(budget([20, "budget-warning", { reason: "maxTokens", limit: 9 }]), {})
    assert.deepStrictEqual(budget([20, "budget-warning", { reason: "maxTurns" }]), {})
    assert.deepStrictEqual(budget([20, "other", { reason: "maxTurns", limit: 9 }]), {})
    const turns = (many: number) => Array.from({ length: many }, (): Event => [20, "turn-start"])
    assert.deepStrictEqual(budget(...turns(7)), {})
    assert.deepStrictEqual(budget(...turns(8)), { maxTurns: 16 })
    assert.deepStrictEqual(budget(...turns(8), [20, "budget-warning", { reason: "maxTurns", limit: 9 }]), {
      maxTurns: 9
    })
    const many = (count: number) =>
      Array.from({ length: count }, (_, at): Event => [20, "tool-start", { callId: `${at}`, tool: "pay" }])
    assert.deepStrictEqual(budget(...many(31)), {})
    assert.deepStrictEqual(budget(...many(32)), { maxToolCalls: 64 })
    assert.deepStrictEqual(agentOf([300_000, "run-completed", { output: "" }]).budget, { maxDuration: 600_000 })
    assert.deepStrictEqual(agentOf([299_999, "run-completed", { output: "" }]).budget, {})
  })

  it("have that which has ended the run, if it can be reached again [P1271]", () => {
    const script = scriptOf(...run(limited("maxTurns")))
    assert.deepStrictEqual(script.agents[0]?.budget, { maxTurns: 5 })
    assert.deepStrictEqual(script.end, {
      type: "failed",
      failure: {
        tag: "BudgetExceededError",
        message: "m",
        json: { _tag: "BudgetExceededError", message: "m", reason: "maxTurns", limit: 5, agent: "desk" }
      },
      isDefect: false,
      agent: "desk",
      tool: undefined,
      advised: undefined
    })
    assert.deepStrictEqual(scriptOf(...run(limited("repeatedFailure"))).agents[0]?.budget, { repeatedFailure: 5 })
    // a limit is of no tool, though a call has failed with it
    const met: Event = [60, "tool-failed", { ...call, attempt: 1, ...limited("maxTurns")[2] }]
    const through = scriptOf(...run(begun, met, limited("maxTurns")))
    assert.deepInclude(through.end, { type: "failed", agent: "desk", tool: undefined })
    // the last reply exceeds the limit of tokens
    assert.deepStrictEqual(scriptOf(...run(limited("maxTokens"))).agents[0]?.budget, { maxTokens: 6 })
    assert.include(refusalOf(...run(limited("maxCost"))), "the limit 'maxCost' is not played again")
    assert.include(refusalOf(...run(limited("maxTurns", { agent: "x" }))), "the limit 'maxTurns' is not played again")
    assert.include(refusalOf(...run(limited("maxCost", { agent: "x" }))), "the limit 'maxCost' is not played again")
    assert.include(refusalOf(...run(limited("maxTurns", { limit: "x" }))), "the limit 'maxTurns' is not played again")
    assert.include(refusalOf(...run(begun, limited("maxTurns"))), "other calls were at work")
    assert.isUndefined(refusalOf(...run(begun, limited("maxDuration"))))
    const child = { runId: "s", agent: "clerk", parent: { runId: "r", callId: "c" } }
    const stopped: ReadonlyArray<Event> = [
      begun,
      [12, "run-start", { ...child, input: "" }],
      [12, "model-start", child],
      [20, "run-interrupted", child],
      ended(20, "x")
    ]
    assert.include(
      refusalOf(...run(...stopped, limited("maxTurns"))),
      "was interrupted when another one had reached a limit"
    )
    assert.isUndefined(refusalOf(...run(...stopped, done)))
  })
})
