import { assert } from "@effect/vitest"
import { Agent, AgentEvent, type Budget, Telemetry } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { RecordedEvents, ScriptedModel } from "@kintsugi/core/testing"
import { type Duration, Effect, type Exit, Scope, Stream } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  callingOnce,
  calm,
  done,
  eventLog,
  gone,
  interruptedAt,
  overADay,
  scripted
} from "../../_support/dialogue.ts"
import { only, paying } from "../../_support/suspension.ts"
import { recorder, treeOf } from "../telemetry/_support/spans.ts"

const { make } = ScriptedModel

/** A tool that leaves an effect at work, and takes some time besides. */
const leaving = (left: Effect.Effect<unknown, unknown>, after: Duration.Input = 0) =>
  scripted("leave", Effect.as(Effect.andThen(Effect.forkDetach(left), Effect.sleep(after)), "left")).tool

/** A run of an agent whose model answers after some time. */
const summary = (millis: number, budget: { readonly maxDuration?: number } = {}) =>
  Effect.gen(function* () {
    const model = yield* make(ScriptedModel.answers((request) => Effect.delay(done.answer(request), millis)))
    return yield* Agent.make("summary", { budget })("sum up").pipe(Effect.provide(model.layer))
  }).pipe(Effect.scoped)

/** What the observers of the program hear of a run, and of what outlives it. */
const heardOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const recorded = yield* RecordedEvents.make
    const exit: Exit.Exit<A, E> = yield* overADay(effect.pipe(Effect.provide(recorded.layer)))
    return { exit, recorded }
  })

const endsOf = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.filter(AgentEvent.isTerminal).map(({ agent, type }) => `${agent} ${type}`)

const startOf = (events: ReadonlyArray<AgentEvent.AgentEvent>, agent: string) => {
  const start = only(events, "run-start").find((event) => event.agent === agent)
  assert(start !== undefined)
  return start
}

it.run("a sub-agent that outlives its run ends its spans, and no listener of that run hears it [P1354]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* callingOnce("leave")
    const agent = agentWith(leaving(summary(5000), "5 millis")).pipe(log.listen)
    const seen = recorder()
    const { recorded } = yield* heardOf(
      run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(Telemetry.layer), seen.provide)
    )
    assert.deepStrictEqual(treeOf(seen.spans), [
      "invoke_agent worker: ok",
      "  chat scripted: ok",
      "  execute_tool leave: ok",
      "    invoke_agent summary: ok",
      "      chat scripted: ok",
      "  chat scripted: ok"
    ])
    assert.strictEqual(log.all.at(-1)?.type, "run-completed")
    assert.strictEqual(log.all.at(-1)?.agent, "worker")
    assert.deepStrictEqual(endsOf(recorded.all), ["worker run-completed", "summary run-completed"])
    // it began as a child, and is one to its end
    assert.deepInclude(startOf(recorded.all, "summary").parent, { callId: "c1" })
    assert.notProperty(startOf(recorded.all, "summary"), "startedIn")
  })
)

it.run("a sub-agent that outlives its run ends at its own limit of time [P1354]", (run) =>
  Effect.gen(function* () {
    for (const maxDuration of [60_000, undefined, 1_800_000]) {
      const model = yield* callingOnce("leave")
      const left = summary(86_400_000, maxDuration === undefined ? {} : { maxDuration })
      const { recorded } = yield* heardOf(
        run(agentWith(leaving(left, "5 millis")), "go").pipe(Effect.provide(model.layer))
      )
      assert.deepStrictEqual(endsOf(recorded.all), ["worker run-completed", "summary run-failed"])
      const error = recorded.all.find(({ type }) => type === "run-failed")
      assert.propertyVal(error?.type === "run-failed" && error.error, "reason", "maxDuration")
    }
  })
)

