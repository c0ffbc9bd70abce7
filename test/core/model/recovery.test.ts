import { assert } from "@effect/vitest"
import { Agent, Compaction, LlmError, Message, Model, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Context, Effect, Exit, Layer, Ref, Stream } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, eventLog, overADay } from "../../_support/dialogue.ts"
import { asked, hello, namedModel, overloaded, says, unauthorised } from "../../_support/namedModels.ts"

const { fails, text } = ScriptedModel

const patient = Recovery.retry({ maxAttempts: 3, initialBackoff: "500 millis" })

asked("a bare model with a table is retried as the table says, at the same instants [A702 A705]", (ask) =>
  Effect.gen(function* () {
    const last = overloaded()
    const model = yield* namedModel("a", fails(overloaded()), fails(overloaded()), fails(last))
    const exit = yield* overADay(ask(Model.onError(model.service, { ModelOverloadedError: patient })))
    assert.deepStrictEqual(model.instants, [0, 500, 1500])
    assert.strictEqual(yield* Effect.flip(exit), last)
  })
)

asked("before the first part a failed attempt of a bare model is retried unseen [P501]", (ask) =>
  Effect.gen(function* () {
    const model = yield* namedModel("a", fails(overloaded()), text("all is well"))
    const reply = yield* ask(Model.onError(model.service, { orElse: Recovery.retry({ retries: 1 }) }))
    assert.deepStrictEqual(reply.content, [Message.text("all is well")])
    assert.strictEqual(model.requests.length, 2)
  })
)

asked("the table of a bare model is asked once for each failure, and may switch to a reply [A704 A708]", (ask) =>
  Effect.gen(function* () {
    const errors = [overloaded(), LlmError.ServerError.make({ model: "a" }), overloaded()]
    const model = yield* namedModel("a", ...errors.map((error) => fails(error)))
    const seen: Array<unknown> = []
    const stock = ScriptedModel.reply({ content: [Message.text("sorry")] })
    const guarded = Model.onError(model.service, {
      orElse: Recovery.when((error, { attempt }) => {
        seen.push(error)
        return attempt < 3 ? Recovery.retry({ retries: 9 }) : Recovery.respondWith(stock)
      })
    })
    assert.deepStrictEqual(yield* ask(guarded), stock)
    assert.deepStrictEqual(seen, errors)
  })
)

asked("rethrow, a table without a matching row and maxAttempts: 1 leave the very error [A706 A714]", (ask) =>
  Effect.gen(function* () {
    for (const table of [
      { ModelOverloadedError: Recovery.rethrow, orElse: patient },
      { NetworkError: patient },
      { orElse: Recovery.retry({ maxAttempts: 1, initialBackoff: "1 second" }) }
    ]) {
      const error = overloaded()
      const model = yield* namedModel("a", fails(error))
      assert.strictEqual(yield* Effect.flip(ask(Model.onError(model.service, table))), error)
      assert.strictEqual(model.requests.length, 1)
    }
  })
)

asked("a reply that was filtered away is a failure of a bare model too [A702]", (ask) =>
  Effect.gen(function* () {
    const filtered = ScriptedModel.replies(ScriptedModel.reply({ content: [], finish: "filtered" }))
    const model = yield* namedModel("a", filtered)
    const stock = ScriptedModel.reply({ content: [Message.text("I may not say.")] })
    const guarded = Model.onError(model.service, { ContentFilteredError: Recovery.respondWith(stock) })
    assert.deepStrictEqual(yield* ask(guarded), stock)
  })
)

it.effect(
  "a model stream outside a run is not retried after its first part, and its error carries the text [P502]",
  () =>
    Effect.gen(function* () {
      const model = yield* namedModel("a", fails(overloaded(), says("all "), says("wro")))
      const guarded = Model.onError(model.service, { orElse: Recovery.retry({ retries: 5 }) })
      const parts: Array<Model.Part> = []
      const exit = yield* Effect.exit(
        Stream.runForEach(guarded.stream(hello), (part) => Effect.sync(() => parts.push(part)))
      )
      assert.deepInclude(yield* Effect.flip(exit), { _tag: "ModelOverloadedError", partial: "all wro" })
      assert.deepStrictEqual(parts, [says("all "), says("wro")])
      assert.strictEqual(model.requests.length, 1)
    })
)

