/** A run that waits for a person in a rung: suspended, as JSON, and gone on with at the same rung. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Snapshot, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, done, eventLog, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, snapshotOf, waitingCalls } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

class Locked extends Schema.TaggedError<Locked>()("Locked", { door: Schema.String, message: Schema.String }) {}

interface Given {
  readonly failures?: number
  readonly isStored?: boolean
  readonly onExpiry?: "ask-again" | "refuse"
}

/** A tool with a ladder around `ask`, and what it was run with; `isStored` says that its failures have a schema. */
const opening = ({ failures = 99, isStored = true, onExpiry = "ask-again" }: Given = {}) => {
  const runs: Array<number> = []
  const run = ({ code }: { readonly code: number }) =>
    Effect.suspend(() =>
      runs.push(code) <= failures
        ? Effect.fail(new Locked({ door: "north", message: `locked ${runs.length}` }))
        : Effect.succeed("open")
    )
  const options = {
    description: "Opens.",
    parameters: Schema.Struct({ code: Schema.Int }),
    success: Schema.String,
    coercion: [],
    run
  }
  // the types of both are those of the one with a schema
  const made = Tool.make("open", { ...options, failure: Locked })
  const stored = isStored ? made : (Tool.make("open", options) as unknown as typeof made)
  const tool = stored.pipe(
    Tool.onError({
      Locked: Recovery.ladder(
        Recovery.retry({ retries: 1 }),
        Recovery.ask({ times: 2, validFor: "1 hour", onExpiry }),
        Recovery.retry({ retries: 1 }),
        Recovery.tell((error) => `${error instanceof Locked} ${error.door} ${error.message}`)
      ),
      InvalidArgs: Recovery.ladder(
        Recovery.ask(),
        Recovery.tell(() => "bad")
      )
    })
  )
  return { runs, tool }
}

const unlock = (args: Schema.Json = { code: 1 }, id = "c1") => calls(call("open", args, id))

const fatesOf = (outcome: Agent.Outcome<unknown>) =>
  outcome.decisions?.map((answer) => (answer._tag === "Counted" ? answer._tag : answer.reason))

it.effect("it is suspended at its rung, and goes on there in another process with the same counts [P1510 P1513]", () =>
  Effect.gen(function* () {
    const { runs, tool } = opening()
    const log = eventLog()
    const model = yield* make(unlock(), done)
    let from = yield* snapshotOf(yield* outcomeOf(agentWith(tool).pipe(log.listen), "go", model))
    assert.strictEqual(runs.length, 2)
    assert.deepInclude(Snapshot.requestsOf(from)[0]?.failed, { tag: "Locked", attempts: 2, runs: 2 })
    for (const expected of [3, 5]) {
      // another process: nothing is left but the document
      const next = agentWith(tool).pipe(log.listen)
      const outcome = yield* outcomeOf(Agent.resume(next), deciding(from), model)
      assert.deepStrictEqual(fatesOf(outcome), ["Counted"])
      if (expected === 3) from = yield* snapshotOf(outcome)
      else assert.strictEqual(outcome._tag, "Completed")
      assert.strictEqual(runs.length, expected)
    }
    assert.deepStrictEqual(read(model), ["told: true north locked 5"])
    const verdicts = log.of("verdict").map(({ gaveUp, verdict }) => (gaveUp ? `${verdict} gave up` : verdict))
    assert.deepStrictEqual(verdicts, [
      "retry",
      "retry gave up",
      "ask",
      "ask",
      "ask gave up",
      "retry",
      "retry gave up",
      "tell"
    ])
  })
)

it.effect("a suspension that is left without a decision, again and again, changes no count [P1513 P1516]", () =>
  Effect.gen(function* () {
    const { runs, tool } = opening({ failures: 2 })
    const agent = agentWith(tool)
    const model = yield* make(unlock(), done)
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    let from = first
    for (let i = 0; i < 3; i++) from = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), { from }, model))
    assert.deepStrictEqual(Snapshot.requestsOf(from), Snapshot.requestsOf(first))
    const progressOf = (snapshot: Snapshot.Snapshot) => {
      const { progress } = waitingCalls(snapshot)[0] ?? {}
      return [progress?.executions, progress?.position.attempts, progress?.position.repairs, progress?.trail.length]
    }
    assert.deepStrictEqual(progressOf(from), progressOf(first))
    assert.deepStrictEqual(progressOf(from), [2, 2, 1, 3])
    yield* TestClock.adjust("30 minutes")
    const outcome = yield* outcomeOf(Agent.resume(agent), deciding(from), model)
    assert.strictEqual(outcome._tag, "Completed")
    assert.strictEqual(runs.length, 3)
  })
)