it.run("a run that begins after the end of the run around it is a root, and names that run [P1354]", (run) =>
  Effect.gen(function* () {
    let depth: number | undefined
    const look = Effect.map(RunContext.Current, (current) => void (depth = current?.depth))
    const late = Agent.deterministic("late", () => Effect.as(look, "well"))
    const log = eventLog()
    const model = yield* callingOnce("leave")
    const agent = agentWith(leaving(Effect.delay(Effect.andThen(summary(10), late("why?")), 1))).pipe(
      log.listen,
      Agent.withBudget({ maxTurns: 2 })
    )
    const seen = recorder()
    const { recorded } = yield* heardOf(
      run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(Telemetry.layer), seen.provide)
    )
    const outer = startOf(recorded.all, "worker")
    const start = startOf(recorded.all, "summary")
    assert.deepStrictEqual(start.startedIn, { runId: outer.runId, callId: "c1" })
    assert.notProperty(start, "parent")
    assert.strictEqual(startOf(recorded.all, "late").startedIn?.runId, outer.runId)
    assert.strictEqual(depth, 0)
    assert.deepStrictEqual(
      log.all.filter((one) => one.agent !== "worker"),
      []
    )
    // it is booked for itself
    const [first, second] = only(recorded.all, "run-completed")
    assert.deepStrictEqual(
      [first, second].map((end) => end?.ledger.map((entry) => entry.agent)),
      [["worker", "worker"], ["summary"]]
    )
    assert.notInclude(treeOf(seen.spans).join("\n"), "open")
    const span = seen.named("invoke_agent summary")
    assert.strictEqual(span.attributes.get("kintsugi.started_in.run.id"), outer.runId)
    assert.isFalse(span.attributes.has("kintsugi.parent.run.id"))
  })
)

