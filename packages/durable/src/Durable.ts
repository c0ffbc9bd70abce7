/**
 * Durable runs, on Effect's own workflow engine: a run survives the death of its process, waits for days without one, and goes on
 * in another. Any agent becomes a `Workflow`; whatever it asks, runs, waits for and is told is recorded there once, and read when the
 * run is replayed.
 */
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { type Agent, Approval, KintsugiError } from "@kintsugi/core"
import type * as DoorError from "@kintsugi/core/DoorError"
import * as Interception from "@kintsugi/core/Interception"
import * as Issue from "@kintsugi/core/Issue"
import * as RunContext from "@kintsugi/core/RunContext"
import { answerOf, deferredOf, refusalOf } from "./approval.ts"
import {
  asFailures,
  OtherWorkflowError,
  ReplayError,
  UnfitInputError,
  UnknownRunError,
  UnreadableStepError
} from "./errors.ts"
import { Instant, intercepting } from "./intercepting.ts"
import { Lines } from "./lines.ts"
import { again, demandRow, isNoted, lose, note, orLost } from "./losing.ts"
import { type AtWork, record, type Replay } from "./recording.ts"
import { rowsOf } from "./rows.ts"
import * as Time from "./time.ts"
import type { ErrorOf, For, ServicesOf } from "./types.ts"

export {
  ChangedAgentError,
  OtherWorkflowError,
  ReplayError,
  UnfitInputError,
  UnknownRunError,
  UnreadableStepError
} from "./errors.ts"

/** Somebody has to decide about a call, and the run waits for that. */
export interface Asked extends Schema.Schema.Type<typeof Asked> {}

/** How that crosses a wire or a database. */
export const Asked = Schema.Struct({
  /** The workflow under which the run was started, with its version. */
  workflow: Schema.String,
  executionId: Schema.String,
  request: Approval.Request
})

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
  /**
   * Started with an `id`: there is one run for each, however often it is started. Besides the failures of the agent it fails with
   * a `ReplayError` where what is stored does not belong to it.
   */
  readonly workflow: Workflow.Workflow<Name, Payload<Input>, Output, Schema.Codec<E | ReplayError, unknown>>
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
 */
export const workflow = <
  A,
  const Name extends string,
  Input extends AnyCodec,
  Output extends AnyCodec,
  R = never,
  Failure = undefined
>(
  agent: A & Agent.AnyPart,
  options: Options<Name, Input, Output, R> & { readonly error?: Failure } & For<NoInfer<A>, Input, Output, Failure>
): Durable<Name, Input, Output, ErrorOf<A>, Exclude<ServicesOf<A> | R, Approval.Approver>> => {
  const { name, version } = options
  // a schema where the agent has failures of its own, by `For`
  const error = options.error as AnyCodec | undefined
  // what it needs is in the type of the layer, and is in the context in which the layer is built
  const hear = options.onApproval as ((asked: Asked) => Effect.Effect<void>) | undefined
  const ours = Schema.Union([KintsugiError.KintsugiError, ReplayError])
  const failures: AnyCodec = error === undefined ? ours : Schema.Union([error, ours])
  const made = Workflow.make(version === undefined ? name : `${name}@${version}`, {
    // widened: fields of a struct whose schema is a type parameter cannot be read
    payload: Schema.Struct({ id: Schema.String, input: options.input as AnyCodec }),
    idempotencyKey: ({ id }) => id,
    success: options.output,
    error: failures
  })
  const layer = Layer.unwrap(
    Effect.gen(function* () {
      // closed after the runs have been given away: until then, what is at work may come to its end
      const scope = yield* Scope.fork(yield* Effect.scope)
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
        failures: { schema: failures, isKnown: Schema.is(failures) },
        atWork: new Map() satisfies AtWork,
        intents: new Set<string>(),
        approver: Option.getOrElse(yield* Effect.serviceOption(Approval.Approver), () => nobody)
      }
      const context = yield* Effect.context<never>()
      // by `For` it takes what the input schema gives; what it needs is in that context
      const run = agent as unknown as (input: unknown) => Effect.Effect<unknown, unknown>
      return made.toLayer(({ input }, executionId) =>
        Effect.gen(function* () {
          const instance = yield* WorkflowInstance
          const taken = { isSo: false }
          const stored = { rows: yield* rowsOf(made, executionId), waiting: new Set<string>() }
          const replay: Replay = { ...process, ...stored, executionId, instance, taken, lines: new Lines(executionId) }
          const tell = (request: Approval.Request) =>
            hear?.({ workflow: made._tag, executionId, request }) ?? Effect.void
          // an engine wakes a workflow from within whatever has woken it, another run perhaps: nothing of that is to be seen here
          const ended = watched(taken, asFailures(orLost(replay, running(replay, run, input, tell))))
          return yield* Effect.updateContext(ended, (around) =>
            Option.match(Context.getOption(around, Activation), {
              onNone: () => context,
              onSome: (activation) => Context.add(context, Activation, activation)
            })
          )
        })
      )
    })
  )
  // the schemas are those of the options and of the errors of the agent, which the types of this function have matched
  return { workflow: made, layer } as unknown as Durable<
    Name,
    Input,
    Output,
    ErrorOf<A>,
    Exclude<ServicesOf<A> | R, Approval.Approver>
  >
}

