/**
 * Durable runs, on Effect's own workflow engine: a run survives the death of its process, waits for days without one, and goes on
 * in another. Any agent becomes a `Workflow`; whatever it asks, runs, waits for and is told is recorded there once, and read when the
 * run is replayed.
 */
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { type Agent, type Approval, Approver, Interception, KintsugiError, RunContext } from "@kintsugi/core"
import { deferredOf } from "./internal/durableApproval.ts"
import { Instant, intercepting } from "./internal/durableIntercepting.ts"
import { Lines } from "./internal/durableLines.ts"
import { type AtWork, record, type Replay } from "./internal/durableRecording.ts"
import * as Time from "./internal/durableTime.ts"
import type { CheckTools, Errors, ErrorOf, Fits, ServicesOf } from "./internal/durableTypes.ts"

/** Somebody has to decide about a call, and the run waits for that. */
export interface Asked {
  /** The run, as `decide` takes it. */
  readonly executionId: string
  readonly request: Approval.Request
}

/** How an agent becomes a workflow. */
export interface Options<Name extends string, Input, Output, R> {
  /** Under which the engine keeps its runs: another workflow with the same name and version would read them. */
  readonly name: Name
  /**
   * Has to change with whatever changes the steps of runs: tools, tables, prompts that lead elsewhere. Runs go on under the version
   * that they were started with, where a workflow of that version is still served. Without one, none is part of the name.
   */
  readonly version?: string
  /** What the agent takes, and what it gives. */
  readonly input: Input
  readonly output: Output
  /** Hears of each call that needs a decision, at least once: `decide` answers it. By default nobody does. */
  readonly onApproval?: (asked: Asked) => Effect.Effect<void, never, R>
}

/** What the workflow of an agent is started with. */
export type Payload<Input extends Schema.Top> = Schema.Struct<{ readonly id: Schema.String; readonly input: Input }>

/** An agent as a workflow, and the layer that serves it. */
export interface Durable<Name extends string, Input extends Schema.Top, Output extends Schema.Top, E, R> {
  /** Started with an `id`: there is one run for each, however often it is started. */
  readonly workflow: Workflow.Workflow<Name, Payload<Input>, Output, Schema.Codec<E, unknown>>
  /** Runs it, wherever this layer is. */
  readonly layer: Layer.Layer<never, never, R | WorkflowEngine>
}

/** Any schema that needs no services. */
type AnyCodec = Schema.Codec<unknown, unknown>

/**
 * An agent as a workflow whose body is the agent. Each reply of a model, each attempt of a tool, each decision of a policy and of a
 * person, each look-up and each wait is recorded; when a process dies, another reads them and goes on behind the last one. A tool
 * with `unsafe` side effects that had begun and whose end is not known is not run again: that is an `OutcomeUnknownError`, or what
 * its `verify` finds.
 *
 * All else is run again in each replay, and has to be the same each time: rows, handlers, predicates, functions of agents that are
 * one. What such code does besides, it does again.
 *
 * The agent is a constant: one that is made in the place of the argument does not compile.
 */
export const workflow = <A, const Name extends string, Input extends AnyCodec, Output extends AnyCodec, R = never>(
  agent: A & Agent.AnyPart,
  options: Options<Name, Input, Output, R> & CheckTools<A> & Fits<A, Input, Output> & Errors<ErrorOf<A>>
): Durable<Name, Input, Output, ErrorOf<A>, Exclude<ServicesOf<A> | R, Approver.Approver>> => {
  const { name, version } = options
  const error = options.error as AnyCodec | undefined
  const made = Workflow.make(version === undefined ? name : `${name}@${version}`, {
    payload: Schema.Struct({ id: Schema.String, input: options.input as AnyCodec }),
    idempotencyKey: ({ id }) => id,
    success: options.output as AnyCodec,
    error: (error === undefined
      ? KintsugiError.KintsugiError
      : Schema.Union([error, KintsugiError.KintsugiError])) as AnyCodec
  })
  const layer = Layer.unwrap(
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const incarnation = `${yield* Random.nextInt}${yield* Random.nextInt}`
      const clock = yield* Clock.Clock
      const random = yield* Random.Random
      const engine = yield* WorkflowEngine
      const process = {
        scope,
        incarnation,
        clock,
        random,
        engine,
        atWork: new Map() satisfies AtWork,
        intents: new Set<string>()
      }
      const context = yield* Effect.context<never>()
      return made.toLayer(({ input }, executionId) =>
        Effect.gen(function* () {
          const instance = yield* WorkflowInstance
          const replay: Replay = { ...process, executionId, instance, lines: new Lines(executionId) }
          const tell = (request: Approval.Request) => options.onApproval?.({ executionId, request }) ?? Effect.void
          // an engine wakes a workflow from within whatever has woken it, another run perhaps: nothing of that is to be seen here
          return yield* Effect.updateContext(running(replay, agent as never, input, tell as never), () => context)
        })
      )
    })
  )
  return { workflow: made, layer } as never
}

/** The agent, with time, chance and steps as they are recorded. */
const running = (
  replay: Replay,
  agent: (input: unknown) => Effect.Effect<unknown, unknown>,
  input: unknown,
  tell: (request: Approval.Request) => Effect.Effect<void>
): Effect.Effect<unknown, unknown> =>
  Effect.gen(function* () {
    const { lines } = replay
    const { interceptor, watch } = intercepting(replay, tell)
    const begun = Effect.sync(() => replay.clock.currentTimeMillisUnsafe())
    yield* record(replay, { line: lines.root, name: "begin", ...Instant, work: begun })
    const observers = yield* RunContext.Observers
    return yield* Effect.suspend(() => agent(input)).pipe(
      Effect.provideService(RunContext.Observers, [() => watch, ...observers]),
      Effect.provideService(Interception.Current, interceptor),
      // it is asked in its place
      Effect.provideService(Approver.Approver, { decide: () => Effect.never }),
      Effect.provideService(Clock.Clock, Time.clock(lines, replay.clock)),
      Effect.provideService(Random.Random, Time.random(lines))
    )
  })

/**
 * Decides about a call that a run waits for. A decision is bound to what was shown: for a run that does not wait for this request any
 * more, it does nothing; the first decision counts.
 */
export const decide = (
  self: { readonly workflow: Workflow.Any },
  { executionId, request }: Asked,
  decision: Approval.Decision
): Effect.Effect<void, never, WorkflowEngine> =>
  Effect.flatMap(Clock.currentTimeMillis, (at) => {
    const deferred = deferredOf(request)
    const token = DurableDeferred.tokenFromExecutionId(deferred, { workflow: self.workflow, executionId })
    return DurableDeferred.succeed(deferred, { token, value: { at, decision } })
  })
