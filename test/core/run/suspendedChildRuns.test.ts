/** Sub-agents that are suspended with the run whose tools they are, and go on with it. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Message, Recovery, Skill, Snapshot, Tool, type ToolError, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { busy, calm, done, isTerminal, read, scripted } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, snapshotOf, suspendedAgents } from "../../_support/suspension.ts"
import { calling, family, look } from "./_support/family.ts"

const { call, calls, make, text } = ScriptedModel

const payment = calls(call("pay", { cents: 5 }, "p"))

it.run("an approval in a sub-agent suspends the run that calls it, and it goes on from where it was [P902]", (run) =>
  Effect.gen(function* () {
    const { boss, looked, paid } = family()
    const model = yield* make(calls(calling()), look, payment, text("sub done"), done)
    const from = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
    const [request] = Snapshot.requestsOf(from)
    assert.deepInclude(request, { agent: "sub", tool: "pay", callId: "p", arguments: { cents: 5 } })
    assert.strictEqual(suspendedAgents(from)[0]?.agent, "sub")
    yield* TestClock.adjust("3 hours")
    // there is no approver to ask: what was decided counts
    const unasked = Approval.layer(() => Effect.die(new Error("no approver is to be asked")))
    const output = yield* run(Agent.resume(boss), deciding(from)).pipe(
      Effect.provide(unasked),
      Effect.provide(model.layer)
    )
    assert.strictEqual(output, "done")
    assert.deepStrictEqual(paid, [5])
    assert.strictEqual(looked.length, 1)
    assert.deepStrictEqual(read(model), ["result: sub done"])
  })
)

it.effect("in a run that may be suspended a sub-agent gets its input, and listeners get its end [P902 A1110]", () =>
  Effect.gen(function* () {
    const description = "Does it."
    const loud = Agent.deterministic("loud", (input: string) => Effect.succeed(input.toUpperCase()))
    const inner = yield* make(text("sub done"), text("part done"))
    const sub = Agent.make("sub", { model: inner.layer })
    const part = Agent.map(Agent.make("part", { model: inner.layer }), (said) => `${said}!`)
    const tools = [
      Agent.asTool(sub, { description }),
      Agent.asTool(loud, { description }),
      Agent.asTool(part, { name: "part", description })
    ] as const
    const boss = Agent.make("boss", { skills: [Skill.make("b", { description: "B.", tools })] })
    const said = (name: string) => call(name, { input: `${name}, do it` }, name)
    const model = yield* make(calls(said("sub")), calls(said("loud")), calls(said("part")), done)
    const handle = yield* boss.start("go").pipe(Effect.provide(model.layer))
    assert.deepInclude(yield* handle.outcome, { _tag: "Completed", output: "done" })
    assert.deepStrictEqual(read(model), ["result: sub done", "result: LOUD, DO IT", "result: part done!"])
    assert.deepStrictEqual(
      inner.requests.map(({ messages }) => messages.at(-1)),
      ["sub, do it", "part, do it"].map(Message.user)
    )
    const events = yield* Stream.runCollect(handle.events)
    const deltas = events.filter(({ type }) => type === "text-delta")
    assert.deepStrictEqual([...new Set(deltas.map(({ agent }) => agent))], ["sub", "part", "boss"])
  })
)

it.effect("without a decision it waits on; its bill and its counts are booked once, however often [P902 P703]", () =>
  Effect.gen(function* () {
    const { boss, paid } = family()
    const model = yield* make(calls(calling()), look, payment, text("sub done"), done)
    const first = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
    const second = yield* snapshotOf(yield* outcomeOf(Agent.resume(boss), { from: first }, model))
    assert.deepStrictEqual(Snapshot.requestsOf(second), Snapshot.requestsOf(first))
    assert.deepStrictEqual(second.spent, first.spent)
    assert.strictEqual(second.ledger.length, 3)
    const handle = yield* Agent.resume(boss)
      .start(deciding(second))
      .pipe(Effect.provide(model.layer), Effect.provide(Approval.layer(() => Effect.die("no approver"))))
    assert.strictEqual((yield* handle.outcome)._tag, "Completed")
    assert.deepStrictEqual(
      (yield* handle.ledger).map(({ agent, turn }) => [agent, turn]),
      [
        ["boss", 1],
        ["sub", 1],
        ["sub", 2],
        ["sub", 3],
        ["boss", 2]
      ]
    )
    const events = yield* Stream.runCollect(handle.events)
    assert.strictEqual(events.filter(isTerminal).length, 2)
    assert.deepStrictEqual(paid, [5])
  })
)

it.effect("several sub-agents wait together, two levels deep, each for its own decision [P902 P905]", () =>
  Effect.gen(function* () {
    const { paid, boss } = family()
    const top = Agent.make("top", {
      skills: [Skill.make("t", { description: "T.", tools: [Agent.asTool(boss, { description: "B." })] })]
    })
    const model = yield* make(
      calls(call("boss", { input: "go" }, "b1")),
      calls(calling("s1"), calling("s2")),
      payment,
      calls(call("pay", { cents: 6 }, "p")),
      text("first"),
      text("second"),
      text("boss done"),
      done
    )
    const from = yield* snapshotOf(yield* outcomeOf(top, "go", model))
    const requests = Snapshot.requestsOf(from)
    assert.strictEqual(requests.length, 2)
    const decisions = requests.map(({ arguments: args, digest }) => ({
      digest,
      decision: JSON.stringify(args).includes("6") ? Approval.refuse("too much") : Approval.approve
    }))
    const one = yield* snapshotOf(
      yield* outcomeOf(Agent.resume(top), { from, decisions: decisions.slice(0, 1) }, model)
    )
    assert.strictEqual(Snapshot.requestsOf(one).length, 1)
    const end = yield* outcomeOf(Agent.resume(top), { from: one, decisions: decisions.slice(1) }, model)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(paid, [5])
  })
)

it.effect("a sub-agent that a tool of the user's calls itself waits for its Approver [P902]", () =>
  Effect.gen(function* () {
    const { paid, sub } = family()
    const own = Tool.make("sub", {
      description: "Does it.",
      parameters: Schema.Struct({ input: Schema.String }),
      success: Schema.String,
      run: ({ input }) => sub(input)
    })
    const boss = Agent.make("boss", { skills: [Skill.make("b", { description: "B.", tools: [own] })] })
    const model = yield* make(calls(calling()), payment, text("sub done"), done)
    const approving = Approval.layer(() => Effect.succeed(Approval.approve))
    const end = yield* Effect.provide(outcomeOf(boss, "go", model), approving)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(paid, [5])
  })
)

it.effect("a changed nested snapshot is refused as well [P902 P602]", () =>
  Effect.gen(function* () {
    const { boss } = family()
    const model = yield* make(calls(calling()), payment)
    const from = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
    const document = JSON.stringify(Snapshot.toJson(from))
    for (const [was, is] of [
      ['"arguments":{"cents":5}', '"arguments":{"cents":9999}'],
      ['"maxTurns":50', '"maxTurns":"Infinity"']
    ] as const) {
      assert.include(document, was)
      const error = yield* Effect.flip(Snapshot.fromJson(JSON.parse(document.replace(was, is))))
      assert.isTrue(Schema.isSchemaError(error))
    }
  })
)

it.effect("a resumed sub-agent does not pass policies and approval of its call once more [P902 P901]", () =>
  Effect.gen(function* () {
    const { paid, sub } = family()
    const judged: Array<string> = []
    const tool = Agent.asTool(sub, { description: "Does it." }).pipe(Tool.requireApproval())
    const boss = Agent.make("boss", { skills: [Skill.make("b", { description: "B.", tools: [tool] })] }).pipe(
      Agent.toolPolicy(({ tool }) => {
        judged.push(tool)
        return ToolPolicy.allow
      })
    )
    const model = yield* make(calls(calling()), payment, text("sub done"), done)
    const first = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
    const second = yield* snapshotOf(yield* outcomeOf(Agent.resume(boss), deciding(first), model))
    assert.deepStrictEqual(
      [first, second].map((from) => Snapshot.requestsOf(from).map((request) => request.tool)),
      [["sub"], ["pay"]]
    )
    const before = judged.length
    const end = yield* outcomeOf(Agent.resume(boss), deciding(second), model)
    assert.deepInclude(end, { _tag: "Completed", output: "done", finish: "stop" })
    assert.deepStrictEqual(paid, [5])
    assert.notInclude(judged.slice(before), "sub")
  })
)

it.effect("a sub-agent that waits in its second run goes on in that run, and its rows know it [P902 P1104]", () =>
  Effect.gen(function* () {
    const paid: Array<number> = []
    const failing = scripted("look", Effect.fail(busy("first")), Effect.fail(busy("second")))
    const contexts: Array<Recovery.FailureContext> = []
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Int }),
      success: Schema.String,
      run: ({ cents }) => Effect.sync(() => `paid ${paid.push(cents)}`)
    }).pipe(Tool.requireApproval())
    const sub = Agent.make("sub", { skills: [Skill.make("s", { description: "S.", tools: [failing.tool, pay] })] })
    const tool = Agent.asTool(sub, { description: "Does it." }).pipe(
      Tool.onError({
        Busy: Recovery.when((_error, context) => {
          contexts.push(context)
          return Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell())
        })
      })
    )
    const boss = Agent.make("boss", { skills: [Skill.make("b", { description: "B.", tools: [tool] })] })
    const model = yield* make(calls(calling()), look, payment, look, done)
    const fiber = yield* Effect.forkChild(outcomeOf(boss, "go", model))
    yield* calm
    yield* TestClock.adjust("1 minute")
    const from = yield* snapshotOf(yield* Fiber.join(fiber))
    yield* outcomeOf(Agent.resume(boss), deciding(from), model)
    assert.deepStrictEqual(paid, [5])
    assert.deepStrictEqual(
      contexts.map(({ attempt, runs }) => [attempt, runs]),
      [
        [1, 1],
        [2, 2]
      ]
    )
  })
)

it.effect(
  "a sub-agent goes on though the parameters of its tool are others by now, and its rows know of none [P902]",
  () =>
    Effect.gen(function* () {
      const { paid, sub, boss } = family()
      const model = yield* make(calls(calling()), payment, calls(call("nope", {}, "n")), done)
      const from = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
      const failures: Array<ToolError.ExecutionError> = []
      const changed = Agent.asTool(sub.pipe(Agent.toolDefaults({ UnknownToolError: Recovery.raise })), {
        description: "Does it.",
        parameters: Schema.Struct({ task: Schema.Int }),
        toInput: ({ task }) => `${task}`
      }).pipe(
        Tool.onError({
          ExecutionError: Recovery.tell((error) => {
            failures.push(error)
            return "failed"
          })
        })
      )
      const later = Agent.make("boss", { skills: [Skill.make("b", { description: "B.", tools: [changed] })] })
      yield* outcomeOf(Agent.resume(later), deciding(from), model)
      assert.deepStrictEqual(paid, [5])
      assert.deepStrictEqual(
        failures.map(({ args }) => args),
        [null]
      )
      assert.deepStrictEqual(read(model), ["told: failed"])
    })
)
