/** A streamed run goes on writing only while its reader follows; a started one waits for no reader. */
import { assert, it } from "@effect/vitest"
import { Agent, Model, Tool, Usage } from "@kintsugi/core"
import { Context, Effect, Exit, Fiber, Layer, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"

const total = 20_000

/** A model that counts the parts of a long reply that were pulled; it calls a tool before, if there is one. */
const writer = () => {
  const count = { pulled: 0 }
  const said = Stream.tap(
    Stream.rechunk(
      Stream.map(Stream.range(1, total), (): Model.Part => ({ type: "text-delta", text: "x" })),
      16
    ),
    () => Effect.sync(() => count.pulled++)
  )
  const end: Model.Part = { type: "finish", finish: "stop", usage: Usage.empty }
  const reply = Stream.concat(said, Stream.succeed(end))
  const called = Stream.make<[Model.Part, Model.Part]>(
    { type: "tool-call", id: "c1", name: "ask", arguments: "{}" },
    { ...end, finish: "tool-calls" }
  )
  const layer = Layer.succeed(
    Model.Model,
    Model.Model.of({
      name: "m",
      provider: "test",
      generate: () => Effect.die("not whole"),
      stream: ({ messages, tools }) => (tools.length > 0 && messages.at(-1)?.role === "user" ? called : reply)
    })
  )
  return { count, layer }
}

const settle = Effect.repeat(Effect.yieldNow, { times: 200 })

it.effect("a run of `stream` reads no more of a reply while 4,096 events wait for its reader [P1404]", () =>
  Effect.gen(function* () {
    const { count, layer } = writer()
    const scope = yield* Scope.make()
    const pull = yield* Stream.toPull(Agent.make("writer", {}).stream("go").pipe(Stream.provide(layer))).pipe(
      Scope.provide(scope)
    )
    yield* pull
    yield* settle
    assert.isAtLeast(count.pulled, 4000)
    assert.isAtMost(count.pulled, 2 * 4096 + 32)
    const before = count.pulled
    yield* pull
    yield* settle
    assert.isAtLeast(count.pulled, before + 1)
    // a reader that leaves ends the run, though it waits
    yield* Scope.close(scope, Exit.void)
    const left = count.pulled
    yield* settle
    assert.strictEqual(count.pulled, left)
    assert.isBelow(left, total)
  })
)

it.effect("the reader gets every event of such a run in order, and its output [P1404]", () =>
  Effect.gen(function* () {
    const { count, layer } = writer()
    const events = yield* Stream.runCollect(
      Agent.make("writer", {})
        .stream("go")
        .pipe(
          Stream.rechunk(1),
          Stream.tap(() => Effect.yieldNow),
          Stream.provide(layer)
        )
    )
    assert.strictEqual(count.pulled, total)
    assert.strictEqual(events.filter(({ type }) => type === "text-delta").length, total)
    assert.deepInclude(events.at(-1), { type: "run-completed", output: "x".repeat(total) })
  })
)

it.effect("a sub-agent of such a run waits for the same reader [P1404]", () =>
  Effect.gen(function* () {
    const { count, layer } = writer()
    const ask = Agent.asTool(Agent.make("expert", {}), {
      name: "ask",
      description: "Asks.",
      parameters: Schema.Struct({}),
      toInput: () => "why?"
    })
    const scope = yield* Scope.make()
    const pull = yield* Stream.toPull(
      Agent.make("worker", { tools: [ask] })
        .stream("go")
        .pipe(Stream.provide(layer))
    ).pipe(Scope.provide(scope))
    yield* pull
    yield* settle
    assert.isAtMost(count.pulled, 2 * 4096 + 32)
    yield* Scope.close(scope, Exit.void)
  })
)

it.effect("what such a run has left at work goes on when its reader has left [P1354 P1404]", () =>
  Effect.gen(function* () {
    const { count, layer } = writer()
    const outside = yield* Effect.scope
    const small = Layer.succeed(
      Model.Model,
      Model.Model.of({
        name: "small",
        provider: "test",
        generate: () => Effect.die("not whole"),
        stream: () =>
          Stream.make<[Model.Part, Model.Part]>(
            { type: "text-delta", text: "noted" },
            { type: "finish", finish: "stop", usage: Usage.empty }
          )
      })
    )
    let job: Fiber.Fiber<unknown, unknown> | undefined
    const clerk = Agent.make("clerk", {})
    // its second run begins when the reader has left
    const noting = Effect.andThen(Effect.sleep("1 minute"), Stream.runDrain(clerk.stream("note it")))
    const ask = Tool.make("ask", {
      description: "Leaves a job at work.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () =>
        Effect.map(Effect.forkIn(Effect.provide(noting, small), outside), (fiber) => {
          job = fiber
          return "left"
        })
    })
    const scope = yield* Scope.make()
    const pull = yield* Stream.toPull(
      Agent.make("worker", { tools: [ask] })
        .stream("go")
        .pipe(Stream.provide(layer))
    ).pipe(Scope.provide(scope))
    yield* pull
    yield* settle
    assert.isBelow(count.pulled, total)
    yield* Scope.close(scope, Exit.void)
    yield* TestClock.adjust("1 minute")
    yield* settle
    assert.isTrue(job !== undefined && Exit.isSuccess(yield* Fiber.await(job)))
  })
)

class Experts extends Context.Service<Experts, { readonly ask: Effect.Effect<string> }>()("test/Experts") {}

it.effect("a layer that is built in such a run does not wait for its reader in later runs [P1353 P1404]", () =>
  Effect.gen(function* () {
    const { count, layer } = writer()
    const captured = Layer.effect(
      Experts,
      Effect.map(Effect.context<never>(), (context) => {
        const ask = Effect.flatMap(Agent.make("expert", {})("why?"), Effect.succeed).pipe(
          Effect.provide(layer),
          Effect.orDie,
          Effect.provideContext(context)
        )
        return Experts.of({ ask })
      })
    )
    const ask = Tool.make("ask", {
      description: "Asks.",
      parameters: Schema.Struct({}),
      success: Schema.Finite,
      run: () =>
        Effect.map(
          Experts.use(({ ask }) => ask),
          (text) => text.length
        )
    })
    const agent = Agent.make("worker", { tools: [ask], model: layer }).pipe(Agent.provide(captured))
    const scope = yield* Scope.make()
    // the first reader rests, and stays
    const pull = yield* Stream.toPull(agent.stream("go")).pipe(Scope.provide(scope))
    yield* pull
    yield* settle
    const before = count.pulled
    assert.isBelow(before, total)
    const events = yield* Stream.runCollect(agent.stream("go"))
    assert.deepInclude(events.at(-1), { type: "run-completed" })
    yield* Scope.close(scope, Exit.void)
  })
)

it.effect("the limits of the run count while it waits for its reader [P1404]", () =>
  Effect.gen(function* () {
    const { layer } = writer()
    const agent = Agent.make("writer", {}).pipe(Agent.withBudget({ maxDuration: "1 minute" }))
    const scope = yield* Scope.make()
    const pull = yield* Stream.toPull(agent.stream("go").pipe(Stream.provide(layer))).pipe(Scope.provide(scope))
    yield* pull
    yield* settle
    yield* TestClock.adjust("1 minute")
    const rest = yield* Effect.exit(Effect.forever(pull))
    assert.include(String(rest), "BudgetExceededError")
    yield* Scope.close(scope, Exit.void)
  })
)

it.effect("a started run waits for no reader [P1370 P1404]", () =>
  Effect.gen(function* () {
    const { count, layer } = writer()
    const run = yield* Effect.provide(Agent.make("writer", {}).start("go"), layer)
    yield* run.outcome
    assert.strictEqual(count.pulled, total)
  })
)
