import * as Factories from "@kintsugi/core/Factories"
import { assert } from "@effect/vitest"
import { Agent, LlmError, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Clock, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  done,
  eventLog,
  interruptedAt,
  lastUsage,
  overADay,
  read,
  scripted
} from "../../_support/dialogue.ts"

const { fails, make, text } = ScriptedModel

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "scripted" })
const serverError = () => LlmError.ServerError.make({ model: "scripted", cause: new Error("boom") })

/** Fails, and writes down when it was asked. */
const failsAt = (instants: Array<number>, error: LlmError.LlmError = overloaded()): ScriptedModel.ScriptedStep =>
  ScriptedModel.answers(() =>
    Effect.flatMap(Clock.currentTimeMillis, (at) => {
      instants.push(at)
      return Effect.fail(error)
    })
  )

it.run("without a table the error of the model escapes as the same reference [A701]", (run) =>
  Effect.gen(function* () {
    const error = overloaded()
    const model = yield* make(fails(error))
    const log = eventLog()
    const agent = agentWith().pipe(log.listen)
    assert.strictEqual(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))), error)
    assert.deepInclude(log.end(), { type: "run-failed", error })
  })
)

it.run("the table decides once for every failed call, and gets the original error [A702 A704]", (run) =>
  Effect.gen(function* () {
    const errors = [overloaded(), serverError(), overloaded(), Factories.connectionRefused("h", 1)]
    const seen: Array<unknown> = []
    const model = yield* make(...errors.map((error) => fails(error)), text("at last"))
    const agent = agentWith().pipe(
      Agent.onLlmError({
        orElse: Recovery.when((error) => {
          seen.push(error)
          return Recovery.retry({ retries: 9 })
        })
      })
    )
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "at last")
    assert.strictEqual(seen.length, 4)
    for (const [i, error] of errors.entries()) assert.strictEqual(seen[i], error)
  })
)

it.run("a row learns that no calls are its matter, and its verdict tells what the run has left [A713 A511]", (run) =>
  Effect.gen(function* () {
    const seen: Array<unknown> = []
    const log = eventLog()
    const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })
    const { tool } = scripted("look", Effect.succeed("seen"))
    const model = yield* make(batch("look"), fails(overloaded), done)
    const skills = [{ name: "s", description: "d", tools: [tool] }]
    const agent = Agent.make("a", { budget: { maxTurns: 5, maxToolCalls: 7 }, skills }).pipe(
      Agent.onLlmError({
        orElse: Recovery.when((_error: LlmError.LlmError, { attempt, failingBatches, failuresInARow, tool }) => {
          seen.push({ attempt, failingBatches, failuresInARow, tool })
          return Recovery.retry({ retries: 1 })
        })
      }),
      log.listen
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(seen, [{ attempt: 1, failingBatches: 0, failuresInARow: 0, tool: undefined }])
    assert.deepStrictEqual(
      log.of("verdict").map(({ layer, left, verdict }) => ({ layer, left, verdict })),
      [{ layer: "model", left: { turns: 3, toolCalls: 6 }, verdict: "retry" }]
    )
  })
)

it.run("a reply that a content filter held back is a failure of the model call [A702]", (run) =>
  Effect.gen(function* () {
    const filtered = ScriptedModel.replies(ScriptedModel.reply({ content: [], finish: "filtered" }))
    const model = yield* make(filtered)
    const log = eventLog()
    const agent = agentWith().pipe(
      Agent.onLlmError({ ContentFilteredError: Recovery.respondWith("I may not say.") }),
      log.listen
    )
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "I may not say.")
    assert.deepStrictEqual(
      log.of("model-failed").map(({ entry }) => entry.outcome),
      ["failed"]
    )
  })
)

it.run("the table does not decide about an exceeded budget, nor about the failure of a tool [A703]", (run) =>
  Effect.gen(function* () {
    const asked: Array<unknown> = []
    const guard = Agent.onLlmError({
      orElse: Recovery.when((error: LlmError.LlmError) => {
        asked.push(error)
        return Recovery.retry({ retries: 1 })
      })
    })
    const { tool } = scripted("look", Effect.succeed("seen"), Effect.fail(busy()))
    for (const budget of [{ maxTurns: 1 }, { maxTurns: 9 }]) {
      const model = yield* make(batch("look"))
      const agent = Agent.make("a", { budget, skills: [{ name: "s", description: "d", tools: [tool] }] }).pipe(guard)
      const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.include(["BudgetExceededError", "Busy"], error._tag)
    }
    assert.deepStrictEqual(asked, [])
  })
)

