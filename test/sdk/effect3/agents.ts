/** The package of agents: Effect 4 inside, promises of plain data outside. */
import { Agent, Recovery } from "@kintsugi/core"
import type { Model } from "@kintsugi/core/Model"
import { Cause, Exit, type Layer, ManagedRuntime, Result } from "effect"

/** How a run has ended: what crosses the border. */
export type Outcome<A, E> =
  | { readonly type: "success"; readonly value: A }
  | { readonly type: "failure"; readonly error: E }
  | { readonly type: "defect"; readonly defect: unknown }
  | { readonly type: "interrupted" }

const outcomeOf = <A, E>(exit: Exit.Exit<A, E>): Outcome<A, E> => {
  if (Exit.isSuccess(exit)) return { type: "success", value: exit.value }
  if (Cause.hasInterruptsOnly(exit.cause)) return { type: "interrupted" }
  const error = Cause.findError(exit.cause)
  return Result.isSuccess(error)
    ? { type: "failure", error: error.success }
    : { type: "defect", defect: Cause.squash(exit.cause) }
}

const guide = Agent.make("guide", { prompt: "Answer in one sentence." }).pipe(
  Agent.onLlmError({ NetworkError: Recovery.retry({ retries: 2 }) })
)

export const makeAgents = (model: Layer.Layer<Model>) => {
  const runtime = ManagedRuntime.make(model)
  return {
    guide: (input: string, signal: AbortSignal) => runtime.runPromiseExit(guide(input), { signal }).then(outcomeOf),
    dispose: () => runtime.dispose()
  }
}
