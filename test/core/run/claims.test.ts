/** One snapshot is resumed once, unless that is said to be meant. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, Skill, Snapshot } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Logger, Stream } from "effect"
import { agentWith, done, eventLog, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, paying, snapshotOf, suspendedAgents } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

const pay = calls(call("pay", { cents: 5 }, "c1"))

/** A run that waits for a decision about a payment, and what was paid since. After the decision the model answers, unless it is not asked. */
const waiting = (...answers: ReadonlyArray<typeof done>) =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const log = eventLog()
    const agent = agentWith(tool).pipe(log.listen)
    const model = yield* make(pay, ...answers)
    const outcome = yield* outcomeOf(agent, "go", model)
    assert(outcome._tag === "Suspended")
    return { agent, from: yield* snapshotOf(outcome), live: outcome.snapshot, log, model, runs }
  })

const refused = { _tag: "SnapshotRefusedError", reason: "already-resumed", code: "KINTSUGI-SNAPSHOT-REFUSED" } as const

it.run("the second resumption of a snapshot is refused: nothing runs, and no event is emitted [P1506]", (run) =>
  Effect.gen(function* () {
    const { agent, from, log, model, runs } = yield* waiting(done)
    const decider = Approval.layer(() => Effect.die(new Error("asked")))
    const resumed = run(Agent.resume(agent), deciding(from)).pipe(Effect.provide(decider), Effect.provide(model.layer))
    assert.strictEqual(yield* resumed, "done")
    assert.deepStrictEqual(runs, [5])
    const { length } = log.all
    assert.deepInclude(yield* Effect.flip(resumed), refused)
    assert.deepStrictEqual(runs, [5])
    assert.strictEqual(log.all.length, length)
  })
)

it.effect("of fifty resumptions at once one goes on, from the document or from memory [P1506]", () =>
  Effect.gen(function* () {
    const { agent, from, live, model, runs } = yield* waiting(done)
    const each = Array.from({ length: 50 }, (_, index) =>
      Effect.exit(outcomeOf(Agent.resume(agent), deciding(index % 2 === 0 ? from : live), model))
    )
    const exits = yield* Effect.all(each, { concurrency: "unbounded" })
    assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
    assert.deepStrictEqual(runs, [5])
    for (const exit of exits) {
      if (Exit.isFailure(exit)) assert.instanceOf(Cause.squash(exit.cause), DoorError.SnapshotRefusedError)
    }
  })
)

it.effect("a handle of a refused resumption has no events and no words, and fails typed [P1506]", () =>
  Effect.gen(function* () {
    const { agent, from, model } = yield* waiting(done)
    yield* outcomeOf(Agent.resume(agent), deciding(from), model)
    const run = yield* Agent.resume(agent).start(deciding(from)).pipe(Effect.provide(model.layer))
    assert.deepInclude(yield* Effect.flip(run.outcome), refused)
    assert.deepStrictEqual(yield* Stream.runCollect(run.events), [])
    assert.deepStrictEqual(yield* run.transcript, [])
  })
)

it.effect("a snapshot resumed twice with `repeat` has the same idempotency keys, and is claimed [P1506]", () =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("look", Effect.succeed("1"), Effect.succeed("2"))
    const agent = Agent.make("worker", {
      budget: { maxTurns: 1 },
      skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
    }).pipe(Agent.onBudgetExceeded(() => Budget.checkpoint))
    const look = calls(call("look", {}, "c1"))
    const model = yield* make(look, look, done, look, done)
    const first = yield* outcomeOf(agent, "go", model)
    assert(first._tag === "Suspended")
    const from = first.snapshot
    assert.strictEqual(runs.length, 1)
    runs.length = 0
    const on = { from, budget: { maxTurns: 9 } }
    const { tool: twice, runs: keys } = scripted("look", Effect.succeed("1"), Effect.succeed("2"))
    const same = agentWith(twice)
    yield* outcomeOf(Agent.resume(same), { ...on, repeat: true }, model)
    yield* outcomeOf(Agent.resume(same), { ...on, repeat: true }, model)
    assert.strictEqual(keys.length, 2)
    assert.strictEqual(keys[0]?.context.idempotencyKey, keys[1]?.context.idempotencyKey)
    assert.deepInclude(yield* Effect.flip(outcomeOf(Agent.resume(same), on, model)), refused)
  })
)

it.effect("each suspension has an id of its own, and so resumes once [P1506]", () =>
  Effect.gen(function* () {
    const { agent, from, model, runs } = yield* waiting(done)
    const second = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), { from }, model))
    assert.isDefined(from.id)
    assert.notStrictEqual(second.id, from.id)
    assert.deepInclude(yield* Effect.flip(outcomeOf(Agent.resume(agent), deciding(from), model)), refused)
    const end = yield* outcomeOf(Agent.resume(agent), deciding(second), model)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(runs, [5])
  })
)

it.effect("what another agent may not resume is not claimed by it [P1506]", () =>
  Effect.gen(function* () {
    const { agent, from, model, runs } = yield* waiting(done)
    const other = Agent.make("other", {})
    const error = yield* Effect.flip(outcomeOf(Agent.resume(other), { from }, model))
    assert.deepInclude(error, { _tag: "SnapshotRefusedError", reason: "other-agent" })
    assert.strictEqual((yield* outcomeOf(Agent.resume(agent), deciding(from), model))._tag, "Completed")
    assert.deepStrictEqual(runs, [5])
  })
)

