/** What operators see of all runs, drawn from their events. Nothing of the library knows of it. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import type * as AgentEvent from "./AgentEvent.ts"
import { labelsOf } from "./RecoveryAdvice.ts"
import * as RunContext from "./RunContext.ts"

/**
 * Counts every error that left a run, once, with the attributes `code` and `retryable`. One that passes from a run to the
 * run above it unchanged is the same error still. Completions, suspensions and interruptions are none.
 */
export const errors = Metric.counter("kintsugi.errors", {
  description: "Errors that left a run",
  incremental: true
})

/** Keeps the metrics of all runs of the program that it is provided to. */
export const layer: Layer.Layer<never> = Layer.effect(
  RunContext.Observers,
  Effect.map(RunContext.Observers, (others) => [...others, countErrors])
)

function countErrors(context: Parameters<RunContext.MakeObserver>[0]): RunContext.Observer {
  /** The errors that the runs directly below a run have left with, by its id. */
  const below = new Map<string, Array<unknown>>()
  return (event: AgentEvent.AgentEvent) => {
    if (event.type !== "run-failed") return
    const isCounted = below.get(event.runId)?.includes(event.error) === true
    below.delete(event.runId)
    if (event.parent !== undefined) {
      below.set(event.parent.runId, [...(below.get(event.parent.runId) ?? []), event.error])
    }
    if (isCounted) return
    const { code, retryable } = labelsOf(event.error)
    Metric.withAttributes(errors, { code, retryable: String(retryable) }).updateUnsafe(1, context)
  }
}
