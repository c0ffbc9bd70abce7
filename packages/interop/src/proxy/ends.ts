/** What runs of both kinds have in common: their ids, and what their clients learn of a failure. */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import { type Approval, KintsugiError, type Snapshot } from "@kintsugi/core"
import { failedInside, RunConflictError, runFailed, type RunFailedError, UnfitRequestError } from "./errors.ts"

/** How long a client should wait when the server or a run is too busy, in seconds. */
export const pause = 5

type Failure = RunConflictError | RunFailedError

/** The failure of a request whose decisions do not all count; `undefined` if they do. */
export const refusalOf = (
  run: string,
  receipts: ReadonlyArray<Approval.DecisionReceipt>,
  waiting: ReadonlyArray<Snapshot.Waiting>
): RunConflictError | UnfitRequestError | undefined => {
  const refused = receipts.flatMap((receipt) => (receipt._tag === "NotCounted" ? [receipt] : []))
  if (refused.length === 0) return undefined
  const unfit = refused.filter(({ reason }) => reason === "nothing-to-run")
  // beside a decision that counts, something may have begun
  if (unfit.length < receipts.length) return new RunConflictError({ run, reason: "not-counted", receipts, waiting })
  return new UnfitRequestError({
    issues: unfit.map(({ digest }) => ({ path: `decisions.${digest}`, expected: "Expected arguments that fit" }))
  })
}

export const notCounted = (digest: string): Approval.DecisionReceipt => ({
  _tag: "NotCounted",
  digest,
  reason: "unknown-request"
})

/** What a client learns of the failure of a run. A bug is logged here, and its client learns only that there was one. */
export const failureOf = <E>(
  run: string,
  cause: Cause.Cause<E>
): Effect.Effect<Failure | Exclude<E, KintsugiError.KintsugiError>> => {
  for (const reason of cause.reasons) {
    if (Cause.isDieReason(reason)) {
      return Effect.as(Effect.logError("a run has met a bug", ErrorCause.logged(cause)), failedInside("KINTSUGI-BUG"))
    }
    if (Cause.isFailReason(reason)) {
      const { error } = reason
      if (KintsugiError.isKintsugiError(error)) return Effect.succeed(runFailed(error))
      const code = codeOf(error)
      return code === undefined
        ? // cast: what is no error of this library is one of the agent
          Effect.succeed(error as Exclude<E, KintsugiError.KintsugiError>)
        : Effect.as(Effect.logError("a run has failed inside", ErrorCause.logged(cause)), failedInside(code))
    }
  }
  return Effect.succeed(new RunConflictError({ run, reason: "stopped" }))
}

/** The code of an error of this library that says what is stored, which is for the server alone. */
const codeOf = (error: unknown): string | undefined => {
  const code = Predicate.isObject(error) ? Reflect.get(error, "code") : undefined
  return typeof code === "string" && code.startsWith("KINTSUGI-") ? code : undefined
}

/** The id of a run: some 100 bits. Of another subject, it would find nothing. */
export const drawn: Effect.Effect<string> = Effect.map(Effect.zip(Random.nextInt, Random.nextInt), (parts) =>
  parts.map((part) => Math.abs(part).toString(36)).join("")
)
