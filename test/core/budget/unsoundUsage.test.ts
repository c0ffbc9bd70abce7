/** What a provider says of tokens and cost may be no amount: the run goes by an estimate, and says so. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, type Budget, type Ledger, LlmError, Message, Model, Usage } from "@kintsugi/core"
import * as Interception from "@kintsugi/core/Interception"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Layer, Schema, Stream } from "effect"
import { it, type Runner } from "../../_support/run.ts"
import { calm, eventLog, interruptedAt, isTerminal } from "../../_support/dialogue.ts"
import { only } from "../../_support/suspension.ts"

const sound = Usage.make({ inputTokens: 3, outputTokens: 4 })

/** What JavaScript and a wire let a provider say. */
const unsound: Readonly<Record<string, unknown>> = {
  negative: { ...sound, inputTokens: -5 },
  "not a number": { ...sound, outputTokens: Number.NaN },
  infinite: { ...sound, inputTokens: Infinity },
  "infinite, of one kind": { ...sound, cachedInputTokens: -Infinity },
  "a text": { ...sound, outputTokens: "12" },
  incomplete: { inputTokens: 3 },
  missing: undefined,
  throwing: Object.defineProperty({}, "inputTokens", {
    get: () => {
      throw new Error("not for you")
    }
  })
}

const usageOf = (said: unknown) => said as Usage.Usage

/** 40 characters, which are about ten tokens. */
const words = "Forty characters of words, or just about"

const reply = (usage: unknown, more: Partial<Message.Reply> = {}) =>
  ScriptedModel.replies({
    content: [{ type: "text", text: words }],
    finish: "stop",
    usage: usageOf(usage),
    ...more
  })

/** Runs an agent, with its events as they come back from their JSON. */
const play = (run: Runner, budget: Budget.Limits, ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* ScriptedModel.make(...steps)
    const agent = Agent.make("worker", { prompt: "Answer.", budget }).pipe(log.listen)
    const exit = yield* Effect.exit(run(agent, "What is it?").pipe(Effect.provide(model.layer)))
    return { exit, events: yield* Effect.forEach(log.all, replayed) }
  })

const replayed = (event: AgentEvent.AgentEvent) => {
  const codec = Schema.fromJsonString(AgentEvent.AgentEvent)
  return Effect.orDie(Effect.flatMap(Schema.encodeEffect(codec)(event), Schema.decodeEffect(codec)))
}

const ledgerOf = (events: ReadonlyArray<AgentEvent.AgentEvent>): ReadonlyArray<Ledger.Entry> =>
  events.flatMap((event) => (isTerminal(event) && "ledger" in event ? event.ledger : []))

it.run("usage that is no amount is replaced by an estimate with a flag, and the reply is kept [P1397]", (run) =>
  Effect.gen(function* () {
    for (const [kind, said] of Object.entries(unsound)) {
      const { events, exit } = yield* play(run, {}, reply(said))
      assert.deepStrictEqual(exit, Exit.succeed(words), kind)
      const [entry] = ledgerOf(events)
      assert(entry?.isEstimated === true, kind)
      // the reply's forty characters, its marks as JSON, and all that the model has read
      assert.isTrue(Usage.isSound(entry.usage))
      assert.isTrue(entry.usage.outputTokens >= 10 && entry.usage.outputTokens < 30, kind)
      assert.isTrue(entry.usage.inputTokens >= 5 && entry.usage.inputTokens < 60, kind)
      const [end] = only(events, "model-end")
      assert.deepStrictEqual(end?.entry, entry)
      assert.deepStrictEqual([end?.reply.usage, end?.reply.isEstimated], [entry.usage, true])
    }
  })
)

it.run("a sound usage and an empty usage are booked unchanged, without a flag [P1397]", (run) =>
  Effect.gen(function* () {
    for (const said of [sound, Usage.empty]) {
      const { events } = yield* play(run, {}, reply(said))
      assert.deepStrictEqual(
        ledgerOf(events).map((entry) => ["isEstimated" in entry, entry.usage]),
        [[false, said]]
      )
    }
  })
)

it.run("no usage switches maxTokens off [P1397]", (run) =>
  Effect.gen(function* () {
    for (const [kind, said] of Object.entries(unsound)) {
      const { events, exit } = yield* play(run, { maxTokens: 12 }, reply(said))
      assert.isTrue(Exit.isFailure(exit), kind)
      const end = events.at(-1)
      assert(end?.type === "run-failed" && !end.isDefect)
      assert.include(end.error as object, { _tag: "BudgetExceededError", reason: "maxTokens", limit: 12 })
    }
  })
)

