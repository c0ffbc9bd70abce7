/**
 * Plays a recorded run against the tables of now, without a model and on a virtual clock: models and tools answer and fail as they did in
 * the recording. A call that is made more often than in the recording goes well.
 */
import { Approval, type Message, Model } from "@kintsugi/core"
import * as Interception from "@kintsugi/core/Interception"
import * as RunContext from "@kintsugi/core/RunContext"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { messageOf, tagOf } from "../recording/ErrorWords.ts"
import { fieldOf, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import { worded } from "./asked.ts"
import { failureOf } from "./faults.ts"
import { type Core, definitionOf, functionsOf, type ToolDefinition, toolsOf } from "./inside.ts"
import { resending } from "./models.ts"
import type { Choice } from "./browser/Wire.ts"
import { madeUp, type Ready } from "./running.ts"
import { replyTo } from "./standIn.ts"

/** What an attempt gave: a value, or a failure. */
type Given<A> = Result.Result<A, unknown>

/** What the recording says about models and tools. Each is taken from the front, once. */
class Script {
  readonly #replies = new Map<string, Array<Given<Message.Reply>>>()
  readonly #attempts = new Map<string, Array<Given<string>>>()

  constructor(events: ReadonlyArray<Recorded>, { AgentEvent }: Core, tools: ReadonlyMap<string, ToolDefinition>) {
    const decode = Schema.decodeUnknownOption(AgentEvent.AgentEvent)
    for (const event of events) {
      const { agent, type } = event
      if (type === "model-end" || type === "model-failed") {
        const decoded = Option.getOrUndefined(decode(event))
        if (decoded?.type === "model-end") added(this.#replies, agent, Result.succeed(decoded.reply))
        if (decoded?.type === "model-failed") added(this.#replies, agent, Result.fail(decoded.error))
      }
      const key = `${textAt(event, "tool")} ${textAt(event, "callId")}`
      if (type === "tool-failed") added(this.#attempts, key, Result.fail(errorOf(event, tools, decode)))
      // Mutant `true` for `type === "tool-end"` survives: only the end of a tool call has a use
      if (type === "tool-end" && textAt(event, "use", "settlement", "kind") === "result")
        added(this.#attempts, key, Result.succeed(textAt(event, "use", "settlement", "text") ?? ""))
    }
  }

  reply(agent: string): Given<Message.Reply> | undefined {
    return this.#replies.get(agent)?.shift()
  }

  attempt(tool: string, callId: string): Given<string> | undefined {
    return this.#attempts.get(`${tool} ${callId}`)?.shift()
  }
}

const added = <A>(map: Map<string, Array<A>>, key: string, value: A): void => {
  const list = map.get(key) ?? []
  map.set(key, [...list, value])
}

/** The failure of a tool as its table meets it: of its own schema, an error of the library, or one with the recorded tag. */
const errorOf = (
  event: Recorded,
  tools: ReadonlyMap<string, ToolDefinition>,
  decode: (value: unknown) => Option.Option<unknown>
): unknown => {
  const error = event["error"]
  const tag = tagOf(error)
  const decoded = fieldOf(Option.getOrUndefined(decode(event)), "error")
  if (textAt(decoded, "_tag") === tag) return decoded
  const tool = tools.get(textAt(event, "tool") ?? "")
  const made = tool === undefined ? undefined : failureOf(tool, tag)
  return Object.assign(made instanceof Error ? made : new Error(), { _tag: tag, name: tag, message: messageOf(error) })
}

/** How a replay ended: with a failure, or without one. */
export interface Replay {
  readonly isCompleted: boolean
  readonly error?: string
}

/** Plays the events of a run again. */
export const replay = (
  { agent, context, core }: Ready,
  { model: kind, seed }: Choice,
  input: unknown,
  events: ReadonlyArray<Recorded>
): Effect.Effect<Replay> =>
  Effect.gen(function* () {
    const tools = new Map(toolsOf(definitionOf(agent)).map((tool) => [tool.name, tool]))
    const script = new Script(events, core, tools)
    const scripted = modelOf(script, seed)
    const model = kind === "stand-in" ? resending(core, scripted) : scripted
    const intercept: Interception.Interceptor["intercept"] = (step, self) => {
      switch (step.type) {
        case "tool attempt": {
          const tool = tools.get(step.tool)
          if (step.isAgent || tool === undefined) return self
          return Effect.suspend(() => attempted(tool, script.attempt(step.tool, step.callId), seed))
        }
        // Mutant `case "approval":` survives: what does not refuse approves
        case "approval":
          return Effect.succeed(Approval.approve)
        case "look-up":
          return Effect.succeed(Option.none())
        case "cancel":
        case "compensation":
        case "listener":
          return Effect.void
        default:
          return self
      }
    }
    const { call } = functionsOf(agent, core)
    const running = Effect.suspend(() => call(input)).pipe(
      Effect.provideService(Interception.Current, { intercept, model }),
      Effect.provideService(Model.Model, model),
      Effect.provideService(Approval.Approver, { decide: () => Effect.succeed(Approval.approve) }),
      Effect.provideContext(context)
    )
    const fiber = yield* Effect.forkDetach(running)
    const exit = yield* ended(fiber)
    if (exit === undefined) {
      yield* Effect.forkDetach(Fiber.interrupt(fiber))
      return { isCompleted: false, error: "it does not end within ten days of its own clock" }
    }
    if (Exit.isSuccess(exit)) return { isCompleted: true }
    const error = Cause.squash(exit.cause)
    return { isCompleted: false, error: worded(error) }
  }).pipe(Effect.provide(TestClock.layer()), Effect.provide(Logger.layer([])))

/** Moves the clock until the run has ended. Work that leaves the fiber, such as a digest, gets a turn of the event loop each time. */
const ended = <A, E>(fiber: Fiber.Fiber<A, E>): Effect.Effect<Exit.Exit<A, E> | undefined> =>
  Effect.gen(function* () {
    for (let hour = 0; hour < 240; hour++) {
      for (let step = 0; step < 5; step++) yield* turnOfLoop
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return exit
      yield* TestClock.adjust("1 hour")
    }
    return fiber.pollUnsafe()
  })

const turnOfLoop = Effect.callback<void>((resume) => {
  // oxlint-disable-next-line no-restricted-globals -- a digest ends in a later turn of the event loop
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

const attempted = (
  tool: ToolDefinition,
  given: Given<string> | undefined,
  seed: number
): Effect.Effect<unknown, unknown> => {
  if (given === undefined) return madeUp(tool, seed)
  if (Result.isFailure(given)) return Effect.fail(given.failure)
  const decoded = tool.decodeResult(given.success)
  return Result.isSuccess(decoded) ? Effect.succeed(decoded.success) : madeUp(tool, seed)
}

/** A model that says what was recorded for the agent that calls it, and then answers as the stand-in without tools. */
const modelOf = (script: Script, seed: number): Model.Service => {
  const generate: Model.Service["generate"] = (request) =>
    Effect.flatMap(RunContext.Current, (run) => {
      const given = script.reply(run?.agent ?? "")
      if (given === undefined)
        return Effect.sync(() => replyTo(seed, { ...request, tools: [], toolChoice: "none" }, new Map()))
      // cast: a recorded failure of a model is an error of a model
      return Result.isSuccess(given) ? Effect.succeed(given.success) : Effect.fail(given.failure as never)
    })
  return {
    name: "recorded",
    provider: "none",
    generate,
    stream: (request) =>
      Stream.unwrap(Effect.map(generate(request), (reply) => Stream.fromIterable(Model.partsOf(reply))))
  }
}
