/**
 * Durable runs on Effect's workflow engine. A run survives the death of its process, waits for days without a process, and goes on in
 * another one. Each agent becomes a `Workflow`: it records each model call, tool attempt, wait and decision once, and a replay reads
 * the records.
 */
import * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { type Agent, Approval, KintsugiError, type Snapshot, type Tool } from "@kintsugi/core"
import type * as DoorError from "@kintsugi/core/DoorError"
import * as Interception from "@kintsugi/core/Interception"
import * as Issue from "@kintsugi/core/Issue"
import * as RunContext from "@kintsugi/core/RunContext"
import * as Approving from "./approval.ts"
import { settle as settleCall } from "./deferred.ts"
import {
  asFailures,
  fitting,
  OtherWorkflowError,
  ReplayError,
  type UnfitInputError,
  type UnknownRunError,
  UnreadableStepError,
  unreadable
} from "./errors.ts"
import { demanding, knowing } from "./knowing.ts"
import { begin, newest } from "./format.ts"
import { intercepting } from "./intercepting.ts"
import { Lines } from "./lines.ts"
import { orLost } from "./losing.ts"
import { Memory } from "./memory.ts"
import type { DurableRequest, WorkflowOptions } from "./options.ts"
import { patient } from "./patience.ts"
import type { AtWork, Replay } from "./recording.ts"
import { rowsOf } from "./rows.ts"
import * as Time from "./time.ts"
import type { ErrorOf, For, Present, ServicesOf } from "./types.ts"
import { Stop } from "./stop.ts"
import { hasStopped, watched } from "./stopping.ts"
import { waitingNow } from "./waiting.ts"

export { FolderInUseError } from "./engine/errors.ts"
export { layerMemory, layerPglite, layerPostgres } from "./engine/layers.ts"
export { type CallMigration, migrateCall, type Migration } from "./migration.ts"
export { DurableRequest } from "./options.ts"
export { events } from "./reader.ts"
export { say, unread } from "./say.ts"
export { interrupt } from "./stopping.ts"
export {
  ChangedAgentError,
  MigrationError,
  OtherWorkflowError,
  ReplayError,
  UnfitInputError,
  UnknownRunError,
  UnreadableStepError
} from "./errors.ts"

/** The payload of an agent's workflow: the id of the run, and the input of the agent. */
type Payload<Input extends Schema.Top> = Schema.Struct<{ readonly id: Schema.String; readonly input: Input }>

/** An agent as a workflow, and the layer that serves it. */
export interface Durable<Name extends string, Input extends Schema.Top, Output extends Schema.Top, E, R> {
  /**
   * Its payload has an `id` and an `input`. There is one run for each `id`, however often the workflow is started with it. It fails as
   * the agent does, and with a `ReplayError` if the stored steps are not those of this agent.
   */
  readonly workflow: Workflow.Workflow<Name, Payload<Input>, Output, Schema.Codec<E | ReplayError, unknown>>
  /** Whether `Durable.say` can send messages to the runs of this workflow. */
  readonly hasInbox: boolean
  /** Whether the events of this workflow's runs are stored, for `Durable.events`. */
  readonly hasEvents: boolean
  /** Serves the workflow: the engine may give runs to each process that has this layer. */
  readonly layer: Layer.Layer<never, never, R | WorkflowEngine>
}

/** Any schema that needs no services. */
type AnyCodec = Schema.Codec<unknown, unknown>

/**
 * Makes a workflow of an agent. The workflow records each reply of a model, each attempt of a tool, each decision of a policy and of a
 * person, each call of `verify` and each wait. When a process dies, another process reads the records and goes on after the last one. A
 * tool with `unsafe` side effects that was started and has no recorded end does not run again: the call fails with an
 * `OutcomeUnknownError`, or has the result that its `verify` finds.
 *
 * All other code runs again in each replay, and must do the same each time: rows, handlers, predicates, and functions that are agents.
 * Its side effects happen again.
 */
export const workflow = <
  A,
  const Name extends string,
  Input extends AnyCodec,
  Output extends AnyCodec,
  R = never,
  Failure = undefined,
  Given = {}
