/** The attempts of tool calls in a script: their times, their ends, the runs and the fixers that are in them. */
import { assert, describe, it } from "@effect/vitest"
import type { Failure, Rung, Script } from "../../../packages/view/src/replay/parts.ts"
import {
  type Event,
  scriptOf,
  refusalOf,
  start,
  reply,
  done,
  error,
  agentOf,
  call,
  begun,
  ended,
  failed,
  verdict,
  attemptsOf,
  attempt,
  gives,
  fails,
  run
} from "./_support/scripts.ts"

describe("the attempts of a tool", () => {
  it("have their times and their ends [P1270]", () => {
    assert.deepStrictEqual(attemptsOf(begun, ended(17, "paid")), [gives(7, "paid")])
    assert.deepStrictEqual(attemptsOf(begun, failed(17), ended(17, "no", 1, "told")), [fails(7)])
    assert.deepStrictEqual(
      attemptsOf(begun, failed(17), verdict(17, { verdict: "retry", delay: 4 }), ended(30, "paid", 2)),
      [fails(7), gives(9, "paid")]
    )
    assert.deepStrictEqual(attemptsOf(begun, ended(17, "no", 1, "told")), [])
    // arguments that do not fit are no attempt
    const invalid = { _tag: "InvalidArgs", message: "no" }
    assert.deepStrictEqual(attemptsOf(begun, failed(17, invalid), ended(20, "paid", 2)), [gives(10, "paid")])
  })

  it("are none of a call that has not begun, and its rows are those of its tool [P1270]", () => {
    const none = agentOf(
      [20, "fix-start", call],
      [21, "fix-end", call],
      [22, "tool-skipped", call],
      ended(25, "x"),
      done
    )
    assert.deepStrictEqual([none.tools, none.unknown], [[], []])
    const withCall = agentOf(begun, failed(17), verdict(17), ended(17, "no", 1, "told"), done)
    assert.deepStrictEqual(withCall.unknown, [])
    assert.deepStrictEqual(
      withCall.tools[0]?.rows.map(({ tag }) => tag),
      ["Busy"]
    )
  })

  it("have the name of a failure from its verdict [P1270]", () => {
    assert.deepStrictEqual(
      attemptsOf(begun, failed(17, { message: "later" }), verdict(17, { tag: "Busy" }), ended(17, "no", 1, "told")),
      [fails(7)]
    )
    const ours = { _tag: "NetworkError", message: "lost" }
    assert.deepStrictEqual(
      attemptsOf(begun, failed(17, ours), verdict(17, { tag: "Other" }), ended(17, "no", 1, "told")),
      [attempt(7, { type: "fails", failure: { tag: "NetworkError", message: "lost", json: ours } })]
    )
    assert.deepStrictEqual(attemptsOf(begun, failed(17, "NetworkError"), ended(17, "no", 1, "told")), [
      attempt(7, { type: "fails", failure: { tag: "Error", message: "NetworkError" } })
    ])
  })

  it("that the end of the run cuts off never end, or die with it [P1270]", () => {
    const cut = (...events: ReadonlyArray<Event>) => {
      const script = agentOf(...events)
      return [script.tools[0]?.calls.get("c"), script.interruptsSiblings]
    }
    assert.deepStrictEqual(cut(begun, [30, "run-interrupted"]), [[attempt(20, { type: "never" })], false])
    assert.deepStrictEqual(cut(begun, [30, "run-failed", { error }]), [[attempt(20, { type: "never" })], true])
    assert.deepStrictEqual(cut(begun, [30, "run-failed", { error: { message: "bug" }, isDefect: true }]), [
      [attempt(20, { type: "dies", message: "bug" })],
      false
    ])
    assert.deepStrictEqual(cut(begun, failed(30), [30, "run-failed", { error }]), [[fails(20)], false])
    assert.deepStrictEqual(cut(begun, ended(20, "paid"), [30, "run-failed", { error }]), [[gives(10, "paid")], false])
    const retried = verdict(20, { verdict: "retry", delay: 50 })
    assert.deepStrictEqual(cut(begun, failed(20), retried, [30, "run-failed", { error }])[1], true)
    const gaveUp = verdict(20, { verdict: "retry", gaveUp: true })
    assert.deepStrictEqual(cut(begun, failed(20), gaveUp, [30, "run-failed", { error }])[1], false)
    assert.deepStrictEqual(cut(begun, failed(20), verdict(20), [30, "run-failed", { error }])[1], false)
    const other: Event = [12, "tool-start", { callId: "d", tool: "pay", arguments: {} }]
    assert.include(
      refusalOf(...run(begun, other, [30, "run-failed", { error, isDefect: true }])),
      "it is not known which call has died"
    )
  })

  it("that need a person have the arguments about which it was asked, and begin with the decision [P1270]", () => {
    const request: Event = [12, "approval-requested", { ...call, request: {} }]
    const decision = { type: "approve" }
    const decided: Event = [40, "approval-decided", { ...call, decision }]
    const script = scriptOf(
      ...run([10, "tool-start", { ...call, arguments: '{"a": 1}' }], request, decided, ended(45, "paid"), done)
    )
    assert.deepStrictEqual(script.decisions, [{ after: 28, decision }])
    assert.deepStrictEqual(script.agents[0]?.tools, [
      { name: "pay", approval: [], calls: new Map([["c", [gives(5, "paid")]]]), rows: [] }
    ])
    const other = { callId: "d", tool: "pay" }
    const some = scriptOf(
      ...run(
        [10, "tool-start", { ...other, arguments: {} }],
        [11, "tool-end", { ...other, use: { settlement: { kind: "result", text: "x" }, attempts: 1 } }],
        [12, "tool-start", { ...call, arguments: { a: 1 } }],
        [12, "approval-requested", { ...call, request: {} }],
        decided,
        ended(45, "paid"),
        done
      )
    )
    assert.deepStrictEqual(some.agents[0]?.tools[0]?.approval, ['{"a":1}'])
    assert.deepStrictEqual(scriptOf(...run([10, "tool-start", call], request, [50, "run-interrupted"])).decisions, [
      { after: Infinity, decision: undefined }
    ])
  })

  it("that are denied have the reason of the policy, and unknown tools have no script [P1270]", () => {
    const denied = (tool: string, text: string): Event => [
      20,
      "tool-denied",
      { ...call, tool, settlement: { kind: "told", text } }
    ]
    const policy = agentOf(begun, denied("pay", "The call of tool 'pay' was denied and not run: too\nmuch"), done)
    assert.deepStrictEqual([...policy.denied], [["c", "too\nmuch"]])
    assert.deepStrictEqual(policy.tools, [{ name: "pay", calls: new Map([["c", []]]), rows: [] }])
    const person = agentOf(
      begun,
      [12, "approval-requested", { ...call, request: {} }],
      [15, "approval-decided", { ...call, decision: { type: "refuse" } }],
      denied("pay", "The call of tool 'pay' was denied and not run: no"),
      done
    )
    assert.deepStrictEqual([...person.denied], [])
    const early = agentOf(denied("none", "The call of tool 'none' was denied and not run: no"), done)
    assert.deepStrictEqual([...early.denied], [["c", "no"]])
    const unknown = agentOf(begun, denied("pay", "unknown tool: pay. There are none."), done)
    assert.deepStrictEqual([unknown.tools, [...unknown.denied]], [[], []])
    const rows = agentOf(verdict(20, { tag: "UnknownToolError" }), done).unknown
    assert.deepStrictEqual(
      rows.map(({ tag, rungs }) => [tag, rungs]),
      [["UnknownToolError", [{ kind: "tell" }]]]
    )
    const builtIn = ["escalate", "throwException", "escalate"].map((tool, at): Event => [
      20,
      "tool-start",
      { callId: `${at}`, tool }
    ])
    assert.deepStrictEqual(agentOf(...builtIn, done).builtIn, ["escalate", "throwException"])
  })
})

