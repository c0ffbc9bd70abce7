/** What the tests of runs share: tools that play a script, agents around them, and views on what was said. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, type Message, type Recovery, Skill, Tool, ToolError, type Usage } from "@kintsugi/core"
import { RecordedEvents, ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Data, Effect, type Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"

/** Two failures of tools that say nothing about recovering. */
export class Busy extends Data.TaggedError("Busy")<{ readonly message: string }> {}
export class Gone extends Data.TaggedError("Gone")<{ readonly message: string }> {}

export const busy = (message = "busy"): Busy => new Busy({ message })
export const gone = (message = "gone"): Gone => new Gone({ message })

/** One run of a scripted tool. */
export interface Run {
  readonly at: number
  readonly params: unknown
  readonly context: Tool.ToolContext
}

type Step = Effect.Effect<string, unknown, unknown>

/** A tool whose n-th run is the n-th step. A run beyond the script is a defect. */
export const scripted = <const Name extends string, const Steps extends ReadonlyArray<Step>>(
  name: Name,
  ...steps: Steps
) => play(name, {}, steps)

/** As `scripted`, with options. The parameters are `{ n?: number }`. */
export const play = <
  const Name extends string,
  const Steps extends ReadonlyArray<Step>,
  const S extends Recovery.SideEffects = "undeclared"
>(
  name: Name,
  options: {
    readonly sideEffects?: S
    readonly coercion?: readonly []
    readonly kind?: ToolError.Kind
    readonly description?: string
  },
  steps: Steps
) => {
  const runs: Array<Run> = []
  const tool = Tool.make(name, {
    description: `The tool ${name}.`,
    parameters: Schema.Struct({ n: Schema.optionalKey(Schema.Finite) }),
    success: Schema.String,
    ...options,
    run: (params, context): Effect.Effect<string, Effect.Error<Steps[number]>, Effect.Services<Steps[number]>> =>
      Effect.flatMap(Clock.currentTimeMillis, (at) => {
        runs.push({ at, params, context })
        const step: Steps[number] | undefined = steps[runs.length - 1]
        if (step === undefined) return Effect.die(new Error(`run ${runs.length} of '${name}' is not in the script`))
        // failures and needs are computed from this very step
        return step as Effect.Effect<string, Effect.Error<Steps[number]>, Effect.Services<Steps[number]>>
      })
  })
  return { tool, runs }
}

/** A fixer without a model: its n-th answer is the n-th step. `inputs` is what it read. */
export const fixer = <const Steps extends ReadonlyArray<Step>>(...steps: Steps) => {
  const inputs: Array<string> = []
  const agent = Agent.deterministic("fixer", (input: string) => {
    inputs.push(input)
    const step: Steps[number] = steps[inputs.length - 1] ?? Effect.die(new Error("a run of the fixer is not expected"))
    // failures and needs are computed from this very step
    return step as Effect.Effect<string, Effect.Error<Steps[number]>, Effect.Services<Steps[number]>>
  })
  return { agent, inputs }
}

/** An agent with these tools and nothing else. */
export const agentWith = <const Tools extends ReadonlyArray<Tool.AnyTool>>(...tools: Tools) =>
  Agent.make("worker", { skills: [Skill.make("work", { description: "Works.", tools })] })

/** A model that makes these calls at once, with the ids `c1`, `c2` …, then says "done". */
export const callingOnce = (...names: ReadonlyArray<string>) => ScriptedModel.make(batch(...names), done)

/** One reply that makes these calls, with the ids `c1`, `c2` … */
export const batch = (...names: ReadonlyArray<string>): ScriptedModel.ScriptedStep =>
  ScriptedModel.calls(...names.map((name, index) => ScriptedModel.call(name, {}, `c${index + 1}`)))

export const done = ScriptedModel.text("done")

/** The settlements of a transcript in order, as `kind: text`. */
export const settlements = (transcript: Message.Transcript): ReadonlyArray<string> =>
  transcript.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) =>
          part.type === "settled-call" ? [`${part.settlement.kind}: ${part.settlement.text}`] : []
        )
      : []
  )

/** What the model has read of its calls by its last request. */
export const read = (model: ScriptedModel.ScriptedModel): ReadonlyArray<string> =>
  settlements(model.requests.at(-1)?.messages ?? [])

/** Hears everything that happens in the runs of the agents to which `listen` is piped. */
export const eventLog = () => {
  const recorded = RecordedEvents.makeUnsafe()
  return { ...recorded, listen: Agent.onEvent(recorded.listener) }
}

export const { isTerminal } = AgentEvent

/** The transcript in the terminal event of a failed or interrupted run. */
export const lastTranscript = (event: AgentEvent.AgentEvent | undefined): Message.Transcript =>
  event?.type === "run-failed" || event?.type === "run-interrupted" ? event.transcript : []

/** The usage that the terminal event of a run reports. */
export const lastUsage = (event: AgentEvent.AgentEvent | undefined): Usage.Usage | undefined =>
  event !== undefined && isTerminal(event) && "usage" in event ? event.usage : undefined

/** Lets every fiber go on until it waits for the clock. */
export const calm = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

/** Runs an effect to its end while a day goes by. */
export const overADay = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* calm
    yield* TestClock.adjust("1 day")
    return yield* Fiber.await(fiber)
  })

/** Interrupts an effect that many milliseconds after its start. */
export const interruptedAt = <A, E, R>(
  millis: number,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* calm
    yield* TestClock.adjust(millis)
    yield* calm
    const interrupting = yield* Effect.forkChild(Fiber.interrupt(fiber))
    yield* calm
    yield* TestClock.adjust("1 day")
    yield* Fiber.await(interrupting)
    return yield* Fiber.await(fiber)
  })

/** The failure of an exit as a value; anything else is a defect of the test. */
export const failureOf = <A, E>(exit: Exit.Exit<A, E>): Effect.Effect<E> => Effect.orDie(Effect.flip(exit))

/** The error as the hard failure that it has to be. */
export const asHard = (error: unknown): ToolError.ToolExecutionError => {
  assert.instanceOf(error, ToolError.ToolExecutionError)
  // the line above has failed otherwise
  return error as ToolError.ToolExecutionError
}

export const tagsOf = (errors: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  errors.map((error) => (typeof error === "object" && error !== null && "_tag" in error ? error._tag : error))

export const messagesOf = (errors: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  errors.map((error) => (error instanceof Error ? error.message : String(error)))

export const paramsOf = (runs: ReadonlyArray<Run>): ReadonlyArray<unknown> => runs.map(({ params }) => params)

export const instantsOf = (runs: ReadonlyArray<Run>): ReadonlyArray<number> => runs.map(({ at }) => at)
