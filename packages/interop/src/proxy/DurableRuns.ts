/** Durable runs. `AgentProxyServer` serves them; they go on in any process. Also a store of runs that wait, in `Conversations`. */
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { KintsugiError } from "@kintsugi/core"
import * as Durable from "@kintsugi/durable/Durable"
import { Conversations } from "@kintsugi/durable/Conversations"
import type { AgentProxy, RunsOf } from "./AgentProxy.ts"
import { drawn } from "./ends.ts"
import { RunConflictError } from "./errors.ts"
import { type Execution, type Executions, executionsOf, failureTo, refusing } from "./executions.ts"
import type { AgentRuns, Of } from "./runs.ts"
import { type SuspendedKey, SuspendedRuns } from "./suspended.ts"
import { unfitOf } from "./unfit.ts"

/** Hashes an id as the executions of a workflow are. */
const idsOf = (name: string) => Workflow.make(name, { payload: { id: Schema.String }, idempotencyKey: ({ id }) => id })

const Hashed = idsOf("runs")

/** The input with which a run was started: the first one counts. */
const Asked = DurableDeferred.make("proxy/asked", { success: Schema.String })

/**
 * Runs as workflows. The execution id is made of the subject and the id of the run. The workflow must have `inbox: true` for messages to its runs,
 * and its events for `events` and `stream`. The end of a run is looked for every 2 seconds at least.
 */
export const layer = <
  const Name extends string,
  I,
  O,
  E,
  Tag extends string,
  Input extends Schema.Codec<I, unknown>,
  Output extends Schema.Codec<O, unknown>,
  Failure extends E | KintsugiError.KintsugiError,
  R
>(
  self: AgentProxy<Name, I, O, E>,
  durable: Durable.Durable<Tag, Input, Output, Failure, R>
): Layer.Layer<RunsOf<Name>, never, WorkflowEngine> =>
  Layer.effect(
    self.runs,
    Effect.map(WorkflowEngine, (engine) => {
      const { workflow } = durable
      const encode = Schema.encodeEffect(Schema.toCodecJson(self.input))
      const idOf = ({ run, subject }: Of): string => JSON.stringify([subject, run])
      /** The same execution ids, without an input. */
      const Ids = idsOf(workflow._tag)
      const executionOf = (of: Of) => Ids.executionId({ id: idOf(of) })

      /** Stores the input of a run, unless it has one, and returns the one that it has. */
      const askedOf = (executionId: string, asked: string) =>
        Effect.gen(function* () {
          const token = DurableDeferred.tokenFromExecutionId(Asked, { workflow, executionId })
          yield* DurableDeferred.succeed(Asked, { token, value: asked })
          const stored = yield* Effect.provideService(
            engine.deferredResult(Asked),
            WorkflowInstance,
            WorkflowInstance.initial(workflow, executionId)
          )
          return Option.isSome(stored) && Exit.isSuccess(stored.value) ? stored.value.value : asked
        })

      const here = <A, Failure>(self: Effect.Effect<A, Failure, WorkflowEngine>) =>
        Effect.provideService(self, WorkflowEngine, engine)
      // cast: the schemas and errors of the workflow fit those of the contract
      const executions = executionsOf(durable as never, engine) as Executions<O, E>
      /** Finds the execution of a request, and passes the request on. */
      const found =
        <Request extends Execution, A, Failed>(use: (of: Request) => Effect.Effect<A, Failed>) =>
        (of: Of & Omit<Request, keyof Execution>) =>
          // cast: a spread of a type parameter
          Effect.flatMap(executionOf(of), (executionId) => use({ ...of, executionId } as never))

      const runs: AgentRuns<I, O, E> = {
        start: ({ input, run: given, subject }) =>
          Effect.gen(function* () {
            const run = given ?? (yield* drawn)
            const of = { subject, run }
            const asked = JSON.stringify(yield* Effect.orDie(encode(input)))
            if ((yield* askedOf(yield* executionOf(of), asked)) !== asked) {
              return yield* Effect.fail(new RunConflictError({ run, reason: "other-input" }))
            }
            // cast: the payload of the workflow has this input
            yield* Effect.orDie(Durable.start(durable, { id: idOf(of), input } as never))
            return run
          }).pipe(here),
        end: found(executions.end),
        show: found(executions.show),
        events: found(executions.events),
        decide: found(executions.decide),
        settle: ({ exit, token, tool, ...of }) =>
          Effect.gen(function* () {
            const executionId = yield* executionOf(of)
            const found = yield* tool.definition.deferral?.storeOf(token) ?? Effect.undefined
            // a token of another run settles nothing of this one, and nothing of the other
            const isOther = Predicate.isObject(found) && found.store !== executionId
            if (isOther) return { _tag: "NotCounted" as const, reason: "unknown-token" as const }
            return yield* Effect.mapError(Durable.settle(durable, tool, token, exit), (error) =>
              Schema.isSchemaError(error) ? unfitOf(error) : failureTo(of.run, error)
            )
          }).pipe(here),
        say: ({ id, message, supersede = false, ...of }) =>
          Effect.gen(function* () {
            const executionId = yield* executionOf(of)
            const said = { executionId, id: id ?? (yield* drawn), message, supersede }
            yield* here(refusing(of.run, Durable.say(durable, said)))
          }),
        stop: (of) =>
          Effect.flatMap(executionOf(of), (executionId) =>
            here(refusing(of.run, Durable.interrupt(durable, executionId)))
          )
      }
      return runs
    })
  )