describe("the runs that a tool starts", () => {
  const parent = { runId: "r", callId: "c" }
  const child = (runId: string) => ({ runId, agent: "clerk", parent })
  const childRun = (from: number, to: number, runId = "s", end: object = { output: "paid" }): ReadonlyArray<Event> => [
    [from, "run-start", { ...child(runId), input: runId }],
    [from, "model-start", { ...child(runId), attempt: 1 }],
    [to, "model-end", { ...child(runId), reply }],
    [to, "error" in end ? "run-failed" : "run-completed", { ...child(runId), ...end }]
  ]
  const calls = (script: Script) => script.agents.at(-1)?.tools[0]?.calls.get("c")

  it("come one after the other, or at once, and may be its end [P1270]", () => {
    const one = scriptOf(...run(begun, ...childRun(12, 20), ended(20, "paid"), done))
    assert.deepStrictEqual(
      one.agents.map(({ name }) => name),
      ["clerk", "desk"]
    )
    assert.deepStrictEqual(calls(one), [
      { after: 0, runs: [{ agent: "clerk", input: "s", after: 2 }], isInTurn: true, type: "run" }
    ])
    const two = scriptOf(...run(begun, ...childRun(12, 20), ...childRun(25, 30, "t"), ended(33, "both"), done))
    assert.deepStrictEqual(calls(two), [
      {
        after: 3,
        runs: [
          { agent: "clerk", input: "s", after: 2 },
          { agent: "clerk", input: "t", after: 5 }
        ],
        isInTurn: true,
        type: "gives",
        text: "both"
      }
    ])
    const [first = start, ...rest] = childRun(12, 20)
    const [second = start, ...others] = childRun(15, 30, "t")
    const atOnce = scriptOf(...run(begun, first, second, ...rest, ...others, ended(33, "both"), done))
    assert.deepStrictEqual(calls(atOnce), [
      {
        after: 23,
        runs: [
          { agent: "clerk", input: "s", after: 2 },
          { agent: "clerk", input: "t", after: 5 }
        ],
        isInTurn: false,
        type: "gives",
        text: "both"
      }
    ])
    const late = scriptOf(...run(begun, first, ended(33, "early"), ...rest, done))
    assert.deepStrictEqual(calls(late), [
      { after: 23, runs: [{ agent: "clerk", input: "s", after: 2 }], isInTurn: true, type: "gives", text: "early" }
    ])
  })

  it("fail a call with their failure, if it is the same [P1270]", () => {
    const other = { _tag: "Busy", message: "other" }
    const [same, different] = [error, other].map((one) =>
      calls(
        scriptOf(...run(begun, ...childRun(12, 20, "s", { error }), failed(20, one), ended(20, "no", 1, "told"), done))
      )
    )
    const runs = [{ agent: "clerk", input: "s", after: 2 }]
    assert.deepStrictEqual(same, [{ after: 0, runs, isInTurn: true, type: "run" }])
    assert.deepStrictEqual(different, [
      { after: 0, runs, isInTurn: true, type: "fails", failure: { tag: "Busy", message: "other" } }
    ])
    const tagged = calls(
      scriptOf(
        ...run(
          begun,
          ...childRun(12, 20, "s", { error: { _tag: "Other", message: "later" } }),
          failed(20),
          ended(20, "no", 1, "told"),
          done
        )
      )
    )
    assert.strictEqual(tagged?.[0]?.type, "fails")
    const whole = scriptOf(...run(begun, ...childRun(12, 20, "s", { error }), [20, "run-failed", { error }]))
    assert.deepStrictEqual(calls(whole), [{ after: 0, runs, isInTurn: true, type: "run" }])
    assert.deepInclude(whole.end, { type: "failed", agent: "clerk", failure: { tag: "Busy", message: "later" } })
    const later = scriptOf(...run(begun, ...childRun(12, 20, "s", { error }), [30, "run-failed", { error }]))
    assert.deepStrictEqual(calls(later), [{ after: 10, runs, isInTurn: true, type: "never" }])
    const stopped = scriptOf(
      ...run(
        begun,
        [12, "run-start", { ...child("s"), input: "s" }],
        [12, "model-start", child("s")],
        [20, "run-interrupted", child("s")],
        ended(25, "late"),
        done
      )
    )
    assert.deepStrictEqual(calls(stopped), [{ after: 5, runs, isInTurn: true, type: "gives", text: "late" }])
  })

  it("without a model have their answers [P1270]", () => {
    const sub = (end: Event) =>
      scriptOf(...run(begun, [12, "run-start", { ...child("s"), input: "s" }], end, ended(20, "paid"), done)).agents[0]
        ?.answers
    assert.deepStrictEqual(sub([20, "run-completed", { ...child("s"), output: { a: 1 } }]), [
      { after: 8, text: '{"a":1}' }
    ])
    assert.deepStrictEqual(sub([20, "run-failed", { ...child("s"), error }]), [
      { after: 8, failure: { tag: "Busy", message: "later" } }
    ])
    assert.deepStrictEqual(sub([20, "run-interrupted", child("s")]), [])
    const limit = { _tag: "BudgetExceededError", message: "m", reason: "maxDuration", limit: 5, agent: "clerk" }
    assert.deepStrictEqual(sub([20, "run-failed", { ...child("s"), error: limit }]), [])
  })

  it("of fixers, and those below them, are no part of the script [P1270]", () => {
    const fixer = { runId: "f", agent: "mender", parent }
    const helper = { runId: "g", agent: "helper", parent: { runId: "f", callId: "x" } }
    const mended = run(
      begun,
      failed(15),
      verdict(15, { verdict: "fix" }),
      [15, "fix-start", { ...call, repair: 1 }],
      [16, "run-start", { ...fixer, input: "mend" }],
      [16, "model-start", fixer],
      [17, "run-start", { ...helper, input: "help" }],
      [18, "run-completed", { ...helper, output: "" }],
      [19, "run-completed", { ...fixer, output: "" }],
      [20, "fix-end", { ...call, repair: 1, answer: "{}" }],
      ended(25, "paid", 2)
    )
    const script = scriptOf(...mended, done)
    // what fixers have spent counts for some limits
    const limited = (reason: string): Event => [
      60,
      "run-failed",
      { error: { _tag: "BudgetExceededError", message: "m", reason, limit: 5, agent: "desk" } }
    ]
    for (const reason of ["maxTurns", "maxToolCalls", "maxTokens"])
      assert.include(
        refusalOf(...mended, limited(reason)),
        "fixers count for the limit, and their runs are not played again"
      )
    assert.isUndefined(refusalOf(...mended, limited("maxDuration")))
    assert.deepStrictEqual(
      script.agents.map(({ name }) => name),
      ["desk"]
    )
    assert.deepStrictEqual(calls(script), [fails(5), gives(5, "paid")])
    assert.deepStrictEqual(script.agents[0]?.tools[0]?.rows[0]?.rungs, [
      { kind: "fix", answers: [{ after: 5, answer: "{}" }], isResult: false }
    ])
  })
})

