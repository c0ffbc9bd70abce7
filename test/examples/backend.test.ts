import * as Factories from "@kintsugi/core/Factories"
import { assert, it } from "@effect/vitest"
import { LlmError, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { layerModel, listening } from "@kintsugi/examples/backend/config"
import { layerMemory, NoSuchOrder, ShopBusy } from "@kintsugi/examples/backend/shop"
import type * as AgentProxy from "@kintsugi/interop/AgentProxy"
import { ConfigProvider, Duration, Effect, Logger, type Schema } from "effect"
import type { HttpClientError } from "effect/http"
import type { Equal, Expect } from "../types/_support/Identity.ts"
import { orders, raw, serving, shopOf } from "./_support/backendServer.ts"

const { answers, call, calls, fails, make, text } = ScriptedModel

const looking = (orderId: string) => calls(call("findOrder", { orderId }))

it.effect("backend: an input is answered, with the usage of its run", () =>
  Effect.gen(function* () {
    const model = yield* make(looking("A-17"), text("A lamp."))
    const { ask, client } = yield* serving(model.layer)
    type Failure = Effect.Error<ReturnType<typeof ask>>
    type Refused =
      | AgentProxy.RequestTooLargeError
      | AgentProxy.RunConflictError
      | AgentProxy.TooBusyError
      | AgentProxy.UnauthorizedError
      | AgentProxy.UnfitRequestError
    type Unreadable = HttpClientError.HttpClientError | Schema.SchemaError
    const claim: Expect<Equal<Failure, AgentProxy.RunFailedError | Refused | Unreadable>> = true
    assert.isTrue(claim)
    const ending = yield* ask("What is order A-17?")
    assert.strictEqual(ending._tag === "Answered" ? ending.output : ending._tag, "A lamp.")
    assert.strictEqual(ending._tag === "Answered" ? ending.usage?.inputTokens : 0, 20)
    assert.deepStrictEqual(yield* client.health(), { status: "ok", model: "scripted" })
  })
)

it.effect("backend: a tool that fails twice is tried a third time, and no client notices", () =>
  Effect.gen(function* () {
    let tries = 0
    const shop = shopOf((id) =>
      Effect.suspend(() =>
        ++tries < 3
          ? Effect.fail(new ShopBusy({ message: "busy" }))
          : Effect.succeed({ id, item: "a lamp", cents: 4900 })
      )
    )
    const model = yield* make(looking("A-17"), text("A lamp."))
    const { ask, url } = yield* serving(model.layer, shop)
    const ending = yield* ask("What is order A-17?")
    assert.strictEqual(ending._tag === "Answered" ? ending.output : ending._tag, "A lamp.")
    assert.strictEqual(tries, 3)
    const metrics = yield* raw(url, "/metrics")
    assert.match(metrics.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
    assert.match(metrics.text, /^kintsugi_verdicts\{[^}]*verdict="retry"[^}]*\} 2$/m)
    assert.match(metrics.text, /^gen_ai_invoke_agent_duration_count\{[^}]*\} 1$/m)
  })
)

it.effect("backend: the model reads what cannot be recovered, and answers all the same", () =>
  Effect.gen(function* () {
    const model = yield* make(looking("Z-9"), text("There is no such order."))
    const { ask } = yield* serving(
      model.layer,
      shopOf((id) => Effect.fail(new NoSuchOrder({ message: `no order ${id}` })))
    )
    const ending = yield* ask("What is order Z-9?")
    assert.strictEqual(ending._tag === "Answered" ? ending.output : ending._tag, "There is no such order.")
    assert.include(JSON.stringify(model.requests[1]?.messages), "no order Z-9")
  })
)

