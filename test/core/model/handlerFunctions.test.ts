/** A function in the place of a table for model calls. */
import * as Factories from "@kintsugi/core/Factories"
import { assert } from "@effect/vitest"
import { Agent, Compaction, LlmError, Message, Model, Recovery, Router, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, pipe } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, batch, done, eventLog, interruptedAt, overADay, scripted } from "../../_support/dialogue.ts"
import { asked, namedModel } from "../../_support/namedModels.ts"
import type { HandlerOptions } from "../../../packages/core/src/model/LlmTable.ts"

const { fails, make, text } = ScriptedModel

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "scripted" })
const refused = () => Factories.connectionRefused("h", 1)

const patient = Recovery.retry({ maxAttempts: 3, initialBackoff: "500 millis" })

it.run(
  "a handler gets the error of each failed attempt, and may choose another verdict each time [A702 A704 A708]",
  (run) =>
    Effect.gen(function* () {
      const errors = [overloaded(), refused(), overloaded()]
      const seen: Array<readonly [LlmError.LlmError, number]> = []
      const model = yield* make(...errors.map((error) => fails(error)))
      const agent = agentWith().pipe(
        Agent.onLlmError((error, { attempt }) => {
          seen.push([error, attempt])
          return attempt < 3 ? Recovery.retry({ retries: 9 }) : Recovery.respondWith("tired")
        })
      )
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "tired")
      assert.deepStrictEqual(
        seen.map(([, attempt]) => attempt),
        [1, 2, 3]
      )
      for (const [i, error] of errors.entries()) assert.strictEqual(seen[i]?.[0], error)
    })
)

it.run(
  "a model table refuses tool verdicts in types and at run time; a handler's leaves the failure as it is [A514 P1320]",
  (run) =>
    Effect.gen(function* () {
      const fixer = Recovery.fix(() => Effect.succeed(""))
      for (const verdict of [Recovery.tell(), Recovery.escalate(), Recovery.raise, fixer]) {
        const error = overloaded()
        const model = yield* make(fails(error))
        // what a caller without types may give
        const given = verdict as never
        const row =
          /Row 'ModelOverloadedError': the verdict '\w+' is not allowed in a table for a model call; allowed: retry, respondWith, rethrow, compact/
        assert.throws(() => agentWith().pipe(Agent.onLlmError({ ModelOverloadedError: given })), row)
        const rungs = Recovery.ladder(Recovery.rethrow, given)
        assert.throws(() => agentWith().pipe(Agent.onLlmError({ ModelOverloadedError: rungs })), row)
        const agent = agentWith().pipe(Agent.onLlmError({ ModelOverloadedError: () => given }))
        const left: unknown = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
        assert.strictEqual(left, error)
        assert.strictEqual(model.requests.length, 1)
      }
    })
)

it.run("a function that only retries leaves the last error as itself [A707]", (run) =>
  Effect.gen(function* () {
    const last = overloaded()
    const model = yield* make(fails(overloaded()), fails(refused()), fails(last))
    const agent = agentWith().pipe(Agent.onLlmError(() => patient))
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual(yield* Effect.flip(exit), last)
    assert.strictEqual(model.requests.length, 3)
  })
)

it.run("a function takes the place of the tables before it, rows after it win for their tags [A701]", (run) =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    const agent = agentWith().pipe(
      Agent.onLlmError({ NetworkError: Recovery.respondWith("earlier") }),
      Agent.onLlmError((error) => (seen.push(error._tag), Recovery.respondWith("asked"))),
      Agent.onLlmError({ ModelOverloadedError: Recovery.respondWith("later") })
    )
    const calls = (error: LlmError.LlmError) =>
      Effect.flatMap(make(fails(error)), (model) => run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual([yield* calls(refused()), yield* calls(overloaded())], ["asked", "later"])
    assert.deepStrictEqual(seen, ["NetworkError"])
  })
)