it.run("sums of tokens and costs end at the largest number, and limits hold there [P1397]", (run) =>
  Effect.gen(function* () {
    const huge = { ...sound, inputTokens: 1e308, outputTokens: 1e308 }
    const paid = { usage: huge, cost: 1.5e308 }
    const asked = reply(huge, { ...paid, finish: "paused" })
    const { events, exit } = yield* play(run, {}, asked, reply(huge, paid))
    assert.isTrue(Exit.isSuccess(exit))
    const end = events.at(-1)
    assert(end?.type === "run-completed")
    assert.strictEqual(end.usage.inputTokens, Number.MAX_VALUE)
    assert.strictEqual(end.ledger.length, 2)
    const limited = yield* play(run, { maxTokens: 1000 }, asked)
    const failed = limited.events.at(-1)
    assert(failed?.type === "run-failed" && !failed.isDefect)
    assert.include(failed.error as object, { _tag: "BudgetExceededError", spent: Number.MAX_VALUE })
    const prices = { scripted: { usdPerMillionTokens: { input: 1e9, output: 1e9 } } }
    const costly = yield* play(run, { maxCost: 5, prices }, reply(huge, { usage: huge, finish: "paused" }))
    const [entry] = ledgerOf(costly.events)
    assert.strictEqual(entry?.cost, Number.MAX_VALUE)
    assert.include((costly.events.at(-1) as { readonly error: object }).error, { reason: "maxCost" })
  })
)

it.run("a cost that is no amount is left out, and the tokens are kept [P1397]", (run) =>
  Effect.gen(function* () {
    for (const cost of [-1, Number.NaN, Infinity]) {
      const { events, exit } = yield* play(run, {}, reply(sound, { cost }))
      assert.isTrue(Exit.isSuccess(exit))
      const [entry] = ledgerOf(events)
      assert.deepStrictEqual([entry?.usage, entry?.cost, entry?.isEstimated], [sound, undefined, undefined])
    }
  })
)

it.effect("an attempt that breaks off or is interrupted after an unsound usage has an estimate [P1397]", () =>
  Effect.gen(function* () {
    const broken = LlmError.NetworkError.make({ host: "test", what: "gone" })
    const parts: ReadonlyArray<Model.Part> = [
      { type: "text-delta", text: words },
      { type: "usage", usage: usageOf({ ...sound, inputTokens: -1 }), cost: -1 }
    ]
    for (const rest of [Stream.fail(broken), Stream.never]) {
      const log = eventLog()
      const service: Model.Service = {
        name: "own",
        provider: "test",
        generate: () => Effect.never,
        stream: () => Stream.concat(Stream.fromIterable(parts), rest)
      }
      const agent = Agent.make("worker", { model: Layer.succeed(Model.Model, service) }).pipe(log.listen)
      yield* interruptedAt(1000, Stream.runDrain(agent.stream("go")))
      yield* calm
      const [entry] = ledgerOf(yield* Effect.forEach(log.all, replayed))
      assert(entry?.isEstimated === true)
      assert.isTrue(entry.usage.outputTokens >= 10 && entry.usage.outputTokens < 30)
      assert.strictEqual(entry.cost, undefined)
    }
  })
)

it.run("an attachment counts as about a thousand tokens, however many bytes it has [P1397]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* ScriptedModel.make(reply(undefined))
    const agent = Agent.make("worker", { input: Message.UserContent }).pipe(log.listen)
    const picture = { type: "image", mediaType: "image/png", data: "A".repeat(1_000_000) } as const
    yield* run(agent, [picture]).pipe(Effect.provide(model.layer))
    const [entry] = ledgerOf(log.all)
    assert.isTrue(entry !== undefined && entry.usage.inputTokens > 900 && entry.usage.inputTokens < 1100)
  })
)

it.run("an interceptor of model calls, which may record the reply, reads the estimate [P1397]", (run) =>
  Effect.gen(function* () {
    const read: Array<unknown> = []
    const noting = (given: unknown) => {
      if (typeof given === "object" && given !== null && "usage" in given) read.push(given.usage)
    }
    const interceptor: Interception.Interceptor = {
      intercept: (_, self) => Effect.tap(self, (given) => Effect.sync(() => noting(given)))
    }
    const { events } = yield* play(run, {}, reply({ ...sound, inputTokens: -1 })).pipe(
      Effect.provideService(Interception.Current, interceptor)
    )
    const [entry] = ledgerOf(events)
    assert.strictEqual(entry?.isEstimated, true)
    assert.deepStrictEqual(read, [entry?.usage])
  })
)