const failures = [
  [LlmError.ModelOverloadedError.make({ model: "own" }), 503, "KINTSUGI-MODEL-OVERLOADED", "5"],
  [Factories.apiRateLimit("openai", "7 seconds"), 429, "KINTSUGI-RATE-LIMIT", "7"],
  [LlmError.ContextTooLongError.make({ model: "own" }), 413, "KINTSUGI-CONTEXT-TOO-LONG", null],
  [LlmError.ContentFilteredError.make({ model: "own", detail: "no" }), 422, "KINTSUGI-CONTENT-FILTERED", null],
  [LlmError.AuthenticationError.make({ model: "own", detail: "bad" }), 502, "KINTSUGI-AUTHENTICATION", null],
  [Factories.llmTimeout("2 seconds"), 504, "KINTSUGI-REQUEST-TIMEOUT", "1"],
  [
    LlmError.CapabilityMismatchError.make({ model: "own", provider: "x", capability: "tools" }),
    501,
    "KINTSUGI-CAPABILITY-MISMATCH",
    null
  ]
] as const

for (const [error, status, code, retryAfter] of failures) {
  it.effect(`backend: ${error._tag} is status ${status}, and a problem that the client can act on`, () =>
    Effect.gen(function* () {
      const model = yield* make(fails(error), fails(error))
      const { ask, url } = yield* serving(model.layer)
      const failure = yield* Effect.flip(
        Effect.catchTag(ask("What?"), "RunFailedError", (failed) => Effect.fail(failed))
      )
      assert.strictEqual(failure._tag === "RunFailedError" ? failure.code : failure._tag, code)
      assert.strictEqual(failure._tag === "RunFailedError" ? failure.status : 0, status)
      const seen = yield* raw(url, "/runs", { method: "POST", body: JSON.stringify({ input: "What?" }) })
      assert.strictEqual(seen.status, status)
      assert.strictEqual(seen.headers.get("content-type"), "application/problem+json")
      assert.strictEqual(seen.headers.get("retry-after"), retryAfter)
      const body: unknown = JSON.parse(seen.text)
      assert.deepInclude(body, { status, code, retryable: retryAfter !== null })
      assert.notProperty(body, "_tag")
    })
  )
}

it.effect("backend: an exceeded budget is status 503, without advice to repeat the request", () =>
  Effect.gen(function* () {
    const turns = ["A-17", "B-4", "A-17", "B-4", "A-17", "B-4"].map(looking)
    const model = yield* make(...turns)
    const { ask } = yield* serving(model.layer)
    const failure = yield* Effect.flip(ask("Compare all orders."))
    assert.deepInclude(
      { ...failure },
      { _tag: "RunFailedError", code: "KINTSUGI-BUDGET-EXCEEDED", status: 503, retryable: false }
    )
  })
)

it.effect("backend: a bug is a problem without a word of it, and is logged with its cause", () =>
  Effect.gen(function* () {
    const bug = answers(() => Effect.die(new Error("secret: 17")))
    const model = yield* make(bug, bug)
    const logged: Array<{ readonly level: string; readonly text: string }> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      logged.push({ level: logLevel, text: String(message) })
    })
    const { ask, url } = yield* serving(model.layer).pipe(
      Effect.provideService(Logger.CurrentLoggers, new Set([logger]))
    )
    const seen = yield* raw(url, "/runs", { method: "POST", body: JSON.stringify({ input: "What?" }) })
    assert.strictEqual(seen.status, 500)
    assert.strictEqual(seen.headers.get("content-type"), "application/problem+json")
    assert.deepInclude(JSON.parse(seen.text), { code: "KINTSUGI-BUG", detail: "The server has failed", status: 500 })
    assert.notInclude(seen.text, "secret")
    const errors = logged.filter(({ level }) => level === "Error")
    assert.strictEqual(errors.length, 1)
    assert.match(errors[0]?.text ?? "", /^a run has met a bug,Error: secret: 17\n/)
    assert.deepInclude({ ...(yield* Effect.flip(ask("What?"))) }, { _tag: "RunFailedError", code: "KINTSUGI-BUG" })
  })
)

