/** How faults name the steps of a program, and what each fault does at one. */
import { assert, it } from "@effect/vitest"
import { Agent, LlmError, Model, Recovery } from "@kintsugi/core"
import { FaultPlan, ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Clock, Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Interception from "../../../packages/core/src/model/Interception.ts"
import { calm } from "../../_support/dialogue.ts"

type Step = Interception.InterceptedStep

/** A step with the parts that name it. */
const stepOf = (step: { readonly type: Step["type"] } & Record<string, unknown>) => step as unknown as Step

const call = { tool: "pay", callId: "c1" }

const named: ReadonlyArray<readonly [step: Step, name: string]> = [
  [stepOf({ type: "model call", model: "m", isStreamed: false }), "model call: m"],
  [stepOf({ type: "model call", model: "m", isStreamed: true }), "model call: m, streamed"],
  [stepOf({ type: "stream part", model: "m", part: { type: "text-delta" } }), "stream part: m, text-delta"],
  [stepOf({ type: "tool attempt", ...call, attempt: 2 }), "tool attempt: pay, call c1, attempt 2"],
  [stepOf({ type: "look-up", ...call }), "look-up: pay"],
  [stepOf({ type: "poll", ...call }), "poll: pay"],
  [stepOf({ type: "cancel", ...call }), "cancel: pay"],
  [stepOf({ type: "compensation", ...call }), "compensation: pay"],
  [stepOf({ type: "job cancel", model: "m" }), "job cancel: m"],
  [stepOf({ type: "fixer run", ...call, repair: 3 }), "fixer run: of pay, call c1, repair 3"],
  [stepOf({ type: "choice", about: "route" }), "choice: route"],
  [stepOf({ type: "policy", ...call }), "policy: pay, call c1"],
  [stepOf({ type: "grant", ...call }), "grant: pay, call c1"],
  [stepOf({ type: "put aside", ...call }), "put aside: pay, call c1"],
  [stepOf({ type: "approval", request: call }), "approval: pay, call c1"],
  [stepOf({ type: "guardrail", guard: "polite", side: "output" }), "guardrail: polite, output"],
  [stepOf({ type: "pins", schema: Schema.Unknown }), "pins: definitions of tools"],
  [stepOf({ type: "compaction", compaction: "summarise" }), "compaction: summarise"],
  [stepOf({ type: "token count", model: "m" }), "token count: m"],
  [stepOf({ type: "listener", event: { type: "turn-start" } }), "listener: turn-start"]
]

const ofAll = Effect.forEach(
  named,
  ([step]) =>
    Interception.step(
      () => step,
      () => Effect.void
    ),
  { discard: true }
)

it.effect("each step of a program has its number, type and name, and belongs to no run outside of one [P1105]", () =>
  Effect.gen(function* () {
    const { steps } = yield* FaultPlan.steps(ofAll)
    assert.deepStrictEqual(
      steps.map(({ name, number, type }) => [number, `${type}: ${name}`]),
      named.map(([, name], index) => [index + 1, name])
    )
    const origin = steps.map(({ agent, runId, turn }) => [agent, runId, turn])
    assert.deepStrictEqual(
      origin,
      named.map(() => [undefined, undefined, 0])
    )
  })
)

it.effect(
  "a fault without a failure of its own is an overload at steps of a model, and names any other step [P1105]",
  () =>
    Effect.gen(function* () {
      for (const [index, [step, name]] of named.entries()) {
        const error = yield* Effect.flip(
          FaultPlan.inject(FaultPlan.error(index + 1))(ofAll) as Effect.Effect<void, unknown>
        )
        if (step.type === "model call" || step.type === "stream part") {
          assert(LlmError.isLlmError(error), name)
          assert.strictEqual(error._tag, "ModelOverloadedError")
        } else assert.deepInclude(error as object, { message: `injected at step ${index + 1}, ${name}` })
      }
      const own = yield* Effect.flip(
        FaultPlan.inject(FaultPlan.error(3, ({ name, number }) => `${number} ${name}`))(ofAll) as Effect.Effect<
          void,
          unknown
        >
      )
      assert.strictEqual(own, "3 m, text-delta")
      const exit = yield* Effect.exit(FaultPlan.inject(FaultPlan.defect(6))(ofAll))
      assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.strictEqual(String(Cause.squash(exit.cause)), "Error: injected at step 6, poll: pay")
    })
)

it.effect("an interruption comes before a step, while it waits, or after it; a listener goes on [P1105]", () =>
  Effect.gen(function* () {
    const [attempt, listener] = [named[3]?.[0], named.at(-1)?.[0]]
    assert(attempt !== undefined && listener !== undefined)
    /** What a step of a second has done, and at which instant the program has ended. */
    const doneBy = (step: Step, when: "before" | "within" | "after") =>
      Effect.gen(function* () {
        const began = yield* Clock.currentTimeMillis
        const done: Array<string> = []
        const body = Effect.gen(function* () {
          done.push("begun")
          yield* Effect.sleep(1000)
          done.push("done")
        })
        const program = Effect.andThen(
          Interception.step(
            () => step,
            () => body
          ),
          () => Effect.sync(() => void done.push("next"))
        )
        const fiber = yield* Effect.forkChild(
          FaultPlan.inject(FaultPlan.interruption(1, when))(program).pipe(
            Effect.onExit(() => Effect.map(Clock.currentTimeMillis, (at) => void done.push(`${at - began}`)))
          )
        )
        yield* calm
        yield* TestClock.adjust(1000)
        const exit = yield* Fiber.await(fiber)
        assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause), when)
        return done
      })
    assert.deepStrictEqual(yield* doneBy(attempt, "before"), ["0"])
    assert.deepStrictEqual(yield* doneBy(attempt, "within"), ["begun", "0"])
    assert.deepStrictEqual(yield* doneBy(attempt, "after"), ["begun", "done", "1000"])
    for (const when of ["before", "within", "after"] as const) {
      assert.deepStrictEqual((yield* doneBy(listener, when)).at(-1), "0", when)
    }
  })
)

