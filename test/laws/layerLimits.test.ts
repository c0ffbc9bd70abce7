/** Laws of the limits of layers: a transport's time, an order of models, one deadline over all layers. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Message, Model, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Transport } from "@kintsugi/providers"
import { Clock, Duration, Effect, Exit, Layer, Schedule, Stream } from "effect"
import fc from "fast-check"
import { toParts } from "../../packages/core/src/testing/ScriptedModel.ts"
import { overADay } from "../_support/dialogue.ts"
import { failureOf, fakeNetwork, finished, openAi, type Reaction, respond } from "../_support/network.ts"
import type { Runner } from "../_support/run.ts"
import { lawOfRuns } from "./_support/runs.ts"

/** Every send takes so long, then it fails. */
const slow =
  (takes: number): Reaction =>
  () =>
    Effect.delay(respond(503)(), takes)

const askModel = (run: Runner) =>
  Effect.flatMap(Effect.service(Model.Model), (model): Effect.Effect<unknown, LlmError.LlmError> => {
    const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }
    return run.isStreamed ? Stream.runDrain(model.stream(request)) : model.generate(request)
  })

lawOfRuns(
  "a transport's timeout holds for all its sends and waits together, not for each send [L707]",
  fc.record({ takes: fc.integer({ min: 100, max: 900 }), sends: fc.integer({ min: 2, max: 5 }) }),
  Effect.fnUntraced(function* ({ sends, takes }, run) {
    const limit = 1_000
    const net = fakeNetwork(slow(takes))
    const options = { retry: { maxAttempts: sends, initialBackoff: 100, factor: 1 }, requestTimeout: limit }
    const exit = yield* finished(askModel(run).pipe(Effect.provide(openAi(options)), Effect.provide(net.layer)))
    const starts = Array.from({ length: sends }, (_, index) => index * (takes + 100)).filter((at) => at < limit)
    assert.deepStrictEqual(net.times(), starts)
    // a send that ends at the limit is too late
    const isCut = (starts.at(-1) ?? 0) + takes >= limit
    assert.strictEqual(failureOf(exit)._tag, isCut ? "RequestTimeoutError" : "ModelOverloadedError")
    // within the retry it would be a limit of each send, and all of them would be made
    let made = 0
    const send = Effect.suspend(() => {
      made++
      return Effect.delay(Effect.fail("busy"), takes)
    })
    const apart = Effect.retry(
      Effect.timeout(send, limit),
      Schedule.max([Schedule.recurs(sends - 1), Schedule.spaced(100)])
    )
    yield* overADay(apart)
    assert.strictEqual(made, sends)
    assert.isAtMost(net.sent.length, made)
    assert.strictEqual(Duration.toMillis(Transport.explain(options).worst.time), limit)
  })
)

type Ends = "answers" | "passes" | "falls back" | "is fatal"

const ends = fc.constantFrom<Ends>("answers", "passes", "falls back", "falls back", "is fatal")

const errorOf = (ends: Ends, name: string): LlmError.LlmError =>
  ends === "passes"
    ? LlmError.ModelOverloadedError.make({ model: name })
    : ends === "is fatal"
      ? LlmError.AuthenticationError.make({ model: name, detail: "no" })
      : LlmError.QuotaExhaustedError.make({ model: name })

