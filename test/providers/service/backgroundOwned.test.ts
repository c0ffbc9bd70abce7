/** A model call owns the background replies that it has begun: it asks for them, and cancels those that it waits for no longer. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Model, Recovery, RetryBudget } from "@kintsugi/core"
import { Effect, Fiber, Stream } from "effect"
import { eventLog } from "../../_support/dialogue.ts"
import {
  body,
  calm,
  failureOf,
  finished,
  pass,
  type Reaction,
  respond,
  respondWith,
  silence,
  terminated,
  throwing
} from "../../_support/network.ts"
import { it } from "../../_support/run.ts"
import { events, type Item, message, response } from "../codec/openai-responses/_support/responses.ts"
import { begins, ends, having, numbered, playing, whole, written } from "./_support/background.ts"

const agent = Agent.make("thinker", { prompt: "Think.", budget: { maxDuration: "1 day" } })

const cancelled = respond(200, { ...whole, status: "cancelled" })

const busy = respond(500, { error: { message: "busy" } })

const cancels = "POST /responses/resp_1/cancel"

const beginnings = (asked: ReadonlyArray<string>) => asked.filter((one) => one === "POST /responses").length

/** A model whose every reply, also the one that only names a job, is noted a second later. */
const noting = Model.around({
  generate: (reply) => Effect.tap(reply, () => Effect.sleep("1 second")),
  stream: (parts) => Stream.tap(parts, () => Effect.sleep("1 second"))
})

it.run("an interruption before the first poll cancels it [P1406]", (run) =>
  Effect.gen(function* () {
    const { asked, model } = playing([begins(run.isStreamed), cancelled])
    const fiber = yield* Effect.forkChild(Effect.provide(run(agent, "go"), noting(model)))
    yield* calm
    yield* pass(500)
    assert.deepStrictEqual(asked(), ["POST /responses"])
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(asked(), ["POST /responses", cancels])
  })
)

it.run("an interruption waits for the answer that names it, and cancels it then [P1406]", (run) =>
  Effect.gen(function* () {
    const slow: Reaction = () => Effect.delay(begins(run.isStreamed)(), "4 seconds")
    const { asked, model } = playing([slow, cancelled])
    const log = eventLog()
    const fiber = yield* Effect.forkChild(Effect.provide(run(agent.pipe(log.listen), "go"), model))
    yield* pass(1000)
    const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber))
    yield* pass(2999)
    assert.deepStrictEqual(asked(), ["POST /responses"])
    yield* pass(1)
    yield* Fiber.join(stopping)
    assert.deepStrictEqual(asked(), ["POST /responses", cancels])
    assert.deepStrictEqual(
      log.of("model-interrupted").map(({ entry }) => entry.usage.outputTokens),
      [9]
    )
  })
)

it.run("an interruption waits 5 seconds for that answer at most [P1406]", (run) =>
  Effect.gen(function* () {
    const { asked, model } = playing(silence)
    const fiber = yield* Effect.forkChild(Effect.provide(run(agent, "go"), model))
    yield* pass(1000)
    const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber))
    yield* pass(4999)
    assert.isUndefined(stopping.pollUnsafe())
    yield* pass(1)
    assert.isDefined(stopping.pollUnsafe())
    assert.deepStrictEqual(asked(), ["POST /responses"])
  })
)

it.run("an interruption between two sends of that request sends no other [P1406]", (run) =>
  Effect.gen(function* () {
    const { asked, model } = playing([busy, begins(run.isStreamed), cancelled], {
      transport: { retry: { retries: 1, initialBackoff: "3 seconds" } }
    })
    const fiber = yield* Effect.forkChild(Effect.provide(run(agent, "go"), model))
    yield* calm
    yield* pass(500)
    const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber))
    yield* pass(0)
    assert.isDefined(stopping.pollUnsafe())
    yield* pass(10_000)
    assert.deepStrictEqual(asked(), ["POST /responses"])
  })
)