it.effect("a wait before a retry is a step of its run, and its interruption comes in the middle [P1105]", () =>
  Effect.gen(function* () {
    const agent = Agent.make("worker", {}).pipe(
      Agent.onLlmError({ orElse: Recovery.retry({ retries: 1, initialBackoff: "1 minute" }) })
    )
    const overloaded = LlmError.ModelOverloadedError.make({ model: "scripted" })
    const once = Effect.scoped(
      Effect.flatMap(ScriptedModel.make(ScriptedModel.fails(overloaded), ScriptedModel.text("done")), ({ layer }) =>
        Effect.provide(agent("go"), layer)
      )
    )
    const counted = yield* Effect.forkChild(FaultPlan.steps(once))
    yield* TestClock.adjust("1 minute")
    const { steps } = yield* Fiber.join(counted)
    const waits = steps.filter(({ type }) => type === "wait")
    assert.deepStrictEqual(
      waits.map(({ agent, name, number, runId, turn }) => [agent, name, number, runId === steps[0]?.runId, turn]),
      [["worker", "60000 ms, after ModelOverloadedError", 2, true, 1]]
    )
    const began = yield* Clock.currentTimeMillis
    const cut = yield* Effect.forkChild(FaultPlan.inject(FaultPlan.interruption(2))(once))
    yield* TestClock.adjust(29_999)
    assert.isUndefined(cut.pollUnsafe())
    yield* TestClock.adjust(1)
    const exit = yield* Fiber.await(cut)
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
    assert.strictEqual((yield* Clock.currentTimeMillis) - began, 30_000)
  })
)

it.effect(
  "a plan leaves the models to the interceptor around it, also those that agents have of their own [P1105]",
  () =>
    Effect.gen(function* () {
      const own = ScriptedModel.answering(() => ScriptedModel.text("by the agent's own model"))
      const outer = yield* ScriptedModel.make(ScriptedModel.text("by the model around"))
      const model = yield* Effect.provide(Model.Model, outer.layer)
      const program = FaultPlan.steps(Agent.make("worker", { model: own })("go"))
      const { exit } = yield* Effect.provideService(program, Interception.Current, {
        intercept: (_, self) => self,
        model
      })
      assert.deepStrictEqual(exit, Exit.succeed("by the model around"))
      assert.deepStrictEqual((yield* program).exit, Exit.succeed("by the agent's own model"))
    })
)