it.effect("the conversation of a model stream is not shortened after its first part [P502]", () =>
  Effect.gen(function* () {
    const tooLong = LlmError.ContextTooLongError.make({ model: "a" })
    const messages = ["one", "two", "three"].map((words) => Message.user(words))
    let compactions = 0
    const last = Compaction.make("last", ({ transcript }) => {
      compactions++
      return transcript.slice(-1)
    })
    const compact = Recovery.compact(last)
    const requestsOf = (model: Effect.Success<ReturnType<typeof namedModel>>) =>
      Effect.gen(function* () {
        const guarded = Model.onError(model.service, { ContextTooLongError: compact })
        yield* Effect.exit(Stream.runDrain(guarded.stream({ ...hello, messages })))
        return model.requests.map((request) => request.messages.length)
      })
    const unseen = yield* namedModel("a", fails(tooLong), text("all is well"))
    assert.deepStrictEqual(yield* requestsOf(unseen), [3, 1])
    const seen = yield* namedModel("a", fails(tooLong, says("all ")))
    assert.deepStrictEqual(yield* requestsOf(seen), [3])
    // nor in a run, whose reader has seen it
    const inRun = yield* namedModel("a", fails(tooLong, says("all ")))
    const layer = inRun.layer.pipe(Model.onError({ ContextTooLongError: compact }))
    yield* Effect.exit(Stream.runDrain(agentWith().stream("go").pipe(Stream.provide(layer))))
    assert.lengthOf(inRun.requests, 1)
    assert.strictEqual(compactions, 1)
  })
)

it.effect("a model stream outside a run that ends early is a NetworkError; without any text it is retried [P504]", () =>
  Effect.gen(function* () {
    const guard = { NetworkError: Recovery.retry({ retries: 1 }) }
    const broken = yield* namedModel("a", ScriptedModel.cutOff(says("all ")))
    const error = yield* Effect.flip(Stream.runDrain(Model.onError(broken.service, guard).stream(hello)))
    assert.deepInclude(error, { _tag: "NetworkError", partial: "all ", host: "of a" })
    const silent = yield* namedModel("a", ScriptedModel.cutOff(), text("all is well"))
    const parts = yield* Stream.runCollect(Model.onError(silent.service, guard).stream(hello))
    assert.deepStrictEqual(parts.at(-1)?.type, "finish")
  })
)

it.effect("the scope of an attempt is closed before the next, and an interruption reaches no table [A703 P501]", () =>
  Effect.gen(function* () {
    const log: Array<string> = []
    let attempt = 0
    const streamOf = (n: number) =>
      Stream.unwrap(
        Effect.as(
          Effect.acquireRelease(
            Effect.sync(() => log.push(`open ${n}`)),
            () => Effect.sync(() => log.push(`close ${n}`))
          ),
          n === 1
            ? Stream.fail(overloaded())
            : Stream.fromArray<Model.Part>([says("hi"), { type: "finish", ...ScriptedModel.reply({}) }])
        )
      )
    const service: Model.Service = {
      name: "a",
      provider: "p",
      generate: () => Effect.interrupt,
      stream: () => Stream.suspend(() => streamOf(++attempt))
    }
    const guarded = Model.onError(service, { orElse: Recovery.retry({ retries: 1 }) })
    yield* Stream.runForEach(guarded.stream(hello), (part) => Effect.sync(() => log.push(part.type)))
    assert.deepStrictEqual(log, ["open 1", "close 1", "open 2", "text-delta", "finish", "close 2"])
    const exit = yield* Effect.exit(guarded.generate(hello))
    assert.isTrue(Exit.hasInterrupts(exit))
  })
)

class Stock extends Context.Service<Stock, { readonly words: string }>()("test/Stock") {}

it.run("the table of a layer may need services, and an agent reads its reply like any other [A711]", (run) =>
  Effect.gen(function* () {
    const model = yield* namedModel("a", fails(overloaded()))
    const layer = model.layer.pipe(
      Model.onError({
        ModelOverloadedError: Recovery.respondWith(() =>
          Effect.map(Effect.service(Stock), ({ words }) => ScriptedModel.reply({ content: [Message.text(words)] }))
        )
      }),
      Layer.provide(Layer.succeed(Stock, { words: "from stock" }))
    )
    assert.strictEqual(yield* run(agentWith(), "go").pipe(Effect.provide(layer)), "from stock")
  })
)

