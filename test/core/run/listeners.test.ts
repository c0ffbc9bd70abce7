import { assert } from "@effect/vitest"
import { Agent, AgentEvent, LlmError, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Clock, Deferred, Effect, Exit, Fiber, Logger, Metric, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  callingOnce,
  calm,
  done,
  eventLog,
  interruptedAt,
  overADay,
  scripted
} from "../../_support/dialogue.ts"

const { make } = ScriptedModel

/** The virtual clock warns of a test that takes a second of real time, which a busy machine may. */
const ofOurs = (message: string) => (message.startsWith("A test is using time") ? [] : [message])

/** Collects warnings, counts the fibers that were started below and have not ended, and tells when the effect ended. */
const watched = <A, E, R>(self: Effect.Effect<A, E, R>) => {
  const seen = { warnings: [] as Array<string>, fibers: 0, endedAt: -1 }
  const metrics: Metric.FiberRuntimeMetricsService = {
    recordFiberStart: () => void seen.fibers++,
    recordFiberEnd: () => void seen.fibers--
  }
  const timed = Effect.onExit(self, () => Effect.map(Clock.currentTimeMillis, (at) => void (seen.endedAt = at)))
  const effect = Effect.forkChild(timed).pipe(
    Effect.flatMap(Fiber.join),
    Effect.provideService(Metric.FiberRuntimeMetrics, metrics),
    Effect.provide(Logger.layer([Logger.make(({ message }) => void seen.warnings.push(...ofOurs(String(message))))]))
  )
  return { effect, seen }
}

it.run("a slow listener does not slow the run down: it is cut after a second, and handed the end [A1205]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const handed: Array<readonly [string, number]> = []
    const heard: Array<string> = []
    const { tool } = scripted("fetch", Effect.as(Effect.sleep(100), "page"))
    const model = yield* callingOnce("fetch")
    const agent = agentWith(tool).pipe(
      Agent.onEvent(({ type }) =>
        Effect.flatMap(Clock.currentTimeMillis, (at) => {
          handed.push([type, at])
          return Effect.andThen(
            Effect.sleep(type === "run-start" ? "1 minute" : "500 millis"),
            Effect.sync(() => heard.push(type))
          )
        })
      ),
      log.listen
    )
    const { effect, seen } = watched(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(yield* overADay(effect), Exit.succeed("done"))
    assert.strictEqual(seen.endedAt, 1100)
    // at its own pace it would have come to the second event after a minute
    assert.deepStrictEqual(handed, [
      ["run-start", 0],
      ["run-completed", 1100]
    ])
    assert.deepStrictEqual(heard, ["run-completed"])
    assert.deepStrictEqual(seen.warnings, [
      `A listener of agent 'worker' was too slow: ${log.all.length - 1} events were lost to it`
    ])
    yield* calm
    assert.strictEqual(seen.fibers, 0)
  })
)

it.run("a listener that never ends holds an interruption up for one second, and leaves no fiber [A1205]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const handed: Array<string> = []
    const model = yield* make(ScriptedModel.answers(() => Effect.never))
    const agent = agentWith().pipe(
      Agent.onEvent(({ type }) => Effect.suspend(() => (handed.push(type), Effect.never))),
      log.listen
    )
    const { effect, seen } = watched(run(agent, "go").pipe(Effect.provide(model.layer)))
    yield* interruptedAt(5000, effect)
    assert.strictEqual(seen.endedAt, 6000)
    assert.deepInclude(log.end(), { type: "run-interrupted", at: 5000 })
    assert.deepStrictEqual(handed, ["run-start", "run-interrupted"])
    assert.deepStrictEqual(seen.warnings, [
      `A listener of agent 'worker' was too slow: ${log.all.length - 1} events were lost to it`,
      "A listener of agent 'worker' was stopped after 10s at work on 'run-interrupted'"
    ])
    yield* calm
    assert.strictEqual(seen.fibers, 0)
  })
)

