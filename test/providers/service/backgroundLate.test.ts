/** Background replies whose names come late: a run waits for a moment, its layer for longer, and no job is left behind. */
import { assert } from "@effect/vitest"
import { Agent, Model } from "@kintsugi/core"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { calm, failureOf, pass, type Reaction, respond, respondWith, silence } from "../../_support/network.ts"
import { it } from "../../_support/run.ts"
import { begins, playing, whole } from "./_support/background.ts"

const agent = Agent.make("thinker", { prompt: "Think.", budget: { maxDuration: "1 day" } })

/** An agent whose runs end after 3 seconds. */
const hurried = Agent.make("thinker", { prompt: "Think.", budget: { maxDuration: "3 seconds" } })

const cancelled = respond(200, { ...whole, status: "cancelled" })

const cancels = "POST /responses/resp_1/cancel"

/** Answers so late, and notes when it is interrupted instead. */
const late = (reaction: Reaction, millis: number) => {
  const given = { isInterrupted: false }
  const slow: Reaction = () =>
    Effect.onInterrupt(Effect.delay(reaction(), millis), () => Effect.sync(() => void (given.isInterrupted = true)))
  return { given, slow }
}

/** The model of a layer with a scope of its own. */
const living = (layer: ReturnType<typeof playing>["model"]) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(layer, scope)
    const close = yield* Effect.cached(Scope.close(scope, Exit.void))
    yield* Effect.addFinalizer(() => Effect.andThen(Effect.forkDetach(close), pass(5000)))
    return { context: Context.pick(Model.Model)(context), close }
  })

/** A run that is interrupted a second after its begin. */
const interrupting = Effect.fnUntraced(function* <A, E>(running: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(running)
  yield* pass(1000)
  return yield* Effect.forkChild(Fiber.interrupt(fiber))
})

it.run("the end of a run does not wait for the answer that names it: it is cancelled then [P1406]", (run) =>
  Effect.gen(function* () {
    const { asked, model } = playing([late(begins(run.isStreamed), 200_000).slow, cancelled])
    const { context } = yield* living(model)
    const fiber = yield* Effect.forkChild(Effect.exit(Effect.provide(run(hurried, "go"), context)))
    yield* calm
    yield* pass(2999)
    assert.isUndefined(fiber.pollUnsafe())
    yield* pass(1)
    assert.strictEqual(failureOf(yield* Fiber.join(fiber))._tag, "BudgetExceededError")
    yield* pass(196_999)
    assert.deepStrictEqual(asked(), ["POST /responses"])
    yield* pass(1)
    assert.deepStrictEqual(asked(), ["POST /responses", cancels])
  })
)

it.run("an interruption waits for that answer until the end of the run at most [P1406]", (run) =>
  Effect.gen(function* () {
    const { context } = yield* living(playing(silence).model)
    const stopping = yield* interrupting(Effect.provide(run(hurried, "go"), context))
    yield* pass(1999)
    assert.isUndefined(stopping.pollUnsafe())
    yield* pass(1)
    assert.isDefined(stopping.pollUnsafe())
  })
)

it.run("an answer later than 5 seconds after an interruption cancels it [P1406]", (run) =>
  Effect.gen(function* () {
    const { asked, model } = playing([late(begins(run.isStreamed), 20_000).slow, cancelled])
    const { close, context } = yield* living(model)
    const stopping = yield* interrupting(Effect.provide(run(agent, "go"), context))
    yield* pass(5000)
    assert.isDefined(stopping.pollUnsafe())
    yield* pass(13_999)
    assert.deepStrictEqual(asked(), ["POST /responses"])
    yield* pass(1)
    assert.deepStrictEqual(asked(), ["POST /responses", cancels])
    yield* close
  })
)

