/**
 * A run in which nearly everything happens: five turns and three tools, of which one fails, is retried after a wait, repaired
 * by an agent and told, and one is `unsafe`, has a time limit and can be looked up; coercion, a policy, listeners, a model
 * that fails and is asked again, text before calls.
 */
import {
  Agent,
  type AgentEvent,
  Backoff,
  type Budget,
  Message,
  Model,
  Recovery,
  Skill,
  Tool,
  ToolPolicy,
  Usage
} from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Exit, Fiber, Layer, Logger, Metric, Option, Schedule, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { busy, eventLog, gone } from "../../_support/dialogue.ts"
import { failing, ways } from "./modelFailures.ts"
import { type Injection, type Step, Steps } from "./steps.ts"

/** `resumed` runs are suspended where others wait for a person, and go on in another run of the agent. */
export type Mode = "whole" | "streamed" | "resumed"

/** One run of the unsafe tool. */
export interface Start {
  readonly callId: string
  readonly key: string
  /** How it ended by itself; `cut off` otherwise. */
  end: "success" | "failure" | "cut off"
  /** What was said when it was looked up afterwards. */
  lookedUp: "took effect" | "took none" | undefined
}

/** All that there is to know of a run that is over. */
export interface Played {
  readonly mode: Mode
  readonly injection: Injection | undefined
  readonly steps: ReadonlyArray<Step>
  /** As they were emitted, what a listener heard of them, and, in streamed runs, what a reader saw. */
  readonly events: ReadonlyArray<AgentEvent.AgentEvent>
  readonly heard: ReadonlyArray<AgentEvent.AgentEvent>
  readonly seen: ReadonlyArray<AgentEvent.AgentEvent> | undefined
  /** When the fault came; how many events there were by then, and steps. */
  readonly before: { readonly at: number; readonly events: number; readonly steps: number } | undefined
  readonly exit: Exit.Exit<unknown, unknown>
  /** What the models have sent, reply by reply. */
  readonly sent: ReadonlyArray<Usage.Usage>
  readonly starts: ReadonlyArray<Start>
  readonly requests: ReadonlyArray<Model.Request>
  /** The replies that were begun in the background. */
  readonly jobs?: ReadonlyArray<{ readonly isAnswered: boolean; readonly cancels: number }>
  /** Steps that never ended, and fibers, at the end; and what came in the day after. */
  readonly unfinished: number
  readonly fibers: number
  readonly later: { readonly events: number; readonly heard: number; readonly steps: number }
}

const { call, reply } = ScriptedModel
const { text } = Message

/** What the model says, turn by turn. */
const lines: ReadonlyArray<Message.Reply["content"]> = [
  [text("Let me look."), call("look", '{"n":"101"}', "c1"), call("look", { n: 2 }, "c2")],
  [text("And book."), call("book", { n: 3 }, "c3"), call("look", { n: 4 }, "c4"), call("pay", { n: 5 }, "c5")],
  [call("pay", { n: 6 }, "c6")],
  [text("More."), call("pay", { n: 7 }, "c7"), call("look", { n: 8 }, "c8"), call("nope", {}, "c9")],
  [text("All is done.")]
]

const turnOf = ({ messages }: Model.Request) => messages.filter(({ role }) => role === "assistant").length

/** The answer of the fixer: in its first round it looks something up before. */
const repair = (request: Model.Request): Message.Reply["content"] => {
  const input = request.messages.find((message) => message.role === "user")
  const repairs = input !== undefined && Message.textOf(input).includes("repair attempt 1") ? 1 : 2
  return repairs === 1 && turnOf(request) === 0
    ? [text("Checking."), call("check", { n: 20 }, "f1")]
    : [text(`{"n":${10 + repairs}}`)]
}

/** What a reply says about itself: each another thing. */
export const factsOf = ({ inputTokens }: Usage.Usage): Partial<Message.Reply> => ({
  model: "scripted-2026",
  responseId: `resp_${inputTokens}`,
  requestId: `req_${inputTokens}`,
  rawFinish: "end_turn",
  serviceTier: "flex"
})

