import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Skill, type Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { agentWith, done, eventLog, settlements } from "../../_support/dialogue.ts"
import { deciding, only, outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { centsOf, deciders, paying, pays } from "./_support/grants.ts"

const { call, calls, make } = ScriptedModel

const { approve, approveFor, refuse } = Approval

/** A store of a test. */
const withStore = (store = Approval.approvalsOfProcess()) => Effect.provideService(Approval.Approvals, store)

it.run(
  "an approval holds for its call alone, for equal calls of the run, or for those of a rule [P1373 P1531 P1532]",
  (run) =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [Approval.Decision, ReadonlyArray<string>]> = [
        [approve, ["5", "5", "7", "500"]],
        [approveFor("call"), ["5", "5", "7", "500"]],
        [approveFor("run"), ["5", "7", "500"]],
        [approveFor({ rule: "small" }), ["5", "500"]]
      ]
      for (const [first, expected] of cases) {
        const { paid, tool } = paying()
        const { asked, layer } = deciders(first, approve, approve, approve)
        const log = eventLog()
        const model = yield* make(pays(5), pays(5), pays(7), pays(500), done)
        const agent = agentWith(tool).pipe(log.listen)
        yield* run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(layer), withStore())
        assert.deepStrictEqual(centsOf(asked), expected)
        assert.deepStrictEqual(paid, [5, 5, 7, 500])
        // each call that a grant admits says which grant
        const decided = only(log.all, "approval-decided")
        assert.strictEqual(decided.length, 4)
        assert.strictEqual(decided.filter(({ by }) => by === undefined).length, expected.length)
        assert.strictEqual(only(log.all, "approval-requested").length, expected.length)
        // another run knows nothing of it
        const second = yield* make(pays(5), done)
        yield* run(agent, "go").pipe(Effect.provide(second.layer), Effect.provide(layer), withStore())
        assert.strictEqual(asked.length, expected.length + 1)
      }
    })
)

it.run("a refusal grants nothing, and an unknown rule holds for its call alone [P1531]", (run) =>
  Effect.gen(function* () {
    const store = Approval.approvalsOfProcess()
    const decisions = [refuse("no"), approveFor({ conversation: "c1", rule: "large" }), approve]
    const { asked, layer } = deciders(...decisions)
    const { paid, tool } = paying()
    const model = yield* make(pays(5), pays(5), pays(5), done)
    yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer), Effect.provide(layer), withStore(store))
    assert.strictEqual(asked.length, 3)
    assert.deepStrictEqual(paid, [5, 5])
    assert.deepStrictEqual(yield* store.grantsOf("c1"), [])
  })
)

it.run("a rule that fails or throws admits nothing, and a call that needs no approval names no grant [P1531]", (run) =>
  Effect.gen(function* () {
    const rules = {
      fails: () => Effect.fail("no") as unknown as boolean,
      throws: (): boolean => {
        throw new Error("a bug")
      }
    }
    for (const rule of ["fails", "throws"]) {
      const { tool } = paying({ rules, when: ({ cents }) => cents > 1 })
      const { asked, layer } = deciders(approveFor({ rule }), approve)
      const log = eventLog()
      const model = yield* make(pays(5), pays(6), pays(1), done)
      const agent = agentWith(tool).pipe(log.listen)
      yield* run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(layer), withStore())
      assert.strictEqual(asked.length, 2)
      assert.strictEqual(only(log.all, "approval-decided").length, 2)
    }
    const { tool } = paying({ when: ({ cents }) => cents > 1 })
    const { layer } = deciders(approveFor({ rule: "small" }))
    const log = eventLog()
    const model = yield* make(pays(5), pays(1), done)
    const agent = agentWith(tool).pipe(log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(layer), withStore())
    assert.strictEqual(only(log.all, "approval-decided").length, 1)
  })
)

