import { assert, it } from "@effect/vitest"
import { LlmError } from "@kintsugi/core"
import { FaultPlan } from "@kintsugi/core/testing"
import { ShopBusy } from "@kintsugi/examples/backend/shop"
import { Cause, Deferred, Effect, Exit, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import {
  asked,
  drain,
  heard,
  looksUp,
  modelOf,
  raw,
  says,
  serving,
  settlementsOf,
  shopOf
} from "./_support/backendServer.ts"

const overloaded = LlmError.ModelOverloadedError.make({ model: "own" })

/** A model that looks an order up, and a shop that never finds it. */
const hanging = Effect.gen(function* () {
  const reached = yield* Deferred.make<void>()
  const shop = shopOf(() => Effect.andThen(Deferred.succeed(reached, undefined), Effect.never))
  return { reached: Deferred.await(reached), shop, model: modelOf(() => Effect.succeed(looksUp("A-17"))) }
})

/** A model that waits at a gate, and answers with what it was asked. */
const gated = Effect.gen(function* () {
  const reached = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const model = modelOf((request) =>
    Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(gate)).pipe(Effect.as(says(asked(request))))
  )
  return { reached: Deferred.await(reached), release: Deferred.succeed(gate, undefined), model }
})

it.effect("backend: a client that gives up stops nothing; a stop does, and its calls are settled", () =>
  Effect.gen(function* () {
    const { model, reached, shop } = yield* hanging
    const { client, nextEnd } = yield* serving(model, shop)
    const asked = { payload: { input: "What is order A-17?", run: "one" } }
    const fiber = yield* Effect.forkChild(client.runs.ask(asked))
    yield* reached
    yield* Fiber.interrupt(fiber)
    assert.strictEqual((yield* client.runs.show({ params: { run: "one" } }))._tag, "AtWork")
    yield* client.runs.stop({ params: { run: "one" } })
    assert.deepStrictEqual(settlementsOf(yield* nextEnd), ["interrupted"])
    assert.strictEqual((yield* client.health()).status, "ok")
  })
)

it.effect("backend: 50 requests are at work at the same time, and each gets its own answer", () =>
  Effect.gen(function* () {
    const many = 50
    const all = yield* Latch.make()
    let waiting = 0
    const model = modelOf((request) =>
      Effect.suspend(() => (++waiting === many ? all.open : Effect.void)).pipe(
        Effect.andThen(all.await),
        Effect.as(says(`about ${/number (\d+)/.exec(asked(request))?.[1]}`))
      )
    )
    const { ask, events, url } = yield* serving(model)
    const numbers = Array.from({ length: many }, (_, index) => index)
    const endings = yield* Effect.forEach(numbers, (n) => ask(`number ${n}`), { concurrency: "unbounded" })
    assert.deepStrictEqual(
      endings.map((ending) => (ending._tag === "Answered" ? ending.output : ending._tag)),
      numbers.map((n) => `about ${n}`)
    )
    assert.strictEqual(new Set(events.map(({ runId }) => runId)).size, many)
    assert.match((yield* raw(url, "/metrics")).text, /^gen_ai_invoke_agent_duration_count\{[^}]*\} 50$/m)
  })
)

it.effect("backend: 50 requests under faults: a request that fails, fails by name, and takes no other along", () =>
  Effect.gen(function* () {
    const numberOf = (text: string) => Number(/number (\d+)/.exec(text)?.[1])
    const tries = new Map<string, number>()
    const model = modelOf((request) => {
      const n = numberOf(asked(request))
      if (n % 5 === 0) return Effect.fail(overloaded)
      if (n % 7 === 0) return Effect.die(new Error("a bug in the model"))
      const result = heard(request)
      return Effect.succeed(
        result === undefined ? looksUp(`N-${n}`) : says(result.includes(`N-${n}`) ? `found ${n}` : result)
      )
    })
    const shop = shopOf((id) =>
      Effect.suspend(() => {
        const tried = (tries.get(id) ?? 0) + 1
        tries.set(id, tried)
        return tried < 3
          ? Effect.fail(new ShopBusy({ message: "busy" }))
          : Effect.succeed({ id, item: "a lamp", cents: 4900 })
      })
    )
    const { ask, client, url } = yield* serving(model, shop)
    const numbers = Array.from({ length: 50 }, (_, index) => index)
    const results = yield* Effect.forEach(
      numbers,
      (n) =>
        Effect.match(ask(`number ${n}`), {
          onSuccess: (ending) => (ending._tag === "Answered" ? ending.output : ending._tag),
          onFailure: (error) => (error._tag === "RunFailedError" ? error.code : error._tag)
        }),
      { concurrency: "unbounded" }
    )
    const wanted = (n: number) => {
      if (n % 5 === 0) return "KINTSUGI-MODEL-OVERLOADED"
      return n % 7 === 0 ? "a bug" : `found ${n}`
    }
    assert.deepStrictEqual(
      results.map((result, n) => (wanted(n) === "a bug" ? "a bug" : result)),
      numbers.map(wanted)
    )
    // clients learn nothing of a bug
    const bug = yield* raw(url, "/runs", { method: "POST", body: JSON.stringify({ input: "number 7" }) })
    assert.strictEqual(bug.status, 500)
    assert.notInclude(bug.text, "a bug in the model")
    assert.strictEqual((yield* client.health()).status, "ok")
  })
)

