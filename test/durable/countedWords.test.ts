/** What a provider has counted of a streamed reply that does not come to its end. */
import { assert, it } from "@effect/vitest"
import { Agent, AgentEvent, LlmError, Model, Recovery, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Fiber, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { calm, eventLog } from "../_support/dialogue.ts"
import { process, watched } from "./_support/engines.ts"

const usage = Usage.make({ inputTokens: 90_000 })
const counted: ReadonlyArray<Model.Part> = [
  { type: "usage", usage: Usage.make({ inputTokens: 1 }) },
  { type: "usage", usage }
]
const says: Model.Part = { type: "text-delta", text: "I look" }
const settings = { name: "worker", input: Schema.String, output: Schema.String, events: true } as const

const passing = (seconds: number) =>
  Effect.gen(function* () {
    for (let second = 0; second < seconds; second++) {
      yield* calm
      yield* TestClock.adjust("1 second")
    }
  })

const planned = (isShown: boolean, ending: Stream.Stream<Model.Part, LlmError.LlmError>) => {
  const parts = Stream.fromIterable(isShown ? [...counted, says] : counted)
  return Layer.succeed(Model.Model, {
    name: "planned",
    provider: "here",
    generate: () => Effect.never,
    stream: () => Stream.concat(parts, ending)
  })
}

/** A run whose streamed reply counts, may say something, and ends like this. */
const counting = (
  isForgetful: boolean,
  isShown: boolean,
  ending: Stream.Stream<Model.Part, LlmError.LlmError>,
  maxDuration: "3 seconds" | "9 days"
) =>
  Effect.gen(function* () {
    const model = planned(isShown, ending)
    const log = eventLog()
    const agent = Agent.make("worker", { model, budget: { maxDuration } }).pipe(log.listen)
    const durable = Durable.workflow(agent, settings)
    const engine = yield* watched(isForgetful)
    yield* process(durable.layer.pipe(Layer.provide(engine.layer)))
    const id = yield* Effect.provide(Durable.start(durable, { id: "one", input: "go" }), engine.layer)
    yield* passing(5)
    return { engine, id, log, durable }
  })

/** The ledger in the last event. */
const booked = (log: ReturnType<typeof eventLog>) => {
  const end = log.all.findLast(AgentEvent.isTerminal)
  assert(end !== undefined && "ledger" in end)
  return end.ledger.map(({ outcome, usage }) => [outcome, usage.inputTokens])
}

for (const isForgetful of [false, true]) {
  for (const isShown of [false, true]) {
    const how = `${isShown ? "behind a text" : "behind no text"}${isForgetful ? ", replayed after each step" : ""}`

    // Finds out nothing of its own: the subject is the ledger of core when its run reaches a deadline, in replays too
    it.effect(`is booked if the run reaches its deadline ${how} [P1403 P703]`, () =>
      Effect.gen(function* () {
        const { log } = yield* counting(isForgetful, isShown, Stream.never, "3 seconds")
        assert.deepStrictEqual(booked(log), [["interrupted", 90_000]])
      })
    )

    it.effect(`is booked if the reply breaks off ${how} [P1403 P703]`, () =>
      Effect.gen(function* () {
        const broken = Stream.fail(LlmError.ServerError.make({ model: "planned" }))
        const { log } = yield* counting(isForgetful, isShown, broken, "9 days")
        assert.deepStrictEqual(booked(log), [[isShown ? "discarded" : "failed", 90_000]])
      })
    )
  }

  // Finds out nothing of its own: the subject is the ledger of core when its run is stopped, in replays too
  it.effect(`is booked if the run is stopped${isForgetful ? ", replayed after each step" : ""} [P1403 P703]`, () =>
    Effect.gen(function* () {
      const { durable, engine, id, log } = yield* counting(isForgetful, true, Stream.never, "9 days")
      const stopping = yield* Effect.forkChild(Effect.provide(Durable.interrupt(durable, id), engine.layer))
      yield* passing(20)
      yield* Fiber.await(stopping)
      assert.deepStrictEqual(booked(log), [["interrupted", 90_000]])
    })
  )
}

it.effect("is booked by a process that replays what another one has cut off [P1403 P703]", () =>
  Effect.gen(function* () {
    const child = Agent.make("child", { model: planned(false, Stream.never), budget: { maxDuration: "3 seconds" } })
    const boss = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("ask", { input: "look" })),
      ScriptedModel.answers(() => Effect.never),
      ScriptedModel.text("done")
    )
    const log = eventLog()
    const tools = [
      Agent.asTool(child, { name: "ask", description: "Asks." }).pipe(
        Tool.onError({ BudgetExceededError: Recovery.tell() })
      )
    ]
    const agent = Agent.make("worker", { model: boss.layer, tools, budget: { maxDuration: "9 days" } })
    const durable = Durable.workflow(agent.pipe(log.listen), settings)
    const engine = yield* watched(false)
    const serve = process(durable.layer.pipe(Layer.provide(engine.layer)))
    const stop = yield* serve
    const id = yield* Effect.provide(Durable.start(durable, { id: "one", input: "go" }), engine.layer)
    yield* passing(5)
    assert.strictEqual(boss.requests.length, 2)
    yield* stop
    yield* engine.kill
    yield* serve
    yield* Effect.provide(Durable.resume(durable, id), engine.layer)
    yield* passing(5)
    assert.strictEqual(boss.requests.length, 3)
    assert.deepInclude(booked(log), ["interrupted", 90_000])
  })
)