>(
  agent: A & Agent.AnyPart,
  options: Present<Given, keyof WorkflowOptions<string, unknown, unknown, unknown> | "error"> &
    WorkflowOptions<Name, Input, Output, R> & { readonly error?: Failure } & For<NoInfer<A>, Input, Output, Failure>
): Durable<Name, Input, Output, ErrorOf<A>, Exclude<ServicesOf<A> | R, Approval.Approver>> => {
  const { events = true, inbox = false, migrations = [], name, version } = options
  // cast: by the type `For`, this is a schema if the agent has failures of its own
  const error = options.error as AnyCodec | undefined
  // cast: the services of this function are in the type of the layer, and so in the context in which the layer is built
  const hear = options.onApproval as ((asked: DurableRequest) => Effect.Effect<void>) | undefined
  const ours = Schema.Union([KintsugiError.KintsugiError, ReplayError])
  const failures: AnyCodec = error === undefined ? ours : Schema.Union([error, ours])
  const made = Workflow.make(version === undefined ? name : `${name}@${version}`, {
    // widened: TypeScript cannot read the fields of a struct whose schema is a type parameter
    payload: Schema.Struct({ id: Schema.String, input: options.input as AnyCodec }),
    idempotencyKey: ({ id }) => id,
    success: options.output,
    error: failures
  })
  const layer = Layer.unwrap(
    Effect.gen(function* () {
      // the work of steps runs in this scope; it closes after the engine has given the runs away, so that work may still end until then
      const scope = yield* Scope.fork(yield* Effect.scope)
      const incarnation = `${yield* Random.nextInt}${yield* Random.nextInt}`
      const clock = yield* Clock.Clock
      const random = yield* Random.Random
      const direct = yield* WorkflowEngine
      const process = {
        scope,
        incarnation,
        clock,
        random,
        engine: patient(direct, clock),
        direct,
        failures: { schema: failures, isDeclared: Schema.is(failures) },
        atWork: new Map() satisfies AtWork,
        intents: new Set<string>(),
        approver: Option.getOrElse(yield* Effect.serviceOption(Approval.Approver), () => noApprover)
      }
      const memory = new Memory(events)
      const context = yield* Effect.context<never>()
      // cast: by the type `For`, the agent takes what the input schema decodes; the services that it needs are in `context`
      const run = agent as unknown as (input: unknown) => Effect.Effect<unknown, unknown>
      return made.toLayer(({ input }, executionId) =>
        Effect.gen(function* () {
          const instance = yield* WorkflowInstance
          const stored = { rows: yield* rowsOf(made, executionId), waiting: new Set<string>() }
          const lines = new Lines(executionId)
          const asked = { taken: { isSo: false }, stopping: new Stop() }
          const own = {
            executionId,
            instance,
            ...asked,
            lines,
            hasInbox: inbox,
            migrations,
            replies: new Map(),
            asked: new Set<string>(),
            parents: new Map<string, string>(),
            format: { number: newest }
          }
          const activation = Option.getOrUndefined(yield* Effect.serviceOption(Activation))
          const replay: Replay = { ...process, ...stored, ...(yield* memory.of(executionId, activation)), ...own }
          const tell = (request: Approval.ApprovalRequest) =>
            hear?.({ workflow: made._tag, executionId, request }) ?? Effect.void
          // runs in the context of the layer alone: an engine may wake this workflow in a fiber of another run, whose context must not leak
          // in
          const ended = watched(replay, asFailures(orLost(replay, running(replay, run, input, tell))))
          return yield* Effect.updateContext(memory.behind(instance, ended), () =>
            // Mutant `false` survives: an activation that is `undefined` is none
            activation === undefined ? context : Context.add(context, Activation, activation)
          )
        })
      )
    })
  )
  // cast: the types of this function have matched the schemas with the options, and with the errors of the agent
  return { workflow: made, hasInbox: inbox, hasEvents: events !== false, layer } as unknown as Durable<
    Name,
    Input,
    Output,
    ErrorOf<A>,
    Exclude<ServicesOf<A> | R, Approval.Approver>
  >
}

