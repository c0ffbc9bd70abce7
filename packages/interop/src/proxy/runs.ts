/** What is served: the runs of an agent, each with its subject. There is one implementation in memory, and one over durable runs. */
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Stream from "effect/Stream"
import type { AgentEvent, Approval, Message, Tool } from "@kintsugi/core"
import type * as Errors from "./errors.ts"
import type { Ending } from "./schemas.ts"

/** A run of a subject. */
export interface Of {
  readonly subject: string
  readonly run: string
}

type NotFound = Errors.RunNotFoundError
type Failed<E> = E | Errors.RunFailedError

/**
 * The runs of an agent. A run goes on without the client that started it: a client that leaves stops nothing, and comes back with the id of
 * the run. A run of another subject is unknown.
 */
export interface AgentRuns<in Input, out Output, out E> {
  /**
   * Starts a run and returns its id, without waiting for its end. With the id of a run that the subject has started before, it starts none: it
   * fails if that run has another input.
   */
  readonly start: (asked: {
    readonly subject: string
    readonly run?: string
    readonly input: Input
  }) => Effect.Effect<string, Errors.TooBusyError | Errors.RunConflictError | Failed<E>>
  /** Waits until the run is over, or waits for a decision or a result. */
  readonly end: (of: Of) => Effect.Effect<Ending<Output>, NotFound | Errors.RunConflictError | Failed<E>>
  /** The same at once: `undefined` while the run is at work. */
  readonly show: (of: Of) => Effect.Effect<Ending<Output> | undefined, NotFound | Errors.RunConflictError | Failed<E>>
  /** The events of the run, from the beginning or after a cursor. A reader that leaves stops nothing. */
  readonly events: (
    of: Of & { readonly after?: string }
  ) => Effect.Effect<
    Stream.Stream<AgentEvent.AgentEvent, Errors.RunFailedError>,
    NotFound | Errors.UnfitRequestError | Errors.RunFailedError
  >
  /** Decides about calls that the run waits for, and waits as `end` does. */
  readonly decide: (
    of: Of & { readonly decisions: ReadonlyArray<Approval.Decided> }
  ) => Effect.Effect<
    Ending<Output>,
    NotFound | Errors.RunConflictError | Errors.TooBusyError | Errors.UnfitRequestError | Failed<E>
  >
  /**
   * Settles a deferred call of the run by its token, and returns whether the settlement counts. It is for the server alone, such as the
   * webhook of a service: clients have no token. A run in memory that waits goes on, and the receipt comes at its end.
   */
  readonly settle: (
    of: Of & { readonly tool: Tool.AnyTool; readonly token: string; readonly exit: Exit.Exit<unknown, unknown> }
  ) => Effect.Effect<Tool.Receipt, NotFound | Errors.TooBusyError | Errors.UnfitRequestError | Errors.RunFailedError>
  /** Says something to the run. It reads the message at its next safe point. */
  readonly say: (
    of: Of & { readonly message: string | Message.UserContent; readonly id?: string; readonly supersede?: boolean }
  ) => Effect.Effect<void, NotFound | Errors.RunConflictError | Errors.TooBusyError | Failed<E>>
  /** Stops the run. A run that is over ignores it. */
  readonly stop: (of: Of) => Effect.Effect<void, NotFound | Failed<E>>
}