it.run("within a run each attempt of a guarded model is an event, and an entry under its own name [A710 P703]", (run) =>
  Effect.gen(function* () {
    const model = yield* namedModel("a", fails(overloaded()), fails(overloaded()), text("fine"))
    const log = eventLog()
    const layer = Model.onError(model.layer, { orElse: Recovery.retry({ retries: 2 }) })
    yield* run(agentWith().pipe(log.listen), "go").pipe(Effect.provide(layer))
    assert.deepStrictEqual(
      log.of("model-start").map(({ attempt, model, provider }) => [model, provider, attempt]),
      [
        ["a", "of a", 1],
        ["a", "of a", 2],
        ["a", "of a", 3]
      ]
    )
    assert.deepStrictEqual(
      log.of("verdict").map(({ layer, verdict }) => [layer, verdict]),
      [
        ["model", "retry"],
        ["model", "retry"]
      ]
    )
    const end = log.end()
    assert.deepStrictEqual(
      end?.type === "run-completed" ? end.ledger.map(({ attempt, outcome }) => [attempt, outcome]) : [],
      [
        [1, "failed"],
        [2, "failed"],
        [3, "used"]
      ]
    )
  })
)

it.run("the agent's table sees what the model's own has left [A704]", (run) =>
  Effect.gen(function* () {
    const model = yield* namedModel("a", ...Array.from({ length: 4 }, () => fails(overloaded())))
    const asked = yield* Ref.make(0)
    const agent = agentWith().pipe(
      Agent.onLlmError({
        orElse: Recovery.ladder(
          Recovery.when(() => Recovery.retry({ retries: 1 })),
          Recovery.respondWith(() =>
            Effect.as(
              Ref.update(asked, (n) => n + 1),
              "tired"
            )
          )
        )
      })
    )
    const layer = Model.onError(model.layer, { orElse: Recovery.retry({ retries: 1 }) })
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(layer)), "tired")
    assert.deepStrictEqual([model.requests.length, yield* Ref.get(asked)], [4, 1])
  })
)

it.run(
  "a guarded model starts no wait that would pass the run's end: that ends the run, past every table [P704 A703]",
  (run) =>
    Effect.gen(function* () {
      const [a, b] = [yield* namedModel("a", fails(unauthorised())), yield* namedModel("b")]
      const guarded = Model.onError(a.layer, { orElse: Recovery.retry({ retries: 3, initialBackoff: "1 minute" }) })
      const layer = Model.onError(Model.fallback(guarded, b.layer, { when: () => true }), {
        orElse: Recovery.retry({ retries: 1 })
      })
      const agent = Agent.make("worker", { budget: { maxDuration: "59 seconds" } }).pipe(
        Agent.onLlmError({ orElse: Recovery.respondWith("never") })
      )
      const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(layer)))
      assert.deepInclude(error, { _tag: "BudgetExceededError", reason: "maxDuration", limit: 59_000 })
      assert.deepStrictEqual([a.instants, b.instants], [[0], []])
    })
)

asked(
  "the requests of a model whose table has transport: off are sent once, other requests may be resent [P1327]",
  (ask) =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const noting = Effect.map(Model.Resending, (resending) => {
        seen.push(resending)
        return ScriptedModel.reply({ content: [Message.text("so")] })
      })
      const model: Model.Service = {
        name: "a",
        provider: "of a",
        generate: () => noting,
        stream: () => Stream.unwrap(Effect.map(noting, (reply) => Stream.fromArray(Model.partsOf(reply))))
      }
      yield* ask(Model.onError(model, {}, { transport: "off" }))
      yield* ask(Model.onError(model, {}))
      assert.deepStrictEqual(seen, ["off", "on"])
    })
)

it.run("what an agent asks that shortens a request of a model is booked as a compaction [P703 P1005]", (run) =>
  Effect.gen(function* () {
    const { make } = ScriptedModel
    const model = yield* make(fails(LlmError.ContextTooLongError.make({ model: "a" })), text("done"))
    const short = yield* make(text("in short"))
    const summariser = Agent.make("summariser", { model: short.layer })
    const table = { ContextTooLongError: Recovery.compact(Compaction.summarise(summariser, { keepLast: 1 })) }
    const log = eventLog()
    const agent = agentWith().pipe(log.listen)
    const words = ["one", "two", "three"].flatMap((word) => [Message.user(word), Message.assistant(word.repeat(50))])
    const from = [...words, Message.user("four")]
    const layer = model.layer.pipe(Model.onError(table))
    assert.strictEqual(yield* run(Agent.resume(agent), { from }).pipe(Effect.provide(layer)), "done")
    const end = log.all.findLast(({ type }) => type === "run-completed")
    assert(end?.type === "run-completed")
    assert.deepStrictEqual(
      end.ledger.map(({ agent, outcome, purpose }) => [agent, purpose, outcome]),
      [
        ["worker", "agent", "failed"],
        ["summariser", "compaction", "used"],
        ["worker", "agent", "used"]
      ]
    )
  })
)
