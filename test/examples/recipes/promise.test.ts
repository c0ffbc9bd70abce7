/** Recipe: one file with Effect, and a function that returns a promise. */
import { assert, it } from "@effect/vitest"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Recipe from "@kintsugi/examples/recipes/promise/guide"
import { Effect, Fiber } from "effect"
import { failure, model } from "../_support/recipe.ts"

it.effect("an answer and a failure are values, and a signal stops the run", () =>
  Effect.gen(function* () {
    const { asked, layer, stopped } = yield* model
    const guide = yield* Effect.promise(() => Recipe.make(layer))
    yield* Effect.addFinalizer(() => Effect.promise(guide.close))
    const ask = (signal?: AbortSignal) => Effect.promise(() => guide.ask("What?", signal && { signal }))
    assert.deepStrictEqual(yield* ask(), { ok: true, answer: "Forty-two." })
    const failed = yield* ask()
    assert.deepInclude(failed.ok ? {} : failed.problem, failure)
    const controller = new AbortController()
    const client = yield* Effect.forkChild(ask(controller.signal))
    yield* asked
    controller.abort()
    yield* stopped
    const aborted = yield* Fiber.join(client)
    assert.strictEqual(aborted.ok ? "" : aborted.problem.status, 503)
  })
)

it.effect("a bug rejects", () =>
  Effect.gen(function* () {
    const { layer } = yield* ScriptedModel.make(ScriptedModel.answers(() => Effect.die(new Error("a bug"))))
    const guide = yield* Effect.promise(() => Recipe.make(layer))
    yield* Effect.addFinalizer(() => Effect.promise(guide.close))
    const rejected = yield* Effect.flip(Effect.tryPromise(() => guide.ask("What?")))
    assert.include(String(rejected.cause), "a bug")
  })
)
