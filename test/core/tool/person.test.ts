/** A person as a rung, while the run waits for an `Approver`. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool, ToolError, ToolPolicy } from "@kintsugi/core"
import { ScriptedApprover, ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, done, eventLog, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { after } = ScriptedApprover
const { call, calls, make } = ScriptedModel

class Locked extends Data.TaggedError("Locked")<{ readonly message: string }> {}

type Row = Recovery.Verdict<Locked, never, never, never, "exhausted" | "told", "consults" | "repeats">

/** A tool that fails as often as this, with everything that it was run with. */
const opening = (failures: number, row: Row = Recovery.ask()) => {
  const runs: Array<number> = []
  const tool = Tool.make("open", {
    description: "Opens.",
    parameters: Schema.Struct({ code: Schema.Int }),
    success: Schema.Struct({ isFree: Schema.Boolean }),
    coercion: [],
    run: ({ code }) =>
      Effect.suspend(() =>
        runs.push(code) <= failures
          ? Effect.fail(new Locked({ message: `locked ${runs.length}` }))
          : Effect.succeed({ isFree: true })
      )
  }).pipe(
    Tool.onError({
      Locked: row,
      InvalidArgs: Recovery.ladder(
        Recovery.ask(),
        Recovery.tell(() => "bad")
      )
    })
  )
  return { runs, tool }
}

const unlock = (args: Schema.Json = { code: 1 }) => calls(call("open", args, "c1"))

const approved = Approval.approve

it.run(
  "a person reads what has failed and approves: the tool runs again, under the same key [P1365 P1510 P1511]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = opening(1)
      const model = yield* make(unlock(), done)
      const approver = yield* ScriptedApprover.make(approved)
      const log = eventLog()
      yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide([approver.layer, model.layer]))
      assert.deepStrictEqual(runs, [1, 1])
      assert.deepStrictEqual(read(model), ['result: {"isFree":true}'])
      const [request] = approver.requests
      assert.deepInclude(request, {
        tool: "open",
        callId: "c1",
        arguments: { code: 1 },
        reason: "The call of tool 'open' has failed"
      })
      assert.deepStrictEqual(request?.failed, {
        tag: "Locked",
        forModel: "permanent: locked 1; consider asking the user for clarification",
        full: "Locked: locked 1",
        attempts: 1,
        runs: 1,
        sideEffects: "undeclared",
        mayHaveTakenEffect: true
      })
      assert.deepStrictEqual(
        log.all.flatMap(({ type }) => (/^(tool|verdict|approval)/.test(type) ? [type] : [])),
        ["tool-start", "tool-failed", "verdict", "approval-requested", "approval-decided", "tool-end"]
      )
      assert.deepInclude(log.of("verdict")[0], { verdict: "ask", gaveUp: false, rung: 0, attempt: 1 })
      assert.deepInclude(log.of("tool-end")[0]?.use, { attempts: 2, recoveredBy: "ask" })
    })
)

it.run("other arguments of a person pass all gates again, but for the approval [P1511]", (run) =>
  Effect.gen(function* () {
    for (const code of [7, 13]) {
      const { runs, tool } = opening(1)
      const model = yield* make(unlock(), done)
      const approver = yield* ScriptedApprover.make(Approval.approveWith({ code }))
      const seen: Array<unknown> = []
      // the first arguments need no approval, and those of the person have it
      const guarded = agentWith(tool.pipe(Tool.requireApproval({ when: ({ code }) => code > 5 }))).pipe(
        Agent.toolPolicy(({ params }) => {
          seen.push(params)
          return (params as { readonly code: number }).code === 13 ? ToolPolicy.deny("unlucky") : ToolPolicy.allow
        })
      )
      yield* run(guarded, "go").pipe(Effect.provide([approver.layer, model.layer]))
      assert.deepStrictEqual(seen, [{ code: 1 }, { code }])
      assert.deepStrictEqual(runs, code === 7 ? [1, 7] : [1])
      assert.match(read(model)[0] ?? "", code === 7 ? /^result/ : /^denied: .*unlucky$/)
    }
  })
)

it.run("a person gives the result, in the words of the tool's schema [P1511]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = opening(9)
    const model = yield* make(unlock(), done)
    const approver = yield* ScriptedApprover.make(Approval.result({ isFree: false }))
    const log = eventLog()
    yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide([approver.layer, model.layer]))
    assert.deepStrictEqual(runs, [1])
    assert.deepStrictEqual(read(model), ['result: {"isFree":false}'])
    assert.deepInclude(log.of("tool-end")[0]?.use, { attempts: 1, recoveredBy: "ask" })
  })
)

