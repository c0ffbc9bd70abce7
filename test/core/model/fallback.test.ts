import { assert } from "@effect/vitest"
import { Agent, KintsugiError, LlmError, Message, Model, Recovery, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Layer, Ref, Schema, Stream } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, batch, done, eventLog, play, scripted } from "../../_support/dialogue.ts"
import { asked, hello, type Named, namedModel, overloaded, says, unauthorised } from "../../_support/namedModels.ts"

const { fails, text } = ScriptedModel

const filtered = () => LlmError.ContentFilteredError.make({ model: "a", detail: "no" })
const tooLong = () => LlmError.ContextTooLongError.make({ model: "a" })
const quota = () => LlmError.QuotaExhaustedError.make({ model: "a" })

const counts = (...models: ReadonlyArray<Named>) => models.map(({ requests }) => requests.length)

asked(
  "the next model is asked when one is overloaded, out of quota or unknown; the reply says which it was [P1001]",
  (ask) =>
    Effect.gen(function* () {
      for (const error of [overloaded(), quota(), LlmError.ModelNotFoundError.make({ model: "a" })]) {
        const [a, b, c] = [
          yield* namedModel("a", fails(error)),
          yield* namedModel("b", text("from b")),
          yield* namedModel("c")
        ]
        const reply = yield* ask(Model.fallback(a.service, b.service, c.service))
        assert.deepInclude(reply, { content: [Message.text("from b")], model: "b" })
        assert.deepStrictEqual(counts(a, b, c), [1, 1, 0])
      }
    })
)

asked("a wrong key, a filter, a refused request and an overflow stop the order with the very error [P1001]", (ask) =>
  Effect.gen(function* () {
    for (const error of [
      unauthorised(),
      filtered(),
      tooLong(),
      LlmError.InvalidRequestError.make({ model: "a", detail: "no" })
    ]) {
      const [a, b] = [yield* namedModel("a", fails(error)), yield* namedModel("b")]
      assert.strictEqual(yield* Effect.flip(ask(Model.fallback(a.service, b.service))), error)
    }
  })
)

asked("when decides in the place of the default [P1001]", (ask) =>
  Effect.gen(function* () {
    const when = (error: LlmError.LlmError) => error._tag === "AuthenticationError"
    const a = yield* namedModel("a", fails(unauthorised()), fails(overloaded()))
    const b = yield* namedModel("b", text("from b"))
    const both = Model.fallback(a.service, b.service, { when })
    assert.strictEqual(Message.textOf(yield* ask(both)), "from b")
    assert.strictEqual((yield* Effect.flip(ask(both)))._tag, "ModelOverloadedError")
  })
)

asked("when all fail, the error is the last one, and keeps every reason in order, through JSON too [P1001]", (ask) =>
  Effect.gen(function* () {
    const errors = [
      overloaded("a"),
      quota(),
      LlmError.ServerError.make({ model: "c", cause: new Error("boom"), requestId: "r" })
    ]
    const models = yield* Effect.forEach(["a", "b", "c"], (name, index) => {
      const error = errors[index]
      return namedModel(name, fails(error ?? overloaded()))
    })
    const [a, b, c] = models.map(({ service }) => service)
    assert(a !== undefined && b !== undefined && c !== undefined)
    const error = yield* Effect.flip(ask(Model.fallback(a, b, c)))
    assert.instanceOf(error, LlmError.ServerError)
    assert.strictEqual(error.requestId, "r")
    assert.strictEqual(error.message, errors[2]?.message)
    const reasons = LlmError.reasonsOf(error)
    assert.deepStrictEqual([reasons[0], reasons[1], reasons[2]], [errors[0], errors[1], error])
    const codec = Schema.toCodecJson(KintsugiError.KintsugiError)
    const written = JSON.stringify(Schema.encodeUnknownSync(codec)(error))
    const back = Schema.decodeUnknownSync(codec)(JSON.parse(written))
    assert(LlmError.isLlmError(back))
    assert.deepStrictEqual(
      LlmError.reasonsOf(back).map(({ _tag }) => _tag),
      errors.map(({ _tag }) => _tag)
    )
    // orders nest, and the order of the reasons stays
    const others = yield* Effect.forEach(errors, (one, index) => namedModel(`${index}`, fails(one)))
    const [d, e, f] = others.map(({ service }) => service)
    assert(d !== undefined && e !== undefined && f !== undefined)
    const nested = yield* Effect.flip(ask(Model.fallback(Model.fallback(d, e), f)))
    assert.deepStrictEqual(
      LlmError.reasonsOf(nested).map(({ _tag }) => _tag),
      errors.map(({ _tag }) => _tag)
    )
  })
)

