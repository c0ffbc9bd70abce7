/** Recipe: events by a procedure that streams. */
import { assert, it } from "@effect/vitest"
import * as Recipe from "@kintsugi/examples/recipes/rpc/server"
import { Effect, Stream } from "effect"
import { HttpRouter } from "effect/http"
import { failure, model, quiet, serving } from "../_support/recipe.ts"

it.effect("a client reads events and failures typed, and stops the run when it leaves", () =>
  Effect.gen(function* () {
    const { layer, stopped } = yield* model
    const client = yield* Recipe.clientOf(yield* serving(HttpRouter.serve(Recipe.routes(layer), quiet)))
    const watch = client.watch({ input: "What?" })
    const last = (yield* Stream.runCollect(watch)).at(-1)
    assert.strictEqual(last?.type === "run-completed" ? last.output : last?.type, "Forty-two.")
    const failed = yield* Effect.flip(Stream.runDrain(watch))
    assert.deepInclude({ ...failed }, { _tag: "Failed", ...failure })
    yield* Stream.runDrain(Stream.takeUntil(watch, ({ type }) => type === "model-start"))
    yield* stopped
  })
)
