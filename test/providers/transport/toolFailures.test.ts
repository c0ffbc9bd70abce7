/** Failures of tools that use a network, over real connections: they have the categories that a transport's knowledge gives. */
import { assert, describe, it } from "@effect/vitest"
import { ToolError } from "@kintsugi/core"
import * as Render from "@kintsugi/core/Render"
import { LoopbackServer } from "@kintsugi/providers/testing"
import { Deferred, Duration, Effect } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"

type Ask = (url: string) => Effect.Effect<unknown, unknown>

/** Ways in which a tool may ask a server. */
const ways: Readonly<Record<string, Ask>> = {
  fetch: (url) =>
    Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(url, { signal })
        if (!response.ok) throw Object.assign(new Error("not ok"), { response })
        return response.text()
      },
      catch: (cause) => cause
    }),
  "effect/http": (url) =>
    HttpClient.get(url).pipe(
      Effect.flatMap(({ status, text }): Effect.Effect<string, unknown> =>
        status === 200 ? text : Effect.fail({ status })
      ),
      Effect.provide(FetchHttpClient.layer)
    ),
  "effect/http, filtered": (url) =>
    Effect.gen(function* () {
      const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
      return yield* Effect.flatMap(client.get(url), ({ text }) => text)
    }).pipe(Effect.provide(FetchHttpClient.layer))
}

const telling = (cause: unknown) =>
  Render.labelled(cause, {
    attempt: 1,
    previous: [],
    elapsed: Duration.zero,
    failingBatches: 0,
    failuresInARow: 0,
    sideEffects: "none"
  })

const failing = (ask: Effect.Effect<unknown, unknown>) =>
  Effect.map(Effect.flip(ask), (cause) => {
    assert.match(telling(cause), /^transient: .*; safe to retry$/s)
    const { category, isRetryable, status } = ToolError.executionErrorOf(
      { tool: "look", callId: "c1", kind: "web-service", args: null },
      cause
    )
    return { category, isRetryable, status }
  })

const network = { category: "network", isRetryable: true, status: undefined } as const

for (const [name, ask] of Object.entries(ways))
  describe(`a tool that sends a request by ${name}`, () => {
    it.live("is refused a connection [P1333]", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* failing(ask(yield* LoopbackServer.refusedUrl)), network)
      })
    )

    it.live("loses the connection before and inside of the answer [P1333]", () =>
      Effect.gen(function* () {
        for (const after of ["nothing", 2] as const) {
          const server = yield* LoopbackServer.make(() =>
            Effect.succeed({ body: "a long answer", cut: { after, how: "reset" } })
          )
          assert.deepStrictEqual(yield* failing(ask(server.url)), network)
        }
      })
    )

    it.live("is answered with 503 and with 429 [P1333]", () =>
      Effect.gen(function* () {
        for (const [status, category] of [
          [503, "server"],
          [429, "client"]
        ] as const) {
          const server = yield* LoopbackServer.make(() => Effect.succeed({ status, body: "no" }))
          assert.deepStrictEqual(yield* failing(ask(server.url)), { category, isRetryable: true, status })
        }
      })
    )
  })

describe("a tool that sends a request to a silent server", () => {
  it.live("gives up by the signal of a timeout, or of a controller, as soon as the request has arrived [P1333]", () =>
    Effect.gen(function* () {
      for (const reason of [new DOMException("it took too long", "TimeoutError"), undefined]) {
        const controller = new AbortController()
        const server = yield* LoopbackServer.make(() =>
          Effect.sync(() => {
            controller.abort(reason)
            return { body: "late", cut: { after: "nothing", how: "silence" } }
          })
        )
        const modelCall = Effect.tryPromise({
          try: () => fetch(server.url, { signal: controller.signal }),
          catch: (cause) => cause
        })
        assert.deepStrictEqual(yield* failing(modelCall), network)
      }
    })
  )

  it.live("gives up by Effect.timeout [P1333]", () =>
    Effect.gen(function* () {
      const never = yield* Deferred.make<never>()
      assert.deepStrictEqual(yield* failing(Effect.timeout(Deferred.await(never), 0)), network)
    })
  )
})
