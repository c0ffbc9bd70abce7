/** A shared budget before a model: what calls reserve, what they settle at each kind of end, and what is refused. */
import { assert, it } from "@effect/vitest"
import { Agent, LlmError, Model, Recovery, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { SharedBudget } from "@kintsugi/durable"
import { Cause, Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Logger, Stream } from "effect"
import { TestClock } from "effect/testing"
import { it as both } from "../../_support/run.ts"

const { answers, cutOff, fails, make, reply, text } = ScriptedModel

const key = "acme"
const acme = { key, tokens: 1000, reserve: 100 } as const

const using = (inputTokens: number, outputTokens: number) =>
  ScriptedModel.replies(
    reply({ content: [{ type: "text", text: "ok" }], usage: Usage.make({ inputTokens, outputTokens }) })
  )

const over = <R>(model: Layer.Layer<Model.Model, never, R>, limit: SharedBudget.SharedLimit = acme) =>
  Agent.make("clerk", { prompt: "Help.", model: SharedBudget.layer(model, limit) })

const spending = (limit: SharedBudget.SharedLimit = acme) => SharedBudget.spending(limit)

const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })

both.run("a call that does not fit fails before any request, and says what stands against it [P1720]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(using(930, 1))
    const clerk = over(model.layer, { ...acme, per: "1 day" })
    yield* TestClock.adjust("1 hour")
    yield* run(clerk, "hi")
    const error = yield* Effect.flip(run(clerk, "hi"))
    assert.instanceOf(error, LlmError.QuotaExhaustedError)
    assert.deepStrictEqual(error.resetAfter, Duration.hours(23))
    assert.strictEqual(
      error.message,
      "The shared budget 'acme' has 931 of 1000 tokens spent and 0 reserved, so a call that reserves 100 does not fit. " +
        "Raise its limit, or wait for the end of its period"
    )
    assert.instanceOf(error.cause, SharedBudget.SharedBudgetExceededError)
    assert.deepInclude(error.cause, { key, unit: "tokens", limit: 1000, spent: 931, reserved: 0, asked: 100 })
    assert.deepInclude(error.cause, { code: "KINTSUGI-SHARED-BUDGET-EXCEEDED", isRetryable: false })
    assert.lengthOf(model.requests, 1)
    yield* TestClock.adjust("23 hours")
    assert.deepStrictEqual(yield* spending({ ...acme, per: "1 day" }), { spent: 0, reserved: 0 })
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

both.run("a failure counts what its error reports, and 0 if it reports none; each attempt reserves [P1720]", (run) =>
  Effect.gen(function* () {
    const paid = Model.withUsage(overloaded, Usage.make({ inputTokens: 20, outputTokens: 2 }))
    const model = yield* make(fails(overloaded), fails(paid), using(5, 1))
    const clerk = over(model.layer).pipe(
      Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 2, initialBackoff: "1 millis" }) })
    )
    const running = yield* Effect.forkChild(run(clerk, "hi"))
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(running)
    assert.deepStrictEqual(yield* spending(), { spent: 28, reserved: 0 })
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

both.run(
  "a call reserves, and settles what it has used; one that is interrupted, what it has reserved [P1720]",
  (run) =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const waiting = answers(() => Effect.andThen(Deferred.succeed(asked, undefined), Effect.never))
      const model = yield* make(using(30, 4), using(200, 1), waiting)
      const clerk = over(model.layer)
      assert.strictEqual(yield* run(clerk, "hi"), "ok")
      assert.deepStrictEqual(yield* spending(), { spent: 34, reserved: 0 })
      // more than it has reserved
      yield* run(clerk, "hi")
      assert.deepStrictEqual(yield* spending(), { spent: 235, reserved: 0 })
      const running = yield* Effect.forkChild(run(clerk, "hi"))
      yield* Deferred.await(asked)
      assert.deepStrictEqual(yield* spending(), { spent: 235, reserved: 100 })
      yield* Fiber.interrupt(running)
      assert.deepStrictEqual(yield* spending(), { spent: 335, reserved: 0 })
    }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

