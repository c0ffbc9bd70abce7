/** A model that has a table of its own. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import type { Request, Service } from "./service.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import { helping } from "../event/Helping.ts"
import * as RunContext from "../event/RunContext.ts"
import { explain } from "../recovery/Explain.ts"
import { compose } from "./compose.ts"
import { ask, type Asker } from "./ModelCall.ts"
import { explained, type Explains } from "../recovery/Explained.ts"
import { Exceeded } from "../budget/Meter.ts"
import { nothing, rowOf } from "../recovery/RecoverEffect.ts"
import * as Driver from "../recovery/Driver.ts"
import type { CompactEvent } from "../recovery/Node.ts"

/** The model behind a table. `services`: what the handlers of the table need, where that is known already. */
export const guarded = (model: Service, rows: Recovery.Rows, services?: Context.Context<never>): Service =>
  compose(
    [model],
    (request, asker) => {
      const driving = Effect.flatMap(RunContext.Current, (run) =>
        Driver.drive(subjectOf(model, rows, request, asker, run))
      )
      return services === undefined
        ? driving
        : // whoever asks knows better what is there now
          Effect.updateContext(driving, (here) => Context.merge(services, here) as typeof here)
    },
    explainsTable(model, rows)
  )

/** Of a model, or of its layer. */
export const explainsTable =
  (model: unknown, rows: Recovery.Rows): Explains =>
  (errors) =>
    explain(rows, { errors, below: explained(model, errors) })

const subjectOf = <A, R>(
  model: Service,
  rows: Recovery.Rows,
  first: Request,
  asker: Asker<A, R>,
  run: RunContext.RunContext | undefined
): Driver.Subject<A, A, LlmError, R> => {
  let request = first
  return {
    attempt: () => ask(model, request, asker),
    // the end of the budget is no failure of a model
    row: (error) => (error instanceof Exceeded ? undefined : rowOf(rows, error)),
    about: () => nothing,
    left: () => (run === undefined ? undefined : RunContext.left(run)),
    deadline: () => RunContext.deadline(run),
    admits: () => !asker.isShown(),
    fix: () => Effect.die(new TypeError("Model.onError: fix has no meaning in a table for model calls")),
    compactions: asker.compactions,
    compact: ({ compaction, run: compact }, error) => {
      if (asker.isShown()) return Effect.succeed({ type: "gave up" })
      // rows see nothing but failures of models
      const overflow = { transcript: request.messages, error: error as LlmError }
      const within = helping<CompactEvent>(compaction, run, { isCompacting: true }, (event) => event)
      return compact(compaction, overflow, within, (messages) => {
        request = { ...request, messages }
      })
    },
    observe: (decision) => RunContext.emit(run, () => ({ type: "verdict", layer: "model", ...decision })),
    succeed: Effect.succeed,
    end: (ending) => {
      switch (ending.type) {
        case "answered":
          // a table for models answers with replies, by its type
          return Effect.succeed(asker.given(ending.value as Message.Reply))
        case "exhausted":
          return ending.isLate === true && run !== undefined ? late(run) : Effect.fail(ending.error as LlmError)
        case "rethrown":
        case "failed":
          // failures of the model, and of handlers, which are in the type of what is guarded
          return Effect.fail(ending.error as LlmError)
        case "told":
        case "escalated":
        case "raised":
          return Effect.die(new TypeError(`Model.onError: a verdict that ends as ${ending.type} has no meaning here`))
      }
    }
  }
}

/** Not the policy has given up, the run is over: it knows its own limit where it sees it. */
const late = ({ meter: { deadline } }: RunContext.RunContext): Effect.Effect<never, LlmError> =>
  deadline === undefined
    ? Effect.die(new TypeError("Model.onError: a wait was too long for a run that has no end"))
    : Effect.fail(deadline.late(deadline.ownDeadline) as unknown as LlmError)