asked("a model's own retries are used up before the next model is asked [P1001]", (ask) =>
  Effect.gen(function* () {
    const a = yield* namedModel("a", fails(overloaded()), fails(overloaded()))
    const b = yield* namedModel("b", text("from b"))
    const patient = Model.onError(a.service, { ModelOverloadedError: Recovery.retry({ retries: 1 }) })
    assert.strictEqual((yield* ask(Model.fallback(patient, b.service))).model, "b")
  })
)

it.effect("no other model is called once a reader has got a part of a stream [P1003]", () =>
  Effect.gen(function* () {
    const a = yield* namedModel("a", fails(overloaded(), says("half a ")))
    const b = yield* namedModel("b")
    const stream = Model.fallback(a.service, b.service).stream(hello)
    assert.deepInclude(yield* Effect.flip(Stream.runDrain(stream)), { partial: "half a " })
  })
)

it.effect(
  "a text, a thought and a whole call count as shown; usage, items of the provider and nothing do not [P1403]",
  () =>
    Effect.gen(function* () {
      const call: Model.Part = { type: "tool-call", id: "c", name: "look", arguments: {} }
      const opaque = { provider: "of a", data: 1 }
      const item: Model.Part = { type: "provider-item", kind: "search", opaque }
      const counted: Model.Part = { type: "usage", usage: Usage.make({ inputTokens: 9, outputTokens: 1 }) }
      const cases: ReadonlyArray<readonly [ReadonlyArray<Model.Part>, isShown: boolean]> = [
        [[says("half")], true],
        [[{ type: "reasoning-delta", text: "hm" }], true],
        [[counted, call], true],
        [[counted], false],
        [[counted, item, { type: "reasoning-delta", text: "" }, says("")], false]
      ]
      for (const [parts, isShown] of cases) {
        const a = yield* namedModel("a", fails(overloaded(), ...parts), fails(overloaded(), ...parts))
        const b = yield* namedModel("b", ...(isShown ? [] : [text("from b")]))
        const seen = yield* Ref.make<ReadonlyArray<Model.Part>>([])
        const reading = Stream.runForEach(Model.fallback(a.service, b.service).stream(hello), (part) =>
          Ref.update(seen, (before) => [...before, part])
        )
        const exit = yield* Effect.exit(reading)
        assert.strictEqual(Exit.isFailure(exit), isShown, JSON.stringify(parts))
        // nothing of a model that is left is read
        if (!isShown) assert.notDeepInclude(yield* Ref.get(seen), counted)
        else assert.deepStrictEqual(yield* Ref.get(seen), parts)
        const alone = yield* Effect.flip(Stream.runDrain(Model.fallback(a.service).stream(hello)))
        if (parts.includes(counted)) assert.strictEqual(alone.usage?.inputTokens, 9)
      }
    })
)

it.effect("a stream of items and usage that comes to its end is read whole [P1403]", () =>
  Effect.gen(function* () {
    const item: Model.Part = { type: "provider-item", kind: "search", opaque: { provider: "of a", data: 1 } }
    const finish: Model.Part = { type: "finish", finish: "paused", usage: Usage.empty, model: "a" }
    const a = yield* namedModel("a")
    const service = { ...a.service, stream: () => Stream.make(item, finish) }
    const parts = yield* Stream.runCollect(Model.fallback(service).stream(hello))
    assert.deepStrictEqual(parts, [item, finish])
    const cut = { ...a.service, stream: () => Stream.make(item, { type: "usage", usage: Usage.empty } as const) }
    const error = yield* Effect.flip(Stream.runDrain(Model.fallback(cut).stream(hello)))
    assert.instanceOf(error, LlmError.NetworkError)
  })
)

it.effect(
  "within a run the agent's table decides after text or thoughts were shown, and no other model is called [P1003]",
  () =>
    Effect.gen(function* () {
      for (const part of [says("half a "), { type: "reasoning-delta", text: "hm" } as const]) {
        const a = yield* namedModel("a", fails(overloaded(), part), text("whole"))
        const b = yield* namedModel("b")
        const log = eventLog()
        const agent = agentWith().pipe(
          Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }, { onPartial: "restart" }),
          log.listen
        )
        const layer = Model.fallback(a.layer, b.layer)
        yield* Stream.runDrain(agent.stream("go").pipe(Stream.provide(layer)))
        assert.deepInclude(log.end(), { type: "run-completed", output: "whole" })
        assert.deepStrictEqual(
          log.of("attempt-discarded").map(({ attempt }) => attempt),
          [1]
        )
      }
    })
)