const request: Model.Request = { messages: [], tools: [], toolChoice: "auto" }

/** The model of a layer, as a program without an agent calls it. */
const built = (model: Layer.Layer<Model.Model>, limit: SharedBudget.SharedLimit = acme) =>
  Effect.map(Layer.build(SharedBudget.layer(model, limit)), (services) => Context.get(services, Model.Model))

it.effect(
  "a stream that its reader leaves, or that breaks off, counts what was reported, or was reserved [P1720]",
  () =>
    Effect.gen(function* () {
      const usage: Model.Part = { type: "usage", usage: Usage.make({ inputTokens: 7, outputTokens: 1 }) }
      const said: Model.Part = { type: "text-delta", text: "Os" }
      const scripted = yield* make(cutOff(usage, said), cutOff(said), fails(overloaded, usage, said), using(1, 1))
      const model = yield* built(scripted.layer)
      const spent: Array<number> = []
      for (const take of [1, 9, 9, 9]) {
        yield* Effect.exit(Stream.runDrain(Stream.take(model.stream(request), take)))
        const found = yield* spending()
        assert.strictEqual(found.reserved, 0)
        spent.push(found.spent)
      }
      assert.deepStrictEqual(spent, [8, 108, 116, 118])
    }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

it.effect("a stream that fails after parts of a reply, without a usage, counts as what was reserved [P1720]", () =>
  Effect.gen(function* () {
    const said: Model.Part = { type: "text-delta", text: "x".repeat(20_000) }
    const scripted = yield* make(...Array.from({ length: 10 }, () => fails(overloaded, said)))
    const model = yield* built(scripted.layer)
    for (let nth = 0; nth < 20; nth++) yield* Effect.exit(Stream.runDrain(model.stream(request)))
    assert.lengthOf(scripted.requests, 10)
    assert.deepStrictEqual(yield* spending(), { spent: 1000, reserved: 0 })
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

it.effect(
  "a call that is interrupted while a slow storage reserves leaves no reservation, and counts as 0 [P1720]",
  () =>
    Effect.gen(function* () {
      const store = yield* SharedBudget.SharedBudgets
      const calls = [
        (model: Model.Service): Effect.Effect<unknown, unknown> => model.generate(request),
        (model: Model.Service) => Stream.runDrain(model.stream(request))
      ]
      for (const call of calls) {
        const [reserved, answered] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const slow: typeof store = {
          ...store,
          reserve: (asked) =>
            Effect.tap(store.reserve(asked), () =>
              Effect.andThen(Deferred.succeed(reserved, undefined), Deferred.await(answered))
            )
        }
        const never = Layer.succeed(Model.Model, {
          name: "m",
          provider: "test",
          generate: () => Effect.never,
          stream: () => Stream.never
        })
        const model = yield* Effect.provideService(built(never), SharedBudget.SharedBudgets, slow)
        const calling = yield* Effect.forkChild(call(model))
        yield* Deferred.await(reserved)
        const interrupting = yield* Effect.forkChild(Fiber.interrupt(calling))
        yield* Effect.yieldNow
        yield* Deferred.succeed(answered, undefined)
        yield* Fiber.join(interrupting)
        assert.deepStrictEqual(yield* spending(), { spent: 0, reserved: 0 })
      }
    }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

it.effect("a picture in the result of a tool reserves as much as one of a user [P1720]", () =>
  Effect.gen(function* () {
    const scripted = yield* make(using(1, 1))
    const model = yield* built(scripted.layer, { key, tokens: 20_000 })
    const parts = [{ type: "image" as const, mediaType: "image/png", data: "x".repeat(1_000_000) }]
    const call = { type: "tool-call" as const, id: "1", name: "shot", arguments: {} }
    const settlement = { kind: "result" as const, text: "[image]", parts }
    yield* model.generate({
      ...request,
      messages: [{ role: "assistant", content: [{ type: "settled-call", call, settlement }] }]
    })
    assert.deepStrictEqual(yield* spending(), { spent: 2, reserved: 0 })
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

it.effect("a stream has settled its call when its reader gets the last part [P1720]", () =>
  Effect.gen(function* () {
    const scripted = yield* make(using(3, 1))
    const model = yield* built(scripted.layer)
    const seen: Array<unknown> = []
    yield* Stream.runForEach(model.stream(request), ({ type }) =>
      Effect.map(spending(), (found) => void seen.push([type, found]))
    )
    assert.deepStrictEqual(seen.slice(-2), [
      ["text-delta", { spent: 0, reserved: 100 }],
      ["finish", { spent: 4, reserved: 0 }]
    ])
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

// Finds out nothing of its own: it plays nine runs at once, of which no small mistake lets more through
both.run("three runs at a limit exceed it at most by what is used beyond a reservation [P1720]", (run) =>
  Effect.gen(function* () {
    const limit = { key, tokens: 300, reserve: 100 } as const
    const gate = yield* Deferred.make<void>()
    let inFlight = 0
    // each waits for the others, and uses 150 of 100
    const step = answers(() =>
      Effect.suspend(() => (++inFlight === 3 ? Deferred.succeed(gate, undefined) : Effect.void)).pipe(
        Effect.andThen(Deferred.await(gate)),
        Effect.as(reply({ content: [{ type: "text", text: "ok" }], usage: Usage.make({ inputTokens: 150 }) }))
      )
    )
    const model = yield* make(step, step, step)
    const clerk = over(model.layer, limit)
    const nine = Array.from({ length: 9 }, () => Effect.exit(run(clerk, "hi")))
    const exits = yield* Effect.all(nine, { concurrency: "unbounded" })
    assert.lengthOf(exits.filter(Exit.isSuccess), 3)
    assert.lengthOf(model.requests, 3)
    assert.deepStrictEqual(yield* spending(limit), { spent: 300 + 3 * 50, reserved: 0 })
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

it.effect("a limit of cost reserves at the dearest price, and settles what the reply costs [P1720]", () =>
  Effect.gen(function* () {
    const price = { usdPerMillionTokens: { input: 1, output: 10, cacheWrite: 2 } }
    const limit = { key, cost: 1, reserve: { outputTokens: 1000 }, prices: { scripted: price } } as const
    const services = yield* Effect.context<SharedBudget.SharedBudgets>()
    const seen: Array<number> = []
    const scripted = yield* make(
      answers(() =>
        Effect.gen(function* () {
          seen.push((yield* Effect.provide(Effect.orDie(spending(limit)), services)).reserved)
          return reply({ usage: Usage.make({ inputTokens: 1000, outputTokens: 100 }) })
        })
      ),
      ScriptedModel.replies(reply({ usage: Usage.empty, cost: 0.5 }))
    )
    const model = yield* built(scripted.layer, limit)
    yield* model.generate({
      ...request,
      messages: [{ role: "user", content: [{ type: "text", text: "x".repeat(4000) }] }]
    })
    // about 1,000 tokens of input at 2 dollars for a million, and 1,000 of output at 10
    assert.closeTo(seen[0] ?? 0, 0.012, 0.0001)
    assert.deepStrictEqual(yield* spending(limit), { spent: 0.002, reserved: 0 })
    yield* model.generate(request)
    assert.deepStrictEqual(yield* spending(limit), { spent: 0.502, reserved: 0 })
    const refused = yield* Effect.flip((yield* built(scripted.layer, { ...limit, reserve: 0.5 })).generate(request))
    assert.deepInclude(refused.cause, { unit: "cost", limit: 1, spent: 0.502, reserved: 0, asked: 0.5 })
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

it.effect("a cost without a known price fails before any request; a reported price needs a number [P1720]", () =>
  Effect.gen(function* () {
    const scripted = yield* make(ScriptedModel.replies(reply({ cost: 0.25 })), ScriptedModel.replies(reply({})))
    const unpriced = yield* built(scripted.layer, { key, cost: 1, reserve: 0.1 })
    const error = yield* Effect.flip(unpriced.generate(request))
    assert.instanceOf(error, LlmError.InvalidRequestError)
    assert.include(error.message, "the price of model 'scripted' is unknown")
    const reporting = Layer.effect(
      Model.Model,
      Effect.map(Model.Model, (model): Model.Service => ({ ...model, price: "reported" }))
    ).pipe(Layer.provide(scripted.layer))
    const estimating = yield* built(reporting, { key, cost: 1 })
    assert.strictEqual((yield* Effect.flip(estimating.generate(request)))._tag, "InvalidRequestError")
    const model = yield* built(reporting, { key, cost: 1, reserve: 0.1 })
    yield* model.generate(request)
    yield* model.generate(request)
    // the second reply reports none
    assert.deepStrictEqual(yield* spending({ key, cost: 1 }), { spent: 0.35, reserved: 0 })
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

both.run("a fallback goes on to the next model when a budget is exceeded, and counts each of them [P1720]", (run) =>
  Effect.gen(function* () {
    const large = yield* make(fails(Model.withUsage(overloaded, Usage.make({ inputTokens: 40 }))))
    const small = yield* make(using(5, 1), using(6, 1))
    const limit = { key: "large", tokens: 120, reserve: 100 } as const
    const model = Model.fallback(SharedBudget.layer(large.layer, limit), SharedBudget.layer(small.layer, acme))
    const clerk = Agent.make("clerk", { model })
    assert.deepStrictEqual([yield* run(clerk, "hi"), yield* run(clerk, "hi")], ["ok", "ok"])
    assert.lengthOf(large.requests, 1)
    assert.deepStrictEqual(yield* spending(limit), { spent: 40, reserved: 0 })
    assert.deepStrictEqual(yield* spending(), { spent: 13, reserved: 0 })
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

it.effect("the tenant is read at each call, and has a budget of its own [P1720]", () =>
  Effect.gen(function* () {
    const Tenant = Context.Reference<string>("test/SharedTenant", { defaultValue: () => "a" })
    const model = yield* make(using(950, 1), using(3, 1))
    const clerk = over(model.layer, { ...acme, key: Effect.map(Tenant, (tenant) => tenant) })
    const as = (tenant: string) => clerk("hi").pipe(Effect.provideService(Tenant, tenant))
    yield* as("a")
    assert.strictEqual((yield* Effect.flip(as("a")))._tag, "QuotaExhaustedError")
    yield* as("b")
    assert.deepStrictEqual(yield* spending({ ...acme, key: "b" }), { spent: 4, reserved: 0 })
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)

it.effect(
  "a storage that fails before a call fails the call; one that fails after it is logged without secrets [P1720 P1394]",
  () =>
    Effect.gen(function* () {
      const scripted = yield* make(text("ok"))
      const password = "Tr0ub4dor-and-3"
      const broken = (at: "reserve" | "settle") =>
        Layer.effect(
          SharedBudget.SharedBudgets,
          Effect.map(SharedBudget.SharedBudgets, (store) => ({
            ...store,
            [at]: () => Effect.fail(at === "settle" ? `no redis://me:${password}@db` : "disk is full")
          }))
        ).pipe(Layer.provide(SharedBudget.layerMemory))
      const error = yield* Effect.flip(Effect.provide(over(scripted.layer)("hi"), broken("reserve")))
      assert.instanceOf(error, LlmError.UnknownLlmError)
      assert.strictEqual(error.cause, "disk is full")
      const logs: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void logs.push(JSON.stringify(message)))])
      assert.strictEqual(
        yield* over(scripted.layer)("hi").pipe(Effect.provide(Layer.merge(broken("settle"), logger))),
        "ok"
      )
      assert.lengthOf(logs, 1)
      assert.include(logs[0], "has not counted a call")
      assert.include(logs[0], "no redis://<redacted>@db")
    })
)

it.effect("a defect of a model counts as what was reserved [P1720]", () =>
  Effect.gen(function* () {
    const scripted = yield* make(answers(() => Effect.die("broken")))
    const exit = yield* Effect.exit(Effect.flatMap(built(scripted.layer), (model) => model.generate(request)))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    assert.deepStrictEqual(yield* spending(), { spent: 100, reserved: 0 })
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)