it.run("a function sees neither failures of tools nor an interruption [A703]", (run) =>
  Effect.gen(function* () {
    const seen: Array<unknown> = []
    const guarding = Agent.onLlmError(
      (error) => (seen.push(error), Recovery.retry({ initialBackoff: "1 minute", retries: 1 }))
    )
    const { tool } = scripted("look", Effect.fail(new Error("no")))
    const model = yield* make(batch("look"))
    yield* Effect.exit(run(agentWith(tool).pipe(guarding), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(seen, [])
    const down = yield* make(fails(overloaded()))
    const exit = yield* interruptedAt(30_000, run(agentWith().pipe(guarding), "go").pipe(Effect.provide(down.layer)))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    assert.strictEqual(seen.length, 1)
    assert.strictEqual(down.requests.length, 1)
  })
)

it.run("counts of a function start afresh in every turn [A709 A710]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("seen"))
    const log = eventLog()
    const model = yield* make(fails(overloaded()), batch("look"), fails(overloaded()), done)
    const agent = agentWith(tool).pipe(
      Agent.onLlmError(() => Recovery.retry({ retries: 1 })),
      log.listen
    )
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(
      log.of("model-start").map(({ attempt, turn }) => [turn, attempt]),
      [
        [1, 1],
        [1, 2],
        [2, 1],
        [2, 2]
      ]
    )
  })
)

it.run("a function may shorten the conversation [A704]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("seen ".repeat(400)))
    const model = yield* make(batch("look"), fails(LlmError.ContextTooLongError.make({ model: "scripted" })), done)
    const agent = agentWith(tool).pipe(
      Agent.onLlmError((error) =>
        error._tag === "ContextTooLongError"
          ? Recovery.compact(Compaction.shrinkLargestResult({ maxLength: 100 }))
          : Recovery.rethrow
      )
    )
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.strictEqual(model.requests.length, 3)
  })
)

it.run("a router's function answers with a skill [A713]", (run) =>
  Effect.gen(function* () {
    const skills = [Skill.make("a", { description: "A" }), Skill.make("b", { description: "B" })] as const
    const router = Router.byModel().pipe(
      Router.onLlmError((error) => (error.isRetryable ? Recovery.respondWith("b" as const) : Recovery.rethrow))
    )
    const log = eventLog()
    const agent = Agent.make("worker", { skills }).pipe(Agent.route(router), log.listen)
    const model = yield* make(fails(overloaded()), done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepInclude(log.of("skill-chosen")[0], { skill: "b", by: "table" })
  })
)

asked("a function guards a bare model too, in both argument orders [A704 A708]", (ask) =>
  Effect.gen(function* () {
    const stock = ScriptedModel.reply({ content: [Message.text("sorry")] })
    const decide = (_error: LlmError.LlmError, { attempt }: Recovery.FailureContext) =>
      attempt < 2
        ? Recovery.retry({ initialBackoff: "500 millis", jitter: "none", retries: 9 })
        : Recovery.respondWith(stock)
    for (const guard of [
      (model: Model.Service) => Model.onError(model, decide),
      (model: Model.Service) => pipe(model, Model.onError(decide))
    ]) {
      const model = yield* namedModel("a", fails(overloaded()), fails(overloaded()))
      const exit = yield* overADay(ask(guard(model.service)))
      assert.deepStrictEqual(yield* exit, stock)
    }
    const well = yield* namedModel("a", text("well"))
    assert.deepStrictEqual((yield* ask(Model.onError(well.service, decide))).content, [Message.text("well")])
  })
)

it.effect("explain knows a function by what it may choose, and nothing but caps without that [L508]", () =>
  Effect.sync(() => {
    const attempts = (options?: HandlerOptions) =>
      Agent.explain(agentWith().pipe(Agent.onLlmError(() => patient, options))).model.worst.attempts
    assert.strictEqual(attempts({ among: [patient] }), 3)
    assert.isAbove(attempts(), 3)
    const of = Agent.explain(agentWith().pipe(Agent.onLlmError({ orElse: patient })))
    const { model } = Agent.explain(agentWith().pipe(Agent.onLlmError(() => patient, { among: [patient] })))
    assert.deepStrictEqual(model.worst, of.model.worst)
  })
)
