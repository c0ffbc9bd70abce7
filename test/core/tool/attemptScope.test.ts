/** What an attempt of a tool acquires in its scope. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Fiber, Queue, Schema } from "effect"
import { batch, type Busy, busy, callingOnce, overADay, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const acquiring = (log: Array<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => void log.push("open")),
    () => Effect.sync(() => void log.push("close"))
  )

const base = { description: "Fetches.", parameters: Schema.Struct({}), success: Schema.String }

/** Fails so often. */
const fetching = (log: Array<string>, failures: number) => {
  let runs = 0
  return Tool.make("fetch", {
    ...base,
    run: () =>
      Effect.andThen(
        acquiring(log),
        Effect.suspend((): Effect.Effect<string, Busy> => {
          log.push("run")
          return ++runs > failures ? Effect.succeed("done") : Effect.fail(busy())
        })
      )
  })
}

const once = ["open", "run", "close"]

it.run("an attempt has a scope of its own, which is closed before the next one opens [P1322]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const retrying = fetching(log, 2).pipe(Tool.onError({ Busy: Recovery.retry({ retries: 2 }) }))
    const model = yield* callingOnce("fetch")
    yield* overADay(run(Agent.make("a", { tools: [retrying] }), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(log, [...once, ...once, ...once])
  })
)

it.run("each run of an attempt by a function around it has one too [P1322]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const retrying = fetching(log, 1).pipe(Tool.around(Effect.retry({ times: 1 })))
    const model = yield* callingOnce("fetch")
    yield* run(Agent.make("a", { tools: [retrying] }), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(log, [...once, ...once])
  })
)

it.effect("a call outside of an agent has one for each time it is run [P1322]", () =>
  Effect.gen(function* () {
    const log: Array<string> = []
    assert.strictEqual(yield* Effect.retry(Tool.call(fetching(log, 1), {}), { times: 1 }), "done")
    assert.deepStrictEqual(log, [...once, ...once])
  })
)

it.run("an attempt that is cut off by its time limit, or interrupted, closes it [P1322]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const begun = yield* Queue.unbounded<void>()
    const stuck = (timeout: "1 second" | undefined) =>
      Tool.make("fetch", {
        ...base,
        ...(timeout && { timeout }),
        run: () => Effect.andThen(acquiring(log), Effect.andThen(Queue.offer(begun, undefined), Effect.never))
      }).pipe(Tool.onError({ orElse: Recovery.tell() }))
    const model = yield* callingOnce("fetch")
    const limited = run(Agent.make("a", { tools: [stuck("1 second")] }), "go").pipe(Effect.provide(model.layer))
    yield* overADay(limited)
    assert.deepStrictEqual(log, ["open", "close"])
    const other = yield* ScriptedModel.make(batch("fetch"))
    const unending = run(Agent.make("a", { tools: [stuck(undefined)] }), "go").pipe(Effect.provide(other.layer))
    const fiber = yield* Effect.forkChild(unending)
    yield* Queue.takeN(begun, 2)
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(log, ["open", "close", "open", "close"])
  })
)

it.run("the release of a scope takes none of the time of the attempt: a known outcome stays known [P1322]", (run) =>
  Effect.gen(function* () {
    for (const sideEffects of ["unsafe", "none"] as const) {
      const slow = Tool.make("fetch", {
        ...base,
        sideEffects,
        timeout: "1 second",
        run: () =>
          Effect.as(
            Effect.acquireRelease(Effect.void, () => Effect.sleep("3 seconds")),
            "paid"
          )
      })
      const model = yield* callingOnce("fetch")
      yield* overADay(run(Agent.make("a", { tools: [slow] }), "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(read(model), ["result: paid"])
    }
  })
)