it.effect("backend: what does not fit the contract is refused before a run begins", () =>
  Effect.gen(function* () {
    const model = yield* make()
    const { client, events, url } = yield* serving(model.layer, layerMemory(orders))
    for (const body of ["{}", "no JSON", JSON.stringify({ input: "" })]) {
      const seen = yield* raw(url, "/runs", { method: "POST", body })
      assert.strictEqual(seen.status, 422)
      assert.strictEqual(seen.headers.get("content-type"), "application/problem+json")
    }
    const large = yield* raw(url, "/runs", { method: "POST", body: JSON.stringify({ input: "a".repeat(300_000) }) })
    assert.strictEqual(large.status, 413)
    const headers = { "content-type": "text/plain" }
    const strange = yield* raw(url, "/runs", { method: "POST", headers, body: "What?" })
    assert.strictEqual(strange.status, 415)
    for (const { headers, status, text } of [large, strange]) {
      assert.strictEqual(headers.get("content-type"), "application/problem+json")
      assert.deepInclude(JSON.parse(text), { status })
    }
    assert.include((yield* raw(url, "/openapi.json")).text, '"/approvals/{run}"')
    assert.strictEqual((yield* client.health()).status, "ok")
    assert.deepStrictEqual(events, [])
  })
)

it.effect("backend: an address that is none, and a method that its address does not know, are problems too", () =>
  Effect.gen(function* () {
    const model = yield* make()
    const { url } = yield* serving(model.layer, layerMemory(orders))
    const strays = [
      ["GET", "/nowhere", 404, null],
      ["POST", "/runs/r1/nothing", 404, null],
      ["POST", "/runs/r1/events", 405, "GET, HEAD"],
      ["PUT", "/runs/r1", 405, "GET, DELETE, HEAD"],
      ["GET", "/runs", 405, "POST"],
      ["DELETE", "/runs?a=1", 405, "POST"],
      ["PUT", "/approvals/r1", 405, "GET, HEAD"],
      ["OPTIONS", "/chat", 405, "POST"],
      ["POST", "/metrics", 405, "GET, HEAD"],
      ["POST", "/health", 405, "GET, HEAD"]
    ] as const
    for (const [method, path, status, allow] of strays) {
      const seen = yield* raw(url, path, { method })
      assert.strictEqual(seen.status, status, `${method} ${path}`)
      assert.strictEqual(seen.headers.get("allow"), allow, `${method} ${path}`)
      assert.strictEqual(seen.headers.get("content-type"), "application/problem+json")
      const title = status === 404 ? "Not Found" : "Method Not Allowed"
      assert.deepStrictEqual(JSON.parse(seen.text), { type: "about:blank", title, status })
    }
    const head = yield* raw(url, "/health", { method: "HEAD" })
    assert.deepStrictEqual([head.status, head.text], [200, ""])
  })
)

it.effect("backend: the environment names the model, and the address to listen at", () =>
  Effect.gen(function* () {
    const within = (env: Record<string, string>) =>
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
    const modelIn = (env: Record<string, string>) =>
      Model.Model.use(({ name, provider }) => Effect.succeed(`${provider} ${name}`)).pipe(
        Effect.provide(layerModel),
        within(env)
      )
    assert.strictEqual(yield* modelIn({}), "none stand-in")
    assert.strictEqual(yield* modelIn({ OPENAI_API_KEY: "" }), "none stand-in")
    assert.strictEqual(yield* modelIn({ OPENAI_API_KEY: "k", MODEL: "gpt-5" }), "openai gpt-5")
    assert.strictEqual(yield* modelIn({ OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "k", MODEL: "m" }), "anthropic m")
    const unnamed = yield* Effect.flip(modelIn({ GEMINI_API_KEY: "secret", MODEL: "" }))
    assert(unnamed._tag === "ModelNotNamed")
    assert.match(unnamed.message, /^set MODEL: GEMINI_API_KEY is set, and/)
    const settings = yield* within({ PORT: "0", DRAIN: "3 seconds" })(listening)
    assert.deepStrictEqual(
      { ...settings, gracefulShutdownTimeout: Duration.toMillis(settings.gracefulShutdownTimeout) },
      { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 3000 }
    )
    const wrong = yield* Effect.flip(within({ PORT: "http" })(listening))
    assert.strictEqual(wrong._tag, "ConfigError")
  })
)