it.run("arguments from a repair are matched anew, and an edit is granted as it was edited [P1531 P1532]", (run) =>
  Effect.gen(function* () {
    const { paid, tool } = paying()
    const fixer = Agent.deterministic("fixer", () => Effect.succeed('{"cents": 6}'))
    const fixed = tool.pipe(
      Tool.onError({ InvalidArgs: Recovery.fix(fixer), DeserializationError: Recovery.fix(fixer) })
    )
    const { asked, layer } = deciders(
      approveFor("run"),
      approveFor("run"),
      { type: "approve", arguments: { cents: 8 }, for: "run" },
      approve
    )
    const log = eventLog()
    const model = yield* make(
      pays(5),
      calls(call("pay", "broken")),
      calls(call("pay", "broken")),
      pays(7),
      pays(8),
      pays(7),
      done
    )
    yield* run(agentWith(fixed).pipe(log.listen), "go").pipe(
      Effect.provide(model.layer),
      Effect.provide(layer),
      withStore()
    )
    assert.deepStrictEqual(centsOf(asked), ["5", "6", "7", "7"])
    assert.deepStrictEqual(paid, [5, 6, 6, 8, 8, 7])
    assert.deepStrictEqual(
      only(log.all, "approval-decided").map(({ by }) => by !== undefined),
      [false, false, true, false, true, false]
    )
  })
)

it.run(
  "an edit that the schema mends is granted as the tool gets it, and one that does not fit grants nothing [P1531]",
  (run) =>
    Effect.gen(function* () {
      const edits: ReadonlyArray<readonly [edited: Schema.Json, asked: number]> = [
        [{ cents: "7" }, 1],
        [{ cents: 7, extra: 1 }, 1],
        ['{"cents":7}', 1],
        [{ cents: "seven" }, 2]
      ]
      for (const [edited, expected] of edits) {
        const { asked, layer } = deciders({ type: "approve", arguments: edited, for: "run" }, approve)
        const { tool } = paying()
        const model = yield* make(pays(5), pays(7), done)
        yield* run(agentWith(tool.pipe(Tool.onError({ DeserializationError: Recovery.tell() }))), "go").pipe(
          Effect.provide(model.layer),
          Effect.provide(layer),
          withStore()
        )
        assert.strictEqual(asked.length, expected)
      }
    })
)

it.run("a grant of a conversation holds in its later runs, until it expires or is revoked [P1531]", (run) =>
  Effect.gen(function* () {
    const store = Approval.approvalsOfProcess()
    const until = 60_000
    const scope = { conversation: "c1", rule: "small" }
    const { asked, layer } = deciders(approveFor({ conversation: "c1" }, { who: "Ann" }), approveFor(scope, { until }))
    const { paid, tool } = paying()
    const log = eventLog()
    const agent = agentWith(tool).pipe(log.listen)
    const pay = (conversation: string | undefined, cents: number) =>
      Effect.gen(function* () {
        const before = asked.length
        const model = yield* make(pays(cents), done)
        yield* run(agent, "go").pipe(
          Effect.provide(model.layer),
          Effect.provide(layer),
          withStore(store),
          Effect.provideService(Approval.Conversation, conversation)
        )
        return asked.length > before
      })
    assert.isTrue(yield* pay("c1", 5))
    assert.isFalse(yield* pay("c1", 5))
    assert.isTrue(yield* pay("c1", 6))
    assert.isFalse(yield* pay("c1", 7))
    const [first, second] = (yield* store.grantsOf("c1")) as ReadonlyArray<Approval.Grant>
    assert.deepInclude(first, { agent: "worker", tool: "pay", admits: { arguments: '{"cents":5}' }, at: 0, who: "Ann" })
    assert.deepInclude(second, { admits: { rule: "small" }, until })
    assert.strictEqual(only(log.all, "approval-decided")[1]?.by, first?.id)
    // neither another conversation nor a run without one
    assert.isTrue(yield* pay("c2", 5))
    assert.isTrue(yield* pay(undefined, 5))
    yield* TestClock.adjust(until)
    assert.isFalse(yield* pay("c1", 7))
    yield* TestClock.adjust(1)
    assert.isTrue(yield* pay("c1", 7))
    assert.isFalse(yield* pay("c1", 5))
    yield* store.revoke(first?.id ?? "")
    assert.isTrue(yield* pay("c1", 5))
    assert.deepStrictEqual(paid, [5, 5, 6, 7, 7, 5])
  })
)

it.run("a grant never holds for a changed definition, nor for another agent [P1531]", (run) =>
  Effect.gen(function* () {
    const store = Approval.approvalsOfProcess()
    const asks = (name: string, description?: string) =>
      Effect.gen(function* () {
        const { asked, layer } = deciders(approveFor({ conversation: "c1" }))
        const model = yield* make(pays(5), done)
        const { tool } = paying(description === undefined ? {} : { description })
        const agent = Agent.make(name, { skills: [Skill.make("work", { description: "Works.", tools: [tool] })] })
        yield* run(agent, "go").pipe(
          Effect.provide(model.layer),
          Effect.provide(layer),
          withStore(store),
          Effect.provideService(Approval.Conversation, "c1")
        )
        return asked.length === 1
      })
    assert.isTrue(yield* asks("clerk"))
    assert.isFalse(yield* asks("clerk"))
    assert.isTrue(yield* asks("clerk", "Pays twice."))
    assert.isTrue(yield* asks("other"))
  })
)