/** Two models that send replies of different usage, so that no sum is that of other replies. */
const models = Effect.fnUntraced(function* (steps: Steps) {
  const sent: Array<Usage.Usage> = []
  let replies = 0
  let hasFailed = false
  const answering = (contentOf: (request: Model.Request) => Message.Reply["content"], failsAt?: number) =>
    Effect.flatMap(Scope.make(), (scope) => {
      const answer = ScriptedModel.answers((request) =>
        Effect.andThen(
          Effect.sleep(7),
          Effect.suspend(() => {
            if (turnOf(request) === failsAt && !hasFailed) {
              hasFailed = true
              return Effect.fail(failing("failure"))
            }
            const usage = Usage.make({ inputTokens: 2 ** ++replies, outputTokens: 1 })
            return Effect.succeed(reply({ content: contentOf(request), usage, ...factsOf(usage) }))
          })
        )
      )
      // a scope that stays open: steps that the story does not reach are no mistake
      return Scope.provide(ScriptedModel.make(...Array.from({ length: 40 }, () => answer)), scope)
    })
  const watched = (layer: "model" | "fixer", inner: Model.Service): Model.Service => {
    const attempts = new Map<number, number>()
    const labelOf = (request: Model.Request) => {
      const turn = turnOf(request)
      attempts.set(turn, (attempts.get(turn) ?? 0) + 1)
      return `turn ${turn + 1}, attempt ${attempts.get(turn)}`
    }
    const send = (usage: Usage.Usage) => Effect.sync(() => void sent.push(usage))
    const part = (one: Model.Part, label: string) => {
      const passing = steps.effect(layer, "part", `${label}, ${one.type}`, Effect.succeed(one), failing, ways)
      return one.type === "finish" ? Effect.tap(passing, send(one.usage)) : passing
    }
    return {
      ...inner,
      generate: (request) =>
        Effect.suspend(() =>
          Effect.tap(
            steps.effect(layer, "call", labelOf(request), inner.generate(request), failing, ways),
            ({ usage }) => send(usage)
          )
        ),
      stream: (request) =>
        Stream.unwrap(
          Effect.suspend(() => {
            const label = labelOf(request)
            const before: ReadonlyArray<Model.Part> =
              turnOf(request) === 2 && !hasFailed ? [{ type: "text-delta", text: "Hm, " }] : []
            const parts = Stream.concat(Stream.fromIterable(before), inner.stream(request))
            // for a reader that reads on beyond the last part
            const end = Stream.fromEffect(steps.effect(layer, "end", label, Effect.void, failing, ways))
            const whole = Stream.concat(
              Stream.mapEffect(parts, (one) => part(one, label)),
              Stream.drain(end)
            )
            return steps.effect(layer, "call", label, Effect.succeed(whole), failing, ways)
          })
        )
    }
  }
  const worker = yield* answering((request) => lines[turnOf(request)] ?? [], 2)
  const mender = yield* answering(repair)
  const layerOf = (layer: "model" | "fixer", model: ScriptedModel.ScriptedModel) =>
    Effect.map(Effect.provide(Effect.service(Model.Model), model.layer), (inner) =>
      Layer.succeed(Model.Model, watched(layer, inner))
    )
  return {
    sent,
    requests: worker.requests,
    worker: yield* layerOf("model", worker),
    mender: yield* layerOf("fixer", mender)
  }
})

