/** Deferred calls of suspended runs: the snapshot has their handles, and `resume` takes their settlements. */
import { assert, it } from "@effect/vitest"
import { Agent, Recovery, Skill, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, Declined, deferring } from "../tool/_support/deferring.ts"
import { batch, busy, calm, callingOnce, done, eventLog, read, scripted } from "../../_support/dialogue.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { make } = ScriptedModel

/** A settlement for each of these tokens. */
const resultsFor = (...tokens: ReadonlyArray<string>) =>
  tokens.map((token, index) => ({ token, exit: Exit.succeed({ at: index + 1 }) }))

const tokensOf = (from: Snapshot.Snapshot): ReadonlyArray<string> =>
  Snapshot.waitingOf(from).flatMap((one) => (one.type === "deferred" ? one.token : []))

it.effect("when all other calls are settled, start gives Suspended with the waiting handles [P1523 P1521]", () =>
  Effect.gen(function* () {
    const { begun, cancelled, tokenOf, tool } = deferring()
    const other = scripted("other", Effect.as(Effect.sleep("1 minute"), "fine"))
    const agent = agentWith(tool, other.tool)
    const model = yield* callingOnce("order", "other")
    const waiting = yield* Effect.forkChild(outcomeOf(agent, "go", model))
    yield* calm
    yield* TestClock.adjust("1 minute")
    const from = yield* snapshotOf(yield* Fiber.join(waiting))
    const { runId } = from
    const order = { type: "deferred", runId, agent: "worker", callId: "c1", tool: "order" } as const
    assert.deepStrictEqual(Snapshot.waitingOf(from), [
      { ...order, handle: { job: 1 }, expiresAt: 3_600_000, token: tokenOf() }
    ])
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })), {
      _tag: "NotCounted",
      reason: "suspended"
    })
    assert.deepStrictEqual(cancelled, [])
    const output = yield* Agent.resume(agent)({ from, settlements: resultsFor(tokenOf()) }).pipe(
      Effect.provide(model.layer)
    )
    assert.strictEqual(output, "done")
    assert.deepStrictEqual(read(model), ['result: {"at":1}', "result: fine"])
    assert.strictEqual(begun.length, 1)
    assert.strictEqual(other.runs.length, 1)
  })
)

it.effect("resumed without the settlement it is suspended again, and start is not called twice [P1528]", () =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring()
    const agent = agentWith(tool)
    const model = yield* callingOnce("order", "order")
    let from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    for (const settlements of [[], resultsFor("another"), resultsFor(tokenOf(1))]) {
      from = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), { from, settlements }, model))
    }
    assert.deepStrictEqual(tokensOf(from), [tokenOf(0)])
    const end = yield* outcomeOf(Agent.resume(agent), { from, settlements: resultsFor(tokenOf(0)) }, model)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(read(model), ['result: {"at":1}', 'result: {"at":1}'])
    assert.strictEqual(begun.length, 2)
  })
)

it.effect("resumed in memory it waits there for what is missing [P1528 P1521]", () =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring()
    const agent = agentWith(tool)
    const model = yield* callingOnce("order")
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const fiber = yield* Effect.forkChild(Agent.resume(agent)({ from }).pipe(Effect.provide(model.layer)))
    yield* calm
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 3 })), { _tag: "Counted" })
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.deepStrictEqual(read(model), ['result: {"at":3}'])
    assert.strictEqual(begun.length, 1)
  })
)

it.effect(
  "the handle stays open while the run is suspended, and its deadline is looked at on resumption [P1525 P1526]",
  () =>
    Effect.gen(function* () {
      for (const [millis, isGiven, expected] of [
        [3_600_000, true, /^result: /],
        [3_600_000, false, /^told: .*did not end within/],
        [3_600_001, true, /^told: .*did not end within/]
      ] as const) {
        const { cancelled, tokenOf, tool } = deferring()
        const agent = agentWith(tool.pipe(Tool.onError({ ToolTimeoutError: Recovery.tell() })))
        const model = yield* callingOnce("order")
        const begunAt = yield* Clock.currentTimeMillis
        const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
        yield* TestClock.setTime(begunAt + millis)
        assert.deepStrictEqual(cancelled, [])
        const settlements = isGiven ? resultsFor(tokenOf()) : []
        const end = yield* outcomeOf(Agent.resume(agent), { from, settlements }, model)
        assert.strictEqual(end._tag, "Completed")
        assert.match(read(model)[0] ?? "", expected)
        assert.deepStrictEqual(cancelled, expected.source.startsWith("^result") ? [] : [1])
      }
    })
)

it.effect("a settled failure goes to the rows, which begin anew and suspend again [P1522 P1528]", () =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring()
    const agent = agentWith(tool.pipe(Tool.onError({ Declined: Recovery.retry({ retries: 1 }) })))
    const model = yield* make(batch("order"))
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const failed = { token: tokenOf(), exit: Exit.fail(new Declined({ why: "no" })) }
    const secondRun = yield* Effect.forkChild(
      outcomeOf(Agent.resume(agent), { from: first, settlements: [failed, ...resultsFor(tokenOf())] }, model)
    )
    yield* calm
    yield* TestClock.adjust("1 minute")
    const second = yield* snapshotOf(yield* Fiber.join(secondRun))
    assert.notStrictEqual(tokenOf(0), tokenOf(1))
    assert.strictEqual(begun[0]?.key, begun[1]?.key)
    assert.deepStrictEqual(
      begun.map(({ attempt }) => attempt),
      [1, 2]
    )
    const end = yield* Effect.flip(
      outcomeOf(
        Agent.resume(agent),
        { from: second, settlements: [...resultsFor(tokenOf(0)), { ...failed, token: tokenOf(1) }] },
        model
      )
    )
    assert.strictEqual(end._tag, "ToolExecutionError")
    assert.strictEqual(begun.length, 2)
  })
)

