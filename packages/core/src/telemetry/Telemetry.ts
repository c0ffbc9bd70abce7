/**
 * What operators see of all runs, drawn from their events: spans and metrics, by the conventions of OpenTelemetry for
 * generative AI. Nothing of the library knows of it.
 *
 * The names and attributes of `gen_ai.*` are those of the semantic conventions for generative AI, which are still in
 * development; what they have no name for is `kintsugi.*`.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metrics from "./metrics.ts"
import { Operations } from "./Operations.ts"
import * as Spans from "./spans.ts"
import * as RunContext from "../event/RunContext.ts"

export { agentDuration, cost, errors, modelDuration, tokens, toolDuration, verdicts } from "./metrics.ts"

/** What operators see. */
export interface Options {
  /** Whether there are spans; `true` by default. */
  readonly spans?: boolean
  /** Whether there are metrics; `true` by default. */
  readonly metrics?: boolean
  /**
   * Whether spans hold what was said: messages, arguments and results of tools, the words of errors. What looks like a
   * credential is redacted. `false` by default.
   */
  readonly content?: boolean
}

/**
 * Spans and metrics of all runs of the program that it is provided to. Spans go to the tracer of the program, each run is one
 * tree with its fixers and sub-agents, below the span in which it was begun; what tools and transports do is part of it.
 * Where a program has it twice, the inner one counts.
 */
export const layerWith = ({ content = false, metrics = true, spans = true }: Options): Layer.Layer<never> => {
  const own = [...(spans ? [spansOf(content)] : []), ...(metrics ? [durations, Metrics.errorCounter] : [])]
  for (const make of own) ours.add(make)
  return Layer.effect(
    RunContext.Observers,
    Effect.map(RunContext.Observers, (others) => [...others.filter((other) => !ours.has(other)), ...own])
  )
}

const ours = new WeakSet<RunContext.MakeObserver>()

const spansOf =
  (hasContent: boolean): RunContext.MakeObserver =>
  (context) => {
    const operations = new Operations(Spans.watcher(hasContent), context)
    return (event, at) => operations.hear(event, at)?.span
  }

const durations: RunContext.MakeObserver = (context) => {
  const operations = new Operations(Metrics.watcher, context)
  return (event, at) => void operations.hear(event, at)
}

/** `layerWith` as it is without options: spans and metrics, and nothing of what was said. */
export const layer: Layer.Layer<never> = layerWith({})