lawOfRuns(
  "model i + 1 is called only after model i gave up with an admitted error; all failing keeps every reason [L708]",
  fc.record({
    models: fc.array(fc.array(ends, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
    split: fc.nat(3)
  }),
  Effect.fnUntraced(function* ({ models, split }, run) {
    const log: Array<string> = []
    const guard = { ModelOverloadedError: Recovery.retry<LlmError.ModelOverloadedError>({ retries: 2 }) }
    const services = models.map((script, index) => {
      let next = 0
      const name = `m${index}`
      const asked = Effect.suspend(() => {
        const step = script[Math.min(next++, script.length - 1)] ?? "answers"
        log.push(name)
        return step === "answers"
          ? Effect.succeed(ScriptedModel.reply({ content: [Message.text(name)] }))
          : Effect.fail(errorOf(step, name))
      })
      return Model.onError(
        {
          name,
          provider: "p",
          generate: () => asked,
          stream: () => Stream.unwrap(Effect.map(asked, (reply) => Stream.fromIterable(toParts(reply))))
        },
        guard
      )
    })
    const inOrder = (all: ReadonlyArray<Model.Service>): Model.Service => {
      const [first, ...others] = all
      assert(first !== undefined)
      return Model.fallback(first, ...others)
    }
    // orders within orders are the same order
    const at = Math.min(split, services.length - 1)
    const layered = inOrder([...services.slice(0, at), inOrder(services.slice(at))])
    const exit = yield* Effect.exit(
      run(Agent.make("a", {}), "go").pipe(Effect.provide(Layer.succeed(Model.Model, layered)))
    )
    const order = orderOf(models)
    assert.deepStrictEqual(log, order.log)
    if (order.answer !== undefined) return assert.deepStrictEqual(exit, Exit.succeed(order.answer))
    const error = failureOf(exit)
    assert(LlmError.isLlmError(error))
    return assert.deepStrictEqual(
      LlmError.reasonsOf(error).map(({ _tag }) => _tag),
      order.reasons
    )
  })
)

/** An order of models, told without the library. */
const orderOf = (models: ReadonlyArray<ReadonlyArray<Ends>>) => {
  const log: Array<string> = []
  const reasons: Array<string> = []
  for (const [index, script] of models.entries()) {
    const name = `m${index}`
    let step: Ends = "passes"
    for (let attempt = 0; attempt < 3 && step === "passes"; attempt++) {
      step = script[Math.min(attempt, script.length - 1)] ?? "answers"
      log.push(name)
    }
    if (step === "answers") return { log, reasons, answer: name }
    reasons.push(errorOf(step, name)._tag)
    if (step === "is fatal") break
  }
  return { log, reasons, answer: undefined }
}

lawOfRuns(
  "one deadline holds for all layers: from its instant on no request is sent, and no table decides [P704]",
  fc.record({
    limit: fc.integer({ min: 1, max: 5_000 }),
    takes: fc.integer({ min: 0, max: 700 }),
    waits: fc.tuple(fc.nat(900), fc.nat(900), fc.nat(900)),
    count: fc.integer({ min: 1, max: 4 })
  }),
  Effect.fnUntraced(function* ({ count, limit, takes, waits: [sends, asks, tries] }, run) {
    const net = fakeNetwork(slow(takes))
    const retryOf = (initialBackoff: number) => ({ retries: count, initialBackoff, factor: 1 })
    const layer = Model.fallback(
      openAi({ retry: retryOf(sends) }).pipe(
        Model.onError({ orElse: Recovery.retry<LlmError.LlmError>(retryOf(asks)) })
      ),
      openAi({ retry: false })
    )
    const late: Array<number> = []
    const agent = Agent.make("a", { budget: { maxDuration: limit } }).pipe(
      Agent.onLlmError({
        orElse: Recovery.ladder(
          Recovery.retry<LlmError.LlmError>(retryOf(tries)),
          Recovery.respondWith(() =>
            Effect.map(Clock.currentTimeMillis, (at) => {
              late.push(at)
              return "gave up"
            })
          )
        )
      })
    )
    const exit = yield* finished(run(agent, "go").pipe(Effect.provide(layer), Effect.provide(net.layer)))
    for (const at of net.times()) assert.isAtMost(at, limit)
    for (const at of late) assert.isAtMost(at, limit)
    if (Exit.isSuccess(exit)) return assert.strictEqual(exit.value, "gave up")
    const error = failureOf(exit)
    return assert.deepInclude(error, { _tag: "BudgetExceededError", reason: "maxDuration", limit })
  })
)
