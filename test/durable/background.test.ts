/** A reply in the background, and the death of the process that waits for it. */
import { assert, it } from "@effect/vitest"
import { Agent, Recovery } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { OpenAi } from "@kintsugi/providers"
import { Effect, Exit, Fiber, Layer, Option, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { calm } from "../_support/dialogue.ts"
import { event, fakeNetwork, key, respond, respondWith, silence } from "../_support/network.ts"
import { events, type Item, message, response } from "../providers/codec/openai-responses/_support/responses.ts"
import { continuing } from "../core/run/_support/continued.ts"
import { process, watched } from "./_support/engines.ts"
import { options, reading, shown } from "./_support/logs.ts"

const whole = response([message("Four.")], { background: true })

const queued: Item = { ...whole, status: "queued", output: [], usage: null }

const first = [{ type: "response.created", sequence_number: 0, response: queued }]

/** A provider: the first poll is held, later ones find the reply. */
const provider = (isStreamed: boolean) => {
  const asked: Array<string> = []
  let polls = 0
  const network = fakeNetwork(() => {
    const { method, url } = network.sent.at(-1) ?? { method: "", url: "" }
    asked.push(`${method} ${url.replace("https://api.openai.com/v1", "")}`)
    if (url.endsWith("/cancel")) return respond(200, { ...whole, status: "cancelled" })()
    if (method === "POST") return respond(200, isStreamed ? first.map((one) => event(one)).join("") : queued)()
    if (polls++ === 0) return silence()
    return respond(
      200,
      url.includes("stream=true")
        ? events(whole)
            .map((one) => event(one))
            .join("")
        : whole
    )()
  })
  const layer = OpenAi.layerResponses({ model: "m", apiKey: Redacted.make(key), background: true })
  return { asked, model: Layer.provide(layer, network.layer) }
}

const settings = { name: "thinker", input: Schema.String, output: Schema.String } as const

const passing = (seconds: number) =>
  Effect.gen(function* () {
    for (let second = 0; second < seconds; second++) {
      yield* calm
      yield* TestClock.adjust("1 second")
    }
  })

/** A run that waits for its reply. */
const waiting = (isStreamed: boolean, isForgetful: boolean) =>
  Effect.gen(function* () {
    const { asked, model } = provider(isStreamed)
    const agent = Agent.make("thinker", { model, budget: { maxDuration: "9 days" } })
    const durable = Durable.workflow(agent, { ...settings, events: isStreamed })
    const engine = yield* watched(isForgetful)
    const serve = process(durable.layer.pipe(Layer.provide(engine.layer)))
    const stop = yield* serve
    const id = yield* Effect.provide(Durable.start(durable, { id: "one", input: "go" }), engine.layer)
    const pass = passing(30)
    yield* pass
    assert.deepStrictEqual(asked, ["POST /responses", "GET /responses/resp_1"])
    const result = Effect.provide(Durable.poll(durable, id), engine.layer)
    return { asked, durable, engine, id, pass, result, serve, stop }
  })

for (const isStreamed of [false, true]) {
  for (const isForgetful of [false, true]) {
    const how = `${isStreamed ? "streamed" : "whole"}${isForgetful ? ", replayed after each step" : ""}`

    // Finds out nothing of its own: the subject is the reply in the background of the provider, after a death
    it.effect(`after the death of its process, another one asks for the same reply, ${how} [P1406]`, () =>
      Effect.gen(function* () {
        const { asked, durable, engine, id, pass, result, serve, stop } = yield* waiting(isStreamed, isForgetful)
        yield* stop
        yield* engine.kill
        yield* serve
        yield* Effect.provide(Durable.resume(durable, id), engine.layer)
        yield* pass
        const end = Option.getOrThrow(yield* result)
        assert(end._tag === "Complete")
        assert.deepStrictEqual(end.exit, Exit.succeed("Four."))
        assert.deepStrictEqual(asked, ["POST /responses", "GET /responses/resp_1", "GET /responses/resp_1"])
      })
    )
  }

  it.effect(`a run that is stopped cancels it, ${isStreamed ? "streamed" : "whole"} [P1406]`, () =>
    Effect.gen(function* () {
      const { asked, durable, engine, id, pass } = yield* waiting(isStreamed, false)
      const stopping = yield* Effect.forkChild(Effect.provide(Durable.interrupt(durable, id), engine.layer))
      yield* pass
      yield* Fiber.await(stopping)
      assert.strictEqual(asked.at(-1), "POST /responses/resp_1/cancel")
    })
  )
}

for (const isStreamed of [false, true]) {
  const how = isStreamed ? "streamed" : "whole"

  it.effect(`a process that leaves cancels the one whose name comes too late to be recorded, ${how} [P1406]`, () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      let begun = 0
      const network = fakeNetwork(() => {
        const { method, url } = network.sent.at(-1) ?? { method: "", url: "" }
        asked.push(`${method} ${url.replace("https://api.openai.com/v1", "")}`)
        if (url.endsWith("/cancel")) return respond(200, { ...whole, status: "cancelled" })()
        if (method === "GET") return respond(200, { ...whole, id: "resp_2" })()
        const named = { ...queued, id: `resp_${++begun}` }
        const answer = isStreamed ? event({ ...first[0], response: named }) : named
        return Effect.delay(respond(200, answer)(), "5 seconds")
      })
      const layer = OpenAi.layerResponses({ model: "m", apiKey: Redacted.make(key), background: true })
      const model = Layer.provide(layer, network.layer)
      const agent = Agent.make("thinker", { model, budget: { maxDuration: "9 days" } })
      const durable = Durable.workflow(agent, { ...settings, events: isStreamed })
      const engine = yield* watched(false)
      const serve = process(durable.layer.pipe(Layer.provide(engine.layer)))
      const stop = yield* serve
      const id = yield* Effect.provide(Durable.start(durable, { id: "one", input: "go" }), engine.layer)
      yield* passing(3)
      assert.deepStrictEqual(asked, ["POST /responses"])
      const stopping = yield* Effect.forkChild(stop)
      yield* passing(10)
      yield* Fiber.await(stopping)
      yield* engine.kill
      assert.deepStrictEqual(asked.slice(1), ["POST /responses/resp_1/cancel"])
      yield* serve
      yield* Effect.provide(Durable.resume(durable, id), engine.layer)
      yield* passing(60)
      const end = Option.getOrThrow(yield* Effect.provide(Durable.poll(durable, id), engine.layer))
      assert(end._tag === "Complete")
      assert.deepStrictEqual(end.exit, Exit.succeed("Four."))
      assert.deepStrictEqual(asked.slice(2), ["POST /responses", "GET /responses/resp_2"])
    })
  )
}

