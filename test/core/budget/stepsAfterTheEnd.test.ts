/** Once a limit of a run was reached, no step of it begins, and what is done about its end is no step of it. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, LlmError, Recovery, Tool, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Exit, Layer, Schema } from "effect"
import { batch, busy, done, eventLog, failureOf, overADay, play, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { make, text } = ScriptedModel
const child = Agent.make("child", {})
/** What reaches the limit of turns of the run around it, and keeps that to itself. */
const reaching = Effect.catchCause(child("go"), () => Effect.succeed("held back"))
const options = { description: "Does it.", parameters: Schema.Struct({}), success: Schema.String }
const ask = Tool.make("ask", { ...options, run: () => child("go") })
const once = { maxTurns: 1, maxDuration: "1 day" } as const
const exceeded = (reason: "maxTurns" | "maxTokens") => ({ _tag: "BudgetExceededError", agent: "boss", reason }) as const

it.effect("the first exceeded limit stays the limit that ends the run, and its decision is kept [P1308 A909]", () =>
  Effect.gen(function* () {
    for (const first of [Budget.stop, Budget.checkpoint]) {
      const slow = scripted("slow", Effect.as(Effect.sleep("2 minutes"), "late"))
      const reasons: Array<string> = []
      const boss = Agent.make("boss", {
        tools: [slow.tool, ask],
        budget: { maxTurns: 1, maxDuration: "1 minute" }
      }).pipe(
        Agent.onBudgetExceeded(({ reason }) => {
          reasons.push(reason)
          return reason === "maxTurns" ? first : first === Budget.stop ? Budget.checkpoint : Budget.stop
        })
      )
      const model = yield* make(batch("slow", "ask"))
      const exit = yield* overADay(outcomeOf(boss, "go", model))
      if (first === Budget.stop) assert.deepInclude(yield* failureOf(exit), exceeded("maxTurns"))
      else yield* snapshotOf(yield* exit)
      assert.deepStrictEqual(reasons, ["maxTurns"])
    }
  })
)

it.run("an agent that decides about a limit has none of the limits of that run, and is booked [P1308 A909]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const answered: Array<string> = []
    const clerk = yield* make(text("no"))
    const decider = Agent.make("decider", { model: clerk.layer, budget: { maxDuration: "Infinity" } })
    const { tool } = scripted("look", Effect.succeed("seen"))
    const boss = Agent.make("boss", { tools: [tool], budget: { maxTurns: 1, maxDuration: "1 minute" } }).pipe(
      Agent.onBudgetExceeded(() =>
        Effect.map(Effect.orDie(decider("may I?")), (answer) => {
          answered.push(answer)
          return Budget.stop
        })
      ),
      log.listen
    )
    const model = yield* make(batch("look"))
    const error = yield* failureOf(yield* overADay(run(boss, "go").pipe(Effect.provide(model.layer))))
    assert.deepInclude(error, exceeded("maxTurns"))
    assert.deepStrictEqual(answered, ["no"])
    const last = log.of("run-failed").at(-1)
    assert.deepStrictEqual(
      last?.ledger.map(({ agent }) => agent),
      ["boss", "decider"]
    )
  })
)

it.run("the end of another run that an effect brings along is a failure of this one [P1308]", (run) =>
  Effect.gen(function* () {
    const cached = yield* Effect.cached(child("go"))
    const caching = Tool.make("ask", { ...options, run: () => cached })
    const model = yield* make(batch("ask"), batch("ask"))
    const [first, second] = [once, {}].map((budget, index) =>
      run(Agent.make(`boss${index === 0 ? "" : "2"}`, { tools: [caching], budget }), "go").pipe(
        Effect.provide(model.layer)
      )
    )
    assert(first !== undefined && second !== undefined)
    assert.deepInclude(yield* Effect.flip(first), exceeded("maxTurns"))
    assert.deepInclude(yield* Effect.flip(second), exceeded("maxTurns"))
  })
)

it.run("a tool does not run if the limit is reached while its policy or its approver decides [P1308]", (run) =>
  Effect.gen(function* () {
    const policy = ToolPolicy.allow
    for (const isAsked of [false, true]) {
      const { runs, tool } = scripted("pay", Effect.succeed("paid"))
      const bare = Agent.make("boss", { tools: [tool.pipe(Tool.requireApproval())], budget: once })
      const boss = isAsked ? bare : bare.pipe(Agent.toolPolicy(() => Effect.as(reaching, policy)))
      const model = yield* make(batch("pay"))
      const approving = Effect.as(isAsked ? Effect.provide(reaching, model.layer) : Effect.void, Approval.approve)
      const approver = Approval.layer(() => approving)
      const exit = yield* Effect.exit(run(boss, "go").pipe(Effect.provide(Layer.merge(model.layer, approver))))
      assert.deepInclude(yield* failureOf(exit), exceeded("maxTurns"))
      assert.strictEqual(runs.length, 0)
    }
  })
)

it.run("an unsafe tool that was approved after the end does not run [P1308]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("pay", { sideEffects: "unsafe" }, [Effect.succeed("paid")])
    const boss = Agent.make("boss", { tools: [tool.pipe(Tool.requireApproval()), ask], budget: once })
    const approver = Approval.layer(() => Effect.as(Effect.sleep("1 hour"), Approval.approve))
    const model = yield* make(batch("pay", "ask"))
    const exit = yield* overADay(run(boss, "go").pipe(Effect.provide(Layer.merge(model.layer, approver))))
    assert.deepInclude(yield* failureOf(exit), exceeded("maxTurns"))
    assert.strictEqual(runs.length, 0)
  })
)