it.effect("each decision does what it does during a run [P1511]", () =>
  Effect.gen(function* () {
    for (const [decision, reads, ran] of [
      [Approval.approveWith({ code: 8 }), "result: open", [1, 1, 8]],
      [Approval.result("by hand"), "result: by hand", [1, 1]],
      [Approval.refuse("no"), /^denied: .*failed.*A person has refused to run it once more: no$/, [1, 1]]
    ] as const) {
      const { runs, tool } = opening({ failures: 2 })
      const agent = agentWith(tool)
      const model = yield* make(unlock(), done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      yield* outcomeOf(Agent.resume(agent), deciding(from, decision), model)
      assert.deepStrictEqual<ReadonlyArray<number>>(runs, ran)
      const [said = ""] = read(model)
      if (typeof reads === "string") assert.strictEqual(said, reads)
      else assert.match(said, reads)
    }
  })
)

it.effect("without a schema the next rung reads the tag and the message of the failure [P1513]", () =>
  Effect.gen(function* () {
    const { tool } = opening({ isStored: false })
    const agent = agentWith(tool)
    const model = yield* make(unlock(), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const bad = deciding(from, Approval.result(7))
    const second = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), bad, model))
    assert.isString(Snapshot.requestsOf(second)[0]?.failed?.unfit)
    yield* outcomeOf(Agent.resume(agent), deciding(second, Approval.result(8)), model)
    assert.match(read(model)[0] ?? "", /^told: (false undefined|true north) locked/)
  })
)

it.effect("an approval of arguments that do not fit does not count, and the request stays open [P1513 P1533]", () =>
  Effect.gen(function* () {
    for (const args of [{ code: "x" }, "{"]) {
      const { runs, tool } = opening({ failures: 0 })
      const agent = agentWith(tool)
      const model = yield* make(unlock(args), done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const outcome = yield* outcomeOf(Agent.resume(agent), deciding(from), model)
      assert.deepStrictEqual(fatesOf(outcome), ["nothing-to-run"])
      const second = yield* snapshotOf(outcome)
      assert.deepStrictEqual(Snapshot.requestsOf(second), Snapshot.requestsOf(from))
      const repaired = deciding(second, Approval.approveWith({ code: 5 }))
      assert.strictEqual((yield* outcomeOf(Agent.resume(agent), repaired, model))._tag, "Completed")
      assert.deepStrictEqual(runs, [5])
    }
  })
)

it.effect("approvals and asks of a reply form one suspension, and each is decided alone [P1514]", () =>
  Effect.gen(function* () {
    const { runs, tool } = opening({ failures: 2 })
    const paid: Array<string> = []
    const plain = (name: string) =>
      Tool.make(name, {
        description: name,
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.sync(() => `${name} ${paid.push(name)}`)
      })
    const agent = agentWith(tool, plain("pay").pipe(Tool.requireApproval()), plain("look"))
    const model = yield* make(
      calls(call("pay", {}, "c1"), call("open", { code: 1 }, "c2"), call("look", {}, "c3")),
      done
    )
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    // the sibling that needs no person is settled
    assert.deepStrictEqual(paid, ["look"])
    const requests = Snapshot.requestsOf(from)
    assert.deepStrictEqual(
      requests.map(({ failed, tool }) => [tool, failed?.tag]),
      [
        ["pay", undefined],
        ["open", "Locked"]
      ]
    )
    const decisions = [{ digest: requests[1]?.digest ?? "", decision: Approval.approve }]
    const second = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), { from, decisions }, model))
    assert.strictEqual(runs.length, 3)
    assert.deepStrictEqual(Snapshot.requestsOf(second), requests.slice(0, 1))
    const outcome = yield* outcomeOf(Agent.resume(agent), deciding(second), model)
    assert.strictEqual(outcome._tag, "Completed")
    assert.deepStrictEqual(paid, ["look", "pay"])
    assert.strictEqual(runs.length, 3)
    assert.deepStrictEqual(read(model), ["result: pay 2", "result: open", "result: look 1"])
  })
)

it.effect("after a hard failure the open requests are withdrawn [P1514]", () =>
  Effect.gen(function* () {
    const { runs, tool } = opening()
    const fatal = Tool.make("fatal", {
      description: "Ends.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.fail(new Locked({ door: "south", message: "for good" }))
    })
    const agent = agentWith(tool, fatal)
    const model = yield* make(calls(call("open", { code: 1 }, "c1"), call("fatal", {}, "c2")))
    const exit = yield* Effect.exit(outcomeOf(agent, "go", model))
    assert.strictEqual((yield* Effect.flip(exit))._tag, "Locked")
    assert.isAtMost(runs.length, 2)
  })
)