it.effect("a settlement that does not fit is refused before the run goes on [P1521]", () =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring()
    const agent = agentWith(tool)
    const model = yield* callingOnce("order")
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    for (const exit of [Exit.succeed("x"), Exit.fail(1), Exit.die("x")]) {
      const error = yield* Effect.flip(
        outcomeOf(Agent.resume(agent), { from, settlements: [{ token: tokenOf(), exit }] }, model)
      )
      assert(error._tag === "SnapshotRefusedError")
      assert.strictEqual(error.reason, "malformed")
      assert.match(error.message, /The settlement of tool 'order' does not fit/)
    }
    const end = yield* outcomeOf(Agent.resume(agent), { from, settlements: resultsFor(tokenOf()) }, model)
    assert.strictEqual(end._tag, "Completed")
  })
)

it.effect("a token is for one run, one call and one definition [P1521]", () =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring()
    const model = yield* make(batch("order"), batch("order"))
    const from = yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model))
    const other = yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model))
    assert.notStrictEqual(tokenOf(0), tokenOf(1))
    // the document of one run with the token of the other
    const moved = JSON.stringify(Snapshot.toJson(from)).replaceAll(tokenOf(0), tokenOf(1))
    const error = yield* Effect.flip(Snapshot.fromJson(JSON.parse(moved)))
    assert.match(String(error), /Expected the token of this call/)
    const changed = Tool.deferred("order", {
      description: "Orders.",
      parameters: Schema.Struct({ n: Schema.optionalKey(Schema.String) }),
      success: Schema.Struct({ at: Schema.Finite }),
      start: () => Effect.succeed(1),
      wait: "suspend",
      deadline: "1 hour"
    })
    const refused = yield* Effect.flip(
      outcomeOf(Agent.resume(agentWith(changed)), { from: other, settlements: resultsFor(tokenOf(1)) }, model)
    )
    assert(refused._tag === "SnapshotRefusedError")
    assert.match(refused.message, /another definition/)
    const plain = scripted("order", Effect.succeed("fine")).tool
    const gone = yield* Effect.flip(outcomeOf(Agent.resume(agentWith(plain)), { from: other }, model))
    assert(gone._tag === "SnapshotRefusedError")
    assert.strictEqual(gone.reason, "other-agent")
  })
)

it.effect("a sub-agent that waits is suspended with its parent, and resumes with the settlement [P1523 P1528]", () =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring()
    const worker = Agent.make("inner", { skills: [Skill.make("work", { description: "Works.", tools: [tool] })] })
    const inner = Agent.asTool(worker, { description: "Works." })
    const agent = agentWith(inner)
    const model = yield* make(
      ScriptedModel.calls(ScriptedModel.call("inner", { input: "go" }, "p1")),
      batch("order"),
      ScriptedModel.text("inner done"),
      done
    )
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.deepStrictEqual(tokensOf(from), [tokenOf()])
    const misfit = yield* Effect.flip(
      outcomeOf(Agent.resume(agent), { from, settlements: [{ token: tokenOf(), exit: Exit.succeed(1) }] }, model)
    )
    assert.strictEqual(misfit._tag, "SnapshotRefusedError")
    const end = yield* outcomeOf(Agent.resume(agent), { from, settlements: resultsFor(tokenOf()) }, model)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(read(model), ["result: inner done"])
    assert.strictEqual(begun.length, 1)
  })
)

it.effect(
  "what waits for its settlement is cancelled when the run fails or is interrupted before it is suspended [P1526]",
  () =>
    Effect.gen(function* () {
      for (const isInterrupted of [true, false]) {
        const { cancelled, tokenOf, tool } = deferring()
        const bad = scripted("bad", Effect.andThen(Effect.sleep("1 minute"), Effect.fail(busy())))
        const model = yield* make(batch("order", "bad"))
        const log = eventLog()
        const run = yield* agentWith(tool, bad.tool).pipe(log.listen).start("go").pipe(Effect.provide(model.layer))
        yield* calm
        assert.deepStrictEqual(cancelled, [])
        if (isInterrupted) yield* run.interrupt
        else {
          const ended = yield* Effect.forkChild(Effect.flip(run.outcome))
          yield* TestClock.adjust("1 minute")
          assert.strictEqual((yield* Fiber.join(ended))._tag, "Busy")
        }
        assert.deepStrictEqual(cancelled, [1])
        const last = log.all.at(-1)
        assert.strictEqual(last?.type, isInterrupted ? "run-interrupted" : "run-failed")
        assert.strictEqual((yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })))._tag, "NotCounted")
      }
    })
)
