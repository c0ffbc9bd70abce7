/** What of the backend outlives a request: runs that have ended, lines in the log, and the limit of calls of the model. */
import { assert, it } from "@effect/vitest"
import { Agent, LlmError, Message, Model, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Chats from "@kintsugi/examples/backend/chats"
import { layerModel } from "@kintsugi/examples/backend/config"
import { layerOf, Running } from "@kintsugi/examples/backend/running"
import { layerMemory } from "@kintsugi/examples/backend/shop"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import { LoopbackServer } from "@kintsugi/providers/testing"
import { ConfigProvider, Deferred, Effect, Latch, Layer, Logger, References, Schema } from "effect"
import { TestClock } from "effect/testing"
import { modelOf, orders, raw, says, serving } from "./_support/backendServer.ts"

const guide = Agent.make("guide", { prompt: "Answer." })

const of = (index: number, subject = "ann") => ({ subject, chat: `chat-${index}` })

/** Starts runs that end at once. */
const ending = (count: number, subject = "ann") =>
  Effect.gen(function* () {
    const running = yield* Running
    return yield* Effect.forEach(
      Array.from({ length: count }, (_, index) => index),
      (index) =>
        Effect.gen(function* () {
          const over = yield* Deferred.make<void>()
          const atEnd = ({ outcome }: Agent.Run<string, unknown>) =>
            Effect.andThen(outcome, Deferred.succeed(over, undefined))
          yield* running.start(of(index, subject), guide.start("What?"), atEnd)
          yield* Deferred.await(over)
          // what follows the end of a run
          yield* TestClock.adjust(0)
        })
    )
  })

const answering = modelOf(() => Effect.succeed(says("Forty-two.")))

it.effect("backend: of the runs that have ended, only so many are found, the last ones", () =>
  Effect.gen(function* () {
    const { find } = yield* Running
    yield* ending(5)
    assert.deepStrictEqual(
      [0, 1, 2, 3, 4].map((index) => find(of(index)) !== undefined),
      [false, false, false, true, true]
    )
    assert.isUndefined(find({ ...of(4), subject: "bob" }))
  }).pipe(Effect.provide([layerOf({ age: "10 minutes", count: 2, atWork: 9 }), answering]))
)

it.effect("backend: a customer with many chats that have ended takes the run of no other one", () =>
  Effect.gen(function* () {
    const { find } = yield* Running
    yield* ending(1, "bob")
    yield* ending(4)
    assert.isDefined(find(of(0, "bob")))
    assert.deepStrictEqual(
      [0, 1, 2, 3].map((index) => find(of(index)) !== undefined),
      [false, false, true, true]
    )
  }).pipe(Effect.provide([layerOf({ age: "10 minutes", count: 3, atWork: 9 }), answering]))
)

it.effect("backend: a run that has ended is found for so long", () =>
  Effect.gen(function* () {
    const { find } = yield* Running
    yield* ending(1)
    yield* TestClock.adjust("599 seconds")
    assert.isDefined(find(of(0)))
    yield* TestClock.adjust("1 second")
    assert.isUndefined(find(of(0)))
  }).pipe(Effect.provide([layerOf({ age: "10 minutes", count: 2, atWork: 9 }), answering]))
)

it.effect("backend: of the runs of chats, only so many are at work, and the next one is 429", () =>
  Effect.gen(function* () {
    const gate = yield* Latch.make()
    const stuck = modelOf(() => Effect.as(gate.await, says("Forty-two.")))
    const context = yield* Layer.build(
      Layer.mergeAll(
        layerOf({ age: "10 minutes", count: 2, atWork: 1 }),
        AgentRuns.layerSuspendedMemory(),
        layerMemory(orders),
        Layer.succeed(AgentProxy.Subject, "ann"),
        stuck
      )
    )
    const chat = (id: string) => Effect.provideContext(Chats.chat([], "What?", id), context)
    yield* chat("one")
    const { retryAfter, status } = yield* Effect.flip(chat("two"))
    assert.deepStrictEqual([status, retryAfter], [429, 5])
    yield* gate.open
    yield* TestClock.adjust("1 second")
    yield* chat("three")
  })
)

it.effect("backend: what waits is listed without the tokens of deferred calls", () =>
  Effect.gen(function* () {
    const tokens: Array<string> = []
    const order = Tool.deferred("order", {
      description: "Orders.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      start: (_params, { token }) => Effect.sync(() => `order ${tokens.push(token)}`),
      wait: "suspend",
      deadline: "30 days"
    })
    const { call, calls, make } = ScriptedModel
    const model = yield* make(calls(call("order", {})))
    const run = yield* Effect.provide(Agent.make("desk", { tools: [order] }).start("Order."), model.layer)
    const outcome = yield* run.outcome
    assert(outcome._tag === "Suspended")
    const row = { asked: "", snapshot: Snapshot.toJson(outcome.snapshot), repeat: false }
    yield* AgentRuns.SuspendedRuns.use(({ put }) => put({ agent: "desk", subject: "ann", run: "one" }, row))
    const listed = yield* Effect.provideService(Chats.waiting, AgentProxy.Subject, "ann")
    assert.strictEqual(listed[0]?.waiting[0]?.type, "deferred")
    const [token = "no token"] = tokens
    assert.include(JSON.stringify(row), token)
    assert.notInclude(JSON.stringify(listed), token)
  }).pipe(Effect.provide(AgentRuns.layerSuspendedMemory()))
)

it.effect("backend: each run that fails is one line in the log, with the id and the code that its client gets", () =>
  Effect.gen(function* () {
    const { fails, make } = ScriptedModel
    const fault = fails(LlmError.AuthenticationError.make({ model: "scripted", detail: "no key" }))
    const model = yield* make(fault, fault, fault)
    const lines: Array<{ readonly message: string; readonly about: object }> = []
    const logger = Logger.make<unknown, void>(({ fiber, logLevel, message }) => {
      if (logLevel !== "Warn") return
      lines.push({ message: String(message), about: fiber.getRef(References.CurrentLogAnnotations) })
    })
    const { ask, url } = yield* serving(model.layer).pipe(
      Effect.provideService(Logger.CurrentLoggers, new Set([logger]))
    )
    const code = "KINTSUGI-AUTHENTICATION"
    const failure = yield* Effect.flip(ask("What?"))
    assert.deepInclude({ ...failure }, { code })
    const messages = [{ role: "user", parts: [{ type: "text", text: "What?" }] }]
    for (const id of [undefined, "one"]) {
      const { text } = yield* raw(url, "/chat", { method: "POST", body: JSON.stringify({ id, messages }) })
      assert.include(text, `"errorText":"${code}"`)
      const runId = /"messageId":"(.*?)"/.exec(text)?.[1]
      assert.deepStrictEqual(lines.at(-1)?.about, { runId, code })
    }
    assert.strictEqual(lines.length, 3)
    for (const { message } of lines) assert.match(message, /^a run has failed: .*no key/)
  })
)

it.effect("backend: the environment says how many calls of the model are at work at a time", () =>
  Effect.gen(function* () {
    const both = yield* Latch.make()
    let [atWork, most] = [0, 0]
    const body = JSON.stringify({
      choices: [{ index: 0, message: { role: "assistant", content: "yes" }, finish_reason: "stop" }]
    })
    const { url } = yield* LoopbackServer.make(() =>
      Effect.gen(function* () {
        most = Math.max(most, ++atWork)
        if (atWork === 2) yield* both.open
        yield* both.await
        atWork--
        return { headers: { "content-type": "application/json" }, body }
      })
    )
    const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: url, MODEL: "m" }
    const answersWith = (MODEL_CONCURRENCY: string) =>
      Effect.gen(function* () {
        const model = yield* Model.Model
        const request: Model.Request = { messages: [Message.user("Is it?")], tools: [], toolChoice: "auto" }
        const all = Array.from({ length: 6 }, () => model.generate(request))
        return yield* Effect.all(all, { concurrency: "unbounded" })
      }).pipe(
        Effect.provide(layerModel),
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...env, MODEL_CONCURRENCY } })))
      )
    assert.strictEqual((yield* answersWith("2")).length, 6)
    assert.strictEqual(most, 2)
    assert.strictEqual((yield* Effect.flip(answersWith("0")))._tag, "ConfigError")
  })
)
