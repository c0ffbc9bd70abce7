/** `Tool.call`: a tool by itself, under its limits and no table. */
import { assert } from "@effect/vitest"
import { Recovery, Tool, ToolError } from "@kintsugi/core"
import { Cause, Effect, Exit, Option, Schema, Scope } from "effect"
import * as Token from "../../../packages/core/src/data/Token.ts"
import { it } from "../../_support/run.ts"
import { agentWith, busy, callingOnce, failureOf, overADay } from "../../_support/dialogue.ts"

const options = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String } as const
const limited = { ...options, timeout: "5 seconds", run: () => Effect.never } as const

/** A call whose tool never ends, a day later. */
const late = <A, E>(call: Effect.Effect<A, E>) => Effect.flatMap(overADay(call), failureOf)

it.effect("Tool.call ends within the time limit of a run, and no table decides [A516 A906]", () =>
  Effect.gen(function* () {
    let stopped = 0
    const tool = Tool.make("work", {
      ...limited,
      run: () =>
        Effect.onInterrupt(Effect.never, () =>
          Effect.sync(() => {
            stopped++
          })
        )
    }).pipe(Tool.onError({ orElse: Recovery.respondWith("answer") }))
    const error = yield* late(Tool.call(tool, {}))
    assert(error instanceof ToolError.ToolTimeoutError)
    assert.deepInclude(error, { tool: "work", sideEffects: "undeclared" })
    assert.strictEqual(error.tookEffect, undefined)
    assert.strictEqual(stopped, 1)
  })
)

it.effect("whether an unsafe tool then took effect is unknown [A906 P602]", () =>
  Effect.gen(function* () {
    const error: unknown = yield* late(Tool.call(Tool.make("pay", { ...limited, sideEffects: "unsafe" }), {}))
    assert(error instanceof ToolError.OutcomeUnknownError)
    assert.deepInclude(error, { tool: "pay", idempotencyKey: error.callId })
  })
)

it.effect("the outcome of a tool with `verify` is found, not found, or unknown [A906 P603]", () =>
  Effect.gen(function* () {
    const keys: Array<string> = []
    const paying = (found: Effect.Effect<Option.Option<string>, unknown>) =>
      Tool.make("pay", {
        ...limited,
        sideEffects: "unsafe",
        verify: (key) => Effect.suspend(() => (keys.push(key), found))
      })
    const found = yield* overADay(Tool.call(paying(Effect.succeed(Option.some("paid"))), {}))
    assert.deepStrictEqual(found, Exit.succeed("paid"))
    assert.match(keys[0] ?? "", /^pay-/)

    const absent: unknown = yield* late(Tool.call(paying(Effect.succeed(Option.none())), {}))
    assert(absent instanceof ToolError.ToolTimeoutError)
    assert.strictEqual(absent.tookEffect, false)

    for (const failing of [Effect.fail(busy("ledger is down")), Effect.never]) {
      assert.instanceOf(yield* late<string, unknown>(Tool.call(paying(failing), {})), ToolError.OutcomeUnknownError)
    }
  })
)

it.effect("a call by itself dies of a value that the tool's own schema refuses, found or made [A112]", () =>
  Effect.gen(function* () {
    const wrong = 5 as unknown as string
    const made = Tool.make("work", { ...options, run: () => Effect.succeed(wrong) })
    const found = Tool.make("work", {
      ...limited,
      sideEffects: "unsafe",
      verify: () => Effect.succeed(Option.some(wrong))
    })
    for (const tool of [made, found]) {
      const exit = yield* overADay<string, unknown, never>(Tool.call(tool, {}))
      assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.match(String(Cause.squash(exit.cause)), /'work' returned a value that its own success schema refuses/)
    }
  })
)

it.effect("a call that Effect repeats keeps its key and counts its attempts [A212 A516]", () =>
  Effect.gen(function* () {
    const seen: Array<readonly [number, string]> = []
    const tool = Tool.make("work", {
      ...options,
      timeout: "5 seconds",
      run: (_params, { attempt, idempotencyKey }) => {
        seen.push([attempt, idempotencyKey])
        return attempt < 3 ? Effect.never : Effect.succeed("done")
      }
    })
    const exit = yield* overADay(Effect.retry(Tool.call(tool, {}), { times: 5 }))
    assert.deepStrictEqual(exit, Exit.succeed("done"))
    assert.deepStrictEqual(
      seen.map(([attempt]) => attempt),
      [1, 2, 3]
    )
    assert.strictEqual(new Set(seen.map(([, key]) => key)).size, 1)
  })
)

it.effect("a call within a run leaves the scope of the run to the run [A906]", () =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    const inner = Tool.make("inner", {
      ...options,
      run: (_, { runScope }) =>
        Effect.as(
          Scope.addFinalizer(
            runScope,
            Effect.sync(() => void seen.push("released"))
          ),
          "held"
        )
    })
    const outer = Tool.make("outer", {
      ...options,
      run: () => Effect.tap(Effect.orDie(Tool.call(inner, {})), (text) => Effect.sync(() => void seen.push(text)))
    })
    const model = yield* callingOnce("outer")
    yield* agentWith(outer)("go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(seen, ["held", "released"])
    // alone, a call closes its scope itself
    yield* Tool.call(inner, {})
    assert.deepStrictEqual(seen, ["held", "released", "released"])
  })
)

it.effect("a deferred tool ends at its deadline, and its cancel says that nothing was done [A906 P1525]", () =>
  Effect.gen(function* () {
    const begun: Array<readonly [token: string, key: string]> = []
    const order = Tool.deferred("order", {
      ...options,
      sideEffects: "unsafe",
      start: (_, { idempotencyKey, token }) => Effect.sync(() => begun.push([token, idempotencyKey])),
      wait: "suspend",
      deadline: "1 hour",
      cancel: () => Effect.void
    })
    const error: unknown = yield* late(Tool.call(order, {}))
    assert(error instanceof ToolError.ToolTimeoutError)
    assert.deepInclude(error, { tool: "order", sideEffects: "unsafe", tookEffect: false })
    // its token belongs to no run
    const [[token, key] = ["", ""]] = begun
    assert.isTrue(yield* Token.isBound(token, { key, runId: "" }))
  })
)