it.run("a refusal of a call whose outcome is unknown says that, too [P1511]", (run) =>
  Effect.gen(function* () {
    const tool = Tool.make("open", {
      description: "Opens.",
      parameters: Schema.Struct({ code: Schema.Int }),
      success: Schema.String,
      sideEffects: "unsafe",
      timeout: "1 second",
      run: () => Effect.never
    }).pipe(Tool.onError({ orElse: Recovery.ask() }))
    const model = yield* make(unlock(), done)
    const approver = yield* ScriptedApprover.make(Approval.refuse("no"))
    const fiber = yield* Effect.forkChild(
      run(agentWith(tool), "go").pipe(Effect.provide([approver.layer, model.layer]))
    )
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(fiber)
    assert.match(
      read(model)[0] ?? "",
      /^unknown: .* has refused to run it once more: no\nAn earlier run of this call was cut off after its start/
    )
  })
)

it.run(
  "a result or arguments that do not fit are asked for again, with the reason; then the next rung decides [P1511 P1513]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = opening(
        9,
        Recovery.ladder(
          Recovery.ask({ times: 2 }),
          Recovery.tell(({ message }) => message)
        )
      )
      const model = yield* make(unlock(), done)
      const approver = yield* ScriptedApprover.make(Approval.result("open"), Approval.approveWith({ code: "x" }))
      yield* run(agentWith(tool), "go").pipe(Effect.provide([approver.layer, model.layer]))
      assert.deepStrictEqual(runs, [1])
      // the failure of the call stays what the next rung reads
      assert.deepStrictEqual(read(model), ["told: locked 1"])
      assert.match(approver.requests[1]?.failed?.unfit ?? "", /does not fit the result of tool 'open'/)
      assert.notStrictEqual(approver.requests[0]?.digest, approver.requests[1]?.digest)
    })
)

it.run("a refusal is told with its reason and with the failure; no further rung is asked [P1511]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = opening(
      9,
      Recovery.ladder(
        Recovery.ask(),
        Recovery.tell(() => "never")
      )
    )
    const model = yield* make(unlock(), unlock({ code: "x" }), done)
    const approver = yield* ScriptedApprover.make(Approval.refuse("it is night"), Approval.refuse("no"))
    yield* run(agentWith(tool), "go").pipe(Effect.provide([approver.layer, model.layer]))
    assert.deepStrictEqual(runs, [1])
    assert.deepStrictEqual(read(model), [
      "denied: The call of tool 'open' failed: permanent: locked 1; consider asking the user for clarification. A person has refused to run it once more: it is night",
      "denied: The call of tool 'open' was denied and not run: no"
    ])
  })
)

it.run("the rung is used as often as it says; a failure after it goes to the next rung [P1513]", (run) =>
  Effect.gen(function* () {
    for (const times of [1, 3]) {
      const { runs, tool } = opening(
        9,
        Recovery.ladder(
          Recovery.ask({ times }),
          Recovery.tell(({ message }) => message)
        )
      )
      const model = yield* make(unlock(), done)
      const approver = yield* ScriptedApprover.make(...Array.from({ length: times }, () => approved))
      yield* run(agentWith(tool), "go").pipe(Effect.provide([approver.layer, model.layer]))
      assert.strictEqual(runs.length, 1 + times)
      assert.deepStrictEqual(read(model), [`told: locked ${1 + times}`])
      const digests = new Set(approver.requests.map(({ digest }) => digest))
      assert.strictEqual(digests.size, times)
    }
  })
)

it.run("persons and fixers together repair a call 8 times at most [P1513]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = opening(
      99,
      Recovery.ladder(
        Recovery.ask({ times: 50 }),
        Recovery.tell(() => "given up")
      )
    )
    const model = yield* make(unlock(), done)
    const approver = yield* ScriptedApprover.make(...Array.from({ length: 8 }, () => approved))
    yield* run(agentWith(tool), "go").pipe(Effect.provide([approver.layer, model.layer]))
    assert.strictEqual(runs.length, 9)
    assert.deepStrictEqual(read(model), ["told: given up"])
  })
)

it.run("of arguments that do not fit, an approval without arguments does not count [P1513]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = opening(0)
    const model = yield* make(unlock({ code: "x" }), unlock("{"), done)
    const approver = yield* ScriptedApprover.make(approved, Approval.approveWith({ code: 4 }))
    const log = eventLog()
    yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide([approver.layer, model.layer]))
    assert.deepStrictEqual(runs, [4])
    assert.deepStrictEqual(read(model), ["told: bad", 'result: {"isFree":true}'])
    assert.deepStrictEqual(
      approver.requests.map(({ failed }) => [failed?.tag, failed?.needsArguments, failed?.runs, failed?.verified]),
      [
        ["DeserializationError", true, 0, undefined],
        ["InvalidArgs", true, 0, undefined]
      ]
    )
    assert.strictEqual(log.of("approval-decided").length, 1)
  })
)