it.run("a listener that cannot be interrupted does not hold a run up for longer than another [A1205]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* make(done)
    const agent = agentWith().pipe(
      Agent.onEvent(() => Effect.uninterruptible(Effect.sleep("1 hour"))),
      log.listen
    )
    const { effect, seen } = watched(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(yield* overADay(effect), Exit.succeed("done"))
    assert.strictEqual(seen.endedAt, 1000)
    assert.strictEqual(log.end()?.type, "run-completed")
    yield* calm
    assert.strictEqual(seen.fibers, 0)
  })
)

it.effect("what a listener has no room for is counted, and neither it nor another loses the end [A1205]", () =>
  Effect.gen(function* () {
    const log = eventLog()
    const gate = yield* Deferred.make<void>()
    const reports = 20_000
    const reporting = Tool.make("fetch", {
      description: "d",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: (_, { progress }) =>
        Effect.forEach(
          Array.from({ length: reports }),
          // now and then it lets others work
          (_, n) => Effect.andThen(progress(n), n % 100 === 0 ? calm : Effect.void),
          { discard: true }
        ).pipe(Effect.as("page"))
    })
    const heard: Array<AgentEvent.AgentEvent> = []
    const model = yield* make(
      batch("fetch"),
      ScriptedModel.answers(() => Effect.as(Deferred.succeed(gate, undefined), ScriptedModel.reply({ content: [] })))
    )
    const agent = agentWith(reporting).pipe(
      Agent.onEvent((event) =>
        Effect.andThen(
          Deferred.await(gate),
          Effect.sync(() => heard.push(event))
        )
      ),
      log.listen
    )
    const { effect, seen } = watched(
      Effect.scoped(
        Effect.gen(function* () {
          const handle = yield* agent.start("go")
          const outcome = yield* handle.outcome
          return { outcome, lost: yield* handle.lost }
        })
      ).pipe(Effect.provide(model.layer))
    )
    const { lost, outcome } = yield* effect
    assert.strictEqual(outcome._tag, "Completed")
    assert.isAbove(log.all.length, reports)
    assert.isAbove(lost, 1000)
    assert.strictEqual(heard.length + lost, log.all.length)
    assert.isAtMost(heard.length, 17_000)
    // in order, and the end among them
    const kept = new Set(heard)
    assert.isTrue(log.all.filter((event) => kept.has(event)).every((event, index) => event === heard[index]))
    assert.strictEqual(heard.at(-1)?.type, "run-completed")
    assert.deepStrictEqual(seen.warnings, [`A listener of agent 'worker' was too slow: ${lost} events were lost to it`])
  })
)

it.effect("the listeners of runs below count with the run above; where nothing is lost, nothing is said [A1205]", () =>
  Effect.gen(function* () {
    const slow = Agent.deterministic("slow", () => Effect.succeed("well")).pipe(Agent.onEvent(() => Effect.never))
    const { tool } = scripted("ask", slow("why?"))
    const lostBy = Effect.fnUntraced(function* (agent: ReturnType<typeof agentWith<[typeof tool]>>) {
      const model = yield* callingOnce("ask")
      const handle = yield* agent.start("go").pipe(Effect.provide(model.layer))
      yield* handle.outcome
      return yield* handle.lost
    })
    const { effect, seen } = watched(Effect.scoped(lostBy(agentWith(tool))))
    const exit = yield* overADay(effect)
    assert.deepStrictEqual(exit, Exit.succeed(1))
    assert.deepStrictEqual(seen.warnings, [
      "A listener of agent 'slow' was too slow: 1 events were lost to it",
      "A listener of agent 'slow' was stopped after 10s at work on 'run-completed'"
    ])
    const log = eventLog()
    const quick = scripted("ask", Effect.succeed("well"))
    const other = watched(Effect.scoped(lostBy(agentWith(quick.tool).pipe(log.listen))))
    assert.deepStrictEqual(yield* overADay(other.effect), Exit.succeed(0))
    assert.deepStrictEqual(other.seen.warnings, [])
    assert.isTrue(log.all.some(AgentEvent.isTerminal))
  })
)

