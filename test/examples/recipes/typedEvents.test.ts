/** Recipe: events by `HttpApiSchema.StreamSse`. */
import { assert, it } from "@effect/vitest"
import * as Recipe from "@kintsugi/examples/recipes/typed-events/server"
import { Effect, Stream } from "effect"
import { FetchHttpClient, HttpRouter } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { failure, model, quiet, serving } from "../_support/recipe.ts"

it.effect("a client of the contract reads events and failures typed, and stops the run when it leaves", () =>
  Effect.gen(function* () {
    const { layer, stopped } = yield* model
    const baseUrl = yield* serving(HttpRouter.serve(Recipe.routes(layer), quiet))
    const client = yield* HttpApiClient.make(Recipe.Api, { baseUrl })
    const watch = Stream.unwrap(client.watch({ payload: { input: "What?" } }))
    const last = (yield* Stream.runCollect(watch)).at(-1)
    assert.strictEqual(last?.type === "run-completed" ? last.output : last?.type, "Forty-two.")
    const failed = yield* Effect.flip(Stream.runDrain(watch))
    assert.deepInclude({ ...failed }, { _tag: "Failed", ...failure })
    yield* Stream.runDrain(Stream.takeUntil(watch, ({ type }) => type === "model-start"))
    yield* stopped
  }).pipe(Effect.provide(FetchHttpClient.layer))
)
