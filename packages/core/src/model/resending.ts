/** Applies a recovery table to the requests of a transport, to resend a request or to answer in its place. */
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

/**
 * Whether transports resend requests by themselves; implementers of a transport read it. A table that replaces these retries sets `"off"`.
 */
export const Resending = Context.Reference<"on" | "off">("@kintsugi/core/Model/Resending", { defaultValue: () => "on" })

/**
 * Runs an effect in which no transport resends a request.
 *
 * @internal
 */
export const sendingOnce = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(self, Resending, "off")

/**
 * A recovery table for the requests of a transport. Its answers are replies, and it needs no services.
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

/** A failed request, and whether it may be sent again. */
type Unsent = {
  readonly error: LlmError
  readonly resend: boolean
}

/** A request, and its limits. */
type Sending<A, R> = {
  readonly attempt: Effect.Effect<A, Unsent, R>
  /** The instant after which no request is sent, in milliseconds since the epoch. */
  readonly deadline: number
  /** Makes the result from a reply that a row gave in place of the server. */
  readonly given: (reply: Message.Reply) => A
}

/**
 * Sends a request, and applies a table to its failures. Implementers of a transport use it. A request that must not be resent is never
 * resent, even if its row is a `retry`, and `orElse` does not see its failure. If the next send would pass the deadline of the run, the run
 * ends. Throws a `TypeError` for a value that is no row.
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
  // Mutant `true` survives: a failed attempt sets it before its row is sought
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
      // the types of a table for transports allow only replies as answers
      answered: ({ value }) => Effect.succeed(given(value as Message.Reply)),
      // the rows of such a table fail with `LlmError`s only, by their types
      left: ({ error, isLate }, { trail }) =>
        // Mutant `true` for `run !== undefined` survives: without a run, only the send has a deadline
        isLate === true && run !== undefined && ofRun <= deadline
          ? RunContext.endOfTime(run, { cause: error, trail: trailOf(trail) })
          : Effect.fail(error as LlmError)
    }
  }))
}
