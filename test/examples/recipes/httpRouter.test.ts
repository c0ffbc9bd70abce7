/** Recipe: an agent on `HttpRouter`. */
import { assert, it } from "@effect/vitest"
import * as Recipe from "@kintsugi/examples/recipes/http-router/server"
import { Effect, Fiber } from "effect"
import { HttpRouter } from "effect/http"
import { failure, model, quiet, serving } from "../_support/recipe.ts"

const post = (url: string) =>
  Effect.promise(async (signal) => {
    const response = await fetch(url, { method: "POST", body: "What?", signal })
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() }
  })

it.effect("a whole answer, a problem with its status, and a run that stops with its client", () =>
  Effect.gen(function* () {
    const { asked, layer, stopped } = yield* model
    const url = yield* serving(HttpRouter.serve(Recipe.routes(layer), quiet))
    const ask = post(`${url}/ask`)
    assert.deepStrictEqual(JSON.parse((yield* ask).text), { answer: "Forty-two." })
    const refused = yield* ask
    assert.deepStrictEqual([refused.status, refused.type], [failure.status, "application/problem+json"])
    assert.deepInclude(JSON.parse(refused.text), failure)
    const client = yield* Effect.forkChild(ask)
    yield* asked
    yield* Fiber.interrupt(client)
    yield* stopped
  })
)

it.effect("a stream has the text, or the code of the failure, and stops with its reader", () =>
  Effect.gen(function* () {
    const { asked, layer, stopped } = yield* model
    const url = yield* serving(HttpRouter.serve(Recipe.routes(layer), quiet))
    const stream = post(`${url}/stream`)
    const { status, text, type } = yield* stream
    assert.deepStrictEqual([status, type], [200, "text/event-stream"])
    assert.include(text, '"type":"text-delta"')
    assert.isTrue(text.endsWith("data: [DONE]\n\n"))
    const broken = yield* stream
    assert.strictEqual(broken.status, 200)
    assert.match(broken.text, new RegExp(`"type":"error","errorText":"[^"]*${failure.code}[^]*\\[DONE\\]`))
    const client = yield* Effect.forkChild(stream)
    yield* asked
    yield* Fiber.interrupt(client)
    yield* stopped
  })
)
