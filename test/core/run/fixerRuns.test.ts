/** Runs of fixers: what is said to them, their last turn at a limit, and their deferred calls. */
import { assert, it } from "@effect/vitest"
import { Agent, Budget, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit } from "effect"
import { deferring } from "../tool/_support/deferring.ts"
import { batch, calm, done, play, read, scripted, settlements } from "../../_support/dialogue.ts"
import { only } from "../../_support/suspension.ts"
import { accounted, eventsOf, lines, runIdOf, slowReply, slowTool, started } from "./_support/saying.ts"

const { call, calls, make, reply, text } = ScriptedModel

const fetching = () => play("fetch", { coercion: [] }, [Effect.succeed("page")])

/** A run whose only call, of this tool, has arguments that do not decode. */
const playing = (tool: Tool.AnyTool) =>
  Effect.gen(function* () {
    const agent = Agent.make("worker", { tools: [tool], budget: { maxDuration: "1 day" } })
    const model = yield* make(calls(call("fetch", '{"n":1,}', "c1")), done)
    // what it needs is the model, and the scope of the test
    const starting = agent.start("go") as Effect.Effect<Agent.Run<unknown, unknown>>
    return { model, run: yield* started(starting, model) }
  })

it.effect("a message to the run of a fixer is read at its safe point, and nowhere else [P1580 P1586]", () =>
  Effect.gen(function* () {
    const slow = slowTool("look")
    const fixing = yield* make(batch("look"), text('{"n":2}'))
    const mender = Agent.make("mender", { tools: [slow.tool], model: fixing.layer })
    const { runs, tool } = fetching()
    const { model, run } = yield* playing(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(mender) })))
    yield* slow.begun
    yield* run.say("n is 2", { to: yield* runIdOf(run, "mender") })
    yield* slow.end
    assert.deepInclude(yield* Effect.orDie(run.outcome), { output: "done" })
    assert.deepStrictEqual(lines(fixing.requests[1]?.messages ?? []).slice(-2), ["model: look: result", "user: n is 2"])
    assert.deepStrictEqual(
      runs.map(({ params }) => params),
      [{ n: 2 }]
    )
    assert.deepStrictEqual(lines(model.requests[1]?.messages ?? []), ["user: go", "model: fetch: result"])
    const events = yield* eventsOf(run)
    assert.lengthOf(only(events, "message-read"), 1)
  })
)

it.effect("a message that is said while a fixer is at work is read by its run, after the repair [P1581]", () =>
  Effect.gen(function* () {
    const slow = slowReply(reply({ content: [{ type: "text", text: '{"n":2}' }] }))
    const fixing = yield* make(slow.step)
    const mender = Agent.make("mender", { model: fixing.layer })
    const { model, run } = yield* playing(fetching().tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(mender) })))
    yield* slow.begun
    yield* run.say("hurry")
    yield* slow.end
    assert.deepInclude(yield* Effect.orDie(run.outcome), { output: "done" })
    assert.lengthOf(fixing.requests, 1)
    assert.deepStrictEqual(lines(model.requests[1]?.messages ?? []).slice(-2), ["model: fetch: result", "user: hurry"])
    yield* accounted(run)
  })
)

it.effect("a fixer answers at its own limit: its answer is the repair, and the run is not marked [P1594]", () =>
  Effect.gen(function* () {
    const look = scripted("look", Effect.succeed("seen"))
    const fixing = yield* make(batch("look"), text('{"n":2}'))
    const mender = Agent.make("mender", { tools: [look.tool], model: fixing.layer, budget: { maxTurns: 1 } }).pipe(
      Agent.onBudgetExceeded(() => Budget.answer)
    )
    const { runs, tool } = fetching()
    const { model, run } = yield* playing(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(mender) })))
    const outcome = yield* Effect.orDie(run.outcome)
    assert.deepInclude(outcome, { output: "done" })
    assert.notProperty(outcome, "endedBy")
    assert.strictEqual(fixing.requests[1]?.toolChoice, "none")
    assert.deepStrictEqual(
      runs.map(({ params }) => params),
      [{ n: 2 }]
    )
    assert.deepStrictEqual(read(model), ["result: page"])
    const [ofMender, ofWorker] = only(yield* eventsOf(run), "run-completed")
    assert.deepInclude(ofMender, { agent: "mender", endedBy: { reason: "maxTurns", limit: 1 } })
    assert.notProperty(ofWorker, "endedBy")
  })
)

it.effect("a deferred call of a fixer waits in memory, until it is settled or superseded [P1523 P1526 P1584]", () =>
  Effect.gen(function* () {
    for (const isInTime of [true, false]) {
      const order = deferring()
      const fixing = yield* make(batch("order"), text('{"n":2}'))
      const mender = Agent.make("mender", {
        tools: [order.tool],
        model: fixing.layer,
        budget: { maxDuration: "1 day" }
      })
      const { runs, tool } = fetching()
      const { model, run } = yield* playing(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(mender) })))
      yield* calm
      if (isInTime) yield* Tool.settle(order.tokenOf(), Exit.succeed({ at: 1 }))
      // a message to the run withdraws what its descendants wait for
      else yield* run.say("never mind", { supersede: true })
      assert.deepInclude(yield* Effect.orDie(run.outcome), { output: "done" })
      const superseded = "interrupted: The call was not run: superseded by a message of the user."
      assert.deepStrictEqual(settlements(fixing.requests[1]?.messages ?? []), [
        isInTime ? 'result: {"at":1}' : superseded
      ])
      assert.deepStrictEqual(order.cancelled, isInTime ? [] : [1])
      assert.lengthOf(runs, 1)
      assert.deepStrictEqual(
        lines(model.requests[1]?.messages ?? []).slice(1),
        isInTime ? ["model: fetch: result"] : ["model: fetch: result", "user: never mind"]
      )
      yield* accounted(run)
    }
  })
)