it.effect("a sub-agent that asks is suspended with its parent [P1515]", () =>
  Effect.gen(function* () {
    const { runs, tool } = opening({ failures: 2 })
    const boss = agentWith(Agent.asTool(Agent.make("helper", { tools: [tool] }), { description: "Helps." }))
    const model = yield* make(calls(call("helper", { input: "go" }, "c0")), unlock(), done, done)
    const from = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
    const outcome = yield* outcomeOf(Agent.resume(boss), deciding(from), model)
    assert.strictEqual(outcome._tag, "Completed")
    assert.deepStrictEqual(fatesOf(outcome), ["Counted"])
    assert.strictEqual(runs.length, 3)
  })
)

it.effect("a run that is resumed after the expiry asks again, or refuses the call [P1530]", () =>
  Effect.gen(function* () {
    for (const onExpiry of ["ask-again", "refuse"] as const) {
      const { runs, tool } = opening({ failures: 2, onExpiry })
      const agent = agentWith(tool)
      const model = yield* make(unlock(), done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      yield* TestClock.adjust("2 hours")
      const outcome = yield* outcomeOf(Agent.resume(agent), deciding(from), model)
      assert.deepStrictEqual(fatesOf(outcome), ["late"])
      assert.strictEqual(runs.length, 2)
      if (onExpiry === "refuse") {
        assert.strictEqual(outcome._tag, "Completed")
        assert.match(read(model)[0] ?? "", /^denied: .*No decision about running it once more came in time$/)
        continue
      }
      const second = yield* snapshotOf(outcome)
      assert.notStrictEqual(Snapshot.requestsOf(second)[0]?.digest, Snapshot.requestsOf(from)[0]?.digest)
      assert.strictEqual((yield* outcomeOf(Agent.resume(agent), deciding(second), model))._tag, "Completed")
    }
  })
)

it.effect("a document in which a request says something else of the failure is refused [P1511]", () =>
  Effect.gen(function* () {
    const { tool } = opening()
    const model = yield* make(unlock())
    const from = yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model))
    const text = JSON.stringify(Snapshot.toJson(from)).replace(
      '"mayHaveTakenEffect":true',
      '"mayHaveTakenEffect":false'
    )
    const error = yield* Effect.flip(Snapshot.fromJson(JSON.parse(text)))
    assert.include(String(error), "Expected a request as it was shown")
  })
)

it.effect("an agent whose tool is another by now asks again, or leaves the failure to its present table [P1510]", () =>
  Effect.gen(function* () {
    const { tool } = opening()
    const model = yield* make(unlock())
    const from = yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model))
    const { tool: other } = opening()
    const raising = agentWith(other.pipe(Tool.onError({ Locked: Recovery.raise })))
    const exit = yield* Effect.exit(outcomeOf(Agent.resume(raising), deciding(from), model))
    assert.instanceOf(yield* Effect.flip(exit), ToolError.ToolExecutionError)
  })
)

it.effect(
  "a decision about a tool with other parameters by now does not count, and is not called late [P1510 P1533]",
  () =>
    Effect.gen(function* () {
      const { tool } = opening()
      const model = yield* make(unlock())
      const from = yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model))
      const other = Tool.make("open", {
        description: "Opens.",
        parameters: Schema.Struct({ code: Schema.Int, door: Schema.optionalKey(Schema.String) }),
        success: Schema.String,
        failure: Locked,
        run: (): Effect.Effect<string, Locked> => Effect.succeed("open")
      }).pipe(Tool.onError({ Locked: Recovery.ask({ validFor: "1 hour" }) }))
      const log = eventLog()
      const outcome = yield* outcomeOf(Agent.resume(agentWith(other).pipe(log.listen)), deciding(from), model)
      assert.deepStrictEqual(fatesOf(outcome), ["other-digest"])
      assert.deepStrictEqual(
        log.all.map(({ type }) => type),
        ["run-start", "tool-start", "approval-requested", "run-suspended"]
      )
    })
)

it.effect("a handler that chose the person is not asked twice about one failure [P1513 P1516]", () =>
  Effect.gen(function* () {
    const { runs, tool } = opening({ failures: 2 })
    const ask = Recovery.ask({ times: 2 })
    const chosen = Recovery.when((_error: Locked) => ask, { among: [ask] })
    const agent = agentWith(tool.pipe(Tool.onError({ Locked: chosen })))
    const model = yield* make(unlock(), done)
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const second = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), { from: first }, model))
    const positionOf = (from: Snapshot.Snapshot) => waitingCalls(from)[0]?.progress?.position
    assert.deepStrictEqual(positionOf(second), positionOf(first))
    const third = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), deciding(second), model))
    const outcome = yield* outcomeOf(Agent.resume(agent), deciding(third), model)
    assert.strictEqual(outcome._tag, "Completed")
    assert.deepStrictEqual(runs, [1, 1, 1])
  })
)
