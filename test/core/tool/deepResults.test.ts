/** Results of our own tools that are nested deeper than they can be written down. */
import { assert } from "@effect/vitest"
import { Recovery, Tool, ToolError } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, batch, callingOnce, eventLog, read } from "../../_support/dialogue.ts"

const nested = (levels: number): Schema.Json => JSON.parse("[".repeat(levels) + "]".repeat(levels))

const digging = (levels: number, sideEffects: "none" | "unsafe" = "none") => {
  let runs = 0
  const undone: Array<string> = []
  const tool = Tool.make("dig", {
    description: "Digs.",
    parameters: Schema.Struct({}),
    success: Schema.Json,
    sideEffects,
    run: () => Effect.sync(() => (runs++, nested(levels)))
  }).pipe(Tool.compensate(() => Effect.sync(() => void undone.push("dig"))))
  return { tool, runs: () => runs, undone }
}

for (const levels of [1001, 6000, 50_000]) {
  it.run(`a result of ${levels} levels is a typed failure that the model reads, and the run goes on [P1393]`, (run) =>
    Effect.gen(function* () {
      const { runs, tool } = digging(levels)
      const log = eventLog()
      const model = yield* callingOnce("dig")
      const agent = agentWith(tool).pipe(log.listen)
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
      assert.strictEqual(runs(), 1)
      assert.deepStrictEqual(read(model), [
        "told: ERROR: Tool 'dig' has run, and its result cannot be shown: " +
          "it is nested in more than 1000 levels. Repeating the call will not help."
      ])
      const failed = log.of("tool-failed")
      assert.strictEqual(failed.length, 1)
      for (const event of failed) {
        assert(event.error instanceof ToolError.ExecutionError)
        assert.deepInclude(event.error, { tool: "dig", category: "validation", callId: "c1", isRetryable: false })
        assert(event.error.cause instanceof DoorError.InputTooLargeError)
        assert.deepInclude(event.error.cause, {
          what: "The result of tool 'dig'",
          bound: "depth",
          limit: 1000
        })
      }
    })
  )
}

it.run("a result of 1000 levels is text, and so is a wide one [P1393]", (run) =>
  Effect.gen(function* () {
    const { tool } = digging(1000)
    const wide = Tool.make("spread", {
      description: "Spreads.",
      parameters: Schema.Struct({}),
      success: Schema.Json,
      run: () => Effect.succeed(Array.from({ length: 5000 }, () => [1]))
    })
    const model = yield* callingOnce("dig", "spread")
    assert.strictEqual(yield* run(agentWith(tool, wide), "go").pipe(Effect.provide(model.layer)), "done")
    const [deep, spread] = read(model)
    assert.strictEqual(deep, `result: ${"[".repeat(1000)}${"]".repeat(1000)}`)
    assert.strictEqual(spread, `result: [${"[1],".repeat(4999)}[1]]`)
  })
)

it.run("no row repeats a tool whose result is too deep: it has run, and is undone like any other [P1393]", (run) =>
  Effect.gen(function* () {
    const { runs, tool, undone } = digging(6000, "unsafe")
    const fails = Tool.make("fail", {
      description: "Fails.",
      parameters: Schema.Struct({}),
      success: Schema.Json,
      run: (): Effect.Effect<never, Error> => Effect.fail(new Error("at last"))
    })
    const guarded = tool.pipe(Tool.onError({ orElse: Recovery.retry({ retries: 2, acknowledge: "may run twice" }) }))
    const model = yield* ScriptedModel.make(batch("dig", "fail"))
    const exit = yield* Effect.exit(run(agentWith(guarded, fails), "go").pipe(Effect.provide(model.layer)))
    assert.isTrue(Exit.isFailure(exit))
    assert.strictEqual(runs(), 1)
    assert.deepStrictEqual(undone, ["dig"])
  })
)

it.effect("a tool that is called alone gives its value, as deep as it is [P1393]", () =>
  Effect.gen(function* () {
    const value = yield* Tool.call(digging(6000).tool, {})
    let levels = 0
    for (let one: unknown = value; Array.isArray(one); one = one[0]) levels++
    assert.strictEqual(levels, 6000)
  })
)