it.run("the failure of that request after an interruption sends no other [P1406]", (run) =>
  Effect.gen(function* () {
    const slow: Reaction = () => Effect.delay(busy(), "2 seconds")
    const { asked, model } = playing([slow, begins(run.isStreamed), cancelled], {
      transport: { retry: { retries: 1, initialBackoff: "1 second" } }
    })
    const fiber = yield* Effect.forkChild(Effect.provide(run(agent, "go"), model))
    yield* calm
    yield* pass(500)
    const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber))
    yield* pass(1500)
    assert.isDefined(stopping.pollUnsafe())
    yield* pass(10_000)
    assert.deepStrictEqual(asked(), ["POST /responses"])
  })
)

/** A poll that fails for good: as often as it is sent. */
const unanswered = Array.from({ length: 6 }, () => busy)

it.run("an interruption between two attempts cancels it [P1406]", (run) =>
  Effect.gen(function* () {
    const { asked, model } = playing([begins(run.isStreamed), ...unanswered, cancelled])
    const patient = agent.pipe(
      Agent.onLlmError({ ServerError: Recovery.retry({ retries: 1, initialBackoff: "1 hour" }) })
    )
    const fiber = yield* Effect.forkChild(Effect.provide(run(patient, "go"), model))
    yield* calm
    yield* pass(600_000)
    assert.strictEqual(asked().length, 7)
    yield* Fiber.interrupt(fiber)
    assert.strictEqual(asked().at(-1), cancels)
  })
)

it.run("a poll that fails is no attempt, and a call adds to a budget of retries once [P1406]", (run) =>
  Effect.gen(function* () {
    const made = yield* RetryBudget.make()
    let deposits = 0
    const budget = {
      ...made,
      deposit: Effect.andThen(
        Effect.sync(() => deposits++),
        made.deposit
      )
    }
    const lost = throwing("ECONNRESET")
    const { asked, model, times } = playing([begins(run.isStreamed), lost, busy, lost, ...ends(run.isStreamed)], {
      transport: { retry: { budget } }
    })
    const log = eventLog()
    const strict = agent.pipe(
      log.listen,
      Agent.onLlmError({ NetworkError: Recovery.retry({ retries: 0 }) }, { transport: "off" })
    )
    assert.strictEqual(yield* yield* finished(Effect.provide(run(strict, "go"), model)), "Four.")
    assert.deepStrictEqual(times().slice(0, 5), [0, 0, 2000, 6000, 14_000])
    assert.strictEqual(beginnings(asked()), 1)
    assert.strictEqual(log.of("model-start").length, 1)
    assert.deepStrictEqual(
      log.of("verdict").map(({ layer, tag }) => [layer, tag]),
      ["NetworkError", "ServerError", "NetworkError"].map((tag) => ["transport", tag])
    )
    assert.strictEqual(deposits, 0)
    const { model: other } = playing([begins(run.isStreamed), ...ends(run.isStreamed)], {
      transport: { retry: { budget } }
    })
    yield* finished(Effect.provide(run(agent, "go"), other))
    assert.strictEqual(deposits, 1)
  })
)

it.run("a run that gives up cancels it, and books what it reports [P1406]", (run) =>
  Effect.gen(function* () {
    const { asked, model } = playing([begins(run.isStreamed), ...unanswered, cancelled])
    const log = eventLog()
    const error = failureOf(yield* finished(Effect.provide(run(agent.pipe(log.listen), "go"), model)))
    assert.strictEqual(error._tag, "ServerError")
    assert.strictEqual(asked().at(-1), cancels)
    assert.deepStrictEqual(
      log.of("model-start").map(({ attempt }) => attempt),
      [1, 2]
    )
    const [booked] = log.of("model-interrupted")
    assert.deepInclude(booked?.entry, { attempt: 2, outcome: "interrupted" })
    assert.strictEqual(booked?.entry.usage.outputTokens, 9)
  })
)

it.run("each model of a fallback has its own, and what another one answers is cancelled [P1406]", (run) =>
  Effect.gen(function* () {
    const one = playing([begins(run.isStreamed), ...unanswered, ...ends(run.isStreamed)])
    const other = playing([begins(run.isStreamed), ...unanswered, cancelled])
    const patient = agent.pipe(Agent.onLlmError({ ServerError: Recovery.retry({ retries: 1 }) }))
    const both = Model.fallback(one.model, other.model)
    assert.strictEqual(yield* yield* finished(Effect.provide(run(patient, "go"), both)), "Four.")
    assert.strictEqual(beginnings(one.asked()), 1)
    assert.notInclude(one.asked(), cancels)
    assert.strictEqual(beginnings(other.asked()), 1)
    assert.strictEqual(other.asked().at(-1), cancels)
  })
)

