/** Durable runs by their execution ids, as the clients of a proxy see them. */
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type AgentEvent, type Approval, KintsugiError } from "@kintsugi/core"
import type * as DoorError from "@kintsugi/core/DoorError"
import * as Durable from "@kintsugi/durable/Durable"
import { failureOf, notCounted, pause, refusalOf } from "./ends.ts"
import {
  failedInside,
  RunConflictError,
  runFailed,
  type RunFailedError,
  RunNotFoundError,
  TooBusyError,
  type UnfitRequestError
} from "./errors.ts"
import { eventsAt } from "./events.ts"
import { type Ending, shown } from "./schemas.ts"

/** How often the end of a run is looked for: after 100 ms at first, and every 2 s at last. */
export const looking = Schedule.min([Schedule.exponential("100 millis", 1.5), Schedule.spaced("2 seconds")])

/** A durable run. `run` is the id that its clients know. */
export interface Execution {
  readonly run: string
  readonly executionId: string
}

type Failure<E> = RunConflictError | RunFailedError | E
/** The failures of an agent that are none of this library. */
type Own<E> = Exclude<E, KintsugiError.KintsugiError>
type Found<E> = RunNotFoundError | RunFailedError | E

/** The runs of one workflow, on an engine. */
export interface Executions<Output, E> {
  /** Whether the run is of this workflow. */
  readonly has: (of: Execution) => Effect.Effect<boolean>
  /** Where the run has ended or waits; `undefined` while it is at work. */
  readonly show: (of: Execution) => Effect.Effect<Ending<Output> | undefined, Found<E> | RunConflictError>
  /** Waits for that. */
  readonly end: (of: Execution) => Effect.Effect<Ending<Output>, Found<E> | RunConflictError>
  readonly events: (
    of: Execution & { readonly after?: string }
  ) => Effect.Effect<Stream.Stream<AgentEvent.AgentEvent, RunFailedError>, Found<UnfitRequestError>>
  readonly decide: (
    of: Execution & { readonly decisions: ReadonlyArray<Approval.Decided> }
  ) => Effect.Effect<Ending<Output>, Found<E> | RunConflictError | UnfitRequestError>
}

type AnyCodec = Schema.Codec<unknown, unknown>

export const executionsOf = <Tag extends string, Input extends AnyCodec, Output extends AnyCodec, E, R>(
  durable: Durable.Durable<Tag, Input, Output, E, R>,
  engine: WorkflowEngine["Service"]
): Executions<Output["Type"], Own<E>> => {
  const { workflow } = durable
  const here = <A, Failed>(self: Effect.Effect<A, Failed, WorkflowEngine>) =>
    Effect.provideService(self, WorkflowEngine, engine)

  const polled = ({ executionId, run }: Execution) => here(refusing(run, Durable.poll(durable, executionId)))

  const endOf = (
    run: string,
    found: Effect.Success<ReturnType<typeof polled>>
  ): Effect.Effect<Ending<Output["Type"]> | undefined, Failure<Own<E>>> =>
    Effect.gen(function* () {
      if (Option.isNone(found)) return undefined
      const { value } = found
      if (value._tag === "Complete") {
        if (Exit.isFailure(value.exit)) {
          const failure = yield* failureOf(run, value.exit.cause)
          // cast: what is no error of this library is one of the contract
          return yield* Effect.fail(failure as Failure<Own<E>>)
        }
        return { _tag: "Answered" as const, run, output: value.exit.value }
      }
      const { waiting } = value
      // a run that waits for a time only, or whose calls are at work, is at work
      const isWaiting = value._tag === "Suspended" && waiting.some(({ type }) => type !== "message")
      return isWaiting ? { _tag: "Waiting" as const, run, waiting: shown(waiting) } : undefined
    })

  const show = (of: Execution) => Effect.flatMap(polled(of), (found) => endOf(of.run, found))

  const end: Executions<Output["Type"], Own<E>>["end"] = (of) =>
    Effect.flatMap(Effect.repeat(show(of), { schedule: looking, until: (ending) => ending !== undefined }), (ending) =>
      ending === undefined ? end(of) : Effect.succeed(ending)
    )

  /** The requests that a run waits for. A run that waits for none is at work or over. */
  const requestsOf = (of: Execution) =>
    Effect.gen(function* () {
      const { run } = of
      const found = yield* polled(of)
      if (Option.isNone(found)) return yield* Effect.fail(new RunConflictError({ run, reason: "at-work" }))
      if (found.value._tag === "Complete") return yield* Effect.fail(new RunConflictError({ run, reason: "over" }))
      return shown(found.value.waiting)
    })

  return {
    has: (of) =>
      Effect.match(polled(of), { onSuccess: () => true, onFailure: (error) => error._tag !== "RunNotFoundError" }),
    show,
    end,
    events: ({ after, ...of }) =>
      Effect.gen(function* () {
        const read = (options: { readonly after?: string; readonly onGap: "state" }) =>
          Stream.provideService(Durable.events(durable, of.executionId, options), WorkflowEngine, engine)
        // an unknown run has no events
        yield* polled(of)
        const events = yield* Effect.mapError(eventsAt(of.run, after, read), (error) =>
          isStored(error) ? failedStored(error) : error
        )
        return Stream.mapError(events, failedStored)
      }),
    decide: ({ decisions, ...of }) =>
      Effect.gen(function* () {
        const { executionId, run } = of
        const waiting = yield* requestsOf(of)
        const requests = new Map(
          waiting.flatMap((one) =>
            one.type === "approval" || one.type === "ask" ? [[one.request.digest, one.request] as const] : []
          )
        )
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
      })
  }
}

/** The runs of several versions of a workflow. A run that none of them has is unknown to the first. */
export const versionsOf = <Output, E>(
  first: Executions<Output, E>,
  ...others: ReadonlyArray<Executions<Output, E>>
): Executions<Output, E> => {
  const at = (of: Execution) =>
    Effect.map(
      Effect.findFirst(others, (one) => one.has(of)),
      Option.getOrElse(() => first)
    )
  return {
    has: (of) => Effect.flatMap(at(of), (runs) => runs.has(of)),
    show: (of) => Effect.flatMap(at(of), (runs) => runs.show(of)),
    end: (of) => Effect.flatMap(at(of), (runs) => runs.end(of)),
    events: (of) => Effect.flatMap(at(of), (runs) => runs.events(of)),
    decide: (of) => Effect.flatMap(at(of), (runs) => runs.decide(of))
  }
}

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
export const refusing = <A, E extends Stored, R>(
  run: string,
  self: Effect.Effect<A, E, R>
): Effect.Effect<A, Refused<E>, R> => Effect.mapError(self, (error) => failureTo(run, error))

export const failureTo = <E extends Stored>(run: string, error: E): Refused<E> => {
  const stored: Stored = error
  // casts: the type `Refused` says the same
  if (stored._tag === "UnknownRunError") return new RunNotFoundError({ run }) as Refused<E>
  if (stored._tag === "RunOverError") return new RunConflictError({ run, reason: "over" }) as Refused<E>
  if (stored._tag === "InboxFullError") return new TooBusyError({ retryAfter: pause }) as Refused<E>
  return failedStored(stored) as Refused<E>
}

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
