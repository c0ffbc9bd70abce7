import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, Model, Recovery, RunError, Skill, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { type Duration, Cause, Effect, Exit, Layer, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, done, overADay, scripted } from "../../_support/dialogue.ts"

const { call, calls, make, text } = ScriptedModel

const paying = <R = never>(
  options: {
    readonly when?: (params: { readonly cents: number }) => boolean | Effect.Effect<boolean, unknown, R>
    readonly reason?: string
    readonly validFor?: Duration.Input
  } = {}
) => {
  const runs: Array<number> = []
  const bare = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    run: ({ cents }) => Effect.sync(() => `paid ${runs.push(cents)}`)
  })
  return { runs, bare, tool: bare.pipe(Tool.requireApproval(options)) }
}

const pay = (id = "c1") => call("pay", { cents: 5 }, id)

const suspendedBy = (outcome: Agent.Outcome<unknown>): Snapshot.Snapshot => {
  assert(outcome._tag === "Suspended")
  return outcome.snapshot
}

const all = (snapshot: Snapshot.Snapshot, decision: Approval.Decision) =>
  Snapshot.requestsOf(snapshot).map(({ digest }) => ({ digest, decision }))

it.effect("an approval is for one call: the same id and arguments elsewhere need another approval [P903]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const agent = agentWith(tool)
    const model = yield* make(calls(pay()), calls(pay(), pay()), done)
    const first = suspendedBy(
      yield* Effect.flatMap(agent.start("go"), ({ outcome }) => outcome).pipe(Effect.provide(model.layer))
    )
    const resume = (from: Snapshot.Snapshot, decision: Approval.Decision) =>
      Effect.flatMap(
        Agent.resume(agent).start({ from, decisions: all(from, decision) }),
        ({ outcome }) => outcome
      ).pipe(Effect.provide(model.layer))
    const second = suspendedBy(yield* resume(first, Approval.approve))
    assert.strictEqual(runs.length, 1)
    const [one, two] = Snapshot.requestsOf(second)
    assert.notStrictEqual(one?.digest, two?.digest)
    assert.deepInclude(yield* resume(second, Approval.approve), {
      _tag: "Completed",
      output: "done",
      finish: "stop"
    })
    assert.strictEqual(runs.length, 3)
  })
)

it.effect("a request for approval needs its decision, even if predicate or tool no longer require it [P903 P905]", () =>
  Effect.gen(function* () {
    for (const changes of ["predicate", "tool"] as const) {
      let isNeeded = true
      const { bare, runs, tool } = paying({ when: () => isNeeded })
      const model = yield* make(calls(pay()), done)
      const from = suspendedBy(
        yield* Effect.flatMap(agentWith(tool).start("go"), ({ outcome }) => outcome).pipe(Effect.provide(model.layer))
      )
      isNeeded = false
      const resumed = Agent.resume(changes === "tool" ? agentWith(bare) : (agentWith(tool) as never))
      const decisions = all(from, Approval.refuse("NO"))
      yield* Effect.flatMap(resumed.start({ from, decisions }), ({ outcome }) => outcome).pipe(
        Effect.provide(model.layer)
      )
      assert.deepStrictEqual(runs, [])
    }
  })
)

it.run("decisions count however the run is resumed, before the approver is called [P902 P905]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const agent = agentWith(tool)
    const model = yield* make(calls(pay()), done)
    const from = suspendedBy(
      yield* Effect.flatMap(agent.start("go"), ({ outcome }) => outcome).pipe(Effect.provide(model.layer))
    )
    const unasked = Approval.layer(() => Effect.die(new Error("no approver is to be asked")))
    yield* run(Agent.resume(agent), { from, decisions: all(from, Approval.refuse("no")) }).pipe(
      Effect.provide(unasked),
      Effect.provide(model.layer)
    )
    assert.deepStrictEqual(runs, [])
  })
)