it.run("a listener of a run below neither holds the run above up nor counts against its deadline [A1205]", (run) =>
  Effect.gen(function* () {
    const hung = Agent.deterministic("hung", () => Effect.succeed("well")).pipe(Agent.onEvent(() => Effect.never))
    const ask = Agent.asTool(hung, { description: "Asks." })
    const log = eventLog()
    const model = yield* make(
      ScriptedModel.calls(ScriptedModel.call("hung", { input: "why?" })),
      ScriptedModel.calls(ScriptedModel.call("hung", { input: "and why?" })),
      done
    )
    const agent = Agent.make("boss", {
      budget: { maxDuration: "800 millis" },
      skills: [Skill.make("ask", { description: "d", tools: [ask] })]
    }).pipe(log.listen)
    const { effect, seen } = watched(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(yield* overADay(effect), Exit.succeed("done"))
    assert.deepInclude(log.end(), { type: "run-completed", at: 0 })
    // only then, and once, the outermost run waits for all of them
    assert.strictEqual(seen.endedAt, 1000)
    yield* calm
    assert.strictEqual(seen.fibers, 0)
  })
)

it.run("a hook that needs longer for the end of a run than the run waits is not cut off from it [A1205]", (run) =>
  Effect.gen(function* () {
    const heard: Array<readonly [string, number]> = []
    const model = yield* make(ScriptedModel.fails(LlmError.ModelNotFoundError.modelNotFound("scripted")))
    const agent = agentWith().pipe(
      Agent.onFailure(({ code }) =>
        Effect.andThen(
          Effect.sleep("1500 millis"),
          Effect.map(Clock.currentTimeMillis, (at) => void heard.push([code, at]))
        )
      )
    )
    const { effect, seen } = watched(run(agent, "go").pipe(Effect.provide(model.layer)))
    yield* overADay(effect)
    assert.strictEqual(seen.endedAt, 1000)
    assert.deepStrictEqual(heard, [["KINTSUGI-MODEL-NOT-FOUND", 1500]])
    assert.deepStrictEqual(seen.warnings, [])
    yield* calm
    assert.strictEqual(seen.fibers, 0)
  })
)

it.effect(
  "one that is at work on the end of a run for more than ten seconds is stopped, counted and logged [A1205]",
  () =>
    Effect.gen(function* () {
      const model = yield* make(ScriptedModel.fails(LlmError.ModelNotFoundError.modelNotFound("scripted")))
      let isStopped = false
      const agent = agentWith().pipe(
        Agent.onFailure(() =>
          Effect.onInterrupt(Effect.never, () =>
            Effect.sync(() => {
              isStopped = true
            })
          )
        )
      )
      const lostAfter = Effect.gen(function* () {
        const handle = yield* agent.start("go")
        yield* Effect.exit(handle.outcome)
        const atOnce = yield* handle.lost
        yield* Effect.sleep("9999 millis")
        const before = [isStopped, yield* handle.lost]
        yield* Effect.sleep("1 millis")
        yield* calm
        return [atOnce, before, isStopped, yield* handle.lost]
      })
      const { effect, seen } = watched(Effect.scoped(lostAfter).pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(yield* overADay(effect), Exit.succeed([0, [false, 0], true, 1]))
      assert.deepStrictEqual(seen.warnings, [
        "A listener of agent 'worker' was stopped after 10s at work on 'run-failed'"
      ])
      yield* calm
      assert.strictEqual(seen.fibers, 0)
    })
)

it.run("a run of a function that throws ends with one event [A1202]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const broken = Agent.deterministic("broken", (): Effect.Effect<string> => {
      throw new Error("a bug")
    }).pipe(log.listen)
    const exit = yield* Effect.exit(run(broken, "go"))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    assert.deepStrictEqual(log.types(), ["run-start", "run-failed"])
  })
)
