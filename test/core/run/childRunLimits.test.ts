/** Limits that a child run reaches: checkpoints, and the agent whose limit it is. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Approval, Budget, Recovery, Skill, Tool, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Fiber, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { busy, calm, done, overADay, read, scripted, settlements } from "../../_support/dialogue.ts"
import { kindOf, outcomeOf, snapshotOf, suspendedAgents, waitingCalls } from "../../_support/suspension.ts"
import { calling, family, look, looks } from "./_support/family.ts"

const { call, calls, make, text } = ScriptedModel

it.effect(
  "a limit of the parent that a sub-agent reaches is a checkpoint that keeps the sub-agent's work [A909 A911]",
  () =>
    Effect.gen(function* () {
      const { boss, looked } = family({ maxTurns: 3 })
      const agent = boss.pipe(Agent.onBudgetExceeded(() => Budget.checkpoint))
      const model = yield* make(calls(calling()), look, look, look, text("sub done"), done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      assert.strictEqual(looked.length, 2)
      assert.deepStrictEqual(
        from.unfinished?.calls.map(({ type }) => type),
        ["agent"]
      )
      const next = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), { from }, model))
      assert.deepInclude(next.spent, { turns: 3, toolCalls: 3 })
      const end = yield* outcomeOf(Agent.resume(agent), { from: next, budget: { maxTurns: 6 } }, model)
      assert.strictEqual(end._tag, "Completed")
      assert.strictEqual(looked.length, 3)
      assert.deepStrictEqual(read(model), ["result: sub done"])
    })
)

it.effect(
  "the parent's deadline is a checkpoint too; the call at work in the sub-agent is settled as cut off [A903 A909]",
  () =>
    Effect.gen(function* () {
      const began = yield* Queue.unbounded<void>()
      const slow = scripted("look", Effect.andThen(Queue.offer(began, undefined), Effect.never))
      const sub = Agent.make("sub", { skills: [Skill.make("s", { description: "S.", tools: [slow.tool] })] })
      const boss = Agent.make("boss", {
        budget: { maxDuration: "10 seconds" },
        skills: [Skill.make("b", { description: "B.", tools: [Agent.asTool(sub, { description: "S." })] })]
      }).pipe(Agent.onBudgetExceeded(() => Budget.checkpoint))
      const model = yield* make(calls(calling()), look, text("sub done"), done)
      const fiber = yield* Effect.forkChild(outcomeOf(boss, "go", model))
      yield* Queue.take(began)
      yield* TestClock.adjust("10 seconds")
      const from = yield* snapshotOf(yield* Fiber.join(fiber))
      const [nested] = suspendedAgents(from)
      assert.deepStrictEqual(settlements(nested?.transcript ?? []), [
        "interrupted: The call was interrupted before it ended."
      ])
      const end = yield* outcomeOf(Agent.resume(boss), { from, budget: { maxDuration: "1 minute" } }, model)
      assert.strictEqual(end._tag, "Completed")
      assert.strictEqual(slow.runs.length, 1)
      assert.deepStrictEqual(read(model), ["result: sub done"])
    })
)

it.effect("a call whose sub-agent is at work at that end keeps the attempts that it has made [A909 P1104]", () =>
  Effect.gen(function* () {
    const slow = scripted("look", Effect.fail(busy()), Effect.never, Effect.fail(busy()))
    const sub = Agent.make("sub", { skills: [Skill.make("s", { description: "S.", tools: [slow.tool] })] })
    const tool = Agent.asTool(sub, { description: "S." }).pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1 }) }))
    const boss = Agent.make("boss", {
      budget: { maxDuration: "1 minute" },
      skills: [Skill.make("b", { description: "B.", tools: [tool] })]
    }).pipe(Agent.onBudgetExceeded(() => Budget.checkpoint))
    const model = yield* make(calls(calling()), look, look, look)
    const from = yield* Effect.flatMap(yield* overADay(outcomeOf(boss, "go", model)), snapshotOf)
    assert.deepInclude(waitingCalls(from)[0]?.progress, { executions: 1 })
    assert.deepInclude(waitingCalls(from)[0]?.progress?.position, { attempts: 1 })
    const resumed = outcomeOf(Agent.resume(boss), { from, budget: { maxDuration: "3 days" } }, model)
    const error = yield* Effect.flip(Effect.flatten(overADay(resumed)))
    assert.deepInclude(error, { _tag: "ToolExecutionError", tool: "sub" })
    assert.strictEqual(slow.runs.length, 3)
  })
)

it.effect("the handler is called once for a limit, however many sub-agents reach it at once [A909]", () =>
  Effect.gen(function* () {
    for (const decision of ["extend", "checkpoint", "stop"] as const) {
      const limits: Array<number> = []
      const { runs, tool: looking } = scripted("look", ...looks(20))
      const sub = Agent.make("sub", {
        budget: { maxTurns: 50 },
        skills: [Skill.make("s", { description: "S.", tools: [looking] })]
      })
      const boss = Agent.make("boss", {
        budget: { maxTurns: 5 },
        skills: [Skill.make("b", { description: "B.", tools: [Agent.asTool(sub, { description: "S." })] })]
      }).pipe(
        Agent.onBudgetExceeded(({ limit }) => {
          limits.push(limit)
          const decided = limit < 9 && decision === "extend" ? Budget.extend(limit + 4) : Budget.stop
          return Effect.as(calm, decision === "checkpoint" ? Budget.checkpoint : decided)
        })
      )
      const turns = decision === "extend" ? 8 : 4
      const model = yield* make(
        calls(calling("s1"), calling("s2"), calling("s3"), calling("s4")),
        ...Array.from({ length: turns }, () => look)
      )
      const handle = yield* boss.start("go").pipe(Effect.provide(model.layer))
      const exit = yield* Effect.exit(handle.outcome)
      assert.deepStrictEqual(limits, decision === "extend" ? [5, 9] : [5])
      assert.strictEqual(runs.length, turns)
      const events = yield* Stream.runCollect(handle.events)
      assert.strictEqual(events.filter(({ type }) => type === "budget-exceeded").length, limits.length)
      assert.strictEqual(Exit.isSuccess(exit), decision === "checkpoint")
    }
  })
)

it.run(
  "the end of a budget names the agent whose limit it is, and tells the model nothing that is not for it [P704]",
  (run) =>
    Effect.gen(function* () {
      const { sub } = family()
      const failed: Array<AgentEvent.AgentEvent> = []
      const heard = sub.pipe(
        Agent.onEvent((event) => Effect.sync(() => void (event.type === "run-failed" && failed.push(event))))
      )
      for (const sideEffects of ["none", "unsafe"] as const) {
        const tool = Agent.asTool(heard, { description: "Does it.", sideEffects })
        const boss = Agent.make("boss", {
          budget: { maxTurns: 2 },
          skills: [Skill.make("b", { description: "B.", tools: [tool] })]
        })
        const model = yield* make(calls(calling()), look)
        const approving = Approval.layer(() => Effect.die("no approver is asked"))
        const error = yield* Effect.flip(run(boss, "go").pipe(Effect.provide(approving), Effect.provide(model.layer)))
        assert(error._tag === "BudgetExceededError")
        assert.include(error.message, "Agent 'boss' reached its limit of 2 turns")
        const [said] = settlements(error.transcript)
        assert.match(
          said ?? "",
          sideEffects === "none"
            ? /^interrupted: ERROR: the call was stopped, for the run has reached its limit of 2 turns$/
            : /^unknown: ERROR: the call was stopped, for the run has reached its limit of 2 turns\n/
        )
      }
      for (const end of failed) {
        assert(end.type === "run-failed" && end.error instanceof Error)
        assert.include(end.error.message, "Agent 'boss' reached its limit of 2 turns")
      }
      assert.strictEqual(failed.length, 2)
    })
)

it.run("the model reads a sub-agent's own limit as what happened, without help for the user [P704 A113]", (run) =>
  Effect.gen(function* () {
    const { tool: looking } = scripted("look", ...looks(1))
    const sub = Agent.make("sub", {
      budget: { maxTurns: 1 },
      skills: [Skill.make("s", { description: "S.", tools: [looking] })]
    })
    const tool = Agent.asTool(sub, { description: "S." }).pipe(Tool.onError({ orElse: Recovery.tell() }))
    const boss = Agent.make("boss", { skills: [Skill.make("b", { description: "B.", tools: [tool] })] })
    const model = yield* make(calls(calling()), look, done)
    const exit = yield* Effect.exit(run(boss, "go").pipe(Effect.provide(model.layer)))
    assert.isTrue(Exit.isSuccess(exit), Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "")
    assert.deepStrictEqual(read(model), [
      "told: permanent: agent 'sub' reached its limit of 1 turns before it had an answer; consider asking the user for clarification"
    ])
  })
)

it.run("a limit of the parent is no failure of the sub-agent: no row decides [P704]", (run) =>
  Effect.gen(function* () {
    const { sub } = family()
    const asked: Array<unknown> = []
    const tool = Agent.asTool(sub, { description: "Does it.", sideEffects: "none" }).pipe(
      Tool.onError({
        orElse: Recovery.when((error: unknown) => {
          asked.push(error)
          return Recovery.tell()
        })
      })
    )
    const boss = Agent.make("boss", {
      budget: { maxTurns: 2 },
      skills: [Skill.make("b", { description: "B.", tools: [tool] })]
    })
    const model = yield* make(calls(calling()), look)
    const unasked = Approval.layer(() => Effect.die("no approver is asked"))
    const error = yield* Effect.flip(run(boss, "go").pipe(Effect.provide(unasked), Effect.provide(model.layer)))
    assert(error._tag === "BudgetExceededError")
    assert.deepStrictEqual(asked, [])
    assert.deepStrictEqual(settlements(error.transcript), [
      "interrupted: ERROR: the call was stopped, for the run has reached its limit of 2 turns"
    ])
  })
)

it.effect("what is known of calls that were settled beside a sub-agent counts when the run goes on [A909 A911]", () =>
  Effect.gen(function* () {
    const began = yield* Queue.unbounded<void>()
    const slow = scripted("look", Effect.andThen(Queue.offer(began, undefined), Effect.never))
    const sub = Agent.make("sub", { skills: [Skill.make("s", { description: "S.", tools: [slow.tool] })] })
    const counts: Array<string> = []
    const failing = (name: string) => {
      const { tool } = scripted(name, ...Array.from({ length: 3 }, () => Effect.fail(busy())))
      return tool.pipe(
        Tool.onError({
          Busy: Recovery.when((_error, { failingBatches, failuresInARow }) => {
            counts.push(`${name}: ${failuresInARow} in a row, ${failingBatches} batches`)
            return Recovery.tell()
          })
        })
      )
    }
    const tools = [Agent.asTool(sub, { description: "Does it." }), failing("fetch"), failing("shut")]
    const boss = Agent.make("boss", {
      budget: { maxDuration: "10 seconds" },
      skills: [Skill.make("b", { description: "B.", tools })]
    }).pipe(
      Agent.onBudgetExceeded(() => Budget.checkpoint),
      Agent.toolPolicy(({ callId }) => (callId === "d1" ? ToolPolicy.deny("not now") : ToolPolicy.allow))
    )
    const model = yield* make(
      calls(calling(), call("fetch", {}, "f1"), call("shut", {}, "d1")),
      look,
      text("sub done"),
      calls(call("fetch", {}, "f2"), call("shut", {}, "d2")),
      done
    )
    const fiber = yield* Effect.forkChild(outcomeOf(boss, "go", model))
    yield* Queue.take(began)
    yield* TestClock.adjust("10 seconds")
    const from = yield* snapshotOf(yield* Fiber.join(fiber))
    assert.deepStrictEqual(from.unfinished?.calls.map(kindOf), [undefined, "told", "denied"])
    const end = yield* outcomeOf(Agent.resume(boss), { from, budget: { maxDuration: "1 minute" } }, model)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(counts, [
      "fetch: 0 in a row, 0 batches",
      "fetch: 1 in a row, 1 batches",
      "shut: 0 in a row, 1 batches"
    ])
  })
)
