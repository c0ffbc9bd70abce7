/** One step of a run reaches a limit while others are at work. */
import { assert } from "@effect/vitest"
import { Agent, Budget, type Model, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Schema } from "effect"
import { busy, eventLog, lastTranscript, overADay, scripted, settlements } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make, text } = ScriptedModel

const skills = <const Tools extends ReadonlyArray<Tool.AnyTool>>(...tools: Tools) => [
  Skill.make("work", { description: "Works.", tools })
]

/** A tool that takes this many milliseconds, in ten steps. */
const slow = (name: string, millis: number) =>
  Tool.make(name, {
    description: "Takes a while.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: (_, { progress }) =>
      Effect.as(
        Effect.forEach(Array.from({ length: 10 }), () => Effect.andThen(Effect.sleep(millis / 10), progress("on"))),
        "done"
      )
  })

/** An agent with a model of its own, which calls this tool until it may not go on. */
const calling = (name: string, tool: ReturnType<typeof slow>) =>
  Effect.map(make(calls(call(tool.name, {}))), (model) =>
    Agent.make(name, { model: model.layer, skills: skills(tool) })
  )

const look = slow("look", 10)

it.run("in a race, a limit of one contender ends no step of the others [P1308 A1106]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(
      ScriptedModel.answers((request) => Effect.delay(text("answer").answer(request), "1 second"))
    )
    const race = Agent.firstOf(yield* calling("first", look), Agent.make("second", {})).pipe(
      Agent.withBudget({ maxTurns: 2 })
    )
    const exit = yield* overADay(run(race, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(exit, Exit.succeed("answer"))
  })
)

it.run(
  "where no contender answers, the race fails with its limit, which is an error of its type [P1308 A1106]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const first = yield* calling("first", look)
      const second = yield* calling("second", slow("busy", 500))
      const race = Agent.firstOf(first, second).pipe(Agent.withBudget({ maxTurns: 2 }), log.listen)
      const error = yield* Effect.flip(Effect.flatten(overADay(run(race, "go"))))
      assert.deepInclude(error, { _tag: "BudgetExceededError", agent: "firstOf", reason: "maxTurns" })
      const last = log.all.at(-1)
      assert(last?.type === "run-failed" && !last.isDefect)
      assert.strictEqual(last.error, error)
      assert.include(
        settlements(lastTranscript(log.of("run-failed").find(({ agent }) => agent === "second"))),
        "result: done"
      )
    })
)

const child = Agent.make("child", {})

it.run("a contender that has reached a limit does not answer, even if it catches that [P1308 A1106]", (run) =>
  Effect.gen(function* () {
    const swallowing = Agent.deterministic("swallowing", (_input: string) =>
      Effect.catchCause(child("go"), () => Effect.succeed("swallowed"))
    )
    const model = yield* make(text("one"))
    const slower = Agent.deterministic("slower", (_input: string) => Effect.delay(Effect.succeed("slower"), "1 second"))
    const race = Agent.firstOf(swallowing, slower).pipe(Agent.withBudget({ maxTokens: 1 }))
    const exit = yield* overADay(run(race, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(exit, Exit.succeed("slower"))
  })
)

/** What a tool may make of the limit that an agent has reached below it. */
const made: Readonly<Record<string, (self: Effect.Effect<unknown, unknown, Model.Model>) => typeof self>> = {
  nothing: (self) => self,
  "another defect": (self) => Effect.catchCause(self, () => Effect.die("another")),
  "a defect around it": (self) =>
    Effect.catchDefect(self, (defect) => Effect.die(new Error("around", { cause: defect }))),
  "an interruption": (self) => Effect.catchCause(self, () => Effect.interrupt)
}

for (const [name, make_] of Object.entries(made)) {
  it.run(`work beside a limit ends as it would have, also if a tool made ${name} of it [P1308 P605]`, (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const tool = Tool.make("ask", {
        description: "Asks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.orDie(Effect.as(make_(child("go")), "asked"))
      })
      const other = scripted("other", Effect.delay(Effect.succeed("seen"), "1 second")).tool
      const agent = Agent.make("boss", { budget: { maxTurns: 1 }, skills: skills(tool, other) }).pipe(log.listen)
      const model = yield* make(calls(call("other", {}, "o"), call("ask", {}, "a")))
      const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert(Exit.isFailure(exit))
      assert.deepInclude(Cause.squash(exit.cause), { _tag: "BudgetExceededError", agent: "boss" })
      assert.deepStrictEqual(settlements(lastTranscript(log.all.at(-1))), [
        "result: seen",
        "interrupted: ERROR: the call was stopped, for the run has reached its limit of 1 turns"
      ])
    })
  )
}

it.run("a function that catches the limit of its own and answers has reached it all the same [P1308]", (run) =>
  Effect.gen(function* () {
    const catching = Agent.deterministic("catching", (_input: string) =>
      Effect.catchCause(child("go"), () => Effect.succeed("caught"))
    ).pipe(Agent.withBudget({ maxTokens: 1 }))
    const model = yield* make(text("one"))
    const error = yield* Effect.flip(run(catching, "go").pipe(Effect.provide(model.layer)))
    assert.deepInclude(error, { _tag: "BudgetExceededError", agent: "catching", reason: "maxTokens" })
  })
)

it.effect("a failure that no table handles is not lost to a checkpoint of the parent [P1308 A909]", () =>
  Effect.gen(function* () {
    const nap = slow("nap", 100)
    const talk = yield* make(calls(call("nap", {})), text("passes the limit"))
    const grand = Agent.make("grand", { model: talk.layer, skills: skills(nap) })
    const bad = scripted("bad", Effect.delay(Effect.fail(busy()), "2 seconds")).tool
    const inner = yield* make(calls(call("bad", {}, "b"), call("grand", { input: "x" }, "g")))
    const tools = skills(bad, Agent.asTool(grand, { description: "G." }))
    const sub = Agent.make("sub", { model: inner.layer, skills: tools })
    const bossTools = [Agent.asTool(sub, { description: "S." }), slow("busy", 5000)] as const
    const boss = Agent.make("boss", { budget: { maxTokens: 50 }, skills: skills(...bossTools) }).pipe(
      Agent.toolDefaults({ orElse: Recovery.tell() }),
      Agent.onBudgetExceeded(() => Budget.checkpoint)
    )
    const model = yield* make(calls(call("sub", { input: "x" }, "s"), call("busy", {}, "y")))
    const exit = yield* overADay(Effect.scoped(outcomeOf(boss, "go", model)))
    assert(Exit.isSuccess(exit))
    const from = yield* snapshotOf(exit.value)
    assert.isUndefined(from.unfinished)
    assert.deepStrictEqual(settlements(from.transcript), [
      "told: permanent: busy; consider asking the user for clarification",
      "interrupted: ERROR: the call was stopped, for the run has reached its limit of 50 tokens"
    ])
  })
)
