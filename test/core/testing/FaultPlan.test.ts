import { assert, it } from "@effect/vitest"
import { Agent, Recovery } from "@kintsugi/core"
import { FaultPlan, ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { gone } from "../../_support/dialogue.ts"
import { around, fine, script, toolOf } from "./_support/workers.ts"

const { text } = ScriptedModel

// --- plans

it.effect("a plan lets the n-th step of any program go wrong [P1105]", () =>
  Effect.gen(function* () {
    const agent = around(toolOf("look", fine))
    const once = Effect.scoped(
      Effect.flatMap(ScriptedModel.make(...script("look")), ({ layer }) => Effect.provide(agent("go"), layer))
    )
    const played = <A, E>(program: Effect.Effect<A, E>) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Effect.exit(program))
        yield* TestClock.adjust("1 hour")
        const exit = fiber.pollUnsafe()
        return exit !== undefined && Exit.isSuccess(exit) ? exit.value : assert.fail("it has not ended")
      })
    const counted = yield* played(FaultPlan.steps(once))
    assert(Exit.isSuccess(counted))
    assert.deepStrictEqual(
      counted.value.steps.map(({ type, name }) => `${type}: ${name}`),
      [
        "model call: scripted",
        "tool attempt: look, call c1, attempt 1",
        "tool attempt: look, call c2, attempt 1",
        "model call: scripted"
      ]
    )
    const failed = yield* played(FaultPlan.inject(FaultPlan.error(1))(once))
    assert(Exit.isFailure(failed))
    assert.strictEqual((Cause.squash(failed.cause) as { readonly _tag: string })._tag, "ModelOverloadedError")
    const died = yield* played(FaultPlan.inject(FaultPlan.defect(2))(once))
    assert.isTrue(Exit.isFailure(died) && Cause.hasDies(died.cause))
    const stopped = yield* played(FaultPlan.inject(FaultPlan.interruption(3))(once))
    assert.isTrue(Exit.isFailure(stopped) && Cause.hasInterrupts(stopped.cause))
    const late = yield* played(FaultPlan.inject(FaultPlan.latency(1, "1 minute"))(once))
    assert.deepStrictEqual(late, Exit.succeed("done"))
    const own = yield* played(FaultPlan.inject(FaultPlan.error(2, () => gone()))(once))
    assert.deepStrictEqual(own, Exit.succeed("done"))
  })
)

it.effect("plans add up: each counts all steps, those that another one lets go wrong too [P1105]", () =>
  Effect.gen(function* () {
    const agent = Agent.make("worker", {}).pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 2 }) }))
    const answered = (...plans: ReadonlyArray<FaultPlan.FaultPlan>) =>
      Effect.gen(function* () {
        const { layer } = yield* ScriptedModel.make(text("done"))
        const program = Effect.provide(agent("go"), layer)
        return yield* plans.reduce((inner, plan) => FaultPlan.inject(plan)(inner), program)
      }).pipe(Effect.scoped, Effect.exit)
    const { defect, error } = FaultPlan
    assert.deepStrictEqual(yield* answered(error(1), error(2)), Exit.succeed("done"))
    assert.deepStrictEqual(yield* answered(error(2), error(1)), Exit.succeed("done"))
    const failed = yield* answered(error(2), error(3), error(1))
    assert(Exit.isFailure(failed))
    assert.strictEqual((Cause.squash(failed.cause) as { readonly _tag: string })._tag, "ModelOverloadedError")
    const died = yield* answered(error(1), defect(2))
    assert.isTrue(Exit.isFailure(died) && Cause.hasDies(died.cause))
    const counted = Effect.flatMap(ScriptedModel.make(text("done")), ({ layer }) =>
      FaultPlan.steps(FaultPlan.inject(error(1))(Effect.provide(agent("go"), layer)))
    )
    assert.strictEqual((yield* Effect.scoped(counted)).steps.length, 2)
  })
)

it.effect("a plan that would do nothing fails the test [P1105]", () =>
  Effect.gen(function* () {
    const { defect, error, interruption, latency } = FaultPlan
    for (const at of [0, -1, 1.5, NaN, Infinity]) {
      const plans = [() => error(at), () => defect(at), () => latency(at, 1), () => interruption(at)]
      for (const plan of plans) assert.throws(plan, RangeError, "must be a whole number of at least 1")
    }
    const once = (at: number) =>
      Effect.flatMap(ScriptedModel.make(text("done")), ({ layer }) =>
        FaultPlan.inject(latency(at, 0))(Effect.provide(Agent.make("worker", {})("go"), layer))
      ).pipe(Effect.scoped, Effect.exit)
    assert.deepStrictEqual(yield* once(1), Exit.succeed("done"))
    const unreached = yield* once(2)
    assert(Exit.isFailure(unreached) && Cause.hasDies(unreached.cause))
    assert.include(String(Cause.squash(unreached.cause)), "step 2 was never reached, the program took 1")
  })
)