/** A provider whose first reply fails, and what it reports of one that is cancelled. */
const failing = () => {
  const asked: Array<string> = []
  const having = (id: string, more: Item = {}) => respond(200, { ...queued, id, ...more })()
  const network = fakeNetwork(() => {
    const { method, url } = network.sent.at(-1) ?? { method: "", url: "" }
    asked.push(`${method} ${url.replace("https://api.openai.com/v1", "")}`)
    if (method === "POST") return having(asked.length === 1 ? "resp_1" : "resp_2")
    const error = { code: "server_error", message: "out of order" }
    return url.includes("resp_1") ? having("resp_1", { status: "failed", error }) : having("resp_2", whole)
  })
  const options = { model: "m", apiKey: Redacted.make(key), background: true } as const
  return { asked, model: Layer.provide(OpenAi.layerResponses(options), network.layer) }
}

for (const isForgetful of [false, true]) {
  const how = isForgetful ? ", replayed after each step" : ""

  // Finds out nothing of its own: the subject is the retry of core and its new reply at the provider, after a death
  it.effect(`a failure is told once: the retry of another process makes the reply anew${how} [P1406]`, () =>
    Effect.gen(function* () {
      const { asked, model } = failing()
      const agent = Agent.make("thinker", { model, budget: { maxDuration: "9 days" } }).pipe(
        Agent.onLlmError({ ServerError: Recovery.retry({ retries: 1, initialBackoff: "30 seconds" }) })
      )
      const durable = Durable.workflow(agent, settings)
      const engine = yield* watched(isForgetful)
      const serve = process(durable.layer.pipe(Layer.provide(engine.layer)))
      const stop = yield* serve
      const id = yield* Effect.provide(Durable.start(durable, { id: "one", input: "go" }), engine.layer)
      yield* passing(12)
      assert.deepStrictEqual(asked, ["POST /responses", "GET /responses/resp_1"])
      yield* stop
      yield* engine.kill
      yield* serve
      yield* Effect.provide(Durable.resume(durable, id), engine.layer)
      yield* passing(60)
      const end = Option.getOrThrow(yield* Effect.provide(Durable.poll(durable, id), engine.layer))
      assert(end._tag === "Complete")
      assert.deepStrictEqual(end.exit, Exit.succeed("Four."))
      assert.deepStrictEqual(asked.slice(2), ["POST /responses", "GET /responses/resp_2"])
    })
  )
}

