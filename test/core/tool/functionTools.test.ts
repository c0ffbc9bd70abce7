import { assert } from "@effect/vitest"
import { LlmError, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, busy, callingOnce, calm, done, read } from "../../_support/dialogue.ts"

const { call, calls, make } = ScriptedModel

const options = { description: "Works.", parameters: Schema.Struct({ n: Schema.Finite }), success: Schema.String }

const one = (...more: ReadonlyArray<ScriptedModel.ScriptedStep>) => make(calls(call("work", { n: 1 }, "c1")), ...more)

it.run(
  "what a function throws, or its promise rejects with, is an ExecutionError around that very value [A109]",
  (run) =>
    Effect.gen(function* () {
      const thrown = Object.assign(new Error("no route"), { code: "EHOSTUNREACH", isRetryable: true })
      for (const work of [
        () => {
          throw thrown
        },
        () => Promise.reject(thrown),
        async () => {
          await Promise.resolve()
          throw thrown
        }
      ]) {
        const tool = Tool.fromFunction("work", { ...options, kind: "web-service", run: work })
        const model = yield* one()
        const error = yield* Effect.flip(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
        assert(error instanceof ToolError.ExecutionError)
        assert.strictEqual(error.cause, thrown)
        assert.deepInclude(error, {
          tool: "work",
          callId: "c1",
          kind: "web-service",
          args: { n: 1 },
          message: "no route"
        })
        assert.deepInclude(error, { code: "EHOSTUNREACH", isRetryable: true, category: "network" })
      }
    })
)

it.run("a value or a promise of one is the result; anything may be thrown [A109]", (run) =>
  Effect.gen(function* () {
    for (const work of [({ n }: { readonly n: number }) => `${n}`, async ({ n }: { readonly n: number }) => `${n}`]) {
      const model = yield* one(done)
      yield* run(agentWith(Tool.fromFunction("work", { ...options, run: work })), "go").pipe(
        Effect.provide(model.layer)
      )
      assert.deepStrictEqual(read(model), ["result: 1"])
    }
    for (const thrown of ["a text", undefined, 5, LlmError.ModelOverloadedError.make({ model: "m" })]) {
      const tool = Tool.fromFunction("work", { ...options, run: () => Promise.reject(thrown) })
      const model = yield* one()
      const error = yield* Effect.flip(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
      assert(error instanceof ToolError.ExecutionError)
      assert.strictEqual(error.cause, thrown)
    }
  })
)

it.run("a row of a tool that is a function gets the failure as it is, and recovers it like any other [A109]", (run) =>
  Effect.gen(function* () {
    let runs = 0
    const flaky = Tool.fromFunction("work", {
      ...options,
      run: () => {
        if (++runs < 3) throw new Error("busy")
        return "done"
      }
    }).pipe(Tool.onError({ ExecutionError: Recovery.retry({ retries: 2 }) }))
    const model = yield* one(done)
    yield* run(agentWith(flaky), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["result: done"])
  })
)

it.run("a misfit result of a function is a failure of category validation; of Tool.make, a defect [A112]", (run) =>
  Effect.gen(function* () {
    const foreign = Tool.fromFunction("work", { ...options, run: () => Promise.resolve(5 as unknown as string) })
    const model = yield* one()
    const error = yield* Effect.flip(run(agentWith(foreign), "go").pipe(Effect.provide(model.layer)))
    assert(error instanceof ToolError.ExecutionError)
    assert.deepInclude(error, { category: "validation", tool: "work", callId: "c1", recovery: "none" })
    assert.match(error.message, /success schema refuses/)

    const ours = Tool.make("work", { ...options, run: () => Effect.succeed(5 as unknown as string) })
    const dying = yield* one()
    const exit = yield* Effect.exit(run(agentWith(ours), "go").pipe(Effect.provide(dying.layer)))
    assert(Exit.hasDies(exit))
  })
)

it.effect("a misfit result is told with each field that does not fit [A112]", () =>
  Effect.gen(function* () {
    const success = Schema.Struct({ a: Schema.String, b: Schema.String })
    const tool = Tool.fromFunction("work", { ...options, success, run: () => ({ a: 1, b: null }) as never })
    const error = yield* Effect.flip(Tool.call(tool, { n: 1 }))
    assert.include(
      error.message,
      "it gave a value that its success schema refuses: a: Expected string, got number 1; b: Expected string, got null"
    )
  })
)

it.run("the signal of a function is aborted when the call is interrupted [A109 A111]", (run) =>
  Effect.gen(function* () {
    const signals: Array<AbortSignal> = []
    const tool = Tool.fromFunction("work", {
      ...options,
      run: (_params, { attempt, callId, signal }) => {
        signals.push(signal)
        return new Promise<string>(() => `${attempt}${callId}`)
      }
    })
    const model = yield* one()
    const fiber = yield* Effect.forkChild(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
    yield* calm
    assert.deepStrictEqual(
      signals.map(({ aborted }) => aborted),
      [false]
    )
    yield* Fiber.interrupt(fiber)
    assert.strictEqual(signals[0]?.aborted, true)
  })
)

it.run("maxResultChars cuts the text of a success, and no error text [K25]", (run) =>
  Effect.gen(function* () {
    const long = "word ".repeat(40).trim()
    const succeeding = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      maxResultChars: 20,
      run: () => Effect.succeed(long)
    })
    const failing = Tool.make("fail", {
      description: "Fails.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      maxResultChars: 20,
      run: () => Effect.fail(busy(long))
    }).pipe(Tool.onError({ Busy: Recovery.tell((error) => error.message) }))
    const model = yield* callingOnce("look", "fail")
    yield* run(agentWith(succeeding, failing), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["result: word word word...", `told: ${long}`])
    for (const max of [-1, 1.5, NaN, Infinity]) {
      assert.throws(
        () => Tool.make("x", { ...options, maxResultChars: max, run: () => Effect.succeed("x") }),
        RangeError
      )
    }
  })
)

it("a tool without a function, or without a schema, is refused when it is made, also in programs without types [P1309]", () => {
  const options = {
    description: "d",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed("")
  }
  for (const make of [Tool.make, Tool.fromFunction] as ReadonlyArray<(name: string, options: object) => unknown>) {
    const without = (option: string) => () => make("t", { ...options, [option]: undefined })
    assert.throws(without("run"), TypeError, "Tool 't': run must be a function")
    assert.throws(without("parameters"), TypeError, "Tool 't': parameters must be a Schema of Effect")
    assert.throws(without("success"), TypeError, "Tool 't': success must be a Schema of Effect")
  }
})
