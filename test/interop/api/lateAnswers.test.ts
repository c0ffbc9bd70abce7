/** Answers of HTTP APIs that do not come, or do not end, and operations that no client sends. */
import { assert, describe, it } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import { ApiError } from "@kintsugi/interop/ApiError"
import * as DocumentTools from "@kintsugi/interop/DocumentTools"
import * as HttpApiTools from "@kintsugi/interop/HttpApiTools"
import { Deferred, type Duration, Effect, Fiber, Layer } from "effect"
import type * as HttpClient from "effect/http/HttpClient"
import { TestClock } from "effect/testing"
import { documentOf } from "./_support/pets.ts"
import { authorised, books, served } from "./_support/shop.ts"

const hosts = ["http://api.pets.test"]

interface Made {
  readonly call: Effect.Effect<unknown, unknown, HttpClient.HttpClient>
  readonly names: { readonly tool: string; readonly api: string; readonly operation: string }
}

type Make = (timeout: Duration.Input | undefined) => Effect.Effect<Made, unknown>

const fromDocument: Make = (timeout) =>
  Effect.map(
    DocumentTools.fromDocument(documentOf({}), { name: "pets", hosts, ...(timeout === undefined ? {} : { timeout }) }),
    ({ tools: [things] }) => {
      assert(things !== undefined)
      return { call: Tool.call(things, {}), names: { tool: "things", api: "pets", operation: "things" } }
    }
  )

const fromEndpoints: Make = (timeout) => {
  const { find } = HttpApiTools.fromGroup(books, { include: ["find"], ...(timeout === undefined ? {} : { timeout }) })
  const call = Tool.call(find, { params: { isbn: "1" } })
  return Effect.succeed({ call, names: { tool: "find", api: "books", operation: "find" } })
}

/** Answers that never come, and bodies that never end. */
const endless = {
  "no answer": () => new Promise<Response>(() => {}),
  "a body without an end": () =>
    new Response(new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode("[")) }), {
      headers: { "content-type": "application/json" }
    })
}

for (const [kind, make] of Object.entries({ "a document": fromDocument, endpoints: fromEndpoints })) {
  describe(`tools of ${kind}`, () => {
    for (const [what, answer] of Object.entries(endless)) {
      it.effect(`fail after 60 seconds, or their own time, for ${what} [P1793 P1798]`, () =>
        Effect.gen(function* () {
          for (const [timeout, millis] of [
            [undefined, 60_000],
            ["5 seconds", 5000]
          ] as const) {
            const asked = yield* Deferred.make<AbortSignal>()
            const { layer } = served((request) => {
              Effect.runSync(Deferred.succeed(asked, request.signal))
              return answer()
            })
            const { call, names } = yield* make(timeout)
            const client = Layer.provide(authorised("http://shop.test"), layer)
            const fiber = yield* Effect.forkChild(
              Effect.flip(Effect.provide(call, kind === "endpoints" ? client : layer))
            )
            const signal = yield* Deferred.await(asked)
            yield* TestClock.adjust(millis - 1)
            assert.isUndefined(fiber.pollUnsafe())
            yield* TestClock.adjust(1)
            const error = yield* Fiber.join(fiber)
            assert(error instanceof ToolError.ExecutionError && error.cause instanceof ApiError)
            const { api, operation, tool } = names
            assert.deepInclude(error, { tool, category: "network", isRetryable: true })
            assert.deepInclude(error.cause, { reason: "timeout", api, operation })
            assert.include(error.message, `operation '${operation}' of the API '${api}': no whole answer within`)
            assert.isTrue(signal.aborted)
          }
        })
      )
    }
  })
}

it.effect("an operation that no client sends is left out: TRACE, and GET or HEAD with a body [P1794]", () =>
  Effect.gen(function* () {
    const requestBody = { content: { "application/json": { schema: { type: "object" } } } }
    const operations = {
      trace: { operationId: "follow" },
      get: { operationId: "read", requestBody },
      head: { operationId: "peek", requestBody },
      delete: { operationId: "drop", requestBody },
      options: { operationId: "ask" }
    }
    const document = { openapi: "3.1.0", servers: [{ url: "http://api.pets.test" }], paths: { "/pets": operations } }
    const { refused, tools } = yield* DocumentTools.fromDocument(document, { name: "pets", hosts })
    assert.sameMembers(
      tools.map(({ name }) => name),
      ["drop", "ask"]
    )
    assert.sameDeepMembers(
      refused.map((error) =>
        "reason" in error ? [error.reason, error.pointer, error.message.split(": ").at(-1)] : []
      ),
      [
        ["unsupported", "#/paths/~1pets/trace", "a request with the method TRACE cannot be sent"],
        ["unsupported", "#/paths/~1pets/get", "a request with the method GET cannot be sent with a body"],
        ["unsupported", "#/paths/~1pets/head", "a request with the method HEAD cannot be sent with a body"]
      ]
    )
  })
)
