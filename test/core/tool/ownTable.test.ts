/** The first table of a tool, written with the tool. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import { batch, type Busy, busy, callingOnce, done, gone, overADay, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const failing = (...steps: ReadonlyArray<Effect.Effect<string, ReturnType<typeof busy> | ReturnType<typeof gone>>>) => {
  const left = [...steps]
  const seen = { runs: 0 }
  const run = () => Effect.suspend(() => (seen.runs++, left.shift() ?? Effect.succeed("at last")))
  return { run, seen }
}

const base = { description: "Fetches.", parameters: Schema.Struct({}), success: Schema.String }

it.run("a table in the options of a tool is its first table [P1320]", (run) =>
  Effect.gen(function* () {
    const { run: fetching, seen } = failing(Effect.fail(busy()), Effect.fail(busy()), Effect.fail(gone("for good")))
    const tool = Tool.make("fetch", {
      ...base,
      run: fetching,
      onError: {
        Busy: Recovery.retry({ retries: 2 }),
        Gone: (error) => Effect.succeed(`${error.message}, seen`)
      }
    })
    const model = yield* callingOnce("fetch")
    const agent = Agent.make("a", { tools: [tool] })
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(exit, Exit.succeed("done"))
    assert.deepStrictEqual(read(model), ["result: for good, seen"])
    assert.strictEqual(seen.runs, 3)
  })
)

it.run("a later table wins for its tags, and the other rows stay [P1320]", (run) =>
  Effect.gen(function* () {
    const { run: fetching, seen } = failing(Effect.fail(busy()), Effect.fail(gone()), Effect.fail(busy()))
    const tool = Tool.make("fetch", {
      ...base,
      run: fetching,
      onError: { Busy: Recovery.retry({ retries: 2 }), Gone: Recovery.respondWith("first") }
    }).pipe(Tool.onError({ Gone: Recovery.respondWith("second") }))
    const model = yield* ScriptedModel.make(batch("fetch"), batch("fetch"), done)
    const agent = Agent.make("a", { tools: [tool] })
    yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(read(model), ["result: second", "result: at last"])
    assert.strictEqual(seen.runs, 4)
  })
)

it.run("a tool that is a function takes a table in its options too [P1320]", (run) =>
  Effect.gen(function* () {
    const tool = Tool.fromFunction("divide", {
      ...base,
      run: () => {
        throw new RangeError("by zero")
      },
      onError: { ExecutionError: ({ message }) => Effect.succeed(`no: ${message}`) }
    })
    const model = yield* callingOnce("divide")
    yield* run(Agent.make("a", { tools: [tool] }), "go").pipe(Effect.provide(model.layer))
    assert.match(read(model)[0] ?? "", /^result: no: .*by zero/u)
  })
)

it.effect("what is no row is refused with its key, also from JavaScript [P1320]", () =>
  Effect.sync(() => {
    const run = (): Effect.Effect<string, Busy> => Effect.succeed("")
    const rows: unknown = { Busy: 3 }
    const options = { ...base, run, onError: rows as { readonly Busy: typeof Recovery.raise } }
    assert.throws(() => Tool.make("fetch", options), TypeError, "Busy")
    assert.throws(
      () => Tool.fromFunction("fetch", { ...options, run: () => "", onError: rows as {} }),
      TypeError,
      "Busy"
    )
  })
)