/** An internal service of `effect/cluster`, in which its engine keeps the state of a run in this process. It is found by its key alone. */
class Activation extends Context.Service<Activation, Scope.Scope>()("effect/cluster/internal/CurrentActivationScope") {}

/**
 * The default approver, which dies with a message that asks for a real one. A call within a recorded step cannot wait for a person without
 * a process, so an approver must decide there.
 */
const noApprover: Approval.Approver["Service"] = {
  decide: ({ tool }) =>
    Effect.die(
      new TypeError(
        `Durable: no Approver decides about tool '${tool}', which is called within a step. Give the layer of the workflow an Approver, or call the agent by Agent.asTool`
      )
    )
}

/** Runs the agent with the recorded clock, random numbers and steps of its run. */
const running = (
  replay: Replay,
  agent: (input: unknown) => Effect.Effect<unknown, unknown>,
  input: unknown,
  tell: (request: Approval.ApprovalRequest) => Effect.Effect<void>
): Effect.Effect<unknown, unknown> =>
  Effect.gen(function* () {
    const { lines } = replay
    const { interceptor, watch } = intercepting(replay, tell)
    const { executionId, instance } = replay
    const marked = Effect.provideService(knowing(instance.workflow, executionId), WorkflowEngine, replay.engine)
    const wasBegun = yield* begin(replay, marked)
    const { log } = replay
    if (log !== undefined) yield* log.begin(replay, wasBegun)
    if (yield* hasStopped(replay)) return yield* Workflow.suspend(instance)
    const observers = yield* RunContext.Observers
    const working = Effect.suspend(() => agent(input)).pipe(
      Effect.provideService(RunContext.Observers, [() => watch, ...observers]),
      Effect.provideService(Interception.Current, interceptor),
      // an approver that never decides, because the interceptor records the decisions instead
      // Mutant `{}` survives: for that, it is not asked
      Effect.provideService(Approval.Approver, { decide: () => Effect.never }),
      Effect.provideService(Clock.Clock, Time.clock(lines, replay.clock)),
      Effect.provideService(Random.Random, Time.random(lines))
    )
    return yield* log === undefined ? working : log.during(replay, working)
  })

/**
 * Starts a run, or finds the run with this `id`. It returns the `executionId` of the run without waiting for its end. Fails with
 * `UnfitInputError` if the input does not fit its schema.
 */
export const start = <Name extends string, Input extends AnyCodec, Output extends AnyCodec, E, R>(
  self: Durable<Name, Input, Output, E, R>,
  payload: Payload<Input>["~type.make.in"]
): Effect.Effect<string, UnfitInputError, WorkflowEngine> =>
  Effect.gen(function* () {
    const { workflow } = self
    // cast: every payload has an id, but TypeScript does not see it, as the schema of the input is a type parameter
    yield* fitting(workflow, payload as { readonly id: string })
    const executionId = yield* workflow.execute(payload, { discard: true })
    yield* knowing(workflow, executionId)
    return executionId
  })

/** A run that has not ended: it waits without a process (`Suspended`), or a part of it is at work (`Running`). */
type Unended<State> = {
  readonly _tag: State
  /**
   * The decisions, deferred calls and messages that the run and its sub-agents wait for. Empty if the run only waits for a time, such as
   * that of its next attempt.
   */
  readonly waiting: ReadonlyArray<Snapshot.Waiting>
}

/**
 * The status of a run, with everything it waits for. It is the end of the run, `Suspended` while it waits without a process, or `Running`
 * while it is at work and some of its calls, or messages to it, wait. `Option.none()` while it is at work and nothing waits. Fails with
 * `UnknownRunError` if there is no such run, and with `UnreadableStepError` if its stored end does not fit the schemas. With the storage of
 * a cluster in the context (`MessageStorage`), it fails with `RunLostError` if the row with the status is gone.
 */
export const poll = <Name extends string, Input extends AnyCodec, Output extends AnyCodec, E, R>(
  self: Durable<Name, Input, Output, E, R>,
  executionId: string
): Effect.Effect<
  Option.Option<Workflow.Complete<Output["Type"], E | ReplayError> | Unended<"Suspended"> | Unended<"Running">>,
  UnknownRunError | UnreadableStepError | DoorError.RunLostError,
  WorkflowEngine
