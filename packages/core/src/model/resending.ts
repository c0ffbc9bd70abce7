/** A transport handles the failures of its requests by a table, as every layer does: it resends or answers. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import { trailOf } from "../recovery/VerdictTrail.ts"
import * as Driver from "../recovery/Driver.ts"
import { rowOf } from "../recovery/Layer.ts"
import * as Recovery from "../recovery/Recovery.ts"
import type { Rows } from "../recovery/Node.ts"

/** Whether transports resend by themselves. A table that replaces their retries sets `"off"`. Transports read it. */
export const Resending = Context.Reference<"on" | "off">("@kintsugi/core/Model/Resending", { defaultValue: () => "on" })

/**
 * The same effect, within which no transport resends by itself.
 *
 * @internal
 */
export const sendingOnce = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(self, Resending, "off")

/**
 * A table for the requests of a transport: it answers with replies, and needs nothing.
 *
 * @hidden
 */
export type TransportRows = {
  readonly [K in LlmError["_tag"] | "orElse"]?: TransportRow<
    K extends "orElse" ? LlmError : Extract<LlmError, { readonly _tag: K }>
  >
}

type TransportRow<E> =
  | Recovery.Verdict<E, Message.Reply, LlmError, never, "exhausted" | "rethrow", "repeats">
  | Schedule.Schedule<unknown, E, LlmError>
  | ((
      error: E,
      context: Recovery.FailureContext
    ) =>
      | Effect.Effect<Message.Reply, LlmError>
      | Recovery.Verdict<E, Message.Reply, LlmError, never, "exhausted" | "rethrow", "repeats">)

/** A request that failed, and whether the same request may be sent again. */
type Unsent = {
  readonly error: LlmError
  readonly resend: boolean
}

/** A request, and what bounds it. */
type Sending<A, R> = {
  readonly attempt: Effect.Effect<A, Unsent, R>
  /** The instant after which nothing is sent, in milliseconds since the epoch. */
  readonly deadline: number
  /** Makes the result from a reply that no server gave. */
  readonly given: (reply: Message.Reply) => A
}

/**
 * Sends a request, and follows a table on failure. Implementers of a transport use it. A request that must not be resent is not resent,
 * even if its row says so, and `orElse` does not see it. A send that the run has no time for ends the run. Throws a `TypeError` for a value
 * that is no row.
 */
export const resending = (table: TransportRows): (<A, R>(sending: Sending<A, R>) => Effect.Effect<A, LlmError, R>) => {
  const rows = Recovery.rowsOf(table, "a send")
  return (sending) => Effect.flatMap(RunContext.Current, (run) => driven(rows, sending, run))
}

const driven = <A, R>(
  rows: Rows,
  { attempt, deadline, given }: Sending<A, R>,
  run: RunContext.RunContext | undefined
): Effect.Effect<A, LlmError, R> => {
  let mayResend = false
  const bounds = RunContext.bounds(run)
  const ofRun = bounds.deadline()
  return Driver.drive<A, A, LlmError, R>(() => ({
    attempt: () =>
      Effect.mapError(attempt, ({ error, resend }) => {
        mayResend = resend
        return error
      }),
    row: (error) => {
      const row = rowOf(rows, error, () => mayResend)
      return row?.key === "orElse" && !mayResend ? undefined : row
    },
    repairs: {},
    bounds: { ...bounds, deadline: () => Math.min(ofRun, deadline) },
    observe: (decision) => RunContext.emit(run, () => ({ type: "verdict", layer: "transport", ...decision })),
    end: {
      succeeded: Effect.succeed,
      // a table of a transport answers with replies, by its type
      answered: ({ value }) => Effect.succeed(given(value as Message.Reply)),
      // rows of a transport fail with failures of models alone, by their type
      left: ({ error, isLate }, { trail }) =>
        isLate === true && run !== undefined && ofRun <= deadline
          ? RunContext.endOfTime(run, { cause: error, trail: trailOf(trail) })
          : Effect.fail(error as LlmError)
    }
  }))
}
