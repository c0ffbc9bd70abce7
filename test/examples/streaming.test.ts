import { assert, it } from "@effect/vitest"
import { LlmError, type Model, type RunError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Poet from "@kintsugi/examples/12-streaming"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { sameType } from "../types/_support/Identity.ts"

const { cutOff, fails, make, text } = ScriptedModel

const wiped = "(wiped)"

/** How the run ends, and what its reader has seen, in order. */
const watch = Effect.fnUntraced(function* (...steps: ReadonlyArray<ReturnType<typeof text>>) {
  const seen: Array<string> = []
  const model = yield* make(...steps)
  const screen = Layer.succeed(Poet.Screen, {
    write: (text) => Effect.sync(() => seen.push(text)),
    wipe: Effect.sync(() => seen.push(wiped))
  })
  const fiber = yield* Effect.forkChild(Effect.provide(Poet.program, Layer.merge(model.layer, screen)))
  yield* TestClock.adjust("1 minute")
  return { exit: yield* Fiber.await(fiber), seen }
})

it.effect("12-streaming: the text is shown piece by piece, and is the answer", () =>
  Effect.gen(function* () {
    type Left = LlmError.LlmError | RunError.BudgetExceededError
    sameType<Effect.Effect<string, Left, Model.Model | Poet.Screen>>()(Poet.program)
    const { exit, seen } = yield* watch(text("wave after wave"))
    assert.strictEqual(yield* exit, "wave after wave")
    assert.deepStrictEqual(seen, ["wave aft", "er wave"])
  })
)

it.effect("12-streaming: what a broken attempt has shown is wiped away, one that has shown nothing is not seen", () =>
  Effect.gen(function* () {
    const half = cutOff({ type: "text-delta", text: "grey and" })
    const { exit, seen } = yield* watch(half, fails(LlmError.ModelOverloadedError.make({ model: "x" })), text("blue"))
    assert.strictEqual(yield* exit, "blue")
    assert.deepStrictEqual(seen, ["grey and", wiped, "bl", "ue"])
  })
)

it.effect("12-streaming: when every attempt fails, the stream fails as the run does", () =>
  Effect.gen(function* () {
    const failing = fails(LlmError.ModelOverloadedError.make({ model: "x" }))
    const { exit, seen } = yield* watch(failing, failing, failing)
    assert.instanceOf(yield* Effect.flip(exit), LlmError.ModelOverloadedError)
    assert.deepStrictEqual(seen, [])
  })
)
