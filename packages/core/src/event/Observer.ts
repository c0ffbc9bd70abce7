/** Observers of runs: spans, metrics and recorders are some. */
import type * as Context from "effect/Context"
import type * as Tracer from "effect/Tracer"
import type * as AgentEvent from "./AgentEvent.ts"

/**
 * Gets every event of a run and its descendants synchronously; it neither waits nor fails. The first event of a run, a model call or a
 * tool call (`run-start`, `model-start`, `tool-start`) comes with the context of its fiber. For such an event, an observer may return a span,
 * which is the current span until the end of that run or call.
 */
export type Observer = (event: AgentEvent.AgentEvent, context?: Context.Context<never>) => Tracer.AnySpan | void

/** Makes an observer for each run without a parent, from the context of its fiber. */
export type MakeObserver = (context: Context.Context<never>) => Observer
