/**
 * Spans and metrics of all runs, made from their events by the conventions of OpenTelemetry for generative AI. No other module
 * depends on it.
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

/** What is exported. */
export interface Options {
  /** Whether there are spans; `true` by default. */
  readonly spans?: boolean
  /** Whether there are metrics; `true` by default. */
  readonly metrics?: boolean
  /**
   * Whether spans have the content: messages, arguments and results of tools, error texts. What looks like a credential is
   * redacted. `false` by default.
   */
  readonly content?: boolean
}

/**
 * Spans and metrics of all runs of the program that it is provided to. Spans go to the tracer of the program. Each run is one
 * tree with its fixers and sub-agents, a child of the span in which it began; the spans of tools and transports are part of
 * it. If a program has the layer twice, the inner one counts.
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

/** `layerWith` without options: spans and metrics, no content. */
export const layer: Layer.Layer<never> = layerWith({})