it.run("a predicate that throws means that approval is needed; of two predicates, each may require it [P906]", (run) =>
  Effect.gen(function* () {
    const throwing = paying({
      when: () => {
        throw new Error("no idea")
      }
    })
    const both = paying({ when: ({ cents }) => cents > 1 }).tool.pipe(Tool.requireApproval({ when: () => false }))
    for (const tool of [throwing.tool, both]) {
      let asked = 0
      const model = yield* make(calls(pay()), done)
      const layer = Approval.layer(() => Effect.sync(() => (asked++, Approval.refuse("no"))))
      yield* run(agentWith(tool), "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
      assert.strictEqual(asked, 1)
    }
    assert.throws(() => paying({ validFor: Infinity }), RangeError)
  })
)

it.effect("a limit that was passed when the run was suspended still ends it [P902 A902]", () =>
  Effect.gen(function* () {
    const { tool } = paying()
    const look = scripted("look", Effect.succeed("seen"))
    const agent = Agent.make("worker", {
      budget: { maxToolCalls: 2 },
      skills: [Skill.make("work", { description: "Works.", tools: [tool, look.tool] })]
    })
    const model = yield* make(calls(pay(), call("look", {}, "c2"), call("look", {}, "c3")))
    const from = suspendedBy(
      yield* Effect.flatMap(agent.start("go"), ({ outcome }) => outcome).pipe(Effect.provide(model.layer))
    )
    const decisions = all(from, Approval.approve)
    const exit = yield* Effect.flatMap(Agent.resume(agent).start({ from, decisions }), ({ outcome }) =>
      Effect.exit(outcome)
    ).pipe(Effect.provide(model.layer))
    assert(Exit.isFailure(exit))
    const error = Cause.squash(exit.cause)
    assert(error instanceof RunError.BudgetExceededError)
    assert.strictEqual(error.reason, "maxToolCalls")
  })
)

it.effect("resume refuses another agent's snapshot [P903]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const agent = agentWith(tool)
    const model = yield* make(calls(pay()))
    const from = suspendedBy(
      yield* Effect.flatMap(agent.start("go"), ({ outcome }) => outcome).pipe(Effect.provide(model.layer))
    )
    const other = Agent.make("other", { skills: [Skill.make("work", { description: "Works.", tools: [tool] })] })
    const decisions = all(from, Approval.approve)
    const ofOther = Agent.resume(other).start({ from, decisions })
    const refused = yield* Effect.flatMap(ofOther, ({ outcome }) => Effect.flip(outcome)).pipe(
      Effect.provide(model.layer)
    )
    assert.deepInclude(refused, { _tag: "SnapshotRefusedError", reason: "other-agent" })
    assert.deepStrictEqual(runs, [])
  })
)

const expert = (model: Layer.Layer<Model.Model>, name: string) =>
  Agent.asTool(Agent.make("expert", { model }), { name, description: "Asks the expert." })

it.run("two runs that meet the same limit at once may both extend it [A909 L307]", (run) =>
  Effect.gen(function* () {
    const inner = yield* make(text("1"), text("2"))
    const [one, two] = [expert(inner.layer, "one"), expert(inner.layer, "two")]
    const model = yield* make(calls(call("one", { input: "?" }, "c1"), call("two", { input: "?" }, "c2")), done)
    const agent = Agent.make("worker", {
      budget: { maxTurns: 1 },
      skills: [Skill.make("work", { description: "Works.", tools: [one, two] })]
    }).pipe(Agent.onBudgetExceeded(({ limit }) => Effect.as(Effect.sleep("1 second"), Budget.extend(limit + 1))))
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(exit, Exit.succeed("done"))
  })
)

it.effect("a checkpoint holds when a child run has reached the limit [A909]", () =>
  Effect.gen(function* () {
    const inner = yield* make()
    const one = expert(inner.layer, "one")
    const model = yield* make(calls(call("one", { input: "?" }, "c1")))
    const agent = Agent.make("worker", {
      budget: { maxTurns: 1 },
      skills: [Skill.make("work", { description: "Works.", tools: [one] })]
    }).pipe(Agent.onBudgetExceeded(() => Budget.checkpoint))
    const outcome = yield* Effect.flatMap(agent.start("go"), ({ outcome }) => outcome).pipe(Effect.provide(model.layer))
    assert.strictEqual(outcome._tag, "Suspended")
  })
)

it.run("the time of a run bounds the making of its model too [A903]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("worker", {
      budget: { maxDuration: "10 seconds" },
      model: Layer.effect(Model.Model, Effect.never)
    })
    const exit = yield* overADay(run(agent, "go"))
    assert(Exit.isFailure(exit))
    assert.instanceOf(Cause.squash(exit.cause), RunError.BudgetExceededError)
  })
)

it.effect("a call that was repaired before the run was suspended goes on with what was shown [P902 A318]", () =>
  Effect.gen(function* () {
    const runs: Array<number> = []
    let fixes = 0
    const tool = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Int }),
      success: Schema.String,
      run: ({ cents }) =>
        Effect.suspend(() => (runs.push(cents) === 1 ? Effect.fail({ _tag: "Busy" } as const) : Effect.succeed("paid")))
    }).pipe(
      Tool.requireApproval(),
      Tool.onError({ Busy: Recovery.fix((_raw: string) => Effect.sync(() => `{"cents":${8 + ++fixes}}`)) })
    )
    const agent = agentWith(tool)
    const model = yield* make(calls(pay()), done)
    let outcome: Agent.Outcome<unknown> = yield* Effect.flatMap(agent.start("go"), ({ outcome }) => outcome).pipe(
      Effect.provide(model.layer)
    )
    const shown: Array<unknown> = []
    for (let lap = 0; lap < 5 && outcome._tag === "Suspended"; lap++) {
      const from = outcome.snapshot
      shown.push(...Snapshot.requestsOf(from).map(({ arguments: args }) => args))
      outcome = yield* Effect.flatMap(
        Agent.resume(agent).start({ from, decisions: all(from, Approval.approve) }),
        ({ outcome }) => outcome
      ).pipe(Effect.provide(model.layer))
    }
    assert.deepStrictEqual(shown, [{ cents: 5 }, { cents: 9 }])
    assert.deepStrictEqual(runs, [5, 9])
    assert.strictEqual(fixes, 1)
    assert.deepInclude(outcome, { _tag: "Completed", output: "done", finish: "stop" })
  })
)