it.run("such a run has the limits of its own definition, however the run before it has ended [P1354]", (run) =>
  Effect.gen(function* () {
    const failing = scripted("fail", Effect.fail(gone())).tool
    const cases: ReadonlyArray<readonly [Budget.Limits, ReadonlyArray<ScriptedModel.ScriptedStep>, string]> = [
      [{ maxTurns: 2 }, [batch("leave"), done], "run-completed"],
      [{ maxTurns: 1 }, [batch("leave")], "run-failed"],
      [{ maxDuration: 50 }, [batch("leave"), ScriptedModel.answers(() => Effect.never)], "run-failed"],
      [{}, [batch("leave", "fail")], "run-failed"],
      [{}, [batch("leave"), ScriptedModel.answers(() => Effect.interrupt)], "run-interrupted"]
    ]
    for (const [budget, script, ended] of cases) {
      const model = yield* make(...script)
      const late = Effect.delay(
        Effect.all([Effect.exit(summary(100)), Effect.exit(summary(100, { maxDuration: 20 }))]),
        60
      )
      const agent = agentWith(leaving(late), failing).pipe(Agent.withBudget(budget))
      const { recorded } = yield* heardOf(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(endsOf(recorded.all), [`worker ${ended}`, "summary run-completed", "summary run-failed"])
    }
  })
)

it.run("what outlives an interrupted run goes on, and is heard to its end [P1354]", (run) =>
  Effect.gen(function* () {
    const recorded = yield* RecordedEvents.make
    const model = yield* make(batch("leave"))
    const left = Effect.all([summary(100), Effect.delay(summary(100), 50)], { concurrency: 2 })
    yield* interruptedAt(
      10,
      run(agentWith(leaving(left, "1 day")), "go").pipe(Effect.provide(model.layer), Effect.provide(recorded.layer))
    )
    assert.deepStrictEqual(endsOf(recorded.all), [
      "worker run-interrupted",
      "summary run-completed",
      "summary run-completed"
    ])
    assert.deepStrictEqual(
      only(recorded.all, "run-start").map(({ parent, startedIn }) => [parent !== undefined, startedIn !== undefined]),
      [
        [false, false],
        [true, false],
        [false, true]
      ]
    )
  })
)

it.run("at the instant of the end, a run that begins before it is a child, and one after it a root [P1354]", (run) =>
  Effect.gen(function* () {
    const late = Agent.deterministic("late", () => Effect.succeed("well"))
    for (const isBefore of [true, false]) {
      const model = yield* make(
        batch("leave"),
        ScriptedModel.answers((request) => Effect.andThen(calm, done.answer(request)))
      )
      let go: () => void = () => undefined
      const waiting = Effect.callback<void>((resume) => {
        go = () => resume(Effect.void)
      })
      const observer = (event: AgentEvent.AgentEvent) => {
        if (event.agent !== "worker") return
        if (event.type === (isBefore ? "model-start" : "run-completed")) go()
      }
      const agent = agentWith(leaving(Effect.andThen(waiting, late("why?")), 1))
      const { recorded } = yield* heardOf(
        Effect.flatMap(RunContext.Observers, (others) =>
          run(agent, "go").pipe(
            Effect.provideService(RunContext.Observers, [...others, () => observer]),
            Effect.provide(model.layer)
          )
        )
      )
      const start = startOf(recorded.all, "late")
      assert.strictEqual(start.at, only(recorded.all, "run-completed").find(({ agent }) => agent === "worker")?.at)
      assert.deepStrictEqual([start.parent === undefined, start.startedIn === undefined], [!isBefore, isBefore])
    }
  })
)

it.run("a finalizer of the run's scope still begins children of it [P1354]", (run) =>
  Effect.gen(function* () {
    const late = Agent.deterministic("late", () => Effect.succeed("well"))
    const add = Effect.flatMap(RunContext.Current, (current) =>
      current === undefined ? Effect.void : Scope.addFinalizer(current.done.scope, Effect.ignore(late("why?")))
    )
    const model = yield* callingOnce("add")
    const agent = agentWith(scripted("add", Effect.as(add, "added")).tool)
    const { recorded } = yield* heardOf(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(endsOf(recorded.all), ["late run-completed", "worker run-completed"])
    assert.notProperty(startOf(recorded.all, "late"), "startedIn")
  })
)

it.run("what outlives a sub-agent is still heard around it, and begins no child of it [P1354]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const inner = Agent.deterministic("inner", () =>
      Effect.forkDetach(Effect.all([summary(100), Effect.delay(summary(100), 50)], { concurrency: 2 })).pipe(
        Effect.andThen(Effect.sleep("1 milli")),
        Effect.as("left")
      )
    )
    const ask = scripted(
      "ask",
      Effect.tap(inner("why?"), () => Effect.sleep("1 second"))
    ).tool
    const model = yield* callingOnce("ask")
    const { recorded } = yield* heardOf(run(agentWith(ask).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    const expected = ["inner run-completed", "summary run-completed", "worker run-completed"]
    assert.deepStrictEqual(endsOf(log.all), expected)
    assert.deepStrictEqual(endsOf(recorded.all), ["inner run-completed", "summary run-completed", ...expected.slice(1)])
    const root = only(recorded.all, "run-start").findLast(({ agent }) => agent === "summary")
    assert.deepStrictEqual(root?.startedIn, { runId: startOf(recorded.all, "inner").runId })
  })
)

it.effect("a run that is suspended has ended: what begins afterwards is a root, and the stream is over [P1354]", () =>
  Effect.gen(function* () {
    const { tool } = paying()
    const model = yield* make(
      ScriptedModel.calls(ScriptedModel.call("leave", {}), ScriptedModel.call("pay", { cents: 1 }))
    )
    const agent = agentWith(leaving(Effect.delay(summary(1), "1 second")), tool)
    const suspended = Effect.gen(function* () {
      const handle = yield* agent.start("go").pipe(Effect.provide(model.layer))
      const outcome = yield* handle.outcome
      yield* Effect.sleep("1 minute")
      return { outcome, last: (yield* Stream.runCollect(handle.events)).at(-1) }
    })
    const { exit, recorded } = yield* heardOf(Effect.scoped(suspended))
    assert(exit._tag === "Success")
    assert.strictEqual(exit.value.last?.type, "run-suspended")
    assert.deepStrictEqual(endsOf(recorded.all), ["worker run-suspended", "summary run-completed"])
    assert.strictEqual(startOf(recorded.all, "summary").startedIn?.runId, startOf(recorded.all, "worker").runId)
  })
)
