/** One guarded model call, whole or streamed: policies admit it, and hear its outcome once. */
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Model from "@kintsugi/core/Model"
import type * as Usage from "@kintsugi/core/Usage"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { onlyFailure } from "../transport/Failure.ts"

/** A call before it starts. */
export interface Call {
  readonly provider: string
  /** The model's name. */
  readonly model: string
  readonly request: Model.Request
}

/** How a call ended. Interrupts and defects are not reported: they say nothing about the model. */
export type Ended =
  | { readonly as: "reply"; readonly usage: Usage.Usage }
  | { readonly as: "failure"; readonly error: LlmError.LlmError }
  /** A stream that ended without a finish part. */
  | { readonly as: "cut-off" }

/**
 * Admits a call, now or later, or refuses it. The scope releases what the policy holds for the call. The returned
 * function reports how the call ended, at most once.
 */
export interface Policy {
  (call: Call): Effect.Effect<(ended: Ended) => Effect.Effect<void>, LlmError.LlmError, Scope.Scope>
}

export const nothingToTell = (): Effect.Effect<void> => Effect.void

/** What selects the circuit, limit or queue of a call. */
export type By = "model" | "provider" | ((call: Call) => string | Effect.Effect<string>)

export const keyOf = (by: By | undefined, call: Call): Effect.Effect<string> => {
  if (by === undefined || by === "model") return Effect.succeed(`${call.provider}/${call.model}`)
  if (by === "provider") return Effect.succeed(call.provider)
  return Effect.suspend(() => {
    const key = by(call)
    return Effect.isEffect(key) ? key : Effect.succeed(key)
  })
}

/** Applies the policies in order, and reports the end of the call in reverse order. */
export const all =
  (policies: ReadonlyArray<Policy>): Policy =>
  (call) =>
    Effect.map(
      Effect.forEach(policies, (policy) => policy(call)),
      (tellings) => (ended) => Effect.forEach(tellings.toReversed(), (tell) => tell(ended), { discard: true })
    )

/** Makes `policy` admit each call of a model. */
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
              // No reader pulls beyond the finish part, so the end is reported with it.
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

/** A budget error of the run passes through here too. It says nothing about the model, so it is not reported. */
const failed = (
  cause: Cause.Cause<LlmError.LlmError>,
  tell: (ended: Ended) => Effect.Effect<void>
): Effect.Effect<void> => {
  const error = onlyFailure(cause)
  return LlmError.isLlmError(error) ? tell({ as: "failure", error }) : Effect.void
}