it.run("within a run each attempt is emitted and booked under the model that made it [P1001 P703]", (run) =>
  Effect.gen(function* () {
    const usage = { ...ScriptedModel.reply({}).usage, inputTokens: 7 }
    const a = yield* namedModel("a", fails(LlmError.ServerError.make({ model: "a", usage })))
    const b = yield* namedModel("b", text("from b"))
    const log = eventLog()
    yield* run(agentWith().pipe(log.listen), "go").pipe(Effect.provide(Model.fallback(a.layer, b.layer)))
    assert.deepStrictEqual(
      log.all.flatMap((event) => {
        if (event.type === "model-start") return [`start ${event.model} ${event.provider} ${event.attempt}`]
        if (event.type === "model-failed") return [`failed ${event.model} ${event.attempt}`]
        if (event.type === "model-end") return [`end ${event.model} ${event.attempt}: ${event.reply.model}`]
        return event.type === "verdict" ? [`${event.layer} ${event.tag} ${event.verdict}`] : []
      }),
      ["start a of a 1", "failed a 1", "model ServerError fallback", "start b of b 2", "end b 2: b"]
    )
    const end = log.end()
    assert.deepStrictEqual(
      end?.type === "run-completed"
        ? end.ledger.map((entry) => [entry.model, entry.provider, entry.outcome, entry.usage.inputTokens])
        : [],
      [
        ["a", "of a", "failed", 7],
        ["b", "of b", "used", 10]
      ]
    )
  })
)

it.run("after an unsafe tool ran, another model takes the next step: the tool does not rerun [P1003 P503]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("pay", { sideEffects: "unsafe" }, [Effect.succeed("paid")])
    const a = yield* namedModel("a", batch("pay"), fails(overloaded()))
    const b = yield* namedModel("b", done)
    const agent = agentWith(tool)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(Model.fallback(a.layer, b.layer))), "done")
    assert.strictEqual(runs.length, 1)
    assert.strictEqual(b.requests[0]?.messages.length, a.requests[1]?.messages.length)
  })
)

it.run("each turn begins with the first model [P1001]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("seen"))
    const a = yield* namedModel("a", fails(overloaded()), done)
    const b = yield* namedModel("b", batch("look"))
    assert.strictEqual(yield* run(agentWith(tool), "go").pipe(Effect.provide(Model.fallback(a.layer, b.layer))), "done")
    assert.deepStrictEqual(counts(a, b), [2, 1])
  })
)

it.run("maxCost needs the price of every model of a fallback [A904]", (run) =>
  Effect.gen(function* () {
    const [a, b] = [yield* namedModel("a"), yield* namedModel("b")]
    const priced = (...names: ReadonlyArray<string>) =>
      Agent.make("worker", {
        budget: {
          maxCost: 1,
          prices: Object.fromEntries(names.map((name) => [name, { usdPerMillionTokens: { input: 1, output: 1 } }]))
        }
      })
    const error = yield* Effect.flip(run(priced("a"), "go").pipe(Effect.provide(Model.fallback(a.layer, b.layer))))
    assert.include(error, { _tag: "UnknownPriceError", model: "b" })
    assert.deepStrictEqual(counts(a, b), [0, 0])
  })
)

it.run("a fallback model copied with another `generate` is a separate model [P1001]", (run) =>
  Effect.gen(function* () {
    const a = yield* namedModel("a", fails(overloaded()))
    const b = yield* namedModel("b", text("from b"))
    const both = Model.fallback(a.service, b.service)
    let asks = 0
    const counting = <A>(ask: () => A) => {
      asks++
      return ask()
    }
    const counted: Model.Service = {
      ...both,
      generate: (request) => Effect.suspend(() => counting(() => both.generate(request))),
      stream: (request) => Stream.suspend(() => counting(() => both.stream(request)))
    }
    const output = yield* run(agentWith(), "go").pipe(Effect.provide(Layer.succeed(Model.Model, counted)))
    assert.strictEqual(output, "from b")
    assert.strictEqual(asks, 1)
  })
)

asked("without a model it is a defect that says so [P1001]", (ask) =>
  Effect.gen(function* () {
    // as a program without types does
    const none = (Model.fallback as unknown as () => Model.Service)()
    const exit = yield* Effect.exit(ask(none))
    assert(Exit.isFailure(exit))
    assert.strictEqual(String(Cause.squash(exit.cause)), "TypeError: Model.fallback: it needs a model")
  })
)