it.run("so does a body that ends later [P1406]", (run) =>
  Effect.gen(function* () {
    const text = new TextEncoder().encode(yield* Effect.promise(async () => (await answered(run.isStreamed)).text()))
    let rest = () => {}
    const { asked, model } = playing([
      respondWith(200, () => {
        const start = (to: ReadableStreamDefaultController<Uint8Array>) => {
          to.enqueue(text.subarray(0, 9))
          rest = () => {
            to.enqueue(text.subarray(9))
            to.close()
          }
        }
        return new ReadableStream({ start })
      }),
      cancelled
    ])
    const { context } = yield* living(model)
    const stopping = yield* interrupting(Effect.provide(run(agent, "go"), context))
    yield* pass(5000)
    assert.isDefined(stopping.pollUnsafe())
    yield* pass(9000)
    rest()
    yield* pass(0)
    assert.deepStrictEqual(asked(), ["POST /responses", cancels])
  })
)

const answered = (isStreamed: boolean) => Effect.runPromise(Effect.orDie(begins(isStreamed)()))

it.run("a late request ends with the limits of the transport, and another is not sent [P1406]", (run) =>
  Effect.gen(function* () {
    const { given, slow } = late(begins(run.isStreamed), 60_000)
    const { asked, model } = playing([slow], { transport: { requestTimeout: "30 seconds" } })
    const { close, context } = yield* living(model)
    yield* interrupting(Effect.provide(run(agent, "go"), context))
    yield* pass(28_999)
    assert.isFalse(given.isInterrupted)
    yield* pass(1)
    assert.isTrue(given.isInterrupted)
    yield* close
    assert.deepStrictEqual(asked(), ["POST /responses"])
  })
)

it.run("the end of its layer gives a late request the rest of 5 seconds, and leaves none behind [P1406]", (run) =>
  Effect.gen(function* () {
    const { given, slow } = late(begins(run.isStreamed), 60_000)
    const { asked, model } = playing([slow])
    const { close, context } = yield* living(model)
    const fiber = yield* Effect.forkChild(Effect.exit(Effect.provide(run(hurried, "go"), context)))
    yield* pass(4000)
    assert.isDefined(fiber.pollUnsafe())
    const closing = yield* Effect.forkChild(close)
    yield* pass(3999)
    assert.isUndefined(closing.pollUnsafe())
    assert.isFalse(given.isInterrupted)
    yield* pass(1)
    assert.isDefined(closing.pollUnsafe())
    assert.isTrue(given.isInterrupted)
    yield* pass(60_000)
    assert.deepStrictEqual(asked(), ["POST /responses"])
  })
)

it.run("the end of its layer waits for a cancellation [P1406]", (run) =>
  Effect.gen(function* () {
    const { asked, model } = playing([late(begins(run.isStreamed), 6000).slow, late(cancelled, 1000).slow])
    const { close, context } = yield* living(model)
    yield* Effect.forkChild(Effect.exit(Effect.provide(run(hurried, "go"), context)))
    yield* pass(4000)
    const closing = yield* Effect.forkChild(close)
    yield* pass(2999)
    assert.isUndefined(closing.pollUnsafe())
    yield* pass(1)
    assert.isDefined(closing.pollUnsafe())
    assert.deepStrictEqual(asked(), ["POST /responses", cancels])
  })
)

it.run("a model whose layer has ended lets no request outlive its run [P1406]", (run) =>
  Effect.gen(function* () {
    const { given, slow } = late(begins(run.isStreamed), 60_000)
    const { context, close } = yield* living(playing([slow]).model)
    yield* close
    const stopping = yield* interrupting(Effect.provide(run(agent, "go"), context))
    yield* pass(4999)
    assert.isFalse(given.isInterrupted)
    yield* pass(1)
    assert.isDefined(stopping.pollUnsafe())
    assert.isTrue(given.isInterrupted)
  })
)

it.run("having ended otherwise, it is not cancelled [P1406]", (run) =>
  Effect.gen(function* () {
    const over: Reaction = run.isStreamed ? respond(500, "") : respond(200, whole)
    const { asked, model } = playing([late(over, 20_000).slow])
    const { context } = yield* living(model)
    yield* interrupting(Effect.provide(run(agent, "go"), context))
    yield* pass(60_000)
    assert.deepStrictEqual(asked(), ["POST /responses"])
  })
)