it.run("no child begins in a run that has ended, not even a plain function [P1308]", (run) =>
  Effect.gen(function* () {
    let runs = 0
    const log = eventLog()
    const plain = Agent.deterministic("plain", () => Effect.sync(() => `${++runs}`))
    const both = Tool.make("ask", { ...options, run: () => Effect.andThen(reaching, plain("x")) })
    const model = yield* make(batch("ask"))
    const boss = Agent.make("boss", { tools: [both], budget: once }).pipe(log.listen)
    const exit = yield* Effect.exit(run(boss, "go").pipe(Effect.provide(model.layer)))
    assert.deepInclude(yield* failureOf(exit), exceeded("maxTurns"))
    assert.strictEqual(runs, 0)
    assert.deepStrictEqual(
      log.of("run-start").map(({ agent }) => agent),
      ["boss", "child"]
    )
  })
)

it.run("no wait and no fixer begins after the end [P1308]", (run) =>
  Effect.gen(function* () {
    let fixed = 0
    const fixer = Agent.deterministic("fixer", () => Effect.sync(() => `{"n":${++fixed}}`))
    for (const row of [Recovery.retry({ retries: 1, initialBackoff: "1 hour" }), Recovery.fix(fixer, { retries: 1 })]) {
      const late = scripted("look", Effect.andThen(Effect.sleep("1 second"), Effect.fail(busy())))
      const boss = Agent.make("boss", { tools: [late.tool.pipe(Tool.onError({ Busy: row })), ask], budget: once })
      const model = yield* make(batch("look", "ask"))
      const began = yield* Clock.currentTimeMillis
      const timed = Effect.flatMap(Effect.exit(run(boss, "go").pipe(Effect.provide(model.layer))), (exit) =>
        Effect.map(Clock.currentTimeMillis, (now) => ({ exit, took: now - began }))
      )
      const { exit, took } = yield* Effect.flatten(overADay(timed))
      assert.deepInclude(yield* failureOf(exit), exceeded("maxTurns"))
      assert.strictEqual(took, 1000)
      assert.strictEqual(fixed, 0)
    }
  })
)

it.run(
  "what a contender has done that a limit of the race has ended is undone, though the race goes on [P1308]",
  (run) =>
    Effect.gen(function* () {
      const undone: Array<string> = []
      const book = Tool.make("book", { ...options, run: () => Effect.succeed("booked") }).pipe(
        Tool.compensate(({ result }) => Effect.sync(() => undone.push(result)))
      )
      const first = yield* make(batch("book"))
      const race = Agent.firstOf(
        Agent.make("first", { model: first.layer, tools: [book] }),
        Agent.deterministic("second", () => Effect.delay(Effect.succeed("answer"), "1 second"))
      ).pipe(Agent.withBudget(once))
      const exit = yield* overADay(run(race, "go"))
      assert.deepStrictEqual(exit, Exit.succeed("answer"))
      assert.deepStrictEqual(undone, ["booked"])
    })
)

it.run("a contender whose wait would pass the end of the race leaves the others at work [A1106 P1308]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.fail(busy()))
    const patient = tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1, initialBackoff: "1 hour" }) }))
    const first = yield* make(batch("look"))
    const race = Agent.firstOf(
      Agent.make("first", { model: first.layer, tools: [patient], budget: { maxDuration: "1 day" } }),
      Agent.deterministic("second", () => Effect.delay(Effect.succeed("answer"), "1 second"))
    ).pipe(Agent.withBudget({ maxDuration: "10 minutes" }))
    assert.deepStrictEqual(yield* overADay(run(race, "go")), Exit.succeed("answer"))
  })
)

it.run("tokens that a child has spent end the run at its next safe point, before a further call [P1308 A904]", (run) =>
  Effect.gen(function* () {
    const small = Agent.make("small", { budget: { maxTokens: 10 } })
    const tool = Tool.make("ask", { ...options, run: () => Effect.orElseSucceed(small("go"), () => "caught") })
    const model = yield* make(batch("ask"), done)
    const boss = Agent.make("boss", { tools: [tool], budget: { maxTokens: 20 } })
    const error = yield* Effect.flip(run(boss, "go").pipe(Effect.provide(model.layer)))
    assert.deepInclude(error, exceeded("maxTokens"))
    assert.strictEqual(model.requests.length, 2)
  })
)

it.run("a wait before another model call does not begin after the limit [P1308]", (run) =>
  Effect.gen(function* () {
    const overloaded = ScriptedModel.fails(LlmError.ModelOverloadedError.make({ model: "m" }))
    const late = yield* make(ScriptedModel.answers((request) => Effect.delay(overloaded.answer(request), "1 second")))
    const patient = Agent.make("patient", {
      model: late.layer,
      budget: { maxDuration: "1 day" },
      onLlmError: { ModelOverloadedError: Recovery.retry({ retries: 1, initialBackoff: "1 hour" }) }
    })
    const tool = Agent.asTool(patient, { name: "look", description: "Asks." })
    const boss = Agent.make("boss", { tools: [tool, ask], budget: { ...once, maxTurns: 2 } })
    const model = yield* make(
      ScriptedModel.calls(ScriptedModel.call("look", { input: "?" }), ScriptedModel.call("ask", {}))
    )
    const timed = Effect.flatMap(Effect.exit(run(boss, "go").pipe(Effect.provide(model.layer))), (exit) =>
      Effect.map(Clock.currentTimeMillis, (now) => ({ exit, now }))
    )
    const { exit, now } = yield* Effect.flatten(overADay(timed))
    assert.deepInclude(yield* failureOf(exit), exceeded("maxTurns"))
    assert.strictEqual(now, 1000)
  })
)
