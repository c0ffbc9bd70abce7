/** One guarded call of a model, whole or streamed: what is asked before it, and what is told once when it is over. */
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Model from "@kintsugi/core/Model"
import type * as Usage from "@kintsugi/core/Usage"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { onlyFailure } from "../transport/Failure.ts"

/** What is known of a call before it is made. */
export interface Call {
  readonly provider: string
  /** The model's name. */
  readonly model: string
  readonly request: Model.Request
}

/** How a call ended. Of interrupts and defects nobody is told: they say nothing of the model. */
export type Ended =
  | { readonly as: "reply"; readonly usage: Usage.Usage }
  | { readonly as: "failure"; readonly error: LlmError.LlmError }
  /** A stream that ended without saying so. */
  | { readonly as: "cut-off" }

/**
 * Admits a call, now or later, or refuses it; what it holds for the call is given back with the scope. Then it is told how the
 * call ended, at most once.
 */
export interface Policy {
  (call: Call): Effect.Effect<(ended: Ended) => Effect.Effect<void>, LlmError.LlmError, Scope.Scope>
}

export const nothingToTell = (): Effect.Effect<void> => Effect.void

/** Which circuit, limit or queue a call belongs to. */
export type By = "model" | "provider" | ((call: Call) => string | Effect.Effect<string>)

export const keyOf = (by: By | undefined, call: Call): Effect.Effect<string> => {
  if (by === undefined || by === "model") return Effect.succeed(`${call.provider}/${call.model}`)
  if (by === "provider") return Effect.succeed(call.provider)
  return Effect.suspend(() => {
    const key = by(call)
    return Effect.isEffect(key) ? key : Effect.succeed(key)
  })
}

/** Asks each policy in turn; who was asked first is told last. */
export const all =
  (policies: ReadonlyArray<Policy>): Policy =>
  (call) =>
    Effect.map(
      Effect.forEach(policies, (policy) => policy(call)),
      (tellings) => (ended) => Effect.forEach(tellings.toReversed(), (tell) => tell(ended), { discard: true })
    )

/** Has each call of a model admitted by `policy`. */
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
              // nobody reads beyond this part
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

/** The end of a run's budget passes through here too: of the model it says nothing. */
const failed = (
  cause: Cause.Cause<LlmError.LlmError>,
  tell: (ended: Ended) => Effect.Effect<void>
): Effect.Effect<void> => {
  const error = onlyFailure(cause)
  return LlmError.isLlmError(error) ? tell({ as: "failure", error }) : Effect.void
}