// Finds out nothing of its own: the subject is the stream of the provider that is read anew, after a death
it.effect(
  "the next process goes on from the text in the log, and the reply is read from its beginning [P1406 P1563]",
  () =>
    Effect.gen(function* () {
      const numbered = events(whole).map((one, at): Item => ({ ...one, sequence_number: at }))
      const texts = numbered.findIndex(({ type }) => type === "response.output_text.delta") + 1
      const asked: Array<string> = []
      const held = () => {
        const text = numbered
          .slice(1, texts)
          .map((one) => event(one))
          .join("")
        return respondWith(
          200,
          () => new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(text)) })
        )()
      }
      let reads = 0
      const network = fakeNetwork(() => {
        const { method, url } = network.sent.at(-1) ?? { method: "", url: "" }
        asked.push(`${method} ${url.replace("https://api.openai.com/v1", "")}`)
        if (method === "POST") return respond(200, first.map((one) => event(one)).join(""))()
        if (!url.includes("stream=true")) return respond(200, { ...queued, status: "in_progress" })()
        return reads++ === 0
          ? held()
          : respond(
              200,
              numbered
                .slice(1)
                .map((one) => event(one))
                .join("")
            )()
      })
      const layer = OpenAi.layerResponses({ model: "m", apiKey: Redacted.make(key), background: true })
      const model = Layer.provide(layer, network.layer)
      // a model that goes on from no message of its own
      const agent = Agent.make("writer", { model, budget: { maxDuration: "9 days" } }).pipe(continuing(2))
      const durable = Durable.workflow(agent, { name: "writer", ...options })
      const engine = yield* watched(false)
      const on = Effect.provide(engine.layer)
      const serve = process(durable.layer.pipe(Layer.provide(engine.layer)))
      const stop = yield* serve
      const id = yield* Durable.start(durable, { id: "one", input: "go" }).pipe(on)
      const { events: all } = yield* reading(Durable.events(durable, id)).pipe(on)
      yield* passing(4)
      yield* stop
      yield* engine.kill
      yield* serve
      yield* Durable.resume(durable, id).pipe(on)
      yield* passing(30)
      const end = Option.getOrThrow(yield* Durable.poll(durable, id).pipe(on))
      assert(end._tag === "Complete")
      assert.deepStrictEqual(end.exit, Exit.succeed("Four."))
      assert.deepStrictEqual(shown(all), [
        "run-start",
        "turn-start",
        "model-start",
        "text-delta Fou",
        "attempt-continued",
        "text-delta r.",
        "model-end",
        "turn-end",
        "run-completed"
      ])
      assert.strictEqual(asked.filter((one) => one.startsWith("POST")).length, 1)
    })
)
