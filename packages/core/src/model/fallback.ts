/** Implements `Model.fallback`: calls models in order, the next one after a failure of the one before. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { tagOf } from "../data/ErrorCause.ts"
import type { LlmError } from "../errors/LlmError.ts"
import type { Request, Service } from "./service.ts"
import * as RunContext from "../event/RunContext.ts"
import { compose, explainsAll } from "./compose.ts"
import { ask } from "./ModelCall.ts"
import { type Asker, withEarlier } from "./parts.ts"
import { untouchable } from "../recovery/Layer.ts"

export type Admits = (error: LlmError) => boolean

export const fallback = (models: ReadonlyArray<Service>, admits: Admits = byAdvice): Service =>
  compose(
    models,
    (request, asker) => Effect.flatMap(RunContext.Current, (run) => from(models, admits, request, asker, run, [])),
    explainsAll(models)
  )

/** The default for `when`: the advice of the error says that another model, or a later call, may succeed. */
const byAdvice: Admits = ({ recovery }) => recovery === "fallback" || recovery === "resend"

const from = <A, R>(
  [model, ...others]: ReadonlyArray<Service>,
  admits: Admits,
  request: Request,
  asker: Asker<A, R>,
  run: RunContext.RunContext | undefined,
  earlier: ReadonlyArray<LlmError>
): Effect.Effect<A, LlmError, R> =>
  model === undefined
    ? Effect.die(new TypeError("Model.fallback: it needs a model"))
    : Effect.catchCause(ask(model, request, asker), (cause) => {
        const passing = untouchable(cause)
        if (passing !== undefined) return Effect.failCause(passing)
        // the error type of a model is `LlmError`
        const error = Cause.squash(cause) as LlmError
        if (others.length === 0 || asker.isShown() || !admits(error)) return Effect.fail(withEarlier(error, earlier))
        const rung = earlier.length
        return Effect.andThen(
          RunContext.emit(run, () => ({
            type: "verdict",
            layer: "model",
            tag: tagOf(error),
            verdict: "fallback",
            gaveUp: false,
            rung,
            attempt: rung + 1,
            delay: Duration.zero,
            error
          })),
          from(others, admits, request, asker, run, [...earlier, error])
        )
      })