it.run("where no person can be asked the rung gives up, and the next one decides [P1515]", (run) =>
  Effect.gen(function* () {
    const { tool } = opening(
      9,
      Recovery.ladder(
        Recovery.ask(),
        Recovery.tell(({ message }) => message)
      )
    )
    const inner = Agent.make("inner", { tools: [tool] })
    const approver = yield* ScriptedApprover.make()
    const log = eventLog()
    const within = Tool.make("within", {
      description: "Asks an agent.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.orDie(inner("go"))
    })
    const broken = Tool.make("broken", {
      description: "Breaks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.fail(new Locked({ message: "broken" }))
    }).pipe(Tool.onError({ Locked: Recovery.ladder(Recovery.fix(inner, { as: "result" }), Recovery.tell()) }))
    const model = yield* make(
      calls(call("within", {})),
      unlock(),
      ScriptedModel.text("closed"),
      calls(call("broken", {})),
      unlock(),
      ScriptedModel.text("repaired"),
      done
    )
    yield* run(agentWith(within, broken).pipe(log.listen), "go").pipe(Effect.provide([approver.layer, model.layer]))
    assert.deepStrictEqual(read(model).slice(-2), ["result: closed", "result: repaired"])
    assert.deepStrictEqual(
      log.of("verdict").flatMap(({ gaveUp, verdict, why }) => (verdict === "ask" ? [[gaveUp, why]] : [])),
      [
        [true, "no-approver"],
        [true, "no-approver"]
      ]
    )
  })
)

it.effect("a program that has cast its needs away has no approver: the rung gives up [P1515]", () =>
  Effect.gen(function* () {
    const { tool } = opening(
      9,
      Recovery.ladder(
        Recovery.ask(),
        Recovery.tell(({ message }) => message)
      )
    )
    const model = yield* make(unlock(), done)
    const running = agentWith(tool)("go").pipe(Effect.provide(model.layer))
    yield* running as Effect.Effect<string, Effect.Error<typeof running>>
    assert.deepStrictEqual(read(model), ["told: locked 1"])
  })
)

it.run("in an agent that is a tool the person is asked as in its parent [P1515]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = opening(1)
    const helper = Agent.asTool(Agent.make("helper", { tools: [tool] }), { description: "Helps." })
    const model = yield* make(calls(call("helper", { input: "go" })), unlock(), done, done)
    const approver = yield* ScriptedApprover.make(approved)
    yield* run(agentWith(helper), "go").pipe(Effect.provide([approver.layer, model.layer]))
    assert.deepStrictEqual(runs, [1, 1])
  })
)

it.run("waiting for a person spends no attempt, and the time of the call goes on [P1516]", (run) =>
  Effect.gen(function* () {
    const runs: Array<number> = []
    const tool = Tool.make("open", {
      description: "Opens.",
      parameters: Schema.Struct({ code: Schema.Int }),
      success: Schema.String,
      callTimeout: "10 minutes",
      run: ({ code }) =>
        runs.push(code) < 3 ? Effect.fail(new Locked({ message: `locked ${runs.length}` })) : Effect.succeed("open")
    }).pipe(Tool.onError({ Locked: Recovery.ladder(Recovery.ask(), Recovery.retry({ retries: 1 })) }))
    for (const [minutes, isLate] of [
      [9, false],
      [11, true]
    ] as const) {
      runs.length = 0
      const model = yield* make(unlock(), ...(isLate ? [] : [done]))
      const approver = yield* ScriptedApprover.make(after(`${minutes} minutes`, approved))
      const agent = Agent.make("worker", { tools: [tool], budget: { maxDuration: "1 day" } })
      const fiber = yield* run(agent, "go").pipe(
        Effect.provide([approver.layer, model.layer]),
        Effect.exit,
        Effect.forkChild
      )
      yield* TestClock.adjust("11 minutes")
      const exit = yield* Fiber.join(fiber)
      if (isLate) assert.instanceOf(yield* Effect.flip(exit), ToolError.ToolExecutionError)
      else assert.deepStrictEqual(exit, Exit.succeed("done"))
      assert.strictEqual(runs.length, isLate ? 1 : 3)
    }
  })
)

it.run("without a decision in time the call is denied, with a text that says so, or fails [P1530]", (run) =>
  Effect.gen(function* () {
    for (const onExpiry of ["refuse", "fail"] as const) {
      const { runs, tool } = opening(9)
      const row = Recovery.ladder(
        Recovery.ask({ onExpiry, validFor: "1 minute" }),
        Recovery.tell(() => "next")
      )
      const model = yield* make(unlock(), ...(onExpiry === "fail" ? [] : [done]))
      const approver = yield* ScriptedApprover.make(after("never", approved))
      const fiber = yield* run(agentWith(tool.pipe(Tool.onError({ Locked: row }))), "go").pipe(
        Effect.provide([approver.layer, model.layer]),
        Effect.exit,
        Effect.forkChild
      )
      yield* TestClock.adjust(60_001)
      const exit = yield* Fiber.join(fiber)
      assert.deepStrictEqual(runs, [1])
      if (onExpiry === "fail") assert.instanceOf(yield* Effect.flip(exit), ToolError.ApprovalExpiredError)
      else assert.match(read(model)[0] ?? "", /^denied: .*No decision about running it once more came in time$/)
    }
  })
)
