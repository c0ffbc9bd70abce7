/** Policies around one model call, whole or streamed. A policy admits or refuses the call, and learns once how the call ended. */
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Model from "@kintsugi/core/Model"
import type * as Usage from "@kintsugi/core/Usage"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { onlyFailure } from "../transport/Failure.ts"

/** A model call that a policy may admit or refuse. */
export interface Call {
  readonly provider: string
  /** The model's name. */
  readonly model: string
  readonly request: Model.Request
}

/** How a model call ended, as policies learn it. Interruptions and defects are not reported, because they say nothing about the model. */
export type Ended =
  | { readonly as: "reply"; readonly usage: Usage.Usage }
  | { readonly as: "failure"; readonly error: LlmError.LlmError }
  /** A stream that ended without a finish part. */
  | { readonly as: "cut-off" }

/**
 * Admits a model call, at once or later, or refuses it. Resources that the policy holds for the call are released by the scope. The policy
 * returns a function that reports how the call ended; it is called at most once.
 */
export interface Policy {
  (call: Call): Effect.Effect<(ended: Ended) => Effect.Effect<void>, LlmError.LlmError, Scope.Scope>
}

export const nothingToTell = (): Effect.Effect<void> => Effect.void

/** How calls are grouped: calls with the same key share a circuit, a limit or a queue. */
export type By = "model" | "provider" | ((call: Call) => string | Effect.Effect<string>)

export const keyOf = (by: By | undefined, call: Call): Effect.Effect<string> => {
  if (by === undefined || by === "model") return Effect.succeed(`${call.provider}/${call.model}`)
  if (by === "provider") return Effect.succeed(call.provider)
  return Effect.suspend(() => {
    const key = by(call)
    return Effect.isEffect(key) ? key : Effect.succeed(key)
  })
}

/** Combines policies: they admit a call in the given order, and learn its end in reverse order. */
export const all =
  (policies: ReadonlyArray<Policy>): Policy =>
  (call) =>
    Effect.map(
      Effect.forEach(policies, (policy) => policy(call)),
      (tellings) => (ended) => Effect.forEach(tellings.toReversed(), (tell) => tell(ended), { discard: true })
    )

/** Wraps a model so that `policy` admits each of its calls. */
export const surrounding = (policy: Policy): Model.Surrounding => {
  const admitted = (request: Model.Request, { name, provider }: Model.Service) =>
    Effect.map(policy({ provider, model: name, request }), (tell) => {
      let isOver = false
      return (ended: Ended): Effect.Effect<void> => {
        if (isOver) return Effect.void
        isOver = true
        return tell(ended)
      }
    })
  return {
    generate: (reply, request, model) =>
      Effect.scoped(
        Effect.flatMap(admitted(request, model), (tell) =>
          Effect.onExit(reply, (exit) =>
            Exit.isSuccess(exit) ? tell({ as: "reply", usage: exit.value.usage }) : failed(exit.cause, tell)
          )
        )
      ),
    stream: (streamed, request, model) =>
      Stream.unwrap(
        Effect.map(admitted(request, model), (tell) =>
          streamed.pipe(
            Stream.mapArrayEffect((parts) => {
              // a reader may stop after the finish part, so the end of the call is reported with that part
              const end = parts.find((part) => part.type === "finish")
              return end === undefined
                ? Effect.succeed(parts)
                : Effect.as(tell({ as: "reply", usage: end.usage }), parts)
            }),
            Stream.onEnd(Effect.suspend(() => tell({ as: "cut-off" }))),
            Stream.tapCause((cause) => failed(cause, tell))
          )
        )
      )
  }
}

/** Reports the failure of a call to the policy. A budget error of the run is not reported, because it says nothing about the model. */
const failed = (
  cause: Cause.Cause<LlmError.LlmError>,
  tell: (ended: Ended) => Effect.Effect<void>
): Effect.Effect<void> => {
  const error = onlyFailure(cause)
  return LlmError.isLlmError(error) ? tell({ as: "failure", error }) : Effect.void
}