/**
 * Runs that wait, in `Conversations`. Runs in memory outlive their process by it. The documents of a subject are
 * those of the owner `runs/["<agent>","<subject>"]`, or `runs/[<hash>]` if the two are too long for an id, and belong to no conversation: `exportSubject` and `removeSubject` leave them.
 */
export const layerSuspended: Layer.Layer<SuspendedRuns, never, Conversations> = Layer.effect(
  SuspendedRuns,
  Effect.map(Conversations, ({ documents }) => {
    const kind = "suspended"
    /** Names that are no id of the store are hashed: it takes 250 characters, without control characters. */
    const ownerOf = ({ agent, subject }: Omit<SuspendedKey, "run">): Effect.Effect<string> => {
      const id = JSON.stringify([agent, subject])
      if (/^\P{Cc}{1,240}$/u.test(id)) return Effect.succeed(`runs/${id}`)
      return Effect.map(Hashed.executionId({ id }), (hash) => `runs/[${hash}]`)
    }
    const keyOf = (key: SuspendedKey) => Effect.map(ownerOf(key), (owner) => ({ owner, kind, name: key.run }))
    const read = (value: Schema.Json) => Effect.orDie(decodeRun(value))
    return {
      put: (key, run) => Effect.flatMap(keyOf(key), (at) => Effect.orDie(documents.put({ ...at, value: { ...run } }))),
      get: (key) =>
        Effect.flatMap(
          Effect.flatMap(keyOf(key), (at) => Effect.orDie(documents.get(at))),
          (value) => (value === undefined ? Effect.undefined : read(value))
        ),
      remove: (key) => Effect.flatMap(keyOf(key), (at) => Effect.orDie(documents.remove(at))),
      list: (of) =>
        Effect.flatMap(
          Effect.flatMap(ownerOf(of), (owner) => Effect.orDie(documents.all({ owner, kind }))),
          (found) =>
            Effect.forEach(found, ({ name, value }) => Effect.map(read(value), (run) => ({ ...run, run: name })))
        )
    }
  })
)

const decodeRun = Schema.decodeUnknownEffect(
  Schema.Struct({
    asked: Schema.String,
    snapshot: Schema.Json,
    repeat: Schema.Boolean,
    said: Schema.optionalKey(Schema.Array(Schema.String))
  })
)