it.effect("a document without an id, or with an odd one, is refused [P1506]", () =>
  Effect.gen(function* () {
    const { from } = yield* waiting()
    // a snapshot is an object
    const { id: _, ...json } = Snapshot.toJson(from) as Record<string, unknown>
    const error = yield* Effect.flip(Snapshot.fromJson(json))
    assert.match(String(error), /Expected an id/)
    for (const odd of ["", "x".repeat(101), 7]) {
      assert.include(String(yield* Effect.flip(Snapshot.fromJson({ ...json, id: odd }))), "id")
    }
  })
)

it.effect("a transcript resumes any number of times [P1506]", () =>
  Effect.gen(function* () {
    const model = yield* make(done, done)
    const resumption = Agent.resume(agentWith())
    for (let i = 0; i < 2; i++) {
      assert.strictEqual(yield* resumption({ from: [], input: "go" }).pipe(Effect.provide(model.layer)), "done")
    }
  })
)

it.effect(
  "a resumption that is interrupted while it waits for its claim ends at once, and nothing has run [P1506]",
  () =>
    Effect.gen(function* () {
      const { agent, from, model, runs } = yield* waiting()
      const asked = yield* Deferred.make<void>()
      const slow = Layer.succeed(Snapshot.Claims, {
        claim: () => Effect.andThen(Deferred.succeed(asked, undefined), Effect.never)
      })
      const scoped = Effect.scoped(
        Effect.flatMap(Agent.resume(agent).start(deciding(from)), ({ interrupt, outcome }) =>
          Effect.gen(function* () {
            yield* Deferred.await(asked)
            yield* interrupt
            return yield* Effect.exit(outcome)
          })
        )
      ).pipe(Effect.provide(slow), Effect.provide(model.layer))
      const fiber = yield* Effect.forkChild(scoped)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.join(fiber)))
      assert.deepStrictEqual(runs, [])
    })
)

it.effect("the first use of the claims of the process logs, once, that they are of the process alone [P1506]", () =>
  Effect.gen(function* () {
    const lines: Array<unknown> = []
    const logger = Logger.layer([Logger.make(({ message }) => void lines.push(message))])
    // the default of a reference lives as long as the process: a test of what it does first takes a new one
    const fresh = Layer.effect(
      Snapshot.Claims,
      Effect.sync(() => Snapshot.claimsOfProcess())
    )
    yield* Effect.gen(function* () {
      for (let i = 0; i < 3; i++) {
        const { agent, from, model } = yield* waiting(done)
        yield* outcomeOf(Agent.resume(agent), deciding(from), model)
      }
    }).pipe(Effect.provide(fresh), Effect.provide(logger))
    assert.strictEqual(lines.length, 1)
    assert.match(String(lines[0]), /Only this process knows which snapshots it has resumed/)
  })
)

it.effect("a process remembers as many claims as `most`, the last ones [P1506]", () =>
  Effect.gen(function* () {
    const { claim } = Snapshot.claimsOfProcess({ most: 3 })
    for (const snapshot of ["1", "2", "3", "4"]) assert.isTrue(yield* claim({ snapshot, claimant: "a" }))
    for (const snapshot of ["2", "3", "4"]) assert.isFalse(yield* claim({ snapshot, claimant: "b" }))
    // a replay makes the same claim
    assert.isTrue(yield* claim({ snapshot: "4", claimant: "a" }))
    assert.isTrue(yield* claim({ snapshot: "1", claimant: "b" }))
  }).pipe(Effect.provide(Logger.layer([])))
)

it.run("of two decisions about one request the first counts [P903 P1533]", (run) =>
  Effect.gen(function* () {
    for (const [first, second, paid] of [
      [Approval.refuse("no"), Approval.approve, []],
      [Approval.approve, Approval.refuse("no"), [5]],
      [Approval.approveWith({ cents: 7 }), Approval.approve, [7]],
      [Approval.approve, Approval.approveWith({ cents: 7 }), [5]]
    ] as const) {
      const { runs, tool } = paying()
      const agent = agentWith(tool)
      const model = yield* make(pay, done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const [digest = ""] = Snapshot.requestsOf(from).map((request) => request.digest)
      const decisions = [
        { digest, decision: first },
        { digest, decision: second }
      ]
      const decider = Approval.layer(() => Effect.die(new Error("asked")))
      const resumed = run(Agent.resume(agent), { from, decisions })
      assert.strictEqual(yield* resumed.pipe(Effect.provide(decider), Effect.provide(model.layer)), "done")
      assert.deepStrictEqual<ReadonlyArray<number>>(runs, paid)
    }
  })
)

it.effect("the snapshot of a sub-agent is refused apart from the run that it is part of [P1506]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const helper = Agent.make("helper", { skills: [Skill.make("pays", { description: "Pays.", tools: [tool] })] })
    const boss = agentWith(Agent.asTool(helper, { description: "Helps." }))
    const model = yield* make(calls(call("helper", { input: "pay" }, "c0")), pay, done, done)
    const outcome = yield* outcomeOf(boss, "go", model)
    assert(outcome._tag === "Suspended")
    const part = suspendedAgents(outcome.snapshot)[0]
    assert(part !== undefined)
    const apart = outcomeOf(Agent.resume(helper), deciding(part), model)
    assert.deepInclude(yield* Effect.flip(apart), { _tag: "SnapshotRefusedError", reason: "other-agent" })
    assert.deepStrictEqual(runs, [])
    const whole = yield* outcomeOf(Agent.resume(boss), deciding(outcome.snapshot), model)
    assert.strictEqual(whole._tag, "Completed")
    assert.deepInclude(yield* Effect.flip(apart), { _tag: "SnapshotRefusedError" })
    assert.deepStrictEqual(runs, [5])
  })
)
