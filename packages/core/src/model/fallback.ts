/** Models in an order: the next model is called after the model before it has failed for good. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { tagOf } from "../data/ErrorCause.ts"
import type { LlmError } from "../errors/LlmError.ts"
import type { Request, Service } from "./service.ts"
import * as RunContext from "../event/RunContext.ts"
import { compose } from "./compose.ts"
import { ask } from "./ModelCall.ts"
import { type Asker, withEarlier } from "./parts.ts"
import { explained, type Explains, inTurn } from "../recovery/Explained.ts"
import { untouchable } from "../recovery/Layer.ts"

export type Admits = (error: LlmError) => boolean

export const fallback = (models: ReadonlyArray<Service>, admits: Admits = byAdvice): Service =>
  compose(
    models,
    (request, asker) => Effect.flatMap(RunContext.Current, (run) => from(models, admits, request, asker, run, [])),
    explainsAll(models)
  )

/** Of models, or of their layers: at worst, all are called. */
export const explainsAll =
  (models: ReadonlyArray<unknown>): Explains =>
  (errors) =>
    inTurn(models.map((model) => explained(model, errors)))

/** Another model may do what this one cannot, or not just now. */
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
        // models fail with nothing else
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
