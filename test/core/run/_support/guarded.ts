/** What the tests of guardrails share: a model that takes its time, a tool that must not run, and all that can be read of a run. */
import { Agent, type AgentEvent, type LlmError, Message, Model, Telemetry, Tool } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { RecordedEvents, ScriptedModel } from "@kintsugi/core/testing"
import * as EventStream from "@kintsugi/interop/EventStream"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { Clock, Effect, Exit, Fiber, Layer, Logger, References, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { calm } from "../../../_support/dialogue.ts"
import { recorder, textOf } from "../../telemetry/_support/spans.ts"

/** What the model says, and what its tool is called with: no reader may see it. */
export const secret = "hunter2"

const reply = ScriptedModel.reply({
  content: [
    { type: "reasoning", text: `I think of ${secret}` },
    Message.text(`It is ${secret}`),
    ScriptedModel.call("look", { n: secret })
  ]
})

const answer = ScriptedModel.reply({ content: [{ type: "reasoning", text: "hm" }, Message.text("It is done")] })

/** Its first reply takes 50 milliseconds, and comes in parts, one each 10; the others come at once. */
export const slowModel = (first = reply) => {
  const requests: Array<Model.Request> = []
  const next = (request: Model.Request): Message.Reply => {
    requests.push({ ...request, messages: [...request.messages] })
    const isFirst = !request.messages.some(({ role }) => role === "assistant")
    return isFirst ? first : answer
  }
  const layer = Layer.succeed(Model.Model, {
    name: "slow",
    provider: "p",
    generate: (request) =>
      Effect.suspend(() => {
        const found = next(request)
        return found === first ? Effect.delay(Effect.succeed(found), 50) : Effect.succeed(found)
      }),
    stream: (request): Stream.Stream<Model.Part, LlmError.LlmError> =>
      Stream.suspend(() => {
        const found = next(request)
        const parts = Stream.fromIterable(ScriptedModel.toParts(found))
        return found === first ? Stream.mapEffect(parts, (part) => Effect.delay(Effect.succeed(part), 10)) : parts
      })
  })
  return { layer, requests }
}

/** A tool that notes its runs. */
export const looking = () => {
  const runs: Array<unknown> = []
  const tool = Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({ n: Schema.String }),
    success: Schema.String,
    sideEffects: "none",
    run: ({ n }) =>
      Effect.delay(
        Effect.sync(() => `${runs.push(n)} seen`),
        10
      )
  })
  return { runs, tool }
}

/** Everything that can be read of a run: how it ended, its events, what clients get of them, its spans and its logs. */
export interface Readable {
  readonly exit: Exit.Exit<unknown, unknown>
  readonly events: ReadonlyArray<AgentEvent.AgentEvent>
  /** All of it as one text. */
  readonly text: string
  /** When each event came, after the start. */
  readonly instants: ReadonlyArray<number>
}

/** What a client gets of these events as server-sent events. */
const sentOf = (events: ReadonlyArray<AgentEvent.AgentEvent>): Effect.Effect<ReadonlyArray<string>> => {
  const all = Stream.fromIterable(events)
  // the events of a run that is over, as its handle has them
  const read = Object.assign(() => all, all) as unknown as Agent.Run<unknown, unknown>["events"]
  const answered = EventStream.answer({ events: read, outcome: Effect.never }, { runId: "any" })
  return Effect.flatMap(answered, ({ body }) => Stream.runCollect(body))
}

/** Plays a run for two days, and keeps what can be read of it. */
export const reading = <A, E>(
  running: Effect.Effect<A, E, Model.Model>,
  layer: Layer.Layer<Model.Model>
): Effect.Effect<Readable> =>
  Effect.gen(function* () {
    const log = RecordedEvents.makeUnsafe()
    const spans = recorder()
    const logs: Array<unknown> = []
    const logger = Logger.make<unknown, void>(({ cause, message }) => void logs.push([message, cause]))
    const began = yield* Clock.currentTimeMillis
    const observers: typeof RunContext.Observers.Service = [() => (event) => void Effect.runSync(log.listener(event))]
    const fiber = yield* Effect.forkChild(
      running.pipe(
        Effect.provide(layer),
        Effect.provide(Telemetry.layerWith({ content: true })),
        Effect.provideService(RunContext.Observers, observers),
        Effect.provide(Logger.layer([logger])),
        Effect.provideService(References.MinimumLogLevel, "All"),
        spans.provide
      )
    )
    yield* calm
    for (let step = 0; step < 250 && fiber.pollUnsafe() === undefined; step++) {
      yield* TestClock.adjust(1)
      yield* calm
    }
    yield* TestClock.adjust("2 days")
    const exit = yield* Fiber.await(fiber)
    const chunks = yield* Stream.runCollect(UiMessageStream.fromStream(Stream.fromIterable(log.all)))
    const sent = yield* sentOf(log.all)
    const ended = Exit.isSuccess(exit) ? exit.value : exit.cause
    return {
      exit,
      events: log.all,
      text: `${JSON.stringify([ended, log.all, chunks, sent, logs])}${textOf(spans.spans)}`,
      instants: log.all.map(({ at }) => at - began)
    }
  })

/** A guardrail that blocks after so many milliseconds. */
export const blockingAfter = (millis: number) => () =>
  Effect.delay(Effect.succeed(Agent.guard.block("not here")), millis)

/** What a reader of the stream keeps. */
export const kept = (events: ReadonlyArray<AgentEvent.AgentEvent>): string =>
  events.reduce((said, event) => {
    if (event.type === "attempt-discarded") return ""
    return event.type === "text-delta" || event.type === "reasoning-delta" ? said + event.text : said
  }, "")

/** A model that says this, a few characters at a time. */
export const inPieces = (whole: Message.Reply, size = 4): Layer.Layer<Model.Model> => {
  const parts = Model.partsOf(whole).flatMap((part): ReadonlyArray<Model.Part> => {
    if (part.type !== "text-delta" && part.type !== "reasoning-delta") return [part]
    const pieces = part.text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []
    return pieces.map((text) => ({ type: part.type, text }))
  })
  return Layer.succeed(Model.Model, {
    name: "pieces",
    provider: "p",
    generate: () => Effect.succeed(whole),
    stream: () => Stream.mapEffect(Stream.fromIterable(parts), (part) => Effect.delay(Effect.succeed(part), 1))
  })
}