const firstText = numbered.findIndex(({ type }) => type === "response.output_text.delta") + 1

/** The events of a reply that break off within its text. */
const cutOff = (events: ReadonlyArray<Item>) =>
  respondWith(200, () => body([written(events.slice(1, firstText))], terminated()))

const cut = cutOff(numbered)

const going = agent.pipe(
  Agent.onLlmError({ NetworkError: Recovery.retry({ retries: 2 }) }, { onPartial: "continue", continueBy: "message" })
)

it.effect("a reply that goes on has the text once, however often it is read [P1406 P1560]", () =>
  Effect.gen(function* () {
    const atWork = respond(200, having("in_progress"))
    const all = respond(200, written(numbered.slice(1)))
    const { asked, model } = playing([begins(true), atWork, cut, atWork, cut, atWork, all])
    const log = eventLog()
    const said = yield* finished(Effect.provide(Stream.runDrain(going.pipe(log.listen).stream("go")), model))
    yield* said
    assert.deepInclude(log.end(), { type: "run-completed", output: "Four." })
    assert.strictEqual(
      log
        .of("text-delta")
        .map(({ text }) => text)
        .join(""),
      "Four."
    )
    assert.lengthOf(log.of("attempt-discarded"), 0)
    assert.strictEqual(beginnings(asked()), 1)
  })
)

it.effect("a text that another model has begun is not ended by an older reply [P1406 P1560]", () =>
  Effect.gen(function* () {
    const { asked, model } = playing([begins(true), ...unanswered, cancelled, begins(true), ...ends(true)])
    const { model: other } = playing([cutOff(events(response([message("Four.")])))], { background: false })
    const log = eventLog()
    const both = Model.fallback(model, other)
    yield* yield* finished(Effect.provide(Stream.runDrain(going.pipe(log.listen).stream("go")), both))
    // the new reply is the rest of the text
    assert.deepInclude(log.end(), { type: "run-completed", output: "FouFour." })
    assert.deepStrictEqual(
      asked().filter((one) => one.startsWith("POST")),
      ["POST /responses", cancels, "POST /responses"]
    )
  })
)

it.effect("a failure among its events is told once, and a retry makes it anew [P1406]", () =>
  Effect.gen(function* () {
    const error = { code: "server_error", message: "out of order" }
    const failed = { type: "response.failed", sequence_number: 5, response: having("failed", { error }) }
    const { asked, model } = playing([
      begins(true),
      respond(200, having("in_progress")),
      respond(200, written([failed])),
      begins(true, "resp_2"),
      respond(200, { ...whole, id: "resp_2" })
    ])
    const log = eventLog()
    const patient = agent.pipe(log.listen, Agent.onLlmError({ ServerError: Recovery.retry({ retries: 1 }) }))
    yield* yield* finished(Effect.provide(Stream.runDrain(patient.stream("go")), model))
    assert.deepStrictEqual(asked().slice(-2), ["POST /responses", "GET /responses/resp_2"])
    assert.deepStrictEqual(
      log.of("model-failed").map(({ error }) => error instanceof LlmError.ServerError && error.isJobOver),
      [true]
    )
  })
)

it.run("a poll asks for the fields that its request has included [P1406 P1407]", (run) =>
  Effect.gen(function* () {
    const { model, sent } = playing([begins(run.isStreamed), ...ends(run.isStreamed)], {
      encryptedReasoning: true,
      extra: { include: ["message.output_text.logprobs"] }
    })
    yield* yield* finished(Effect.provide(run(agent, "go"), model))
    const { include } = JSON.parse(sent[0]?.body ?? "")
    assert.lengthOf(include, 2)
    assert.isAbove(sent.length, 2)
    for (const { url } of sent.slice(1)) assert.deepStrictEqual(new URL(url).searchParams.getAll("include[]"), include)
  })
)