it.run("a grant holds for sub-agents only if it is deep, and then for all below [P1531]", (run) =>
  Effect.gen(function* () {
    for (const scope of ["run", { conversation: "c1" }] as const) {
      for (const deep of [false, true]) {
        const { asked, layer } = deciders(approveFor(scope, { deep }), approve)
        const { tool } = paying()
        const inner = Agent.asTool(Agent.make("inner", { tools: [tool] }), { description: "Pays for you." })
        const boss = Agent.make("boss", { tools: [tool, inner] })
        const model = yield* make(pays(5), calls(call("inner", { input: "pay" })), pays(5), done, done)
        yield* run(boss, "go").pipe(
          Effect.provide(model.layer),
          Effect.provide(layer),
          withStore(),
          Effect.provideService(Approval.Conversation, "c1")
        )
        assert.strictEqual(asked.length, deep ? 1 : 2)
      }
    }
    // what was granted in a sub-agent does not reach its parent
    const { asked, layer } = deciders(approveFor("run", { deep: true }), approve)
    const { tool } = paying()
    const inner = Agent.asTool(Agent.make("inner", { tools: [tool] }), { description: "Pays for you." })
    const model = yield* make(calls(call("inner", { input: "pay" })), pays(5), done, pays(5), done)
    yield* run(Agent.make("boss", { tools: [tool, inner] }), "go").pipe(
      Effect.provide(model.layer),
      Effect.provide(layer),
      withStore()
    )
    assert.strictEqual(asked.length, 2)
  })
)

