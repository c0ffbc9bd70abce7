/** The scope of a run, for what a tool keeps over its calls. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Tool } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Schema, Scope } from "effect"
import { agentWith, batch, done, gone, interruptedAt, overADay, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const base = { description: "Fetches.", parameters: Schema.Struct({}), success: Schema.String }

/** A tool that opens a browser at its first call in a run, and uses it again in later ones. */
const browsing = () => {
  const log: Array<string> = []
  const browsers = new WeakMap<Scope.Scope, number>()
  let opened = 0
  const tool = Tool.make("browse", {
    ...base,
    run: (_, { runScope }) =>
      Effect.gen(function* () {
        const before = browsers.get(runScope)
        if (before !== undefined) return `browser ${before} again`
        const n = ++opened
        browsers.set(runScope, n)
        log.push(`open ${n}`)
        yield* Scope.addFinalizerExit(runScope, (exit) =>
          Effect.sync(() => {
            const isCut = Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)
            log.push(`close ${n} after ${isCut ? "interruption" : exit._tag}`)
          })
        )
        return `browser ${n}`
      })
  })
  /** Notes some events at once, where a listener would get them later. */
  const observe = Effect.provideService(RunContext.Observers, [
    () =>
      ({ agent, type }: AgentEvent.AgentEvent) => {
        if (type.startsWith("run-") || type === "tool-compensated") log.push(`${agent} ${type}`)
      }
  ])
  return { tool, log, observe }
}

const failing = Tool.make("fail", { ...base, run: () => Effect.fail(gone()) })
const undone = Tool.make("book", { ...base, run: () => Effect.succeed("booked") }).pipe(
  Tool.compensate(() => Effect.void)
)
const stuck = Tool.make("wait", { ...base, run: () => Effect.never })

it.run(
  "what a tool keeps in the scope of its run lives over calls, and ends before the run is reported [P1356]",
  (run) =>
    Effect.gen(function* () {
      const ends = {
        Success: { step: done, last: ["worker run-completed"] },
        Failure: { step: batch("fail"), last: ["worker run-failed"] },
        interruption: { step: batch("wait"), last: ["worker run-interrupted"] }
      }
      for (const [end, { last, step }] of Object.entries(ends)) {
        const { observe, log, tool } = browsing()
        const model = yield* ScriptedModel.make(batch("browse"), batch("browse", "book"), step)
        const agent = agentWith(tool, failing, undone, stuck)
        yield* interruptedAt(1000, run(agent, "go").pipe(Effect.provide(model.layer), observe))
        const seen = model.requests.length === 3 ? read(model) : []
        assert.deepStrictEqual(seen, ["result: browser 1", "result: browser 1 again", "result: booked"])
        // what is undone may still need it
        const undoing = end === "Failure" ? ["worker tool-compensated"] : []
        assert.deepStrictEqual(log, ["worker run-start", "open 1", ...undoing, `close 1 after ${end}`, ...last])
      }
    })
)

it.run("without a listener it is closed as well, and each run has its own [P1356]", (run) =>
  Effect.gen(function* () {
    const { log, tool } = browsing()
    const agent = agentWith(tool)
    for (let n = 1; n <= 2; n++) {
      const model = yield* ScriptedModel.make(batch("browse"), done)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
    }
    assert.deepStrictEqual(log, ["open 1", "close 1 after Success", "open 2", "close 2 after Success"])
  })
)

it.run("a sub-agent has a scope of its own; Tool.call has the scope of the run around it [P1356]", (run) =>
  Effect.gen(function* () {
    const { observe, log, tool } = browsing()
    const helper = Agent.make("helper", { tools: [tool] })
    const calling = Tool.make("call", { ...base, run: () => Effect.orDie(Tool.call(tool, {})) })
    const outer = Agent.make("outer", {
      tools: [tool, calling, Agent.asTool(helper, { description: "Helps.", name: "help" })]
    })
    const model = yield* ScriptedModel.make(
      batch("browse"),
      ScriptedModel.calls(ScriptedModel.call("help", { input: "x" })),
      batch("browse"),
      done,
      batch("call"),
      done
    )
    yield* run(outer, "go").pipe(Effect.provide(model.layer), observe)
    assert.deepStrictEqual(read(model), ["result: browser 1", "result: done", "result: browser 1 again"])
    assert.deepStrictEqual(log, [
      "outer run-start",
      "open 1",
      "helper run-start",
      "open 2",
      "close 2 after Success",
      "helper run-completed",
      "close 1 after Success",
      "outer run-completed"
    ])
  })
)

