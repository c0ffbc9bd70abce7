/** Durable runs. `AgentProxyServer` serves them; they go on in any process. Also a store of runs that wait, in `Conversations`. */
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { KintsugiError } from "@kintsugi/core"
import type * as DoorError from "@kintsugi/core/DoorError"
import * as Durable from "@kintsugi/durable/Durable"
import { Conversations } from "@kintsugi/durable/Conversations"
import type { AgentProxy, RunsOf } from "./AgentProxy.ts"
import {
  failedInside,
  RunConflictError,
  runFailed,
  type RunFailedError,
  RunNotFoundError,
  TooBusyError
} from "./errors.ts"
import { eventsAt } from "./events.ts"
import { drawn, failureOf, notCounted, pause, refusalOf } from "./ends.ts"
import type { AgentRuns, Of } from "./runs.ts"
import { type Ending, shown } from "./schemas.ts"
import { type SuspendedKey, SuspendedRuns } from "./suspended.ts"

/** How often the end of a run is looked for: after 100 ms at first, and every 2 s at last. */
const looking = Schedule.min([Schedule.exponential("100 millis", 1.5), Schedule.spaced("2 seconds")])

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
      const Ids = Workflow.make(workflow._tag, {
        payload: { id: Schema.String },
        idempotencyKey: ({ id }) => id
      })
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

      const polled = (of: Of) =>
        Effect.flatMap(executionOf(of), (executionId) => here(refusing(of.run, Durable.poll(durable, executionId))))

      const endOf = (
        run: string,
        found: Effect.Success<ReturnType<typeof polled>>
      ): Effect.Effect<Ending<O> | undefined, RunConflictError | RunFailedError | E> =>
        Effect.gen(function* () {
          if (Option.isNone(found)) return undefined
          const { value } = found
          if (value._tag === "Complete") {
            if (Exit.isFailure(value.exit)) {
              const failure = yield* failureOf(run, value.exit.cause)
              // cast: what is no error of this library is one of the contract
              return yield* Effect.fail(failure as E | RunConflictError | RunFailedError)
            }
            return { _tag: "Answered" as const, run, output: value.exit.value }
          }
          const { waiting } = value
          // a run that waits for a time only, or whose calls are at work, is at work
          const isWaiting = value._tag === "Suspended" && waiting.some(({ type }) => type !== "message")
          return isWaiting ? { _tag: "Waiting" as const, run, waiting: shown(waiting) } : undefined
        })

      const show = (of: Of) => Effect.flatMap(polled(of), (found) => endOf(of.run, found))

      const end = (of: Of): Effect.Effect<Ending<O>, Effect.Error<ReturnType<typeof show>>> =>
        Effect.flatMap(
          Effect.repeat(show(of), { schedule: looking, until: (ending) => ending !== undefined }),
          (ending) => (ending === undefined ? end(of) : Effect.succeed(ending))
        )

      /** The requests that a run waits for. A run that waits for none is at work or over. */
      const requestsOf = (of: Of) =>
        Effect.gen(function* () {
          const { run } = of
          const found = yield* polled(of)
          if (Option.isNone(found)) return yield* Effect.fail(new RunConflictError({ run, reason: "at-work" }))
          if (found.value._tag === "Complete") return yield* Effect.fail(new RunConflictError({ run, reason: "over" }))
          return shown(found.value.waiting)
        })

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
        end,
        show,
        events: ({ after, ...of }) =>
          Effect.gen(function* () {
            const executionId = yield* executionOf(of)
            const read = (options: { readonly after?: string; readonly onGap: "state" }) =>
              Stream.provideService(Durable.events(durable, executionId, options), WorkflowEngine, engine)
            // an unknown run has no events
            yield* polled(of)
            const events = yield* Effect.mapError(eventsAt(of.run, after, read), (error) =>
              isStored(error) ? failedStored(error) : error
            )
            return Stream.mapError(events, failedStored)
          }),
        decide: ({ decisions, ...of }) =>
          Effect.gen(function* () {
            const { run } = of
            const waiting = yield* requestsOf(of)
            const requests = new Map(
              waiting.flatMap((one) =>
                one.type === "approval" || one.type === "ask" ? [[one.request.digest, one.request] as const] : []
              )
            )
            const executionId = yield* executionOf(of)
            const unknown = decisions.filter(({ digest }) => !requests.has(digest))
            const receipts =
              unknown.length > 0
                ? unknown.map(({ digest }) => notCounted(digest))
                : yield* Effect.forEach(decisions, ({ decision, digest }) => {
                    const request = requests.get(digest)
                    if (request === undefined) return Effect.succeed(notCounted(digest))
                    const asked = { workflow: workflow._tag, executionId, request }
                    return here(refusing(run, Durable.decide(durable, asked, decision)))
                  })
            const refusal = refusalOf(run, receipts, waiting)
            return refusal === undefined ? yield* end(of) : yield* Effect.fail(refusal)
          }),
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