/**
 * By which the engine of `effect/cluster` finds what it remembers of a run in this process: that it was interrupted, and what was
 * decided. It is internal there, so that only its key is known.
 */
class Activation extends Context.Service<Activation, object>()("effect/cluster/internal/CurrentActivationScope") {}

/** Knows of an interruption from outside before whatever is within: that is no end of the run. */
const watched = <A, E, R>(taken: { isSo: boolean }, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.forkChild(self, { startImmediately: true }), (fiber) =>
    Effect.onInterrupt(Fiber.join(fiber), () => {
      taken.isSo = true
      return Fiber.interrupt(fiber)
    })
  )

/** A step cannot wait without a process: whoever decides within one is a service. */
const nobody: Approval.Approver["Service"] = {
  decide: ({ tool }) =>
    Effect.die(
      new TypeError(
        `Durable: nobody decides about tool '${tool}', which is called within a step. Give the layer of the workflow an Approver, or call the agent by Agent.asTool`
      )
    )
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
    const { executionId, instance } = replay
    const known = Effect.provideService(knowing(instance.workflow, executionId), WorkflowEngine, replay.engine)
    const wasBegun = yield* isNoted(replay, "begin")
    const now = Effect.sync(() => (wasBegun ? again.instant : replay.clock.currentTimeMillisUnsafe()))
    const begun = yield* record(replay, {
      line: lines.root,
      name: "begin",
      ...Instant,
      work: Effect.andThen(known, now)
    })
    if (begun === again.instant) return yield* lose(replay, "what was recorded of its steps")
    if (!wasBegun) yield* note(replay, "begin")
    const observers = yield* RunContext.Observers
    return yield* Effect.suspend(() => agent(input)).pipe(
      Effect.provideService(RunContext.Observers, [() => watch, ...observers]),
      Effect.provideService(Interception.Current, interceptor),
      // it is asked in its place
      Effect.provideService(Approval.Approver, { decide: () => Effect.never }),
      Effect.provideService(Clock.Clock, Time.clock(lines, replay.clock)),
      Effect.provideService(Random.Random, Time.random(lines))
    )
  })

/** Laid down for each run: an engine does not tell a run that is at work from one that there never was. */
const Begun = DurableDeferred.make("begun")

const knowing = (self: Workflow.Any, executionId: string): Effect.Effect<void, never, WorkflowEngine> => {
  const token = DurableDeferred.tokenFromExecutionId(Begun, { workflow: self, executionId })
  return DurableDeferred.done(Begun, { token, exit: Exit.void })
}

const demanding = (
  self: Workflow.Any,
  executionId: string
): Effect.Effect<void, UnknownRunError | DoorError.RunLostError, WorkflowEngine> =>
  Effect.gen(function* () {
    const engine = yield* WorkflowEngine
    const instance = WorkflowInstance.initial(self, executionId)
    const begun = yield* Effect.provideService(engine.deferredResult(Begun), WorkflowInstance, instance)
    if (Option.isNone(begun)) return yield* Effect.fail(UnknownRunError.of(self._tag, executionId))
    yield* demandRow(self, executionId)
  })