it.run("the table does not decide when the run is interrupted, be it in a call or in a wait [A703]", (run) =>
  Effect.gen(function* () {
    for (const step of [ScriptedModel.answers(() => Effect.never), fails(overloaded())]) {
      const asked: Array<unknown> = []
      const log = eventLog()
      const model = yield* make(step)
      const agent = agentWith().pipe(
        Agent.onLlmError({
          orElse: Recovery.when((error) => {
            asked.push(error)
            return Recovery.retry({ retries: 3, initialBackoff: "1 minute" })
          })
        }),
        log.listen
      )
      const exit = yield* interruptedAt(59_999, run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
      assert.strictEqual(model.requests.length, 1)
      assert.strictEqual(asked.length, log.of("model-failed").length)
      assert.deepInclude(log.end(), { type: "run-interrupted", at: (log.all[0]?.at ?? 0) + 59_999 })
    }
  })
)

it.run(
  "maxAttempts: 3 with 500 ms makes three calls, 500 ms and 1 s apart; without a delay it waits not at all [A705]",
  (run) =>
    Effect.gen(function* () {
      const patient: Array<number> = []
      const model = yield* make(failsAt(patient), failsAt(patient), failsAt(patient))
      const agent = agentWith().pipe(
        Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ maxAttempts: 3, initialBackoff: "500 millis" }) })
      )
      yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(patient, [0, 500, 1500])

      const day = 24 * 3600 * 1000
      const hasty: Array<number> = []
      const failing = yield* make(failsAt(hasty), failsAt(hasty), failsAt(hasty))
      const quick = agentWith().pipe(Agent.onLlmError({ orElse: Recovery.retry({ maxAttempts: 3 }) }))
      yield* Effect.flip(run(quick, "go").pipe(Effect.provide(failing.layer)))
      assert.deepStrictEqual(hasty, [day, day, day])
    })
)

it.run("five attempts wait 500 ms, 1 s, 2 s, 4 s [A705]", (run) =>
  Effect.gen(function* () {
    const instants: Array<number> = []
    const model = yield* make(...Array.from({ length: 5 }, () => failsAt(instants)))
    const agent = agentWith().pipe(
      Agent.onLlmError({ orElse: Recovery.retry({ maxAttempts: 5, initialBackoff: "500 millis" }) })
    )
    yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(instants, [0, 500, 1500, 3500, 7500])
  })
)

it.run("maxAttempts: 1, rethrow, and a table without a matching row are the same [A706 A714]", (run) =>
  Effect.gen(function* () {
    const once = Recovery.retry({ maxAttempts: 1, initialBackoff: "1 second" })
    const often = Recovery.retry({ retries: 5 })
    for (const agent of [
      agentWith().pipe(Agent.onLlmError({ ModelOverloadedError: once })),
      agentWith().pipe(Agent.onLlmError({ ModelOverloadedError: Recovery.rethrow, orElse: often })),
      agentWith().pipe(Agent.onLlmError({ NetworkError: often }))
    ]) {
      const error = overloaded()
      const model = yield* make(fails(error))
      assert.strictEqual(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))), error)
      assert.strictEqual(model.requests.length, 1)
    }
  })
)

it.run("exhaustion gives the latest error, unwrapped [A707]", (run) =>
  Effect.gen(function* () {
    const last = overloaded()
    const model = yield* make(fails(overloaded()), fails(serverError()), fails(last))
    const agent = agentWith().pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 2 }) }))
    assert.strictEqual(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))), last)
  })
)

it.run("a when row may switch from retrying to an answer [A708]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(fails(overloaded()), fails(overloaded()), fails(overloaded()))
    const agent = agentWith().pipe(
      Agent.onLlmError({
        orElse: Recovery.when((_error, { attempt }) =>
          attempt < 3 ? Recovery.retry({ retries: 9 }) : Recovery.respondWith("tired")
        )
      })
    )
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "tired")
  })
)

it.run("counts are per turn; retried calls are no turns, each is an attempt in the events [A709 A710]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("seen"))
    const log = eventLog()
    const model = yield* make(
      fails(overloaded()),
      fails(overloaded()),
      batch("look"),
      fails(overloaded()),
      fails(overloaded()),
      done
    )
    const agent = Agent.make("a", { budget: { maxTurns: 2 }, skills: [{ name: "s", description: "d", tools: [tool] }] })
    const guarded = agent.pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 2 }) }), log.listen)
    assert.strictEqual(yield* run(guarded, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(
      log.of("model-start").map(({ attempt, turn }) => [turn, attempt]),
      [
        [1, 1],
        [1, 2],
        [1, 3],
        [2, 1],
        [2, 2],
        [2, 3]
      ]
    )
    assert.strictEqual(log.of("turn-start").length, 2)
    assert.deepInclude(lastUsage(log.end()), { inputTokens: 20, outputTokens: 10 })
  })
)

it.run("respondWith ends the run with its value, also after tools ran; usage so far is kept [A711]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("seen"))
    const log = eventLog()
    const model = yield* make(batch("look"), fails(overloaded()))
    const agent = agentWith(tool).pipe(
      Agent.onLlmError({ ModelOverloadedError: Recovery.respondWith((error) => Effect.succeed(error._tag)) }),
      log.listen
    )
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "ModelOverloadedError")
    assert.deepInclude(log.end(), { type: "run-completed", output: "ModelOverloadedError" })
    assert.deepInclude(lastUsage(log.end()), { inputTokens: 10, outputTokens: 5 })
    assert.deepStrictEqual(read(model), ["result: seen"])
  })
)
