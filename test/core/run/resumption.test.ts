import { assert } from "@effect/vitest"
import { Agent, Budget, Message, type Model, RunError, Snapshot, type Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { agentWith, batch, calm, done, gone, isTerminal, scripted, settlements } from "../../_support/dialogue.ts"

const { make, text } = ScriptedModel

const seen = (times: number) => Array.from({ length: times }, () => Effect.succeed("seen"))

const working = <const Tools extends ReadonlyArray<Tool.AnyTool>>(budget: Budget.Limits, ...tools: Tools) =>
  Agent.make("worker", {
    prompt: "Work.",
    budget,
    skills: [{ name: "work", description: "Works.", tools }]
  })

it.run(
  "after a budget ended a run, it goes on from its transcript with a bigger one; nothing runs twice [A911]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = scripted("look", ...seen(3))
      const model = yield* make(batch("look"), batch("look"), batch("look"), done)
      const agent = working({ maxTurns: 2 }, tool)
      const error = yield* Effect.flip(run(agent, "go")).pipe(Effect.provide(model.layer))
      assert(error instanceof RunError.BudgetExceededError)
      assert.strictEqual(runs.length, 2)
      const resumed = run(Agent.resume(agent), { from: error.transcript, budget: { maxTurns: 5 } })
      assert.strictEqual(yield* resumed.pipe(Effect.provide(model.layer)), "done")
      assert.strictEqual(runs.length, 3)
      const last = model.requests.at(-1)?.messages ?? []
      assert.deepStrictEqual(last.slice(0, error.transcript.length), error.transcript)
    })
)

it.run("a conversation goes on with the user's next message; an answered one gives its answer [A911 P406]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", ...seen(1))
    const model = yield* make(text("first"), batch("look"), text("second"))
    const agent = working({}, tool)
    const outputs: Array<string> = []
    outputs.push(yield* run(agent, "one").pipe(Effect.provide(model.layer)))
    const said = [...(model.requests[0]?.messages ?? []), Message.assistant("first")]
    outputs.push(yield* run(Agent.resume(agent), { from: said, input: "two" }).pipe(Effect.provide(model.layer)))
    outputs.push(yield* run(Agent.resume(agent), { from: said }).pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(outputs, ["first", "second", "first"])
    assert.deepStrictEqual(
      model.requests[1]?.messages.map(({ role }) => role),
      ["system", "user", "assistant", "user"]
    )
    assert.strictEqual(model.requests.length, 3)
  })
)

it.run("a history of foreign origin is repaired first, and the agent's prompt is put before it [P402 P406]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(text("done"))
    const call = { type: "tool-call", id: "c9", name: "look", arguments: "{}" } as const
    const from = Message.repair([Message.user("go"), { role: "assistant", content: [call] }])
    const { runs, tool } = scripted("look")
    assert.strictEqual(yield* run(Agent.resume(working({}, tool)), { from }).pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(
      model.requests[0]?.messages.map(({ role }) => role),
      ["system", "user", "assistant"]
    )
    assert.strictEqual(runs.length, 0)
  })
)

const starting = <O, E>(
  agent: { readonly start: (input: string) => Effect.Effect<Agent.Run<O, E>, never, unknown> },
  model: ScriptedModel.ScriptedModel
) =>
  // what it needs is the model, and the scope of the test
  (agent.start("go") as Effect.Effect<Agent.Run<O, E>, never, Model.Model>).pipe(Effect.provide(model.layer))