/** The three tools, and that of the fixer. */
const tools = (steps: Steps, mender: Layer.Layer<Model.Model>) => {
  const starts: Array<Start> = []
  // numbers above 100 are sent as text: they decode when they were coerced
  const decoding = Schema.makeFilter<number>((n) =>
    steps.call(
      "tool",
      n > 100 ? "coercion" : "decode",
      `${n}`,
      () => true,
      () => false
    )
  )
  const said = Schema.makeFilter<string>((result) =>
    steps.call(
      "tool",
      "encode",
      result,
      () => true,
      () => false
    )
  )
  const common = {
    description: "d",
    parameters: Schema.Struct({ n: Schema.Finite.check(decoding) }),
    success: Schema.String.check(said)
  }
  const run = <E>(name: string, n: number, { attempt }: Tool.ToolContext, body: Effect.Effect<string, E>) =>
    steps.effect("tool", "attempt", `${name} ${n}, attempt ${attempt}`, body, busy)
  const waiting = (layer: "tool" | "model", label: string) =>
    Schedule.modifyDelay(Backoff.make({ retries: 1, initialBackoff: "1 second" }), ({ duration }) =>
      Effect.flatMap(steps.effect("row", "schedule", label, Effect.void, gone), () =>
        steps.wait(layer, label, duration)
      )
    )
  const look = Tool.make("look", {
    ...common,
    sideEffects: "none",
    run: ({ n }, context) =>
      run("look", n, context, Effect.andThen(Effect.sleep(20), n === 8 ? Effect.fail(gone()) : Effect.succeed(`${n}`)))
  }).pipe(
    Tool.onError({
      Gone: Recovery.respondWith(() => steps.effect("row", "handler", "look", Effect.succeed("stale"), busy))
    })
  )
  const check = Tool.make("check", {
    ...common,
    run: ({ n }, context) => run("check", n, context, Effect.succeed("fine"))
  })
  const fixer = Agent.make("mender", {
    model: mender,
    skills: [Skill.make("mend", { description: "d", tools: [check] })]
  }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
  const ladder = Recovery.ladder(
    Recovery.retry(waiting("tool", "book")),
    Recovery.fix(fixer, { retries: 2 }),
    Recovery.tell(() => steps.effect("row", "render", "book", Effect.succeed("Not to be booked."), gone))
  )
  const book = Tool.make("book", {
    ...common,
    run: ({ n }, context) => run("book", n, context, Effect.fail(busy()))
  }).pipe(
    Tool.onError({
      Busy: Recovery.when((_, { attempt }) => steps.call("row", "when", `attempt ${attempt}`, () => ladder))
    })
  )
  const pay = Tool.make("pay", {
    ...common,
    sideEffects: "unsafe",
    timeout: "5 seconds",
    run: ({ n }, context) =>
      Effect.suspend(() => {
        const start: Start = {
          callId: context.callId,
          key: context.idempotencyKey,
          end: "cut off",
          lookedUp: undefined
        }
        starts.push(start)
        const isStuck = context.attempt === 1 && (n === 6 || n === 7)
        const paying = run("pay", n, context, isStuck ? Effect.never : Effect.as(Effect.sleep(3), `paid ${n}`))
        return Effect.onExit(paying, (exit) =>
          Effect.sync(() => {
            const isOwn = Exit.isFailure(exit) && exit.cause.reasons.every(({ _tag }) => _tag === "Fail")
            start.end = Exit.isSuccess(exit) ? "success" : isOwn ? "failure" : "cut off"
          })
        )
      }),
    verify: (key) => {
      const found = key.split("/")[1] === "4" ? Option.some("paid before") : Option.none()
      return Effect.tap(steps.effect("tool", "verify", key.replace(/^[^/]*/, ""), Effect.succeed(found), busy), () =>
        Effect.sync(() => {
          for (const start of starts) {
            if (start.key === key) start.lookedUp = Option.isSome(found) ? "took effect" : "took none"
          }
        })
      )
    }
  }).pipe(Tool.onError({ ToolTimeoutError: Recovery.retry(waiting("tool", "pay")), Busy: Recovery.tell() }))
  return { list: [look, book, pay] as const, starts, waiting }
}

/** Lets fibers go on until they wait for the clock; the clock itself does so too. */
const settle = Effect.forEach([1, 2, 3, 4, 5], () => Effect.yieldNow, { discard: true })

/** Plays the story to its end and a day beyond, with one thing going wrong. */
const play = (mode: Mode, injection?: Injection) =>
  stage(
    mode,
    injection,
    Effect.fnUntraced(function* (steps, log) {
      const { mender, requests, sent, worker } = yield* models(steps)
      const { list, starts, waiting } = tools(steps, mender)
      const agent = Agent.make("worker", {
        input: Message.UserContent,
        prompt: "You book.",
        budget: { warnAt: 1, maxTurns: 20, ...limitsOf(injection) },
        skills: [Skill.make("work", { description: "d", tools: list })]
      }).pipe(
        Agent.toolDefaults({ orElse: Recovery.tell() }),
        Agent.onLlmError({ orElse: Recovery.retry(waiting("model", "turn")) }, { onPartial: "restart" }),
        Agent.toolPolicy(({ callId }) => steps.effect("policy", "ask", callId, Effect.succeed(ToolPolicy.allow), busy)),
        Agent.onToolUse((name) => steps.effect("listener", "onToolUse", name, Effect.void)),
        Agent.onEvent(({ type }) =>
          type === "turn-start" || type === "verdict"
            ? steps.effect("listener", "onEvent", type, Effect.void)
            : Effect.void
        ),
        log.listen
      )
      const running = (see: (event: AgentEvent.AgentEvent) => Effect.Effect<void>) =>
        Effect.provide(
          mode === "streamed" ? Stream.runForEach(agent.stream(input), see) : Effect.asVoid(agent(input)),
          worker
        )
      return { sent, starts, requests, running }
    })
  )

/** What the user says: words, an image at an address and a file that the provider stores. Events have no bytes, so there are none. */
export const input: Message.UserContent = [
  text("go"),
  Message.image("image/png", { url: "https://a.test/a.png" }),
  Message.file("application/pdf", { url: "file-abc123" })
]

/** The limit that is to be reached. */
export const limitsOf = (injection: Injection | undefined): Budget.Limits =>
  injection?.limit === undefined ? {} : { [injection.fault]: injection.limit }

/** A story that is about to be played. */
export interface Cast extends Pick<Played, "sent" | "starts" | "requests" | "jobs"> {
  readonly running: (
    see: (event: AgentEvent.AgentEvent) => Effect.Effect<void>
  ) => Effect.Effect<unknown, unknown, never>
}

/** Plays any story. */
export const stage = Effect.fnUntraced(function* (
  mode: Mode,
  injection: Injection | undefined,
  cast: (steps: Steps, log: ReturnType<typeof eventLog>) => Effect.Effect<Cast>
) {
  const events: Array<AgentEvent.AgentEvent> = []
  const seen: Array<AgentEvent.AgentEvent> = []
  let before: Played["before"]
  const clock = yield* Clock.clockWith(Effect.succeed)
  const steps: Steps = new Steps(clock, injection, () => {
    before = { at: clock.currentTimeMillisUnsafe(), events: events.length, steps: steps.reached.length }
  })
  const log = eventLog()
  const { running, ...noted } = yield* cast(steps, log)
  let fibers = 0
  const counted: Metric.FiberRuntimeMetricsService = {
    recordFiberStart: () => void fibers++,
    recordFiberEnd: () => void fibers--
  }
  const root = yield* running((event) => Effect.sync(() => void seen.push(event))).pipe(
    Effect.provideService(RunContext.Observers, [() => (event) => void events.push(event)]),
    Effect.forkChild,
    Effect.provideService(Metric.FiberRuntimeMetrics, counted)
  )
  steps.root = root
  // the step that opens it goes on until it waits
  const outside = Effect.andThen(steps.signal.await, Effect.yieldNow)
  yield* Effect.forkChild(Effect.map(outside, () => steps.interrupt()))
  yield* settle
  yield* TestClock.adjust("1 day")
  const exit = yield* Fiber.await(root)
  yield* settle
  const count = () => ({ events: events.length, heard: log.all.length, steps: steps.reached.length })
  const atEnd = count()
  const left = { unfinished: steps.unfinished, fibers }
  yield* TestClock.adjust("1 day")
  yield* settle
  const inAll = count()
  const later = {
    events: inAll.events - atEnd.events,
    heard: inAll.heard - atEnd.heard,
    steps: inAll.steps - atEnd.steps
  }
  const played: Played = {
    mode,
    injection,
    steps: steps.reached,
    events,
    heard: log.all,
    seen: mode === "streamed" ? seen : undefined,
    before,
    exit,
    ...noted,
    ...left,
    later
  }
  return played
})

/** As `play`, on a clock of its own, and in silence. */
export const playNow = (mode: Mode, injection?: Injection): Promise<Played> => inSilence(play(mode, injection))

export const inSilence = <A>(self: Effect.Effect<A>): Promise<A> =>
  Effect.runPromise(self.pipe(Effect.provide(TestClock.layer()), Effect.provide(Logger.layer([]))))
