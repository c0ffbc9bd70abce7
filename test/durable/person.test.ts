/** A person as a rung of a durable run. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { calm, done, eventLog, read } from "../_support/dialogue.ts"
import { process, watched } from "./_support/engines.ts"

const { call, calls } = ScriptedModel

const quiet = Effect.forEach(Array.from({ length: 60 }), () => calm, { discard: true })

class Locked extends Schema.TaggedError<Locked>()("Locked", { message: Schema.String }) {}

const fateOf = (answer: Approval.DecisionReceipt): string => (answer._tag === "Counted" ? answer._tag : answer.reason)

/** A run whose tool fails as often as this. `isForgetful`: all of it is replayed after each step. */
const opening = (failures: number, isForgetful: boolean, args: Schema.Json = { code: 1 }) =>
  Effect.gen(function* () {
    const runs: Array<number> = []
    const unlock = Tool.make("open", {
      description: "Opens.",
      parameters: Schema.Struct({ code: Schema.Int }),
      success: Schema.String,
      failure: Locked,
      coercion: [],
      run: ({ code }) =>
        Effect.suspend(() =>
          runs.push(code) <= failures
            ? Effect.fail(new Locked({ message: `locked ${runs.length}` }))
            : Effect.succeed("open")
        )
    }).pipe(
      Tool.onError({
        Locked: Recovery.ladder(
          Recovery.retry({ retries: 1 }),
          Recovery.ask({ validFor: "1 day", onExpiry: "refuse" }),
          Recovery.tell(({ message }) => message)
        ),
        InvalidArgs: Recovery.ladder(
          Recovery.ask(),
          Recovery.tell(() => "bad")
        )
      })
    )
    const log = eventLog()
    const agent = Agent.make("worker", { tools: [unlock], budget: { maxDuration: "20 days" } }).pipe(log.listen)
    const model = yield* ScriptedModel.make(calls(call("open", args)), done)
    const asked: Array<Durable.DurableRequest> = []
    const durable = Durable.workflow(agent, {
      name: "doors",
      input: Schema.String,
      output: Schema.String,
      onApproval: (one) => Effect.sync(() => void asked.push(one))
    })
    const engine = yield* watched(isForgetful)
    const on = Effect.provideContext(yield* Layer.build(engine.layer))
    const serve = process(durable.layer.pipe(Layer.provide(model.layer), Layer.provide(engine.layer)))
    const stop = yield* serve
    const id = yield* Durable.start(durable, { id: "one", input: "go" }).pipe(on)
    yield* quiet
    const decide = (decision: Approval.Decision, nth = 0) =>
      Effect.gen(function* () {
        const one = asked[nth] ?? assert.fail("no request came")
        const answer = yield* Durable.decide(durable, one, decision).pipe(on)
        yield* quiet
        return fateOf(answer)
      })
    const answer = Effect.map(Durable.poll(durable, id).pipe(on), (result) =>
      Option.isSome(result) && result.value._tag === "Complete" ? result.value.exit : undefined
    )
    const inAnotherProcess = Effect.gen(function* () {
      yield* stop
      yield* engine.kill
      yield* serve
      yield* Durable.resume(durable, id).pipe(on)
      yield* quiet
    })
    return { answer, asked, decide, inAnotherProcess, log, model, runs }
  })

for (const isForgetful of [false, true]) {
  const how = isForgetful ? "replayed after each step" : "in one process"
  // Finds out nothing of its own: its subject is the replay of a rung of core
  it.effect(`a durable run waits in the rung, and goes on with what was decided, ${how} [P1510 P1511]`, () =>
    Effect.gen(function* () {
      for (const [decision, reads, ran] of [
        [Approval.approve, "result: open", [1, 1, 1]],
        [Approval.approveWith({ code: 4 }), "result: open", [1, 1, 4]],
        [Approval.result("by hand"), "result: by hand", [1, 1]],
        [Approval.refuse("no"), "denied: ", [1, 1]]
      ] as const) {
        const { answer, asked, decide, model, runs } = yield* opening(2, isForgetful)
        assert.strictEqual(asked.length, 1)
        assert.deepInclude(asked[0]?.request.failed, { tag: "Locked", attempts: 2, runs: 2 })
        yield* TestClock.adjust("12 hours")
        assert.strictEqual(yield* decide(decision), "Counted")
        assert.deepStrictEqual(yield* answer, Exit.succeed("done"))
        assert.deepStrictEqual<ReadonlyArray<number>>(runs, ran)
        assert.isTrue(read(model)[0]?.startsWith(reads))
      }
    })
  )
}

// Finds out nothing of its own: its subject is the rung of core in another process
it.effect("it waits in another process, and a failure after the decision goes to the next rung [P1513]", () =>
  Effect.gen(function* () {
    const { answer, asked, decide, inAnotherProcess, model, runs } = yield* opening(99, false)
    yield* inAnotherProcess
    assert.strictEqual(runs.length, 2)
    assert.strictEqual(asked.length, 1)
    assert.strictEqual(yield* decide(Approval.approve), "Counted")
    assert.deepStrictEqual(yield* answer, Exit.succeed("done"))
    assert.strictEqual(runs.length, 3)
    assert.deepStrictEqual(read(model), ["told: locked 3"])
  })
)

// Finds out nothing of its own: its subject is the expiry of a question of core
it.effect("the engine has an alarm for a person who says nothing [P1530 P1516]", () =>
  Effect.gen(function* () {
    const { answer, decide, model, runs } = yield* opening(99, true)
    yield* TestClock.adjust("1 day")
    yield* quiet
    assert.isUndefined(yield* answer)
    yield* TestClock.adjust("1 millis")
    yield* quiet
    assert.deepStrictEqual(yield* answer, Exit.succeed("done"))
    assert.strictEqual(runs.length, 2)
    assert.match(read(model)[0] ?? "", /^denied: .*No decision about running it once more came in time$/)
    assert.strictEqual(yield* decide(Approval.approve), "late")
  })
)

it.effect("an approval of arguments that do not fit is answered at once, and the run waits on [P1513 P1533]", () =>
  Effect.gen(function* () {
    const { answer, decide, runs } = yield* opening(0, false, { code: "x" })
    assert.strictEqual(yield* decide(Approval.approve), "nothing-to-run")
    assert.isUndefined(yield* answer)
    assert.strictEqual(yield* decide(Approval.approveWith({ code: 6 })), "Counted")
    assert.deepStrictEqual(yield* answer, Exit.succeed("done"))
    assert.deepStrictEqual(runs, [6])
  })
)