it.run("a grant of a conversation distinguishes an agent from its sub-agent with the same name [P1531]", (run) =>
  Effect.gen(function* () {
    for (const deep of [false, true]) {
      const store = Approval.approvalsOfProcess()
      const { asked, layer } = deciders(
        ...Array.from({ length: 3 }, () => approveFor({ conversation: "c1" }, { deep }))
      )
      const { tool } = paying()
      const desk = Agent.make("desk", { tools: [tool] })
      const helper = Agent.asTool(desk, { name: "helper", description: "Pays for you." })
      const boss = Agent.make("desk", { tools: [tool, helper] })
      const askedIn = (...turns: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
        Effect.gen(function* () {
          const before = asked.length
          const model = yield* make(...turns, done)
          yield* run(boss, "go").pipe(
            Effect.provide(model.layer),
            Effect.provide(layer),
            withStore(store),
            Effect.provideService(Approval.Conversation, "c1")
          )
          return asked.length - before
        })
      const within = calls(call("helper", { input: "pay" }))
      // what the sub-agent was granted is not for its parent, also where it is deep
      assert.strictEqual(yield* askedIn(within, pays(5), done), 1)
      assert.strictEqual(yield* askedIn(within, pays(5), done), 0)
      assert.strictEqual(yield* askedIn(pays(5)), 1)
      assert.strictEqual(yield* askedIn(pays(5), within, pays(5), done), 0)
      const [inner, outer] = yield* store.grantsOf("c1")
      assert.deepStrictEqual(inner?.ancestors, ["desk"])
      assert.notProperty(outer, "ancestors")
      yield* store.revoke(inner?.id ?? "")
      assert.strictEqual(yield* askedIn(within, pays(5), done), deep ? 0 : 1)
    }
  })
)

it.effect("grants of a run are in its snapshot, and can be revoked there too [P1531]", () =>
  Effect.gen(function* () {
    const store = Approval.approvalsOfProcess()
    const { paid, tool } = paying()
    const agent = agentWith(tool)
    const goOn = (from: Snapshot.Snapshot, decision: Approval.Decision, model: ScriptedModel.ScriptedModel) =>
      outcomeOf(Agent.resume(agent), deciding(from, decision), model).pipe(withStore(store))
    const model = yield* make(pays(5), pays(5), pays(6), pays(5), done)
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.notProperty(first, "grants")
    // the second call passes, the third asks
    const second = yield* snapshotOf(yield* goOn(first, approveFor("run", { who: "Ann" }), model))
    assert.deepStrictEqual(paid, [5, 5])
    const [grant] = second.grants ?? []
    assert(grant !== undefined)
    assert.deepInclude(grant, { agent: "worker", tool: "pay", admits: { arguments: '{"cents":5}' }, who: "Ann" })
    yield* store.revoke(grant.id)
    const third = yield* snapshotOf(yield* goOn(second, approve, model))
    assert.deepStrictEqual(paid, [5, 5, 6])
    assert.deepInclude(yield* goOn(third, approve, model), { _tag: "Completed", output: "done" })
    assert.deepStrictEqual(paid, [5, 5, 6, 5])
  })
)

it.effect("a run that goes on twice has the grants that it was given the first time [P1531]", () =>
  Effect.gen(function* () {
    const { paid, tool } = paying()
    const agent = agentWith(tool)
    const goOn = (from: Snapshot.Snapshot, decision: Approval.Decision, model: ScriptedModel.ScriptedModel) =>
      outcomeOf(Agent.resume(agent), deciding(from, decision), model).pipe(withStore())
    const model = yield* make(pays(5), pays(6), pays(5), pays(7), done)
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const second = yield* snapshotOf(yield* goOn(first, approveFor("run"), model))
    assert.deepStrictEqual(paid, [5])
    const third = yield* snapshotOf(yield* goOn(second, approve, model))
    assert.deepStrictEqual(paid, [5, 6, 5])
    assert.deepStrictEqual(third.grants, second.grants)
    assert.deepInclude(yield* goOn(third, approve, model), { _tag: "Completed", output: "done" })
  })
)

it.effect(
  "in one reply, a decision about a call comes before a grant, and a grant admits those that wait [P1531]",
  () =>
    Effect.gen(function* () {
      for (const second of [undefined, refuse("not this one")]) {
        const { paid, tool } = paying()
        const agent = agentWith(tool)
        const model = yield* make(pays(5, 5), done)
        const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
        const { decisions } = deciding(from, approveFor("run"))
        const own = decisions.flatMap((one, index) =>
          index === 0 ? [one] : second === undefined ? [] : [{ ...one, decision: second }]
        )
        assert.strictEqual(decisions.length, 2)
        const outcome = yield* outcomeOf(Agent.resume(agent), { from, decisions: own }, model).pipe(withStore())
        assert.deepInclude(outcome, { _tag: "Completed" })
        assert.deepStrictEqual(paid, second === undefined ? [5, 5] : [5])
        const read = settlements(model.requests.at(-1)?.messages ?? [])
        assert.include(read[1], second === undefined ? "paid 2" : "not this one")
      }
    })
)

it.run("where the store fails, a person is asked [P1531]", (run) =>
  Effect.gen(function* () {
    const broken: Approval.Approvals = {
      grantsOf: () => Effect.fail("down"),
      add: () => Effect.die("down"),
      revoke: () => Effect.fail("down"),
      isRevoked: () => Effect.fail("down")
    }
    const { asked, layer } = deciders(approveFor({ conversation: "c1" }), approveFor("run"), approve)
    const { paid, tool } = paying()
    const model = yield* make(pays(5), pays(5), pays(5), done)
    yield* run(agentWith(tool), "go").pipe(
      Effect.provide(model.layer),
      Effect.provide(layer),
      withStore(broken),
      Effect.provideService(Approval.Conversation, "c1")
    )
    assert.strictEqual(asked.length, 3)
    assert.deepStrictEqual(paid, [5, 5, 5])
  })
)

it.run("approvals as JSON make grants too, and a grant holds no function [P1531]", (run) =>
  Effect.gen(function* () {
    const store = Approval.approvalsOfProcess()
    const json = JSON.parse(JSON.stringify(approveFor({ conversation: "c1" }, { deep: true, until: 9 })))
    const decision = yield* Schema.decodeUnknownEffect(Approval.Decision)(json)
    const { layer } = deciders(decision)
    const model = yield* make(pays(5), done)
    yield* run(agentWith(paying().tool), "go").pipe(
      Effect.provide(model.layer),
      Effect.provide(layer),
      withStore(store)
    )
    const grants = yield* store.grantsOf("c1")
    assert.deepStrictEqual(JSON.parse(JSON.stringify(grants)), grants as never)
    assert.deepInclude(grants[0], { deep: true, until: 9 })
  })
)
