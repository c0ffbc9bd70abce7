/** The answers to decisions: whether each counts, and if not, why. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, batch, busy, calm, done, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

const pay = (...cents: ReadonlyArray<number>) => calls(...cents.map((one) => call("pay", { cents: one }, `c${one}`)))

const fatesOf = (outcome: Agent.Outcome<unknown>) =>
  outcome.decisions?.map((answer) => (answer._tag === "Counted" ? answer._tag : answer.reason))

it.effect("each decision is answered in its order: the first counts, a second and a foreign one do not [P1533]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const agent = agentWith(tool)
    const model = yield* make(pay(1, 2), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const [first = "", second = ""] = Snapshot.requestsOf(from).map(({ digest }) => digest)
    const decisions = [
      { digest: second, decision: Approval.approve },
      { digest: "0".repeat(64), decision: Approval.approve },
      { digest: first, decision: Approval.refuse("no") },
      { digest: first, decision: Approval.approve },
      { digest: second, decision: Approval.refuse("no") }
    ]
    const outcome = yield* outcomeOf(Agent.resume(agent), { from, decisions }, model)
    assert.deepStrictEqual(outcome.decisions, [
      { _tag: "Counted", digest: second },
      { _tag: "NotCounted", digest: "0".repeat(64), reason: "unknown-request" },
      { _tag: "Counted", digest: first },
      { _tag: "NotCounted", digest: first, reason: "already-decided" },
      { _tag: "NotCounted", digest: second, reason: "already-decided" }
    ])
    assert.deepStrictEqual(runs, [2])
    const wire = yield* Schema.encodeEffect(Schema.Array(Approval.DecisionReceipt))(outcome.decisions ?? [])
    assert.deepStrictEqual(
      yield* Schema.decodeUnknownEffect(Schema.Array(Approval.DecisionReceipt))(wire),
      outcome.decisions
    )
  })
)

it.effect("of several decisions about one request none is too late for another where none has counted [P1533]", () =>
  Effect.gen(function* () {
    const { tool } = paying({ validFor: "1 hour", onExpiry: "refuse" })
    const agent = agentWith(tool)
    const model = yield* make(pay(1), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const twice = (digest: string) => [0, 1].map(() => ({ digest, decision: Approval.approve }))
    const [digest = ""] = Snapshot.requestsOf(from).map((request) => request.digest)
    const foreign = yield* outcomeOf(Agent.resume(agent), { from, decisions: twice("foreign") }, model)
    assert.deepStrictEqual(fatesOf(foreign), ["unknown-request", "unknown-request"])
    yield* TestClock.adjust("2 hours")
    const late = yield* snapshotOf(foreign)
    const end = yield* outcomeOf(Agent.resume(agent), { from: late, decisions: twice(digest) }, model)
    assert.deepStrictEqual(fatesOf(end), ["late", "late"])
  })
)

it.effect("the answer stands also where the run is suspended again; without decisions there is none [P1533]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying({ validFor: "1 hour" })
    const agent = agentWith(tool)
    const model = yield* make(pay(1, 2))
    const started = yield* outcomeOf(agent, "go", model)
    assert.notProperty(started, "decisions")
    const from = yield* snapshotOf(started)
    const { decisions } = deciding(from)
    const second = yield* outcomeOf(Agent.resume(agent), { from, decisions: decisions.slice(1) }, model)
    assert(second._tag === "Suspended")
    assert.deepStrictEqual(fatesOf(second), ["Counted"])
    assert.deepStrictEqual(runs, [2])
    yield* TestClock.adjust("2 hours")
    const late = yield* outcomeOf(Agent.resume(agent), deciding(yield* snapshotOf(second)), model)
    assert(late._tag === "Suspended")
    assert.deepStrictEqual(fatesOf(late), ["late"])
    const last = yield* outcomeOf(Agent.resume(agent), { from: yield* snapshotOf(late) }, model)
    assert.notProperty(last, "decisions")
  })
)

it.effect("a decision about a request that was decided in an earlier resumption is answered so [P1533]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const helper = Agent.make("helper", { tools: [tool] })
    const agent = agentWith(tool, Agent.asTool(helper, { description: "Helps." }))
    const both = calls(call("pay", { cents: 1 }, "c1"), call("helper", { input: "pay" }, "c2"))
    const model = yield* make(both, pay(2, 3), done, done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.notProperty(from, "decided")
    const digests = Snapshot.requestsOf(from).map(({ digest }) => digest)
    const [first = "", second = "", third = ""] = digests
    const decided = (digest: string, decision: Approval.Decision = Approval.approve) => ({ digest, decision })
    const resumed = (from: Snapshot.Snapshot, ...decisions: ReadonlyArray<Approval.Decided>) =>
      outcomeOf(Agent.resume(agent), { from, decisions }, model)
    const one = yield* snapshotOf(yield* resumed(from, decided(second)))
    assert.deepStrictEqual(one.decided, [second])
    // a resumption without a decision forgets nothing
    const two = yield* snapshotOf(yield* resumed(yield* snapshotOf(yield* resumed(one)), decided(first)))
    assert.deepStrictEqual(two.decided, [second, first])
    const last = yield* resumed(two, ...digests.map((digest) => decided(digest, Approval.refuse("no"))), decided("d"))
    assert.strictEqual(last._tag, "Completed")
    assert.deepStrictEqual(fatesOf(last), ["already-decided", "already-decided", "Counted", "unknown-request"])
    assert.deepStrictEqual(digests, [first, second, third])
    assert.deepStrictEqual(runs, [2, 1])
  })
)

it.effect("a snapshot knows the latest 64 requests that were decided [P1533]", () =>
  Effect.gen(function* () {
    const { tool } = paying()
    const agent = agentWith(tool)
    const cents = Array.from({ length: 66 }, (_, at) => at)
    const model = yield* make(pay(...cents), done)
    const budget = { maxToolCalls: 99 }
    const many = agent.pipe(Agent.withBudget(budget))
    const from = yield* snapshotOf(yield* outcomeOf(many, "go", model))
    const digests = Snapshot.requestsOf(from).map(({ digest }) => digest)
    const decisions = digests.slice(0, -1).map((digest) => ({ digest, decision: Approval.approve }))
    const next = yield* snapshotOf(yield* outcomeOf(Agent.resume(many), { from, decisions }, model))
    assert.strictEqual(next.decided?.length, 64)
    const second = [digests.at(0), digests.at(1), digests.at(-1)].map((digest = "") => ({
      digest,
      decision: Approval.approve
    }))
    const end = yield* outcomeOf(Agent.resume(many), { from: next, decisions: second }, model)
    assert.deepStrictEqual(fatesOf(end), ["unknown-request", "already-decided", "Counted"])
  })
)

it.effect("a request about a tool that has changed is another one, and the run asks again [P1533]", () =>
  Effect.gen(function* () {
    const { tool } = paying()
    const changed = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Int, to: Schema.optionalKey(Schema.String) }),
      success: Schema.String,
      run: () => Effect.succeed("paid")
    }).pipe(Tool.requireApproval())
    const model = yield* make(pay(1))
    const from = yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model))
    const outcome = yield* outcomeOf(Agent.resume(agentWith(changed)), deciding(from), model)
    assert.strictEqual(outcome._tag, "Suspended")
    assert.deepStrictEqual(fatesOf(outcome), ["other-digest"])
  })
)

it.effect("a decision about a call that is denied before it reaches a person is withdrawn [P1533]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const model = yield* make(pay(1), done)
    const from = yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model))
    const stricter = agentWith(tool).pipe(Agent.toolPolicy(() => Effect.fail("closed")))
    const outcome = yield* outcomeOf(Agent.resume(stricter), deciding(from), model)
    assert.strictEqual(outcome._tag, "Completed")
    assert.deepStrictEqual(fatesOf(outcome), ["withdrawn"])
    assert.deepStrictEqual(runs, [])
    assert.match(read(model)[0] ?? "", /^denied/)
  })
)

it.effect("decisions about calls of a sub-agent are answered with those of its parent [P1533]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const helper = Agent.make("helper", { tools: [tool] })
    const boss = agentWith(Agent.asTool(helper, { description: "Helps." }))
    const model = yield* make(calls(call("helper", { input: "pay" }, "c0")), pay(1), done, done)
    const from = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
    const outcome = yield* outcomeOf(Agent.resume(boss), deciding(from), model)
    assert.deepStrictEqual(fatesOf(outcome), ["Counted"])
    assert.deepStrictEqual(runs, [1])
  })
)

it.effect("the handle has the answers however the run ends, and none of a resumption that was refused [P1533]", () =>
  Effect.gen(function* () {
    const ends = {
      fails: Effect.fail(busy()),
      dies: Effect.die("a bug"),
      hangs: Effect.never,
      ends: Effect.succeed("paid")
    }
    for (const [how, end] of Object.entries(ends)) {
      const tool = scripted("pay", end).tool.pipe(Tool.requireApproval())
      const agent = agentWith(tool)
      const model = yield* make(batch("pay"), ...(how === "ends" ? [done] : []))
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const { decisions } = deciding(from)
      const foreign = { digest: "d", decision: Approval.approve }
      const run = yield* Agent.resume(agent)
        .start({ from, decisions: [...decisions, foreign] })
        .pipe(Effect.provide(model.layer))
      yield* calm
      if (how === "hangs") yield* run.interrupt
      const fates = (yield* run.decisions).map((answer) => (answer._tag === "Counted" ? answer._tag : answer.reason))
      assert.deepStrictEqual(fates, ["Counted", "unknown-request"])
      const second = yield* Agent.resume(agent).start({ from, decisions }).pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(yield* second.decisions, [])
      assert.isTrue(Exit.isFailure(yield* Effect.exit(second.outcome)))
    }
  })
)

it.effect("after a transcript there is no request that a decision could be about [P1533]", () =>
  Effect.gen(function* () {
    const { tool } = paying()
    const model = yield* make(done)
    const decisions = [{ digest: "d", decision: Approval.approve }]
    const outcome = yield* outcomeOf(Agent.resume(agentWith(tool)), { from: [], input: "go", decisions }, model)
    assert.deepStrictEqual(fatesOf(outcome), ["unknown-request"])
  })
)
