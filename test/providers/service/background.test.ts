/** Replies that OpenAI makes in the background: the model asks for them until they are there. */
import { assert } from "@effect/vitest"
import { Agent, Recovery } from "@kintsugi/core"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import * as Provider from "@kintsugi/providers/Provider"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { eventLog, overADay } from "../../_support/dialogue.ts"
import { failureOf, fakeNetwork, respond, silence, throwing } from "../../_support/network.ts"
import { begins, ends, having, playing, whole } from "./_support/background.ts"

const agent = Agent.make("thinker", { prompt: "Think." })

const stream = "GET /responses/resp_1?stream=true&starting_after=3"

it.run("is asked for until it is there, and counts as one attempt [P1406]", (run) =>
  Effect.gen(function* () {
    const { asked, model, sent, times } = playing([begins(run.isStreamed), ...ends(run.isStreamed)])
    const log = eventLog()
    const said = yield* yield* overADay(run(agent.pipe(log.listen), "go").pipe(Effect.provide(model)))
    assert.strictEqual(said, "Four.")
    assert.deepInclude(JSON.parse(sent[0]?.body ?? ""), { background: true, store: true })
    if (run.isStreamed) {
      assert.deepStrictEqual(asked(), ["POST /responses", "GET /responses/resp_1", stream])
    } else {
      const poll = "GET /responses/resp_1"
      assert.deepStrictEqual(asked(), ["POST /responses", poll, poll, poll])
      assert.deepStrictEqual(times(), [0, 0, 2000, 4000])
    }
    assert.deepStrictEqual(
      log.of("model-start").map(({ attempt }) => attempt),
      [1]
    )
    assert.strictEqual(log.of("turn-start").length, 1)
    assert.deepStrictEqual(
      log.of("model-end").map(({ entry }) => entry?.usage.outputTokens),
      [9]
    )
    assert.deepStrictEqual(log.of("turn-end")[0]?.message.content, [Message.text("Four.")])
  })
)

it.run("a retry asks for the same reply, and makes no other [P1406]", (run) =>
  Effect.gen(function* () {
    const lost = throwing("ECONNRESET")
    const { asked, model } = playing([begins(run.isStreamed), lost, ...ends(run.isStreamed)])
    const patient = agent.pipe(Agent.onLlmError({ NetworkError: Recovery.retry({ retries: 2 }) }))
    assert.strictEqual(yield* yield* overADay(run(patient, "go").pipe(Effect.provide(model))), "Four.")
    assert.strictEqual(asked().filter((one) => one.startsWith("POST")).length, 1)
  })
)

it.run("a poll that cannot be read is no end of it: a retry asks for the same reply [P1406]", (run) =>
  Effect.gen(function* () {
    const { asked, model } = playing([begins(run.isStreamed), respond(200, "{}"), ...ends(run.isStreamed)])
    const patient = agent.pipe(Agent.onLlmError({ UnknownLlmError: Recovery.retry({ retries: 1 }) }))
    assert.strictEqual(yield* yield* overADay(run(patient, "go").pipe(Effect.provide(model))), "Four.")
    assert.strictEqual(asked().filter((one) => one.startsWith("POST")).length, 1)
  })
)

it.effect("a request that names no reply cancels nothing [P1406]", () =>
  Effect.gen(function* () {
    const { asked, model } = playing([])
    const { background } = yield* Effect.provide(Effect.service(Model.Model), model)
    const request: Model.Request = { messages: [Message.user("go")], tools: [], toolChoice: "auto" }
    assert(background !== undefined)
    assert.isUndefined(yield* background.cancel(request))
    assert.deepStrictEqual(asked(), [])
  })
)

it.run("an interruption cancels it, and books what it reports [P1406]", (run) =>
  Effect.gen(function* () {
    const cancelled = respond(200, { ...whole, status: "cancelled" })
    const { asked, model, sent } = playing([begins(run.isStreamed), silence, cancelled])
    const log = eventLog()
    const fiber = yield* Effect.forkChild(run(agent.pipe(log.listen), "go").pipe(Effect.provide(model)))
    yield* TestClock.adjust("1 minute")
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(asked(), ["POST /responses", "GET /responses/resp_1", "POST /responses/resp_1/cancel"])
    assert.strictEqual(sent.at(-1)?.body, "{}")
    assert.deepStrictEqual(
      log.of("model-interrupted").map(({ entry }) => entry?.usage.outputTokens),
      [9]
    )
  })
)

it.run("a limit cancels it as well, also in a wait, and waits 5 seconds for that at most [P1406]", (run) =>
  Effect.gen(function* () {
    const { asked, model, times } = playing([
      begins(run.isStreamed),
      ...ends(run.isStreamed).slice(0, 1),
      silence,
      silence
    ])
    const hurried = Agent.make("thinker", { prompt: "Think.", budget: { maxDuration: "3 seconds" } })
    const error = failureOf(yield* overADay(run(hurried, "go").pipe(Effect.provide(model))))
    assert.strictEqual(error._tag, "BudgetExceededError")
    assert.strictEqual(asked().at(-1), "POST /responses/resp_1/cancel")
    assert.isAtMost(times().at(-1) ?? 0, 3000)
  })
)

it.run("a reply whose failure was told is made anew by a retry [P1406]", (run) =>
  Effect.gen(function* () {
    const failed = having("failed", { error: { code: "server_error", message: "out of order" } })
    const { asked, model } = playing([
      begins(run.isStreamed),
      respond(200, failed),
      begins(run.isStreamed, "resp_2"),
      respond(200, { ...whole, id: "resp_2" })
    ])
    const patient = agent.pipe(Agent.onLlmError({ ServerError: Recovery.retry({ retries: 1 }) }))
    assert.strictEqual(yield* yield* overADay(run(patient, "go").pipe(Effect.provide(model))), "Four.")
    assert.deepStrictEqual(asked(), [
      "POST /responses",
      "GET /responses/resp_1",
      "POST /responses",
      "GET /responses/resp_2"
    ])
  })
)

