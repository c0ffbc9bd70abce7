/** What a run that goes on has of the run that it was: its limits, its prices, its bill, and what was asked for. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, Message, Router, Skill, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Fiber, Queue, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { agentWith, batch, done, read, scripted } from "../../_support/dialogue.ts"
import { deciding, kindOf, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make, text } = ScriptedModel

const pay = (cents: number) => calls(call("pay", { cents }, `c${cents}`))

const working = <const Tools extends ReadonlyArray<Tool.AnyTool>>(budget: Budget.Limits, ...tools: Tools) =>
  Agent.make("worker", { budget, skills: [Skill.make("work", { description: "Works.", tools })] }).pipe(
    Agent.onBudgetExceeded(() => Budget.checkpoint)
  )

it.effect("a bigger budget replaces the limits that it names, and no others: now, and whenever it goes on [A911]", () =>
  Effect.gen(function* () {
    const { tool } = paying()
    const agent = working({ maxTurns: 1, maxTokens: 1000, maxToolCalls: 5, maxDuration: "1 minute" }, tool)
    const model = yield* make(pay(1), pay(2), pay(3), pay(4))
    const resumption = Agent.resume(agent)
    let from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const resumed = (budget?: Budget.Limits) =>
      Effect.flatMap(
        outcomeOf(resumption, { ...deciding(from), ...(budget === undefined ? {} : { budget }) }, model),
        snapshotOf
      )
    from = yield* resumed({ maxTurns: 10 })
    const limits = { maxTurns: 10, maxTokens: 1000, maxToolCalls: 5, maxCost: Infinity, maxDuration: 60_000 }
    assert.deepStrictEqual(from.limits, limits)
    from = yield* resumed()
    assert.deepStrictEqual(from.limits, limits)
    // one that is nearer holds as well
    from = yield* resumed({ maxTurns: 4, maxDuration: "10 seconds" })
    assert.deepStrictEqual(from.limits, { ...limits, maxTurns: 4, maxDuration: 10_000 })
    from = yield* snapshotOf(yield* outcomeOf(resumption, deciding(from), model))
    assert.deepInclude(from.limits, { maxTurns: 4, maxDuration: 10_000 })
    assert.strictEqual(from.spent.turns, 4)
  })
)

it.run(
  "a bigger budget replaces the limits of calls in a reply, too: those in a row, and those at once [A911]",
  (run) =>
    Effect.gen(function* () {
      const atOnce: Array<number> = []
      let atWork = 0
      const look = Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () =>
          Effect.suspend(() => {
            atOnce.push(++atWork)
            return Effect.as(
              Effect.ensuring(
                Effect.yieldNow,
                Effect.sync(() => atWork--)
              ),
              "seen"
            )
          })
      })
      const agent = working({ maxTurns: 1, maxConsecutiveSameTool: 9, toolConcurrency: 3 }, look)
      const resumed = (budget: Budget.Limits, last?: ScriptedModel.ScriptedStep) =>
        Effect.gen(function* () {
          const model = yield* make(batch("look"), batch("look", "look"), ...(last === undefined ? [] : [last]))
          const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
          const goesOn = run(Agent.resume(agent), { from, budget: { maxTurns: 9, ...budget } })
          return yield* Effect.exit(Effect.provide(goesOn, model.layer))
        })
      assert.deepStrictEqual(yield* resumed({ toolConcurrency: 1 }, done), Exit.succeed("done"))
      assert.deepStrictEqual(atOnce, [1, 1, 1])
      assert.deepStrictEqual(yield* resumed({}, done), Exit.succeed("done"))
      assert.deepStrictEqual(atOnce.slice(3), [1, 1, 2])
      const exit = yield* resumed({ maxConsecutiveSameTool: 2 })
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.deepInclude(error, { _tag: "BudgetExceededError", reason: "maxConsecutiveSameTool", limit: 2 })
    })
)

it.run(
  "prices stay when a run goes on with a bigger budget: its bill is whole, and its cost has a limit [A911 A904]",
  (run) =>
    Effect.gen(function* () {
      const { tool } = scripted("look", Effect.succeed("seen"), Effect.succeed("seen"))
      const prices = { "*": { usdPerMillionTokens: { input: 1e6, output: 1e6 } } }
      const agent = working({ maxTurns: 1, maxCost: 20, prices }, tool)
      const model = yield* make(batch("look"), batch("look"))
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const error = yield* Effect.flip(
        run(Agent.resume(agent), { from, budget: { maxTurns: 20 } }).pipe(Effect.provide(model.layer))
      )
      assert(error._tag === "BudgetExceededError")
      assert.deepInclude(error, { reason: "maxCost", limit: 20, spent: 30 })
    })
)

it.effect("what a suspended run has spent is booked once by its parent, wherever it goes on [P703]", () =>
  Effect.gen(function* () {
    for (const isSameParent of [true, false]) {
      const { tool } = paying()
      const sub = agentWith(tool)
      const model = yield* make(pay(1), pay(2), done)
      const started = (input: string) => outcomeOf(sub, input, model)
      const resumed = (from: Snapshot.Snapshot) => outcomeOf(Agent.resume(sub), deciding(from), model)
      const first = isSameParent ? undefined : yield* snapshotOf(yield* started("go"))
      const boss = Agent.make("boss", {
        budget: { maxTurns: 8 },
        skills: [
          Skill.deterministic("lead", {
            description: "Leads.",
            run: (input) =>
              Effect.gen(function* () {
                const one = first ?? (yield* snapshotOf(yield* started(input)))
                const two = yield* snapshotOf(yield* resumed(one))
                return yield* resumed(two)
              }).pipe(Effect.scoped, Effect.orDie)
          })
        ]
      })
      const handle = yield* boss.start("go")
      yield* handle.outcome
      const ledger = yield* handle.ledger
      assert.deepStrictEqual(
        ledger.map(({ turn }) => turn),
        [1, 2, 3]
      )
      assert.strictEqual((yield* handle.usage).inputTokens, 30)
    }
  })
)

it.run(
  "the turns and calls of a run that goes on below its parent count once against the parent's limits [P703 A901]",
  (run) =>
    Effect.gen(function* () {
      const { tool } = paying()
      const sub = agentWith(tool)
      const model = yield* make(pay(1), pay(2), done)
      const boss = Agent.make("boss", {
        budget: { maxTurns: 3, maxToolCalls: 2 },
        skills: [
          Skill.deterministic("lead", {
            description: "Leads.",
            run: (input) =>
              Effect.gen(function* () {
                const one = yield* snapshotOf(yield* outcomeOf(sub, input, model))
                const two = yield* snapshotOf(yield* outcomeOf(Agent.resume(sub), deciding(one), model))
                return (yield* outcomeOf(Agent.resume(sub), deciding(two), model))._tag
              }).pipe(Effect.scoped)
          })
        ]
      })
      assert.strictEqual(yield* run(boss, "go"), "Completed")
    })
)

it.effect("a checkpoint by time keeps the requests for approval; what was cut off is settled as that [P902 A909]", () =>
  Effect.gen(function* () {
    const began = yield* Queue.unbounded<void>()
    const slow = Effect.andThen(Queue.offer(began, undefined), Effect.never)
    const { tool: look } = scripted("look", Effect.succeed("seen"))
    const { tool: wait } = scripted("wait", slow)
    const { runs, tool } = paying()
    const agent = working({ maxDuration: "1 second" }, look, wait, tool)
    const model = yield* make(
      calls(call("look", {}, "c1"), call("wait", {}, "c2"), call("pay", { cents: 5 }, "c3")),
      done
    )
    const fiber = yield* Effect.forkChild(outcomeOf(agent, "go", model))
    yield* Queue.take(began)
    yield* TestClock.adjust("1 second")
    const from = yield* snapshotOf(yield* Fiber.join(fiber))
    assert.strictEqual(Snapshot.requestsOf(from).length, 1)
    assert.deepStrictEqual(from.unfinished?.calls.map(kindOf), ["result", "interrupted", undefined])
    const end = yield* outcomeOf(Agent.resume(agent), { ...deciding(from), budget: { maxDuration: "1 minute" } }, model)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(runs, [5])
    assert.deepStrictEqual(read(model), [
      "result: seen",
      "interrupted: The call was interrupted before it ended.",
      "result: paid 1"
    ])
  })
)

const routed = () =>
  Agent.make("worker", {
    output: Schema.Struct({ n: Schema.FiniteFromString }),
    skills: [
      Skill.make("one", { description: "One.", tools: [] }),
      Skill.make("two", { description: "Two.", tools: [] })
    ]
  })

it.run("resuming an answered conversation, with skills and an output schema, makes no model call [A911]", (run) =>
  Effect.gen(function* () {
    const model = yield* make()
    const from = [Message.user("how many?"), Message.assistant('{"n":"3"}')]
    const answer = yield* run(Agent.resume(routed()), { from }).pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(answer, { n: 3 })
  })
)

it.run("if the last answer of a transcript does not fit, the chosen skill calls the model once more [A911]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(text('{"n":"4"}'))
    const from = [Message.user("how many?"), Message.assistant("three")]
    const agent = routed().pipe(Agent.route(Router.byRule(() => "one")))
    const answer = yield* run(Agent.resume(agent), { from }).pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(answer, { n: 4 })
  })
)

it.effect("an open approval is not dropped for an answer that stands before it [P902]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const agent = agentWith(tool)
    const model = yield* make(pay(5), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const answered = { ...from, transcript: [...from.transcript, Message.assistant("all paid")] }
    const waiting = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), { from: answered }, model))
    assert.strictEqual(Snapshot.requestsOf(waiting).length, 1)
    const end = yield* outcomeOf(Agent.resume(agent), deciding(waiting, Approval.approve), model)
    assert.deepInclude(end, { _tag: "Completed", output: "done" })
    assert.deepStrictEqual(runs, [5])
  })
)
