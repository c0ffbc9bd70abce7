/** Recipe: an agent by procedures, one of which streams its events. */
import { assert, it } from "@effect/vitest"
import * as Recipe from "@kintsugi/examples/recipes/rpc/server"
import { Effect, Stream } from "effect"
import { HttpRouter } from "effect/http"
import { failure, model, quiet, serving } from "../_support/recipe.ts"

it.effect("a client reads events and failures typed, finds the run that it has left, and stops it", () =>
  Effect.gen(function* () {
    const { layer, stopped } = yield* model
    const client = yield* Recipe.clientOf(yield* serving(HttpRouter.serve(Recipe.routes(layer), quiet)))
    const last = (yield* Stream.runCollect(client.stream({ input: "What?" }))).at(-1)
    assert.strictEqual(last?.type === "run-completed" ? last.output : last?.type, "Forty-two.")
    const failed = yield* Effect.flip(Stream.runDrain(client.stream({ input: "What?" })))
    assert.strictEqual(failed._tag, "RunFailedError")
    assert.deepInclude({ ...Object(failed) }, failure)
    const third = client.stream({ input: "What?", run: "third" })
    yield* Stream.runDrain(Stream.takeUntil(third, ({ type }) => type === "model-start"))
    assert.strictEqual((yield* client.show({ run: "third" }))._tag, "AtWork")
    const stranger = yield* Effect.flip(client.show({ run: "third" }, { headers: { "x-user": "bob" } }))
    assert.strictEqual(stranger._tag, "RunNotFoundError")
    yield* client.stop({ run: "third" })
    yield* stopped
  })
)
