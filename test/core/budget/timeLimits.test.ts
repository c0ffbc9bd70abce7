import { assert } from "@effect/vitest"
import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import { batch, busy, done, eventLog, overADay, scripted, settlements } from "../../_support/dialogue.ts"
import { exceeded, failing, refused, worker } from "./_support/limitedAgents.ts"

const { make } = ScriptedModel

it.run("maxDuration is a deadline: it stops a running tool, which does nothing afterwards [A903]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { tool } = scripted("slow", Effect.as(Effect.sleep("1 hour"), "late"))
    const model = yield* make(batch("slow"))
    const agent = worker({ maxDuration: "10 seconds" }, tool).pipe(log.listen)
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    const error = exceeded(failing(exit))
    assert.deepInclude(error, { reason: "maxDuration", limit: 10_000, spent: 10_000 })
    assert.deepStrictEqual(settlements(error.transcript), ["interrupted: The call was interrupted before it ended."])
    assert.strictEqual(log.end()?.at, 10_000)
    assert.strictEqual(error.usage.inputTokens, 10)
  })
)

it.run("maxDuration stops a running model call, a fixer, and a wait; 5 minutes by default [A903]", (run) =>
  Effect.gen(function* () {
    const never = ScriptedModel.answers(() => Effect.never)
    const limit = { budget: { maxDuration: "10 seconds" } } as const
    const model = yield* make(never)
    const waiting = Agent.make("worker", limit)
    const late = yield* overADay(run(waiting, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual(exceeded(failing(late)).reason, "maxDuration")

    const fixer = Agent.deterministic("fixer", (_raw: string): Effect.Effect<string> => Effect.never)
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const fixing = yield* make(batch("fetch"))
    const mending = Agent.make("worker", {
      ...limit,
      skills: [
        Skill.make("work", { description: "Works.", tools: [tool.pipe(Tool.onError({ Busy: Recovery.fix(fixer) }))] })
      ]
    })
    const stuck = yield* overADay(run(mending, "go").pipe(Effect.provide(fixing.layer)))
    assert.strictEqual(exceeded(failing(stuck)).reason, "maxDuration")

    const log = eventLog()
    const patient = yield* make(never)
    const byDefault = Agent.make("worker", {}).pipe(log.listen)
    yield* overADay(run(byDefault, "go").pipe(Effect.provide(patient.layer)))
    assert.strictEqual((log.end()?.at ?? 0) - (log.all[0]?.at ?? 0), 5 * 60_000)
  })
)

it.run("no wait begins that would pass the run's end: the next rung decides, or the run fails [P704]", (run) =>
  Effect.gen(function* () {
    const retry = Recovery.retry({ retries: 5, initialBackoff: "4 seconds" })
    for (const [verdict, reason] of [
      [
        Recovery.ladder(
          retry,
          Recovery.tell(() => "no time")
        ),
        undefined
      ],
      [retry, "maxDuration"],
      [
        Recovery.ladder(
          Recovery.fix(() => Effect.fail(busy())),
          retry
        ),
        "maxDuration"
      ]
    ] as const) {
      const log = eventLog()
      const { runs, tool } = scripted("fetch", ...Array.from({ length: 3 }, () => Effect.fail(busy())))
      const model = yield* make(...(reason === undefined ? [batch("fetch"), done] : [batch("fetch")]))
      const agent = Agent.make("worker", {
        budget: { maxDuration: "10 seconds" },
        skills: [Skill.make("work", { description: "Works.", tools: [tool.pipe(Tool.onError({ Busy: verdict }))] })]
      }).pipe(log.listen)
      const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      const start = log.all[0]?.at ?? 0
      // attempts at 0 s and 4 s; the next would be at 12 s
      assert.deepStrictEqual(
        runs.map(({ at }) => at - start),
        [0, 4000]
      )
      assert.strictEqual((log.end()?.at ?? 0) - start, 4000)
      if (reason === undefined) assert.isTrue(Exit.isSuccess(exit))
      else assert.deepInclude(exceeded(failing(exit)), { reason, limit: 10_000 })
    }
  })
)

it.run(
  "a wait that ends with the run is begun; the decision about it tells what is left besides time [P704 L306]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const { tool } = scripted("fetch", Effect.fail(busy()), Effect.never)
      const retry = Recovery.retry({ retries: 1, initialBackoff: "10 seconds" })
      const agent = Agent.make("worker", {
        budget: { maxDuration: "10 seconds", maxTurns: 7, maxToolCalls: 5 },
        skills: [Skill.make("work", { description: "Works.", tools: [tool.pipe(Tool.onError({ Busy: retry }))] })]
      }).pipe(log.listen)
      const model = yield* make(batch("fetch"))
      const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepInclude(exceeded(failing(exit)), { reason: "maxDuration" })
      assert.strictEqual((log.end()?.at ?? 0) - (log.all[0]?.at ?? 0), 10_000)
      assert.deepStrictEqual(
        log.of("verdict").map(({ left, verdict }) => [verdict, left]),
        [["retry", { turns: 6, toolCalls: 4 }]]
      )
    })
)

it.run("a wait before a model call does not exceed maxDuration [P704]", (run) =>
  Effect.gen(function* () {
    const overloaded = ScriptedModel.fails(refused())
    const log = eventLog()
    const model = yield* make(overloaded, overloaded)
    const agent = Agent.make("worker", { budget: { maxDuration: "10 seconds" } }).pipe(
      Agent.onLlmError({ orElse: Recovery.retry({ retries: 5, initialBackoff: "4 seconds" }) }),
      log.listen
    )
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepInclude(exceeded(failing(exit)), { reason: "maxDuration" })
    assert.strictEqual(log.end()?.at, 4000)
  })
)
