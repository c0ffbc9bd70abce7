/** Recipe: a function of AWS Lambda. */
import { assert, it } from "@effect/vitest"
import * as Recipe from "@kintsugi/examples/recipes/lambda/handler"
import { Effect } from "effect"
import { read } from "../../../scripts/files.ts"
import { failure, model } from "../_support/recipe.ts"

it.effect("an event is answered, a problem has its status, and a run ends before its invocation", () =>
  Effect.gen(function* () {
    const { layer, requests, stopped } = yield* model
    const handler = Recipe.handlerOf(layer)
    const event = JSON.parse(read("packages/examples/recipes/lambda/event.json").text)
    const within = (left: number) => Effect.promise(() => handler(event, { getRemainingTimeInMillis: () => left }))
    assert.deepStrictEqual(yield* within(30_000), {
      statusCode: 200,
      headers: { "content-type": "application/json" },
      body: '{"answer":"Forty-two."}'
    })
    assert.include(JSON.stringify(requests[0]?.messages), "What is a span?")
    Object.assign(event, { body: btoa(event.body), isBase64Encoded: true })
    const failed = yield* within(30_000)
    assert.include(JSON.stringify(requests[1]?.messages), "What is a span?")
    assert.strictEqual(failed.statusCode, failure.status)
    assert.deepInclude(JSON.parse(failed.body), failure)
    assert.strictEqual(failed.headers["content-type"], "application/problem+json")
    const late = yield* within(510)
    assert.strictEqual(late.statusCode, 504)
    assert.strictEqual(JSON.parse(late.body).status, 504)
    yield* stopped
  })
)