it.run(
  "one that its provider cancels ends the attempt, and the table decides whether another is begun [P1406]",
  (run) =>
    Effect.gen(function* () {
      const cancelled = respond(200, having("cancelled"))
      const second = begins(run.isStreamed, "resp_2")
      const { asked, model } = playing([begins(run.isStreamed), cancelled, second, cancelled])
      const log = eventLog()
      const patient = agent.pipe(log.listen, Agent.onLlmError({ UnknownLlmError: Recovery.retry({ retries: 1 }) }))
      const error = failureOf(yield* overADay(run(patient, "go").pipe(Effect.provide(model))))
      assert.instanceOf(error, LlmError.UnknownLlmError)
      assert.isTrue(error.isJobOver)
      assert.deepStrictEqual(asked(), [
        "POST /responses",
        "GET /responses/resp_1",
        "POST /responses",
        "GET /responses/resp_2"
      ])
      assert.lengthOf(log.of("model-start"), 2)
    })
)

it.run("one that another process has begun is begun anew if it is cancelled, once [P1406]", (run) =>
  Effect.gen(function* () {
    const cancelled = respond(200, having("cancelled"))
    const { asked, model } = playing([cancelled, begins(run.isStreamed, "resp_2"), cancelled])
    const item = {
      type: "provider-item",
      kind: "background_job",
      opaque: { provider: "openai", data: { id: "resp_1", after: 3 } }
    } as const
    const reply: Message.Reply = { content: [item], finish: "paused", usage: Usage.empty }
    let isFound = false
    // the record of a process before
    const recorded = Model.around({
      generate: (asks) => Effect.suspend(() => (isFound ? asks : Effect.sync(() => ((isFound = true), reply)))),
      stream: (asks) =>
        Stream.suspend(() => {
          if (isFound) return asks
          isFound = true
          return Stream.fromIterable(Model.partsOf(reply))
        })
    })
    const error = failureOf(yield* overADay(run(agent, "go").pipe(Effect.provide(recorded(model)))))
    assert.instanceOf(error, LlmError.UnknownLlmError)
    assert.deepStrictEqual(asked(), ["GET /responses/resp_1", "POST /responses", "GET /responses/resp_2"])
  })
)

it.run("a reply that the provider has no longer is not made anew [P1406]", (run) =>
  Effect.gen(function* () {
    const { asked, model } = playing([begins(run.isStreamed), respond(404, { error: { message: "not found" } })])
    const error = failureOf(yield* overADay(run(agent, "go").pipe(Effect.provide(model))))
    assert.instanceOf(error, LlmError.InvalidRequestError)
    assert.include(error.message, "has this background response no longer")
    assert.strictEqual(asked().length, 2)
  })
)

it.effect("a model alone gives a paused reply that names it, and goes on with that [P1406]", () =>
  Effect.gen(function* () {
    const { asked, model } = playing([begins(false), respond(200, whole), begins(true), ...ends(true)])
    const request: Model.Request = { messages: [Message.user("go")], tools: [], toolChoice: "auto" }
    const { generate, stream: partsOf } = yield* Effect.provide(Effect.service(Model.Model), model)
    const first = yield* generate(request)
    assert.strictEqual(first.finish, "paused")
    const goingOn = (reply: Message.Reply) => ({
      ...request,
      messages: [...request.messages, Message.settle(reply, [])]
    })
    assert.strictEqual(Message.textOf(yield* generate(goingOn(first))), "Four.")
    const collector = new Model.Collector()
    yield* Stream.runForEach(partsOf(request), (part) => Effect.sync(() => collector.push(part)))
    const named = collector.reply()
    assert(named?.finish === "paused")
    assert.deepStrictEqual(named.content, [
      {
        type: "provider-item",
        kind: "background_job",
        opaque: { provider: "openai", data: { id: "resp_1", after: 3 } }
      }
    ])
    const rest = new Model.Collector()
    yield* Stream.runForEach(partsOf(goingOn(named)), (part) => Effect.sync(() => rest.push(part)))
    assert.deepStrictEqual(rest.reply()?.content, [Message.text("Four.")])
    assert.strictEqual(asked().at(-1), stream)
  })
)

it.run("a model of one's own that does not ask begins one, and no more [P1406]", (run) =>
  Effect.gen(function* () {
    const network = fakeNetwork([begins(run.isStreamed)])
    const source: Provider.Source = { provider: "openai", model: "m", secrets: [] }
    const codec = OpenAiResponses.make(source, { background: true })
    const layer = Provider.layer({ source, codec, url: "https://own.test/responses", headers: {} })
    const error = failureOf(
      yield* Effect.exit(run(agent, "go").pipe(Effect.provide(Layer.provide(layer, network.layer))))
    )
    assert.instanceOf(error, LlmError.CapabilityMismatchError)
    assert.strictEqual(network.sent.length, 1)
  })
)

it.effect("an id that is no segment of a path names no reply [P1406]", () =>
  Effect.gen(function* () {
    const { asked, model } = playing([respond(200, having("queued", { id: "../files/x" }))])
    const error = failureOf(yield* Effect.exit(Effect.provide(agent("go"), model)))
    assert.instanceOf(error, LlmError.UnknownLlmError)
    assert.strictEqual(asked().length, 1)
  })
)