/** The failures of functions of `Durable`. */
type Stored =
  | Durable.OtherWorkflowError
  | Durable.UnknownRunError
  | Durable.UnreadableStepError
  | DoorError.CursorExpiredError
  | DoorError.InboxFullError
  | DoorError.RunLostError
  | DoorError.RunOverError

/** What a client learns of a failure of `Durable`. */
const refusing = <A, E extends Stored, R>(run: string, self: Effect.Effect<A, E, R>): Effect.Effect<A, Refused<E>, R> =>
  Effect.mapError(self, (error) => {
    const stored: Stored = error
    // casts: the type `Refused` says the same
    if (stored._tag === "UnknownRunError") return new RunNotFoundError({ run }) as Refused<E>
    if (stored._tag === "RunOverError") return new RunConflictError({ run, reason: "over" }) as Refused<E>
    if (stored._tag === "InboxFullError") return new TooBusyError({ retryAfter: pause }) as Refused<E>
    return failedStored(stored) as Refused<E>
  })

type Refused<E> = E extends Durable.UnknownRunError
  ? RunNotFoundError
  : E extends DoorError.RunOverError
    ? RunConflictError
    : E extends DoorError.InboxFullError
      ? TooBusyError
      : RunFailedError

const isStored = <A>(error: A | Stored): error is Stored =>
  typeof error === "object" && error !== null && "code" in error

/** A failure of the storage of a run. Only the server may read its details, which name the workflow. */
const failedStored = (error: Stored): RunFailedError =>
  KintsugiError.isKintsugiError(error) ? runFailed(error) : failedInside(error.code)

/**
 * Runs that wait, in `Conversations`. Runs in memory outlive their process by it. The documents of a subject are
 * those of the owner `runs/["<agent>","<subject>"]`.
 */
export const layerSuspended: Layer.Layer<SuspendedRuns, never, Conversations> = Layer.effect(
  SuspendedRuns,
  Effect.map(Conversations, ({ documents }) => {
    const kind = "suspended"
    const ownerOf = ({ agent, subject }: Omit<SuspendedKey, "run">): string =>
      `runs/${JSON.stringify([agent, subject])}`
    const read = (value: Schema.Json) => Effect.orDie(decodeRun(value))
    return {
      put: (key, run) => Effect.orDie(documents.put({ owner: ownerOf(key), kind, name: key.run, value: { ...run } })),
      get: (key) =>
        Effect.flatMap(Effect.orDie(documents.get({ owner: ownerOf(key), kind, name: key.run })), (value) =>
          value === undefined ? Effect.undefined : read(value)
        ),
      remove: (key) => Effect.orDie(documents.remove({ owner: ownerOf(key), kind, name: key.run })),
      list: (of) =>
        Effect.flatMap(Effect.orDie(documents.all({ owner: ownerOf(of), kind })), (found) =>
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