it.effect(
  "a checkpoint suspends a started run, and a bigger budget lets it go on with all that it has counted [A909]",
  () =>
    Effect.gen(function* () {
      const { runs, tool } = scripted("look", ...seen(3))
      const model = yield* make(batch("look"), batch("look"), batch("look"), done)
      const agent = working({ maxTurns: 2 }, tool).pipe(Agent.onBudgetExceeded(() => Budget.checkpoint))
      const handle = yield* starting(agent, model)
      const outcome = yield* handle.outcome
      assert(outcome._tag === "Suspended")
      assert.deepInclude(outcome.snapshot, { turn: 2, agent: "worker" })
      assert.deepStrictEqual(outcome.snapshot.spent.turns, 2)
      const from = yield* Snapshot.fromJson(JSON.parse(JSON.stringify(Snapshot.toJson(outcome.snapshot))))
      const second = yield* Effect.flip(Agent.resume(agent)({ from })).pipe(Effect.provide(model.layer))
      assert.deepInclude(second, { reason: "maxTurns", spent: 2 })
      const resumed = yield* Agent.resume(agent)
        .start({ from, budget: { maxTurns: 4 }, repeat: true })
        .pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(yield* resumed.outcome, { _tag: "Completed", output: "done", finish: "stop" })
      assert.strictEqual(runs.length, 3)
      assert.deepStrictEqual(yield* resumed.usage, Usage.make({ inputTokens: 40, outputTokens: 20 }))
      assert.strictEqual((yield* resumed.ledger).length, 4)
    })
)

it.run("where no caller can resume it, a checkpoint ends the run as stop does [A909]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", ...seen(1))
    const model = yield* make(batch("look"))
    const agent = working({ maxTurns: 1 }, tool).pipe(Agent.onBudgetExceeded(() => Budget.checkpoint))
    const error = yield* Effect.flip(run(agent, "go")).pipe(Effect.provide(model.layer))
    assert.strictEqual(error._tag, "BudgetExceededError")
  })
)

it.effect("a handle gives each reader all events, and the transcript and usage so far [A1202 A1203]", () =>
  Effect.gen(function* () {
    const slow = scripted("slow", Effect.as(Effect.sleep("1 minute"), "seen"))
    const model = yield* make(batch("slow"), done)
    const handle = yield* starting(agentWith(slow.tool), model)
    yield* calm
    const early = yield* Effect.forkChild(Stream.runCollect(handle.events))
    yield* calm
    assert.deepStrictEqual(settlements(yield* handle.transcript), [
      "interrupted: The call was interrupted before it ended."
    ])
    assert.deepStrictEqual(yield* handle.usage, Usage.make({ inputTokens: 10, outputTokens: 5 }))
    yield* TestClock.adjust("2 minutes")
    assert.deepStrictEqual(yield* handle.outcome, { _tag: "Completed", output: "done", finish: "stop" })
    const heard = yield* Fiber.join(early)
    const late = yield* Stream.runCollect(handle.events)
    assert.deepStrictEqual(late, heard)
    assert.strictEqual(heard[0]?.type, "run-start")
    assert.strictEqual(heard.filter(isTerminal).length, 1)
    assert.deepStrictEqual(settlements(yield* handle.transcript), ["result: seen"])
  })
)

it.effect(
  "a handle interrupts its run, which keeps what it has; so does the scope that it was started in [A111 P401]",
  () =>
    Effect.gen(function* () {
      for (const ends of ["interrupt", "scope"] as const) {
        const slow = scripted("slow", Effect.never)
        const model = yield* make(batch("slow"))
        const events = yield* Effect.scoped(
          Effect.gen(function* () {
            const handle = yield* starting(agentWith(slow.tool), model)
            yield* calm
            if (ends === "interrupt") yield* handle.interrupt
            return handle
          })
        )
        const heard = yield* Stream.runCollect(events.events)
        assert.strictEqual(heard.at(-1)?.type, "run-interrupted")
        const exit = yield* Effect.exit(events.outcome)
        assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
        assert.strictEqual(settlements(yield* events.transcript).length, 1)
      }
    })
)

it.effect("the outcome of a handle fails as the run fails, with that very error [A107]", () =>
  Effect.gen(function* () {
    const failure = gone("away")
    const { tool } = scripted("look", Effect.fail(failure))
    const model = yield* make(batch("look"))
    const handle = yield* starting(agentWith(tool), model)
    assert.strictEqual(yield* Effect.flip(handle.outcome), failure)
    assert.strictEqual((yield* Stream.runCollect(handle.events)).at(-1)?.type, "run-failed")
  })
)

it.effect("a document that is no snapshot fails with the place where it is none [P902]", () =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(Snapshot.fromJson({ version: 1, runId: "r" }))
    assert.include(String(error), "transcript")
    assert.strictEqual(Schema.isSchemaError(error), true)
  })
)
