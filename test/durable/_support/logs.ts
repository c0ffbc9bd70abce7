/** What the tests of the log share: a model that holds its last word back, readers, and processes that die. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Model, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Deferred, Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { calm } from "../../_support/dialogue.ts"
import { clusterOfRows } from "./cluster.ts"
import { process, watched } from "./engines.ts"

/** Lets time go by, in steps of 250 ms. */
export const passing = (steps = 20) =>
  Effect.gen(function* () {
    for (let i = 0; i < steps; i++) {
      for (let k = 0; k < 6; k++) yield* calm
      yield* TestClock.adjust(250)
    }
  })

export const words = (...texts: ReadonlyArray<string>): ReadonlyArray<Model.Part> =>
  texts.map((text) => ({ type: "text-delta", text }))

const finish: Model.Part = { type: "finish", finish: "stop", usage: Usage.make({ inputTokens: 10, outputTokens: 5 }) }

/** A model that writes some words, and the last one when it is told to. Each process has its own gate. */
export const held = (first: ReadonlyArray<string>, last: string) => {
  let goOn = Deferred.makeUnsafe<void>()
  let asked = 0
  const layer = Layer.succeed(Model.Model, {
    name: "held",
    provider: "held",
    generate: () => Effect.die(new Error("the model of a durable run streams")),
    stream: () =>
      Stream.suspend(() => {
        asked++
        const gate = Deferred.await(goOn)
        return Stream.concat(
          Stream.fromIterable(words(...first)),
          Stream.unwrap(Effect.as(gate, Stream.fromIterable([...words(last), finish])))
        )
      })
  })
  return {
    layer,
    asked: () => asked,
    end: Effect.suspend(() => Deferred.succeed(goOn, undefined)),
    forget: () => {
      goOn = Deferred.makeUnsafe<void>()
    }
  }
}

/** Reads until the stream ends, or as far as it comes. */
export const reading = <E>(stream: Stream.Stream<AgentEvent.AgentEvent, E, WorkflowEngine>) =>
  Effect.gen(function* () {
    const events: Array<AgentEvent.AgentEvent> = []
    const fiber = yield* Effect.forkChild(
      Stream.runForEach(stream, (event) => Effect.sync(() => void events.push(event)))
    )
    return { events, fiber, exit: Fiber.await(fiber) }
  })

/** What a reader has of a run that heeds the events: the words that count. */
export const wordsOf = (events: ReadonlyArray<AgentEvent.AgentEvent>): string => {
  let text = ""
  for (const event of events) {
    if (event.type === "text-delta") text += event.text
    if (event.type === "attempt-discarded") text = text.slice(0, text.length - event.text.length)
  }
  return text
}

export const shown = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.map((event) =>
    event.type === "text-delta" || event.type === "attempt-discarded" ? `${event.type} ${event.text}` : event.type
  )

export const options = { input: Schema.String, output: Schema.String } as const

export const writer = (model: Layer.Layer<Model.Model>) =>
  Agent.make("writer", { model, budget: { maxDuration: "9 days" } })

/** A run in a process that dies after it has written some words; then another process has it. */
export const dying = (after: number) =>
  Effect.gen(function* () {
    const model = held(["Hel", "lo"], " world")
    const heard: Array<AgentEvent.AgentEvent> = []
    const agent = writer(model.layer).pipe(Agent.onEvent((event) => Effect.sync(() => void heard.push(event))))
    const durable = Durable.workflow(agent, { name: "writer", ...options })
    const engine = yield* watched(false)
    const serve = process(durable.layer.pipe(Layer.provide(engine.layer)))
    const stop = yield* serve
    const id = yield* Effect.provide(Durable.start(durable, { id: "one", input: "go" }), engine.layer)
    const { events, exit } = yield* Effect.provide(reading(Durable.events(durable, id)), engine.layer)
    for (let k = 0; k < 8; k++) yield* calm
    yield* TestClock.adjust(after)
    for (let k = 0; k < 8; k++) yield* calm
    yield* stop
    yield* engine.kill
    const before = [...heard]
    yield* serve
    yield* Effect.provide(Durable.resume(durable, id), engine.layer)
    yield* passing()
    const between = [...events]
    yield* model.end
    yield* passing(60)
    yield* exit
    const all = yield* Effect.provide(Stream.runCollect(Durable.events(durable, id)), engine.layer)
    assert.deepStrictEqual(all, events)
    return { asked: model.asked(), before, between, durable, engine, events, heard, id }
  })

/** A run to its end, on a cluster whose rows can be seen. */
export const finished = (settings: { readonly events?: boolean | { readonly maxCharacters?: number } } = {}) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(ScriptedModel.text("done"))
    const durable = Durable.workflow(writer(model.layer), { name: "writer", ...options, ...settings })
    const { driver, join, storage } = yield* clusterOfRows
    const { context } = yield* join(durable.layer)
    yield* passing(4)
    const id = yield* Effect.provideContext(Durable.start(durable, { id: "one", input: "go" }), context)
    yield* passing(8)
    const rows = () =>
      [...driver.requests.values()].flatMap(({ envelope }) =>
        envelope._tag === "Request" && envelope.tag === "deferred"
          ? (envelope.payload as { readonly name: string }).name
          : []
      )
    const read = (after?: string, executionId = id) =>
      Durable.events(durable, executionId, after === undefined ? {} : { after }).pipe(
        Stream.runCollect,
        Effect.provideContext(context),
        Effect.exit
      )
    return { driver, id, model, read, rows, storage }
  })

export const failureOf = (exit: Exit.Exit<unknown, unknown>) => {
  assert.isTrue(Exit.isFailure(exit))
  return Exit.isFailure(exit) ? exit.cause.reasons.map((reason) => ("error" in reason ? reason.error : reason)) : []
}
