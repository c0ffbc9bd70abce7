/** Implements `Model.onError`: a model with a recovery table of its own. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import type { TableOptions } from "./LlmTable.ts"
import { sendingOnce } from "./resending.ts"
import type { Request, Service } from "./service.ts"
import { helping } from "../event/Helping.ts"
import * as RunContext from "../event/RunContext.ts"
import { explain } from "../recovery/Explain.ts"
import { compose } from "./compose.ts"
import { ask } from "./ModelCall.ts"
import type { Asker } from "./parts.ts"
import { explained, type Explains } from "../recovery/Explained.ts"
import { type Layer, rowOf } from "../recovery/Layer.ts"
import { trailOf } from "../recovery/VerdictTrail.ts"
import * as Driver from "../recovery/Driver.ts"
import type { Rows, CompactEvent } from "../recovery/Node.ts"

/** Surrounds a model with a recovery table. `services` are those of the layer that made it, for the handlers of the table. */
export const guarded = (
  model: Service,
  rows: Rows,
  { transport }: TableOptions,
  services?: Context.Context<never>
): Service =>
  compose(
    [model],
    (request, asker) => {
      const once = transport === "off" ? sendingOnce : identity
      const driving = Effect.flatMap(RunContext.Current, (run) =>
        Driver.drive(() => layerOf(model, rows, request, asker, run, once))
      )
      return services === undefined
        ? driving
        : // the services of the caller replace those of the layer
          Effect.updateContext(driving, (here) => Context.merge(services, here) as typeof here)
    },
    explainsTable(model, rows, transport)
  )

/** The worst case of a model or layer with a recovery table. */
export const explainsTable =
  (model: unknown, rows: Rows, transport: TableOptions["transport"]): Explains =>
  (errors) => {
    const { worst, ...explanation } = explain(rows, { errors, inner: explained(model, errors) })
    return { ...explanation, worst: transport === "off" ? { ...worst, isSentOnce: true } : worst }
  }

const layerOf = <A, R>(
  model: Service,
  rows: Rows,
  first: Request,
  asker: Asker<A, R>,
  run: RunContext.RunContext | undefined,
  once: <B, E, R2>(modelCall: Effect.Effect<B, E, R2>) => Effect.Effect<B, E, R2>
): Layer<A, A, LlmError, R> => {
  let request = first
  return {
    attempt: () => once(ask(model, request, asker)),
    row: (error) => rowOf(rows, error, () => !asker.isShown()),
    repairs: {
      compactions: asker.compactions,
      compact: ({ compaction, run: compact }, error) => {
        if (asker.isShown()) return Effect.succeed({ type: "gave up" })
        // a table for models gets only failures of models
        const overflow = { transcript: request.messages, error: error as LlmError }
        const within = helping<CompactEvent>(compaction, run, { isCompacting: true }, (event) => event)
        return compact(compaction, overflow, within, (messages) => {
          request = { ...request, messages }
        })
      }
    },
    bounds: { ...RunContext.bounds(run), extra: asker.extra },
    observe: (decision) => RunContext.emit(run, () => ({ type: "verdict", layer: "model", ...decision })),
    end: {
      succeeded: Effect.succeed,
      // the types of a table for models allow only replies as answers
      answered: ({ value }) => Effect.succeed(asker.given(value as Message.Reply)),
      // a late failure means that the run is out of time; other failures of models and handlers are in the type of the guarded model
      left: ({ error, isLate }, { trail }) =>
        isLate === true && run !== undefined
          ? RunContext.endOfTime(run, { cause: error, trail: trailOf(trail) })
          : Effect.fail(error as LlmError)
    }
  }
}
