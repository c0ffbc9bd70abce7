/** What a transport does about the failures of its requests: it sends again, or answers, by a table as every layer has one. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Driver from "../recovery/Driver.ts"
import { rowOf } from "../recovery/Layer.ts"
import type * as Recovery from "../recovery/Recovery.ts"

/** Whether transports send again by themselves: `"off"` within a table that takes their place. */
export const Resending = Context.Reference<"on" | "off">("@kintsugi/core/Model/Resending", { defaultValue: () => "on" })

/** The same effect, within which no transport sends again by itself. */
export const sendingOnce = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(self, Resending, "off")

/** A request that failed, and whether the same request may be sent again. */
export interface Unsent {
  readonly error: LlmError
  readonly resend: boolean
}

/** A request, and how it is sent again. */
export interface Sending<A, R> {
  readonly attempt: Effect.Effect<A, Unsent, R>
  readonly rows: Recovery.Rows
  /** The instant after which nothing is sent. */
  readonly deadline: number
  /** What stands for a reply that no server gave. */
  readonly given: (reply: Message.Reply) => A
}

/**
 * Sends, and follows the table on failure. What may not be sent again is not, whatever its row says, and `orElse` does not see it. A
 * send that the run has no time for ends the run.
 */
export const resending = <A, R>({ attempt, deadline, given, rows }: Sending<A, R>): Effect.Effect<A, LlmError, R> =>
  Effect.flatMap(RunContext.Current, (run) => {
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
        left: ({ error, isLate }) =>
          isLate === true && run !== undefined && ofRun <= deadline
            ? RunContext.endOfTime(run)
            : Effect.fail(error as LlmError)
      }
    }))
  })