it.effect("outside of a run it is the scope of the call, for all of its attempts [P1356]", () =>
  Effect.gen(function* () {
    const { log, tool } = browsing()
    let runs = 0
    const twice = tool.pipe(
      Tool.around((attempt) => Effect.flatMap(attempt, (text) => (++runs < 2 ? attempt : Effect.succeed(text))))
    )
    assert.strictEqual(yield* Tool.call(twice, {}), "browser 1 again")
    assert.deepStrictEqual(log, ["open 1", "close 1 after Success"])
    yield* Tool.call(tool, {})
    assert.deepStrictEqual(log.slice(2), ["open 2", "close 2 after Success"])
  })
)

it.effect("a run that is suspended closes it, and goes on with a new one [P1356]", () =>
  Effect.gen(function* () {
    const { observe, log, tool } = browsing()
    const agent = Agent.make("worker", { tools: [tool, paying().tool] })
    const model = yield* ScriptedModel.make(
      batch("browse"),
      ScriptedModel.calls(ScriptedModel.call("pay", { cents: 1 })),
      batch("browse"),
      done
    )
    const from = yield* snapshotOf(yield* observe(outcomeOf(agent, "go", model)))
    yield* observe(outcomeOf(Agent.resume(agent), deciding(from), model))
    assert.deepStrictEqual(log, [
      "worker run-start",
      "open 1",
      "close 1 after Success",
      "worker run-suspended",
      "worker run-start",
      "open 2",
      "close 2 after Success",
      "worker run-completed"
    ])
  })
)

it.run("what is added to it after the end of the run is released at once [P1356]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    let given: Scope.Scope | undefined
    const tool = Tool.make("fetch", {
      ...base,
      run: (_, { runScope }) => {
        given = runScope
        return Effect.succeed("done")
      }
    })
    const add = Effect.suspend(() => {
      assert(given !== undefined)
      return Scope.addFinalizer(
        given,
        Effect.sync(() => void log.push("released"))
      )
    })
    const model = yield* ScriptedModel.make(batch("fetch"), done)
    yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer))
    yield* add
    assert.deepStrictEqual(log, ["released"])
    // a run in which no tool had it before
    const later = Effect.forkDetach(Effect.delay(Tool.call(tool, {}), "1 second"))
    yield* overADay(
      run(
        Agent.deterministic("leaving", () => Effect.as(later, "gone")),
        "go"
      )
    )
    yield* add
    assert.deepStrictEqual(log, ["released", "released"])
  })
)

it.run("the finalizers of a run's scope are no part of the time of the run [P1356]", (run) =>
  Effect.gen(function* () {
    const tool = Tool.make("fetch", {
      ...base,
      run: (_, { runScope }) => Effect.as(Scope.addFinalizer(runScope, Effect.sleep("1 minute")), "done")
    })
    const model = yield* ScriptedModel.make(batch("fetch"), done)
    const agent = agentWith(tool).pipe(Agent.withBudget({ maxDuration: "1 second" }))
    assert.deepStrictEqual(yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer))), Exit.succeed("done"))
  })
)

it.run("a function with a promise has it too [P1356]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const tool = Tool.fromFunction("fetch", {
      ...base,
      run: async (_, { runScope }) => {
        await Effect.runPromise(
          Scope.addFinalizer(
            runScope,
            Effect.sync(() => void log.push("closed"))
          )
        )
        return "done"
      }
    })
    const model = yield* ScriptedModel.make(batch("fetch"), done)
    yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual([read(model), log], [["result: done"], ["closed"]])
  })
)