> =>
  Effect.gen(function* () {
    const { workflow } = self
    const result = yield* Effect.catchDefect(workflow.poll(executionId), (defect) =>
      Schema.isSchemaError(defect)
        ? Effect.fail(
            UnreadableStepError.make({
              workflow: workflow._tag,
              executionId,
              step: "end",
              ...unreadable(Issue.fromSchema(defect.issue, undefined)[0])
            })
          )
        : Effect.die(defect)
    )
    if (Option.isNone(result)) {
      yield* demanding(workflow, executionId)
      const waiting = yield* waitingNow(self, executionId)
      return waiting.length === 0 ? Option.none() : Option.some({ _tag: "Running", waiting })
    }
    const { value } = result
    if (value._tag === "Complete") return Option.some(value)
    return Option.some({ _tag: value._tag, waiting: yield* waitingNow(self, executionId) })
  })

/** Resumes a waiting run at once. A run at work or at its end ignores it. Fails as `poll` does. */
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
 * Decides about a call that a run waits for. It returns whether the decision counts. The first decision about a request counts; a decision
 * that comes late, or after the end of the run, does not, nor one about something that the run has not asked. Fails if there is no such
 * run, or if it belongs to another workflow or version: then decide by that workflow.
 */
export const decide = (
  self: { readonly workflow: Workflow.Any },
  { executionId, request, workflow: startedAs }: DurableRequest,
  decision: Approval.Decision
): Effect.Effect<
  Approval.DecisionReceipt,
  UnknownRunError | OtherWorkflowError | DoorError.RunLostError,
  WorkflowEngine
> =>
  Effect.gen(function* () {
    const { workflow } = self
    if (startedAs !== workflow._tag) {
      return yield* Effect.fail(OtherWorkflowError.make({ workflow: workflow._tag, executionId, startedAs }))
    }
    yield* demanding(workflow, executionId)
    return yield* Approving.decide(workflow, executionId, request, decision)
  })

/**
 * Settles a deferred call of a durable run. It works in any process that has the workflow. The exit has the result or the failure of the
 * call, as a value or as the JSON of it: the `success` or `failure` schema of the tool decodes it. A misfit fails with a `SchemaError`, and
 * the call keeps waiting. The first settlement counts. The token is all that names the call: keep it from clients.
 */
export const settle = <Name extends string, Input extends AnyCodec, Output extends AnyCodec, E, R>(
  self: Durable<Name, Input, Output, E, R>,
  tool: Tool.AnyTool,
  token: string,
  exit: Exit.Exit<unknown, unknown>
): Effect.Effect<Tool.Receipt, UnknownRunError | DoorError.RunLostError | Schema.SchemaError, WorkflowEngine> =>
  Effect.gen(function* () {
    const { workflow } = self
    const { deferral, failure, success } = tool.definition
    if (deferral === undefined) return yield* Effect.die(new TypeError(`Tool '${tool.name}' is not a deferred tool`))
    const found = yield* deferral.storeOf(token)
    if (found === "bad-signature" || found === "unknown-token" || found.store === "") {
      return notCounted(found === "bad-signature" ? found : "unknown-token")
    }
    const { store } = found
    const settlement = yield* deferral.decode(exit)
    yield* demanding(workflow, store)
    // a run whose stored end cannot be read does not make this effect fail
    const end = yield* Effect.exit(workflow.poll(store))
    const isOver = Exit.isSuccess(end) && Option.isSome(end.value) && end.value.value._tag === "Complete"
    if (isOver) return notCounted("run-over")
    const id = `${yield* Random.nextInt}${yield* Random.nextInt}`
    const answer = yield* settleCall(workflow, store, token, { id, stored: { failure, success }, exit: settlement })
    return answer === "counted" ? { _tag: "Counted" } : notCounted(answer)
  })

const notCounted = (reason: Extract<Tool.Receipt, { readonly _tag: "NotCounted" }>["reason"]): Tool.Receipt => ({
  _tag: "NotCounted",
  reason
})