it.effect("backend: for a failure of any step, the client gets an answer or a problem", () =>
  Effect.gen(function* () {
    const model = modelOf((request) => Effect.succeed(heard(request) === undefined ? looksUp("A-17") : says("A lamp.")))
    const answered = Effect.gen(function* () {
      const { ask } = yield* serving(model)
      return yield* Effect.match(ask("What is order A-17?"), {
        onSuccess: ({ _tag }): string => _tag,
        onFailure: (error): string => (error._tag === "RunFailedError" ? error.code : error._tag)
      })
    }).pipe(Effect.scoped)
    const { exit, steps: all } = yield* FaultPlan.steps(answered)
    // the listener writes to the log, and changes nothing
    const steps = all.filter(({ type }) => type !== "listener")
    assert.deepStrictEqual(exit, Exit.succeed("Answered"))
    const failing = ({ number, type }: (typeof steps)[number]) =>
      FaultPlan.error(number, () => (type === "tool attempt" ? new ShopBusy({ message: "busy" }) : overloaded))
    const under = yield* Effect.forEach(steps, (step) =>
      Effect.map(FaultPlan.inject(failing(step))(answered), (got) => `${step.type}: ${got}`)
    )
    assert.deepStrictEqual(under, [
      "model call: KINTSUGI-MODEL-OVERLOADED",
      "stream part: KINTSUGI-MODEL-OVERLOADED",
      "stream part: KINTSUGI-MODEL-OVERLOADED",
      "tool attempt: Answered",
      "model call: KINTSUGI-MODEL-OVERLOADED",
      "stream part: KINTSUGI-MODEL-OVERLOADED",
      "stream part: KINTSUGI-MODEL-OVERLOADED"
    ])
  })
)

it.effect("backend: on a stop, the server lets its requests finish, and takes no others", () =>
  Effect.gen(function* () {
    const { model, release, reached } = yield* gated
    const { ask, client, stop } = yield* serving(model)
    const fiber = yield* Effect.forkChild(ask("Still there?"))
    yield* reached
    const stopping = yield* Effect.forkChild(stop, { startImmediately: true })
    const refused = yield* Effect.flip(client.health())
    assert.strictEqual(refused._tag, "HttpClientError")
    yield* release
    const ending = yield* Fiber.join(fiber)
    assert.include(ending._tag === "Answered" ? ending.output : "", "Still there?")
    yield* Fiber.join(stopping)
  })
)

it.effect("backend: a request that does not finish in time is interrupted, and its calls are settled", () =>
  Effect.gen(function* () {
    const { model, reached, shop } = yield* hanging
    const { ask, events, nextEnd, stop } = yield* serving(model, shop)
    const fiber = yield* Effect.forkChild(Effect.exit(ask("What is order A-17?")))
    yield* reached
    const stopping = yield* Effect.forkChild(stop, { startImmediately: true })
    yield* TestClock.adjust(drain)
    assert.deepStrictEqual(settlementsOf(yield* nextEnd), ["interrupted"])
    yield* Fiber.join(stopping)
    const exit = yield* Fiber.join(fiber)
    assert.match(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "answered", /503/)
    const before = events.length
    assert.strictEqual((yield* Effect.flip(ask("Anybody?")))._tag, "HttpClientError")
    assert.strictEqual(events.length, before)
  })
)
