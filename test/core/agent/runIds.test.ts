/** The run id that a caller gives, in every way to run an agent. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Schedule, Schema, Stream } from "effect"
import { agentWith, batch, done, eventLog, interruptedAt, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { till } from "../run/_support/till.ts"

const { call, calls, fails, make } = ScriptedModel

const Order = Schema.Struct({ order: Schema.String })
const pays = calls(call("pay", { to: "Ada", cents: 5 }, "c1"))
const overloaded = fails(LlmError.ModelOverloadedError.make({ model: "scripted" }))

it.run("events and errors have the id that was given, as a text or made of the input [P1357]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("worker", { input: Order })
    const model = yield* make(done, done, done)
    for (const each of [
      agent.pipe(Agent.withRunId("order-17")),
      agent.pipe(Agent.withRunId(({ order }) => `order-${order}`)),
      Agent.withRunId(agent, ({ order }) => `order-${order}`)
    ]) {
      const log = eventLog()
      assert.strictEqual(yield* run(log.listen(each), { order: "17" }).pipe(Effect.provide(model.layer)), "done")
      assert.isAbove(log.all.length, 2)
      assert.deepStrictEqual([...new Set(log.all.map(({ runId }) => runId))], ["order-17"])
    }
  })
)

it.run("a retry around an agent with a run id pays once; without one, it pays twice [P1357 P1502]", (run) =>
  Effect.gen(function* () {
    for (const [given, cents] of [
      [true, 5],
      [false, 10]
    ] as const) {
      const { keys, paid, pay } = till()
      const agent = agentWith(pay)
      const each = given ? agent.pipe(Agent.withRunId("order-17")) : agent
      const model = yield* make(pays, overloaded, pays, done)
      const trying = run(each, "go").pipe(Effect.retry({ times: 1 }), Effect.provide(model.layer))
      assert.strictEqual(yield* trying, "done")
      assert.strictEqual(keys.length, 2)
      assert.strictEqual(
        [...paid.values()].reduce((sum, one) => sum + one),
        cents
      )
    }
  })
)

it.effect("a retry around a stream, and a run after an interrupted one, pay once [P1357 P1502]", () =>
  Effect.gen(function* () {
    const { keys, paid, pay } = till()
    const slow = scripted("look", Effect.sleep("1 hour").pipe(Effect.as("seen")))
    const agent = agentWith(pay, slow.tool).pipe(Agent.withRunId("order-17"))
    const model = yield* make(pays, overloaded, pays, batch("look"), pays, done)
    yield* interruptedAt(
      1000,
      agent.stream("go").pipe(Stream.retry(Schedule.recurs(1)), Stream.runDrain, Effect.provide(model.layer))
    )
    yield* agent("go").pipe(Effect.provide(model.layer))
    assert.strictEqual(keys.length, 3)
    assert.strictEqual(paid.size, 1)
  })
)

it.effect(
  "a run that is started, suspended and resumed keeps its id, although its agent gives another one [P1357]",
  () =>
    Effect.gen(function* () {
      const { runs, tool } = paying()
      const agent = agentWith(tool)
      const model = yield* make(calls(call("pay", { cents: 5 }, "c1")), done)
      const from = yield* snapshotOf(yield* outcomeOf(agent.pipe(Agent.withRunId("order-17")), "go", model))
      assert.strictEqual(from.runId, "order-17")
      assert.isUndefined(from.seed)
      const log = eventLog()
      const other = agent.pipe(Agent.withRunId("another"), log.listen)
      const end = yield* outcomeOf(Agent.resume(other), deciding(from), model)
      assert.strictEqual(end._tag, "Completed")
      assert.deepStrictEqual([...new Set(log.all.map(({ runId }) => runId))], ["order-17"])
      assert.deepStrictEqual(runs, [5])
    })
)

it.run("a transcript begins a new run: its id is made of the next message of the user [P1357]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const agent = Agent.make("worker", {}).pipe(log.listen)
    const model = yield* make(done)
    const from = [Message.user("hello"), { role: "assistant", content: [Message.text("hello")] } as const]
    const named = Agent.resume(agent.pipe(Agent.withRunId((said) => `about ${said}`)))
    yield* run(named, { from, input: "ships" }).pipe(Effect.provide(model.layer))
    yield* run(named, { from }).pipe(Effect.provide(model.layer))
    yield* run(Agent.resume(agent.pipe(Agent.withRunId("fixed"))), { from }).pipe(Effect.provide(model.layer))
    const [first, second, third] = log.all.flatMap((event) => (event.type === "run-start" ? [event.runId] : []))
    assert.deepStrictEqual([first, third], ["about ships", "fixed"])
    assert.match(second ?? "", /^run-/)
  })
)

it.run(
  "a sub-agent, a part and a function have the ids that were given to them; calls around them count [P1357 P1502]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const { keys, pay } = till()
      const clerk = Agent.make("clerk", { tools: [pay] }).pipe(Agent.withRunId((input) => `for ${input}`))
      const asked = (input: string, id: string) => call("clerk", { input }, id)
      const boss = agentWith(Agent.asTool(clerk, { description: "Pays." })).pipe(Agent.withRunId("boss"))
      const all = boss.pipe(
        Agent.andThen(clerk),
        Agent.andThen(Agent.deterministic("last", (input: string) => clerk(input)).pipe(Agent.withRunId("last"))),
        log.listen
      )
      const each = [pays, done]
      const model = yield* make(
        calls(asked("a", "c1")),
        ...each,
        calls(asked("a", "c2")),
        ...each,
        done,
        ...each,
        ...each
      )
      yield* run(all, "go").pipe(Effect.provide(model.layer))
      const ids = log.all.flatMap((event) => (event.type === "run-start" ? [event.runId] : []))
      assert.match(ids[0] ?? "", /^run-/)
      assert.deepStrictEqual(ids.slice(1), ["boss", "for a", "for a", "for done", "last", "for done"])
      // the last two runs have one id and no call around them
      assert.strictEqual(keys.length, 4)
      assert.strictEqual(keys[2], keys[3])
      assert.strictEqual(new Set(keys).size, 3)
    })
)

it.run("a retry within a tool around an agent with a run id pays once in each call of the tool [P1357 P1502]", (run) =>
  Effect.gen(function* () {
    const { keys, paid, pay } = till()
    const clerk = agentWith(pay).pipe(Agent.withRunId("clerk"))
    const model = yield* make(pays, overloaded, pays, done, pays, overloaded, pays, done)
    const trying = clerk("go").pipe(Effect.retry({ times: 1 }), Effect.provide(model.layer))
    const desk = scripted("desk", trying, trying)
    const outer = yield* make(batch("desk"), batch("desk"), done)
    const boss = agentWith(desk.tool).pipe(Agent.withBudget({ maxTurns: 20 }))
    yield* run(boss, "go").pipe(Effect.provide(outer.layer))
    assert.strictEqual(keys.length, 4)
    assert.strictEqual(paid.size, 2)
  })
)

it.run("a sequence with a run id stays a run of its own in a longer one [P1357]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const one = (name: string) => Agent.deterministic(name, (input: string) => Effect.succeed(input))
    const inner = one("a").pipe(Agent.andThen(one("b")), Agent.withRunId("inner"))
    yield* run(inner.pipe(Agent.andThen(one("c")), log.listen), "go")
    const ids = log.all.flatMap((event) => (event.type === "run-start" ? [`${event.runId}: ${event.agent}`] : []))
    assert.include(ids, "inner: andThen")
  })
)

it.run(
  "an id that is no text of one line is refused: when it is given, or as a defect that names the agent [P1357]",
  (run) =>
    Effect.gen(function* () {
      const agent = Agent.make("worker", {})
      const model = yield* make()
      const odd: ReadonlyArray<string> = ["", "a\nb", "\u0000", "x".repeat(201)]
      for (const id of odd) {
        assert.throws(
          () => Agent.withRunId(agent, id),
          TypeError,
          "Agent 'worker': a run id is a text of 1 to 200 characters"
        )
        const exit = yield* Effect.exit(
          run(agent.pipe(Agent.withRunId(() => id)), "go").pipe(Effect.provide(model.layer))
        )
        assert.include(
          String(Exit.isFailure(exit) && Cause.squash(exit.cause)),
          "Agent 'worker': a run id is a text of"
        )
      }
      const throwing = agent.pipe(
        Agent.withRunId((): string => {
          throw new Error("no order")
        })
      )
      const exit = yield* Effect.exit(run(throwing, "go").pipe(Effect.provide(model.layer)))
      assert.include(
        String(Exit.isFailure(exit) && Cause.squash(exit.cause)),
        "The function for the run id of agent 'worker' threw: no order"
      )
      for (const id of ["x".repeat(200), "ä 17/β"]) assert.strictEqual(Agent.withRunId(agent, id).name, "worker")
    })
)