/**
 * Starts a run, or finds the one with this `id`, and gives its `executionId`; it does not wait for its end. Fails where the input does not
 * fit its schema.
 */
export const start = <Name extends string, Input extends AnyCodec, Output extends AnyCodec, E, R>(
  self: Durable<Name, Input, Output, E, R>,
  payload: Payload<Input>["~type.make.in"]
): Effect.Effect<string, UnfitInputError, WorkflowEngine> =>
  Effect.gen(function* () {
    const { workflow } = self
    // whatever the input is, there is an id: that the schema of the input is a type parameter hides it
    const { id } = payload as { readonly id: string }
    yield* Effect.mapError(workflow.payloadSchema.makeEffect(payload), (issue) =>
      UnfitInputError.of(workflow._tag, id, Issue.fromSchema(issue, payload)[0])
    )
    const executionId = yield* workflow.execute(payload, { discard: true })
    yield* knowing(workflow, executionId)
    return executionId
  })

/**
 * How a run stands: its end, that it waits without a process (`Suspended`), or nothing while it is at work. Fails with
 * `UnknownRunError` where there is none, and with `UnreadableStepError` where its end is stored in a form that is not its own. Where the
 * storage of a cluster is in the context (`MessageStorage`), it fails with `RunLostError` if the row is gone that tells how the run stands.
 */
export const poll = <Name extends string, Input extends AnyCodec, Output extends AnyCodec, E, R>(
  self: Durable<Name, Input, Output, E, R>,
  executionId: string
): Effect.Effect<
  Option.Option<Workflow.Result<Output["Type"], E | ReplayError>>,
  UnknownRunError | UnreadableStepError | DoorError.RunLostError,
  WorkflowEngine
> =>
  Effect.gen(function* () {
    const { workflow } = self
    const result = yield* Effect.catchDefect(workflow.poll(executionId), (defect) =>
      Schema.isSchemaError(defect)
        ? Effect.fail(
            UnreadableStepError.of(workflow._tag, executionId, "end", Issue.fromSchema(defect.issue, undefined)[0])
          )
        : Effect.die(defect)
    )
    if (Option.isNone(result)) yield* demanding(workflow, executionId)
    return result
  })

/** Goes on with a run that waits, at once; one that is at work or over takes no notice. Fails where there is none, and as `poll` does. */
export const resume = (
  self: { readonly workflow: Workflow.Any },
  executionId: string
): Effect.Effect<void, UnknownRunError | DoorError.RunLostError, WorkflowEngine> =>
  Effect.gen(function* () {
    yield* demanding(self.workflow, executionId)
    const engine = yield* WorkflowEngine
    yield* engine.resume(self.workflow, executionId)
  })

/**
 * Decides about a call that a run waits for. A decision is bound to what was shown: for a run that does not wait for this request any
 * more, it does nothing. Of several decisions that come before the call goes on a refusal counts, else the first, as in one
 * `Agent.resume`. Fails where there is no such run, or where it is one of another workflow or
 * version: then the workflow of that version has to be asked.
 */
export const decide = (
  self: { readonly workflow: Workflow.Any },
  { executionId, request, workflow: startedAs }: Asked,
  decision: Approval.Decision
): Effect.Effect<void, UnknownRunError | OtherWorkflowError | DoorError.RunLostError, WorkflowEngine> =>
  Effect.gen(function* () {
    const { workflow } = self
    if (startedAs !== workflow._tag) {
      return yield* Effect.fail(OtherWorkflowError.of(workflow._tag, executionId, startedAs))
    }
    yield* demanding(workflow, executionId)
    const value = yield* Effect.orDie(answerOf(yield* Clock.currentTimeMillis, decision))
    // an approval that was laid down before does not hide a refusal
    const places = decision.type === "approve" ? [deferredOf(request)] : [refusalOf(request), deferredOf(request)]
    for (const deferred of places) {
      const token = DurableDeferred.tokenFromExecutionId(deferred, { workflow, executionId })
      yield* DurableDeferred.succeed(deferred, { token, value })
    }
  })