describe("a fixer that the end of the run cuts off", () => {
  const fixing: ReadonlyArray<Event> = [
    begun,
    failed(15),
    verdict(15, { verdict: "fix" }),
    [16, "fix-start", { ...call, repair: 1 }]
  ]
  const rungs = (...events: ReadonlyArray<Event>) => agentOf(...fixing, ...events).tools[0]?.rows[0]?.rungs
  const cut = (end: { readonly cut: "dies" | "never" } | { readonly failure: Failure }): ReadonlyArray<Rung> => [
    { kind: "fix", answers: [{ after: 14, ...end }], isResult: false }
  ]

  it("never ends, dies or fails with the run [P1270]", () => {
    assert.deepStrictEqual(rungs([30, "run-interrupted"]), cut({ cut: "never" }))
    assert.deepStrictEqual(rungs([30, "run-failed", { error, isDefect: true }]), cut({ cut: "dies" }))
    assert.deepStrictEqual(rungs([30, "run-failed", { error }]), cut({ failure: { tag: "Busy", message: "later" } }))
    const limit = { _tag: "BudgetExceededError", message: "m", reason: "maxTurns", limit: 5, agent: "desk" }
    assert.include(refusalOf(...run(...fixing, [30, "run-failed", { error: limit }])), "a fixer has reached the limit")
    assert.deepStrictEqual(rungs([20, "fix-failed", { ...call, error }], [30, "run-failed", { error }]), [
      { kind: "fix", answers: [{ after: 4, failure: { tag: "Busy", message: "later" } }], isResult: false }
    ])
  })

  it("gives a result of its own, which is the answer of its row [P1270]", () => {
    const made = agentOf(...fixing, [20, "fix-end", { ...call, answer: "fixed" }], ended(20, "fixed", 1), done).tools[0]
    assert.deepStrictEqual(made?.calls.get("c"), [fails(5)])
    assert.deepStrictEqual(made?.rows[0]?.rungs, [
      { kind: "fix", answers: [{ after: 4, answer: "fixed" }], isResult: true }
    ])
  })
})
